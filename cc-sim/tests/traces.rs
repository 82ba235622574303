//! Snapshots of whole traces: the algorithms on each of the draft's seven network events.
//!
//! A change of any decision of an algorithm, of `cc_core::Path` or of the simulator shows here as a diff to be read line
//! by line (`cargo insta review`, or `INSTA_UPDATE=always`); the commit says why.

use cc_sim::trace::trace_lines;
use cc_sim::{Algorithm, scenario};

/// Scenarios and the interval of their lines in microseconds: some dozens of lines each.
const SCENARIOS: [(&str, u64); 7] = [
    ("alone", 250_000),
    ("alone_200", 50_000),
    ("low_and_up", 500_000),
    ("drop_and_back", 500_000),
    ("blackhole", 250_000),
    ("short_long", 1_000_000),
    ("satellite", 250_000),
];

fn check(algorithm: Algorithm) {
    check_on(algorithm, &SCENARIOS);
}

fn check_on(algorithm: Algorithm, scenarios: &[(&str, u64)]) {
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| {
        for &(name, interval_us) in scenarios {
            let scenario = scenario::builtin(name).unwrap();
            let trace = trace_lines(&scenario, algorithm, 1, interval_us).unwrap();
            insta::assert_snapshot!(format!("{name}_{}", algorithm.name()), trace);
        }
    });
}

#[test]
fn c4_goes_the_same_way_through_every_network_event() {
    check(Algorithm::C4);
}

#[test]
fn bbr_goes_the_same_way_through_every_network_event() {
    check(Algorithm::Bbr);
}

#[test]
fn cubic_goes_the_same_way_through_every_network_event() {
    check(Algorithm::Cubic);
}

/// A path that carries half for two seconds, and one that gets longer, which receive times cannot tell from a queue.
const CHANGES: [(&str, u64); 2] = [("drop_and_back", 500_000), ("short_long", 2_000_000)];

#[test]
fn quicdc_goes_the_same_way_through_two_of_them() {
    check_on(Algorithm::QuicDc, &CHANGES);
}

#[test]
fn westwood_goes_the_same_way_through_two_of_them() {
    check_on(Algorithm::Westwood, &CHANGES);
}

#[test]
fn reno_goes_the_same_way_through_two_of_them() {
    check_on(Algorithm::Reno, &CHANGES);
}

/// One flow before a queue of tail drop that sends ECT(0), and before DualPI2.
const ECN: [(&str, u64); 2] = [("ecn", 500_000), ("l4s", 250_000)];

#[test]
fn c4_goes_the_same_way_past_both_queues_of_the_ecn_tests() {
    check_on(Algorithm::C4, &ECN);
}

#[test]
fn bbr_goes_the_same_way_past_both_queues_of_the_ecn_tests() {
    check_on(Algorithm::Bbr, &ECN);
}

#[test]
fn cubic_goes_the_same_way_past_both_queues_of_the_ecn_tests() {
    check_on(Algorithm::Cubic, &ECN);
}

#[test]
fn the_snapshots_cover_every_network_event() {
    let covered: Vec<&str> = SCENARIOS.iter().map(|&(name, _)| name).collect();
    let mut all: Vec<&str> = scenario::Group::NetworkEvents.scenarios().collect();
    all.retain(|name| !covered.contains(name));
    assert!(all.is_empty(), "no snapshot of {all:?}");
}
