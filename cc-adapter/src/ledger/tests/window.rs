//! The window that a stack is told, and what it says of what stopped the sender.

use super::{ack, at, ledger, ms, packet, send};
use crate::Ledger;
use cc_core::{LossCause, LostPacket, PathRtt, Rate, SendLimit};

/// A window that limits nothing, and a megabyte per second.
fn with_a_rate() -> Ledger<super::Spy> {
    let mut ledger = ledger();
    ledger.controller.cwnd = 1_000_000;
    ledger.controller.rate = Some(Rate::from_bytes_per_sec(1_000_000));
    ledger
}

#[test]
fn what_limits_follows_from_data_window_and_rate() {
    let mut ledger = ledger();
    send(&mut ledger, 1_000, 6_000);
    // 6000 in flight, datagrams of 1200, cwnd 12 000.
    assert_eq!(ledger.limit(true, 7_000), SendLimit::NoData);
    assert_eq!(ledger.limit(false, 7_200), SendLimit::Unknown);
    assert_eq!(ledger.limit(false, 7_199), SendLimit::Pacer);
    ledger.controller.cwnd = 7_199;
    assert_eq!(ledger.limit(false, 7_199), SendLimit::Cwnd);
}

#[test]
fn window_and_rate_are_one_window() {
    let mut ledger = ledger();
    send(&mut ledger, 1_000, 1_200);
    // 60 000 B/s, but no RTT yet.
    ledger.controller.rate = Some(Rate::from_bytes_per_sec(60_000));
    assert_eq!(ledger.window_for_rate(), 12_000);
    ack(&mut ledger, 1_100, &packet(1_000, 1_200), 0);
    // 60 000 * 0.1 = 6000, five datagrams.
    assert_eq!(ledger.window_for_rate(), 6_000);
    // A byte per second more: the sixth begins.
    ledger.controller.rate = Some(Rate::from_bytes_per_sec(60_010));
    assert_eq!(ledger.window_for_rate(), 7_200);
    // Not paced.
    ledger.controller.rate = None;
    assert_eq!(ledger.window_for_rate(), 12_000);
    // The rate allows more than the window.
    ledger.controller.rate = Some(Rate::from_bytes_per_sec(1_000_000));
    assert_eq!(ledger.window_for_rate(), 12_000);
    // A tiny rate lets a quantum through, in whole datagrams, and two of them.
    ledger.controller.rate = Some(Rate::from_bytes_per_sec(1));
    ledger.controller.quantum = 5_000;
    assert_eq!(ledger.window_for_rate(), 6_000);
    ledger.controller.quantum = 1;
    assert_eq!(ledger.window_for_rate(), 2_400);
    // But never more than the window.
    ledger.controller.cwnd = 2_000;
    assert_eq!(ledger.window_for_rate(), 2_000);
    // RFC 9002 section 7.3.2: one datagram beyond a full window of 2000.
    send(&mut ledger, 1_110, 3_000);
    ledger.controller.beyond = true;
    assert_eq!(ledger.window_for_rate(), 4_200);
    assert_eq!(ledger.window(), 4_200);
    ledger.controller.beyond = false;
    // Where the stack paces, the rate has no part in it.
    ledger.controller.cwnd = 12_000;
    assert_eq!((ledger.window(), ledger.window_for_rate()), (12_000, 2_400));
}

#[test]
fn a_window_that_stands_for_a_rate_does_not_grant_all_of_a_queue() {
    let mut ledger = with_a_rate();
    let mut sample = |millis: u64, rtt: u64, var: u64| {
        let rtt = PathRtt { latest: ms(rtt), smoothed: ms(rtt), min: ms(20), var: ms(var) };
        ledger.on_rtt(at(millis), at(millis).before(ms(1)), &rtt);
        ledger.window_for_rate()
    };
    // 20 ms of 1000 bytes: 20 000, rounded up to 17 datagrams of 1200.
    assert_eq!(sample(1_000, 20, 5), 17 * 1_200);
    // 60 ms, of which 20 + 4 * 10 pass for path and variation: 60 000 are 50 datagrams.
    assert_eq!(sample(2_000, 60, 10), 50 * 1_200);
    // 20 + 4 * 2 = 28: an eighth of 32 is 4, and 56 000 are 46.7 datagrams.
    assert_eq!(sample(3_000, 60, 2), 47 * 1_200);
    // After more than ten seconds 60 ms is what the path takes, whatever the minimum of the connection.
    sample(6_100, 60, 2);
    assert_eq!(sample(11_200, 60, 2), 50 * 1_200);
}

#[test]
fn after_persistent_congestion_a_longer_path_is_no_queue() {
    let mut ledger = with_a_rate();
    let mut acked = |sent: u64, now: u64, is_persistent: bool| {
        send(&mut ledger, sent, 1_200);
        ledger.on_acked(at(now), &packet(sent, 1_200));
        if is_persistent {
            ledger.on_lost(at(now), &LostPacket { bytes: 1_200, ..LostPacket::default() }, None);
            ledger.on_persistent_congestion(at(now));
        }
        ledger.commit();
        ledger.window_for_rate()
    };
    acked(1_000, 1_020, false);
    // An RTT of 100 ms instead of 20. After a hundred samples nothing is left of the first: 100 ms and a variation of 0, of which an
    // eighth of 80 ms is not granted: 90 000, 75 datagrams.
    for n in 1..100 {
        acked(1_000 + 40 * n, 1_100 + 40 * n, false);
    }
    assert_eq!(acked(5_000, 5_100, false), 75 * 1_200);
    // Now all of 100 ms is what the path takes: 83.3 datagrams.
    assert_eq!(acked(5_040, 5_140, true), 84 * 1_200);
    // Declared by the timer, without an ack: until the next sample nothing changes, neither down to the least RTT of all nor up.
    let lost = LostPacket { bytes: 1_200, ..LostPacket::default() };
    ledger.on_lost(at(5_200), &lost, Some(LossCause::Timer));
    ledger.on_persistent_congestion(at(5_200));
    ledger.commit();
    assert_eq!(ledger.window_for_rate(), 84 * 1_200);
}
