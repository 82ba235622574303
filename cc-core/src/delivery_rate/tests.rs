extern crate alloc;

use super::DeliveryRate;
use crate::{Duration, Instant, PacketSnapshot, RateSample, SamplingRule};
use alloc::vec::Vec;
use proptest::prelude::*;

const C4: SamplingRule = SamplingRule::LastAcceptedSample { min_ack_interval: Duration::from_millis(1) };
const PACKET: u64 = 1_200;

/// A sender of 1200-byte packets around the sampler.
struct Sender {
    rate: DeliveryRate,
    sent: Vec<(Instant, PacketSnapshot)>,
    in_flight: u64,
}

impl Sender {
    fn new(rule: SamplingRule) -> Self {
        Self { rate: DeliveryRate::new(rule), sent: Vec::new(), in_flight: 0 }
    }

    fn send(&mut self, now: Instant) -> usize {
        let snapshot = self.rate.on_sent(now, self.in_flight, self.in_flight + PACKET);
        self.in_flight += PACKET;
        self.sent.push((now, snapshot));
        self.sent.len() - 1
    }

    fn send_many(&mut self, now: Instant, count: usize) {
        for _ in 0..count {
            self.send(now);
        }
    }

    fn snapshot(&self, number: usize) -> PacketSnapshot {
        self.sent[number].1
    }

    fn app_limited(&mut self) {
        self.rate.on_app_limited(self.in_flight);
    }

    fn lose(&mut self, number: usize) {
        assert!(number < self.sent.len());
        self.in_flight -= PACKET;
        self.rate.on_lost(PACKET);
    }

    fn mark_acked(&mut self, now: Instant, number: usize, was_lost: bool) {
        let (sent_at, snapshot) = self.sent[number];
        if !was_lost {
            self.in_flight -= PACKET;
        }
        self.rate.on_acked(now, Some(number as u64), sent_at, PACKET, &snapshot, was_lost);
    }

    fn ack(&mut self, now: Instant, numbers: std::ops::Range<usize>) -> RateSample {
        for number in numbers {
            self.mark_acked(now, number, false);
        }
        self.rate.finish_frame(now).expect("something was acked")
    }
}

fn ms(millis: u64) -> Instant {
    Instant::from_millis(millis)
}

fn span(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

#[test]
fn the_first_flight_is_measured_from_its_own_send() {
    let mut sender = Sender::new(SamplingRule::LastAck);
    sender.send_many(ms(0), 10);
    let sample = sender.ack(ms(100), 0..10);
    // Sent at 0 with nothing in flight: reference is that send; 12000 B in 100 ms.
    assert_eq!(sample.snapshot.delivered_at, Some(ms(0)));
    assert_eq!(sample.delivered_since_sent(), 12_000);
    assert_eq!((sample.send_interval, sample.ack_interval), (Duration::ZERO, span(100)));
    assert_eq!(sample.interval(), span(100));
    assert_eq!(sample.number, Some(9));
    assert_eq!(sample.newly_acked, 12_000);
    assert!(sample.moved_reference && !sample.app_limited);
}

#[test]
fn held_back_acks_do_not_raise_the_rate_above_that_of_sending() {
    // bugs.md E16: 100 packets sent evenly over 100 ms, acked one by one from 100 ms on; then 100 more over
    // 100 ms, whose acks come together at 310 ms.
    let mut sender = Sender::new(SamplingRule::LastAck);
    for n in 0..100 {
        sender.send(ms(n));
    }
    for n in 0..100 {
        sender.ack(ms(100 + n as u64), n..n + 1);
        sender.send(ms(100 + n as u64));
    }
    let sample = sender.ack(ms(310), 100..200);
    // Packet 199 was sent at 199 ms just after the ack of packet 99 (sent at 99 ms) had come: 120 000 B
    // delivered since, send interval 199 - 99 = 100 ms, ack interval 310 - 199 = 111 ms.
    assert_eq!(sample.delivered_since_sent(), 100 * PACKET);
    assert_eq!((sample.send_interval, sample.ack_interval), (span(100), span(111)));
    // Compressed acks: the send interval holds.
    let mut sender = Sender::new(SamplingRule::LastAck);
    for n in 0..10 {
        sender.send(ms(n * 10));
    }
    sender.ack(ms(99), 0..1);
    let sample = sender.ack(ms(99), 1..10);
    assert_eq!((sample.send_interval, sample.ack_interval), (span(90), span(99)));
}

#[test]
fn an_ack_of_nothing_gives_no_sample_and_changes_nothing() {
    // bugs.md A11 and C15.
    let mut sender = Sender::new(SamplingRule::LastAck);
    sender.send_many(ms(0), 5);
    sender.ack(ms(50), 0..1);
    sender.lose(1);
    assert_eq!(sender.rate.finish_frame(ms(60)), None);
    assert_eq!((sender.rate.delivered(), sender.rate.lost()), (PACKET, PACKET));
    // The loss belonged to the frame that is over; packet 2 was sent before it.
    let sample = sender.ack(ms(70), 2..3);
    assert_eq!((sample.newly_lost, sample.lost_since_sent), (0, PACKET));
}

#[test]
fn losses_count_from_the_send_of_the_packet_and_each_once() {
    // bugs.md E12: sent 0..100 at 0; 30 lost in one event, then one more with an ack.
    let mut sender = Sender::new(SamplingRule::LastAck);
    sender.send_many(ms(0), 100);
    for n in 0..30 {
        sender.lose(n);
    }
    assert_eq!(sender.rate.finish_frame(ms(90)), None);
    let after = sender.send(ms(95));
    sender.lose(30);
    let sample = sender.ack(ms(100), 31..32);
    assert_eq!((sample.newly_lost, sample.lost_since_sent), (PACKET, 31 * PACKET));
    let sample = sender.ack(ms(200), after..after + 1);
    assert_eq!((sample.newly_lost, sample.lost_since_sent), (0, PACKET));
}

#[test]
fn a_late_ack_counts_as_delivered_once_and_apart() {
    // bugs.md C13.
    let mut sender = Sender::new(SamplingRule::LastAck);
    sender.send_many(ms(0), 3);
    sender.lose(0);
    sender.rate.finish_frame(ms(100));
    sender.mark_acked(ms(120), 0, true);
    let sample = sender.rate.finish_frame(ms(120)).unwrap();
    assert_eq!((sample.newly_acked, sample.late_acked), (0, PACKET));
    assert_eq!((sender.rate.delivered(), sender.rate.lost()), (PACKET, PACKET));
}

#[test]
fn the_packet_sent_while_limited_is_marked_and_losses_shorten_the_bubble() {
    // bugs.md E1, saying so before each send, as a stack does that knows it then.
    let mut sender = Sender::new(SamplingRule::LastAck);
    sender.app_limited();
    let first = sender.send(ms(0));
    sender.app_limited();
    let second = sender.send(ms(0));
    assert!(sender.snapshot(first).app_limited && sender.snapshot(second).app_limited);
    sender.lose(first);
    let sample = sender.ack(ms(100), second..second + 1);
    assert!(sample.app_limited);
    assert!(!sender.rate.is_app_limited());
    sender.send_many(ms(101), 10);
    assert!(!sender.ack(ms(201), 2..12).app_limited);
}

#[test]
fn a_flow_that_says_so_once_per_round_is_marked_from_the_second_round_on() {
    // One packet per round, said after its send: the mark lies at the end of the flight, which the ack reaches and does
    // not pass, so that the next packet belongs to it ("Upon receiving an ACK": C.delivered > C.app_limited).
    let mut sender = Sender::new(SamplingRule::LastAck);
    for round in 0..8_u64 {
        let number = sender.send(ms(50 * round));
        sender.app_limited();
        let sample = sender.ack(ms(50 * round + 49), number..number + 1);
        assert_eq!(sample.app_limited, round > 0, "{round}");
    }
    // It has data again and says nothing: the first flight is still marked, the next is not.
    sender.send_many(ms(400), 2);
    assert!(sender.ack(ms(449), 8..10).app_limited);
    sender.send_many(ms(450), 2);
    assert!(!sender.ack(ms(499), 10..12).app_limited);
}

#[test]
fn a_loss_before_the_mark_lets_the_bubble_go_a_packet_earlier() {
    // bugs.md E1 (c), saying so after the sends: the mark at 3600 B becomes 2400 B with the loss. Two acks reach it, the
    // one of the packet behind it passes it; without the loss it would take one more.
    let mut sender = Sender::new(SamplingRule::LastAck);
    sender.send_many(ms(0), 3);
    sender.app_limited();
    sender.send_many(ms(1), 2);
    sender.lose(0);
    sender.ack(ms(100), 1..3);
    assert!(sender.rate.is_app_limited());
    sender.ack(ms(101), 3..4);
    assert!(!sender.rate.is_app_limited());
}

#[test]
fn the_bubble_lasts_until_a_packet_behind_it_is_delivered() {
    let mut sender = Sender::new(SamplingRule::LastAck);
    sender.send_many(ms(0), 2);
    sender.app_limited();
    let behind = sender.send(ms(50));
    assert!(!sender.ack(ms(100), 0..2).app_limited);
    let still = sender.send(ms(101));
    assert!(sender.snapshot(behind).app_limited && sender.snapshot(still).app_limited);
    assert!(sender.ack(ms(150), behind..behind + 1).app_limited);
    let after = sender.send(ms(151));
    assert!(!sender.snapshot(after).app_limited);
}

#[test]
fn a_discard_shortens_the_bubble_too() {
    let mut sender = Sender::new(SamplingRule::LastAck);
    sender.send_many(ms(0), 3);
    sender.app_limited();
    // 3600 - 2400 = 1200: gone as soon as more than one packet is delivered.
    sender.rate.on_discarded(2 * PACKET);
    sender.in_flight -= 2 * PACKET;
    sender.send_many(ms(1), 1);
    sender.ack(ms(100), 0..1);
    assert!(sender.rate.is_app_limited());
    sender.ack(ms(101), 3..4);
    assert!(!sender.rate.is_app_limited());
}

#[test]
fn restart_after_idle_stays_limited_for_the_first_flight() {
    let mut sender = Sender::new(SamplingRule::LastAck);
    sender.send_many(ms(0), 2);
    sender.ack(ms(100), 0..2);
    sender.app_limited();
    sender.send_many(ms(900), 2);
    let sample = sender.ack(ms(1_000), 2..4);
    assert!(sample.app_limited);
    // Not measured over the idle time: the interval starts at the send.
    assert_eq!(sample.interval(), span(100));
}

#[test]
fn c4_stores_a_point_first_and_takes_no_sample_from_packets_without_one() {
    let mut sender = Sender::new(C4);
    sender.send_many(ms(0), 4);
    assert_eq!(sender.snapshot(0).delivered_at, None);
    let first = sender.ack(ms(100), 0..1);
    assert!(!first.moved_reference);
    assert_eq!(first.interval(), Duration::ZERO);
    // Sent before the point existed: no sample, and the point stays.
    let second = sender.ack(ms(110), 1..2);
    assert!(!second.moved_reference);
    // Sent after: remembers 1200 B at 100 ms, packet of 0 ms.
    let number = sender.send(ms(110));
    assert_eq!(
        sender.snapshot(number),
        PacketSnapshot {
            delivered: PACKET,
            delivered_at: Some(ms(100)),
            first_sent_at: ms(0),
            lost: 0,
            bytes_in_flight: 3 * PACKET,
            app_limited: false,
        }
    );
    sender.ack(ms(200), 2..4);
    let sample = sender.ack(ms(210), 4..5);
    // Packets 1 to 4 = 4800 B since 100 ms; ack interval 110, send interval 110 - 0.
    assert!(sample.moved_reference);
    assert_eq!(sample.delivered_since_sent(), 4 * PACKET);
    assert_eq!((sample.ack_interval, sample.send_interval), (span(110), span(110)));
}

#[test]
fn c4_wants_more_than_the_minimum_between_acks() {
    for (nanos, accepted) in [(1_000_000, false), (1_000_999, false), (1_001_000, true)] {
        let mut sender = Sender::new(C4);
        sender.send(ms(0));
        sender.ack(ms(100), 0..1);
        sender.send(ms(100));
        let now = ms(100).after(Duration::from_nanos(nanos));
        assert_eq!(sender.ack(now, 1..2).moved_reference, accepted);
        // A refused sample leaves the point where it was.
        let next = sender.send(ms(200));
        let point = if accepted { now } else { ms(100) };
        assert_eq!(sender.snapshot(next).delivered_at, Some(point));
    }
}

#[test]
fn c4_compares_times_truncated_to_microseconds() {
    let at = |nanos: u64| Instant::from_nanos(100_000_000 + nanos);
    // The point at 100 000.9 us counts as 100 000, the ack at 101 001.0 us as 101 001: 1001 us, though 1000.1 apart; the
    // ack at 101 000.9 us is 1000 us later.
    for (now, accepted) in [(1_001_000, true), (1_000_900, false)] {
        let mut sender = Sender::new(C4);
        sender.send(ms(0));
        sender.ack(at(900), 0..1);
        sender.send(at(900));
        assert_eq!(sender.ack(at(now), 1..2).moved_reference, accepted);
    }
    // A packet sent in the same microsecond as that of the last accepted sample was not sent before it.
    for (first, second, accepted) in [(0, 999, true), (999, 1_000, false)] {
        let mut sender = Sender::new(C4);
        sender.send(ms(0));
        sender.ack(ms(50), 0..1);
        sender.send(at(first));
        sender.send(at(second));
        assert!(sender.ack(ms(200), 2..3).moved_reference);
        assert_eq!(sender.ack(ms(300), 1..2).moved_reference, accepted);
    }
}

#[test]
fn c4_skips_a_packet_sent_before_that_of_the_last_accepted_sample() {
    let mut sender = Sender::new(C4);
    sender.send(ms(0));
    sender.ack(ms(100), 0..1);
    sender.send(ms(100));
    sender.send(ms(110));
    assert!(sender.ack(ms(210), 2..3).moved_reference);
    let reordered = sender.ack(ms(220), 1..2);
    assert!(!reordered.moved_reference);
    assert_eq!(reordered.delivered, 3 * PACKET);
}

#[test]
fn c4_does_not_count_late_acks_as_delivered() {
    let mut sender = Sender::new(C4);
    sender.send(ms(0));
    sender.ack(ms(100), 0..1);
    sender.send_many(ms(100), 3);
    sender.lose(1);
    sender.mark_acked(ms(200), 1, true);
    sender.mark_acked(ms(200), 2, false);
    let sample = sender.rate.finish_frame(ms(200)).unwrap();
    assert_eq!((sample.delivered, sample.late_acked, sample.newly_acked), (2 * PACKET, PACKET, PACKET));
    assert!(sample.moved_reference);
    // Only a late packet: reported, but no sample.
    sender.lose(3);
    sender.rate.finish_frame(ms(250));
    sender.mark_acked(ms(300), 3, true);
    let late = sender.rate.finish_frame(ms(300)).unwrap();
    assert_eq!((late.delivered, late.late_acked, late.moved_reference), (2 * PACKET, PACKET, false));
}

#[test]
fn totals_pass_four_gigabytes() {
    // bugs.md A3.
    let mut rate = DeliveryRate::new(SamplingRule::LastAck);
    let big = u64::from(u32::MAX);
    for n in 0..3 {
        let snapshot = rate.on_sent(ms(n), 0, big);
        assert_eq!(snapshot.delivered, n * big);
        rate.on_acked(ms(n), Some(n), ms(n), big, &snapshot, false);
        assert_eq!(rate.finish_frame(ms(n)).unwrap().delivered_since_sent(), big);
    }
}

#[test]
fn without_samples_totals_and_the_application_limited_phase_are_the_same() {
    // 3000 in flight when no data was left, and 5000 delivered before: over once more than 8000 is delivered.
    let after = |rule, newly: u64, late: u64| {
        let mut rate = DeliveryRate::new(rule);
        rate.count_frame(5_000, 0);
        rate.on_app_limited(3_000);
        rate.on_lost(1_000);
        rate.count_frame(newly, late);
        (rate.delivered(), rate.lost(), rate.is_app_limited())
    };
    // The loss made it 7000.
    assert_eq!(after(SamplingRule::LastAck, 2_000, 0), (7_000, 1_000, true));
    assert_eq!(after(SamplingRule::LastAck, 2_001, 0), (7_001, 1_000, false));
    // The 1000 are acked after all: 8000 again, and they count as delivered.
    assert_eq!(after(SamplingRule::LastAck, 2_000, 1_000), (8_000, 1_000, true));
    assert_eq!(after(SamplingRule::LastAck, 2_001, 1_000), (8_001, 1_000, false));
    // They do not under C4's rule.
    assert_eq!(after(C4, 2_000, 1_000), (7_000, 1_000, true));
    assert_eq!(after(C4, 2_001, 1_000), (7_001, 1_000, false));
}

proptest! {
    /// Losses of a frame come first, as in [`Path`](crate::Path).
    #[test]
    fn counting_a_frame_and_sampling_it_come_to_the_same(
        rule in prop_oneof![Just(SamplingRule::LastAck), Just(C4)],
        frames in proptest::collection::vec(
            (0..3_000_u64, proptest::collection::vec((0..3_000_u64, any::<bool>()), 0..4), any::<bool>()), 1..50,
        ),
    ) {
        let (mut sampled, mut counted) = (DeliveryRate::new(rule), DeliveryRate::new(rule));
        for (index, (lost, acks, limited)) in (0..).zip(frames) {
            for rate in [&mut sampled, &mut counted] {
                if limited {
                    rate.on_app_limited(4_000);
                }
                rate.on_lost(lost);
            }
            let sum = |late| acks.iter().filter(|ack| ack.1 == late).map(|ack| ack.0).sum();
            for &(bytes, was_lost) in &acks {
                sampled.on_acked(ms(index), None, ms(index), bytes, &PacketSnapshot::default(), was_lost);
            }
            sampled.finish_frame(ms(index));
            counted.count_frame(sum(false), sum(true));
            let seen = |rate: &DeliveryRate| (rate.delivered(), rate.lost(), rate.is_app_limited());
            prop_assert_eq!(seen(&sampled), seen(&counted));
        }
    }

    #[test]
    fn nothing_panics_and_totals_only_grow(
        rule in prop_oneof![Just(SamplingRule::LastAck), Just(C4)],
        calls in proptest::collection::vec((0..7_u8, any::<u64>(), any::<u64>(), any::<bool>()), 1..100),
    ) {
        let mut rate = DeliveryRate::new(rule);
        let mut snapshot = PacketSnapshot::default();
        for (call, time, bytes, flag) in calls {
            let now = Instant::from_nanos(time);
            let (delivered, lost) = (rate.delivered(), rate.lost());
            match call {
                0 => snapshot = rate.on_sent(now, bytes, bytes.saturating_add(1)),
                1 => rate.on_acked(now, flag.then_some(bytes), now, bytes, &snapshot, flag),
                2 => rate.on_lost(bytes),
                3 => rate.on_discarded(bytes),
                4 => rate.on_app_limited(bytes),
                5 => rate.count_frame(bytes, time),
                _ => {
                    if let Some(sample) = rate.finish_frame(now) {
                        prop_assert_eq!(sample.delivered, rate.delivered());
                        prop_assert!(sample.delivered_since_sent() <= sample.delivered);
                        prop_assert!(sample.lost_since_sent <= rate.lost());
                    }
                }
            }
            prop_assert!(rate.delivered() >= delivered && rate.lost() >= lost);
        }
    }
}
