//! Initial window, slow start and its end, pacing, MTU changes, resumption.

use super::stack::{CANONICAL, Frame, MSS, Part, Stack, ms};
use crate::{Config, Cubic, ResumeJump};
use cc_core::{
    AckEvent, AckedPacket, CongestionController, Duration, EcnEvent, Instant, LossEvent, MAX_DATAGRAM_SIZE,
    MtuChange, PathChange, PathState, Rate, ResumeHint, SendLimit, SlowStart, SpuriousLoss,
    StandardSlowStart,
};
use std::collections::VecDeque;
use std::vec;
use std::vec::Vec;

#[test]
fn every_output_exists_before_any_event() {
    // A9, script 1.
    let mut stack = Stack::new();
    assert_eq!(stack.cc.cwnd(), 12_000);
    assert_eq!(stack.cc.pacing_rate(), None);
    // 12000 / 4 = 3000, at least two datagrams.
    assert_eq!(stack.cc.send_quantum(), 3_000);
    assert!(stack.cc.snapshot().startup);
    stack.send(0, 10);
    assert_eq!(stack.cc.pacing_rate(), None);
    // All acked at the time of their sending: an RTT of zero.
    stack.ack(0, 1..=10);
    assert!(stack.cc.pacing_rate().is_some_and(|rate| !rate.is_zero()));
    assert_eq!(stack.cc.cwnd(), 24_000);
}

#[test]
fn an_rtt_of_a_microsecond_works() {
    // A9, script 2.
    let mut stack = Stack::new();
    let mut now = ms(0);
    for _ in 0..100 {
        let room = (stack.cc.cwnd() - stack.in_flight()) / MSS;
        let sent = stack.send_sized(now, room.min(64), MSS);
        now = now.after(Duration::from_micros(1));
        stack.frame_at(now, Frame { acks: sent.collect(), ..Frame::default() });
        assert!(stack.cc.pacing_rate().is_some_and(|rate| !rate.is_zero()));
    }
}

#[test]
fn the_pacing_rate_is_five_quarters_of_the_window_per_rtt() {
    // RFC 9002 section 7.7: 1.25 * 24000 B / 0.1 s = 300000 B/s.
    let mut stack = Stack::new();
    let sent = stack.fill(0);
    stack.ack(100, sent);
    assert_eq!(stack.cc.cwnd(), 24_000);
    assert_eq!(stack.cc.pacing_rate(), Some(Rate::from_bytes_per_sec(300_000)));
    // Twice the window per RTT in slow start if so configured: 480000 B/s.
    let mut stack = Stack::with(&Config { slow_start_pacing_percent: 200, ..Config::default() });
    let sent = stack.fill(0);
    stack.ack(100, sent);
    assert_eq!(stack.cc.pacing_rate(), Some(Rate::from_bytes_per_sec(480_000)));
    // After a loss 1.25 * 16800 / 0.1 s = 210000 B/s.
    stack.fill(101);
    stack.frame(201, Frame { losses: vec![11], ..Frame::default() });
    assert_eq!(stack.cc.pacing_rate(), Some(Rate::from_bytes_per_sec(210_000)));
}

#[test]
fn a_collapse_raises_no_pacing_rate_although_slow_start_is_paced_faster() {
    // 4800 bytes of slow start are reduced to 3360: 1.25 * 3360 / 0.1 s = 42000 B/s. The 2400 bytes that persistent
    // congestion leaves would be paced at 2 * 2400 / 0.1 s = 48000.
    let config = Config { slow_start_pacing_percent: 200, initial_window: Some(3_600), ..Config::default() };
    let mut stack = Stack::with(&config);
    stack.fill(0);
    stack.ack(100, 1..=1);
    stack.frame(150, Frame { losses: vec![2], ..Frame::default() });
    assert_eq!((stack.cc.cwnd(), stack.cc.pacing_rate()), (3_360, Some(Rate::from_bytes_per_sec(42_000))));
    stack.frame(160, Frame { losses: vec![3], persistent: true, ..Frame::default() });
    assert_eq!((stack.cc.cwnd(), stack.cc.pacing_rate()), (2_400, Some(Rate::from_bytes_per_sec(42_000))));
}

#[test]
fn counts_that_bring_a_datagram_size_along_raise_no_pacing_rate() {
    // After a collapse as above: 42000 B/s are kept with smaller datagrams too, without a mark and with one of an old packet.
    let config = Config { slow_start_pacing_percent: 200, initial_window: Some(3_600), ..Config::default() };
    let mut stack = Stack::with(&config);
    stack.fill(0);
    stack.ack(100, 1..=1);
    stack.frame(150, Frame { losses: vec![2], ..Frame::default() });
    stack.frame(160, Frame { losses: vec![3], persistent: true, ..Frame::default() });
    for (ce, max_datagram_size) in [(0, 1_100), (1, 1_100), (0, 1_000)] {
        let path = PathState { max_datagram_size, next_number: 4, ..PathState::default() };
        let ecn = EcnEvent { ce: Some(ce), largest_acked: Some(1), ..EcnEvent::default() };
        stack.cc.on_ecn(&path, &ecn);
        let outputs = (stack.cc.cwnd(), stack.cc.pacing_rate());
        assert_eq!(outputs, (2_400, Some(Rate::from_bytes_per_sec(42_000))), "{ce} {max_datagram_size}");
    }
}

#[test]
fn a_window_that_larger_datagrams_raise_beside_a_loss_has_the_rate_of_its_own() {
    // The floor of two datagrams of 9000 bytes, 1.25 * 18000 / 0.1 s, and no more with the next event.
    let mut stack = Stack::new();
    stack.fill(0);
    stack.ack(100, 1..=1);
    let path = PathState { max_datagram_size: 9_000, next_number: 11, ..PathState::default() };
    stack
        .cc
        .on_loss(&path, &LossEvent { packets: &[], last: true, persistent_congestion: false, cause: None });
    for max_datagram_size in [9_000, 1_200] {
        stack.cc.on_ecn(
            &PathState { max_datagram_size, ..path },
            &EcnEvent { ce: Some(0), ..EcnEvent::default() },
        );
        let outputs = (stack.cc.cwnd(), stack.cc.pacing_rate());
        assert_eq!(outputs, (18_000, Some(Rate::from_bytes_per_sec(225_000))), "{max_datagram_size}");
    }
}

#[test]
fn a_burst_is_at_least_two_datagrams_and_at_most_the_initial_window() {
    // RFC 9002 section 7.7.
    let quantum = |datagram, initial| {
        let config = Config { max_datagram_size: datagram, initial_window: initial, ..Config::default() };
        Cubic::new(&config).send_quantum()
    };
    assert_eq!(quantum(1_200, Some(2_400)), 2_400);
    assert_eq!(quantum(1_200, Some(20_000)), 5_000);
    assert_eq!(quantum(9_000, None), 18_000);
    // Never more than 64 KiB, even where two datagrams are.
    assert_eq!(quantum(MAX_DATAGRAM_SIZE, None), 65_536);
    let mut stack = Stack::new();
    for round in 0..4 {
        let sent = stack.fill(round * 101);
        stack.ack(round * 101 + 100, sent);
    }
    assert_eq!(stack.cc.cwnd(), 192_000);
    assert_eq!(stack.cc.send_quantum(), 12_000);
}

#[test]
fn slow_start_doubles_the_window_per_round() {
    // RFC 9002 section 7.3.1.
    let config = Config::default();
    let mut stack = Stack::around(Cubic::with_slow_start(&config, StandardSlowStart), 1_200);
    for round in 0..5 {
        let sent = stack.fill(round * 101);
        stack.ack(round * 101 + 100, sent);
        assert_eq!(stack.cc.cwnd(), 24_000 << round);
    }
    assert_eq!(stack.cc.ssthresh(), None);
}

#[test]
fn the_initial_window_follows_the_mtu() {
    // B12, RFC 9002 section 7.2.
    for (datagram, window) in [(1_200, 12_000), (1_500, 14_720), (9_000, 18_000)] {
        let config = Config { max_datagram_size: datagram, ..Config::default() };
        assert_eq!(Cubic::new(&config).cwnd(), window);
    }
}

#[test]
fn an_mtu_lowered_in_the_handshake_gives_a_new_initial_window() {
    // B12: 9000 -> 1450: 14500, never 2900.
    let mut stack = Stack::with(&Config { max_datagram_size: 9_000, ..Config::default() });
    stack.datagram = 1_450;
    stack.cc.on_mtu_update(&stack.path(ms(10)), MtuChange::Handshake);
    assert_eq!(stack.cc.cwnd(), 14_500);
    for _ in 0..2 {
        let sent = stack.fill(20);
        stack.frame(120, Frame { losses: sent.collect(), persistent: true, ..Frame::default() });
    }
    assert_eq!(stack.cc.cwnd(), 2_900);
}

/// How a stack tells of a datagram size that changed in the handshake.
const HANDSHAKE_CHANGES: [(Option<MtuChange>, bool); 4] = [
    (Some(MtuChange::Handshake), true),
    (Some(MtuChange::Handshake), false),
    (Some(MtuChange::BlackHole), false),
    // Only by the path state of the next event.
    (None, false),
];

/// The datagram size becomes `datagram` at `at_ms`.
fn change_mtu(stack: &mut Stack, at_ms: u64, datagram: u64, (change, ready): (Option<MtuChange>, bool)) {
    stack.datagram = datagram;
    let path = PathState { handshake_ready: ready, ..stack.path(ms(at_ms)) };
    match change {
        Some(change) => stack.cc.on_mtu_update(&path, change),
        None => stack.cc.on_app_limited(&path),
    }
}

#[test]
fn an_mtu_lowered_in_the_handshake_lowers_the_window_in_every_phase() {
    // RFC 9002 section 7.2: to the new initial window of 14500, from the first one of 18000, from one that has grown to
    // 36000, from the minimum window of 18000 in recovery and from that after persistent congestion.
    for how in HANDSHAKE_CHANGES {
        let config = Config { max_datagram_size: 9_000, ..Config::default() };
        let mut fresh = Stack::with(&config);
        change_mtu(&mut fresh, 10, 1_450, how);
        assert_eq!(fresh.cc.cwnd(), 14_500, "{how:?}");
        let mut grown = Stack::with(&config);
        let sent = grown.fill(0);
        grown.ack(100, sent);
        assert_eq!(grown.cc.cwnd(), 36_000);
        change_mtu(&mut grown, 110, 1_450, how);
        assert_eq!(grown.cc.cwnd(), 14_500, "{how:?}");
        for persistent in [false, true] {
            let mut reduced = Stack::with(&config);
            let sent = reduced.fill(0);
            reduced.frame(1_000, Frame { losses: sent.collect(), persistent, ..Frame::default() });
            assert_eq!(reduced.cc.cwnd(), 18_000);
            change_mtu(&mut reduced, 1_010, 1_450, how);
            assert_eq!(reduced.cc.cwnd(), 14_500, "{how:?}");
            // Nor does an undo bring back the larger one.
            reduced.cc.on_spurious_loss(&reduced.path(ms(1_020)), &SpuriousLoss::All);
            assert_eq!(reduced.cc.cwnd(), 14_500, "{how:?}");
        }
    }
}

#[test]
fn an_mtu_raised_in_the_handshake_raises_the_initial_window_only() {
    // 1200 -> 1450: 12000 -> 14500; 24000 after a round of slow start and 8400 after a loss stay.
    for how in HANDSHAKE_CHANGES {
        let mut fresh = Stack::new();
        change_mtu(&mut fresh, 10, 1_450, how);
        assert_eq!(fresh.cc.cwnd(), 14_500, "{how:?}");
        let mut grown = Stack::new();
        let sent = grown.fill(0);
        grown.ack(100, sent);
        change_mtu(&mut grown, 110, 1_450, how);
        assert_eq!(grown.cc.cwnd(), 24_000, "{how:?}");
        let mut reduced = Stack::new();
        reduced.send(0, 10);
        reduced.frame(100, Frame { losses: vec![1], ..Frame::default() });
        change_mtu(&mut reduced, 110, 1_450, how);
        assert_eq!(reduced.cc.cwnd(), 8_400, "{how:?}");
    }
}

#[test]
fn a_loss_after_a_mark_does_not_raise_the_window_that_a_larger_mtu_left() {
    // A mark: 12000 * 0.7 = 8400 (slow start). The window before it becomes 10 * 1450 = 14500, and 0.7 of that would be
    // 10150: the loss of the same period must not raise 8400. A smaller one of 600 B gives 6000, which is not reduced
    // once more, since it is below 8400.
    let mut stack = Stack::new();
    stack.fill(0);
    stack.frame(10, Frame { acks: vec![1], ce: 1, ..Frame::default() });
    assert_eq!(stack.cc.cwnd(), 8_400);
    change_mtu(&mut stack, 10, 1_450, (Some(MtuChange::Handshake), false));
    assert_eq!(stack.cc.cwnd(), 8_400);
    stack.frame(11, Frame { losses: vec![2], ..Frame::default() });
    assert_eq!((stack.cc.cwnd(), stack.cc.ssthresh()), (8_400, Some(8_400)));
    // The loss counts: its packet late, the mark alone is left, 14500 * 0.7 = 10150.
    stack.ack(12, 2..=2);
    assert_eq!(stack.cc.cwnd(), 10_150);

    let mut stack = Stack::new();
    stack.fill(0);
    stack.frame(10, Frame { acks: vec![1], ce: 1, ..Frame::default() });
    change_mtu(&mut stack, 10, 600, (Some(MtuChange::Handshake), false));
    stack.frame(11, Frame { losses: vec![2], ..Frame::default() });
    assert_eq!(stack.cc.cwnd(), 6_000);
}

#[test]
fn an_mtu_that_changes_after_the_handshake_leaves_the_window() {
    // Even while it is still the initial one: 12000 with datagrams of 1450 and of 1100 bytes.
    for change in [Some(MtuChange::Discovered), Some(MtuChange::BlackHole), None] {
        for datagram in [1_450, 1_100] {
            let mut stack = Stack::new();
            change_mtu(&mut stack, 10, datagram, (change, true));
            assert_eq!(stack.cc.cwnd(), 12_000, "{change:?} {datagram}");
        }
    }
}

#[test]
fn a_larger_mtu_does_not_grow_the_window_but_its_unit() {
    // B12: 1200 -> 1450 in congestion avoidance.
    let mut stack = Stack::in_avoidance(84_000, 10, 100);
    stack.fill(100);
    stack.greedy_round(110, 5, 1);
    let window = stack.cc.cwnd();
    let w_est = stack.cc.w_est();
    stack.datagram = 1_450;
    stack.cc.on_mtu_update(&stack.path(ms(120)), MtuChange::Discovered);
    assert_eq!(stack.cc.cwnd(), window);
    assert_eq!(stack.cc.w_est(), w_est);
    // Reno-friendly growth of one window acked: 9/17 * 1450 = 767 bytes instead of 635.
    let first = stack.next() - stack.in_flight() / MSS;
    stack.ack(121, first..=stack.next() - 1);
    let grown = stack.cc.cwnd() - window;
    assert!((730..=767).contains(&grown), "{grown}");
    // The minimum window follows: 2 * 1450.
    for at in [200, 300, 400, 500, 600, 700, 800, 900, 1_000, 1_100, 1_200, 1_300] {
        let sent = stack.send(at, 1);
        stack.frame(at + 90, Frame { losses: sent.collect(), ..Frame::default() });
    }
    assert_eq!(stack.cc.cwnd(), 2_900);
}

#[test]
fn a_black_hole_is_no_congestion_event() {
    // RFC 8899 section 4.3: the MTU falls, the window stays.
    let mut stack = Stack::with(&Config { max_datagram_size: 1_450, ..Config::default() });
    stack.datagram = 1_200;
    stack.cc.on_mtu_update(&stack.path(ms(10)), MtuChange::BlackHole);
    assert_eq!(stack.cc.cwnd(), 14_500);
    assert_eq!(stack.cc.snapshot().congestion_events, 0);
}

#[test]
fn a_change_of_mtu_that_only_the_path_state_tells_is_followed() {
    let mut stack = Stack::new();
    stack.datagram = 9_000;
    stack.send(0, 1);
    assert_eq!(stack.cc.cwnd(), 18_000, "two datagrams are the minimum");
}

#[test]
fn a_new_path_starts_again_and_ignores_packets_of_the_old_one() {
    // C10, RFC 9000 section 9.4.
    let mut stack = Stack::in_avoidance(84_000, 100, 1_000);
    let old = stack.send(1_001, 10);
    let window = stack.cc.cwnd();
    stack.cc.on_path_change(&stack.path(ms(1_010)), PathChange::Rebinding);
    assert_eq!(stack.cc.cwnd(), window);
    stack.cc.on_path_change(&stack.path(ms(1_010)), PathChange::New);
    let initial = stack.cc.cwnd();
    assert_eq!(initial, 120_000, "the configured initial window");
    assert_eq!(stack.cc.ssthresh(), None);
    assert_eq!(stack.cc.pacing_rate(), None);
    stack.ack(1_110, *old.start()..=*old.start() + 4);
    assert_eq!(stack.cc.cwnd(), initial);
    stack.frame(1_150, Frame { losses: (*old.start() + 5..=*old.end()).collect(), ..Frame::default() });
    assert_eq!(stack.cc.cwnd(), initial);
    assert_eq!(stack.cc.ssthresh(), None);
}

// ---- HyStart++ in the controller ----

/// Rounds of one full window each, all packets of round `r` with an RTT of `rtts[r]` milliseconds.
fn rounds(stack: &mut Stack, rtts: &[u64]) {
    let mut now = 0;
    for rtt in rtts {
        let sent = stack.fill(now);
        for n in sent {
            stack.ack(now + rtt, n..=n);
        }
        now += rtt + 1;
    }
}

#[test]
fn a_queue_that_grows_ends_slow_start_without_loss() {
    // RFC 9406 section 4.2: rounds of 100 ms, then of 120 ms: CSS, five rounds. RFC 9438 section 4.10:
    // cwnd_prior = ssthresh = W_max = cwnd, K = 0.
    let mut stack = Stack::new();
    rounds(&mut stack, &[100, 100, 120, 120]);
    assert_eq!(stack.cc.snapshot().phase, "conservative_slow_start");
    assert_eq!(stack.cc.ssthresh(), None);
    let mut now = 1_000;
    while stack.cc.ssthresh().is_none() {
        for n in stack.fill(now) {
            let (before, exited) = (stack.cc.cwnd(), stack.cc.ssthresh().is_some());
            stack.ack(now + 120, n..=n);
            if !exited {
                // A quarter of the bytes acked, also for the ACK that ends the last round: RFC 9406 section 4.2 updates
                // the window first.
                assert_eq!(stack.cc.cwnd(), before + 300);
                if let Some(threshold) = stack.cc.ssthresh() {
                    assert_eq!(threshold, before + 300);
                }
            }
        }
        now += 121;
        assert!(now < 2_000, "five rounds");
    }
    assert_eq!(stack.cc.snapshot().phase, "congestion_avoidance");
    assert_eq!(stack.cc.k(), Some(Duration::ZERO));
    assert_eq!(stack.cc.ssthresh(), Some(stack.cc.w_max()));
    assert_eq!(stack.cc.cwnd_prior(), stack.cc.w_max());
    assert_eq!(stack.cc.snapshot().congestion_events, 0);
    assert!(!stack.cc.snapshot().startup);
}

#[test]
fn a_mark_in_conservative_slow_start_reduces_to_seven_tenths() {
    // RFC 8511 changes congestion avoidance only.
    let mut stack = Stack::new();
    rounds(&mut stack, &[100, 100, 120, 120]);
    assert_eq!(stack.cc.snapshot().phase, "conservative_slow_start");
    let before = stack.cc.cwnd();
    let sent = stack.fill(1_000);
    stack.frame(1_120, Frame { acks: vec![*sent.start()], ce: 1, ..Frame::default() });
    assert_eq!(stack.cc.cwnd(), before * 7 / 10);
}

/// Hands over a part of an ACK frame: `packets` full-sized packets with the numbers from `first` on, sent at 0.
fn ack_part(cubic: &mut Cubic, at_ms: u64, first: u64, packets: u64, last: bool) {
    let packets: Vec<AckedPacket> = (first..first + packets)
        .map(|n| AckedPacket { number: Some(n), bytes: MSS, ..AckedPacket::default() })
        .collect();
    let path = PathState {
        now: ms(at_ms),
        bytes_in_flight: 100 * MSS,
        prior_bytes_in_flight: 200 * MSS,
        next_number: 200,
        oldest_outstanding: Some(100),
        ..PathState::default()
    };
    let ack = AckEvent {
        packets: &packets,
        last,
        rate_sample: None,
        limited_by: SendLimit::Cwnd,
        max_bytes_in_flight: 200 * MSS,
        app_limited_at: None,
        newest_data_sent_at: None,
    };
    cubic.on_ack(&path, &ack);
}

#[test]
fn the_limit_of_an_unpaced_sender_is_per_frame_however_frames_are_cut() {
    // RFC 9406 section 4.3: L * SMSS = 8 * 1200 = 9600 per frame: of 12 packets 8 count, in parts of 8 and 4, and so again
    // in the next frame. A frame may end with a part without packets, or with one that only has packets of another path.
    for (end, old) in [("packets", false), ("nothing", false), ("old packets", true)] {
        let config = Config { paces: false, initial_window: Some(240_000), ..Config::default() };
        let mut cubic = Cubic::new(&config);
        if old {
            let path = PathState { now: ms(1), next_number: 10, ..PathState::default() };
            cubic.on_path_change(&path, PathChange::New);
        }
        for frame in 1..=3 {
            let first = 20 * frame;
            ack_part(&mut cubic, 100 + frame, first, 8, false);
            match end {
                "packets" => ack_part(&mut cubic, 100 + frame, first + 8, 4, true),
                "nothing" => {
                    ack_part(&mut cubic, 100 + frame, first + 8, 4, false);
                    ack_part(&mut cubic, 100 + frame, 0, 0, true);
                }
                _ => {
                    ack_part(&mut cubic, 100 + frame, first + 8, 4, false);
                    ack_part(&mut cubic, 100 + frame, frame, 1, true);
                }
            }
            assert_eq!(cubic.cwnd(), 240_000 + frame * 9_600, "{end} {frame}");
        }
    }
}

#[test]
fn one_spike_does_not_end_slow_start() {
    // F5 A: one RTT of 180 ms in a round of 20 samples of 100 ms.
    let mut stack = Stack::with(&Config { initial_window: Some(24_000), ..Config::default() });
    rounds(&mut stack, &[100, 100]);
    let sent = stack.fill(1_000);
    for n in sent.clone() {
        let rtt = if n == *sent.start() + 7 { 180 } else { 100 };
        stack.ack(1_000 + rtt, n..=n);
    }
    assert_eq!(stack.cc.snapshot().phase, "slow_start");
}

#[test]
fn hystart_serves_the_initial_slow_start_only() {
    // RFC 9406 section 4.3: after persistent congestion the threshold ends slow start, whatever the RTT does.
    let mut stack = Stack::with(&Config { initial_window: Some(120_000), ..Config::default() });
    let sent = stack.fill(0);
    stack.frame(1_000, Frame { losses: sent.collect(), persistent: true, ..Frame::default() });
    let mut now = 1_001;
    for rtt in [100, 100, 200, 400, 800] {
        let before = stack.cc.cwnd();
        let sent = stack.fill(now);
        for n in sent {
            stack.ack(now + rtt, n..=n);
        }
        assert_eq!(stack.cc.cwnd(), 2 * before, "doubles at {rtt} ms");
        now += rtt + 1;
    }
    assert_eq!(stack.cc.ssthresh(), Some(84_000));
}

/// What happened at a bottleneck.
struct Run {
    /// Times of the congestion events in milliseconds.
    events: Vec<u64>,
    lost: u64,
    /// Share of the capacity that was used.
    used: f64,
}

/// A bottleneck with a drop-tail queue of `queue` packets in front of `stack`, which always has data and sends as window
/// and pacing rate allow.
fn bottleneck<S: SlowStart>(
    stack: &mut Stack<S>,
    rtt: Duration,
    rate: Rate,
    queue: u64,
    until_ms: u64,
) -> Run {
    let service = rate.time_to_send(MSS);
    let (mut now, mut free_at, mut next_send) = (ms(0), ms(0), ms(0));
    // Packets on their way: time of the ACK and number.
    let mut wire: VecDeque<(Instant, u64)> = VecDeque::new();
    let mut outstanding: VecDeque<u64> = VecDeque::new();
    let mut run = Run { events: Vec::new(), lost: 0, used: 0.0 };
    let mut delivered = 0;
    while now < ms(until_ms) {
        let allowed = stack.in_flight() + MSS <= stack.cc.cwnd() || stack.cc.may_send_beyond_cwnd();
        let ack_at = wire.front().map_or(Instant::MAX, |(at, _)| *at);
        if allowed && next_send <= ack_at {
            now = now.max(next_send);
            let number = *stack.send_sized(now, 1, MSS).start();
            outstanding.push_back(number);
            let gap = stack.cc.pacing_rate().map_or(Duration::ZERO, |rate| rate.time_to_send(MSS));
            next_send = now.after(gap);
            if free_at.since(now) < service.times(queue) {
                free_at = free_at.max(now).after(service);
                wire.push_back((free_at.after(rtt), number));
            }
            continue;
        }
        let Some((at, number)) = wire.pop_front() else { break };
        now = now.max(at);
        stack.limited_by = if allowed { SendLimit::Pacer } else { SendLimit::Cwnd };
        outstanding.retain(|n| *n != number);
        // Packet threshold 3 (RFC 9002 section 6.1.1).
        let losses: Vec<u64> = outstanding.iter().copied().filter(|n| n + 3 <= number).collect();
        outstanding.retain(|n| n + 3 > number);
        run.lost += losses.len() as u64;
        let before = stack.cc.snapshot().congestion_events;
        stack.frame_at(now, Frame { acks: vec![number], losses, ..Frame::default() });
        delivered += MSS;
        if stack.cc.snapshot().congestion_events > before {
            run.events.push(now.as_micros() / 1_000);
        }
    }
    run.used = delivered as f64 / rate.bytes_in(now.since(ms(0))) as f64;
    run
}

#[test]
fn a_bottleneck_is_filled_without_a_series_of_losses() {
    // F5 B and U10: 10 Mbit/s, 50 ms, a queue of one bandwidth-delay product (52 packets), 30 s.
    let mut stack = Stack::new();
    let rate = Rate::from_bits_per_sec(10_000_000);
    let run = bottleneck(&mut stack, Duration::from_millis(50), rate, 52, 30_000);
    assert!(run.used > 0.95, "{}", run.used);
    assert!(!run.events.is_empty());
    // Not three reductions within four round trips of a full queue.
    for three in run.events.windows(3) {
        assert!(three[2] - three[0] > 400, "{:?}", run.events);
    }
}

#[test]
fn hystart_loses_fewer_packets_than_standard_slow_start() {
    // 20 Mbit/s, 50 ms, a queue of two bandwidth-delay products; the first 3 s.
    let rate = Rate::from_bits_per_sec(20_000_000);
    let rtt = Duration::from_millis(50);
    let mut hystart = Stack::new();
    let with = bottleneck(&mut hystart, rtt, rate, 208, 3_000);
    let mut standard = Stack::around(Cubic::with_slow_start(&Config::default(), StandardSlowStart), 1_200);
    let without = bottleneck(&mut standard, rtt, rate, 208, 3_000);
    assert!(hystart.cc.ssthresh().is_some());
    assert!(without.lost > 100, "{}", without.lost);
    assert!(with.lost * 2 < without.lost, "{} {}", with.lost, without.lost);
    assert!(with.used > 0.9 * without.used, "{} {}", with.used, without.used);
}

// ---- Resumption (RFC 9959) ----

fn hint(cwnd: u64, rtt_ms: u64) -> ResumeHint {
    ResumeHint { cwnd, rtt: Duration::from_millis(rtt_ms) }
}

fn resuming(cwnd: u64, rtt_ms: u64) -> Stack {
    Stack::with(&Config { resume: Some(hint(cwnd, rtt_ms)), ..Config::default() })
}

#[test]
fn the_first_rtt_sample_confirms_the_saved_window() {
    // The satellite of the C4 tests: 18750000 bytes, 600 ms saved; the first sample is 610 ms.
    let mut stack = resuming(18_750_000, 600);
    stack.send(0, 1);
    assert_eq!(stack.cc.cwnd(), 12_000);
    stack.ack(610, 1..=1);
    assert_eq!(stack.cc.cwnd(), 18_750_000);
    assert_eq!(stack.cc.snapshot().phase, "unvalidated");
    // B11: congestion avoidance from there, W_max the window and K = 0: no jump.
    assert_eq!(stack.cc.ssthresh(), Some(18_750_000));
    assert_eq!(stack.cc.w_max(), 18_750_000);
    assert_eq!(stack.cc.cwnd_prior(), 12_000);
    assert_eq!(stack.cc.k(), Some(Duration::ZERO));
}

#[test]
fn a_jump_is_validated_alike_however_its_ack_is_cut() {
    // 500 packets of the jump are acked at 200 ms, in one ACK or two: the path carried all of them.
    for cut in [None, Some(1), Some(250), Some(499)] {
        let mut stack = resuming(600_000, 100);
        stack.send(0, 10);
        stack.ack(100, 1..=10);
        let jump = stack.fill(100);
        let (first, last) = (*jump.start(), *jump.end());
        assert_eq!(last - first, 499);
        match cut {
            None => stack.ack(200, jump),
            Some(count) => {
                stack.ack(200, first..=first + count - 1);
                stack.ack(200, first + count..=last);
            }
        }
        assert_eq!(stack.cc.snapshot().phase, "congestion_avoidance", "{cut:?}");
    }
}

#[test]
fn a_signal_beside_the_first_sample_uses_nothing_in_whatever_order() {
    // 12000 * 0.7 = 8400; packet 2 is covered by the reduction, and without a sent packet after it nothing grows.
    for order in [
        CANONICAL,
        [Part::Rtt, Part::Ecn, Part::Losses, Part::Acks],
        [Part::Rtt, Part::Acks, Part::Losses, Part::Ecn],
    ] {
        for ce in [0, 1] {
            let mut stack = resuming(600_000, 100);
            stack.send(0, 10);
            let losses = if ce == 0 { vec![1] } else { vec![] };
            stack.frame(100, Frame { acks: vec![2], losses, ce, order, ..Frame::default() });
            assert_eq!(stack.cc.cwnd(), 8_400, "{order:?} {ce}");
            assert_eq!(stack.cc.snapshot().phase, "recovery", "{order:?} {ce}");
        }
    }
}

#[test]
fn a_mark_in_the_frame_that_ends_the_validation_retreats_in_whatever_order() {
    // PipeSize before the frame 12000 (flight at the jump 0 and 10 packets acked); with it 12000 + 500 * 1200 = 612000.
    // Mark first: 12000 / 2 = 6000. Ack first: 612000 / 2 = 306000.
    let orders = [(CANONICAL, 6_000), ([Part::Rtt, Part::Acks, Part::Losses, Part::Ecn], 306_000)];
    for (order, cwnd) in orders {
        let mut stack = resuming(600_000, 100);
        stack.send(0, 10);
        stack.ack(100, 1..=10);
        let jump = stack.fill(100).collect();
        stack.frame(200, Frame { acks: jump, ce: 1, order, ..Frame::default() });
        assert_eq!(stack.cc.cwnd(), cwnd, "{order:?}");
        assert_eq!(stack.cc.snapshot().phase, "safe_retreat", "{order:?}");
    }
}

#[test]
fn a_mark_in_the_frame_that_ends_a_retreat_meets_slow_start() {
    // PipeSize 181200, retreat to 90600 below the threshold 0.7 * 182400 = 127680: slow start, where a mark takes
    // 0.7. Mark first: 90600 * 0.7 = 63420. Ack first: (90600 + 1200) * 0.7 = 64260.
    let orders = [(CANONICAL, 63_420), ([Part::Rtt, Part::Acks, Part::Losses, Part::Ecn], 64_260)];
    for (order, cwnd) in orders {
        let mut stack = resuming(600_000, 100);
        stack.send(0, 1);
        stack.ack(100, 1..=1);
        let first = *stack.fill(101).start();
        stack.ack(201, first..=first + 149);
        stack.frame(210, Frame { losses: (first + 150..first + 400).collect(), ..Frame::default() });
        assert_eq!(stack.cc.cwnd(), 90_600);
        // The first may go beyond the window, as if sent before the retreat.
        let probe = stack.send(211, 2).skip(1).collect();
        stack.frame(311, Frame { acks: probe, ce: 1, order, ..Frame::default() });
        assert_eq!(stack.cc.cwnd(), cwnd, "{order:?}");
        assert_eq!(stack.cc.ssthresh(), Some(cwnd), "{order:?}");
        assert_eq!(stack.cc.snapshot().phase, "recovery", "{order:?}");
    }
}

#[test]
fn an_rtt_more_than_a_quarter_off_uses_nothing() {
    // |saved - sample| <= sample / 4: 125 and 75 for a sample of 100.
    for (saved, used) in [(74, false), (75, true), (125, true), (126, false)] {
        let mut stack = resuming(600_000, saved);
        stack.send(0, 1);
        stack.ack(100, 1..=1);
        assert_eq!(stack.cc.cwnd() == 600_000, used, "{saved}");
        if !used {
            assert!(stack.cc.ssthresh().is_none());
        }
    }
}

#[test]
fn a_loss_before_the_first_sample_uses_nothing() {
    // F10: reconnaissance.
    let mut stack = resuming(600_000, 100);
    stack.send(0, 10);
    stack.frame(90, Frame { losses: vec![1], ..Frame::default() });
    stack.ack(100, 5..=5);
    assert_eq!(stack.cc.cwnd(), 8_400);
    assert_eq!(stack.cc.snapshot().phase, "recovery");
}

#[test]
fn a_loss_before_the_first_sample_uses_nothing_even_when_it_is_undone() {
    let mut stack = resuming(600_000, 100);
    stack.send(0, 10);
    stack.frame(90, Frame { losses: vec![1], ..Frame::default() });
    stack.cc.on_spurious_loss(&stack.path(ms(95)), &SpuriousLoss::All);
    assert_eq!(stack.cc.ssthresh(), None);
    stack.ack(100, 5..=5);
    assert!(stack.cc.cwnd() <= 12_000 + MSS);
}

#[test]
fn a_hint_after_the_first_sample_is_checked_against_it() {
    let mut stack = Stack::new();
    stack.send(0, 2);
    stack.ack(100, 1..=1);
    stack.cc.on_resume_hint(&stack.path(ms(110)), &hint(600_000, 300));
    assert!(stack.cc.cwnd() < 600_000);
    stack.cc.on_resume_hint(&stack.path(ms(110)), &hint(600_000, 110));
    assert_eq!(stack.cc.cwnd(), 600_000);
    // It is used once, and not after that.
    stack.cc.on_resume_hint(&stack.path(ms(111)), &hint(6_000_000, 110));
    assert_eq!(stack.cc.cwnd(), 600_000);
}

#[test]
fn a_saved_window_below_the_present_one_changes_nothing() {
    let mut stack = resuming(6_000, 100);
    stack.send(0, 1);
    stack.ack(100, 1..=1);
    assert!(stack.cc.cwnd() >= 12_000);
    assert_eq!(stack.cc.ssthresh(), None);
}

#[test]
fn half_of_the_saved_window_continues_in_slow_start() {
    // RFC 9959: the jump is half of it. Validated, slow start goes on to the saved window.
    let config =
        Config { resume: Some(hint(600_000, 100)), resume_jump: ResumeJump::Half, ..Config::default() };
    let mut stack = Stack::with(&config);
    stack.send(0, 1);
    stack.ack(100, 1..=1);
    assert_eq!(stack.cc.cwnd(), 300_000);
    assert_eq!(stack.cc.ssthresh(), Some(600_000));
    let sent = stack.fill(101);
    stack.ack(201, *sent.start()..=*sent.start());
    assert_eq!(stack.cc.snapshot().phase, "validating");
    stack.ack(202, *sent.start() + 1..=*sent.end());
    assert_eq!(stack.cc.snapshot().phase, "congestion_avoidance");
    assert!((599_000..=606_000).contains(&stack.cc.cwnd()), "{}", stack.cc.cwnd());
    assert_eq!(stack.cc.k(), Some(Duration::ZERO));
}

#[test]
fn nothing_grows_before_a_packet_of_the_jump_is_acked() {
    let mut stack = resuming(600_000, 100);
    stack.send(0, 10);
    stack.ack(100, 1..=1);
    stack.limited_by = SendLimit::Cwnd;
    stack.ack(105, 2..=10);
    assert_eq!(stack.cc.cwnd(), 600_000);
    assert_eq!(stack.cc.snapshot().phase, "unvalidated");
}

#[test]
fn a_loss_while_unvalidated_retreats_to_half_of_what_was_acked() {
    // F10: saved 600000; 1 + 150 packets of the flight arrive before the loss is found. PipeSize: flight at the jump
    // 0 + bytes acked since, the first ACK included. cwnd <= PipeSize / 2.
    let mut stack = resuming(600_000, 100);
    stack.send(0, 1);
    stack.ack(100, 1..=1);
    let jump = stack.fill(101);
    let first = *jump.start();
    stack.ack(201, first..=first + 149);
    // PipeSize = 1200 (the ACK that confirmed) + 150 * 1200 = 181200; half is 90600.
    stack.frame(210, Frame { losses: (first + 150..first + 160).collect(), ..Frame::default() });
    assert_eq!(stack.cc.cwnd(), 90_600);
    assert_eq!(stack.cc.ssthresh(), Some(90_600));
    assert_eq!(stack.cc.snapshot().phase, "safe_retreat");
    // One recovery period only, however many packets of the jump are lost.
    stack.frame(220, Frame { losses: (first + 160..first + 400).collect(), ..Frame::default() });
    assert_eq!(stack.cc.cwnd(), 90_600);
    assert_eq!(stack.cc.snapshot().congestion_events, 1);
    // Late acks of the jump add to PipeSize and do not grow the window: 181200 + 60 * 1200 = 253200.
    stack.ack(230, first + 400..=first + 459);
    assert_eq!(stack.cc.cwnd(), 90_600);
    // The threshold after the retreat: 0.7 * (253200 + 1200) = 178080; slow start goes on to it.
    let probe = stack.send(231, 1);
    stack.ack(331, probe);
    assert_eq!(stack.cc.ssthresh(), Some(178_080));
    assert_eq!(stack.cc.snapshot().phase, "slow_start");
    assert!(stack.cc.cwnd() <= 90_600 + MSS);
    // A later loss is an ordinary one.
    let sent = stack.fill(332);
    let before = stack.cc.cwnd();
    stack.frame(432, Frame { losses: sent.take(1).collect(), ..Frame::default() });
    assert_eq!(stack.cc.cwnd(), before * 7 / 10);
}

#[test]
fn a_mark_while_unvalidated_retreats_as_well() {
    let mut stack = resuming(600_000, 100);
    stack.send(0, 10);
    stack.ack(100, 1..=1);
    stack.frame(110, Frame { acks: vec![2], ce: 1, ..Frame::default() });
    // PipeSize = flight at the jump, 9 * 1200, + 1200 acked at it: 12000; half is 6000.
    assert_eq!(stack.cc.cwnd(), 6_000);
    assert_eq!(stack.cc.snapshot().phase, "safe_retreat");
}

#[test]
fn a_retreat_keeps_two_datagrams() {
    let mut stack = resuming(600_000, 100);
    stack.send(0, 1);
    stack.ack(100, 1..=1);
    let jump = stack.fill(101);
    stack.frame(210, Frame { losses: jump.collect(), ..Frame::default() });
    assert_eq!(stack.cc.cwnd(), 2_400);
}

#[test]
fn a_validated_window_reacts_to_loss_as_ever() {
    let mut stack = resuming(600_000, 100);
    stack.send(0, 1);
    stack.ack(100, 1..=1);
    let jump = stack.fill(101);
    stack.ack(201, *jump.start()..=*jump.start());
    stack.ack(202, *jump.start() + 1..=*jump.end());
    assert_eq!(stack.cc.snapshot().phase, "congestion_avoidance");
    let before = stack.cc.cwnd();
    assert!((600_000..=602_000).contains(&before), "no jump of the cubic function: {before}");
    let sent = stack.fill(203);
    stack.frame(303, Frame { losses: sent.take(1).collect(), ..Frame::default() });
    assert_eq!(stack.cc.cwnd(), before * 7 / 10);
}

#[test]
fn an_unused_default_path_state_is_harmless() {
    let mut cubic = Cubic::new(&Config::default());
    cubic.on_idle_restart(&PathState::default(), Duration::MAX);
    cubic.on_app_limited(&PathState::default());
    assert_eq!(cubic.cwnd(), 12_000);
}
