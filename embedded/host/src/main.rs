//! The host's part: records traces, and replays them as the firmware does.
//!
//! `record` and `replay` print what the firmware prints: a line `trace ALGORITHM SCENARIO MAIN FLOW CALLS HASH` for each trace, a
//! line `total ALGORITHM TRACES CALLS HASH` for each algorithm.

mod record;
mod recorder;
mod table;
mod transfer;

use cc_replay::{Algorithm, Header, Observer, Totals, TraceEnd, replay};
use clap::Parser;
use record::Recorded;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Traces of the simulator, recorded and replayed.
#[derive(Debug, Parser)]
enum Command {
    /// Runs the simulator, writes the traces, prints what its controllers said.
    Record {
        /// The file to write.
        file: PathBuf,
        /// Calls of each controller at most; 0 for all of them.
        #[arg(long, default_value_t = 4_000)]
        calls: u64,
    },
    /// The same of the example's transfer, which the firmware measures.
    RecordTransfers {
        /// The file to write.
        file: PathBuf,
    },
    /// Makes the table of size and cost, in Markdown.
    Table {
        /// The folder of the programs of `cc-size`.
        programs: PathBuf,
        /// What the firmware's `cost` and `path_cost` printed.
        #[arg(required = true)]
        costs: Vec<PathBuf>,
    },
    /// Fails if C4 costs more than it may; the arguments are those of `table`, without the costs of paths.
    Hold {
        /// The folder of the programs of `cc-size`.
        programs: PathBuf,
        /// What the firmware's `cost` printed.
        costs: PathBuf,
    },
    /// Replays a file of traces and prints what its controllers say.
    Replay {
        /// The file to read.
        file: PathBuf,
    },
}

fn main() -> ExitCode {
    match run(Command::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(command: Command) -> Result<(), Box<dyn Error>> {
    match command {
        Command::Record { file, calls } => {
            write(&file, &record::record(if calls == 0 { u64::MAX } else { calls })?)?;
        }
        Command::RecordTransfers { file } => write(&file, &transfer::record_transfers()?)?,
        Command::Table { programs, costs } => print!("{}", table::table(&programs, &costs)?),
        Command::Hold { programs, costs } => print!("{}", table::hold(&programs, &[costs])?),
        Command::Replay { file } => {
            let file = std::fs::read(&file).map_err(|error| format!("{}: {error}", file.display()))?;
            print_totals(&replay(file.as_slice(), &mut Printer)?);
        }
    }
    Ok(())
}

/// Writes the traces, prints what their controllers said.
fn write(file: &Path, recorded: &Recorded) -> Result<(), Box<dyn Error>> {
    std::fs::write(file, &recorded.file).map_err(|error| format!("{}: {error}", file.display()))?;
    for (header, calls, hash) in &recorded.traces {
        print_trace(header, *calls, *hash);
    }
    print_totals(&recorded.totals);
    Ok(())
}

/// Prints each trace.
struct Printer;

impl Observer for Printer {
    fn on_trace(&mut self, trace: &TraceEnd<'_>) {
        print_trace(trace.header, trace.calls, trace.hash);
    }
}

fn print_trace(header: &Header, calls: u64, hash: u64) {
    let Header { algorithm, scenario, main, flow, .. } = header;
    let (algorithm, main) = (algorithm.name(), main.name());
    println!("trace {algorithm} {scenario} {main} {flow} {calls} {hash:016x}");
}

fn print_totals(totals: &[Totals; Algorithm::ALL.len()]) {
    for Totals { algorithm, traces, calls, hash } in totals {
        println!("total {} {traces} {calls} {:016x}", algorithm.name(), hash.get());
    }
}
