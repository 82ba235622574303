//! The command line of the simulator; `cc-sim --help` says what it takes.

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main(std::env::args_os())
}
