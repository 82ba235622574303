//! The tables `[transfer]`, `[[flow]]` and `[[cross]]`, and what ends a run.

use super::{GOOD, assert_refused, parse};
use crate::Algorithm;
use crate::scenario::{FlowAlgorithm, Pattern, RunEnd};

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
fn a_transfer_starts_before_the_time_limit() {
    let allowed = "1000 is out of range (allowed: 0..=999.999 ms)";
    assert_refused("time_limit_ms = 10_000", "time_limit_ms = 1_000", "transfer.start_ms", allowed);
    let hour = "3600001 is out of range (allowed: 0..=3600000 ms)";
    let day = GOOD.replace("time_limit_ms = 10_000", "time_limit_ms = 86_400_000");
    let error = parse(&day.replace("start_ms = 1_000", "start_ms = 3_600_001"), "x").unwrap_err();
    assert!(error.to_string().contains(hour), "{error}");
}
