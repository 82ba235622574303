//! The experiments that judge a controller by the queue that it makes, and whether it takes the queue of the other
//! direction for its own.

use crate::experiment::{CellName, Plan, run_all, run_seed};
use crate::measure::{RunFigures, measure_from};
use crate::scenario::Direction;
use crate::{Algorithm, Scenario, SimulationError};
use serde::Serialize;

/// How long after the start of other traffic on the reverse link a run is judged, in microseconds. The path has become
/// longer by that queue, and a window that grows by a datagram a round trip takes its time to fill it, whatever the
/// controller makes of the delay.
pub const SETTLING_US: u64 = 20_000_000;

/// What to run.
#[derive(Clone, Copy, Debug)]
pub struct DelayExperiment<'a> {
    /// Scenarios, in the order of the result. One with other traffic on the reverse link runs in six variants: with and
    /// without that traffic, with each [`Signal`].
    pub scenarios: &'a [Scenario],
    /// Algorithms, in the order of the result.
    pub algorithms: &'a [Algorithm],
    /// Runs of each cell; 1 at least.
    pub runs: u32,
    /// Base seed; see [`run_seed`].
    pub seed: u64,
}

/// What a controller gets to know of one-way delays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Signal {
    /// The times at which packets were received, as far as the scenario's receiver reports them.
    ReceiveTimes,
    /// Nothing but when ACKs arrive and how long the receiver has held them back.
    AckArrival,
    /// The smoothed RTT in place of the times at which packets were received.
    Rtt,
}

impl Signal {
    /// All of them, in the order of tables.
    pub const ALL: [Self; 3] = [Self::ReceiveTimes, Self::AckArrival, Self::Rtt];

    fn name(self) -> &'static str {
        match self {
            Self::ReceiveTimes => "receive times",
            Self::AckArrival => "arrival of ACKs",
            Self::Rtt => "RTT",
        }
    }

    /// `scenario` with this signal.
    #[must_use]
    pub fn in_scenario(self, scenario: &Scenario) -> Scenario {
        let mut scenario = scenario.clone();
        match self {
            Self::ReceiveTimes => {}
            Self::AckArrival => scenario.endpoint.receive_timestamps = None,
            Self::Rtt => scenario.endpoint.receive_times_from_rtt = true,
        }
        scenario
    }
}

/// All runs of one variant of a scenario with one algorithm.
#[derive(Clone, Debug)]
pub struct DelayCell {
    /// The scenario as it was run.
    pub scenario: Scenario,
    /// The algorithm.
    pub algorithm: Algorithm,
    /// What it got to know.
    pub signal: Signal,
    /// From when on the run is judged, in microseconds, and whether this is the variant with other traffic on the reverse
    /// link; `None` if the scenario has none, and all of the run counts.
    pub reverse_traffic: Option<(u64, bool)>,
    /// The runs, in order of their number.
    pub runs: Vec<RunFigures>,
}

impl DelayExperiment<'_> {
    /// Runs everything in the current rayon pool. `on_run` is called after each run, from any thread.
    ///
    /// # Errors
    ///
    /// The error of the first run, in the order of the result, that fails.
    pub fn run(&self, on_run: impl Fn() + Sync) -> Result<Vec<DelayCell>, SimulationError> {
        run_all(self, &self.cells(), on_run, |_, _| ()).map(|runs| self.with_runs(runs))
    }

    /// The cells with their runs, which are in the same order.
    #[must_use]
    pub fn with_runs(&self, runs: Vec<Vec<RunFigures>>) -> Vec<DelayCell> {
        let cells = self.cells().into_iter().zip(runs);
        cells.map(|(cell, runs)| DelayCell { runs, ..cell }).collect()
    }
}

impl Plan for DelayExperiment<'_> {
    type Cell = DelayCell;
    type Run = RunFigures;

    fn runs(&self) -> u32 {
        self.runs
    }

    fn name(&self, cell: &DelayCell) -> CellName {
        let variant = cell.reverse_traffic.map(|(_, is_there)| {
            let traffic = if is_there { "with" } else { "without" };
            format!("{}, {traffic} reverse traffic", cell.signal.name())
        });
        CellName { scenario: cell.scenario.name.clone(), algorithm: cell.algorithm, variant }
    }

    fn run_one(&self, cell: &DelayCell, number: u64) -> Result<RunFigures, SimulationError> {
        // All variants of a scenario have the same seeds.
        let seed = run_seed(self.seed, &cell.scenario.name, cell.algorithm, number);
        let from_us = cell.reverse_traffic.map_or(0, |(from_us, _)| from_us);
        measure_from(&cell.scenario, cell.algorithm, seed, from_us)
    }

    fn events(run: &RunFigures) -> u64 {
        run.outcome.main.events
    }

    /// Cells without runs yet.
    fn cells(&self) -> Vec<DelayCell> {
        let mut cells = Vec::new();
        for scenario in self.scenarios {
            for &algorithm in self.algorithms {
                let mut push = |scenario, signal, reverse_traffic| {
                    cells.push(DelayCell { scenario, algorithm, signal, reverse_traffic, runs: Vec::new() });
                };
                let Some(from_us) = judged_from(scenario) else {
                    push(scenario.clone(), Signal::ReceiveTimes, None);
                    continue;
                };
                for signal in Signal::ALL {
                    let with = signal.in_scenario(scenario);
                    let mut without = with.clone();
                    without.cross.retain(|source| source.direction != Direction::Reverse);
                    push(without, signal, Some((from_us, false)));
                    push(with, signal, Some((from_us, true)));
                }
            }
        }
        cells
    }
}

/// Some time after the start of other traffic on the reverse link, if there is any.
fn judged_from(scenario: &Scenario) -> Option<u64> {
    let reverse = scenario.cross.iter().filter(|source| source.direction == Direction::Reverse);
    reverse.map(|source| source.start_us.saturating_add(SETTLING_US)).min()
}

#[cfg(test)]
mod tests {
    use super::{DelayExperiment, Signal};
    use crate::Algorithm;
    use crate::experiment::Plan;
    use crate::scenario::builtin;

    #[test]
    fn a_scenario_with_reverse_traffic_runs_in_six_variants_and_others_in_one() {
        let scenarios = ["delay_1bdp", "delay_reverse_queue"].map(|name| builtin(name).unwrap());
        let algorithms = [Algorithm::Cubic];
        let plan = DelayExperiment { scenarios: &scenarios, algorithms: &algorithms, runs: 2, seed: 1 };
        assert_eq!(plan.total_runs(), 2 * (1 + 6));
        let cells = plan.cells();
        assert_eq!((cells[0].signal, cells[0].reverse_traffic), (Signal::ReceiveTimes, None));
        assert_eq!(cells[0].scenario, scenarios[0]);
        for (pair, signal) in cells[1..].chunks(2).zip(Signal::ALL) {
            assert_eq!((pair[0].signal, pair[1].signal), (signal, signal));
            assert_eq!(pair[0].reverse_traffic, Some((30_000_000, false)));
            assert_eq!(pair[1].reverse_traffic, Some((30_000_000, true)));
            assert_eq!((pair[0].scenario.cross.len(), pair[1].scenario.cross.len()), (0, 2));
            for cell in pair {
                let endpoint = &cell.scenario.endpoint;
                assert_eq!(endpoint.receive_timestamps.is_some(), signal != Signal::AckArrival);
                assert_eq!(endpoint.receive_times_from_rtt, signal == Signal::Rtt);
            }
        }
    }

    #[test]
    fn the_reverse_queue_stands_at_a_hundred_milliseconds_and_the_forward_one_is_another() {
        let scenarios = [builtin("delay_reverse_queue").unwrap()];
        let algorithms = [Algorithm::Cubic];
        let plan = DelayExperiment { scenarios: &scenarios, algorithms: &algorithms, runs: 1, seed: 1 };
        let cells = crate::experiment::thread_pool(2).unwrap().install(|| plan.run(|| ())).unwrap();
        let (without, with) = (&cells[0].runs[0], &cells[1].runs[0]);
        // An ACK of some hundred bytes takes less than a millisecond.
        assert!(without.reverse_queue.p95.unwrap() < 2_000.0, "{:?}", without.reverse_queue);
        // Up to 105 ms and a datagram of a millisecond; the source moves it by 1 Mbit/s for 20 ms, at 2 Mbit/s 10 ms.
        let reverse = with.reverse_queue;
        assert!(reverse.max.unwrap() < 106_500 && reverse.p95.unwrap() > 103_000.0, "{reverse:?}");
        assert!((96_000.0..104_000.0).contains(&reverse.mean.unwrap()), "{reverse:?}");
        let counters = &with.outcome.flows[0].counters;
        assert!(counters.dropped_back * 5 < counters.acks_received, "some ACKs get lost: {counters:?}");
    }
}
