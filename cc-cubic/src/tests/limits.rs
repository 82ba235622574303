//! Growth only of a window that is used (RFC 9002 section 7.8, RFC 9438 section 5.8,
//! draft-ietf-ccwg-ratelimited-increase).

use super::stack::{Frame, MSS, Stack, ms};
use crate::Config;
use cc_core::{CongestionController, IncreaseRule, SendLimit};
use std::vec;

fn with_rule(increase_rule: IncreaseRule) -> Stack {
    Stack::with(&Config { increase_rule, ..Config::default() })
}

#[test]
fn one_packet_per_round_does_not_grow_the_window() {
    // B1: 1000 rounds. RFC 9002: not at all; with the draft limit(maxFS) = 2 * 12000.
    for (rule, most) in [(IncreaseRule::Rfc9002, 12_000), (IncreaseRule::RateLimited, 24_000)] {
        let mut stack = with_rule(rule);
        stack.limited_by = SendLimit::NoData;
        for round in 0..1_000 {
            let sent = stack.send(round * 101, 1);
            stack.ack(round * 101 + 100, sent);
        }
        assert_eq!(stack.cc.cwnd(), most, "{rule:?}");
    }
}

#[test]
fn in_congestion_avoidance_one_packet_per_round_does_not_grow_the_window() {
    // With the draft: maxFS after the reduction is 9 packets and the probe, 12000; limit 1.5 * 12000 = 18000.
    for (rule, most) in [(IncreaseRule::Rfc9002, 8_400), (IncreaseRule::RateLimited, 18_000)] {
        let mut stack = with_rule(rule);
        stack.fill(0);
        stack.frame(100, Frame { losses: vec![1], ..Default::default() });
        let probe = stack.send(101, 1);
        stack.limited_by = SendLimit::NoData;
        stack.ack(102, 2..=10);
        stack.ack(201, probe);
        // The window was full when the loss was found: the acks of that round may still grow it.
        let window = stack.cc.cwnd();
        assert!(window <= 8_400 + MSS);
        for round in 0..1_000 {
            let sent = stack.send(300 + round * 101, 1);
            stack.ack(400 + round * 101, sent);
        }
        assert!(stack.cc.cwnd() <= most.max(window), "{rule:?} {}", stack.cc.cwnd());
    }
}

#[test]
fn a_greedy_paced_sender_grows() {
    // B2 A: the flight peaks three datagrams below the window, 50 round trips, in both phases and under both rules.
    for rule in [IncreaseRule::Rfc9002, IncreaseRule::RateLimited] {
        for reports_sends in [true, false] {
            let config = Config { initial_window: Some(36_000), increase_rule: rule, ..Config::default() };
            let mut stack = Stack::with(&config);
            stack.reports_sends = reports_sends;
            stack.send(0, 30);
            stack.frame(100, Frame { losses: vec![1], ..Default::default() });
            let probe = stack.send(101, 1);
            stack.ack(201, 2..=*probe.end());
            let start = stack.cc.cwnd();
            stack.limited_by = SendLimit::Pacer;
            let mut now = 202;
            for _ in 0..50 {
                let packets = (stack.cc.cwnd() - stack.in_flight()) / MSS - 3;
                let first = stack.next();
                for packet in 0..packets {
                    stack.send(now + packet * 10, 1);
                }
                for packet in 0..packets {
                    stack.ack(now + 100 + packet * 10, first + packet..=first + packet);
                }
                now += 200;
            }
            assert!(stack.cc.cwnd() > start + 4 * MSS, "{rule:?} {} from {start}", stack.cc.cwnd());
        }
    }
}

#[test]
fn three_paced_packets_per_round_do_not_grow_the_window() {
    // B2 B: a fix of the case above that breaks this one was shipped twice.
    let mut stack = Stack::new();
    for round in 0..20 {
        let start = round * 200;
        let first = stack.next();
        for packet in 0..3 {
            stack.send(start + packet * 8, 1);
        }
        stack.app_limited_at = Some(ms(start + 16));
        stack.limited_by = SendLimit::NoData;
        for packet in 0..3 {
            stack.ack(start + 100 + packet * 8, first + packet..=first + packet);
        }
    }
    assert_eq!(stack.cc.cwnd(), 12_000);
}

#[test]
fn a_window_that_was_full_for_an_instant_grows_for_that_round_only() {
    // B4: one full window in slow start, 12000 + 12000, then 20 rounds of one packet.
    let mut stack = Stack::new();
    let sent = stack.fill(0);
    for n in sent {
        stack.ack(100, n..=n);
        stack.limited_by = SendLimit::NoData;
    }
    assert_eq!(stack.cc.cwnd(), 24_000);
    for round in 1..=20 {
        let sent = stack.send(round * 101, 1);
        stack.ack(round * 101 + 100, sent);
    }
    assert_eq!(stack.cc.cwnd(), 24_000);
}

#[test]
fn a_window_limited_by_the_peer_stays_near_the_flight() {
    // B10: the peer allows 100 packets; RTT 600 ms, 60 s.
    for rule in [IncreaseRule::Rfc9002, IncreaseRule::RateLimited] {
        let mut stack = with_rule(rule);
        let mut now = 0;
        for _ in 0..100 {
            let room = (stack.cc.cwnd() - stack.in_flight()) / MSS;
            let peer = 100 - stack.in_flight() / MSS;
            let sent = stack.send(now, room.min(peer));
            stack.limited_by = if room <= peer { SendLimit::Cwnd } else { SendLimit::FlowControl };
            for n in sent {
                stack.ack(now + 600, n..=n);
            }
            now += 601;
        }
        assert!(stack.cc.cwnd() >= 100 * MSS, "{rule:?}");
        assert!(stack.cc.cwnd() <= 2 * 100 * MSS, "{rule:?} {}", stack.cc.cwnd());
    }
}

#[test]
fn the_example_of_the_rate_limited_increase_draft() {
    // Appendix: 4, 8, 4 and 20 packets of 1000 bytes; windows 10000 -> 14000 -> 20000 -> 20000 -> 40000. RTTs are
    // constant, so HyStart++ sees no rise.
    let config = Config {
        max_datagram_size: 1_000,
        initial_window: Some(10_000),
        increase_rule: IncreaseRule::RateLimited,
        ..Config::default()
    };
    let mut stack = Stack::with(&config);
    let rounds: [(u64, &[u64]); 4] = [
        (4, &[11, 12, 13, 14]),
        (8, &[15, 16, 17, 18, 19, 20, 20, 20]),
        (4, &[20, 20, 20, 20]),
        (20, &[21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40]),
    ];
    for (round, (packets, windows)) in rounds.into_iter().enumerate() {
        let start = round as u64 * 200;
        let sent = stack.send(start, packets);
        for (n, window) in sent.zip(windows) {
            stack.ack(start + 100, n..=n);
            assert_eq!(stack.cc.cwnd(), window * 1_000, "packet {n}");
        }
    }
}

/// The rate-limited rule, a window of 100 packets in flight, then one frame that acks 99 and loses one: 84000 bytes.
fn reduced_under_the_draft() -> Stack {
    let config = Config {
        initial_window: Some(120_000),
        increase_rule: IncreaseRule::RateLimited,
        ..Config::default()
    };
    let mut stack = Stack::with(&config);
    stack.send(0, 100);
    stack.frame(100, Frame { acks: (2..=100).collect(), losses: vec![1], ..Frame::default() });
    stack
}

#[test]
fn after_a_reduction_only_later_flights_count() {
    // draft-ietf-ccwg-ratelimited-increase: maxFS is reset. 100 packets in flight; one frame acks 99 and loses one:
    // window 84000. Then flights of 10 packets: limit 1.5 * 12000 is below the window.
    let mut stack = reduced_under_the_draft();
    assert_eq!(stack.cc.utilisation().max_flight(), 0);
    for round in 1..50 {
        let sent = stack.send(round * 101, 10);
        stack.ack(round * 101 + 100, sent);
    }
    assert_eq!(stack.cc.cwnd(), 84_000);
    assert_eq!(stack.cc.utilisation().max_flight(), 12_000);
}

#[test]
fn time_at_the_limit_of_the_draft_does_not_count() {
    // RFC 9438 section 4.2: no growth because of the application is no time either, whichever rule stops it.
    let mut stack = reduced_under_the_draft();
    for round in 1..500 {
        let sent = stack.send(round * 101, 10);
        stack.ack(round * 101 + 100, sent);
    }
    let t = ms(499 * 101 + 100).since(stack.cc.epoch().unwrap());
    assert!(t <= cc_core::Duration::from_millis(101), "{t:?}");
}
