//! What each command does with its arguments.

use super::args::{
    Cli, Command, CommonOptions, DelayOptions, EcnOptions, RunOptions, ShareOptions, TraceOptions,
};
use super::{Failure, output};
use cc_sim::checkpoint::{self, Checkpoint, Job, JobCommand, Shard};
use cc_sim::delay::DelayExperiment;
use cc_sim::ecn::EcnExperiment;
use cc_sim::event_log::{EventLog, EventLogError};
use cc_sim::experiment::{self, Cell, Experiment, Pair};
use cc_sim::report::{self, Format, PublishedFigures, Settings};
use cc_sim::scenario::{self, Group, Scenario};
use cc_sim::share::ShareExperiment;
use cc_sim::trace::Trace;
use cc_sim::{Algorithm, Outcome, SimulationError};
use indicatif::{ProgressBar, ProgressStyle};
use std::fs::{File, create_dir_all};
use std::io::{self, IsTerminal, Read};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// Largest scenario file that is read, in bytes.
const MAX_FILE: u64 = 1 << 20;

pub(super) fn execute(cli: Cli) -> Result<(), Failure> {
    match cli.command {
        None => run(&[], &cli.options),
        Some(Command::List { format }) => list(format),
        Some(Command::Run { scenarios, options }) => run(&scenarios, &options),
        Some(Command::Compare { scenarios, options }) => compare(&scenarios, &options),
        Some(Command::Merge { files, format }) => merge(&files, format),
        Some(Command::Share(options)) => share(&options),
        Some(Command::Delay(options)) => delay(&options),
        Some(Command::Ecn(options)) => ecn(&options),
        Some(Command::Trace(options)) => trace(&options),
    }
}

fn list(format: Format) -> Result<(), Failure> {
    let groups = Group::ALL.iter().map(|group| (group.name(), load_group(*group)));
    let groups =
        groups.map(|(name, scenarios)| Ok((name, scenarios?))).collect::<Result<Vec<_>, Failure>>()?;
    let text = report::render_list(&groups, format).map_err(Failure::failed)?;
    output::print(&text)
}

fn run(scenarios: &[String], options: &RunOptions) -> Result<(), Failure> {
    measure(scenarios, options, JobCommand::Run)
}

fn compare(scenarios: &[String], options: &RunOptions) -> Result<(), Failure> {
    if options.cc.len() == 1 {
        return Err(Failure::bad_input(
            "--cc: one algorithm to compare (allowed: two or more, or no --cc for all)",
        ));
    }
    measure(scenarios, options, JobCommand::Compare)
}

fn merge(files: &[String], format: Format) -> Result<(), Failure> {
    let merged = checkpoint::merge(files).map_err(Failure::bad_input)?;
    show(&merged.job, &merged.cells(), format)
}

fn trace(options: &TraceOptions) -> Result<(), Failure> {
    let scenario = load_one(&options.scenario)?;
    let interval_us = options.interval_ms * 1_000;
    let trace = Trace::of_run(&scenario, options.cc, options.seed, options.run, interval_us);
    if let Some(folder) = &options.qlog {
        let name = format!("{}-{}-run{}", scenario.name, options.cc.name(), options.run);
        write_qlog(&trace, options.qlog_packets, folder, &name)?;
    }
    let mut stdout = output::Stdout::new();
    let outcome = trace.write(options.format, |piece| stdout.write(piece));
    stdout.finish()?;
    outcome.map(|_| ()).map_err(Failure::bad_input)
}

/// Writes a run to `folder`, each flow to a file of its own.
fn write_qlog(trace: &Trace<'_>, packets: bool, folder: &Path, name: &str) -> Result<(), Failure> {
    let Trace { scenario, algorithm, seed, .. } = *trace;
    let open = |flow: usize| {
        create_dir_all(folder)?;
        File::create(folder.join(format!("{name}-flow{flow}.sqlog"))).map(io::BufWriter::new)
    };
    match (EventLog { scenario, algorithm, seed, packets }).write(open) {
        Ok(_) => Ok(()),
        Err(EventLogError::Run(error)) => Err(Failure::bad_input(error)),
        Err(EventLogError::Write(error)) => {
            Err(Failure::failed(format!("{}: --qlog: cannot write: {error}", folder.display())))
        }
    }
}

fn share(options: &ShareOptions) -> Result<(), Failure> {
    let CommonOptions { seed, jobs, format } = options.common;
    let scenarios = load(&options.scenarios, Group::Share)?;
    let plan = ShareExperiment {
        scenarios: &scenarios,
        main: each_once("--cc", &options.cc)?.unwrap_or(Algorithm::MAIN_JOB),
        against: each_once("--against", &options.against)?,
        runs: if options.every_ms.is_some() { 1 } else { options.runs },
        seed,
    };
    let cells = with_progress(plan.total_runs(), jobs, |on_run| plan.run(on_run))?;
    let text = match options.every_ms {
        Some(ms) => report::render_share_lines(&report::share_lines(&cells, ms * 1_000), format),
        None => {
            let settings = Settings { runs: options.runs, seed };
            report::render_shares(&report::share_rows(&cells, seed), settings, format)
        }
    };
    output::print(&text.map_err(Failure::failed)?)
}

fn delay(options: &DelayOptions) -> Result<(), Failure> {
    let CommonOptions { seed, jobs, format } = options.common;
    let scenarios = load(&options.scenarios, Group::Delay)?;
    let plan = DelayExperiment {
        scenarios: &scenarios,
        algorithms: each_once("--cc", &options.cc)?.unwrap_or(Algorithm::ALL),
        runs: options.runs,
        seed,
    };
    let cells = with_progress(plan.total_runs(), jobs, |on_run| plan.run(on_run))?;
    let settings = Settings { runs: options.runs, seed };
    let text = report::render_delays(&report::delay_rows(&cells, seed), settings, format);
    output::print(&text.map_err(Failure::failed)?)
}

fn ecn(options: &EcnOptions) -> Result<(), Failure> {
    let CommonOptions { seed, jobs, format } = options.common;
    let scenarios = if options.scenarios.is_empty() {
        [load_group(Group::EcnSimulated)?, load_group(Group::EcnWritten)?].concat()
    } else {
        load(&options.scenarios, Group::EcnWritten)?
    };
    let plan = EcnExperiment {
        scenarios: &scenarios,
        algorithms: each_once("--cc", &options.cc)?.unwrap_or(Algorithm::MAIN_JOB),
        runs: options.runs,
        seed,
        after_us: options.after_ms * 1_000,
    };
    let cells = with_progress(plan.total_runs(), jobs, |on_run| plan.run(on_run))?;
    let settings = Settings { runs: options.runs, seed };
    let text = report::render_ecn(&report::ecn_rows(&cells, seed), settings, format);
    output::print(&text.map_err(Failure::failed)?)
}

/// Runs what the options ask for and prints it.
fn measure(scenarios: &[String], options: &RunOptions, command: JobCommand) -> Result<(), Failure> {
    let CommonOptions { seed, jobs, format } = options.common;
    let scenarios = load(scenarios, Group::NetworkEvents)?;
    let algorithms = each_once("--cc", &options.cc)?.unwrap_or(Algorithm::MAIN_JOB);
    let plan = Experiment { scenarios: &scenarios, algorithms, runs: options.runs, seed };
    let job = Job::new(command, &plan, options.shard.unwrap_or(Shard::WHOLE));
    let (kept, mut outcomes) = match &options.resume {
        None => (None, vec![None; plan.pairs().len()]),
        Some(path) => {
            let (file, outcomes) = Checkpoint::open(path, &job).map_err(Failure::bad_input)?;
            (Some((path, Mutex::new(file))), outcomes)
        }
    };
    run_missing(&plan, job.shard, &mut outcomes, jobs, |pair, outcomes| {
        if let Some((_, file)) = &kept {
            file.lock().unwrap_or_else(PoisonError::into_inner).add(*pair, outcomes);
        }
    })?;
    if options.shard.is_none() {
        let pairs = plan.pairs().into_iter().zip(outcomes);
        let cells: Vec<_> = pairs.filter_map(|(pair, outcomes)| Cell::new(pair, outcomes?)).collect();
        show(&job, &cells, format)?;
    }
    let Some((path, file)) = kept else { return Ok(()) };
    let closed = file.into_inner().unwrap_or_else(PoisonError::into_inner).close();
    closed.map_err(|e| Failure::failed(format!("{path}: --resume: cannot keep the cells: {e}")))
}

/// Runs the cells of `shard` that are not there yet and puts them to the others.
fn run_missing<'a>(
    plan: &Experiment<'a>,
    shard: Shard,
    outcomes: &mut [Option<Vec<Outcome>>],
    jobs: Option<usize>,
    on_cell: impl Fn(&Pair<'a>, &[Outcome]) + Sync + Send,
) -> Result<(), Failure> {
    let pairs = plan.pairs().into_iter().zip(&mut *outcomes).enumerate();
    let (missing, places): (Vec<_>, Vec<_>) = pairs
        .filter(|(index, (_, there))| shard.has(*index) && there.is_none())
        .map(|(_, missing)| missing)
        .unzip();
    let started = now();
    let runs = missing.len() * plan.runs.max(1) as usize;
    let new = with_progress(runs, jobs, |on_run| plan.run_pairs(&missing, on_run, on_cell))?;
    note_speed(&new, now().duration_since(started).as_secs_f64());
    for (place, outcomes) in places.into_iter().zip(new) {
        *place = Some(outcomes);
    }
    Ok(())
}

/// Prints `cells`, all of those of `job`.
fn show(job: &Job, cells: &[Cell<'_>], format: Format) -> Result<(), Failure> {
    let figures = PublishedFigures::load().map_err(Failure::failed)?;
    let settings = Settings { runs: job.runs, seed: job.seed };
    let rows = report::rows(cells, job.seed, &figures);
    let text = match job.command {
        JobCommand::Run => report::render_results(&rows, settings, format),
        JobCommand::Compare => report::render_comparison(&rows, settings, format),
    };
    output::print(&text.map_err(Failure::failed)?)
}

/// Runs `experiment` in a pool of `jobs` threads, with a bar of `runs` on stderr.
fn with_progress<T: Send>(
    runs: usize,
    jobs: Option<usize>,
    experiment: impl FnOnce(&(dyn Fn() + Sync)) -> Result<T, SimulationError> + Send,
) -> Result<T, Failure> {
    let pool = experiment::thread_pool(jobs.unwrap_or(0))
        .map_err(|e| Failure::failed(format!("cannot start the threads: {e}")))?;
    let progress = progress_bar(runs);
    let result = pool.install(|| experiment(&|| progress.inc(1)));
    progress.finish_and_clear();
    result.map_err(Failure::bad_input)
}

/// The algorithms of an option, if there are any.
fn each_once<'a>(option: &str, algorithms: &'a [Algorithm]) -> Result<Option<&'a [Algorithm]>, Failure> {
    if let Some(twice) = repeated(algorithms) {
        let name = twice.name();
        return Err(Failure::bad_input(format!("{option}: {name} given twice (allowed: each name once)")));
    }
    Ok((!algorithms.is_empty()).then_some(algorithms))
}

/// Scenarios by name, group or path; those of `default` if `names` is empty.
fn load(names: &[String], default: Group) -> Result<Vec<Scenario>, Failure> {
    if names.is_empty() {
        return load_group(default);
    }
    let mut scenarios = Vec::new();
    for name in names {
        let groups = Group::named(name);
        if groups.is_empty() {
            scenarios.push(load_one(name)?);
        }
        for group in groups {
            scenarios.extend(load_group(group)?);
        }
    }
    let names: Vec<&str> = scenarios.iter().map(|scenario| scenario.name.as_str()).collect();
    if let Some(twice) = repeated(&names) {
        return Err(Failure::bad_input(format!("SCENARIO: {twice} given twice (allowed: each name once)")));
    }
    Ok(scenarios)
}

fn load_group(group: Group) -> Result<Vec<Scenario>, Failure> {
    group.scenarios().map(load_one).collect()
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
fn note_speed(cells: &[Vec<Outcome>], seconds: f64) {
    let outcomes = || cells.iter().flatten();
    let packets = outcomes().map(|outcome| outcome.events as f64).sum::<f64>();
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
