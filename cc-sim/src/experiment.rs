//! Many seeded runs of scenarios with algorithms, on all cores, with results that depend on neither.

use crate::engine::rng::SplitMix64;
use crate::stats::Summary;
use crate::{Algorithm, Outcome, Scenario, SimulationError, simulate};
use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};
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

/// All runs of one scenario with one algorithm.
#[derive(Clone, Debug)]
pub struct Cell<'a> {
    /// The scenario.
    pub scenario: &'a Scenario,
    /// The algorithm.
    pub algorithm: Algorithm,
    /// Statistics of [`Outcome::completion_us`].
    pub completion: Summary,
    /// The runs, in order of their number.
    pub outcomes: Vec<Outcome>,
}

impl Experiment<'_> {
    /// Number of runs in all.
    #[must_use]
    pub fn total_runs(&self) -> usize {
        self.scenarios.len() * self.algorithms.len() * self.runs.max(1) as usize
    }
}

impl<'a> Experiment<'a> {
    /// Runs everything in the current rayon pool ([`thread_pool`] makes one): scenario by scenario, algorithm by
    /// algorithm. `on_run` is called after each run, from any thread.
    ///
    /// # Errors
    ///
    /// The error of the first run, in this order, that fails; runs after it may not take place.
    pub fn run(&self, on_run: impl Fn() + Sync) -> Result<Vec<Cell<'a>>, SimulationError> {
        let pairs: Vec<(&'a Scenario, Algorithm)> = self
            .scenarios
            .iter()
            .flat_map(|scenario| self.algorithms.iter().map(move |&algorithm| (scenario, algorithm)))
            .collect();
        let outcomes = run_all(&pairs, self.runs, on_run, |&(scenario, algorithm), run| {
            let seed = run_seed(self.seed, &scenario.name, algorithm, run);
            simulate(scenario, algorithm, seed, &mut ())
        })?;
        Ok(pairs
            .into_iter()
            .zip(outcomes)
            .filter_map(|((scenario, algorithm), outcomes)| {
                let times: Vec<u64> = outcomes.iter().map(|outcome| outcome.completion_us).collect();
                let completion = Summary::of(&times)?;
                Some(Cell { scenario, algorithm, completion, outcomes })
            })
            .collect())
    }
}

/// Calls `run` with each of `cells` and each of the numbers from 0 to `runs` - 1 (0 runs count as one) in the current rayon
/// pool, and `on_run` after each call, from any thread. What it gives comes in the order of `cells` and of the numbers.
///
/// # Errors
///
/// The error of the first call, in this order, that fails; calls after it may not take place.
pub fn run_all<C: Sync, T: Send>(
    cells: &[C],
    runs: u32,
    on_run: impl Fn() + Sync,
    run: impl Fn(&C, u64) -> Result<T, SimulationError> + Sync,
) -> Result<Vec<Vec<T>>, SimulationError> {
    let runs = runs.max(1) as usize;
    // Position of the first failure so far. Runs before it still take place, so that which failure is the first does not
    // depend on the threads.
    let first_failure = AtomicUsize::new(usize::MAX);
    let results: Vec<Option<Result<T, SimulationError>>> = (0..cells.len() * runs)
        .into_par_iter()
        .map(|position| {
            if position > first_failure.load(Ordering::Relaxed) {
                return None;
            }
            let result = run(cells.get(position / runs)?, (position % runs) as u64);
            if result.is_err() {
                first_failure.fetch_min(position, Ordering::Relaxed);
            }
            on_run();
            Some(result)
        })
        .collect();
    let mut results = results.into_iter().flatten();
    cells.iter().map(|_| results.by_ref().take(runs).collect()).collect()
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
