//! Command line: arguments in, a result on stdout or one line on stderr out.
//!
//! Exit codes: 0 for a result, 1 for an output that failed, 2 for input that was refused, be it by a run that does not
//! end within its limits. Refused input leaves stdout empty. stdout depends on the arguments only; times of this machine go to stderr.

mod args;
mod commands;
mod load;
mod output;
mod qlog;

use args::Cli;
use cc_sim::text::one_line;
use clap::Parser;
use clap::error::ErrorKind;
use std::ffi::OsString;
use std::fmt;
use std::process::ExitCode;

/// Runs the command in `args`, the name of the program first.
pub(crate) fn main(args: impl Iterator<Item = OsString>) -> ExitCode {
    let result = match Cli::try_parse_from(args) {
        Ok(cli) => commands::execute(cli),
        Err(error) if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) => {
            output::print(&error.render().to_string())
        }
        Err(error) => Err(Failure::bad_input(usage_error(&error))),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            output::note(&format!("cc-sim: {}", one_line(&failure.message)));
            ExitCode::from(failure.code)
        }
    }
}

/// Why there is no result.
#[derive(Debug)]
struct Failure {
    code: u8,
    message: String,
}

impl Failure {
    /// The input is at fault.
    fn bad_input(message: impl fmt::Display) -> Self {
        Self { code: 2, message: message.to_string() }
    }

    /// The input was fine, but what it asked for failed.
    fn failed(message: impl fmt::Display) -> Self {
        Self { code: 1, message: message.to_string() }
    }
}

/// What clap has to say, without its hints on usage.
fn usage_error(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let said = text.lines().take_while(|line| !line.starts_with("Usage:") && !line.starts_with("For more"));
    let said = said.collect::<Vec<_>>().join(" ");
    said.trim_start_matches("error: ").to_owned()
}
