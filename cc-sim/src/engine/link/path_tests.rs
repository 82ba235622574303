//! A link whose parameters change, and one with jitter, against times worked out by hand and against the closed form.
//!
//! 8 Mbit/s, a microsecond a byte, packets of 1000 bytes and 10 ms one way unless a test says otherwise.

use super::Link;
use crate::engine::ecn::Ecn;
use crate::engine::jitter::law::wifi_law;
use crate::engine::packet::{Content, Packet};
use crate::scenario::{Direction, Jitter, LinkState, QueueLimit, WifiModel};
use proptest::prelude::{prop_assert, prop_assert_eq, proptest};
use std::collections::BTreeMap;

const BYTE_A_MICROSECOND: u64 = 8_000_000;

fn state(bps: u64, queue: QueueLimit) -> LinkState {
    LinkState::constant(bps, 10_000, queue)
}

fn wifi(bps: u64, average_us: u64) -> LinkState {
    let jitter = Jitter::Wifi { average_us, model: WifiModel::Simulated };
    LinkState { jitter, ..state(bps, QueueLimit::Unlimited) }
}

/// What a link does with a packet of `bytes` at each of the times `sent`, if it changes as `changes` says: when packets are
/// released (a late one holds back all later ones) with the place of each in `sent`, and how many are dropped. At the same
/// moment a change comes before an arrival and that before a packet.
fn drive(
    first: &LinkState,
    changes: &[(u64, LinkState)],
    sent: impl IntoIterator<Item = u64>,
    bytes: u64,
    seed: u64,
) -> (Vec<(u64, u32)>, usize) {
    let mut link = Link::new(first, Direction::Forward, seed);
    let (mut released, mut dropped, mut clock) = (Vec::new(), 0, 0);
    let (mut changes, mut sent) = (changes.iter().peekable(), sent.into_iter().zip(0_u32..).peekable());
    loop {
        let change = changes.peek().map_or(u64::MAX, |&&(at, _)| at);
        let arrival = link.next_arrival().map_or(u64::MAX, |at| at.max(clock));
        let packet = sent.peek().map_or(u64::MAX, |&(at, _)| at);
        clock = change.min(arrival).min(packet);
        if clock == u64::MAX {
            return (released, dropped);
        }
        if clock == change {
            let (_, state) = changes.next().unwrap();
            link.change(clock, state, Direction::Forward, |_| dropped += 1);
        } else if clock == arrival {
            let Some(super::Fate::Arrived(packet)) = link.pop() else { panic!("lost") };
            released.push((clock, packet.flow));
        } else {
            let (_, place) = sent.next().unwrap();
            let packet = Packet { bytes, flow: place, ecn: Ecn::NotEct, content: Content::Cross };
            dropped += usize::from(!link.submit(clock, packet));
        }
    }
}

/// The times of release, if nothing is dropped and nothing overtakes.
fn times_of(driven: (Vec<(u64, u32)>, usize), packets: u32) -> Vec<u64> {
    assert!(driven.0.iter().map(|&(_, place)| place).eq(0..packets), "{driven:?}");
    driven.0.into_iter().map(|(at, _)| at).collect()
}

#[test]
fn a_fixed_rate_goes_through_a_fade_in_the_time_worked_out() {
    // 4 Mbit/s over 8, 2 from 10 ms to 20 ms, 8 again: a packet every 2 ms, which takes 1 ms, 4 ms, 1 ms.
    let fast = state(BYTE_A_MICROSECOND, QueueLimit::Unlimited);
    let slow = state(BYTE_A_MICROSECOND / 4, QueueLimit::Unlimited);
    let changes = [(10_000, slow), (20_000, fast.clone())];
    let times = times_of(drive(&fast, &changes, (0..20).map(|i| i * 2_000), 1_000, 0), 20);
    // The five before 10 ms: 1 ms and 10 ms each. Those of 10 and 12 ms are through at 14 and 18 ms. That of 14 ms would be at 22:
    // at 20 ms it is serialised again, and it and those of 16 and 18 ms are through at 21, 22, 23; those of 20, 22, ... 26 follow
    // at 24, 25, 26, 27, then the queue is empty.
    let through =
        [1, 3, 5, 7, 9, 14, 18, 21, 22, 23, 24, 25, 26, 27, 29, 31, 33, 35, 37, 39].map(|ms| ms * 1_000);
    assert_eq!(times, through.map(|us| us + 10_000));
}

#[test]
fn a_fade_drops_the_newest_of_what_its_queue_cannot_hold() {
    // Twelve at once into a queue of 12 ms. At 2 ms two are through (12 000 is the limit of what is in the air); the ten others
    // take 4 ms each from there on and wait 0, 4, 8 ms; the fourth would wait 12 ms: seven are dropped.
    let fast = state(BYTE_A_MICROSECOND, QueueLimit::DelayUs(12_000));
    let slow = state(BYTE_A_MICROSECOND / 4, QueueLimit::DelayUs(12_000));
    let (released, dropped) = drive(&fast, &[(2_000, slow)], [0; 12], 1_000, 0);
    assert_eq!(released, [(11_000, 0), (12_000, 1), (16_000, 2), (20_000, 3), (24_000, 4)]);
    assert_eq!(dropped, 7);
}

#[test]
fn a_late_packet_holds_back_all_later_ones_which_then_come_at_once() {
    // The first packet has 50 ms to go and leaves the serialiser at 1 ms; from then on it is 1 ms. The others would be there at
    // 4 and 6 ms, the last at 61 ms.
    let far = LinkState { latency_us: 50_000, ..state(BYTE_A_MICROSECOND, QueueLimit::Unlimited) };
    let near = LinkState { latency_us: 1_000, ..far.clone() };
    let driven = drive(&far, &[(1_000, near)], [0, 2_000, 4_000, 59_000], 1_000, 0);
    assert_eq!(times_of(driven, 4), [51_000, 51_000, 51_000, 61_000]);
}

#[test]
fn what_a_late_packet_holds_back_is_serialised_again_with_it() {
    // As before; at 10 ms the rate is halved. The first packet is 41 ms off, more than the latency of 1 ms: not in the air. So are all
    // behind it, though the others have been due for 6 and 4 ms. From 10 ms on 2 ms each, and 1 ms of latency.
    let far = LinkState { latency_us: 50_000, ..state(BYTE_A_MICROSECOND, QueueLimit::Unlimited) };
    let near = LinkState { latency_us: 1_000, ..far.clone() };
    let slow = LinkState { latency_us: 1_000, ..state(BYTE_A_MICROSECOND / 2, QueueLimit::Unlimited) };
    let driven = drive(&far, &[(1_000, near), (10_000, slow)], [0, 2_000, 4_000], 1_000, 0);
    assert_eq!(times_of(driven, 3), [13_000, 15_000, 17_000]);
}

#[test]
fn packets_that_are_serialised_again_get_new_jitter() {
    // 200 ms of Wi-Fi jitter: a spike for every packet, 86 ms on average and at most 20 ms with probability 0.007. At 1 ms the
    // jitter ends: what had a spike is through at 2, 3 and 4 ms.
    let calm = state(BYTE_A_MICROSECOND, QueueLimit::Unlimited);
    let driven = drive(&wifi(BYTE_A_MICROSECOND, 200_000), &[(1_000, calm)], [0; 3], 1_000, 1);
    assert_eq!(times_of(driven, 3), [12_000, 13_000, 14_000]);
    // And what had none gets it. The first is at its jitter-free 11 ms, in the air; the others are not.
    let calm = state(BYTE_A_MICROSECOND, QueueLimit::Unlimited);
    let driven = drive(&calm, &[(1_000, wifi(BYTE_A_MICROSECOND, 200_000))], [0; 3], 1_000, 1);
    let times = times_of(driven, 3);
    assert!(times[0] == 11_000 && times[1] > 12_000 + 20_000, "{times:?}");
}

#[test]
fn jitter_takes_nothing_of_the_capacity_and_of_the_queue() {
    // 100 packets at once, each with a spike: none is dropped by a queue of 100 ms, all are there 100 ms and a spike later (30
    // intervals of 7.5 ms happen with probability 0.000 01, 12 of 1 ms less).
    let queue = QueueLimit::DelayUs(100_000);
    let spikes = LinkState { queue, ..wifi(BYTE_A_MICROSECOND, 200_000) };
    let times = times_of(drive(&spikes, &[], [0; 100], 1_000, 3), 100);
    assert!((110_000..110_000 + 30 * 7_500 + 12_000).contains(times.last().unwrap()), "{times:?}");
}

/// Probability that a packet of a stream, one every `period_us`, has at most `t_us` of jitter when it is released: no earlier one is
/// released later, so that all of them, each at its own time, must have at most that and the time since.
fn release_law(t_us: u64, period_us: u64, spike: f64) -> f64 {
    // Spikes beyond 300 ms have probability 1e-10.
    (t_us..300_000).step_by(usize::try_from(period_us).unwrap()).map(|us| wifi_law(us, spike, true)).product()
}

#[test]
fn packets_in_order_have_the_delay_of_the_latest_before_them() {
    // Streams of datagrams of 1440 bytes at 10 and 18 Mbit/s, and one every 10 ms. Of each: the average of the jitter, the period
    // of the packets, and delays in ms that an independent calculation has for 10, 50, 90 and 99 % (0: less than 1 ms; sim_model
    // section 3).
    for (average_us, period_us, quantiles) in [
        (7_000, 1_151, [51, 86, 120, 150]),
        (7_000, 10_000, [0, 3, 84, 127]),
        (12_000, 640, [86, 108, 134, 162]),
    ] {
        let spike = (average_us - 1_000) as f64 / 84_000.0;
        let packets: u32 = 200_000;
        let sent = (0..packets).map(|i| u64::from(i) * period_us);
        // 57 Mbit/s for 1440 bytes in 0.2 ms: never a queue.
        let times = times_of(drive(&wifi(57_600_000, average_us), &[], sent, 1_440, 8), packets);
        let jitter: Vec<u64> = times.iter().zip(0_u64..).map(|(at, i)| at - i * period_us - 10_199).collect();
        for (ms, fraction) in quantiles.into_iter().zip([0.1, 0.5, 0.9, 0.99]) {
            let t_us = ms * 1_000;
            let expected = release_law(t_us, period_us, spike);
            let measured = jitter.iter().filter(|&&us| us <= t_us).count() as f64 / f64::from(packets);
            let what = format!("{average_us}, every {period_us}: {ms} ms");
            // Delays of packets within some 50 ms of each other are one and the same: 200 000 packets are 2600 independent ones or
            // more, and a fraction has a standard deviation of 0.01 at most.
            assert!((measured - expected).abs() < 0.03, "{what}: {measured}, expected {expected}");
            // The distribution is steep: half a millisecond is 0.01 of it.
            let most = if ms < 10 { 0.12 } else { 0.02 };
            assert!((expected - fraction).abs() < most, "{what}: {expected}");
        }
    }
}

proptest! {
    #[test]
    fn a_suspended_link_delivers_nothing_and_all_of_it_afterwards(
        gaps in proptest::collection::vec(0_u64..3_000, 1..150),
        from_us in 0_u64..100_000,
        lasts_us in 1_u64..100_000,
        queue_ms in proptest::option::of(1_u64..40),
    ) {
        let sent: Vec<u64> = gaps.iter().scan(0, |at, gap| { *at += gap; Some(*at) }).collect();
        let queue = queue_ms.map_or(QueueLimit::Unlimited, |ms| QueueLimit::DelayUs(ms * 1_000));
        let up = state(BYTE_A_MICROSECOND, queue);
        let until_us = from_us + lasts_us;
        let changes = [(from_us, state(0, queue)), (until_us, up.clone())];
        let (released, dropped) = drive(&up, &changes, sent.iter().copied(), 1_000, 0);
        prop_assert_eq!(released.len() + dropped, sent.len());
        prop_assert!(released.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 < pair[1].1));
        // What is in the air arrives within the latency; the next comes a service time and the latency after the end.
        let silent = from_us + 10_001..until_us + 11_000;
        prop_assert!(released.iter().all(|(at, _)| !silent.contains(at)), "{:?} {:?}", silent, released);
        // What is kept meanwhile comes a millisecond apart, as much as the queue holds: those that wait 0, 1, ... ms less than it.
        let in_air: BTreeMap<u32, u64> =
            released.iter().filter(|(at, _)| *at <= from_us + 10_000).map(|&(at, place)| (place, at)).collect();
        let before = sent.iter().filter(|&&at| at < until_us).count();
        let after: Vec<u64> = released.iter().map(|&(at, _)| at).filter(|at| *at >= silent.end).collect();
        if queue == QueueLimit::Unlimited {
            prop_assert_eq!(dropped, 0);
            let kept = before - in_air.len();
            let expected: Vec<u64> = (0..kept as u64).map(|i| silent.end + i * 1_000).collect();
            prop_assert_eq!(&after[..kept], &expected[..]);
        } else if let Some(ms) = queue_ms.filter(|_| before > in_air.len()) {
            let held = after.iter().zip(0_u64..).take_while(|&(&at, i)| at == silent.end + i * 1_000).count();
            // At least: a packet sent right after the end may be the next of the row.
            let kept = before - in_air.len() - sent_dropped_before(&sent, from_us, ms * 1_000);
            prop_assert!(held >= kept.min(ms as usize), "{} held of {}", held, kept);
        }
    }
}

/// How many of packets sent before `from_us` a queue of `limit_us` refuses, a millisecond each.
fn sent_dropped_before(sent: &[u64], from_us: u64, limit_us: u64) -> usize {
    let mut idle_us = 0_u64;
    let refused = sent.iter().take_while(|&&at| at < from_us).filter(|&&at| {
        let waits_us = idle_us.saturating_sub(at);
        if waits_us < limit_us {
            idle_us = at + waits_us + 1_000;
        }
        waits_us >= limit_us
    });
    refused.count()
}
