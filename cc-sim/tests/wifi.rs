//! The draft's scenarios over Wi-Fi: whole runs through a fade and through suspensions against times worked out by hand, and
//! snapshots of what they are today.

mod snapshot;

use cc_sim::scenario::{Group, LinkState, LinkTimeline, QueueLimit, RunEnd, Scenario, builtin, parse};
use cc_sim::{Algorithm, FlowOutcome, Observer, Progress, simulate, simulate_flows};
use snapshot::{assert_traces_unchanged, assert_unchanged};
use std::fmt::Write as _;

/// What the client of the main flow has got at the end of each millisecond.
#[derive(Default)]
struct Received(Vec<u64>);

impl Observer for Received {
    fn interval_us(&self) -> Option<u64> {
        Some(1_000)
    }

    fn on_interval(&mut self, progress: &Progress<'_>) {
        self.0.push(progress.received[0]);
    }
}

#[test]
fn nothing_arrives_while_wifi_is_suspended() {
    let scenario = builtin("wifi_suspension").unwrap();
    for &algorithm in Algorithm::MAIN_JOB {
        let mut received = Received::default();
        simulate(&scenario, algorithm, 1, &mut received).unwrap();
        // Number i is the state at i + 1 ms.
        let at_ms = |ms: usize| received.0[ms - 1];
        // Suspended from 1.8 s to 2 s and from 3.8 s to 4 s. What is in the air takes 5 ms; after it the first packet, of 1252
        // bytes at least, takes 500 us and 5 ms.
        for from_ms in [1_800, 3_800] {
            let name = algorithm.name();
            assert!(at_ms(from_ms - 100) < at_ms(from_ms), "{name}: nothing before {from_ms} ms");
            assert_eq!(at_ms(from_ms + 5), at_ms(from_ms + 205), "{name}: at {from_ms} ms");
            assert!(at_ms(from_ms + 205) < at_ms(from_ms + 210), "{name}: nothing after {from_ms} ms");
        }
    }
}

#[test]
fn cross_traffic_gets_through_a_fade_when_the_link_can_carry_it() {
    // Datagrams of 1000 bytes every 2 ms over a link that takes 1 ms for each; 4 ms from 1 s to 3 s; 10 ms one way. The main flow
    // starts later than all of this.
    let delivered = |end_ms: u64| {
        let text = "name = \"fade\"\nsummary = \"\"\n[[link]]\nrate_mbps = 8\nlatency_ms = 10\nqueue_unlimited = true\n\
                    [transfer]\nsize_bytes = 1\nstart_ms = 100_000\n\
                    [[cross]]\nrate_mbps = 4\npacket_bytes = 1_000\n";
        let base = parse(text, "fade").unwrap();
        let state = |ms: Option<u64>, bps| LinkState {
            duration_us: ms.map(|ms| ms * 1_000),
            ..LinkState::constant(bps, 10_000, QueueLimit::Unlimited)
        };
        let states =
            vec![state(Some(1_000), 8_000_000), state(Some(2_000), 2_000_000), state(None, 8_000_000)];
        let link = LinkTimeline { states, repeat: false };
        let scenario = Scenario { link, end: RunEnd::At(end_ms * 1_000), ..base };
        simulate_flows(&scenario, Algorithm::C4, 1, &mut ()).unwrap().cross[0].packets_delivered
    };
    // Sent at 0, 2, ... 998 ms: through a millisecond and 10 ms later.
    assert_eq!((delivered(1_000), delivered(1_012)), (495, 500));
    // From 1 s on one every 4 ms, the first at 1.004 + 0.010 s; the 500th is through at 3 s.
    assert_eq!((delivered(1_014), delivered(2_010), delivered(3_010)), (501, 750, 1_000));
    // 500 are left, 500 a second are sent and 1000 carried: one every millisecond from 3.001 s until 4 s, when the queue is
    // empty. The last of these was sent at 3.998 s; then one every 2 ms, sent at 4 s and through at 4.001 s.
    assert_eq!((delivered(3_011), delivered(3_510), delivered(4_010)), (1_001, 1_500, 2_000));
    assert_eq!((delivered(4_011), delivered(4_012), delivered(4_013)), (2_001, 2_001, 2_002));
}

#[test]
fn each_run_of_a_scenario_has_jitter_of_its_own_and_the_same_when_repeated() {
    let scenario = builtin("wifi_bad").unwrap();
    let completion = |seed| simulate(&scenario, Algorithm::C4, seed, &mut ()).unwrap().completion_us;
    assert_eq!(completion(1), completion(1));
    let mut all: Vec<u64> = (1..=5).map(completion).collect();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), 5);
}

#[test]
fn c4_alone_has_the_buffer_of_its_runs() {
    let scenario = builtin("wifi_bad").unwrap();
    for (algorithm, ms) in [(Algorithm::C4, 250), (Algorithm::Cubic, 80), (Algorithm::Bbr, 80)] {
        let link = scenario.link.with_queue_for(algorithm, &scenario.queue_for);
        assert_eq!(link.states[0].queue, QueueLimit::DelayUs(ms * 1_000), "{}", algorithm.name());
    }
}

/// Scenarios as simulated and the interval of their lines in microseconds.
const TRACED: [(&str, u64); 6] = [
    ("wifi_bad", 250_000),
    ("wifi_fade", 250_000),
    ("wifi_suspension", 250_000),
    ("wifi_bad_bbr", 500_000),
    ("wifi_bad_c4", 500_000),
    ("wifi_bad_cubic", 500_000),
];

#[test]
fn c4_goes_the_same_way_through_wifi() {
    assert_traces_unchanged(Algorithm::C4, &TRACED);
}

#[test]
fn bbr_goes_the_same_way_through_wifi() {
    assert_traces_unchanged(Algorithm::Bbr, &TRACED);
}

#[test]
fn cubic_goes_the_same_way_through_wifi() {
    assert_traces_unchanged(Algorithm::Cubic, &TRACED);
}

#[test]
fn every_scenario_over_wifi_is_traced() {
    assert!(Group::Wifi.scenarios().eq(TRACED.iter().map(|&(name, _)| name)));
}

/// How the scenarios of the draft's text end: a line for each, times in microseconds, then packets.
#[test]
fn wifi_as_written_ends_as_it_did() {
    let flow = |flow: &FlowOutcome| {
        let counters = &flow.counters;
        let end = flow.last_byte_us.map_or_else(|| "-".to_owned(), |us| us.to_string());
        let (sent, lost, dropped) = (counters.packets_sent, counters.packets_lost, counters.dropped);
        format!(" {:<5} {end:>8} {sent:>5} {lost:>4} {dropped:>4}", flow.algorithm.name())
    };
    let mut table =
        "scenario               completion main, last byte, sent, lost, dropped | other\n".to_owned();
    for name in Group::WifiWritten.scenarios() {
        for &main in Algorithm::MAIN_JOB {
            let outcome = simulate_flows(&builtin(name).unwrap(), main, 1, &mut ()).unwrap();
            let flows: Vec<String> = outcome.flows.iter().map(flow).collect();
            let completion = outcome.main.completion_us;
            writeln!(table, "{name:<22} {completion:>10}{}", flows.join(" |")).unwrap();
        }
    }
    assert_unchanged("wifi_written", &table);
}
