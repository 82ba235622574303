//! What each command does with its arguments.

use super::args::{
    Cli, Command, CommonOptions, EcnOptions, FigureOptions, RunOptions, ShareOptions, TraceOptions,
};
use super::load::{each_once, load, load_group, load_one};
use super::qlog::{LoggedRuns, log_failure, write_qlog};
use super::{Failure, output};
use cc_sim::Algorithm;
use cc_sim::SimulationError;
use cc_sim::checkpoint::{self, Checkpoint, Job, JobCommand, Merged, Results, Shard};
use cc_sim::event_log::EventLog;
use cc_sim::experiment::{self, Cell, Plan};
use cc_sim::report::{self, Format, PublishedFigures, Settings};
use cc_sim::scenario::{Group, Scenario};
use cc_sim::trace::Trace;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::{self, IsTerminal};
use std::sync::{Mutex, PoisonError};

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

fn measure(names: &[String], options: &RunOptions, command: JobCommand) -> Result<(), Failure> {
    let scenarios = load(names, Group::NetworkEvents)?;
    let algorithms = each_once("--cc", &options.cc)?.unwrap_or(Algorithm::MAIN_JOB);
    let job = job_of(command, &scenarios, algorithms, options.runs, &options.common);
    let plan = job.experiment(&scenarios);
    match &options.qlog.qlog {
        None => keep(&plan, &job, &scenarios, &options.common),
        Some(folder) => {
            let logged = LoggedRuns::new(plan, folder, options.qlog.qlog_packets);
            keep(&logged, &job, &scenarios, &options.common)?;
            logged.close()
        }
    }
}

fn share(options: &ShareOptions) -> Result<(), Failure> {
    let ShareOptions { figures, against, every_ms } = options;
    let scenarios = load(&figures.scenarios, Group::Share)?;
    let against = each_once("--against", against)?.map(<[Algorithm]>::to_vec);
    let algorithms = each_once("--cc", &figures.cc)?.unwrap_or(Algorithm::MAIN_JOB);
    let runs = if every_ms.is_some() { 1 } else { figures.runs };
    let command = JobCommand::Share { against, every_ms: *every_ms };
    let job = job_of(command, &scenarios, algorithms, runs, &figures.common);
    keep(&job.share(&scenarios), &job, &scenarios, &figures.common)
}

fn delay(options: &FigureOptions) -> Result<(), Failure> {
    let scenarios = load(&options.scenarios, Group::Delay)?;
    let algorithms = each_once("--cc", &options.cc)?.unwrap_or(Algorithm::ALL);
    let job = job_of(JobCommand::Delay, &scenarios, algorithms, options.runs, &options.common);
    keep(&job.delay(&scenarios), &job, &scenarios, &options.common)
}

fn ecn(EcnOptions { figures, after_ms }: &EcnOptions) -> Result<(), Failure> {
    let scenarios = if figures.scenarios.is_empty() {
        [load_group(Group::EcnSimulated)?, load_group(Group::EcnWritten)?].concat()
    } else {
        load(&figures.scenarios, Group::EcnWritten)?
    };
    let algorithms = each_once("--cc", &figures.cc)?.unwrap_or(Algorithm::MAIN_JOB);
    let command = JobCommand::Ecn { after_ms: *after_ms };
    let job = job_of(command, &scenarios, algorithms, figures.runs, &figures.common);
    keep(&job.ecn(&scenarios), &job, &scenarios, &figures.common)
}

fn merge(files: &[String], format: Format) -> Result<(), Failure> {
    let Merged { job, scenarios, results } = checkpoint::merge(files).map_err(Failure::bad_input)?;
    show(&job, &scenarios, results, format)
}

fn trace(options: &TraceOptions) -> Result<(), Failure> {
    let scenario = load_one(&options.scenario)?;
    let interval_us = options.interval_ms * 1_000;
    let trace = Trace::of_run(&scenario, options.cc, options.seed, options.run, interval_us);
    if let Some(folder) = &options.qlog.qlog {
        let log = EventLog {
            scenario: &scenario,
            algorithm: options.cc,
            seed: trace.seed,
            packets: options.qlog.qlog_packets,
        };
        write_qlog(log, folder, options.run.into()).map_err(|error| log_failure(folder, error))?;
    }
    let mut stdout = output::Stdout::new();
    let outcome = trace.write(options.format, |piece| stdout.write(piece));
    stdout.finish()?;
    outcome.map(|_| ()).map_err(Failure::bad_input)
}

fn job_of(
    command: JobCommand,
    scenarios: &[Scenario],
    algorithms: &[Algorithm],
    runs: u32,
    common: &CommonOptions,
) -> Job {
    let shard = common.shard.unwrap_or(Shard::WHOLE);
    Job::new(command, scenarios, algorithms, (runs, common.seed), shard)
}

/// Prints the results of `job`, all of its cells in their order.
fn show(job: &Job, scenarios: &[Scenario], results: Results, format: Format) -> Result<(), Failure> {
    let (settings, seed) = (Settings { runs: job.runs, seed: job.seed }, job.seed);
    let text = match (&job.command, results) {
        (JobCommand::Share { every_ms, .. }, Results::Figures(runs)) => {
            let cells = job.share(scenarios).with_runs(runs);
            match every_ms {
                Some(ms) => report::render_share_lines(&report::share_lines(&cells, ms * 1_000), format),
                None => report::render_shares(&report::share_rows(&cells, seed), settings, format),
            }
        }
        (JobCommand::Delay, Results::Figures(runs)) => {
            let cells = job.delay(scenarios).with_runs(runs);
            report::render_delays(&report::delay_rows(&cells, seed), settings, format)
        }
        (JobCommand::Ecn { .. }, Results::Figures(runs)) => {
            let cells = job.ecn(scenarios).with_runs(runs);
            report::render_ecn(&report::ecn_rows(&cells, seed), settings, format)
        }
        (command, Results::Outcomes(runs)) => {
            let pairs = job.experiment(scenarios).cells().into_iter().zip(runs);
            let cells: Vec<_> = pairs.filter_map(|(pair, outcomes)| Cell::new(pair, outcomes)).collect();
            let figures = PublishedFigures::load().map_err(Failure::failed)?;
            let rows = report::rows(&cells, seed, &figures);
            match command {
                JobCommand::Compare => report::render_comparison(&rows, settings, format),
                _ => report::render_results(&rows, settings, format),
            }
        }
        (command, Results::Figures(_)) => {
            return Err(Failure::failed(format!("{command} has no figures of flows and queues")));
        }
    };
    output::print(&text.map_err(Failure::failed)?)
}

/// Runs the cells of `job` that are not in its file, adds them to it, and prints the result if that is all of it.
fn keep<P: Plan>(plan: &P, job: &Job, scenarios: &[Scenario], options: &CommonOptions) -> Result<(), Failure>
where
    Results: From<Vec<Vec<P::Run>>>,
{
    let (kept, mut results) = match &options.resume {
        None => (None, vec![None; plan.cells().len()]),
        Some(path) => {
            let (file, results) = Checkpoint::open(path, job, scenarios).map_err(Failure::bad_input)?;
            (Some((path, Mutex::new(file))), results)
        }
    };
    run_missing(plan, job.shard, &mut results, options.jobs, |cell, runs| {
        if let Some((_, file)) = &kept {
            file.lock().unwrap_or_else(PoisonError::into_inner).add(plan.name(cell), runs);
        }
    })?;
    if options.shard.is_none() {
        let all: Vec<Vec<P::Run>> = results.into_iter().flatten().collect();
        show(job, scenarios, all.into(), options.format)?;
    }
    let Some((path, file)) = kept else { return Ok(()) };
    let closed = file.into_inner().unwrap_or_else(PoisonError::into_inner).close();
    closed.map_err(|e| Failure::failed(format!("{path}: --resume: cannot keep the cells: {e}")))
}

/// Runs the cells of `shard` that are not there yet and puts their runs to the others.
fn run_missing<P: Plan>(
    plan: &P,
    shard: Shard,
    results: &mut [Option<Vec<P::Run>>],
    jobs: Option<usize>,
    on_cell: impl Fn(&P::Cell, &[P::Run]) + Sync + Send,
) -> Result<(), Failure> {
    let cells = plan.cells().into_iter().zip(&mut *results).enumerate();
    let (missing, places): (Vec<_>, Vec<_>) = cells
        .filter(|(index, (_, there))| shard.has(*index) && there.is_none())
        .map(|(_, missing)| missing)
        .unzip();
    let started = now();
    let runs = missing.len() * plan.runs().max(1) as usize;
    let new = with_progress(runs, jobs, |on_run| experiment::run_all(plan, &missing, on_run, on_cell))?;
    note_speed::<P>(&new, now().duration_since(started).as_secs_f64());
    for (place, runs) in places.into_iter().zip(new) {
        *place = Some(runs);
    }
    Ok(())
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
fn note_speed<P: Plan>(cells: &[Vec<P::Run>], seconds: f64) {
    let runs = || cells.iter().flatten();
    let packets = runs().map(|run| P::events(run) as f64).sum::<f64>();
    output::note(&format!(
        "{} runs in {seconds:.2} s, {:.2} million packets a second",
        runs().count(),
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
