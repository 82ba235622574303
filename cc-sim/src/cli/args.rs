//! The arguments, with the range of each number in its help and in its error.

use cc_sim::Algorithm;
use cc_sim::checkpoint::{AFTER_MS, EVERY_MS, MAX_SHARDS, Shard};
use cc_sim::experiment::MAX_RUNS;
use cc_sim::report::Format;
use clap::{Args, Parser, Subcommand};
use std::fmt::Display;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::str::FromStr;

/// Congestion control on a simulated network, measured: completion times of one transfer
///
/// Without a command: the network events of draft-huitema-ccwg-c4-test with each algorithm, next to the draft's
/// figures, those of the simulator behind it, and the physical limit.
#[derive(Debug, Parser)]
#[command(name = "cc-sim", version, args_conflicts_with_subcommands = true)]
pub(super) struct Cli {
    #[command(subcommand)]
    pub(super) command: Option<Command>,
    #[command(flatten)]
    pub(super) options: RunOptions,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// List the scenarios that are part of the program, and the algorithms
    List {
        /// How to write the list: table, csv or json
        #[arg(long, default_value = "table", value_name = "FORMAT", value_parser = format)]
        format: Format,
    },
    /// Run scenarios and print the table
    Run {
        /// Names of scenarios or groups (see `list`), `all` for the groups of the draft, or paths of .toml files
        #[arg(required = true, value_name = "SCENARIO")]
        scenarios: Vec<String>,
        #[command(flatten)]
        options: RunOptions,
    },
    /// Put algorithms side by side, with ratios to the first
    Compare {
        /// Names of scenarios or groups (see `list`), `all` for the groups of the draft, or paths of .toml files; none for the group
        /// `network_events`
        #[arg(value_name = "SCENARIO")]
        scenarios: Vec<String>,
        #[command(flatten)]
        options: RunOptions,
    },
    /// Put together what runs with `--shard`, or one with `--resume`, have kept, and print what one run of everything prints
    Merge {
        /// Files of `--resume`, those of all shards, in any order
        #[arg(required = true, value_name = "FILE")]
        files: Vec<String>,
        /// How to write the result: table, csv or json
        #[arg(long, default_value = "table", value_name = "FORMAT", value_parser = format)]
        format: Format,
    },
    /// Let two flows share a path and print what each of them gets: the group `share` with c4, bbr and cubic if nothing else is said
    Share(ShareOptions),
    /// Judge algorithms by the queues that they make: the experiments of the authors of QUIC-DC, and a queue on the way back; the group
    /// `delay` with all algorithms if nothing else is said
    Delay(FigureOptions),
    /// Print marks, shares and the delay of each queue beside completion times: the ECN tests of the draft, groups `ecn_simulated` and
    /// `ecn_written`, with c4, bbr and cubic if nothing else is said
    Ecn(EcnOptions),
    /// Print one run line by line: changes of phase, and the last state of each interval
    Trace(TraceOptions),
}

#[derive(Debug, Args)]
pub(super) struct RunOptions {
    /// Algorithms (see `list`), separated by commas; c4, bbr and cubic if not given
    #[arg(long, value_delimiter = ',', value_name = "ALGORITHM", value_parser = algorithm)]
    pub(super) cc: Vec<Algorithm>,
    /// Runs of each scenario with each algorithm, 1..=100000
    #[arg(long, default_value_t = 100, allow_negative_numbers = true, value_parser = runs)]
    pub(super) runs: u32,
    #[command(flatten)]
    pub(super) qlog: QlogOptions,
    #[command(flatten)]
    pub(super) common: CommonOptions,
}

/// What the commands take that measure shares, marks and queues.
#[derive(Debug, Args)]
pub(super) struct FigureOptions {
    /// Names of scenarios or groups (see `list`) or paths of .toml files; none for those of the command
    #[arg(value_name = "SCENARIO")]
    pub(super) scenarios: Vec<String>,
    /// Algorithms of the main flow (see `list`), separated by commas; those of the command if not given
    #[arg(long, value_delimiter = ',', value_name = "ALGORITHM", value_parser = algorithm)]
    pub(super) cc: Vec<Algorithm>,
    /// Runs of each cell, 1..=100000
    #[arg(long, default_value_t = 3, allow_negative_numbers = true, value_parser = runs)]
    pub(super) runs: u32,
    #[command(flatten)]
    pub(super) common: CommonOptions,
}

#[derive(Debug, Args)]
pub(super) struct ShareOptions {
    #[command(flatten)]
    pub(super) figures: FigureOptions,
    /// Algorithms of the other flows that a scenario leaves open, separated by commas; if not given, each pair of the
    /// main flow's algorithms once
    #[arg(long, value_delimiter = ',', value_name = "ALGORITHM", value_parser = algorithm)]
    pub(super) against: Vec<Algorithm>,
    /// Print the first run of each interval by interval instead: their length in milliseconds, 100..=3600000, rounded up to
    /// tenths of a second
    #[arg(long, allow_negative_numbers = true, value_name = "MILLISECONDS", value_parser = share_interval)]
    pub(super) every_ms: Option<u64>,
}

/// What all commands that run many simulations take.
#[derive(Clone, Debug, Args)]
pub(super) struct CommonOptions {
    /// Keep the finished cells in this file, and do not run again what it has; it is made if it does not exist
    #[arg(long, value_name = "FILE")]
    pub(super) resume: Option<String>,
    /// Of N parts of the cells run the K-th only and print nothing, N 1..=65536, K 1..=N; `merge` puts the files together
    #[arg(long, value_name = "K/N", requires = "resume", allow_hyphen_values = true, value_parser = shard)]
    pub(super) shard: Option<Shard>,
    /// Base of the seeds of all runs, 0..=18446744073709551615
    #[arg(long, default_value_t = 1, allow_negative_numbers = true, value_parser = seed)]
    pub(super) seed: u64,
    /// Threads, 1..=1024; as many as there are processors if not given
    #[arg(long, allow_negative_numbers = true, value_parser = jobs)]
    pub(super) jobs: Option<usize>,
    /// How to write the result: table, csv or json
    #[arg(long, default_value = "table", value_name = "FORMAT", value_parser = format)]
    pub(super) format: Format,
}

#[derive(Debug, Args)]
pub(super) struct EcnOptions {
    #[command(flatten)]
    pub(super) figures: FigureOptions,
    /// Leave out so many milliseconds of each run after the start of its main flow where queues are measured, 0..=3600000
    #[arg(long, default_value_t = 0, allow_negative_numbers = true, value_name = "MILLISECONDS", value_parser = after)]
    pub(super) after_ms: u64,
}

/// Where runs are written as qlog.
#[derive(Debug, Args)]
pub(super) struct QlogOptions {
    /// Write each run to this folder too, as qlog, one file a flow; the folder is made if it does not exist
    #[arg(long, value_name = "FOLDER")]
    pub(super) qlog: Option<PathBuf>,
    /// Have the events of packets in the qlog too: some viewers take their time axis from them
    #[arg(long, requires = "qlog")]
    pub(super) qlog_packets: bool,
}

#[derive(Debug, Args)]
pub(super) struct TraceOptions {
    /// Name (see `list`) or path of a .toml file
    #[arg(value_name = "SCENARIO")]
    pub(super) scenario: String,
    /// Algorithm
    #[arg(long, value_name = "ALGORITHM", value_parser = algorithm)]
    pub(super) cc: Algorithm,
    /// Base of the seeds of all runs, 0..=18446744073709551615
    #[arg(long, default_value_t = 1, allow_negative_numbers = true, value_parser = seed)]
    pub(super) seed: u64,
    /// Which run of the table it is, 0..=99999
    #[arg(long, default_value_t = 0, allow_negative_numbers = true, value_parser = run_number)]
    pub(super) run: u32,
    /// Interval in milliseconds, 1..=60000
    #[arg(long, default_value_t = 50, allow_negative_numbers = true, value_parser = interval)]
    pub(super) interval_ms: u64,
    #[command(flatten)]
    pub(super) qlog: QlogOptions,
    /// How to write the trace: table, csv or json (one object a line)
    #[arg(long, default_value = "table", value_name = "FORMAT", value_parser = format)]
    pub(super) format: Format,
}

fn runs(text: &str) -> Result<u32, String> {
    in_range(text, 1..=MAX_RUNS)
}

fn run_number(text: &str) -> Result<u32, String> {
    in_range(text, 0..=MAX_RUNS - 1)
}

fn seed(text: &str) -> Result<u64, String> {
    in_range(text, 0..=u64::MAX)
}

fn jobs(text: &str) -> Result<usize, String> {
    in_range(text, 1..=1_024)
}

fn interval(text: &str) -> Result<u64, String> {
    in_range(text, 1..=60_000)
}

fn after(text: &str) -> Result<u64, String> {
    in_range(text, AFTER_MS)
}

fn share_interval(text: &str) -> Result<u64, String> {
    in_range(text, EVERY_MS)
}

fn shard(text: &str) -> Result<Shard, String> {
    let (number, of) = text.split_once('/').ok_or("allowed: K/N, such as 1/8")?;
    let of = in_range(of, 1..=MAX_SHARDS).map_err(|e| format!("N: {e}"))?;
    let number = in_range(number, 1..=of).map_err(|e| format!("K: {e}"))?;
    Ok(Shard { number, of })
}

fn in_range<T: FromStr + PartialOrd + Display>(text: &str, range: RangeInclusive<T>) -> Result<T, String> {
    text.parse()
        .ok()
        .filter(|value| range.contains(value))
        .ok_or_else(|| format!("allowed: whole numbers {}..={}", range.start(), range.end()))
}

fn algorithm(text: &str) -> Result<Algorithm, String> {
    Algorithm::from_name(text).ok_or_else(|| {
        let names: Vec<&str> = Algorithm::ALL.iter().map(|algorithm| algorithm.name()).collect();
        format!("allowed: {}", names.join(", "))
    })
}

fn format(text: &str) -> Result<Format, String> {
    match text {
        "table" => Ok(Format::Table),
        "csv" => Ok(Format::Csv),
        "json" => Ok(Format::Json),
        _ => Err("allowed: table, csv, json".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::Cli;
    use clap::CommandFactory;

    #[test]
    fn the_definition_of_the_arguments_is_consistent() {
        Cli::command().debug_assert();
    }
}
