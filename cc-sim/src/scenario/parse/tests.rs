use super::parse;
use crate::Algorithm;
use crate::scenario::{
    CrossTraffic, Direction, DualPi2, EcnUse, Endpoint, Flow, FlowAlgorithm, Group, Jitter, LinkState, Media,
    MediaKind, MediaStream, Pattern, QueueFor, QueueLimit, ReceiveTimestamps, ReceiverClock, Resume, RunEnd,
    Scenario, Scheduler, Transfer, WifiModel, builtin, builtin_names,
};
use cc_core::EcnCodepoint;

/// A file that is accepted; tests change one line of it.
const GOOD: &str = r#"
name = "good"
summary = "a good one"
time_limit_ms = 10_000
link_repeats = false

[[link]]
duration_ms = 2_500
rate_mbps = 5
up_mbps = 1
latency_ms = 50
queue_ms = 80
up_queue_bytes = 20_000
jitter_ms = 2
loss_percent = 0.1
up_loss_percent = 2.5

[[link]]
rate_mbps = 10
latency_ms = 0.5
queue_bytes = 100_000

[transfer]
size_bytes = 7_000_000
start_ms = 1_000

[resume]
cwnd_bytes = 18_750_000
rtt_ms = 600.123

[endpoint]
mtu_bytes = 1_440

[[flow]]
algorithm = "cubic"
size_bytes = 3_000_000
start_ms = 500
access_ms = 25
direction = "reverse"

[[flow]]
size_bytes = 4_000_000

[[cross]]
rate_mbps = 2.5
packet_bytes = 500
stop_ms = 9_000
on_ms = 100
off_ms = 50

[[cross]]
rate_mbps = 1
"#;

fn good() -> Scenario {
    parse(GOOD, "good.toml").unwrap()
}

/// The error after `line` of [`GOOD`] has become `other`: the field, and the whole message.
fn refused(line: &str, other: &str) -> (String, String) {
    assert!(GOOD.contains(line), "{line} is no line of the example");
    let error = parse(&GOOD.replacen(line, other, 1), "bad.toml").expect_err(other);
    let message = error.to_string();
    assert!(message.starts_with("bad.toml: "), "{message}");
    assert_eq!(message.lines().count(), 1, "{message}");
    assert!(message.contains(error.field()), "{message}");
    (error.field().to_owned(), message)
}

/// `line` replaced by `other` is refused for `field`, and the message has `allowed`.
#[track_caller]
fn assert_refused(line: &str, other: &str, field: &str, allowed: &str) {
    let (at, message) = refused(line, other);
    assert_eq!(at, field, "{message}");
    assert!(message.contains(allowed), "{message}");
}

#[test]
fn units_are_converted_and_what_is_left_out_has_its_default() {
    let scenario = good();
    let first = LinkState {
        duration_us: Some(2_500_000),
        down_bps: 5_000_000,
        up_bps: 1_000_000,
        latency_us: 50_000,
        queue: QueueLimit::DelayUs(80_000),
        up_queue: QueueLimit::Bytes(20_000),
        jitter: Jitter::Gauss { mean_us: 2_000 },
        loss_ppm: 1_000,
        up_loss_ppm: 25_000,
    };
    let second = LinkState::constant(10_000_000, 500, QueueLimit::Bytes(100_000));
    assert_eq!(scenario.link.states, [first, second]);
    assert!(!scenario.link.repeat);
    assert_eq!((scenario.transfer.bytes, scenario.transfer.start_us), (7_000_000, 1_000_000));
    assert_eq!(scenario.resume, Some(Resume { cwnd_bytes: 18_750_000, rtt_us: 600_123 }));
    assert_eq!(scenario.endpoint, Endpoint::default());
    assert_eq!(scenario.time_limit_us, 10_000_000);
    let first = Flow {
        algorithm: FlowAlgorithm::Fixed(Algorithm::Cubic),
        transfer: Transfer { bytes: 3_000_000, start_us: 500_000, access_us: 25_000 },
        direction: Direction::Reverse,
    };
    let second = Flow {
        algorithm: FlowAlgorithm::Main,
        transfer: Transfer::of(4_000_000),
        direction: Direction::Forward,
    };
    assert_eq!((scenario.flows, scenario.end), (vec![first, second], RunEnd::MainFlow));
    let bursts = CrossTraffic {
        direction: Direction::Forward,
        rate_bps: 2_500_000,
        packet_bytes: 500,
        start_us: 0,
        stop_us: Some(9_000_000),
        pattern: Pattern::OnOff { on_us: 100_000, off_us: 50_000, random: false },
    };
    let constant = CrossTraffic {
        rate_bps: 1_000_000,
        packet_bytes: 1_200,
        stop_us: None,
        pattern: Pattern::Constant,
        ..bursts
    };
    assert_eq!(scenario.cross, [bursts, constant]);
}

#[test]
fn the_format_in_the_documentation_is_accepted_and_shows_the_defaults() {
    let documentation = include_str!("../parse.rs");
    let (_, example) = documentation.split_once("```toml\n").unwrap();
    let (example, _) = example.split_once("//! ```").unwrap();
    let example: String =
        example.lines().map(|line| format!("{}\n", line.trim_start_matches("//!"))).collect();
    let scenario = parse(&example, "documentation").unwrap();
    assert_eq!(scenario.endpoint, Endpoint::default());
    assert_eq!(scenario.time_limit_us, super::DEFAULT_TIME_LIMIT_US);
    assert_eq!(scenario.dualpi2, Some(DualPi2::default()));
    assert_eq!((scenario.link.states.len(), scenario.link.repeat), (2, false));
}

#[test]
fn the_built_in_scenarios_have_the_parameters_of_the_runs() {
    // Rates in Mbit/s, durations and latencies in ms, queues in ms, per state; bytes.
    type State = (Option<u64>, u64, u64, u64);
    let expected: [(&str, &[State], u64); 7] = [
        ("alone", &[(None, 20, 40, 80)], 10_000_000),
        ("alone_200", &[(None, 200, 20, 80)], 20_000_000),
        ("low_and_up", &[(Some(2_500), 5, 50, 80), (None, 10, 50, 80)], 7_000_000),
        (
            "drop_and_back",
            &[(Some(1_500), 10, 50, 80), (Some(2_000), 5, 50, 80), (None, 10, 50, 80)],
            7_000_000,
        ),
        ("blackhole", &[(Some(2_000), 25, 35, 80), (Some(2_000), 0, 35, 80), (None, 25, 35, 80)], 10_000_000),
        ("short_long", &[(Some(1_000), 10, 15, 100), (None, 10, 100, 200)], 20_000_000),
        ("satellite", &[(None, 250, 300, 600)], 100_000_000),
    ];
    assert!(Group::NetworkEvents.scenarios().eq(expected.iter().map(|(name, ..)| *name)));
    for (name, states, bytes) in expected {
        let scenario = builtin(name).unwrap();
        assert_eq!(scenario.name, name);
        assert_eq!((scenario.transfer.bytes, scenario.transfer.start_us), (bytes, 0), "{name}");
        assert_eq!(scenario.endpoint, Endpoint::default(), "{name}");
        assert!(!scenario.link.repeat, "{name}");
        let jitter = if name == "alone" { Jitter::Gauss { mean_us: 2_000 } } else { Jitter::None };
        let wanted: Vec<LinkState> = states
            .iter()
            .map(|&(duration_ms, mbps, latency_ms, queue_ms)| LinkState {
                duration_us: duration_ms.map(|ms| ms * 1_000),
                jitter,
                ..LinkState::constant(
                    mbps * 1_000_000,
                    latency_ms * 1_000,
                    QueueLimit::DelayUs(queue_ms * 1_000),
                )
            })
            .collect();
        assert_eq!(scenario.link.states, wanted, "{name}");
        let resume = (name == "satellite").then_some(Resume { cwnd_bytes: 18_750_000, rtt_us: 600_123 });
        assert_eq!(scenario.resume, resume, "{name}");
    }
}

#[test]
fn an_unknown_built_in_name_is_answered_with_those_that_there_are() {
    let message = builtin("nowhere").unwrap_err().to_string();
    assert!(message.contains("`nowhere`: scenario: unknown"), "{message}");
    assert!(builtin_names().all(|name| message.contains(name)), "{message}");
}

#[test]
fn text_that_is_not_toml_is_refused_with_its_line() {
    assert_refused("[resume]", "[resume", "line 27", "not TOML");
    let message = parse("\u{0}", "x").unwrap_err().to_string();
    assert!(message.starts_with("x: line 1: not TOML"), "{message}");
}

#[test]
fn unknown_fields_are_refused_with_the_known_ones() {
    assert_refused("name =", "colour = 1\nname =", "colour", "expected one of `name`, `summary`");
    assert_refused("rate_mbps = 5", "rate_mbps = 5\nrate_bps = 1", "link[0].rate_bps", "`rate_mbps`");
    assert_refused("size_bytes", "bytes = 1\nsize_bytes", "transfer.bytes", "`size_bytes`");
    assert_refused("cwnd_bytes", "cwnd = 1\ncwnd_bytes", "resume.cwnd", "`cwnd_bytes`");
    assert_refused("mtu_bytes = 1_440", "cc = \"c4\"", "endpoint.cc", "`mtu_bytes`");
    assert_refused("name =", "'' = 1\nname =", "\"\"", "expected one of `name`, `summary`");
    assert_refused("rate_mbps = 5", "rate_mbps = 5\n'' = 1", "link[0].\"\"", "`rate_mbps`");
}

#[test]
fn missing_fields_are_named() {
    for (line, table) in [
        ("name = \"good\"", "scenario"),
        ("summary = \"a good one\"", "scenario"),
        ("rate_mbps = 5", "link[0]"),
        ("latency_ms = 50", "link[0]"),
        ("size_bytes = 7_000_000", "transfer"),
        ("cwnd_bytes = 18_750_000", "resume"),
        ("rtt_ms = 600.123", "resume"),
    ] {
        let name = line.split_once(' ').unwrap().0;
        assert_refused(line, "", table, &format!("missing field `{name}`"));
    }
    assert_refused("[transfer]\nsize_bytes = 7_000_000\nstart_ms = 1_000\n", "", "scenario", "`transfer`");
}

#[test]
fn wrong_types_are_refused_with_their_field() {
    assert_refused("rate_mbps = 5", "rate_mbps = \"5\"", "link[0].rate_mbps", "expected a number");
    assert_refused("link_repeats = false", "link_repeats = 0", "link_repeats", "expected a boolean");
    assert_refused("name = \"good\"", "name = 3", "name", "expected a string");
    assert_refused("mtu_bytes = 1_440", "pacing = 1", "endpoint.pacing", "expected a boolean");
}

#[test]
fn numbers_out_of_range_are_refused_with_the_range() {
    let rate = "0.001..=1000000 Mbit/s";
    for (line, name, field, allowed, bad) in [
        ("time_limit_ms = 10_000", "time_limit_ms", "time_limit_ms", "1..=86400000 ms", "86_400_001"),
        ("duration_ms = 2_500", "duration_ms", "link[0].duration_ms", "1..=86400000 ms", "0.999"),
        ("rate_mbps = 5", "rate_mbps", "link[0].rate_mbps", rate, "1_000_001"),
        ("rate_mbps = 5", "rate_mbps", "link[0].rate_mbps", rate, "0.0009"),
        ("up_mbps = 1", "up_mbps", "link[0].up_mbps", rate, "1e12"),
        ("latency_ms = 50", "latency_ms", "link[0].latency_ms", "0..=60000 ms", "60_000.001"),
        ("queue_ms = 80", "queue_ms", "link[0].queue_ms", "0.001..=60000 ms", "0"),
        ("queue_bytes = 100_000", "queue_bytes", "link[1].queue_bytes", "1252..=1000000000000 bytes", "1251"),
        ("up_queue_bytes = 20_000", "up_queue_ms", "link[0].up_queue_ms", "0.001..=60000 ms", "0"),
        ("jitter_ms = 2", "jitter_ms", "link[0].jitter_ms", "0..=10000 ms", "10_001"),
        ("loss_percent = 0.1", "loss_percent", "link[0].loss_percent", "0..=50 %", "50.1"),
        ("up_loss_percent = 2.5", "up_loss_percent", "link[0].up_loss_percent", "0..=50 %", "100"),
        ("size_bytes = 7_000_000", "size_bytes", "transfer.size_bytes", "1..=100000000000 bytes", "0"),
        ("size_bytes = 7_000_000", "size_bytes", "transfer.size_bytes", "1..=100000000000 bytes", "2.5"),
        ("start_ms = 1_000", "start_ms", "transfer.start_ms", "0..=9999.999 ms", "10_000"),
        ("size_bytes = 3_000_000", "size_bytes", "flow[0].size_bytes", "1..=100000000000 bytes", "0"),
        ("start_ms = 500", "start_ms", "flow[0].start_ms", "0..=9999.999 ms", "10_000"),
        ("access_ms = 25", "access_ms", "flow[0].access_ms", "0..=60000 ms", "60_001"),
        // 500 bytes are 4000 bits.
        ("rate_mbps = 2.5", "rate_mbps", "cross[0].rate_mbps", "0.001..=4000 Mbit/s", "4_001"),
        ("packet_bytes = 500", "packet_bytes", "cross[0].packet_bytes", "20..=65527 bytes", "19"),
        ("stop_ms = 9_000", "start_ms", "cross[0].start_ms", "0..=86400000 ms", "86_400_001"),
        ("stop_ms = 9_000", "stop_ms", "cross[0].stop_ms", "0..=86400000 ms", "86_400_001"),
        ("on_ms = 100", "on_ms", "cross[0].on_ms", "0.001..=86400000 ms", "0"),
        ("off_ms = 50", "off_ms", "cross[0].off_ms", "0.001..=86400000 ms", "0"),
        ("cwnd_bytes = 18_750_000", "cwnd_bytes", "resume.cwnd_bytes", "1200..=1000000000000 bytes", "1_199"),
        ("rtt_ms = 600.123", "rtt_ms", "resume.rtt_ms", "0.001..=60000 ms", "0"),
    ] {
        assert_refused(line, &format!("{name} = {bad}"), field, allowed);
        // The largest i64, more than fits into a u64, more than fits into a u128, more than TOML reads.
        for absurd in [
            "-1",
            "nan",
            "inf",
            "-inf",
            "1e300",
            "9_223_372_036_854_775_807",
            "99999999999999999999",
            "340282366920938463463374607431768211456",
            "9_999_999_999_999_999_999_999_999_999_999_999_999_999_999",
            "-9999999999999999999999999999999999999999",
        ] {
            assert_refused(line, &format!("{name} = {absurd}"), field, allowed);
        }
    }
}

#[test]
fn numbers_of_endpoints_out_of_range_are_refused_with_the_range() {
    for (name, allowed, bad) in [
        ("initial_mtu_bytes", "1200..=1440 bytes", "1_441"),
        ("mtu_bytes", "1200..=65527 bytes", "1_199"),
        ("overhead_bytes", "16..=200 bytes", "201"),
        ("ack_size_bytes", "20..=1200 bytes", "19"),
        ("initial_window_bytes", "1200..=1000000000 bytes", "0"),
        ("max_ack_delay_ms", "0..=16384 ms", "16_385"),
        ("min_ack_delay_ms", "0..=10 ms", "10.001"),
        ("quick_ack_packets", "0..=1000000", "1_000_001"),
        ("max_ack_ranges", "1..=65536", "65_537"),
        ("packet_threshold", "1..=1000000", "0"),
        ("mtu_losses", "1..=1000000", "0"),
        ("initial_pto_ms", "1..=60000 ms", "0"),
        ("max_pto_ms", "250..=600000 ms", "249"),
        ("initial_max_data_bytes", "65527..=1000000000000000 bytes", "65_526"),
        ("initial_max_stream_data_bytes", "65527..=1000000000000000 bytes", "0"),
        ("max_growth_rtt_ms", "100..=60000 ms", "99.999"),
        ("receive_timestamps_exponent", "0..=20", "21"),
        ("max_receive_timestamps_per_ack", "1..=16383", "0"),
        ("receive_timestamps_missing_percent", "0..=100 %", "100.1"),
        ("receiver_clock_offset_ms", "0..=31536000000 ms", "31_536_000_001"),
        ("receiver_clock_drift_ppm", "-10000..=10000", "10_001"),
        ("receiver_clock_drift_ppm", "-10000..=10000", "-10_001"),
        ("receiver_clock_drift_ppm", "-10000..=10000", "0.5"),
    ] {
        for bad in [bad, "-1e6", "nan", "1e300", "-9223372036854775808"] {
            assert_refused(
                "mtu_bytes = 1_440",
                &format!("{name} = {bad}"),
                &format!("endpoint.{name}"),
                allowed,
            );
        }
    }
}

#[test]
fn the_aqm_has_the_parameters_of_the_rfc_and_those_of_the_file() {
    let aqm = |table: &str| {
        parse(&GOOD.replace("[transfer]", &format!("[dualpi2]\n{table}\n[transfer]")), "test")
            .unwrap()
            .dualpi2
    };
    assert_eq!(good().dualpi2, None);
    let default = DualPi2::default();
    assert_eq!(aqm(""), Some(default));
    assert_eq!((default.target_us, default.rtt_max_us, default.update_us), (15_000, 100_000, 15_000));
    assert_eq!((default.coupling, default.l4s_min_us, default.l4s_range_us), (2, 800, 400));
    // The smaller of target and a third of the largest RTT.
    assert_eq!(aqm("rtt_max_ms = 30").map(|aqm| aqm.update_us), Some(10_000));
    assert_eq!(aqm("target_ms = 5").map(|aqm| aqm.update_us), Some(5_000));
    assert_eq!(aqm("update_ms = 16").map(|aqm| aqm.update_us), Some(16_000));
    let shifted = aqm("scheduler = \"ts_fifo\"").map(|aqm| aqm.scheduler);
    assert_eq!(shifted, Some(Scheduler::ShiftedFifo { shift_us: 50_000 }));
    for (line, field, allowed) in [
        ("target_ms = 0", "dualpi2.target_ms", "0.1..=60000 ms"),
        ("rtt_max_ms = 0.5", "dualpi2.rtt_max_ms", "1..=60000 ms"),
        ("update_ms = 10_001", "dualpi2.update_ms", "0.1..=10000 ms"),
        ("coupling = 0", "dualpi2.coupling", "1..=16"),
        ("coupling = 2.5", "dualpi2.coupling", "1..=16"),
        ("l4s_min_ms = -1", "dualpi2.l4s_min_ms", "0..=60000 ms"),
        ("l4s_range_ms = 60_001", "dualpi2.l4s_range_ms", "0..=60000 ms"),
        ("l4s_min_packets = 1_000_001", "dualpi2.l4s_min_packets", "0..=1000000"),
        ("l4s_weight = 0", "dualpi2.l4s_weight", "1..=1000"),
        ("shift_ms = 1", "dualpi2.shift_ms", "scheduler = ts_fifo"),
        ("scheduler = \"ts_fifo\"\nl4s_weight = 1", "dualpi2.l4s_weight", "scheduler = wrr"),
        ("scheduler = \"ts_fifo\"\nshift_ms = 60_001", "dualpi2.shift_ms", "0..=60000 ms"),
        ("scheduler = \"fq\"", "dualpi2.scheduler", "wrr, ts_fifo"),
        ("weight = 1", "dualpi2", "target_ms"),
    ] {
        let text = GOOD.replace("[transfer]", &format!("[dualpi2]\n{line}\n[transfer]"));
        let error = parse(&text, "test").unwrap_err();
        assert!(error.field().starts_with(field), "{line}: {error}");
        assert!(error.to_string().contains(allowed), "{line}: {error}");
    }
}

#[test]
fn ecn_is_off_or_one_of_three_ways_to_choose_the_codepoint() {
    let ecn = |word: &str| {
        let endpoint = format!("[endpoint]\necn = \"{word}\"\n");
        parse(&GOOD.replace("[endpoint]\n", &endpoint), "test").map(|scenario| scenario.endpoint.ecn)
    };
    assert_eq!(good().endpoint.ecn, EcnUse::Off);
    assert_eq!(
        (ecn("ect0"), ecn("l4s"), ecn("wanted")),
        (Ok(EcnUse::Ect0), Ok(EcnUse::L4s), Ok(EcnUse::Wanted))
    );
    let error = ecn("ect1").unwrap_err();
    assert_eq!(error.field(), "endpoint.ecn");
    assert!(error.to_string().contains("off, ect0, l4s, wanted"), "{error}");
    // What an algorithm wants, and what it gets.
    let wanted = [EcnCodepoint::NotEct, EcnCodepoint::Ect0, EcnCodepoint::Ect1];
    let gets = |ecn: EcnUse| wanted.map(|wanted| ecn.codepoint(wanted));
    assert_eq!(gets(EcnUse::Off), [EcnCodepoint::NotEct; 3]);
    assert_eq!(gets(EcnUse::Ect0), [EcnCodepoint::Ect0; 3]);
    assert_eq!(gets(EcnUse::L4s), [EcnCodepoint::NotEct, EcnCodepoint::NotEct, EcnCodepoint::Ect1]);
    assert_eq!(gets(EcnUse::Wanted), wanted);
}

#[test]
fn receive_timestamps_are_asked_for_as_the_file_says() {
    let with = |lines: &str| parse(&GOOD.replace("mtu_bytes = 1_440", lines), "x").unwrap().endpoint;
    assert_eq!(with("receive_timestamps = true").receive_timestamps, Some(ReceiveTimestamps::default()));
    let fields = "receive_timestamps_exponent = 3\nmax_receive_timestamps_per_ack = 8\n\
                  receive_timestamps_missing_percent = 5\n";
    let all = format!("{fields}receive_timestamps = true");
    let expected = ReceiveTimestamps { exponent: 3, max_per_ack: 8, missing_ppm: 50_000 };
    assert_eq!(with(&all).receive_timestamps, Some(expected));
    assert_eq!(with(fields).receive_timestamps, None);
    let clock = "receiver_clock_offset_ms = 5_000\nreceiver_clock_drift_ppm = -200";
    assert_eq!(with(clock).receiver_clock, ReceiverClock { offset_us: 5_000_000, drift_ppm: -200 });
}

#[test]
fn names_and_summaries_are_one_short_line() {
    for bad in ["", "a b", "a/b", "a\\nb", "ä", &"x".repeat(65)] {
        assert_refused("name = \"good\"", &format!("name = \"{bad}\""), "name", "1..=64 of A-Z a-z 0-9 _ -");
    }
    for bad in ["a\\nb", "\\u001b[2J", "\\u202Ea", "\\u2028", "\\u200B", &"x".repeat(201)] {
        assert_refused("summary = \"a good one\"", &format!("summary = \"{bad}\""), "summary", "0..=200");
    }
}

#[test]
fn words_of_a_flow_are_refused_with_those_that_there_are() {
    let direction = "direction = \"reverse\"";
    assert_refused(direction, "direction = \"up\"", "flow[0].direction", "`up` (allowed: forward, reverse)");
    let algorithm = "algorithm = \"cubic\"";
    for name in ["", "Cubic", "tahoe"] {
        let other = format!("algorithm = \"{name}\"");
        assert_refused(algorithm, &other, "flow[0].algorithm", "(allowed: main, c4, ");
    }
    let main = parse(&GOOD.replace(algorithm, "algorithm = \"main\""), "main.toml").unwrap();
    assert_eq!(main.flows[0].algorithm, FlowAlgorithm::Main);
    assert_eq!(main.flows[0].algorithm.with(Algorithm::C4), Algorithm::C4);
    assert_refused(algorithm, "cc = \"cubic\"", "flow[0].cc", "`algorithm`");
    let many = GOOD.to_owned() + &"[[flow]]\nsize_bytes = 1\n".repeat(254);
    let error = parse(&many, "many.toml").unwrap_err().to_string();
    assert_eq!(error, "many.toml: flow: 256 flows (allowed: 0..=255)");
}

#[test]
fn the_scenarios_over_wifi_have_the_parameters_of_the_runs_and_of_the_text() {
    // Rates in Mbit/s, durations, latencies, queues and jitter in ms, per state; bytes and start of the main flow; the other
    // flow, which has 10 MB and starts at 0. The draft's text has 2 Mbit/s where the runs had 18.
    type State = (Option<u64>, u64, u64, u64, f64);
    let bad: &[State] = &[(None, 10, 1, 250, 7.0)];
    let fade = |bad_mbps| {
        [(Some(1_000), 20, 40, 80, 1.0), (Some(2_000), bad_mbps, 40, 80, 12.0), (None, 20, 40, 80, 1.0)]
    };
    let (simulated, written) = (fade(18), fade(2));
    let suspended: &[State] = &[(Some(1_800), 20, 5, 20, 0.0), (Some(200), 0, 5, 20, 0.0)];
    let competing = |algorithm| (bad, 4, 1_000, Some(algorithm));
    let expected = [
        ("wifi_bad", (&[(None, 10, 1, 80, 7.0)][..], 4, 0, None)),
        ("wifi_fade", (&simulated[..], 10, 0, None)),
        ("wifi_suspension", (suspended, 10, 0, None)),
        ("wifi_bad_bbr", competing(Algorithm::Bbr)),
        ("wifi_bad_c4", competing(Algorithm::C4)),
        ("wifi_bad_cubic", competing(Algorithm::Cubic)),
        ("wifi_bad_written", (bad, 4, 0, None)),
        ("wifi_fade_written", (&written[..], 10, 0, None)),
        ("wifi_bad_bbr_written", competing(Algorithm::Bbr)),
        ("wifi_bad_c4_written", competing(Algorithm::C4)),
        ("wifi_bad_cubic_written", competing(Algorithm::Cubic)),
    ];
    let names = Group::Wifi.scenarios().chain(Group::WifiWritten.scenarios());
    assert!(names.eq(expected.iter().map(|(name, _)| *name)));
    for (name, (states, megabytes, start_ms, other)) in expected {
        let scenario = builtin(name).unwrap();
        let model = if name.ends_with("written") { WifiModel::Written } else { WifiModel::Simulated };
        let wanted: Vec<LinkState> = states
            .iter()
            .map(|&(duration_ms, mbps, latency_ms, queue_ms, jitter_ms)| LinkState {
                duration_us: duration_ms.map(|ms| ms * 1_000),
                jitter: match jitter_ms {
                    0.0 => Jitter::None,
                    // The runs had 999 us, which is the same: no spikes.
                    1.0 if model == WifiModel::Simulated => Jitter::Wifi { average_us: 999, model },
                    ms => Jitter::Wifi { average_us: (ms * 1_000.0) as u64, model },
                },
                ..LinkState::constant(
                    mbps * 1_000_000,
                    latency_ms * 1_000,
                    QueueLimit::DelayUs(queue_ms * 1_000),
                )
            })
            .collect();
        assert_eq!(scenario.link.states, wanted, "{name}");
        assert_eq!(scenario.link.repeat, name == "wifi_suspension", "{name}");
        assert_eq!(scenario.transfer.bytes, megabytes * 1_000_000, "{name}");
        assert_eq!(scenario.transfer.start_us, start_ms * 1_000, "{name}");
        let flows: Vec<Flow> = other
            .iter()
            .map(|&algorithm| Flow {
                algorithm: FlowAlgorithm::Fixed(algorithm),
                transfer: Transfer::of(10_000_000),
                direction: Direction::Forward,
            })
            .collect();
        assert_eq!(scenario.flows, flows, "{name}");
        let own: Vec<QueueFor> = (name == "wifi_bad")
            .then_some(QueueFor { algorithm: Algorithm::C4, queue: QueueLimit::DelayUs(250_000) })
            .into_iter()
            .collect();
        assert_eq!(scenario.queue_for, own, "{name}");
    }
}

#[test]
fn jitter_is_gaussian_or_of_wifi_in_two_versions() {
    let with = |lines: &str| parse(&GOOD.replace("jitter_ms = 2", lines), "x").unwrap().link.states[0].jitter;
    let wifi = |model| Jitter::Wifi { average_us: 7_000, model };
    assert_eq!(with("jitter_ms = 7\njitter_model = \"gauss\""), Jitter::Gauss { mean_us: 7_000 });
    assert_eq!(with("jitter_ms = 7\njitter_model = \"wifi\""), wifi(WifiModel::Simulated));
    assert_eq!(with("jitter_ms = 7\njitter_model = \"wifi_written\""), wifi(WifiModel::Written));
    // None, whatever the model.
    assert_eq!(with("jitter_model = \"wifi\""), Jitter::None);
    assert_eq!(with("jitter_ms = 0\njitter_model = \"wifi\""), Jitter::None);
    for model in ["", "Wifi", "wi-fi", "poisson"] {
        let other = format!("jitter_ms = 2\njitter_model = \"{model}\"");
        let allowed = format!("`{model}` (allowed: gauss, wifi, wifi_written)");
        assert_refused("jitter_ms = 2", &other, "link[0].jitter_model", &allowed);
    }
    assert_refused("jitter_ms = 2", "jitter_ms = 2\njitter_model = 1", "link[0].jitter_model", "string");
    let much = "jitter_ms = 10_001\njitter_model = \"wifi\"";
    assert_refused("jitter_ms = 2", much, "link[0].jitter_ms", "0..=10000 ms");
}

/// A file with audio and video.
const MEDIA: &str = r#"
name = "media"
summary = ""
time_limit_ms = 60_000
[[link]]
rate_mbps = 10
latency_ms = 10
queue_ms = 50
[media]
start_ms = 500
stats_from_ms = 200
[[media.stream]]
name = "audio"
kind = "datagrams"
priority = 2
per_second = 50
units = 250
unit_bytes = 80
[[media.stream]]
name = "video"
kind = "frames"
priority = 6
per_second = 30
units = 150
unit_bytes = 6_250
group = 30
first_bytes = 62_500
stop_after_ms = 250
counts = false
"#;

#[test]
fn audio_and_video_take_the_place_of_the_transfer() {
    let scenario = parse(MEDIA, "test").unwrap();
    let audio = MediaStream {
        name: "audio".to_owned(),
        kind: MediaKind::Datagrams,
        priority: 2,
        per_second: 50,
        units: 250,
        unit_bytes: 80,
        counts: true,
    };
    let video = MediaStream {
        name: "video".to_owned(),
        kind: MediaKind::Frames { group: 30, first_bytes: 62_500, stop_after_us: Some(250_000) },
        priority: 6,
        per_second: 30,
        units: 150,
        unit_bytes: 6_250,
        counts: false,
    };
    let media = Media {
        stats_from_us: 200_000,
        all_datagrams_count: false,
        one_timer: false,
        streams: vec![audio, video],
    };
    assert_eq!(scenario.media, Some(media));
    // 250 * 80, and five groups of 62 500 + 29 * 6250.
    let transfer = Transfer { bytes: 20_000 + 5 * 243_750, start_us: 500_000, access_us: 0 };
    assert_eq!(scenario.transfer, transfer);
}

#[test]
fn fields_of_audio_and_video_are_refused_with_their_range() {
    let cases = [
        ("start_ms = 500", "start_ms = 60_000", "media.start_ms", "0..=59999.999 ms"),
        ("start_ms = 500", "access_ms = 60_001", "media.access_ms", "0..=60000 ms"),
        ("stats_from_ms = 200", "stats_from_ms = -1", "media.stats_from_ms", "0..=86400000 ms"),
        ("stats_from_ms = 200", "stats_ms = 1", "media.stats_ms", "`stats_from_ms`"),
        ("stats_from_ms = 200", "one_timer = 1", "media.one_timer", "expected a boolean"),
        ("name = \"audio\"", "name = \"\"", "media.stream[0].name", "1..=32 of"),
        ("kind = \"datagrams\"", "kind = \"bulk\"", "media.stream[0].kind", "datagrams, frames"),
        ("priority = 2", "priority = 256", "media.stream[0].priority", "0..=255"),
        ("per_second = 50", "per_second = 0", "media.stream[0].per_second", "1..=1000"),
        ("units = 250", "units = 1_000_001", "media.stream[0].units", "1..=1000000"),
        ("unit_bytes = 80", "unit_bytes = 1_001", "media.stream[0].unit_bytes", "8..=1000 bytes"),
        ("unit_bytes = 80", "unit_bytes = 80\ngroup = 5", "media.stream[0].group", "with frames only"),
        (
            "unit_bytes = 80",
            "unit_bytes = 80\nfirst_bytes = 90",
            "media.stream[0].first_bytes",
            "with frames only",
        ),
        (
            "unit_bytes = 80",
            "unit_bytes = 80\nstop_after_ms = 1",
            "media.stream[0].stop_after_ms",
            "with frames only",
        ),
        ("unit_bytes = 6_250", "unit_bytes = 7", "media.stream[1].unit_bytes", "8..=10000000 bytes"),
        ("group = 30", "group = 0", "media.stream[1].group", "1..=1000000"),
        (
            "first_bytes = 62_500",
            "first_bytes = 10_000_001",
            "media.stream[1].first_bytes",
            "8..=10000000 bytes",
        ),
        ("stop_after_ms = 250", "stop_after_ms = 60_001", "media.stream[1].stop_after_ms", "0..=60000 ms"),
        // 10^6 and 29 * 62 500 bytes are more than 2^21.
        (
            "unit_bytes = 6_250\ngroup = 30\nfirst_bytes = 62_500",
            "unit_bytes = 62_500\ngroup = 30\nfirst_bytes = 1_000_000",
            "media.stream[1].unit_bytes",
            "2812500 bytes in a group (allowed: 8..=2097152",
        ),
        (
            "unit_bytes = 80",
            "unit_bytes = 80\ncounts = false",
            "media.stream",
            "counts = true in one at least",
        ),
        ("[media]", "[transfer]\nsize_bytes = 1\n[media]", "media", "one of [transfer], [media]"),
        ("name = \"video\"", "", "media.stream[1]", "missing field `name`"),
    ];
    for (line, other, field, allowed) in cases {
        assert!(MEDIA.contains(line), "{line}");
        let error = parse(&MEDIA.replacen(line, other, 1), "bad.toml").expect_err(other);
        assert_eq!(error.field(), field, "{error}");
        assert!(error.to_string().contains(allowed), "{error}");
    }
    let none = MEDIA.split("[[media.stream]]").next().unwrap();
    let error = parse(none, "bad.toml").unwrap_err().to_string();
    assert!(error.contains("media.stream: 0 streams (allowed: 1..=16)"), "{error}");
}

#[test]
fn the_media_tests_have_the_parameters_of_the_runs() {
    // Rates down and up in Mbit/s, durations and latencies in ms, per state; units of audio and of video; start of the
    // statistics in ms.
    type State = (Option<u64>, u64, u64, u64);
    let short_long: &[State] = &[(Some(1_000), 100, 10, 15), (None, 100, 10, 50)];
    let fade: &[State] = &[(Some(1_000), 20, 20, 20), (Some(2_000), 18, 18, 20), (None, 20, 20, 20)];
    let suspended: &[State] = &[(Some(1_800), 20, 20, 5), (Some(200), 0, 0, 5)];
    let expected: [(&str, &[State], u64, u64, u64); 8] = [
        ("media100", &[(None, 100, 100, 15)], 250, 150, 200),
        ("media10", &[(None, 10, 10, 20)], 250, 150, 200),
        ("media_600fr", &[(None, 100, 100, 15)], 360, 600, 200),
        ("media_short_long", short_long, 200, 300, 5_000),
        ("media_wb", &[(None, 20, 20, 1)], 250, 150, 200),
        ("media_wf", fade, 250, 150, 200),
        ("media_ws", suspended, 250, 150, 200),
        ("media_ecn", &[(None, 20, 20, 15)], 250, 150, 200),
    ];
    assert!(Group::Media.scenarios().eq(expected.iter().map(|(name, ..)| *name)));
    for (name, states, audio, video, stats_from_ms) in expected {
        let scenario = builtin(name).unwrap();
        let ours: Vec<State> = scenario
            .link
            .states
            .iter()
            .map(|s| {
                let duration_ms = s.duration_us.map(|us| us / 1_000);
                (duration_ms, s.down_bps / 1_000_000, s.up_bps / 1_000_000, s.latency_us / 1_000)
            })
            .collect();
        assert_eq!(ours, states, "{name}");
        let media = scenario.media.unwrap();
        assert_eq!(
            (media.stats_from_us, media.one_timer, media.all_datagrams_count),
            (stats_from_ms * 1_000, true, true)
        );
        let streams: Vec<_> = media
            .streams
            .iter()
            .map(|s| (s.priority, s.units, s.unit_bytes, s.bytes_of(0), s.counts))
            .collect();
        let wanted =
            [(2, audio, 80, 80, true), (4, video, 3_750, 37_500, true), (6, video, 6_250, 62_500, false)];
        assert_eq!(streams, wanted, "{name}");
        assert_eq!(media.streams[1].groups(), video / 30, "{name}");
    }
}

#[test]
fn an_algorithm_of_the_main_flow_may_have_a_queue_of_its_own() {
    let with = |tables: &str| GOOD.replace("[transfer]", &format!("{tables}\n[transfer]"));
    let table = |algorithm: &str, line: &str| format!("[[queue_for]]\nalgorithm = \"{algorithm}\"\n{line}\n");
    let two = table("c4", "queue_ms = 250") + &table("bbr", "queue_bytes = 60_000");
    let scenario = parse(&with(&two), "x").unwrap();
    let queues = |algorithm| -> Vec<_> {
        let link = scenario.link.with_queue_for(algorithm, &scenario.queue_for);
        link.states.iter().map(|state| (state.queue, state.up_queue)).collect()
    };
    let (first, second) = (QueueLimit::DelayUs(80_000), QueueLimit::Bytes(100_000));
    assert_eq!(queues(Algorithm::Cubic), [(first, QueueLimit::Bytes(20_000)), (second, second)]);
    assert_eq!(queues(Algorithm::C4), [(QueueLimit::DelayUs(250_000), QueueLimit::DelayUs(250_000)); 2]);
    assert_eq!(queues(Algorithm::Bbr), [(QueueLimit::Bytes(60_000), QueueLimit::Bytes(60_000)); 2]);
    let refused = |tables: &str, field: &str, allowed: &str| {
        let error = parse(&with(tables), "bad.toml").unwrap_err();
        assert_eq!(error.field(), field, "{error}");
        assert!(error.to_string().contains(allowed), "{error}");
    };
    let c4 = table("c4", "queue_ms = 250");
    refused(&table("main", "queue_ms = 1"), "queue_for[0].algorithm", "`main` (allowed: c4, ");
    refused(&(c4.clone() + &c4), "queue_for[1].algorithm", "each once");
    refused(
        &table("c4", ""),
        "queue_for[0].queue_ms",
        "one of queue_ms, queue_bytes, queue_unlimited = true",
    );
    refused(&table("c4", "queue_ms = 0"), "queue_for[0].queue_ms", "0.001..=60000 ms");
    refused(&table("c4", "queue_bytes = 1_251"), "queue_for[0].queue_bytes", "1252..=1000000000000 bytes");
}

#[test]
fn a_source_has_both_periods_or_neither_and_stops_after_it_starts() {
    let both = "both, or neither";
    assert_refused("on_ms = 100\n", "", "cross[0].on_ms", both);
    assert_refused("off_ms = 50\n", "", "cross[0].on_ms", both);
    assert_refused("on_ms = 100\noff_ms = 50\n", "random = true\n", "cross[0].on_ms", both);
    let random = parse(&GOOD.replace("off_ms = 50", "off_ms = 50\nrandom = true"), "x").unwrap();
    let pattern = Pattern::OnOff { on_us: 100_000, off_us: 50_000, random: true };
    assert_eq!(random.cross[0].pattern, pattern);
    let late = "stop_ms = 9_000\nstart_ms = 9_001";
    assert_refused("stop_ms = 9_000", late, "cross[0].stop_ms", "9001..=86400000 ms");
    let many = GOOD.to_owned() + &"[[cross]]\nrate_mbps = 1\n".repeat(63);
    let error = parse(&many, "many.toml").unwrap_err().to_string();
    assert_eq!(error, "many.toml: cross: 65 sources (allowed: 0..=64)");
}

#[test]
fn a_run_ends_with_one_flow_or_all_or_at_a_time() {
    let with = |line: &str| parse(&GOOD.replace("link_repeats = false", line), "x").unwrap().end;
    assert_eq!(with("ends = \"main\""), RunEnd::MainFlow);
    assert_eq!(with("ends = \"all\""), RunEnd::AllFlows);
    assert_eq!(with("duration_ms = 2_000"), RunEnd::At(2_000_000));
    let line = "link_repeats = false";
    assert_refused(line, "ends = \"any\"", "ends", "`any` (allowed: main, all)");
    assert_refused(line, "duration_ms = 10_001", "duration_ms", "1..=10000 ms");
    assert_refused(
        line,
        "ends = \"all\"\nduration_ms = 5",
        "ends",
        "one of ends, duration_ms = 1..=10000 ms",
    );
}

#[test]
fn durations_are_needed_exactly_where_a_state_ends() {
    assert_refused("duration_ms = 2_500", "", "link[0].duration_ms", "missing (allowed: 1..=86400000 ms)");
    assert_refused(
        "rate_mbps = 10",
        "rate_mbps = 10\nduration_ms = 5",
        "link[1].duration_ms",
        "link_repeats",
    );
    assert_refused("link_repeats = false", "link_repeats = true", "link[1].duration_ms", "missing");
    let repeats = GOOD
        .replace("link_repeats = false", "link_repeats = true")
        .replace("rate_mbps = 10", "rate_mbps = 10\nduration_ms = 5");
    let scenario = parse(&repeats, "repeats.toml").unwrap();
    assert!(scenario.link.repeat);
    assert_eq!(scenario.link.states[1].duration_us, Some(5_000));
}

#[test]
fn rate_zero_is_allowed_in_a_state_that_ends_only() {
    let suspended = parse(&GOOD.replace("rate_mbps = 5", "rate_mbps = 0"), "suspended.toml").unwrap();
    assert_eq!((suspended.link.states[0].down_bps, suspended.link.states[0].up_bps), (0, 1_000_000));
    let (field, message) = refused("rate_mbps = 10", "rate_mbps = 0");
    assert_eq!(field, "link[1].rate_mbps");
    assert!(
        message.contains("0 for ever is out of range") && message.contains("0.001..=1000000 Mbit/s"),
        "{message}"
    );
    assert_refused("rate_mbps = 10", "rate_mbps = 10\nup_mbps = 0", "link[1].up_mbps", "0 for ever");
    // A rate that is not 0 does not become 0 by rounding.
    assert_refused("rate_mbps = 5", "rate_mbps = 1e-9", "link[0].rate_mbps", "0.001..=1000000");
}

#[test]
fn a_timeline_that_repeats_rate_zero_only_is_refused() {
    let silent = GOOD
        .replace("link_repeats = false", "link_repeats = true")
        .replace("rate_mbps = 5", "rate_mbps = 0")
        .replace("rate_mbps = 10", "rate_mbps = 0\nup_mbps = 1\nduration_ms = 5");
    let error = parse(&silent, "silent.toml").unwrap_err();
    assert_eq!(error.field(), "link[1].rate_mbps");
    assert!(error.to_string().contains("0 in every state"), "{error}");
}

#[test]
fn there_is_exactly_one_limit_of_the_queue() {
    let allowed = "one of queue_ms, queue_bytes, queue_unlimited = true";
    assert_refused("queue_ms = 80", "", "link[0].queue_ms", allowed);
    assert_refused("queue_ms = 80", "queue_ms = 80\nqueue_bytes = 1", "link[0].queue_ms", allowed);
    assert_refused("queue_ms = 80", "queue_ms = 80\nqueue_unlimited = true", "link[0].queue_ms", allowed);
    let allowed = "one of up_queue_ms, up_queue_bytes, up_queue_unlimited = true";
    let two = "up_queue_bytes = 20_000\nup_queue_unlimited = true";
    assert_refused("up_queue_bytes = 20_000", two, "link[0].up_queue_ms", allowed);
    let none = parse(&GOOD.replace("up_queue_bytes = 20_000", ""), "x").unwrap();
    assert_eq!(none.link.states[0].up_queue, none.link.states[0].queue);
    // A full datagram of the start fits.
    let large = "mtu_bytes = 9_000\ninitial_mtu_bytes = 9_000";
    let text =
        GOOD.replace("mtu_bytes = 1_440", large).replace("queue_bytes = 100_000", "queue_bytes = 8_999");
    let error = parse(&text, "x").unwrap_err();
    assert!(error.to_string().contains("link[1].queue_bytes: 8999"), "{error}");
    assert!(error.to_string().contains("9000..=1000000000000 bytes"), "{error}");
    let unlimited = parse(&GOOD.replace("queue_ms = 80", "queue_unlimited = true"), "x").unwrap();
    assert_eq!(unlimited.link.states[0].queue, QueueLimit::Unlimited);
}

#[test]
fn the_link_has_a_bounded_number_of_states() {
    let state = "[[link]]\nrate_mbps = 1\nlatency_ms = 1\nqueue_ms = 1\n";
    let ending = state.replace("[[link]]", "[[link]]\nduration_ms = 1");
    let with = |states: String| {
        parse(&format!("name = \"n\"\nsummary = \"\"\n{states}\n[transfer]\nsize_bytes = 1\n"), "n.toml")
    };
    assert_eq!(with(ending.repeat(999) + state).unwrap().link.states.len(), 1_000);
    let error = with(ending.repeat(1_000) + state).unwrap_err();
    assert_eq!(error.to_string(), "n.toml: link: 1001 states (allowed: 1..=1000)");
    let error = with("link = []".to_owned()).unwrap_err();
    assert_eq!(error.to_string(), "n.toml: link: 0 states (allowed: 1..=1000)");
}

#[test]
fn a_transfer_starts_before_the_time_limit() {
    let allowed = "1000 is out of range (allowed: 0..=999.999 ms)";
    assert_refused("time_limit_ms = 10_000", "time_limit_ms = 1_000", "transfer.start_ms", allowed);
    let hour = "3600001 is out of range (allowed: 0..=3600000 ms)";
    let day = GOOD.replace("time_limit_ms = 10_000", "time_limit_ms = 86_400_000");
    let error = parse(&day.replace("start_ms = 1_000", "start_ms = 3_600_001"), "x").unwrap_err();
    assert!(error.to_string().contains(hour), "{error}");
}

#[test]
fn a_smaller_mtu_takes_the_initial_one_along() {
    let small = parse(&GOOD.replace("mtu_bytes = 1_440", "mtu_bytes = 1_200"), "small.toml").unwrap();
    assert_eq!((small.endpoint.mtu, small.endpoint.initial_mtu), (1_200, 1_200));
}

#[test]
fn errors_stay_on_one_line_whatever_they_quote() {
    let error = parse("\"a\\nb\\u001b[2J\" = 1", "evil\nname.toml").unwrap_err().to_string();
    assert_eq!(error.lines().count(), 1);
    assert!(!error.contains('\u{1b}'), "{error:?}");
}

proptest::proptest! {
    #[test]
    fn any_text_is_a_scenario_or_an_error_of_one_line(text in "\\PC*", cut in 0_usize..500, tail in "[ -~\n]{0,40}") {
        let mut broken: String = GOOD.chars().take(cut).collect();
        broken.push_str(&tail);
        for text in [text, broken] {
            if let Err(error) = parse(&text, "any") {
                proptest::prop_assert_eq!(error.to_string().lines().count(), 1);
            }
        }
    }

    #[test]
    fn any_number_in_any_place_is_in_range_or_refused_by_name(number in proptest::num::f64::ANY, place in 0_usize..9) {
        let (name, line) = [
            ("duration_ms", "duration_ms = 2_500"),
            ("rate_mbps", "rate_mbps = 5"),
            ("up_mbps", "up_mbps = 1"),
            ("latency_ms", "latency_ms = 50"),
            ("queue_ms", "queue_ms = 80"),
            ("jitter_ms", "jitter_ms = 2"),
            ("size_bytes", "size_bytes = 7_000_000"),
            ("rtt_ms", "rtt_ms = 600.123"),
            ("mtu_bytes", "mtu_bytes = 1_440"),
        ][place];
        let value = match (number.is_nan(), number.is_infinite()) {
            (true, _) => "nan".to_owned(),
            (_, true) => if number > 0.0 { "inf".to_owned() } else { "-inf".to_owned() },
            _ => format!("{number:?}"),
        };
        match parse(&GOOD.replace(line, &format!("{name} = {value}")), "any") {
            Ok(_) => proptest::prop_assert!((0.0..1e12).contains(&number), "{name} = {value} accepted"),
            Err(error) => proptest::prop_assert!(error.field().ends_with(name), "{error}"),
        }
    }
}
