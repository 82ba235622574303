//! Undo of spurious losses (RFC 9438 section 4.9.2).

use super::stack::{CANONICAL, Frame, Part, Stack, ms};
use crate::Config;
use cc_core::{CongestionController, Duration, MtuChange, SpuriousLoss};
use std::vec;

fn losing(numbers: impl IntoIterator<Item = u64>) -> Frame {
    Frame { losses: numbers.into_iter().collect(), ..Frame::default() }
}

#[test]
fn a_loss_that_was_none_is_undone() {
    let mut stack = Stack::new();
    stack.send(0, 10);
    stack.frame(100, losing([3]));
    assert_eq!(stack.cc.cwnd(), 8_400);
    // Back to 12000, and 1200 for the packet itself, acked in slow start.
    stack.ack(120, 3..=3);
    assert_eq!(stack.cc.cwnd(), 13_200);
    assert_eq!(stack.cc.ssthresh(), None);
    assert_eq!(stack.cc.w_max(), 0);
    assert_eq!(stack.cc.snapshot().phase, "slow_start");
    assert!(!stack.cc.may_send_beyond_cwnd());
}

#[test]
fn all_packets_that_the_period_declared_lost_must_have_arrived() {
    let mut stack = Stack::new();
    stack.send(0, 10);
    stack.frame(100, losing([1, 2]));
    stack.frame(101, losing([3]));
    stack.ack(120, 1..=2);
    assert_eq!(stack.cc.cwnd(), 8_400);
    // 12000 + 1200 for the packet acked now.
    stack.ack(121, 3..=3);
    assert_eq!(stack.cc.cwnd(), 13_200);
}

#[test]
fn really_lost_packets_keep_the_window_reduced() {
    // C11: 30 round trips, in each of which exactly one packet is really lost and the others arrive.
    let mut stack = Stack::with(&Config { initial_window: Some(120_000), ..Config::default() });
    let mut now = 0;
    let mut previous = stack.cc.cwnd();
    for _ in 0..30 {
        let sent = stack.fill(now);
        now += 100;
        stack.frame(now, losing([*sent.start()]));
        let reduced = stack.cc.cwnd();
        assert!(reduced == previous * 7 / 10 || reduced == 2_400);
        stack.ack(now + 1, *sent.start() + 1..=*sent.end());
        assert_eq!(stack.cc.cwnd(), reduced);
        previous = reduced;
        now += 2;
    }
    assert_eq!(previous, 2_400);
}

#[test]
fn a_packet_of_an_earlier_period_does_not_undo_the_present_one() {
    let mut stack = Stack::new();
    stack.send(0, 10);
    stack.frame(100, losing([1]));
    stack.send(101, 2);
    stack.frame(201, losing([12]));
    let twice_reduced = stack.cc.cwnd();
    stack.ack(202, 1..=1);
    assert_eq!(stack.cc.cwnd(), twice_reduced);
    // The packet of the present period does: back to the window after the first reduction. It was sent after that one,
    // so it ends its recovery and adds 9/17 * 1200 / 8400 * 1200 = 90.
    stack.ack(203, 12..=12);
    assert_eq!(stack.cc.cwnd(), 8_490);
}

#[test]
fn after_the_undo_a_real_loss_of_the_same_flight_counts() {
    let mut stack = Stack::new();
    stack.send(0, 10);
    stack.frame(100, losing([1]));
    // 12000 + 1200; then 0.7 * 13200.
    stack.ack(110, 1..=1);
    assert_eq!(stack.cc.cwnd(), 13_200);
    stack.frame(120, losing([2]));
    assert_eq!(stack.cc.cwnd(), 9_240);
}

#[test]
fn the_stage_goes_on_where_it_was() {
    // Undo of cwnd, cwnd_prior, ssthresh, W_max, K, t_epoch and W_est.
    let mut stack = Stack::in_avoidance(84_000, 100, 1_000);
    for round in 1..=5 {
        stack.fill(1_000 + round * 100);
        stack.greedy_round(1_100 + round * 100, 50, 1);
    }
    let before = stack.clone();
    let lost = stack.next() - 5;
    stack.frame(1_650, losing([lost]));
    assert_eq!(stack.cc.cwnd(), before.cc.cwnd() * 7 / 10);
    let spurious = SpuriousLoss::Packet { number: Some(lost), sent_at: ms(1_650), bytes: 1_200 };
    stack.cc.on_spurious_loss(&stack.path(ms(1_660)), &spurious);
    assert_eq!(stack.cc.cwnd(), before.cc.cwnd());
    assert_eq!(stack.cc.cwnd_prior(), before.cc.cwnd_prior());
    assert_eq!(stack.cc.ssthresh(), before.cc.ssthresh());
    assert_eq!(stack.cc.w_max(), before.cc.w_max());
    assert_eq!(stack.cc.k(), before.cc.k());
    assert_eq!(stack.cc.epoch(), before.cc.epoch());
    assert_eq!(stack.cc.w_est(), before.cc.w_est());
}

/// Rounds of full windows from `at_ms` on until the window is larger than `cwnd`; the time then.
fn grow_above(stack: &mut Stack, cwnd: u64, at_ms: u64) -> u64 {
    let mut now = at_ms;
    stack.fill(now);
    while stack.cc.cwnd() <= cwnd {
        now += 100;
        stack.greedy_round(now, 90, 1);
        assert!(now < at_ms + 20_000);
    }
    now + 100
}

#[test]
fn a_window_that_has_outgrown_cwnd_prior_is_kept() {
    // Section 4.9.2: only if cwnd < cwnd_prior. 12000 -> 8400, then growth above 12000.
    let mut stack = Stack::new();
    stack.send(0, 10);
    stack.frame(100, losing([1]));
    let now = grow_above(&mut stack, 12_000, 101);
    let (window, w_max) = (stack.cc.cwnd(), stack.cc.w_max());
    stack.cc.on_spurious_loss(&stack.path(ms(now)), &SpuriousLoss::All);
    assert_eq!((stack.cc.cwnd(), stack.cc.ssthresh()), (window, Some(8_400)));
    assert_eq!((stack.cc.w_max(), stack.cc.cwnd_prior()), (w_max, 12_000));
    assert_eq!(stack.cc.snapshot().phase, "congestion_avoidance");
}

#[test]
fn a_mark_and_a_loss_of_one_period_end_the_same_way_in_either_order() {
    // 84000 in congestion avoidance. Mark 0.85 * 84000 = 71400, loss 0.7 * 84000 = 58800. The loss undone leaves the
    // reduction for the mark, and a real loss of the period gives that of a loss again: within the recovery or after.
    for mark_first in [true, false] {
        for recovered in [false, true] {
            let mut stack = Stack::resting(84_000, &Config::default());
            let first = *stack.fill(1_010).start();
            let mark = Frame { acks: vec![first + 3], ce: 1, ..Frame::default() };
            if mark_first {
                stack.frame(1_110, mark);
                assert_eq!(stack.cc.cwnd(), 71_400);
                stack.frame(1_111, losing([first]));
            } else {
                stack.frame(1_110, losing([first]));
                assert_eq!(stack.cc.cwnd(), 58_800);
                stack.frame(1_111, mark);
            }
            assert_eq!(stack.cc.cwnd(), 58_800);
            if recovered {
                let probe = stack.send_sized(ms(1_112), 1, 1);
                stack.ack(1_212, probe);
            }
            let case = (mark_first, recovered);
            assert_eq!(stack.cc.in_recovery(), !recovered);
            let lost = SpuriousLoss::Packet { number: Some(first), sent_at: ms(1_010), bytes: 1_200 };
            for _ in 0..2 {
                // The same news twice undoes nothing more.
                stack.cc.on_spurious_loss(&stack.path(ms(1_220)), &lost);
                assert_eq!((stack.cc.cwnd(), stack.cc.ssthresh()), (71_400, Some(71_400)), "{case:?}");
                assert_eq!(stack.cc.in_recovery(), !recovered, "{case:?}");
            }
            stack.frame(1_230, losing([first + 1]));
            assert_eq!((stack.cc.cwnd(), stack.cc.ssthresh()), (58_800, Some(58_800)), "{case:?}");
            assert_eq!(stack.cc.cwnd_prior(), 84_000);
            assert_eq!(stack.cc.in_recovery(), !recovered, "{case:?}");
            assert_eq!(stack.cc.snapshot().congestion_events, 2, "{case:?}");
        }
    }
}

#[test]
fn an_undo_that_leaves_the_reduction_for_a_mark_lowers_no_window() {
    // 84000 -> 58800 by loss and mark; grown above 71400 when the loss turns out to be none.
    let mut stack = Stack::resting(84_000, &Config::default());
    let first = *stack.fill(1_010).start();
    stack.frame(1_110, Frame { acks: vec![first + 3], losses: vec![first], ce: 1, ..Frame::default() });
    let now = grow_above(&mut stack, 71_400, 1_111);
    let window = stack.cc.cwnd();
    assert!(window < 84_000);
    stack.cc.on_spurious_loss(&stack.path(ms(now)), &SpuriousLoss::All);
    assert_eq!((stack.cc.cwnd(), stack.cc.ssthresh()), (window, Some(58_800)));
}

#[test]
fn a_reduction_for_a_mark_is_never_undone() {
    // D5: CE; a packet declared lost earlier is acked later. In congestion avoidance 0.85 * 84000.
    let mut stack = Stack::resting(84_000, &Config::default());
    let first = *stack.fill(1_010).start();
    stack.frame(1_110, Frame { acks: vec![first + 3], ce: 1, ..Frame::default() });
    assert_eq!(stack.cc.cwnd(), 71_400);
    stack.cc.on_spurious_loss(&stack.path(ms(1_150)), &SpuriousLoss::All);
    assert_eq!(stack.cc.cwnd(), 71_400);
}

#[test]
fn a_mark_and_a_loss_of_one_frame_of_slow_start_leave_the_reduction_of_a_loss() {
    // Both are 0.7 * 12000 there: the undo of the loss changes nothing, whichever came first.
    for order in [CANONICAL, [Part::Losses, Part::Rtt, Part::Ecn, Part::Acks]] {
        let mut stack = Stack::new();
        stack.send(0, 10);
        stack.frame(100, Frame { acks: vec![4], losses: vec![1], ce: 1, order, ..Frame::default() });
        assert_eq!(stack.cc.cwnd(), 8_400);
        stack.ack(150, 1..=1);
        assert_eq!((stack.cc.cwnd(), stack.cc.ssthresh()), (8_400, Some(8_400)));
        assert!(stack.cc.in_recovery());
    }
}

#[test]
fn persistent_congestion_is_never_undone() {
    let mut stack = Stack::new();
    stack.send(0, 10);
    stack.frame(2_000, Frame { losses: (1..=10).collect(), persistent: true, ..Frame::default() });
    stack.ack(2_100, 1..=10);
    assert_eq!(stack.cc.cwnd(), 2_400);
}

#[test]
fn undo_can_be_switched_off() {
    let mut stack = Stack::with(&Config { undo_spurious: false, ..Config::default() });
    stack.send(0, 10);
    stack.frame(100, losing([3]));
    stack.ack(120, 3..=3);
    assert_eq!(stack.cc.cwnd(), 8_400);
}

#[test]
fn a_stack_that_only_says_all_undoes_at_once() {
    let mut stack = Stack::new();
    stack.send(0, 10);
    stack.frame(100, losing([1, 2, 3]));
    stack.cc.on_spurious_loss(&stack.path(ms(110)), &SpuriousLoss::All);
    assert_eq!(stack.cc.cwnd(), 12_000);
}

#[test]
fn limited_time_between_loss_and_undo_does_not_count_either() {
    let mut stack = Stack::in_avoidance(84_000, 100, 1_000);
    stack.fill(1_000);
    stack.greedy_round(1_100, 50, 1);
    let t_before = ms(1_150).since(stack.cc.epoch().unwrap());
    let lost = stack.next() - 5;
    let acks = stack.outstanding().into_iter().filter(|n| *n != lost).collect();
    stack.frame(1_250, Frame { acks, losses: vec![lost], ..Frame::default() });
    let probe = stack.send(1_251, 1);
    stack.ack(1_351, probe);
    assert_eq!(stack.cc.snapshot().phase, "congestion_avoidance");
    stack.limited_by = cc_core::SendLimit::NoData;
    for second in 2..62 {
        let sent = stack.send(second * 1_000, 1);
        stack.ack(second * 1_000 + 100, sent);
    }
    stack.ack(61_150, lost..=lost);
    assert!(stack.cc.cwnd() > 84_000, "undone");
    let t_after = ms(61_150).since(stack.cc.epoch().unwrap());
    assert!(t_after.minus(t_before) < Duration::from_millis(500), "{t_after:?} {t_before:?}");
}

#[test]
fn an_mtu_change_between_loss_and_undo_gives_the_restored_stage_the_new_unit() {
    let mut stack = Stack::in_avoidance(84_000, 100, 1_000);
    let sent = stack.fill(1_000);
    stack.frame(1_100, losing([*sent.start()]));
    stack.datagram = 1_450;
    stack.cc.on_mtu_update(&stack.path(ms(1_110)), MtuChange::Discovered);
    stack.ack(1_120, *sent.start()..=*sent.start());
    assert_eq!(stack.cc.snapshot().phase, "congestion_avoidance");
    // The curve goes on from the window at the change: K = cube root of (120000 - 84035) / (0.4 * 1450) = 62.0 s^3.
    assert_eq!(stack.cc.epoch(), Some(ms(1_110)));
    let k = stack.cc.k().unwrap().as_nanos() as f64 * 1e-9;
    approx::assert_relative_eq!(k * k * k, 62.0, max_relative = 0.001);
}
