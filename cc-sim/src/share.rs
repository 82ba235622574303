//! How flows of several algorithms share a path.

use crate::experiment::{CellName, Plan, run_all, run_seed};
use crate::measure::{RunFigures, measure};
use crate::scenario::FlowAlgorithm;
use crate::{Algorithm, Scenario, SimulationError};

/// What to run: each scenario with each pair of algorithms.
#[derive(Clone, Copy, Debug)]
pub struct ShareExperiment<'a> {
    /// Scenarios, in the order of the result.
    pub scenarios: &'a [Scenario],
    /// Algorithms of the main flow, in the order of the result.
    pub main: &'a [Algorithm],
    /// Algorithms of the flows that a scenario leaves open; `None` for all pairs of `main`, each once.
    pub against: Option<&'a [Algorithm]>,
    /// Runs of each cell; 1 at least.
    pub runs: u32,
    /// Base seed; see [`run_seed`].
    pub seed: u64,
}

/// All runs of one scenario with one pair of algorithms.
#[derive(Clone, Debug)]
pub struct ShareCell {
    /// The scenario, its open flows filled in.
    pub scenario: Scenario,
    /// Algorithm of the main flow.
    pub main: Algorithm,
    /// The runs, in order of their number.
    pub runs: Vec<RunFigures>,
}

/// A scenario and two algorithms.
#[derive(Clone, Debug)]
pub struct SharePair {
    /// The scenario, its open flows filled in.
    scenario: Scenario,
    main: Algorithm,
    /// Algorithm of the flows that the scenario leaves open, if it does.
    other: Option<Algorithm>,
}

impl ShareExperiment<'_> {
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
        cells.map(|(SharePair { scenario, main, .. }, runs)| ShareCell { scenario, main, runs }).collect()
    }
}

impl Plan for ShareExperiment<'_> {
    type Cell = SharePair;
    type Run = RunFigures;

    fn cells(&self) -> Vec<SharePair> {
        let mut cells = Vec::new();
        for scenario in self.scenarios {
            let is_open = scenario.flows.iter().any(|flow| flow.algorithm == FlowAlgorithm::Main);
            for (i, &main) in self.main.iter().enumerate() {
                if !is_open {
                    cells.push(SharePair { scenario: scenario.clone(), main, other: None });
                    continue;
                }
                for &other in self.against.unwrap_or(&self.main[i..]) {
                    let scenario = with_other(scenario, other);
                    cells.push(SharePair { scenario, main, other: Some(other) });
                }
            }
        }
        cells
    }

    fn runs(&self) -> u32 {
        self.runs
    }

    fn name(&self, SharePair { scenario, main, other }: &SharePair) -> CellName {
        let variant = other.map(|other| format!("against {}", other.name()));
        CellName { scenario: scenario.name.clone(), algorithm: *main, variant }
    }

    fn run_one(&self, cell: &SharePair, number: u64) -> Result<RunFigures, SimulationError> {
        let SharePair { scenario, main, other } = cell;
        let name = match other {
            Some(other) => format!("{}+{}", scenario.name, other.name()),
            None => scenario.name.clone(),
        };
        measure(scenario, *main, run_seed(self.seed, &name, *main, number))
    }

    fn events(run: &RunFigures) -> u64 {
        run.outcome.main.events
    }
}

/// `scenario` with `other` as the algorithm of the flows that it leaves open.
fn with_other(scenario: &Scenario, other: Algorithm) -> Scenario {
    let mut scenario = scenario.clone();
    for flow in &mut scenario.flows {
        if flow.algorithm == FlowAlgorithm::Main {
            flow.algorithm = FlowAlgorithm::Fixed(other);
        }
    }
    scenario
}

#[cfg(test)]
mod tests {
    use super::ShareExperiment;
    use crate::Algorithm;
    use crate::experiment::Plan;
    use crate::scenario::{FlowAlgorithm, builtin};

    const TWO: &[Algorithm] = &[Algorithm::C4, Algorithm::Cubic];

    fn pairs(against: Option<&[Algorithm]>) -> Vec<(Algorithm, Algorithm)> {
        let scenarios = [builtin("share_1bdp").unwrap()];
        let experiment = ShareExperiment { scenarios: &scenarios, main: TWO, against, runs: 2, seed: 1 };
        assert_eq!(experiment.total_runs(), 2 * experiment.cells().len());
        let cells = experiment.cells().into_iter();
        cells.map(|cell| (cell.main, cell.scenario.flows[0].algorithm.with(cell.main))).collect()
    }

    #[test]
    fn each_pair_comes_once_unless_the_others_are_named() {
        let (c4, cubic) = (Algorithm::C4, Algorithm::Cubic);
        assert_eq!(pairs(None), [(c4, c4), (c4, cubic), (cubic, cubic)]);
        assert_eq!(pairs(Some(&[c4])), [(c4, c4), (cubic, c4)]);
    }

    #[test]
    fn a_scenario_that_leaves_nothing_open_runs_as_it_is() {
        let mut fixed = builtin("share_1bdp").unwrap();
        fixed.flows[0].algorithm = FlowAlgorithm::Fixed(Algorithm::Cubic);
        let scenarios = [fixed.clone()];
        let experiment =
            ShareExperiment { scenarios: &scenarios, main: TWO, against: None, runs: 1, seed: 1 };
        let cells = experiment.cells();
        assert_eq!(cells.len(), 2);
        assert!(cells.iter().all(|cell| cell.scenario == fixed));
    }
}
