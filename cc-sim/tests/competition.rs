//! Two flows on one path: those of one algorithm share it.

use cc_sim::scenario::{Group, builtin};
use cc_sim::share::ShareExperiment;
use cc_sim::{Algorithm, Scenario, experiment};

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
