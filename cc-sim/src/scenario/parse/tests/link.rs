//! The tables `[[link]]` and `[[queue_for]]`.

use super::{GOOD, assert_refused, parse, refused};
use crate::Algorithm;
use crate::scenario::{
    Direction, Flow, FlowAlgorithm, Group, Jitter, LinkState, QueueFor, QueueLimit, Transfer, WifiModel,
    builtin,
};

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
