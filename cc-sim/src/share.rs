//! How flows of several algorithms share a path.

use crate::experiment::{run_all, run_seed};
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

impl ShareExperiment<'_> {
    /// Number of runs in all.
    #[must_use]
    pub fn total_runs(&self) -> usize {
        self.cells().len() * self.runs.max(1) as usize
    }

    /// Runs everything in the current rayon pool. `on_run` is called after each run, from any thread.
    ///
    /// # Errors
    ///
    /// The error of the first run, in the order of the result, that fails.
    pub fn run(&self, on_run: impl Fn() + Sync) -> Result<Vec<ShareCell>, SimulationError> {
        let cells = self.cells();
        let run = |(scenario, main, name): &(Scenario, Algorithm, String), run| {
            measure(scenario, *main, run_seed(self.seed, name, *main, run))
        };
        let figures = run_all(&cells, self.runs, run, on_run, |_, _| ())?;
        let cells = cells.into_iter().zip(figures);
        Ok(cells.map(|((scenario, main, _), runs)| ShareCell { scenario, main, runs }).collect())
    }

    /// Scenario, main algorithm, and the name that the seeds come from.
    fn cells(&self) -> Vec<(Scenario, Algorithm, String)> {
        let mut cells = Vec::new();
        for scenario in self.scenarios {
            let is_open = scenario.flows.iter().any(|flow| flow.algorithm == FlowAlgorithm::Main);
            for (i, &main) in self.main.iter().enumerate() {
                if !is_open {
                    cells.push((scenario.clone(), main, scenario.name.clone()));
                    continue;
                }
                for &other in self.against.unwrap_or(&self.main[i..]) {
                    let name = format!("{}+{}", scenario.name, other.name());
                    cells.push((with_other(scenario, other), main, name));
                }
            }
        }
        cells
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
    use crate::scenario::{FlowAlgorithm, builtin};

    const TWO: &[Algorithm] = &[Algorithm::C4, Algorithm::Cubic];

    fn pairs(against: Option<&[Algorithm]>) -> Vec<(Algorithm, Algorithm)> {
        let scenarios = [builtin("share_1bdp").unwrap()];
        let experiment = ShareExperiment { scenarios: &scenarios, main: TWO, against, runs: 2, seed: 1 };
        assert_eq!(experiment.total_runs(), 2 * experiment.cells().len());
        let cells = experiment.cells().into_iter();
        cells.map(|(scenario, main, _)| (main, scenario.flows[0].algorithm.with(main))).collect()
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
        assert!(cells.iter().all(|(scenario, ..)| *scenario == fixed));
    }
}
