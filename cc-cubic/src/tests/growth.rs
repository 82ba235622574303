//! Congestion avoidance (RFC 9438 sections 4.2 to 4.5 and 5.8).

use super::stack::{Frame, MSS, Stack, ms};
use crate::{Config, Cubic, MAX_WINDOW};
use approx::assert_relative_eq;
use cc_core::{
    AckEvent, AckedPacket, CongestionController, DiscardReason, Duration, Instant, PathRtt, PathState,
    SendLimit, SentPacket,
};
use std::vec;
use std::vec::Vec;

/// RFC 9438 in floating point, applied ACK by ACK: windows in segments, times in seconds.
struct Model {
    cwnd: f64,
    cwnd_prior: f64,
    w_max: f64,
    k: f64,
    w_est: f64,
}

impl Model {
    fn new(cwnd: f64, w_max: f64) -> Self {
        Self { cwnd, cwnd_prior: w_max, w_max, k: ((w_max - cwnd) / 0.4).cbrt(), w_est: cwnd }
    }

    fn w_cubic(&self, t: f64) -> f64 {
        0.4 * (t - self.k).powi(3) + self.w_max
    }

    fn ack(&mut self, t: f64, rtt: f64, segments: f64) {
        let alpha = if self.w_est >= self.cwnd_prior { 1.0 } else { 3.0 * (1.0 - 0.7) / (1.0 + 0.7) };
        self.w_est += alpha * segments / self.cwnd;
        if self.w_cubic(t) < self.w_est {
            self.cwnd = self.cwnd.max(self.w_est);
        } else {
            let target = self.w_cubic(t + rtt).clamp(self.cwnd, 1.5 * self.cwnd);
            self.cwnd = (self.cwnd + (target - self.cwnd) / self.cwnd * segments).max(self.w_est);
        }
    }
}

/// A greedy sender in congestion avoidance, from `cwnd` bytes after a loss at `cwnd / 0.7`, and the model beside it:
/// the windows of both in bytes after each round.
fn beside_the_model(cwnd: u64, rtt_ms: u64, rounds: u64, per_ack: usize) -> Vec<(f64, f64)> {
    let start = 10 * rtt_ms;
    let mut stack = Stack::in_avoidance(cwnd, rtt_ms, start);
    stack.fix_rtt(rtt_ms);
    let epoch = stack.cc.epoch().unwrap();
    assert_eq!(epoch, ms(start));
    let segment = MSS as f64;
    let mut model = Model::new(cwnd as f64 / segment, cwnd as f64 / 7.0 * 10.0 / segment);
    stack.fill(start);
    let mut out = Vec::new();
    for round in 0..rounds {
        let at = start + (round + 1) * rtt_ms;
        let packets = stack.in_flight() / MSS;
        for packet in 1..=packets {
            let t = (at - start) as f64 * 1e-3 + rtt_ms as f64 * 1e-3 * packet as f64 / packets as f64;
            model.ack(t, rtt_ms as f64 * 1e-3, 1.0);
        }
        stack.greedy_round(at, rtt_ms, per_ack);
        out.push((stack.cc.cwnd() as f64, model.cwnd * segment));
    }
    out
}

#[test]
fn the_concave_and_the_convex_region_follow_the_formula() {
    // 700 segments after a loss at 1000: K = cube root of 300 / 0.4 = 9.0856 s, so 90.9 rounds of 0.1 s.
    let windows = beside_the_model(840_000, 100, 130, 1);
    for (round, (cubic, model)) in windows.iter().enumerate() {
        assert_relative_eq!(cubic, model, epsilon = MSS as f64, max_relative = 0.001);
        if round < 80 {
            assert!(*cubic < 1_200_000.0, "concave: below W_max in round {round}");
        }
    }
    // At K the window is W_max, to the growth of one round.
    assert_relative_eq!(windows[90].0, 1_200_000.0, max_relative = 0.002);
    // 13 s after the epoch: W_cubic = 1000 + 0.4 * (13.1 - 9.0856)^3 = 1025.9 segments.
    assert_relative_eq!(windows[129].0, 1_025.9 * 1_200.0, max_relative = 0.003);
}

#[test]
fn a_short_path_is_reno_friendly() {
    // B7: RTT 10 ms, 70 segments after a loss at 100: K = cube root of 30 / 0.4 = 4.2 s = 420 rounds, while Reno needs
    // 30 / (9/17) = 57 rounds to get back. The window is W_est in every round.
    let mut stack = Stack::in_avoidance(84_000, 10, 100);
    stack.fill(100);
    let mut previous = stack.cc.w_est().unwrap();
    let alpha = 9.0 / 17.0 * MSS as f64;
    let mut switched = false;
    for round in 1..=100 {
        stack.greedy_round(100 + round * 10, 9, 1);
        let w_est = stack.cc.w_est().unwrap();
        assert!(stack.cc.cwnd() >= w_est, "round {round}");
        assert!(stack.cc.cwnd() - w_est <= 1, "round {round}: Reno-friendly region");
        let growth = (w_est - previous) as f64;
        if previous >= 120_000 {
            // Section 4.3: alpha = 1 once W_est has reached cwnd_prior = 120000.
            switched = true;
            assert_relative_eq!(growth, MSS as f64, max_relative = 0.02);
        } else if w_est < 120_000 {
            assert_relative_eq!(growth, alpha, max_relative = 0.02);
        }
        previous = w_est;
    }
    assert!(switched);
}

#[test]
fn the_reno_friendly_region_follows_the_formula() {
    for (cubic, model) in beside_the_model(84_000, 10, 100, 1) {
        assert_relative_eq!(cubic, model, epsilon = MSS as f64);
    }
}

#[test]
fn one_window_acked_in_one_event_adds_alpha_datagrams() {
    // A15 for CUBIC, RFC 9438 equation 4: 9/17 * 1200 = 635 bytes for 8400 acked, a little less because the
    // window in the denominator grows on the way.
    let mut stack = Stack::in_avoidance(8_400, 10, 100);
    let start = stack.cc.cwnd();
    let sent = stack.fill(101);
    assert_eq!(sent.clone().count(), 7);
    stack.ack(111, sent);
    let grown = stack.cc.cwnd() - start;
    assert!((600..=635).contains(&grown), "{grown}");
}

#[test]
fn acks_of_no_window_use_bytes_once() {
    // B8: slow start reaches its threshold in the middle of an ACK; the rest of its bytes grow W_est, not the window
    // a second time. Window 4800, threshold 8400, 4800 bytes acked: 3600 in slow start, 1200 / 8400 * 635 = 91 after.
    let mut stack = Stack::new();
    stack.send(0, 10);
    stack.frame(2_000, Frame { losses: (1..=10).collect(), persistent: true, ..Frame::default() });
    let sent = stack.send(2_001, 2);
    stack.ack(2_011, sent);
    assert_eq!(stack.cc.cwnd(), 4_800);
    let sent = stack.send(2_012, 4);
    stack.ack(2_022, sent);
    assert!((8_400 + 80..=8_400 + 91).contains(&stack.cc.cwnd()), "{}", stack.cc.cwnd());
}

#[test]
fn growth_does_not_depend_on_how_acks_are_cut() {
    // B6: each packet alone, ten at a time, and datagrams of a tenth of the size, with the same bytes and times.
    let run = |per_ack: usize, split: u64| {
        let mut stack = Stack::in_avoidance(840_000, 100, 1_000);
        stack.fill(1_000);
        for round in 0..60 {
            let at = 1_100 + round * 100;
            let outstanding = stack.in_flight() / (MSS / split).max(1);
            assert!(outstanding > 0);
            stack.greedy_round_sized(at, 100, per_ack, MSS / split);
        }
        stack.cc.cwnd()
    };
    let alone = run(1, 1);
    for (per_ack, split) in [(10, 1), (3, 1), (10, 10), (100, 10)] {
        let other = run(per_ack, split);
        assert!(alone.abs_diff(other) <= MSS, "{per_ack} {split}: {alone} {other}");
    }
}

#[test]
fn merged_acks_at_one_time_give_the_same_window_to_the_byte() {
    // U8, exact: the grid of segments does not see where events are cut.
    let mut apart = Stack::in_avoidance(840_000, 100, 1_000);
    apart.fix_rtt(100);
    apart.fill(1_000);
    let mut merged = apart.clone();
    let first = apart.next() - apart.in_flight() / MSS;
    let last = apart.next() - 1;
    for n in first..=last {
        apart.ack(1_150, n..=n);
    }
    merged.ack(1_150, first..=last);
    assert!(apart.cc.cwnd() > 840_000);
    assert!(apart.cc.cwnd().abs_diff(merged.cc.cwnd()) <= 1);
}

/// An ACK of `bytes` sent at `sent` and acked at `now`, the flight before it being `flight`.
fn plain_ack(cubic: &mut Cubic, now: Instant, sent: Instant, bytes: u64, flight: u64, rtt: Duration) {
    let path = PathState {
        now,
        bytes_in_flight: flight.saturating_sub(bytes),
        prior_bytes_in_flight: flight,
        rtt: Some(PathRtt { latest: rtt, smoothed: rtt, min: rtt, var: rtt }),
        ..PathState::default()
    };
    let packets = [AckedPacket { sent_at: sent, bytes, ..AckedPacket::default() }];
    let ack = AckEvent {
        packets: &packets,
        last: true,
        rate_sample: None,
        limited_by: SendLimit::Cwnd,
        max_bytes_in_flight: flight,
        app_limited_at: None,
        newest_data_sent_at: Some(sent),
    };
    cubic.on_ack(&path, &ack);
}

#[test]
fn years_without_loss_grow_by_at_most_half_the_bytes_acked() {
    // A1: one packet a day, 10 days and 10 years, always limited by the window and never idle.
    let day = Duration::from_secs(86_400);
    let rtt = Duration::from_millis(100);
    for days in [10, 3_653] {
        let mut cubic = Stack::in_avoidance(8_400, 100, 1_000).cc;
        let mut now = ms(2_000);
        let mut previous = cubic.cwnd();
        for _ in 0..days {
            now = now.after(day);
            plain_ack(&mut cubic, now, now.before(rtt), MSS, previous, rtt);
            assert!(cubic.cwnd() >= previous);
            assert!(cubic.cwnd() - previous <= MSS / 2);
            previous = cubic.cwnd();
        }
        assert!(previous > 8_400);
        assert!(previous <= MAX_WINDOW);
    }
}

#[test]
fn an_ack_of_any_size_grows_by_at_most_half_of_it() {
    let rtt = Duration::from_millis(100);
    let mut cubic = Stack::in_avoidance(8_400, 100, 1_000).cc;
    let mut now = ms(2_000);
    for bytes in [1, 40, 300, 1_200, 8_400, 84_000, u64::MAX] {
        now = now.after(Duration::from_secs(3_600));
        let before = cubic.cwnd();
        plain_ack(&mut cubic, now, now.before(rtt), bytes, bytes, rtt);
        assert!(cubic.cwnd() - before <= bytes.div_ceil(2), "{bytes}");
        // Of one event at most 64 parts of a 32nd of the window count: 1.5^2 = 2.25, compounded at most e = 2.72.
        assert!(cubic.cwnd() <= before * 272 / 100, "{bytes}");
    }
}

#[test]
fn idle_time_does_not_count() {
    // F2: 100 s idle, then greedy: cwnd before plus normal growth. With sends reported or not.
    for reports_sends in [true, false] {
        let mut stack = Stack::in_avoidance(840_000, 100, 1_000);
        stack.reports_sends = reports_sends;
        stack.fill(1_000);
        for round in 0..20 {
            stack.greedy_round(1_100 + round * 100, 90, 1);
        }
        let first = stack.next() - stack.in_flight() / MSS;
        stack.ack(3_100, first..=stack.next() - 1);
        let mut busy = stack.clone();
        let t_before = ms(3_100).since(stack.cc.epoch().unwrap());
        // The same rounds follow at once, and 100 s later.
        busy.fill(3_110);
        busy.greedy_round(3_210, 90, 1);
        stack.cc.on_app_limited(&stack.path(ms(3_101)));
        stack.fill(103_110);
        stack.greedy_round(103_210, 90, 1);
        let t_after = ms(103_210).since(stack.cc.epoch().unwrap());
        assert_relative_eq!(t_after.minus(t_before).as_nanos() as f64, 1e8, max_relative = 0.02);
        assert!(stack.cc.cwnd().abs_diff(busy.cc.cwnd()) <= MSS, "{} {}", stack.cc.cwnd(), busy.cc.cwnd());
    }
}

#[test]
fn an_idle_period_ends_with_the_first_packet_sent_not_with_the_first_acked() {
    let mut stack = Stack::in_avoidance(840_000, 100, 1_000);
    let epoch = stack.cc.epoch().unwrap();
    let sent = stack.fill(1_010);
    stack.ack(1_110, 2..=*sent.end());
    assert_eq!(stack.in_flight(), 0);
    // Idle until 101.11 s; of the packets sent then and 5 s later only the second one arrives.
    stack.send(101_110, 1);
    let second = stack.send(106_110, 1);
    stack.limited_by = SendLimit::Cwnd;
    stack.ack(106_210, second);
    // Nothing was in flight from 1 s to 1.01 s and from 1.11 s to 101.11 s.
    assert_eq!(stack.cc.epoch().unwrap().since(epoch), Duration::from_millis(100_010));
}

/// What takes the last packet out of the flight.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Emptied {
    Acked,
    /// A lost path MTU probe, or dropped keys.
    Discarded(DiscardReason),
    /// Declared lost in the period of a reduction that is over: no congestion event.
    Lost,
}

/// A sender in a stage that began at 1201 ms, with one packet left of the flight of the reduction, which leaves the
/// flight at 1300 ms. The controller, and the first of two packets that were declared lost in that period.
fn emptied(how: Emptied, reports_sends: bool) -> (Stack, u64) {
    let mut stack = Stack::in_avoidance(840_000, 100, 1_000);
    stack.fix_rtt(100);
    stack.reports_sends = reports_sends;
    let sent = stack.fill(1_000);
    let (first, left) = (*sent.start(), *sent.end());
    stack.frame(1_100, Frame { losses: vec![first, first + 1], ..Frame::default() });
    let probe = stack.send(1_101, 1);
    let acks = (first + 2..left).chain(probe).collect();
    stack.frame(1_201, Frame { acks, ..Frame::default() });
    assert_eq!(stack.cc.epoch(), Some(ms(1_201)));
    match how {
        Emptied::Acked => stack.ack(1_300, left..=left),
        Emptied::Discarded(reason) => stack.discard(1_300, left, reason),
        Emptied::Lost => stack.frame(1_300, Frame { losses: vec![left], ..Frame::default() }),
    }
    assert_eq!(stack.in_flight(), 0);
    (stack, first)
}

const EMPTIED: [Emptied; 4] = [
    Emptied::Acked,
    Emptied::Discarded(DiscardReason::MtuProbeLost),
    Emptied::Discarded(DiscardReason::KeysDiscarded),
    Emptied::Lost,
];

#[test]
fn idle_time_does_not_count_whatever_emptied_the_flight() {
    // F2, RFC 9438 section 5.8: nothing in flight from 1.3 s to 101.3 s. The epoch moves from 1.201 s to 101.201 s, and
    // one window later the window is that of a sender that went on at once.
    for how in EMPTIED {
        for (reports_sends, announces) in [(true, true), (true, false), (false, true), (false, false)] {
            let (mut stack, _) = emptied(how, reports_sends);
            let mut busy = stack.clone();
            busy.fill(1_300);
            busy.greedy_round(1_400, 90, 1);
            if announces {
                stack.cc.on_idle_restart(&stack.path(ms(101_300)), Duration::from_secs(100));
            }
            stack.fill(101_300);
            stack.greedy_round(101_400, 90, 1);
            let case = (how, reports_sends, announces);
            assert_eq!(stack.cc.epoch(), Some(ms(101_201)), "{case:?}");
            assert_eq!(stack.cc.cwnd(), busy.cc.cwnd(), "{case:?}");
        }
    }
}

#[test]
fn late_acks_while_idle_neither_end_the_idle_time_nor_count_it() {
    // Idle from 1.3 s to 101.3 s; at 51.3 s a packet declared lost long ago is acked (one of two, so that nothing is
    // undone). Marked as late or not, sends reported or not.
    for how in EMPTIED {
        for (reports_sends, flags_late) in [(true, true), (true, false), (false, true), (false, false)] {
            let (mut stack, lost) = emptied(how, reports_sends);
            stack.flags_late = flags_late;
            stack.ack(51_300, lost..=lost);
            stack.fill(101_300);
            stack.greedy_round(101_400, 90, 1);
            let case = (how, reports_sends, flags_late);
            assert_eq!(stack.cc.epoch(), Some(ms(101_201)), "{case:?}");
        }
    }
}

#[test]
fn idle_time_that_only_the_stack_knows_of_does_not_count() {
    // The flight is emptied without a word at 1.3 s: the stack's idle time of 100 s says so at 101.3 s. An absurd one
    // reaches back to the last ack at 1.201 s at most: the epoch is then the restart itself.
    for (idle, epoch) in [(Duration::from_secs(100), ms(101_201)), (Duration::MAX, ms(101_300))] {
        let mut cubic = Stack::in_avoidance(840_000, 100, 1_201).cc;
        assert_eq!(cubic.epoch(), Some(ms(1_201)));
        let path = PathState { now: ms(1_201), bytes_in_flight: MSS, ..PathState::default() };
        cubic.on_packet_sent(&path, &SentPacket { in_flight: true, ..SentPacket::default() });
        cubic.on_idle_restart(&PathState { now: ms(101_300), bytes_in_flight: 0, ..path }, idle);
        assert_eq!(cubic.epoch(), Some(epoch), "{idle:?}");
    }
}

#[test]
fn a_trickle_does_not_count() {
    // F2: 100 s of one packet per round trip.
    let mut stack = Stack::in_avoidance(840_000, 100, 1_000);
    stack.fill(1_000);
    for round in 0..20 {
        stack.greedy_round(1_100 + round * 100, 90, 1);
    }
    let first = stack.next() - stack.in_flight() / MSS;
    stack.ack(3_100, first..=stack.next() - 1);
    let t_before = ms(3_100).since(stack.cc.epoch().unwrap());
    let window = stack.cc.cwnd();
    stack.limited_by = SendLimit::NoData;
    for round in 0..1_000 {
        let sent = stack.send(3_110 + round * 100, 1);
        stack.ack(3_200 + round * 100, sent);
    }
    // The acks of the first packet still belong to the round whose window was full.
    assert!(stack.cc.cwnd() <= window + 2 * MSS);
    let t_after = ms(3_200 + 999 * 100).since(stack.cc.epoch().unwrap());
    assert!(t_after.minus(t_before) <= Duration::from_millis(200), "{t_after:?} {t_before:?}");
}

#[test]
fn a_loss_before_any_rtt_sample_leads_to_normal_growth() {
    // A12: no infinite Reno-friendly window without an RTT.
    let mut stack = Stack::new();
    stack.send(0, 10);
    stack.frame(50, Frame { losses: vec![1], ..Frame::default() });
    stack.ack(60, 2..=10);
    assert_eq!(stack.cc.cwnd(), 8_400);
    for round in 0..5 {
        let sent = stack.fill(61 + round * 61);
        let before = stack.cc.cwnd();
        stack.ack(121 + round * 61, sent);
        assert!(stack.cc.cwnd() - before <= MSS);
    }
}

#[test]
fn slow_start_without_loss_stops_at_the_largest_window() {
    // A6: each ACK acknowledges a full window, 40 times; then one loss.
    let mut cubic = Cubic::new(&Config::default());
    let rtt = Duration::from_millis(100);
    let mut now = ms(0);
    let mut previous = cubic.cwnd();
    for doubling in 1..=40 {
        now = now.after(rtt);
        plain_ack(&mut cubic, now, now.before(rtt), previous, previous, rtt);
        assert!(cubic.cwnd() >= previous);
        if doubling <= 24 {
            assert_eq!(cubic.cwnd(), 12_000 << doubling);
        }
        previous = cubic.cwnd();
    }
    assert_eq!(cubic.cwnd(), MAX_WINDOW);
    assert!(cubic.pacing_rate().is_some_and(|rate| rate.as_bytes_per_sec() > MAX_WINDOW));
}

#[test]
fn a_configured_largest_window_holds_in_congestion_avoidance() {
    let config = Config { initial_window: Some(12_000), max_window: 9_000, ..Config::default() };
    let mut stack = Stack::with(&config);
    assert_eq!(stack.cc.cwnd(), 9_000);
    stack.fill(0);
    stack.frame(100, Frame { losses: vec![1], ..Frame::default() });
    let mut now = 101;
    for _ in 0..50 {
        let sent = stack.fill(now);
        let sent = if sent.is_empty() { stack.send(now, 1) } else { sent };
        stack.ack(now + 100, sent);
        assert!(stack.cc.cwnd() <= 9_000);
        now += 101;
    }
    assert_eq!(stack.cc.cwnd(), 9_000);
}

#[test]
fn a_clock_that_goes_backwards_counts_as_no_time() {
    // F3: acks before their send time, before the last ack, before the epoch; times near the end of the range.
    let rtt = Duration::from_millis(100);
    let mut cubic = Stack::in_avoidance(84_000, 100, 1_000).cc;
    let mut previous = cubic.cwnd();
    for now in [ms(2_000), ms(1_500), ms(10), ms(0), Instant::MAX, Instant::MAX.before(rtt), ms(1)] {
        let sent = ms(1_001).max(now);
        plain_ack(&mut cubic, now, sent, MSS, 84_000, rtt);
        assert!(cubic.cwnd() >= previous && cubic.cwnd() - previous <= MSS / 2);
        assert!(cubic.pacing_rate().is_some_and(|rate| !rate.is_zero()));
        previous = cubic.cwnd();
    }
}
