//! Several flows over one pair of links, against times worked out by hand.
//!
//! 8 Mbit/s, a microsecond a byte, and 10 ms one way. A flow of one byte that has the links for itself: its hello (1252)
//! is at the server at 11 252; the flight (1252 + 511 and a probe of 1440) at the client at 22 504 and 23 015; the
//! request (715) at the server at 33 730, the byte (35) at the client at 43 765, the close (after an ACK, 55 + 41) at the
//! server at 53 861, its answer (32) at the client at 63 893.

use cc_sim::scenario::{Direction, Scenario, parse};
use cc_sim::{
    Algorithm, FlowOutcome, Observer, RunOutcome, Sample, SimulationError, simulate, simulate_flows,
};

fn scenario(head: &str, flows: &str) -> Scenario {
    let link = "[[link]]\nrate_mbps = 8\nlatency_ms = 10\nqueue_unlimited = true\n";
    let text =
        format!("name = \"flows\"\nsummary = \"\"\n{head}\n{link}[transfer]\nsize_bytes = 1\n{flows}\n");
    parse(&text, "test").unwrap()
}

fn run(scenario: &Scenario) -> RunOutcome {
    simulate_flows(scenario, Algorithm::C4, 1, &mut ()).unwrap()
}

/// Request, last byte and completion.
fn times(flow: &FlowOutcome) -> (Option<u64>, Option<u64>, Option<u64>) {
    (flow.request_us, flow.last_byte_us, flow.completion_us)
}

const ALONE: (Option<u64>, Option<u64>, Option<u64>) = (Some(33_730), Some(43_765), Some(63_893));

#[test]
fn the_packets_of_two_flows_take_turns_on_the_links() {
    // The second hello follows the first, and is at the server at 12 504. The flight of the first has the link from 11 252
    // to 14 455: the second one's hello is at the client at 14 455 + 1252 + 10 000 = 25 707, the rest at 26 218. The
    // other client has the uplink until 25 510 (its probe until 25 170 and two ACKs of 55), so the ACK (53) leaves at once,
    // 25 760, and the request at 26 218: 26 933 + 10 000. The byte: 36 933 + 35 + 10 000; ACK and close 47 064 + 10 000; answer
    // 57 064 + 32 + 10 000.
    let two = scenario("ends = \"all\"", "[[flow]]\nsize_bytes = 1");
    let outcome = run(&two);
    assert_eq!(times(&outcome.flows[0]), ALONE);
    assert_eq!(times(&outcome.flows[1]), (Some(36_933), Some(46_968), Some(67_096)));
    assert_eq!((outcome.end_us, outcome.main.completion_us), (67_096, 63_893));
    // Each: five datagrams of the server and eight of the client.
    assert_eq!(outcome.main.events, 2 * 13);
    assert_eq!(outcome.flows[1].counters.packets_sent, 5);
}

#[test]
fn a_run_ends_with_its_main_flow_unless_the_scenario_says_otherwise() {
    let outcome = run(&scenario("", "[[flow]]\nsize_bytes = 1"));
    assert_eq!((outcome.end_us, times(&outcome.flows[0])), (63_893, ALONE));
    assert_eq!(times(&outcome.flows[1]), (Some(36_933), Some(46_968), None));
    let outcome = run(&scenario("duration_ms = 40", "[[flow]]\nsize_bytes = 1"));
    assert_eq!((outcome.end_us, outcome.main.completion_us), (40_000, 40_000));
    assert_eq!(times(&outcome.flows[0]), (Some(33_730), None, None));
    // Not before 67 ms, when there is nothing left to do.
    let outcome = run(&scenario("duration_ms = 70", "[[flow]]\nsize_bytes = 1"));
    assert_eq!(outcome.end_us, 67_096);
}

#[test]
fn a_reverse_flow_is_the_mirror_image_of_a_forward_one() {
    // Each has as many bytes to send in one direction as the other has in the other one, at the same moments.
    let outcome = run(&scenario("ends = \"all\"", "[[flow]]\nsize_bytes = 1\ndirection = \"reverse\""));
    assert_eq!((times(&outcome.flows[0]), times(&outcome.flows[1])), (ALONE, ALONE));
    assert_eq!(outcome.flows[1].direction, Direction::Reverse);
    assert_eq!(outcome.flows[1].counters.packets_sent, outcome.flows[0].counters.packets_sent);
    assert_eq!((outcome.flows[0].received, outcome.flows[1].received), (1, 1));
}

#[test]
fn a_late_flow_on_idle_links_takes_the_time_that_it_takes_alone() {
    let outcome = run(&scenario("ends = \"all\"", "[[flow]]\nsize_bytes = 1\nstart_ms = 100"));
    assert_eq!(times(&outcome.flows[1]), (Some(133_730), Some(143_765), Some(163_893)));
    assert_eq!(outcome.flows[1].start_us, 100_000);
}

#[test]
fn each_flow_has_the_algorithm_that_the_scenario_gives_it() {
    let flows = "[[flow]]\nsize_bytes = 1\n[[flow]]\nsize_bytes = 1\nalgorithm = \"cubic\"";
    let mixed = scenario("ends = \"all\"", flows);
    for &main in Algorithm::ALL {
        let outcome = simulate_flows(&mixed, main, 1, &mut ()).unwrap();
        let algorithms: Vec<Algorithm> = outcome.flows.iter().map(|flow| flow.algorithm).collect();
        assert_eq!(algorithms, [main, main, Algorithm::Cubic]);
    }
}

/// How many samples each flow gave, and how many of the main flow came where only those are asked for.
#[derive(Default)]
struct Count {
    flows: [u64; 2],
    ignored: Option<usize>,
}

impl Observer for Count {
    fn on_flow_sample(&mut self, flow: usize, _sample: &Sample) {
        self.flows[flow] += 1;
    }

    fn watches(&self, flow: usize) -> bool {
        Some(flow) != self.ignored
    }
}

#[test]
fn samples_say_whose_they_are_and_the_main_flow_s_are_the_default() {
    #[derive(Default)]
    struct Main(u64);
    impl Observer for Main {
        fn on_sample(&mut self, _sample: &Sample) {
            self.0 += 1;
        }
    }
    let two = scenario("ends = \"all\"", "[[flow]]\nsize_bytes = 100_000");
    let mut count = Count::default();
    let outcome = simulate_flows(&two, Algorithm::Cubic, 1, &mut count).unwrap();
    assert!(count.flows[1] > count.flows[0] && count.flows[0] > 0, "{:?}", count.flows);
    let mut main = Main::default();
    assert_eq!(simulate(&two, Algorithm::Cubic, 1, &mut main), Ok(outcome.main));
    assert_eq!(main.0, count.flows[0]);
    let mut first = Count { ignored: Some(1), ..Count::default() };
    simulate(&two, Algorithm::Cubic, 1, &mut first).unwrap();
    assert_eq!(first.flows, [count.flows[0], 0]);
}

#[test]
fn a_run_of_many_flows_delivers_every_byte_of_all_of_them() {
    let flow = |i: u64| {
        let direction = if i.is_multiple_of(2) { "forward" } else { "reverse" };
        let (size, start) = (20_000 * (i + 1), 7 * i);
        format!("[[flow]]\nsize_bytes = {size}\nstart_ms = {start}\ndirection = \"{direction}\"\n")
    };
    let mut many = scenario("ends = \"all\"", &(0..20).map(flow).collect::<String>());
    // Some of it is dropped.
    for state in &mut many.link.states {
        state.queue = cc_sim::scenario::QueueLimit::DelayUs(20_000);
    }
    for &algorithm in Algorithm::ALL {
        let outcome = simulate_flows(&many, algorithm, 1, &mut ()).unwrap();
        assert_eq!(outcome.flows[0].received, 1);
        for (i, flow) in outcome.flows[1..].iter().enumerate() {
            assert_eq!(flow.received, 20_000 * (i as u64 + 1));
            assert!(flow.last_byte_us.is_some() && flow.completion_us.is_some(), "{flow:?}");
        }
        assert!(outcome.flows.iter().map(|flow| flow.counters.dropped).sum::<u64>() > 0);
        assert_eq!(simulate_flows(&many, algorithm, 1, &mut ()), Ok(outcome), "the same again");
    }
}

#[test]
fn a_run_of_all_flows_that_does_not_end_says_where_they_stood() {
    let text = "time_limit_ms = 2_000\nends = \"all\"";
    let long = scenario(text, "[[flow]]\nsize_bytes = 30_000_000");
    let error = simulate(&long, Algorithm::C4, 1, &mut ()).unwrap_err();
    let SimulationError::TimeLimit { limit_us, delivered, bytes, .. } = error else { panic!("{error}") };
    assert_eq!((limit_us, bytes), (2_000_000, 30_000_001));
    assert!((1_000_000..2_000_000).contains(&delivered), "{delivered}");
}
