//! Whole runs against times worked out by hand from the arithmetic of the link.
//!
//! A packet of `n` bytes takes `n * 8 / rate`, rounded down to whole microseconds (at 5 and 10 Mbit/s the time of a byte
//! is rounded down too, to 2^-20 us: 1.6 and 0.8 us, a little less). An ACK has 55 bytes.

use cc_sim::scenario::{builtin, parse};
use cc_sim::{Algorithm, Observer, Outcome, Sample, SampleKind, Scenario, SimulationError, simulate};

#[derive(Default)]
struct Samples(Vec<Sample>);

impl Observer for Samples {
    fn on_sample(&mut self, sample: &Sample) {
        self.0.push(*sample);
    }
}

impl Samples {
    fn times(&self, kind: SampleKind) -> Vec<u64> {
        self.0.iter().filter(|sample| sample.kind == kind).map(|sample| sample.at_us).collect()
    }
}

fn run(scenario: &Scenario, algorithm: Algorithm) -> (Outcome, Samples) {
    let mut samples = Samples::default();
    let outcome = simulate(scenario, algorithm, 1, &mut samples).unwrap();
    (outcome, samples)
}

/// 8 Mbit/s, a microsecond a byte, and 10 ms one way, after `before`.
fn byte_a_microsecond(before: &str, size_bytes: u64) -> Scenario {
    let state = "[[link]]\nrate_mbps = 8\nlatency_ms = 10\nqueue_unlimited = true\n";
    let text = format!(
        "name = \"test\"\nsummary = \"\"\ntime_limit_ms = 20_000\n{before}{state}[transfer]\nsize_bytes = {size_bytes}\n"
    );
    parse(&text, "test").unwrap()
}

#[test]
fn the_start_of_low_and_up_follows_from_the_link() {
    // 5 Mbit/s, 1.6 us a byte, 50 ms one way.
    // Hello (1252: 2003 us) at the server 52 003; its hello at the client 104 006, its finished (511: 817) 104 823, its
    // probe (1440: 2303) 107 126.
    // ACK of the hello (53: 84) at the server 104 006 + 84 + 50 000 = 154 090.
    // Request (715: 1143): 104 823 + 1143 + 50 000 = 155 966. The client's probe (2303) has the uplink until 108 269.
    // ACK of packet 0, due 1 ms after its arrival, at 105 823: 108 269 + 87 + 50 000 = 158 356.
    // ACK of the probe, packet 1, due at 108 126: one ACK time later, 158 443.
    // Data (1252 bytes) leaves at 155 966 and arrives every 2003 us from 207 969 on. Packets 3, 5, 7 are acknowledged at
    // once: 209 972 + 87 + 50 000 = 260 059, and every 4006 us.
    let (outcome, samples) = run(&builtin("low_and_up").unwrap(), Algorithm::C4);
    assert_eq!(outcome.request_us, 155_966);
    let acks = [154_090, 155_966, 158_356, 158_443, 260_059, 264_065, 268_071];
    assert_eq!(samples.times(SampleKind::Ack)[..acks.len()], acks);
    // 222 bytes (packet 0) and the probe are in flight, 1662; at 1662 + 10 * 1252 = 14 182 the window of 15 360 is not
    // exceeded, so there are eleven packets: 15 434.
    let burst =
        samples.0.iter().find(|sample| sample.at_us == 155_966 && sample.kind == SampleKind::Sent).unwrap();
    assert_eq!((burst.bytes_in_flight, burst.cc.cwnd), (15_434, 15_360));
    // The first RTT sample is that of the hello: 154 090 - 52 003.
    let first = samples.0.iter().find_map(|sample| sample.rtt).unwrap();
    assert_eq!(first.latest.as_micros(), 102_087);
}

#[test]
fn satellite_starts_with_the_window_of_the_earlier_connection() {
    // 250 Mbit/s, 0.032 us a byte, 300 ms one way: hello (1252: 40) 300 040; the server's 600 080 and (511: 16) 600 096;
    // request (715: 22) 600 096 + 22 + 300 000. The handshake timers of 250 ms make copies, which are ignored.
    let (outcome, samples) = run(&builtin("satellite").unwrap(), Algorithm::C4);
    assert_eq!(outcome.request_us, 900_118);
    let first = samples.0.iter().find(|sample| sample.kind == SampleKind::Ack).unwrap();
    // The ACK of the hello (53: 1) comes first, 600 080 + 1 + 300 000. Saved: 18 750 000 bytes.
    assert_eq!((first.at_us, first.cc.cwnd), (900_081, 18_750_000));
}

#[test]
fn a_run_ends_one_round_trip_after_the_last_byte() {
    // The client sends an ACK and its close (41 bytes), the server answers (32). One way; times of 55, 41 and 32 bytes
    // at the rate that the run ends with: 200, 10, 10, 25, 10, 250 Mbit/s.
    for (name, one_way_us, service_us) in [
        ("alone_200", 20_000, 2 + 1 + 1),
        ("low_and_up", 50_000, 43 + 32 + 25),
        ("drop_and_back", 50_000, 43 + 32 + 25),
        ("blackhole", 35_000, 17 + 13 + 10),
        ("short_long", 100_000, 43 + 32 + 25),
        ("satellite", 300_000, 1 + 1 + 1),
    ] {
        let scenario = builtin(name).unwrap();
        for &algorithm in Algorithm::ALL {
            let (outcome, _) = run(&scenario, algorithm);
            let close_us = outcome.completion_us - outcome.last_byte_us;
            assert_eq!(close_us, 2 * one_way_us + service_us, "{name} {}", algorithm.name());
        }
    }
}

#[test]
fn one_byte_costs_five_datagrams_of_the_server() {
    // Request at 33 730: hello 1252 + 10 000; 1252 + 511 + 10 000; 715 + 10 000. A byte in 35: 43 765. ACK 55, close 41:
    // 53 861. Answer 32: 63 893.
    let (outcome, _) = run(&byte_a_microsecond("", 1), Algorithm::C4);
    assert_eq!((outcome.request_us, outcome.last_byte_us, outcome.completion_us), (33_730, 43_765, 63_893));
    // Hello, finished, probe, data, answer.
    assert_eq!((outcome.packets_sent, outcome.bytes_sent), (5, 1_252 + 511 + 1_440 + 35 + 32));
    // Of packet 0 (at 24 015), of the probe (at 25 455), of the data.
    assert_eq!(outcome.acks_received, 3);
    assert_eq!((outcome.packets_lost, outcome.dropped), (0, 0));
    // And of the client: hello, ACK of the hello, finished, probe, three ACKs, close.
    assert_eq!(outcome.events, 5 + 8);
}

#[test]
fn a_handshake_on_a_path_that_is_down_starts_with_the_path() {
    // Nothing passes for 2 s. The client says hello at 0, 250, 750 and 1750 ms; the first to arrive starts the server,
    // the others are ignored: the request comes 2 s later than without.
    let down = "[[link]]\nduration_ms = 2_000\nrate_mbps = 0\nlatency_ms = 10\nqueue_unlimited = true\n";
    let (outcome, _) = run(&byte_a_microsecond(down, 1), Algorithm::Cubic);
    assert_eq!((outcome.request_us, outcome.completion_us), (2_033_730, 2_063_893));
    assert_eq!((outcome.packets_sent, outcome.events), (5, 5 + 8 + 3));
}

#[test]
fn probe_timeouts_in_the_black_hole_are_two_four_five_and_six_timers_apart() {
    for &algorithm in Algorithm::ALL {
        let (_, samples) = run(&builtin("blackhole").unwrap(), algorithm);
        let mut timeouts = samples.times(SampleKind::Timeout);
        // From 2 s to 4 s nothing passes; the first ACK after that is at 4.07 s.
        timeouts.retain(|at_us| (2_000_000..4_070_000).contains(at_us));
        let apart: Vec<u64> = timeouts.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!(apart.len() >= 3, "{timeouts:?}");
        let timer = apart[0] / 2;
        // srtt + 3 rttvar + 10 ms; the path has 70 ms and a queue of up to 80 ms.
        assert!((80_000..250_000).contains(&timer), "{timer}");
        let expected = [2 * timer, 4 * timer, 5 * timer, 6 * timer];
        assert_eq!(apart, expected[..apart.len()], "{}", algorithm.name());
    }
}

#[test]
fn the_sender_stops_at_the_flow_control_limit() {
    // 300 ms one way and a window that is never the limit: 65 527 bytes of data and no more before the client has told
    // of a larger limit, which takes until 1.5 s. 46 packets of 1406 bytes and one of 851, with 34 bytes each around them:
    // 67 125. They leave within 2.2 ms; packet 0 is acknowledged 1 ms after the first of them.
    let mut scenario = builtin("satellite").unwrap();
    (scenario.endpoint.initial_max_data, scenario.endpoint.initial_mtu) = (65_527, 1_440);
    let (_, samples) = run(&scenario, Algorithm::C4);
    let before = samples.0.iter().take_while(|sample| sample.at_us < 1_500_000);
    assert_eq!(before.map(|sample| sample.bytes_in_flight).max(), Some(67_125));
}

#[test]
fn a_run_without_skipped_packet_numbers_and_jitter_does_not_depend_on_the_seed() {
    let mut scenario = builtin("low_and_up").unwrap();
    let outcome = |scenario: &Scenario, seed| simulate(scenario, Algorithm::C4, seed, &mut ()).unwrap();
    assert!((2..20).any(|seed| outcome(&scenario, seed) != outcome(&scenario, 1)));
    scenario.endpoint.skip_packet_numbers = false;
    assert!((2..20).all(|seed| outcome(&scenario, seed) == outcome(&scenario, 1)));
}

#[test]
fn a_run_that_does_not_end_says_where_it_stood() {
    // 20 s of time and 30 s of serialisation.
    let error = simulate(&byte_a_microsecond("", 30_000_000), Algorithm::C4, 1, &mut ()).unwrap_err();
    let SimulationError::TimeLimit { scenario, limit_us, delivered, bytes } = error else {
        panic!("{error}")
    };
    assert_eq!((scenario.as_str(), limit_us, bytes), ("test", 20_000_000, 30_000_000));
    assert!((10_000_000..20_000_000).contains(&delivered), "{delivered}");
}
