//! Many seeded runs of scenarios with algorithms, on all cores, with results that depend on neither.

use crate::engine::rng::SplitMix64;
use crate::stats::Summary;
use crate::{Algorithm, MediaOutcome, Outcome, Scenario, SimulationError, simulate};
use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Most runs of a cell.
pub const MAX_RUNS: u32 = 100_000;

/// A pool of `threads` threads; 0 for as many as there are processors.
///
/// # Errors
///
/// The system refuses to start them.
pub fn thread_pool(threads: usize) -> Result<ThreadPool, ThreadPoolBuildError> {
    ThreadPoolBuilder::new().num_threads(threads).build()
}

/// Something to be run: cells, of each of which there are some runs.
pub trait Plan: Sync {
    /// What all runs of a cell have in common.
    type Cell: Sync;
    /// What is left of a run.
    type Run: Clone + Send + Serialize + DeserializeOwned;

    /// The cells, in the order of the result.
    fn cells(&self) -> Vec<Self::Cell>;

    /// Runs of each cell; 0 counts as 1.
    fn runs(&self) -> u32;

    /// How a cell is called. No two of a plan have the same name.
    fn name(&self, cell: &Self::Cell) -> CellName;

    /// Run number `number` of a cell.
    ///
    /// # Errors
    ///
    /// The run fails.
    fn run_one(&self, cell: &Self::Cell, number: u64) -> Result<Self::Run, SimulationError>;

    /// Datagrams that the links of a run were given.
    fn events(run: &Self::Run) -> u64;

    /// Number of runs in all.
    fn total_runs(&self) -> usize {
        self.cells().len() * self.runs().max(1) as usize
    }
}

/// How a cell is called.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CellName {
    /// The scenario.
    pub scenario: String,
    /// Algorithm of the main flow.
    pub algorithm: Algorithm,
    /// What there is besides, if there are several cells of the same scenario and algorithm.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
}

impl fmt::Display for CellName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} with {}", self.scenario, self.algorithm.name())?;
        self.variant.as_ref().map_or(Ok(()), |variant| write!(f, ", {variant}"))
    }
}

/// What to run.
#[derive(Clone, Copy, Debug)]
pub struct Experiment<'a> {
    /// Scenarios, in the order of the result.
    pub scenarios: &'a [Scenario],
    /// Algorithms, in the order of the result.
    pub algorithms: &'a [Algorithm],
    /// Runs of each scenario with each algorithm; 1 at least.
    pub runs: u32,
    /// Base seed; see [`run_seed`].
    pub seed: u64,
}

/// What all runs of a cell have in common.
pub type Pair<'a> = (&'a Scenario, Algorithm);

/// All runs of one scenario with one algorithm.
#[derive(Clone, Debug)]
pub struct Cell<'a> {
    /// The scenario.
    pub scenario: &'a Scenario,
    /// The algorithm.
    pub algorithm: Algorithm,
    /// Statistics of [`Outcome::completion_us`].
    pub completion: Summary,
    /// Statistics of delays, if the scenario has audio and video.
    pub media: Option<MediaSummary>,
    /// The runs, in order of their number.
    pub outcomes: Vec<Outcome>,
}

/// Statistics over the runs of a cell with audio and video, in microseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MediaSummary {
    /// Of [`MediaOutcome::average_us`](crate::MediaOutcome::average_us).
    pub average: Summary,
    /// Of [`MediaOutcome::max_us`](crate::MediaOutcome::max_us).
    pub max: Summary,
}

impl<'a> Plan for Experiment<'a> {
    type Cell = Pair<'a>;
    type Run = Outcome;

    fn cells(&self) -> Vec<Pair<'a>> {
        pairs(self.scenarios, self.algorithms)
    }

    fn runs(&self) -> u32 {
        self.runs
    }

    fn name(&self, &(scenario, algorithm): &Pair<'a>) -> CellName {
        CellName { scenario: scenario.name.clone(), algorithm, variant: None }
    }

    fn run_one(&self, &(scenario, algorithm): &Pair<'a>, number: u64) -> Result<Outcome, SimulationError> {
        let seed = run_seed(self.seed, &scenario.name, algorithm, number);
        simulate(scenario, algorithm, seed, &mut ())
    }

    fn events(run: &Outcome) -> u64 {
        run.events
    }
}

/// All pairs: scenario by scenario, algorithm by algorithm.
pub(crate) fn pairs<'a>(scenarios: &'a [Scenario], algorithms: &[Algorithm]) -> Vec<Pair<'a>> {
    let with_all = |scenario| algorithms.iter().map(move |&algorithm| (scenario, algorithm));
    scenarios.iter().flat_map(with_all).collect()
}

impl<'a> Experiment<'a> {
    /// Runs everything in the current rayon pool ([`thread_pool`] makes one). `on_run` is called after each run, from any
    /// thread.
    ///
    /// # Errors
    ///
    /// The error of the first run, in the order of the cells, that fails; runs after it may not take place.
    pub fn run(&self, on_run: impl Fn() + Sync) -> Result<Vec<Cell<'a>>, SimulationError> {
        let pairs = self.cells();
        let outcomes = run_all(self, &pairs, on_run, |_, _| ())?;
        let cells = pairs.into_iter().zip(outcomes);
        Ok(cells.filter_map(|(pair, outcomes)| Cell::new(pair, outcomes)).collect())
    }
}

impl<'a> Cell<'a> {
    /// The cell of these outcomes; `None` if there are none.
    #[must_use]
    pub fn new((scenario, algorithm): Pair<'a>, outcomes: Vec<Outcome>) -> Option<Self> {
        let times: Vec<u64> = outcomes.iter().map(|outcome| outcome.completion_us).collect();
        let delays = |figure: fn(&MediaOutcome) -> u64| {
            let delays: Vec<u64> = outcomes.iter().filter_map(|o| o.media.as_ref()).map(figure).collect();
            Summary::of(&delays)
        };
        let media = delays(|media| media.average_us).zip(delays(|media| media.max_us));
        let media = media.map(|(average, max)| MediaSummary { average, max });
        Some(Self { scenario, algorithm, completion: Summary::of(&times)?, media, outcomes })
    }
}

/// Runs `cells`, all of those of `plan` or some, in the current rayon pool, with `on_run` after each run and `on_cell` with what
/// is left of a cell's runs after the last of them, from any thread. The runs come in the order of `cells` and of their numbers.
///
/// # Errors
///
/// The error of the first run, in this order, that fails; runs after it may not take place.
pub fn run_all<P: Plan + ?Sized>(
    plan: &P,
    cells: &[P::Cell],
    on_run: impl Fn() + Sync,
    on_cell: impl Fn(&P::Cell, &[P::Run]) + Sync,
) -> Result<Vec<Vec<P::Run>>, SimulationError> {
    let runs = plan.runs().max(1) as usize;
    // Position of the first failure so far. Runs before it still take place, so that which failure is the first does not
    // depend on the threads.
    let first_failure = AtomicUsize::new(usize::MAX);
    let run_cell = |(index, cell): (usize, &P::Cell)| {
        let attempt = |number: usize| {
            let position = index * runs + number;
            if position > first_failure.load(Ordering::Relaxed) {
                return None;
            }
            let result = plan.run_one(cell, number as u64);
            if result.is_err() {
                first_failure.fetch_min(position, Ordering::Relaxed);
            }
            on_run();
            Some(result)
        };
        let results: Vec<_> = (0..runs).into_par_iter().map(attempt).collect();
        let done = results.into_iter().flatten().collect::<Result<Vec<P::Run>, _>>()?;
        if done.len() == runs {
            on_cell(cell, &done);
        }
        Ok(done)
    };
    let results: Vec<Result<Vec<P::Run>, _>> = cells.par_iter().enumerate().map(run_cell).collect();
    results.into_iter().collect()
}

/// Seed of run number `run`: FNV-1a of the two names (each followed by a byte 0xff, which is in no name), added to the
/// base seed, through a step of SplitMix64; the run number added, through it again.
///
/// So a run keeps its seed whatever else is run with it, and no two cells share theirs.
#[must_use]
pub fn run_seed(base: u64, scenario: &str, algorithm: Algorithm, run: u64) -> u64 {
    let split_mix = |state| SplitMix64::new(state).next_u64();
    let bytes = scenario.bytes().chain([0xff]).chain(algorithm.name().bytes()).chain([0xff]);
    let names = bytes.fold(FNV_OFFSET, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(FNV_PRIME));
    split_mix(split_mix(base.wrapping_add(names)).wrapping_add(run))
}

/// Offset basis and prime of the 64-bit FNV-1a hash (Fowler, Noll, Vo).
const FNV_OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_PRIME: u64 = 0x0000_0100_0000_01b3;

#[cfg(test)]
mod tests {
    use super::{Experiment, run_seed, thread_pool};
    use crate::scenario::builtin;
    use crate::{Algorithm, SimulationError};

    #[test]
    fn every_run_of_every_cell_has_a_seed_of_its_own() {
        let mut seeds: Vec<u64> = ["alone", "alone_200"]
            .into_iter()
            .flat_map(|name| Algorithm::ALL.iter().map(move |&algorithm| (name, algorithm)))
            .flat_map(|(name, algorithm)| (0..1_000).map(move |run| run_seed(1, name, algorithm, run)))
            .collect();
        let all = seeds.len();
        seeds.sort_unstable();
        seeds.dedup();
        assert_eq!(seeds.len(), all);
        assert_ne!(run_seed(1, "alone", Algorithm::C4, 0), run_seed(2, "alone", Algorithm::C4, 0));
    }

    #[test]
    fn results_do_not_depend_on_the_number_of_threads() {
        let scenarios = [builtin("alone").unwrap()];
        let experiment = Experiment { scenarios: &scenarios, algorithms: Algorithm::ALL, runs: 5, seed: 3 };
        let with = |threads| {
            let cells = thread_pool(threads).unwrap().install(|| experiment.run(|| ())).unwrap();
            cells.into_iter().map(|cell| (cell.algorithm, cell.outcomes)).collect::<Vec<_>>()
        };
        let one = with(1);
        assert_eq!(one.len(), Algorithm::ALL.len());
        assert!(one.iter().all(|(_, outcomes)| outcomes.len() == 5));
        assert_eq!(one, with(3));
    }

    #[test]
    fn the_first_failure_in_order_is_the_one_reported() {
        let mut scenarios = ["alone", "blackhole"].map(|name| builtin(name).unwrap());
        for scenario in &mut scenarios {
            scenario.time_limit_us = 300_000;
        }
        let experiment = Experiment { scenarios: &scenarios, algorithms: Algorithm::ALL, runs: 4, seed: 1 };
        let error = thread_pool(2).unwrap().install(|| experiment.run(|| ())).unwrap_err();
        assert!(error.to_string().contains("alone"), "{error}");
        assert!(matches!(error, SimulationError::TimeLimit { limit_us: 300_000, .. }));
    }
}
