//! What each command does with its arguments.

use super::args::{Cli, Command, RunOptions, TraceOptions};
use super::{Failure, output};
use cc_sim::Algorithm;
use cc_sim::experiment::{self, Cell, Experiment};
use cc_sim::report::{self, Format, PublishedFigures, Row, Settings};
use cc_sim::scenario::{self, Scenario};
use cc_sim::trace::Trace;
use indicatif::{ProgressBar, ProgressStyle};
use std::fs::File;
use std::io::{self, IsTerminal, Read};

/// Largest scenario file that is read, in bytes.
const MAX_FILE: u64 = 1 << 20;

pub(super) fn execute(cli: Cli) -> Result<(), Failure> {
    match cli.command {
        None => run(&[], &cli.options),
        Some(Command::List { format }) => list(format),
        Some(Command::Run { scenarios, options }) => run(&scenarios, &options),
        Some(Command::Compare { scenarios, options }) => compare(&scenarios, &options),
        Some(Command::Trace(options)) => trace(&options),
    }
}

fn list(format: Format) -> Result<(), Failure> {
    let text = report::render_list(&load(&[])?, format).map_err(Failure::failed)?;
    output::print(&text)
}

fn run(scenarios: &[String], options: &RunOptions) -> Result<(), Failure> {
    let rows = measure(scenarios, options)?;
    let text = report::render_results(&rows, settings(options), options.format).map_err(Failure::failed)?;
    output::print(&text)
}

fn compare(scenarios: &[String], options: &RunOptions) -> Result<(), Failure> {
    if options.cc.len() == 1 {
        return Err(Failure::bad_input(
            "--cc: one algorithm to compare (allowed: two or more, or no --cc for all)",
        ));
    }
    let rows = measure(scenarios, options)?;
    let text =
        report::render_comparison(&rows, settings(options), options.format).map_err(Failure::failed)?;
    output::print(&text)
}

fn trace(options: &TraceOptions) -> Result<(), Failure> {
    let scenario = load_one(&options.scenario)?;
    let interval_us = options.interval_ms * 1_000;
    let trace = Trace::of_run(&scenario, options.cc, options.seed, options.run, interval_us);
    let mut stdout = output::Stdout::new();
    let outcome = trace.write(options.format, |piece| stdout.write(piece));
    stdout.finish()?;
    outcome.map(|_| ()).map_err(Failure::bad_input)
}

/// Runs what the options ask for.
fn measure(scenarios: &[String], options: &RunOptions) -> Result<Vec<Row>, Failure> {
    let scenarios = load(scenarios)?;
    let algorithms = if options.cc.is_empty() { Algorithm::ALL } else { &options.cc };
    if let Some(twice) = repeated(algorithms) {
        return Err(Failure::bad_input(format!(
            "--cc: {} given twice (allowed: each name once)",
            twice.name()
        )));
    }
    let figures = PublishedFigures::load().map_err(Failure::failed)?;
    let plan = Experiment { scenarios: &scenarios, algorithms, runs: options.runs, seed: options.seed };
    let pool = experiment::thread_pool(options.jobs.unwrap_or(0))
        .map_err(|e| Failure::failed(format!("cannot start the threads: {e}")))?;

    let progress = progress_bar(plan.total_runs());
    let started = now();
    let cells = pool.install(|| plan.run(|| progress.inc(1)));
    progress.finish_and_clear();
    let cells = cells.map_err(Failure::bad_input)?;
    note_speed(&cells, now().duration_since(started).as_secs_f64());
    Ok(report::rows(&cells, options.seed, &figures))
}

fn settings(options: &RunOptions) -> Settings {
    Settings { runs: options.runs, seed: options.seed }
}

/// Scenarios by name or path; all that are part of the program if `names` is empty.
fn load(names: &[String]) -> Result<Vec<Scenario>, Failure> {
    if names.is_empty() {
        return scenario::builtin_names().map(load_one).collect();
    }
    let scenarios = names.iter().map(|name| load_one(name)).collect::<Result<Vec<_>, _>>()?;
    let names: Vec<&str> = scenarios.iter().map(|scenario| scenario.name.as_str()).collect();
    if let Some(twice) = repeated(&names) {
        return Err(Failure::bad_input(format!("SCENARIO: {twice} given twice (allowed: each name once)")));
    }
    Ok(scenarios)
}

fn load_one(name: &str) -> Result<Scenario, Failure> {
    let is_path = name.ends_with(".toml") || name.contains(std::path::is_separator);
    if !is_path {
        return scenario::builtin(name)
            .map_err(|e| Failure::bad_input(format!("{e}, or the path of a .toml file")));
    }
    let text =
        read(name).map_err(|e| Failure::bad_input(format!("{name}: scenario: cannot read the file: {e}")))?;
    scenario::parse(&text, name).map_err(Failure::bad_input)
}

fn read(path: &str) -> io::Result<String> {
    let mut text = String::new();
    File::open(path)?.take(MAX_FILE + 1).read_to_string(&mut text)?;
    if text.len() as u64 > MAX_FILE {
        return Err(io::Error::other(format!("too long (allowed: 0..={MAX_FILE} bytes)")));
    }
    Ok(text)
}

/// The first item that equals one before it.
fn repeated<T: PartialEq>(items: &[T]) -> Option<&T> {
    items
        .iter()
        .enumerate()
        .find(|(i, item)| items.iter().take(*i).any(|before| before == *item))
        .map(|(_, t)| t)
}

/// A bar on stderr, if somebody looks at it.
fn progress_bar(runs: usize) -> ProgressBar {
    if !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(runs as u64);
    match ProgressStyle::with_template("{wide_bar} {pos}/{len} runs, {eta} left") {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

/// How fast the simulator is, on stderr: it is no part of the result.
fn note_speed(cells: &[Cell<'_>], seconds: f64) {
    let outcomes = || cells.iter().flat_map(|cell| &cell.outcomes);
    let packets = outcomes().map(|outcome| outcome.events).sum::<u64>() as f64;
    output::note(&format!(
        "{} runs in {seconds:.2} s, {:.2} million packets a second",
        outcomes().count(),
        packets / seconds.max(1e-9) / 1e6
    ));
}

#[expect(
    clippy::disallowed_methods,
    reason = "times the program for a note on stderr, no part of any result"
)]
fn now() -> std::time::Instant {
    std::time::Instant::now()
}
