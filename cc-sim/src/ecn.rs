//! The ECN tests: what marks, queues and shares are, from a time on.

use crate::experiment::{CellName, Pair, Plan, pairs, run_all, run_seed};
use crate::measure::{RunFigures, measure_from};
use crate::share::ShareCell;
use crate::{Algorithm, Scenario, SimulationError};

/// What to run: each scenario with each algorithm as the main flow's, also in the flows that a scenario leaves open.
#[derive(Clone, Copy, Debug)]
pub struct EcnExperiment<'a> {
    /// Scenarios, in the order of the result.
    pub scenarios: &'a [Scenario],
    /// Algorithms of the main flow, in the order of the result.
    pub algorithms: &'a [Algorithm],
    /// Runs of each cell; 1 at least.
    pub runs: u32,
    /// Base seed; see [`run_seed`].
    pub seed: u64,
    /// How long after the start of its main flow a run is not looked at for the delay of its queues, in microseconds. Marks and
    /// completion times are those of whole runs.
    pub after_us: u64,
}

impl EcnExperiment<'_> {
    /// Runs everything in the current rayon pool. `on_run` is called after each run, from any thread.
    ///
    /// # Errors
    ///
    /// The error of the first run, in the order of the result, that fails.
    pub fn run(&self, on_run: impl Fn() + Sync) -> Result<Vec<ShareCell>, SimulationError> {
        run_all(self, &self.cells(), on_run, |_, _| ()).map(|runs| self.with_runs(runs))
    }

    /// The cells with their runs, which are in the same order.
    #[must_use]
    pub fn with_runs(&self, runs: Vec<Vec<RunFigures>>) -> Vec<ShareCell> {
        let cells = self.cells().into_iter().zip(runs);
        cells.map(|((scenario, main), runs)| ShareCell { scenario: scenario.clone(), main, runs }).collect()
    }
}

impl<'a> Plan for EcnExperiment<'a> {
    type Cell = Pair<'a>;
    type Run = RunFigures;

    fn cells(&self) -> Vec<Pair<'a>> {
        pairs(self.scenarios, self.algorithms)
    }

    fn runs(&self) -> u32 {
        self.runs
    }

    fn name(&self, &(scenario, algorithm): &Pair<'a>) -> CellName {
        CellName { scenario: scenario.name.clone(), algorithm, variant: None }
    }

    fn run_one(&self, &(scenario, main): &Pair<'a>, number: u64) -> Result<RunFigures, SimulationError> {
        let seed = run_seed(self.seed, &scenario.name, main, number);
        let from_us = scenario.transfer.start_us.saturating_add(self.after_us);
        // From the very start if all counts.
        measure_from(scenario, main, seed, if self.after_us == 0 { 0 } else { from_us })
    }

    fn events(run: &RunFigures) -> u64 {
        run.outcome.main.events
    }
}
