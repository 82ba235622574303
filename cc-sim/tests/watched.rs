//! Every network event with every algorithm, the controller watched by the conformance kit after every call.

mod watch;

use cc_core::CongestionController;
use cc_sim::{Algorithm, AnyController, Scenario, SimulationError, scenario, simulate_flows, simulate_with};
use cc_testkit::{Record, Watched};
use watch::{subjects, watched};

/// Runs of each scenario with each algorithm. Only jitter and skipped packet numbers make them differ.
const SEEDS: u64 = 3;

fn run(scenario: &Scenario, algorithm: Algorithm, seed: u64) -> Result<Record, SimulationError> {
    let record = Record::default();
    let make = |algorithm: Algorithm, endpoint: &_, seed| {
        watched(algorithm, algorithm.controller(endpoint, seed), &record)
    };
    let outcome = simulate_with(scenario, algorithm, &make, seed, &mut ())?;
    assert_eq!(Ok(outcome), simulate_flows(scenario, algorithm, seed, &mut ()), "watching changes a run");
    Ok(record)
}

#[test]
fn every_call_of_every_network_event_holds_the_invariants() {
    for name in scenario::Group::NetworkEvents.scenarios() {
        let scenario = scenario::builtin(name).unwrap();
        for &algorithm in Algorithm::ALL {
            for seed in 0..SEEDS {
                let record = run(&scenario, algorithm, seed).unwrap();
                let at = format!("{name} with {}, seed {seed}", algorithm.name());
                assert!(record.violation().is_none(), "{at}: {}", record.violation().unwrap());
            }
        }
    }
}

#[test]
fn every_call_of_the_ecn_tests_holds_the_invariants() {
    for name in scenario::Group::EcnWritten.scenarios() {
        // Each algorithm with the codepoint that it wants.
        let mut scenario = scenario::builtin(name).unwrap();
        scenario.endpoint.ecn = scenario::EcnUse::Wanted;
        for &algorithm in Algorithm::ALL {
            let record = run(&scenario, algorithm, 1).unwrap();
            let at = format!("{name} with {}", algorithm.name());
            assert!(record.violation().is_none(), "{at}: {}", record.violation().unwrap());
        }
    }
}

/// CUBIC whose pacing rate rises with every loss.
#[derive(Clone, Debug)]
struct Greedy {
    inner: cc_cubic::Cubic,
    losses: u64,
}

impl CongestionController for Greedy {
    fn on_packet_sent(&mut self, path: &cc_core::PathState, packet: &cc_core::SentPacket) {
        self.inner.on_packet_sent(path, packet);
    }
    fn on_ack(&mut self, path: &cc_core::PathState, ack: &cc_core::AckEvent<'_>) {
        self.inner.on_ack(path, ack);
    }
    fn on_loss(&mut self, path: &cc_core::PathState, loss: &cc_core::LossEvent<'_>) {
        self.losses += 1;
        self.inner.on_loss(path, loss);
    }
    fn on_ecn(&mut self, path: &cc_core::PathState, ecn: &cc_core::EcnEvent) {
        self.inner.on_ecn(path, ecn);
    }
    fn pacing_rate(&self) -> Option<cc_core::Rate> {
        let rate = self.inner.pacing_rate()?.as_bytes_per_sec();
        Some(cc_core::Rate::from_bytes_per_sec(rate.saturating_mul(1 + self.losses)))
    }
    fn cwnd(&self) -> u64 {
        self.inner.cwnd()
    }
    fn snapshot(&self) -> cc_core::Snapshot {
        self.inner.snapshot()
    }
}

#[test]
fn a_faulty_controller_is_noticed_in_a_simulation() {
    let record = Record::default();
    let make = |_: Algorithm, _: &_, _| -> AnyController {
        let inner = cc_cubic::Cubic::new(&cc_cubic::Config::default());
        Box::new(Watched::new(Greedy { inner, losses: 0 }, &subjects::cubic()).recording_in(&record))
    };
    simulate_with(&scenario::builtin("alone").unwrap(), Algorithm::Cubic, &make, 1, &mut ()).unwrap();
    let violation = record.violation().expect("the rate rises at the first loss");
    assert!(violation.message.starts_with("U6: Loss raised window or rate"), "{violation}");
    assert_eq!(violation.method, "on_loss");
}
