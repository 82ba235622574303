//! RFC 9002 section 7, rule by rule.

use super::stack::{MSS, Stack, ms};
use crate::{Config, MAX_WINDOW, Reno};
use cc_core::{
    CongestionController, Duration, HyStartPlusPlus, IncreaseRule, MtuChange, OutgoingPacket, PathChange,
    Rate, SendDecision, SendLimit,
};

#[test]
fn slow_start_adds_the_bytes_acked() {
    // Section 7.3.1: 12000 + 12000, then + 24000.
    let mut stack = Stack::new();
    stack.fill(0);
    stack.ack_all(100);
    assert_eq!((stack.cwnd(), stack.phase()), (24_000, "slow_start"));
    stack.fill(100);
    stack.ack_all(200);
    assert_eq!(stack.cwnd(), 48_000);
    assert!(stack.path.controller().snapshot().startup);
}

#[test]
fn a_loss_halves_the_window_once_for_its_flight() {
    // C1, section 7.3.2: 12000 / 2 = 6000; losses of the same flight change nothing, also after the recovery.
    let mut stack = Stack::new();
    stack.fill(0);
    for (at, lost) in [(100, 0), (101, 1), (102, 2)] {
        stack.lose(at, [lost]);
        assert_eq!((stack.cwnd(), stack.phase()), (6_000, "recovery"));
    }
    assert_eq!(stack.path.controller().ssthresh(), Some(6_000));
    stack.ack(103, 4..10);
    stack.send(104, 1, MSS);
    stack.ack(204, [10]);
    assert_eq!(stack.phase(), "congestion_avoidance");
    stack.lose(205, [3]);
    assert_eq!((stack.cwnd(), stack.events()), (6_000, 1));
    // A packet sent after the reduction is a new event: 3000.
    stack.send(210, 4, MSS);
    stack.lose(330, [11]);
    assert_eq!((stack.cwnd(), stack.events()), (3_000, 2));
}

#[test]
fn acks_of_what_was_sent_before_the_reduction_neither_grow_the_window_nor_end_the_recovery() {
    // Appendix B.5.
    let mut stack = Stack::new();
    stack.fill(0);
    stack.lose(100, [0]);
    stack.ack(101, 1..10);
    assert_eq!((stack.cwnd(), stack.phase()), (6_000, "recovery"));
}

#[test]
fn congestion_avoidance_adds_a_datagram_for_each_window_acked() {
    // Section 7.3.3 and A15: 10 datagrams of 12000 bytes acked: 13200; then 11 more: 14400.
    let mut stack = Stack::in_avoidance(12_000);
    for (at, window) in [(300, 13_200), (400, 14_400), (500, 15_600)] {
        stack.fill(at - 100);
        stack.ack_all(at);
        // The byte of the set-up is in the credit: the windows come out a byte early, never late.
        assert_eq!(stack.cwnd(), window);
    }
}

#[test]
fn the_window_does_not_depend_on_how_acks_are_cut() {
    let (mut whole, mut cut) = (Stack::in_avoidance(12_000), Stack::in_avoidance(12_000));
    for round in 2..40 {
        whole.fill(100 * round);
        whole.ack_all(100 * round + 100);
        for number in cut.fill(100 * round) {
            cut.ack(100 * round + 100, [number]);
            cut.path.note_limit(SendLimit::Cwnd);
        }
        assert_eq!(whole.cwnd(), cut.cwnd(), "round {round}");
    }
}

#[test]
fn a_mark_is_answered_like_a_loss_once_for_its_flight() {
    // D1, section 7.1 and appendix B.7: the largest acked packet of each ACK was sent before the first reduction.
    let mut stack = Stack::new();
    stack.fill(0);
    stack.frame(100, 0..3, [], 1);
    stack.frame(105, 3..6, [], 1);
    stack.frame(110, 6..10, [], 1);
    assert_eq!((stack.cwnd(), stack.events()), (6_000, 1));
    stack.send(111, 5, MSS);
    stack.frame(215, 10..13, [], 1);
    // Recovery is left by the same ACK, whose 3600 bytes are less than a window: 3000.
    assert_eq!((stack.cwnd(), stack.events()), (3_000, 2));
}

#[test]
fn a_loss_and_a_mark_in_one_frame_are_one_event() {
    // D2.
    let mut stack = Stack::new();
    stack.fill(0);
    stack.frame(100, 3..10, [0], 1);
    assert_eq!((stack.cwnd(), stack.events()), (6_000, 1));
}

#[test]
fn persistent_congestion_leaves_two_datagrams_and_slow_start_up_to_the_threshold() {
    // Section 7.6.2. RTT 100 ms, var 50 * 3 / 4 = 37.5 ms: (100 + 150 + 25) * 3 = 825 ms; lost are 200 and 1300 ms.
    let mut stack = Stack::new();
    stack.send(0, 2, MSS);
    stack.ack(100, 0..2);
    let window = stack.cwnd();
    stack.send(200, 1, MSS);
    stack.send(1_300, 1, MSS);
    stack.send(1_400, 1, MSS);
    stack.frame(1_500, [4], [2, 3], 0);
    assert_eq!((stack.cwnd(), stack.phase()), (2 * MSS, "slow_start"));
    assert_eq!(stack.path.controller().ssthresh(), Some(window / 2));
    // The window doubles up to the threshold of 6000, and from there on by a datagram for each window.
    stack.fill(1_500);
    stack.ack_all(1_600);
    assert_eq!((stack.cwnd(), stack.phase()), (4 * MSS, "slow_start"));
    stack.fill(1_600);
    stack.ack_all(1_700);
    assert_eq!((stack.cwnd(), stack.phase()), (6_000, "congestion_avoidance"));
}

#[test]
fn what_was_sent_before_persistent_congestion_does_not_move_the_threshold_again() {
    // The deviation from appendix B.8.
    let mut stack = Stack::new();
    stack.send(0, 2, MSS);
    stack.ack(100, 0..2);
    stack.send(200, 1, MSS);
    stack.send(1_300, 3, MSS);
    stack.frame(1_500, [5], [2, 3], 0);
    let threshold = stack.path.controller().ssthresh();
    stack.lose(1_510, [4]);
    assert_eq!((stack.path.controller().ssthresh(), stack.events()), (threshold, 1));
}

#[test]
fn the_window_never_falls_below_two_datagrams() {
    // C17, section 7.2.
    let mut stack = Stack::new();
    for event in 0..40 {
        let sent = stack.send(200 * event, 2, MSS);
        stack.lose(200 * event + 100, [sent.start]);
        stack.ack_all(200 * event + 110);
        assert!(stack.cwnd() >= 2 * MSS);
    }
    assert_eq!(stack.cwnd(), 2 * MSS);
}

#[test]
fn an_unused_window_does_not_grow() {
    // B1, section 7.8: 1000 times one packet, in slow start and in congestion avoidance.
    let mut slow = Stack::new();
    let mut avoiding = Stack::in_avoidance(12_000);
    for stack in [&mut slow, &mut avoiding] {
        for round in 2..1_002 {
            stack.send(100 * round, 1, MSS);
            stack.path.on_app_limited(ms(100 * round));
            stack.ack_all(100 * round + 100);
        }
        assert_eq!(stack.cwnd(), 12_000);
    }
}

#[test]
fn a_paced_sender_with_data_grows_although_its_flight_stays_below_the_window() {
    // B2, section 7.8: the pacer stops it, two datagrams below the window of 12000. Ten round trips give ten datagrams but
    // for the two that are missing in each window: 9 windows of at least 10 / 12 are more than 7 datagrams.
    let mut stack = Stack::in_avoidance(12_000);
    for round in 2..12 {
        let count = stack.cwnd() / MSS - 2;
        stack.send(100 * round, count, MSS);
        stack.path.note_limit(SendLimit::Pacer);
        stack.ack_all(100 * round + 100);
    }
    assert!((12_000 + 7 * MSS..=12_000 + 10 * MSS).contains(&stack.cwnd()), "{}", stack.cwnd());
}

#[test]
fn the_rate_limited_rule_lets_the_window_grow_up_to_what_the_flight_can_yield() {
    // draft-ietf-ccwg-ratelimited-increase: maxFS starts at the initial window of 12000; in slow start 2 * maxFS.
    let mut stack = Stack::with(&Config { increase_rule: IncreaseRule::RateLimited, ..Config::default() });
    for round in 0..100 {
        stack.send(100 * round, 1, MSS);
        stack.path.on_app_limited(ms(100 * round));
        stack.ack_all(100 * round + 100);
    }
    assert_eq!(stack.cwnd(), 24_000);
}

#[test]
fn pacing_is_at_one_and_a_quarter_windows_per_smoothed_rtt() {
    // Section 7.7: 24000 * 1.25 / 0.1 s = 300000 B/s. Unpaced before an RTT is known.
    let mut stack = Stack::new();
    assert_eq!(stack.path.controller().pacing_rate(), None);
    stack.fill(0);
    stack.ack_all(100);
    assert_eq!(stack.path.controller().pacing_rate(), Some(Rate::from_bytes_per_sec(300_000)));
    // A quarter of the window is 6000, within the initial window.
    assert_eq!(stack.path.controller().send_quantum(), 6_000);
}

#[test]
fn one_packet_may_be_sent_beyond_the_window_on_entering_recovery() {
    // Section 7.3.2: nine datagrams are in flight, the window is 6000. The packet belongs to the period.
    let mut stack = Stack::new();
    stack.fill(0);
    stack.lose(100, [0]);
    assert_eq!(stack.path.poll_send(ms(100), MSS), SendDecision::Now);
    let rescue = stack.send(100, 1, MSS);
    assert_eq!(stack.path.poll_send(ms(100), MSS), SendDecision::Blocked(SendLimit::Cwnd));
    stack.lose(200, rescue);
    assert_eq!((stack.cwnd(), stack.events()), (6_000, 1));
}

#[test]
fn a_handshake_that_changes_the_datagram_size_changes_the_initial_window() {
    // B12, section 7.2: 10 * 1450 = 14500; 9000: 18000, and down to 1450: 14500.
    let mut stack = Stack::new();
    stack.path.set_max_datagram_size(ms(10), 1_450, MtuChange::Handshake);
    assert_eq!(stack.cwnd(), 14_500);
    stack.path.set_max_datagram_size(ms(10), 9_000, MtuChange::Handshake);
    assert_eq!(stack.cwnd(), 18_000);
    stack.path.set_max_datagram_size(ms(10), 1_450, MtuChange::Handshake);
    assert_eq!(stack.cwnd(), 14_500);
    // Later in the connection only the floor and the increment follow.
    stack.path.set_max_datagram_size(ms(20), 1_200, MtuChange::BlackHole);
    assert_eq!(stack.cwnd(), 14_500);
    stack.path.set_max_datagram_size(ms(20), 9_000, MtuChange::Discovered);
    assert_eq!(stack.cwnd(), 18_000);
}

#[test]
fn a_new_path_starts_again_and_does_not_hear_of_the_old_one() {
    // RFC 9000 section 9.4, C10.
    let mut stack = Stack::in_avoidance(24_000);
    stack.fill(200);
    stack.path.path_changed(ms(250), PathChange::New);
    // The initial window of the set-up is 48000.
    assert_eq!((stack.cwnd(), stack.phase()), (48_000, "slow_start"));
    let mut reno = *stack.path.controller();
    let old = cc_core::LostPacket { number: Some(30), sent_at: ms(200), bytes: MSS, ..Default::default() };
    let state = stack.path.state(ms(300));
    let loss = cc_core::LossEvent { packets: &[old], last: true, persistent_congestion: true, cause: None };
    reno.on_loss(&state, &loss);
    assert_eq!(reno.cwnd(), 48_000);
    assert_eq!(reno.pacing_rate(), None);
}

#[test]
fn a_rebinding_keeps_the_state() {
    let mut stack = Stack::in_avoidance(12_000);
    stack.path.path_changed(ms(250), PathChange::Rebinding);
    assert_eq!((stack.cwnd(), stack.phase()), (12_000, "congestion_avoidance"));
}

#[test]
fn a_late_ack_restores_nothing_and_grows_nothing() {
    // RFC 9002 has no undo.
    let mut stack = Stack::new();
    stack.fill(0);
    stack.lose(100, [0]);
    stack.ack(120, [0]);
    assert_eq!((stack.cwnd(), stack.phase()), (6_000, "recovery"));
}

#[test]
fn hystart_ends_the_initial_slow_start_without_a_loss() {
    // RFC 9406: the RTT rises by 12.5 ms and more from round to round; the threshold becomes the window.
    let reno = Reno::with_slow_start(&Config::default(), HyStartPlusPlus::new(true));
    let mut stack = Stack::around(reno, MSS);
    let mut now = 0;
    for round in 0..12 {
        let sent = stack.fill(now);
        now += 100 + 20 * round;
        for number in sent {
            stack.ack(now, [number]);
            stack.path.note_limit(SendLimit::Cwnd);
        }
        if stack.phase() == "congestion_avoidance" {
            break;
        }
    }
    assert_eq!((stack.phase(), stack.events()), ("congestion_avoidance", 0));
    assert_eq!(stack.path.controller().ssthresh(), Some(stack.cwnd()));
}

#[test]
fn the_window_stops_at_the_largest_in_every_phase() {
    // A6.
    let mut stack = Stack::with(&Config { max_window: 30_000, ..Config::default() });
    for round in 0..5 {
        stack.fill(100 * round);
        stack.ack_all(100 * round + 100);
    }
    assert_eq!(stack.cwnd(), 30_000);
    assert_eq!(Reno::new(&Config { initial_window: Some(u64::MAX), ..Config::default() }).cwnd(), MAX_WINDOW);
}

#[test]
fn an_ack_only_packet_takes_nothing_and_a_discarded_one_is_no_signal() {
    // C9, RFC 9000 section 14.4.
    let mut stack = Stack::new();
    let ack_only = OutgoingPacket { bytes: 40, in_flight: false, ..OutgoingPacket::default() };
    stack.path.on_packet_sent(ms(0), &ack_only).unwrap();
    let probe = stack.send(0, 1, 1_450).start;
    stack.path.discard(ms(100), probe, cc_core::DiscardReason::MtuProbeLost);
    assert_eq!((stack.cwnd(), stack.events()), (12_000, 0));
    assert_eq!(stack.path.rtt().smoothed(), Duration::from_millis(333));
}
