//! Two flows on one path: those of one algorithm share it, and the draft's competitions go as they did.

mod snapshot;

use cc_sim::scenario::{Group, builtin};
use cc_sim::share::ShareExperiment;
use cc_sim::{Algorithm, FlowOutcome, Scenario, experiment, simulate_flows};
use snapshot::assert_unchanged;
use std::fmt::Write as _;

#[test]
fn two_flows_of_one_algorithm_share_a_path_and_fill_it() {
    let scenarios: Vec<Scenario> = Group::Share.scenarios().map(|name| builtin(name).unwrap()).collect();
    assert_eq!(scenarios.len(), 2);
    for &algorithm in Algorithm::ALL {
        let both = [algorithm];
        let plan = ShareExperiment { scenarios: &scenarios, main: &both, against: None, runs: 1, seed: 1 };
        let cells = experiment::thread_pool(2).unwrap().install(|| plan.run(|| ())).unwrap();
        for cell in cells {
            let (at, run) = (format!("{} with {}", cell.scenario.name, algorithm.name()), &cell.runs[0]);
            let common = run.common.as_ref().unwrap();
            // The second flow asks for its data at 2 s and three crossings of a path of 20 ms and its queue.
            assert!((2_100_000..2_700_000).contains(&common.from_us), "{at}: {common:?}");
            assert_eq!(common.until_us, 62_000_000, "{at}");
            // Neither has more than twice what the other has: (1 + 2)^2 / (2 * (1 + 4)).
            assert!(common.jain >= 0.9, "{at}: {common:?}");
            assert!(run.utilisation >= 0.9, "{at}: {}", run.utilisation);
        }
    }
}

/// How the draft's competitions end with `main`: a line for each, in times of microseconds and in packets. A change of any of
/// the algorithms shows here; the commit says why.
fn check(main: Algorithm) {
    let flow = |flow: &FlowOutcome| {
        let counters = &flow.counters;
        let end = flow.last_byte_us.map_or_else(|| "-".to_owned(), |us| us.to_string());
        let (sent, lost, dropped) = (counters.packets_sent, counters.packets_lost, counters.dropped);
        format!("{:<5} {end:>8} {sent:>6} {lost:>5} {dropped:>5}", flow.algorithm.name())
    };
    let mut table = "scenario     completion main, last byte, sent, lost, dropped | other\n".to_owned();
    for name in Group::Compete.scenarios() {
        let outcome = simulate_flows(&builtin(name).unwrap(), main, 1, &mut ()).unwrap();
        let (first, second) = (flow(&outcome.flows[0]), flow(&outcome.flows[1]));
        writeln!(table, "{name:<12} {:>10} {first} | {second}", outcome.main.completion_us).unwrap();
    }
    assert_unchanged(&format!("compete_{}", main.name()), &table);
}

#[test]
fn c4_competes_as_it_did() {
    check(Algorithm::C4);
}

#[test]
fn cubic_competes_as_it_did() {
    check(Algorithm::Cubic);
}

#[test]
fn bbr_competes_as_it_did() {
    check(Algorithm::Bbr);
}
