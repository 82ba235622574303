//! Snapshots of whole traces: the algorithms on each of the draft's seven network events.
//!
//! A change of any decision of an algorithm, of `cc_core::Path` or of the simulator shows here as a diff to be read line
//! by line (`cargo insta review`, or `INSTA_UPDATE=always`); the commit says why.

mod snapshot;

use cc_sim::{Algorithm, scenario};
use snapshot::assert_traces_unchanged;

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
    assert_traces_unchanged(algorithm, &SCENARIOS);
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
    assert_traces_unchanged(Algorithm::QuicDc, &CHANGES);
}

#[test]
fn westwood_goes_the_same_way_through_two_of_them() {
    assert_traces_unchanged(Algorithm::Westwood, &CHANGES);
}

#[test]
fn reno_goes_the_same_way_through_two_of_them() {
    assert_traces_unchanged(Algorithm::Reno, &CHANGES);
}

/// One flow before a queue of tail drop that sends ECT(0), and before DualPI2.
const ECN: [(&str, u64); 2] = [("ecn", 500_000), ("l4s", 250_000)];

#[test]
fn c4_goes_the_same_way_past_both_queues_of_the_ecn_tests() {
    assert_traces_unchanged(Algorithm::C4, &ECN);
}

#[test]
fn bbr_goes_the_same_way_past_both_queues_of_the_ecn_tests() {
    assert_traces_unchanged(Algorithm::Bbr, &ECN);
}

#[test]
fn cubic_goes_the_same_way_past_both_queues_of_the_ecn_tests() {
    assert_traces_unchanged(Algorithm::Cubic, &ECN);
}

#[test]
fn the_snapshots_cover_every_network_event() {
    let covered: Vec<&str> = SCENARIOS.iter().map(|&(name, _)| name).collect();
    let mut all: Vec<&str> = scenario::Group::NetworkEvents.scenarios().collect();
    all.retain(|name| !covered.contains(name));
    assert!(all.is_empty(), "no snapshot of {all:?}");
}
