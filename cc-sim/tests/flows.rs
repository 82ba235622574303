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

#[test]
fn a_longer_access_path_costs_a_flow_its_delay_each_way_and_nobody_else_anything() {
    // Six crossings in all: 5 ms more each. Two at the request after the hello, and so on.
    let mut far = scenario("ends = \"all\"", "[[flow]]\nsize_bytes = 1\nstart_ms = 100\naccess_ms = 5");
    let outcome = run(&far);
    assert_eq!(times(&outcome.flows[0]), ALONE);
    let expected = (Some(133_730 + 15_000), Some(143_765 + 20_000), Some(163_893 + 30_000));
    assert_eq!(times(&outcome.flows[1]), expected);
    far.transfer.access_us = 5_000;
    far.flows.clear();
    let outcome = run(&far);
    assert_eq!(times(&outcome.flows[0]), (Some(48_730), Some(63_765), Some(93_893)));
    let limit = cc_sim::ideal::physical_limit(&far).unwrap();
    assert_eq!(limit.request_us, 48_730);
    // The ideal sender waits for no ACK of 55 bytes before the close.
    assert_eq!((limit.last_byte_us, limit.completion_us), (63_765, 93_893 - 55));
}

#[test]
fn cross_traffic_delays_what_comes_behind_it() {
    // A datagram of 5000 bytes at 33 ms has the downlink until 38 000. The byte, ready at 33 730, leaves then:
    // 38 000 + 35 + 10 000. Everything after it is 4270 later.
    let source = "[[cross]]\nrate_mbps = 1\npacket_bytes = 5_000\nstart_ms = 33\nstop_ms = 34";
    let outcome = run(&scenario("", source));
    assert_eq!(times(&outcome.flows[0]), (Some(33_730), Some(48_035), Some(63_893 + 4_270)));
    assert_eq!((outcome.cross[0].packets_sent, outcome.cross[0].packets_delivered), (1, 1));
    // On the uplink at 43 ms: the ACK and the close wait until 48 000 instead of leaving at 43 765.
    let source = source.replace("33", "43").replace("34", "44") + "\ndirection = \"reverse\"";
    let outcome = run(&scenario("", &source));
    assert_eq!(times(&outcome.flows[0]), (Some(33_730), Some(43_765), Some(63_893 + 4_235)));
}

#[test]
fn a_constant_rate_above_the_link_s_fills_the_queue_and_loses_the_rest() {
    // 16 Mbit/s into 8 for 400 ms: a datagram of 1000 bytes every 500 us, 800 of them, and 1000 us of service. The queue
    // takes what waits less than 20 ms. Waiting time before datagram n: n * 500 us, until it is full with the 40th
    // (waits 19.5 ms, then 20.5); from then on every second one. 40 + 760 / 2 = 420 are taken, give or take the one
    // that the queue is full by.
    let source = "[[cross]]\nrate_mbps = 16\npacket_bytes = 1_000\nstart_ms = 1_000\nstop_ms = 1_400";
    let mut overload = scenario("duration_ms = 2_000", source);
    for state in &mut overload.link.states {
        state.queue = cc_sim::scenario::QueueLimit::DelayUs(20_000);
    }
    overload.flows.push(cc_sim::scenario::Flow {
        algorithm: cc_sim::scenario::FlowAlgorithm::Main,
        transfer: cc_sim::scenario::Transfer { start_us: 1_990_000, ..cc_sim::scenario::Transfer::of(1) },
        direction: Direction::Forward,
    });
    let cross = run(&overload).cross[0];
    assert_eq!((cross.packets_sent, cross.packets_delivered + cross.dropped), (800, 800));
    assert!((419..=421).contains(&cross.packets_delivered), "{cross:?}");
}

#[test]
fn a_square_wave_carries_the_integral_of_its_rate() {
    // 8 Mbit/s for 100 ms and 16 for 100 ms: 100 + 200 datagrams of 1000 bytes a period. A source of 16 Mbit/s keeps the
    // queue full. In 1000 ms that is 1500; the first is out of the link after a millisecond, and the change of rate
    // serialises the packet in service again, at most one of 5 + 4 times.
    let text = "name = \"wave\"\nsummary = \"\"\nlink_repeats = true\nduration_ms = 1_000\n\
                [[link]]\nduration_ms = 100\nrate_mbps = 8\nlatency_ms = 0\nqueue_ms = 20\n\
                [[link]]\nduration_ms = 100\nrate_mbps = 16\nlatency_ms = 0\nqueue_ms = 20\n\
                [transfer]\nsize_bytes = 1\nstart_ms = 999\n\
                [[cross]]\nrate_mbps = 16\npacket_bytes = 1_000\n";
    let cross = run(&parse(text, "test").unwrap()).cross[0];
    assert_eq!(cross.packets_sent, 2_001, "500 us apart, the last one at 1000 ms");
    assert!((1_490..=1_500).contains(&cross.packets_delivered), "{cross:?}");
}

#[test]
fn a_flow_gets_through_whatever_is_lost_of_its_data_and_its_acks() {
    for (loss, up_loss) in [(0, 200_000), (50_000, 0), (100_000, 100_000)] {
        let mut lossy = scenario("", "");
        lossy.transfer.bytes = 1_000_000;
        for state in &mut lossy.link.states {
            (state.loss_ppm, state.up_loss_ppm) = (loss, up_loss);
        }
        for &algorithm in Algorithm::ALL {
            let outcome = simulate_flows(&lossy, algorithm, 3, &mut ()).unwrap();
            let flow = &outcome.flows[0];
            assert_eq!(flow.received, 1_000_000);
            let counters = &flow.counters;
            assert_eq!((counters.lost_on_link > 0, counters.lost_on_link_back > 0), (loss > 0, up_loss > 0));
            // Nobody takes a packet for lost that the link has not lost, but by a late or a missing ACK.
            assert_eq!((counters.dropped, counters.dropped_back), (0, 0));
            assert!(counters.packets_lost >= counters.lost_on_link / 2, "{counters:?}");
            assert_ne!(
                simulate_flows(&lossy, algorithm, 4, &mut ()),
                Ok(outcome),
                "another seed, other losses"
            );
        }
    }
}
