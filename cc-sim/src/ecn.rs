//! The ECN tests: what marks, queues and shares are, from a time on.

use crate::experiment::{run_all, run_seed};
use crate::measure::measure_from;
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
    /// Number of runs in all.
    #[must_use]
    pub fn total_runs(&self) -> usize {
        self.scenarios.len() * self.algorithms.len() * self.runs.max(1) as usize
    }

    /// Runs everything in the current rayon pool. `on_run` is called after each run, from any thread.
    ///
    /// # Errors
    ///
    /// The error of the first run, in the order of the result, that fails.
    pub fn run(&self, on_run: impl Fn() + Sync) -> Result<Vec<ShareCell>, SimulationError> {
        let cells: Vec<(&Scenario, Algorithm)> = self
            .scenarios
            .iter()
            .flat_map(|scenario| self.algorithms.iter().map(move |&algorithm| (scenario, algorithm)))
            .collect();
        let run = |&(scenario, main): &(&Scenario, Algorithm), run| {
            let seed = run_seed(self.seed, &scenario.name, main, run);
            let from_us = scenario.transfer.start_us.saturating_add(self.after_us);
            // From the very start if all counts.
            measure_from(scenario, main, seed, if self.after_us == 0 { 0 } else { from_us })
        };
        let figures = run_all(&cells, self.runs, run, on_run, |_, _| ())?;
        let cells = cells.into_iter().zip(figures);
        Ok(cells
            .map(|((scenario, main), runs)| ShareCell { scenario: scenario.clone(), main, runs })
            .collect())
    }
}
