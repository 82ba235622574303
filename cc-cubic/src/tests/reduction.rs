//! Reductions and recovery periods (RFC 9438 sections 4.6 to 4.8, RFC 9002 sections 7.3.2 and 7.6).

use super::stack::{CANONICAL, Frame, MSS, Numbers, Part, Stack, ms};
use crate::{Config, Cubic};
use cc_core::{
    CongestionController, Duration, EcnEvent, LossEvent, LostPacket, PathChange, PathState, SpuriousLoss,
};
use std::vec;

fn losing(numbers: impl IntoIterator<Item = u64>) -> Frame {
    Frame { losses: numbers.into_iter().collect(), ..Frame::default() }
}

#[test]
fn a_loss_reduces_the_window_to_seven_tenths() {
    // RFC 9438 section 4.6: ssthresh = 0.7 * 12000 = 8400; cwnd_prior = W_max = 12000.
    let mut stack = Stack::new();
    stack.send(0, 10);
    stack.frame(100, losing([1]));
    assert_eq!(stack.cc.cwnd(), 8_400);
    assert_eq!(stack.cc.ssthresh(), Some(8_400));
    assert_eq!(stack.cc.cwnd_prior(), 12_000);
    assert_eq!(stack.cc.w_max(), 12_000);
    assert!(stack.cc.in_recovery());
    assert_eq!(stack.cc.snapshot().phase, "recovery");
}

#[test]
fn fast_convergence_lowers_w_max_and_not_the_window() {
    // C19, RFC 9438 sections 4.6 and 4.7, in two losses: W_max 14400, cwnd 14400 * 0.7 = 10080; then
    // W_max = 10080 * (1 + 0.7) / 2 = 8568 and cwnd = ssthresh = 10080 * 0.7 = 7056.
    let mut stack = Stack::with(&Config { initial_window: Some(14_400), ..Config::default() });
    stack.send(0, 12);
    stack.frame(100, losing([1]));
    assert_eq!((stack.cc.w_max(), stack.cc.cwnd()), (14_400, 10_080));
    stack.send(101, 2);
    stack.frame(201, losing([14]));
    assert_eq!((stack.cc.w_max(), stack.cc.cwnd()), (8_568, 7_056));
    assert_eq!(stack.cc.ssthresh(), Some(7_056));
}

#[test]
fn without_fast_convergence_w_max_is_the_window() {
    let config = Config { initial_window: Some(14_400), fast_convergence: false, ..Config::default() };
    let mut stack = Stack::with(&config);
    stack.send(0, 12);
    stack.frame(100, losing([1]));
    stack.send(101, 2);
    stack.frame(201, losing([14]));
    assert_eq!((stack.cc.w_max(), stack.cc.cwnd()), (10_080, 7_056));
}

#[test]
fn k_follows_from_the_lowered_w_max() {
    // RFC 9438 section 4.2: W_max 8568, cwnd 7056: 1512 B = 1.26 segments; cube root of 1.26 / 0.4 = 3.15 is
    // 1.46593993 s (1.46593993^3 = 3.1503).
    let mut stack = Stack::with(&Config { initial_window: Some(14_400), ..Config::default() });
    stack.send(0, 12);
    stack.frame(100, losing([1]));
    stack.send(101, 2);
    stack.frame(201, losing([14]));
    stack.send(202, 1);
    stack.ack(302, 15..=15);
    let k = stack.cc.k().unwrap().as_nanos() as f64 * 1e-9;
    approx::assert_relative_eq!(k * k * k, 3.15, max_relative = 1e-6);
}

#[test]
fn losses_of_one_flight_reduce_once() {
    // C1: packet 4 was sent before the period; packet 12 after it.
    for numbers in [Numbers::Known, Numbers::WithoutNext, Numbers::Unknown] {
        let mut stack = Stack::new();
        stack.numbers = numbers;
        stack.send(0, 10);
        stack.frame(100, losing([1]));
        stack.frame(101, losing([2]));
        stack.frame(102, losing([3]));
        assert_eq!(stack.cc.cwnd(), 8_400);
        stack.send(103, 1);
        stack.ack(203, 11..=11);
        let after_recovery = stack.cc.cwnd();
        stack.frame(204, losing([4]));
        assert_eq!(stack.cc.cwnd(), after_recovery);
        assert_eq!(stack.cc.snapshot().congestion_events, 1);
        stack.send(210, 4);
        stack.frame(330, losing([12]));
        assert_eq!(stack.cc.snapshot().congestion_events, 2);
        assert_eq!(stack.cc.cwnd(), after_recovery * 7 / 10);
    }
}

#[test]
fn a_loss_of_packets_sent_at_the_time_of_construction_counts() {
    // C3: the period must not start at construction.
    let mut stack = Stack::new();
    stack.numbers = Numbers::Unknown;
    stack.send(0, 10);
    stack.frame(100, Frame { acks: (4..=10).collect(), losses: vec![1], ..Frame::default() });
    assert_eq!(stack.cc.snapshot().congestion_events, 1);
}

#[test]
fn one_frame_gives_one_reduction_whatever_the_order_of_calls() {
    // C5 and D2: the frame leaves recovery by packet 23 and declares lost 12, sent before the period.
    let orders = [
        [Part::Ecn, Part::Rtt, Part::Losses, Part::Acks],
        [Part::Acks, Part::Rtt, Part::Losses, Part::Ecn],
        [Part::Losses, Part::Acks, Part::Ecn, Part::Rtt],
    ];
    for numbers in [Numbers::Known, Numbers::WithoutNext, Numbers::Unknown] {
        for order in orders {
            let mut stack = Stack::with(&Config { initial_window: Some(24_000), ..Config::default() });
            stack.numbers = numbers;
            stack.send(0, 10);
            stack.send(90, 9);
            stack.frame(100, losing([1]));
            assert_eq!(stack.cc.cwnd(), 16_800);
            stack.send(110, 4);
            stack.frame(210, Frame { acks: vec![23], losses: vec![12], order, ..Frame::default() });
            assert!(!stack.cc.in_recovery(), "{order:?}");
            assert_eq!(stack.cc.snapshot().congestion_events, 1, "{order:?}");
            // At most one packet's worth of growth at half speed.
            assert!((16_800..=16_800 + MSS / 2).contains(&stack.cc.cwnd()), "{order:?}");
        }
    }
}

#[test]
fn a_late_loss_after_recovery_does_not_start_another() {
    // C18.
    let mut stack = Stack::new();
    stack.send(0, 10);
    stack.frame(100, losing([1]));
    stack.send(101, 1);
    stack.ack(201, 11..=11);
    assert!(!stack.cc.in_recovery());
    stack.frame(202, losing([2]));
    assert!(!stack.cc.in_recovery());
    assert_eq!(stack.cc.snapshot().congestion_events, 1);
}

#[test]
fn acks_of_packets_sent_before_the_reduction_neither_grow_nor_end_recovery() {
    // RFC 9002 appendix B.5.
    let mut stack = Stack::new();
    stack.send(0, 10);
    stack.frame(100, losing([1]));
    stack.ack(101, 2..=10);
    assert_eq!(stack.cc.cwnd(), 8_400);
    assert!(stack.cc.in_recovery());
}

#[test]
fn an_ack_of_nothing_changes_nothing() {
    // C15.
    let mut stack = Stack::new();
    stack.send(0, 10);
    stack.frame(100, losing([1]));
    let before = std::format!("{:?}", stack.cc);
    let path = stack.path(ms(150));
    let packets = [cc_core::AckedPacket::default()];
    for packets in [&[][..], &packets[..]] {
        stack.cc.on_ack(
            &path,
            &cc_core::AckEvent {
                packets,
                last: true,
                rate_sample: None,
                limited_by: cc_core::SendLimit::Cwnd,
                max_bytes_in_flight: 12_000,
                app_limited_at: None,
                newest_data_sent_at: None,
            },
        );
    }
    assert_eq!(std::format!("{:?}", stack.cc), before);
}

#[test]
fn one_packet_may_be_sent_beyond_the_window_after_a_reduction() {
    // RFC 9002 section 7.3.2; C16: the window alone would forbid it.
    let mut stack = Stack::new();
    assert!(!stack.cc.may_send_beyond_cwnd());
    stack.fill(0);
    stack.frame(100, losing([1]));
    assert!(stack.in_flight() > stack.cc.cwnd());
    assert!(stack.cc.may_send_beyond_cwnd());
    stack.send(100, 1);
    assert!(!stack.cc.may_send_beyond_cwnd());
    // The next losses of the same flight do not allow another one.
    stack.frame(101, losing([2]));
    assert!(!stack.cc.may_send_beyond_cwnd());
}

#[test]
fn an_ack_after_the_reduction_ends_the_permission_to_send_beyond_the_window() {
    // Where sends are not reported it would stay for a round trip. The acks of the frame that found the loss do not.
    for cause in ["loss", "mark", "persistent"] {
        for reports_sends in [true, false] {
            let mut stack = Stack::new();
            stack.reports_sends = reports_sends;
            stack.send(0, 10);
            let acks = vec![4, 5];
            let frame = match cause {
                "loss" => Frame { acks, losses: vec![1], ..Frame::default() },
                "mark" => Frame { acks, ce: 1, ..Frame::default() },
                _ => Frame { acks, losses: vec![1], persistent: true, ..Frame::default() },
            };
            stack.frame(100, frame);
            assert!(stack.cc.may_send_beyond_cwnd(), "{cause}");
            stack.ack(101, 6..=6);
            assert!(!stack.cc.may_send_beyond_cwnd(), "{cause}");
        }
    }
}

#[test]
fn the_packet_sent_beyond_the_window_stays_with_its_period_when_the_next_one_begins() {
    // 12000 * 0.7 = 8400 at 100 ms; packet 11 is sent beyond it. Packet 12 brings a mark in the frame that shows 11 lost:
    // 8400 * 0.85 = 7140, whether the mark is told first or the loss, and not 8400 * 0.7.
    for numbers in [Numbers::Known, Numbers::Unknown] {
        for order in [CANONICAL, [Part::Losses, Part::Rtt, Part::Ecn, Part::Acks]] {
            let mut stack = Stack::new();
            stack.numbers = numbers;
            stack.send(0, 10);
            stack.frame(100, losing([1]));
            stack.send(101, 1);
            stack.send(102, 1);
            stack.frame(200, Frame { acks: vec![12], losses: vec![11], ce: 1, order, ..Frame::default() });
            assert_eq!(stack.cc.cwnd(), 7_140, "{numbers:?} {order:?}");
            assert_eq!(stack.cc.snapshot().congestion_events, 2, "{numbers:?} {order:?}");
        }
    }
}

#[test]
fn a_loss_of_a_period_of_marks_beside_a_mark_of_the_next_counts_in_both_orders() {
    // A mark at 84000: 84000 * 0.85 = 71400. A loss of that period makes it 84000 * 0.7 = 58800, and the mark of the
    // next one 58800 * 0.85 = 49980, whichever is told first.
    for order in [CANONICAL, [Part::Losses, Part::Rtt, Part::Ecn, Part::Acks]] {
        let (mut stack, first, newest) = marked_once_and_sending();
        let frame = Frame { acks: vec![newest], losses: vec![first + 1], ce: 1, order, ..Frame::default() };
        stack.frame(1_202, frame);
        assert_eq!(stack.cc.cwnd(), 49_980, "{order:?}");
        assert_eq!(stack.cc.snapshot().congestion_events, 3, "{order:?}");
    }
}

#[test]
fn a_loss_of_a_period_of_marks_in_a_frame_after_the_next_mark_changes_nothing() {
    // 71400 * 0.85 = 60690. The loss is of a packet that two reductions cover.
    let (mut stack, first, newest) = marked_once_and_sending();
    stack.frame(1_202, Frame { acks: vec![newest], ce: 1, ..Frame::default() });
    assert_eq!(stack.cc.cwnd(), 60_690);
    stack.frame(1_203, losing([first + 1]));
    assert_eq!(stack.cc.cwnd(), 60_690);
}

#[test]
fn a_loss_from_before_a_period_of_marks_beside_a_mark_of_the_next_changes_nothing_in_both_orders() {
    // The packet was sent before the loss that made the window 84000: 84000 * 0.85 * 0.85 = 60690.
    for order in [CANONICAL, [Part::Losses, Part::Rtt, Part::Ecn, Part::Acks]] {
        let (mut stack, first, newest) = marked_once_and_sending();
        // Before the flight that was marked came the byte that ended the recovery, and before that the flight that lost.
        let old = first - 2;
        let frame = Frame { acks: vec![newest], losses: vec![old], ce: 1, order, ..Frame::default() };
        stack.frame(1_202, frame);
        assert_eq!(stack.cc.cwnd(), 60_690, "{order:?}");
    }
}

/// A window of 84000 bytes with one mark (71400), and two bytes sent after it; the second packet of the marked flight is
/// still in flight. Returns the first packet of that flight, and the newest packet.
fn marked_once_and_sending() -> (Stack, u64, u64) {
    let mut stack = Stack::resting(84_000, &Config::default());
    let sent = stack.fill(1_000);
    let (first, last) = (*sent.start(), *sent.end());
    stack.frame(1_100, Frame { acks: vec![first], ce: 1, ..Frame::default() });
    assert_eq!(stack.cc.cwnd(), 71_400);
    stack.ack(1_101, first + 2..=last);
    let next = stack.send_sized(ms(1_102), 2, 1);
    (stack, first, *next.end())
}

#[test]
fn the_loss_of_the_packet_sent_beyond_the_window_is_no_new_event() {
    // RFC 9002 section 7.3.2 lets one packet go "prior to" the reduction, so that its loss belongs to the same event:
    // 12000 * 0.7 = 8400 and no more. The loss of the packet after it is a new one: 8400 * 0.7 = 5880.
    for numbers in [Numbers::Known, Numbers::WithoutNext, Numbers::Unknown] {
        let mut stack = Stack::new();
        stack.numbers = numbers;
        stack.send(0, 10);
        stack.frame(100, losing([1]));
        assert!(stack.in_flight() > stack.cc.cwnd());
        stack.send(101, 1);
        stack.send(102, 1);
        stack.frame(201, losing([11]));
        assert_eq!(stack.cc.cwnd(), 8_400, "{numbers:?}");
        stack.frame(202, losing([12]));
        assert_eq!(stack.cc.cwnd(), 5_880, "{numbers:?}");
    }
}

#[test]
fn numbers_without_the_next_number_reduce_once_for_one_flight() {
    // C1 for a stack that gives packets their numbers and leaves `next_number` at 0: send times decide.
    let mut stack = Stack::new();
    stack.numbers = Numbers::WithoutNext;
    stack.send(0, 10);
    for n in 1..=5 {
        stack.frame(100 + n, losing([n]));
    }
    assert_eq!((stack.cc.cwnd(), stack.cc.snapshot().congestion_events), (8_400, 1));
    stack.frame(107, Frame { acks: vec![6], ce: 1, ..Frame::default() });
    assert_eq!((stack.cc.cwnd(), stack.cc.snapshot().congestion_events), (8_400, 1));
    // Acks of the flight do not end the recovery, one of a later packet does.
    stack.ack(110, 7..=10);
    assert!(stack.cc.in_recovery());
    let later = stack.send(120, 1);
    stack.ack(220, later);
    assert!(!stack.cc.in_recovery());
}

#[test]
fn a_packet_within_the_reduced_window_starts_a_new_event_when_lost() {
    // Only 1200 bytes were in flight: the packet sent after the reduction fits into the window and is an ordinary one.
    let mut stack = Stack::new();
    stack.send(0, 2);
    stack.frame(100, losing([1]));
    stack.send(101, 1);
    stack.frame(201, losing([3]));
    assert_eq!(stack.cc.cwnd(), 5_880);
}

#[test]
fn the_window_never_falls_below_two_datagrams() {
    // C17: 40 separate loss epochs; A4: W_max then equals the window, and K is 0.
    let mut stack = Stack::new();
    let mut now = 0;
    for _ in 0..40 {
        let sent = stack.send(now, 1);
        now += 100;
        stack.frame(now, losing(sent));
        assert!(stack.cc.cwnd() >= 2 * MSS);
        now += 1;
    }
    assert_eq!(stack.cc.cwnd(), 2 * MSS);
    assert_eq!(stack.cc.snapshot().congestion_events, 40);
    let sent = stack.send(now, 1);
    stack.ack(now + 100, sent);
    assert_eq!(stack.cc.k(), Some(Duration::ZERO));
    // The curve starts on its plateau, not at 0.85 of the window.
    assert_eq!(stack.cc.w_max(), 2 * MSS);
    assert!(stack.cc.cwnd() >= 2 * MSS);
}

#[test]
fn a_mark_in_the_frame_that_ends_slow_start_counts_as_in_slow_start_in_whatever_order() {
    // RFC 8511 is about congestion avoidance. After persistent congestion: 2400, threshold 8400; 4800 a round later.
    for (order, least, most) in [
        // 4800 * 0.7; the acks are for packets sent before.
        (CANONICAL, 3_360, 3_360),
        // 8400 of slow start, and of the other 1200 bytes at most 1200 * 1200 / 8400 = 171: 8400 * 0.7, 8571 * 0.7.
        ([Part::Acks, Part::Losses, Part::Rtt, Part::Ecn], 5_880, 5_999),
    ] {
        let mut stack = Stack::new();
        stack.send(0, 10);
        stack.frame(2_000, Frame { losses: (1..=10).collect(), persistent: true, ..Frame::default() });
        let sent = stack.send(2_001, 2);
        stack.ack(2_101, sent);
        let sent = stack.send(2_102, 4);
        stack.frame(2_202, Frame { acks: sent.collect(), ce: 1, order, ..Frame::default() });
        assert!((least..=most).contains(&stack.cc.cwnd()), "{order:?}: {}", stack.cc.cwnd());
        assert_eq!(stack.cc.ssthresh(), Some(stack.cc.cwnd()));
    }
}

#[test]
fn a_mark_after_the_frame_that_ended_slow_start_counts_as_in_congestion_avoidance() {
    // The same, and the mark a round trip later: 8400 to 8571, then at most one datagram more; times 0.85.
    let mut stack = Stack::new();
    stack.send(0, 10);
    stack.frame(2_000, Frame { losses: (1..=10).collect(), persistent: true, ..Frame::default() });
    for (at, count) in [(2_001, 2), (2_102, 4)] {
        let sent = stack.send(at, count);
        stack.ack(at + 100, sent);
    }
    let sent = stack.send(2_203, 7);
    stack.frame(2_303, Frame { acks: sent.collect(), ce: 1, ..Frame::default() });
    assert!((7_140..=7_285).contains(&stack.cc.cwnd()), "{}", stack.cc.cwnd());
}

#[test]
fn persistent_congestion_goes_back_to_two_datagrams_and_slow_start() {
    // C7, RFC 9002 section 7.6.2; RFC 9438 section 4.8: ssthresh = 0.7 * 12000 = 8400.
    let mut stack = Stack::new();
    stack.send(0, 10);
    stack.frame(2_000, Frame { losses: (1..=10).collect(), persistent: true, ..Frame::default() });
    assert_eq!(stack.cc.cwnd(), 2_400);
    assert_eq!(stack.cc.ssthresh(), Some(8_400));
    assert_eq!(stack.cc.snapshot().phase, "slow_start");
    // Slow start up to the threshold: 2400 + 2400, then + 4800 would pass 8400.
    let sent = stack.send(2_001, 2);
    stack.ack(2_101, sent);
    assert_eq!(stack.cc.cwnd(), 4_800);
    let sent = stack.send(2_102, 4);
    stack.ack(2_202, sent);
    // 3600 of the 4800 bytes reach the threshold; the other 1200 belong to congestion avoidance.
    assert!((8_400..8_400 + 600).contains(&stack.cc.cwnd()), "{}", stack.cc.cwnd());
    // RFC 9438 section 4.8: K = 0, W_max and W_est the window at the beginning of the stage.
    assert_eq!(stack.cc.snapshot().phase, "congestion_avoidance");
    assert_eq!(stack.cc.k(), Some(Duration::ZERO));
    assert_eq!(stack.cc.w_max(), 8_400);
}

#[test]
fn persistent_congestion_found_after_the_first_losses_keeps_their_threshold() {
    // C14: the threshold is set once for one event.
    let mut stack = Stack::new();
    stack.send(0, 10);
    stack.frame(100, losing([1]));
    assert_eq!(stack.cc.ssthresh(), Some(8_400));
    for at in [1_000, 2_000, 4_000, 8_000] {
        let losses = vec![2 + at / 2_000];
        stack.frame(at, Frame { losses, persistent: true, ..Frame::default() });
        assert_eq!(stack.cc.cwnd(), 2_400);
        assert_eq!(stack.cc.ssthresh(), Some(8_400));
    }
    assert_eq!(stack.cc.snapshot().congestion_events, 1);
}

#[test]
fn persistent_congestion_among_packets_of_an_earlier_reduction_counts() {
    // RFC 9002 section 7.6.2: all lost packets were sent before the last but one reduction, so they reduce nothing more,
    // but the window becomes the minimum. Once: the threshold is still that of the last reduction,
    // 12000 -> 8400 -> 5880, and what comes later of the same losses changes nothing.
    let mut stack = Stack::new();
    stack.send(0, 10);
    stack.frame(100, losing([1]));
    stack.send(101, 2);
    stack.ack(201, 11..=11);
    assert!(!stack.cc.in_recovery());
    let before = stack.cc.cwnd();
    stack.frame(202, losing([12]));
    let threshold = before * 7 / 10;
    assert_eq!(stack.cc.ssthresh(), Some(threshold));
    stack.frame(3_000, Frame { losses: vec![2, 9], persistent: true, ..Frame::default() });
    assert_eq!((stack.cc.cwnd(), stack.cc.ssthresh()), (2_400, Some(threshold)));
    assert_eq!(stack.cc.snapshot().phase, "slow_start");
    let sent = stack.send(3_001, 2);
    stack.ack(3_101, sent);
    assert_eq!(stack.cc.cwnd(), 4_800);
    stack.frame(3_102, Frame { losses: vec![3], persistent: true, ..Frame::default() });
    assert_eq!(stack.cc.cwnd(), 4_800);
    assert_eq!(stack.cc.snapshot().congestion_events, 2);
}

#[test]
fn nothing_of_another_path_touches_the_window_of_this_one() {
    // C10: losses with and without persistent congestion, marks, late acks; before any reduction on the new path, after
    // one, after two, and after one that was undone.
    for reductions in 0..=3 {
        for numbers in [Numbers::Known, Numbers::WithoutNext, Numbers::Unknown] {
            let mut stack = Stack::new();
            stack.numbers = numbers;
            stack.send(0, 10);
            stack.cc.on_path_change(&stack.path(ms(50)), PathChange::New);
            for round in 0..reductions.min(2) {
                let at = 60 + 200 * round;
                let sent = stack.send(at, 2);
                stack.frame(at + 100, losing([*sent.start()]));
                if reductions == 3 {
                    stack.ack(at + 101, *sent.start()..=*sent.start());
                }
            }
            let (window, threshold) = (stack.cc.cwnd(), stack.cc.ssthresh());
            stack.frame(501, losing([1]));
            stack.frame(502, Frame { losses: vec![2, 6], persistent: true, ..Frame::default() });
            stack.frame(503, Frame { acks: vec![7], ce: 1, ..Frame::default() });
            stack.frame(504, Frame { acks: vec![1], losses: vec![8], persistent: true, ..Frame::default() });
            let case = (reductions, numbers);
            assert_eq!((stack.cc.cwnd(), stack.cc.ssthresh()), (window, threshold), "{case:?}");
        }
    }
}

#[test]
fn lost_packets_alone_are_no_persistent_congestion() {
    // C8: the stack judges (send times, RTT sample, acks in between); the controller must not guess from a long gap.
    let mut stack = Stack::new();
    stack.send(0, 1);
    stack.send(60_000, 1);
    stack.frame(120_000, losing([1, 2]));
    assert_eq!(stack.cc.cwnd(), 8_400);
    assert!(stack.cc.in_recovery());
}

#[test]
fn a_probe_timeout_alone_is_no_event() {
    // C14, RFC 9002 section 7.5: probes are sent, nothing is declared lost.
    let mut stack = Stack::new();
    stack.fill(0);
    for at in [1_000, 2_000, 4_000, 8_000] {
        stack.send(at, 1);
        assert_eq!(stack.cc.cwnd(), 12_000);
    }
    assert_eq!(stack.cc.ssthresh(), None);
}

#[test]
fn losses_of_nothing_in_flight_and_of_mtu_probes_are_no_congestion() {
    // C9, RFC 9000 section 14.4, RFC 9002 section 7.4.
    let mut stack = Stack::new();
    stack.send(0, 10);
    let path = stack.path(ms(100));
    let packet = LostPacket { number: Some(11), bytes: 0, ..LostPacket::default() };
    let loss = LossEvent { packets: &[packet], last: true, persistent_congestion: true, cause: None };
    stack.cc.on_loss(&path, &loss);
    stack.cc.on_discarded(&path, 1_450, cc_core::DiscardReason::MtuProbeLost);
    assert_eq!(stack.cc.cwnd(), 12_000);
    assert_eq!(stack.cc.ssthresh(), None);
}

#[test]
fn a_ce_mark_in_congestion_avoidance_reduces_to_85_hundredths() {
    // RFC 8511 section 3: 0.85 * 84000 = 71400. Without ABE 0.7 * 84000 = 58800. W_max was 120000, so fast convergence
    // takes (1 + 0.85) / 2 * 84000 = 77700 or (1 + 0.7) / 2 * 84000 = 71400.
    for (abe, window, w_max) in [(true, 71_400, 77_700), (false, 58_800, 71_400)] {
        let mut stack = Stack::resting(84_000, &Config { abe, ..Config::default() });
        let first = *stack.fill(1_010).start();
        stack.frame(1_110, Frame { acks: vec![first], ce: 1, ..Frame::default() });
        assert_eq!((stack.cc.cwnd(), stack.cc.ssthresh()), (window, Some(window)));
        assert_eq!((stack.cc.w_max(), stack.cc.cwnd_prior()), (w_max, 84_000));
    }
}

#[test]
fn a_ce_mark_in_slow_start_reduces_to_seven_tenths() {
    // RFC 8511 changes congestion avoidance only. Initial slow start: 0.7 * 12000.
    let mut stack = Stack::new();
    stack.send(0, 10);
    stack.frame(100, Frame { acks: vec![1], ce: 1, ..Frame::default() });
    assert_eq!((stack.cc.cwnd(), stack.cc.w_max()), (8_400, 12_000));
    // Slow start after persistent congestion, up to the threshold of 8400: 2400 + 2400 = 4800, then 0.7 * 4800.
    let mut stack = Stack::new();
    stack.send(0, 10);
    stack.frame(2_000, Frame { losses: (1..=10).collect(), persistent: true, ..Frame::default() });
    let sent = stack.send(2_001, 2);
    stack.ack(2_101, sent);
    assert_eq!((stack.cc.cwnd(), stack.cc.snapshot().phase), (4_800, "slow_start"));
    let sent = stack.send(2_102, 4);
    stack.frame(2_202, Frame { acks: vec![*sent.start()], ce: 1, ..Frame::default() });
    assert_eq!(stack.cc.cwnd(), 3_360);
}

#[test]
fn ce_marks_of_one_flight_reduce_once() {
    // D1: the reference is the largest acked packet.
    for numbers in [Numbers::Known, Numbers::WithoutNext, Numbers::Unknown] {
        let mut stack = Stack::new();
        stack.numbers = numbers;
        stack.send(0, 10);
        stack.frame(100, Frame { acks: (1..=3).collect(), ce: 1, ..Frame::default() });
        stack.frame(105, Frame { acks: (4..=6).collect(), ce: 2, ..Frame::default() });
        stack.frame(110, Frame { acks: (7..=10).collect(), ce: 3, ..Frame::default() });
        assert_eq!(stack.cc.cwnd(), 8_400);
        stack.send(111, 6);
        stack.frame(215, Frame { acks: (11..=13).collect(), ce: 1, ..Frame::default() });
        assert_eq!(stack.cc.snapshot().congestion_events, 2);
    }
}

#[test]
fn more_marks_than_packets_acked_are_clamped() {
    // D4: 50 marks with none newly acked are no mark; 50 with 3 are one event.
    let mut stack = Stack::new();
    stack.send(0, 10);
    let path = stack.path(ms(100));
    let ecn = EcnEvent { ce: Some(50), newly_acked: Some(0), largest_acked: Some(3), ..EcnEvent::default() };
    stack.cc.on_ecn(&path, &ecn);
    assert_eq!(stack.cc.cwnd(), 12_000);
    stack.cc.on_ecn(&path, &EcnEvent { newly_acked: Some(3), ..ecn });
    assert_eq!(stack.cc.cwnd(), 8_400);
}

#[test]
fn a_mark_and_a_loss_of_one_frame_give_the_reduction_of_the_loss() {
    // D2: 0.7 * 84000, whichever comes first; W_max = 0.85 * 84000 as for the loss alone.
    let orders =
        [[Part::Ecn, Part::Rtt, Part::Losses, Part::Acks], [Part::Losses, Part::Rtt, Part::Ecn, Part::Acks]];
    for order in orders {
        let mut stack = Stack::resting(84_000, &Config::default());
        let first = *stack.fill(1_010).start();
        stack.frame(
            1_110,
            Frame {
                acks: (first + 3..first + 9).collect(),
                losses: vec![first],
                ce: 1,
                order,
                ..Frame::default()
            },
        );
        assert_eq!(stack.cc.cwnd(), 58_800, "{order:?}");
        assert_eq!(stack.cc.w_max(), 71_400);
        assert_eq!(stack.cc.snapshot().congestion_events, 2);
    }
}

#[test]
fn a_loss_after_the_recovery_that_a_mark_opened_still_deepens_it_once() {
    // 0.85 * 84000 = 71400, then 0.7 * 84000 = 58800.
    let mut stack = Stack::resting(84_000, &Config::default());
    let first = *stack.fill(1_010).start();
    stack.frame(1_110, Frame { acks: vec![first], ce: 1, ..Frame::default() });
    let probe = stack.send_sized(ms(1_111), 1, 1);
    stack.ack(1_211, probe);
    assert!(!stack.cc.in_recovery());
    assert_eq!(stack.cc.cwnd(), 71_400);
    stack.frame(1_212, losing([first + 1]));
    assert_eq!(stack.cc.cwnd(), 58_800);
    assert!(!stack.cc.in_recovery());
    stack.frame(1_213, losing([first + 2]));
    assert_eq!(stack.cc.cwnd(), 58_800);
    assert_eq!(stack.cc.snapshot().congestion_events, 2);
}

#[test]
fn a_loss_older_than_the_marked_flight_does_not_deepen() {
    let mut stack = Stack::new();
    stack.send(0, 10);
    stack.frame(100, losing([1]));
    stack.send(101, 6);
    stack.frame(201, Frame { acks: vec![11], ce: 1, ..Frame::default() });
    let after_mark = stack.cc.cwnd();
    stack.frame(202, losing([2]));
    assert_eq!(stack.cc.cwnd(), after_mark);
}

#[test]
fn two_controllers_share_nothing() {
    // F6: clone, then diverge.
    let mut stack = Stack::new();
    stack.send(0, 10);
    let other = stack.clone();
    stack.frame(100, losing([1]));
    assert_eq!(stack.cc.cwnd(), 8_400);
    assert_eq!(other.cc.cwnd(), 12_000);
}

#[test]
fn events_of_unknown_packets_are_tolerated() {
    // C13 and F11: unknown numbers, the same packet lost twice, then acked twice.
    let mut cubic = Cubic::new(&Config::default());
    let path = PathState { now: ms(100), ..PathState::default() };
    let packet = LostPacket { number: Some(u64::MAX), bytes: u64::MAX, ..LostPacket::default() };
    let loss =
        LossEvent { packets: &[packet, packet], last: true, persistent_congestion: false, cause: None };
    cubic.on_loss(&path, &loss);
    cubic.on_loss(&path, &loss);
    let spurious = SpuriousLoss::Packet { number: Some(7), sent_at: ms(0), bytes: u64::MAX };
    cubic.on_spurious_loss(&path, &spurious);
    cubic.on_spurious_loss(&path, &spurious);
    assert!(cubic.cwnd() >= 2_400);
}
