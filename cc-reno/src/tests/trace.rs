//! The whole course of a flow with losses, as a snapshot.

use super::stack::Stack;
use cc_core::CongestionController;
use std::fmt::Write;
use std::string::String;

#[test]
fn the_saw_tooth_of_a_flow_that_loses_a_packet_above_forty_datagrams() {
    let mut stack = Stack::new();
    let mut trace = String::new();
    for round in 0..60_u64 {
        let at = 100 * round;
        let sent = stack.fill(at);
        let count = sent.end - sent.start;
        // The path carries 30 datagrams and queues ten more: what comes beyond is lost, at round 40 a mark comes too.
        let lost: std::vec::Vec<u64> = sent.clone().skip(40).collect();
        stack.frame(at + 100, sent.take(40), lost, u64::from(round == 40));
        let snapshot = stack.path.controller().snapshot();
        writeln!(
            trace,
            "{:>5} ms  sent {count:>3}  {:<20} cwnd {:>6}  ssthresh {:>6}  {:>7} B/s  events {}",
            at + 100,
            snapshot.phase,
            snapshot.cwnd,
            snapshot.ssthresh.map_or(String::from("-"), |bytes| std::format!("{bytes}")),
            snapshot.pacing_rate.map_or(0, cc_core::Rate::as_bytes_per_sec),
            snapshot.congestion_events,
        )
        .unwrap();
    }
    insta::assert_snapshot!("saw_tooth", trace);
}
