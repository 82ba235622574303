mod dualpi2;
mod endpoint;
mod flows;
mod link;
mod media;

use super::parse;
use crate::Algorithm;
use crate::scenario::{
    CrossTraffic, Direction, DualPi2, Endpoint, Flow, FlowAlgorithm, Group, Jitter, LinkState, Pattern,
    QueueLimit, Resume, RunEnd, Scenario, Transfer, builtin, builtin_names,
};

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
fn names_and_summaries_are_one_short_line() {
    for bad in ["", "a b", "a/b", "a\\nb", "ä", &"x".repeat(65)] {
        assert_refused("name = \"good\"", &format!("name = \"{bad}\""), "name", "1..=64 of A-Z a-z 0-9 _ -");
    }
    for bad in ["a\\nb", "\\u001b[2J", "\\u202Ea", "\\u2028", "\\u200B", &"x".repeat(201)] {
        assert_refused("summary = \"a good one\"", &format!("summary = \"{bad}\""), "summary", "0..=200");
    }
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
