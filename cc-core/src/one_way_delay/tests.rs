use super::{BUCKET, DelaySource, OneWayDelay};
use crate::{Duration, Instant, PeerInstant};
use proptest::prelude::*;

const SECOND: u64 = 1_000_000_000;

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// The paper's form: the sum of inter-arrival less inter-departure times, clamped at zero.
#[derive(Default)]
struct ClampedSum {
    last: Option<(i128, i128)>,
    queue: i128,
}

impl ClampedSum {
    fn on_packet(&mut self, sent: i128, received: i128) -> i128 {
        if let Some((last_sent, last_received)) = self.last {
            let variation = (received - last_received) - (sent - last_sent);
            self.queue = (self.queue + variation).max(0);
        }
        self.last = Some((sent, received));
        self.queue
    }
}

/// Packets on a path with a one-way delay of 20 ms each way, the peer's clock being `offset` ahead and `drift_ppm` faster.
struct Link {
    estimator: OneWayDelay,
    offset: u64,
    drift_ppm: i64,
    next: u64,
}

impl Link {
    fn new(offset: u64, drift_ppm: i64) -> Self {
        Self { estimator: OneWayDelay::new(), offset, drift_ppm, next: 0 }
    }

    fn peer(&self, at: u64) -> PeerInstant {
        let drift = i128::from(at) * i128::from(self.drift_ppm) / 1_000_000;
        PeerInstant::from_nanos(self.offset.wrapping_add(at).wrapping_add(drift as u64))
    }

    /// A packet sent at `at` ns that queues for `forward` and whose ACK queues for `reverse`.
    fn send(&mut self, at: u64, forward: Duration, reverse: Duration) -> Option<Duration> {
        let number = self.next;
        self.next += 1;
        let received = at + 20_000_000 + forward.as_nanos();
        let now = Instant::from_nanos(received + 20_000_000 + reverse.as_nanos());
        self.estimator.on_received(now, Some(number), Instant::from_nanos(at), self.peer(received))
    }
}

proptest! {
    #[test]
    fn the_clamped_sum_is_the_delay_less_the_minimum_of_the_prefix(
        packets in prop::collection::vec((0..1_u64 << 62, 0..1_u64 << 62), 1..200),
    ) {
        // OWQD_i = OWD_i - min(OWD_0..OWD_i), for any values in any order, in processing order.
        let mut sum = ClampedSum::default();
        let mut least = i128::MAX;
        for (sent, received) in packets {
            let (sent, received) = (i128::from(sent), i128::from(received));
            least = least.min(received - sent);
            prop_assert_eq!(sum.on_packet(sent, received), received - sent - least);
        }
    }

    #[test]
    fn the_estimator_is_the_clamped_sum_as_long_as_its_base_does_not_age(
        packets in prop::collection::vec((0..40_000_000_u64, 0..200_000_000_u64), 1..100), offset in any::<u64>(),
    ) {
        // Up to 100 packets, 40 ms apart: within the first bucket of 5 s.
        let mut estimator = OneWayDelay::new();
        let mut sum = ClampedSum::default();
        let mut sent = 0;
        for (number, (gap, delay)) in packets.into_iter().enumerate() {
            sent += gap;
            let stamp = PeerInstant::from_nanos((sent + delay).wrapping_add(offset));
            let queue = estimator.on_received(
                Instant::from_nanos(sent + 1), Some(number as u64), Instant::from_nanos(sent), stamp,
            );
            let oracle = sum.on_packet(i128::from(sent), i128::from(sent + delay));
            prop_assert_eq!(queue.map(|queue| i128::from(queue.as_nanos())), Some(oracle));
        }
    }

    #[test]
    fn on_the_packets_with_stamps_missing_ones_change_nothing(
        packets in prop::collection::vec((0..40_000_000_u64, 0..200_000_000_u64, any::<bool>()), 1..100),
    ) {
        let (mut all, mut observed) = (ClampedSum::default(), OneWayDelay::new());
        let mut sent = 0;
        for (number, (gap, delay, has_stamp)) in packets.into_iter().enumerate() {
            sent += gap;
            if !has_stamp {
                continue;
            }
            let (at, stamp) = (Instant::from_nanos(sent), PeerInstant::from_nanos(sent + delay));
            let queue = observed.on_received(at, Some(number as u64), at, stamp);
            let oracle = all.on_packet(i128::from(sent), i128::from(sent + delay));
            prop_assert_eq!(queue.map(|queue| i128::from(queue.as_nanos())), Some(oracle));
        }
    }

    #[test]
    fn any_stamps_at_any_times_are_taken(
        calls in prop::collection::vec(
            (any::<u64>(), prop::option::of(any::<u64>()), any::<u64>(), prop::option::of(any::<u64>()), any::<u64>()),
            1..100,
        ),
    ) {
        let mut estimator = OneWayDelay::new();
        for (now, number, sent, received, ack_delay) in calls {
            let (now, sent) = (Instant::from_nanos(now), Instant::from_nanos(sent));
            let queue = match received {
                Some(received) => {
                    let queue = estimator.on_received(now, number, sent, PeerInstant::from_nanos(received));
                    prop_assert_eq!(estimator.source(), Some(DelaySource::ReceiveTimes));
                    queue
                }
                None => estimator.on_ack_arrival(now, sent, Duration::from_nanos(ack_delay)),
            };
            estimator.on_drained(now);
            // At most the largest positive difference.
            prop_assert!(queue.is_none_or(|queue| queue.as_nanos() <= i64::MAX.unsigned_abs()));
        }
    }

    #[test]
    fn an_offset_of_the_clocks_changes_nothing(
        packets in prop::collection::vec((0..400_000_000_u64, 0..200_000_000_u64), 1..100), offset in any::<u64>(),
    ) {
        let (mut plain, mut shifted) = (Link::new(0, 0), Link::new(offset, 0));
        let mut at = 0;
        for (gap, queue) in packets {
            at += gap;
            let queue = Duration::from_nanos(queue);
            prop_assert_eq!(plain.send(at, queue, ms(0)), shifted.send(at, queue, ms(0)));
        }
    }
}

#[test]
fn a_drift_of_200_ppm_over_ten_minutes_gives_no_signal_above_two_milliseconds() {
    for drift_ppm in [-200, 200] {
        let mut link = Link::new(1 << 50, drift_ppm);
        let mut worst = Duration::ZERO;
        // A packet every 10 ms for 600 s.
        for n in 0..60_000 {
            worst = worst.max(link.send(10_000_000 * n, ms(0), ms(0)).unwrap());
        }
        // A base of at most 10 s: 200 ppm of it are 2 ms.
        assert!(worst <= ms(2), "{drift_ppm} ppm: {worst:?}");
    }
}

#[test]
fn a_true_queue_is_seen_by_the_first_packet_that_waited_in_it_whatever_the_drift() {
    for drift_ppm in [-200, 0, 200] {
        let mut link = Link::new(77, drift_ppm);
        for n in 0..60_000 {
            link.send(10_000_000 * n, ms(0), ms(0));
        }
        let seen = link.send(600 * SECOND, ms(20), ms(0)).unwrap();
        assert!((ms(18)..=ms(22)).contains(&seen), "{drift_ppm} ppm: {seen:?}");
    }
}

#[test]
fn a_queue_on_the_way_back_is_not_seen() {
    let mut link = Link::new(1 << 40, 0);
    link.send(0, ms(0), ms(0));
    for n in 1..100 {
        assert_eq!(link.send(10_000_000 * n, ms(0), ms(100)), Some(ms(0)));
    }
}

#[test]
fn without_stamps_a_queue_on_the_way_back_is_taken_for_one_on_the_way_there() {
    // Sent at 0 and 10 ms, acked at 40 and 150 ms with ack delays of 0 and 10 ms: 40 and 130 ms, 90 more.
    let mut estimator = OneWayDelay::new();
    let at = Instant::from_millis;
    assert_eq!(estimator.on_ack_arrival(at(40), at(0), ms(0)), Some(ms(0)));
    assert_eq!(estimator.on_ack_arrival(at(150), at(10), ms(10)), Some(ms(90)));
    assert_eq!(estimator.source(), Some(DelaySource::AckArrival));
    assert_eq!(estimator.queue(), Some(ms(90)));
    // An ack delay longer than the round trip is none at all.
    assert_eq!(estimator.on_ack_arrival(at(160), at(20), Duration::MAX), Some(ms(0)));
}

#[test]
fn the_first_stamp_takes_the_place_of_ack_arrivals_and_they_come_back_when_stamps_end() {
    let at = Instant::from_millis;
    let mut estimator = OneWayDelay::new();
    estimator.on_ack_arrival(at(40), at(0), ms(0));
    let stamp = PeerInstant::from_nanos(5);
    assert_eq!(estimator.on_received(at(50), Some(1), at(10), stamp), Some(ms(0)));
    assert_eq!(estimator.source(), Some(DelaySource::ReceiveTimes));
    // Frames without stamps give nothing for as long as the base may still be of use: 10 s from the start of its bucket.
    assert_eq!(estimator.on_ack_arrival(at(60), at(20), ms(0)), None);
    assert_eq!(estimator.on_ack_arrival(at(10_049), at(10_009), ms(0)), None);
    assert_eq!(estimator.source(), Some(DelaySource::ReceiveTimes));
    assert_eq!(estimator.on_ack_arrival(at(10_050), at(10_010), ms(0)), Some(ms(0)));
    assert_eq!(estimator.source(), Some(DelaySource::AckArrival));
}

#[test]
fn a_late_packet_and_a_second_stamp_give_no_sample() {
    let mut link = Link::new(0, 0);
    link.send(0, ms(0), ms(0));
    link.send(1_000_000, ms(0), ms(0));
    let mut estimator = link.estimator;
    let at = Instant::from_millis;
    // Packet 1 again, 80 ms later; packet 0, late.
    for (number, sent) in [(1, 1), (0, 0)] {
        let late = PeerInstant::from_nanos(100_000_000);
        assert_eq!(estimator.on_received(at(120), Some(number), at(sent), late), None);
    }
    assert_eq!(estimator.queue(), Some(ms(0)));
    // By send time, where numbers are unknown.
    let mut estimator = OneWayDelay::new();
    estimator.on_received(at(50), None, at(10), PeerInstant::from_nanos(30_000_000));
    assert_eq!(estimator.on_received(at(120), None, at(9), PeerInstant::from_nanos(100_000_000)), None);
    let queue = estimator.on_received(at(120), None, at(10), PeerInstant::from_nanos(31_000_000));
    assert_eq!(queue, Some(ms(1)), "sent at the same time");
}

#[test]
fn a_longer_route_looks_like_a_queue_until_the_base_is_held_no_longer() {
    // Packets every 10 ms; from 3 s on the route is 30 ms longer.
    let mut link = Link::new(0, 0);
    let mut seen = |at_ms: u64, extra: u64| link.send(at_ms * 1_000_000, ms(extra), ms(0)).unwrap();
    for at in (0..3_000).step_by(10) {
        assert_eq!(seen(at, 0), ms(0));
    }
    for at in (3_000..80_000).step_by(10) {
        // Buckets begin with the first ACK at 40 ms. That of the short route ends at 5.04 s; those that end at 10.04 to 55.04 s do not
        // take its place, the one that ends at 60.04 s does. ACKs come 70 ms after the send now.
        let expected = if at + 70 < 60_040 { ms(30) } else { ms(0) };
        assert_eq!(seen(at, 30), expected, "at {at} ms");
    }
    // A shorter one is followed at once.
    assert_eq!(seen(80_000, 5), ms(0));
    assert_eq!(seen(80_010, 30), ms(25));
}

#[test]
fn a_little_longer_is_no_queue_after_ten_seconds() {
    // 5 ms: the bucket that ends at 10.04 s takes its place.
    let mut link = Link::new(0, 0);
    link.send(0, ms(0), ms(0));
    for at in (10..20_000_u64).step_by(10) {
        let expected = if at + 45 < 10_040 { ms(5) } else { ms(0) };
        assert_eq!(link.send(at * 1_000_000, ms(5), ms(0)), Some(expected), "at {at} ms");
    }
}

#[test]
fn a_queue_that_now_and_then_drains_is_seen_for_ever() {
    // 40 ms, and nothing for one packet every 50 s: the base is held from one to the next.
    let mut link = Link::new(0, 0);
    for at in (0..600_000_u64).step_by(10) {
        let queue = if at % 50_000 == 0 { 0 } else { 40 };
        assert_eq!(link.send(at * 1_000_000, ms(queue), ms(0)), Some(ms(queue)), "at {at} ms");
    }
}

#[test]
fn drift_while_a_queue_stands_adds_up_to_twelve_milliseconds_and_no_further() {
    // 200 ppm of 60 s. A queue of 20 ms for ten minutes.
    for drift_ppm in [-200, 200] {
        let mut link = Link::new(0, drift_ppm);
        link.send(0, ms(0), ms(0));
        for n in 1..60_000 {
            let seen = link.send(10_000_000 * n, ms(20), ms(0)).unwrap();
            assert!(seen <= ms(32), "{drift_ppm} ppm: {seen:?}");
        }
    }
}

#[test]
fn a_change_of_path_that_is_known_starts_again() {
    let mut link = Link::new(0, 0);
    link.send(0, ms(0), ms(0));
    link.estimator.reset();
    assert_eq!((link.estimator.queue(), link.estimator.source()), (None, None));
    assert_eq!(link.send(10_000_000, ms(30), ms(0)), Some(ms(0)));
}

#[test]
fn a_loss_or_a_reduction_resets_nothing() {
    // `on_drained` at a moment with a queue, which is what a controller that is mistaken would do: the queue stays visible.
    let mut link = Link::new(0, 0);
    link.send(0, ms(0), ms(0));
    link.estimator.on_drained(Instant::from_millis(3_000));
    assert_eq!(link.send(3_000_000_000, ms(30), ms(0)), Some(ms(30)));
}

#[test]
fn a_drained_queue_renews_the_base_although_the_bucket_is_not_over() {
    // Drift of 200 ppm. Told of a drained queue every 2.6 s the base looks back for two times that: 1.04 ms at most, not 2.
    for (told, worst) in [(true, 1_050), (false, 2_000)] {
        let mut link = Link::new(0, 200);
        let mut highest = Duration::ZERO;
        for n in 0..10_000_u64 {
            let seen = link.send(10_000_000 * n, ms(0), ms(0)).unwrap();
            highest = highest.max(seen);
            if told && n % 260 == 0 {
                link.estimator.on_drained(Instant::from_millis(10 * n + 40));
            }
        }
        let worst = Duration::from_micros(worst);
        assert!(highest <= worst && highest > worst.divided_by(2), "{told}: {highest:?}");
    }
}

#[test]
fn a_drained_queue_does_not_end_a_bucket_that_has_just_begun() {
    let mut link = Link::new(0, 0);
    link.send(0, ms(0), ms(0));
    for at in 1..200 {
        let now = Instant::from_millis(40 + at * 10);
        link.estimator.on_drained(now);
        link.send(at * 10_000_000, ms(10), ms(0));
    }
    // Not for 2.5 s: all of it is one bucket, and its minimum is still the base.
    assert_eq!(link.send(2_000_000_000, ms(10), ms(0)), Some(ms(10)));
}

#[test]
fn after_a_pause_longer_than_the_base_lives_the_first_sample_is_the_base() {
    let mut link = Link::new(0, 0);
    link.send(0, ms(0), ms(0));
    let queue = link.send(BUCKET.as_nanos() * 2, ms(30), ms(0));
    assert_eq!(queue, Some(ms(0)));
}

#[test]
fn a_pause_after_a_drained_queue_does_not_make_the_base_older() {
    // Samples up to 3 s; drained; nothing until 8.5 s, when the newest of them is 5.5 s old, and the oldest 8.5 s.
    let mut link = Link::new(0, 0);
    for at in (0..3_000).step_by(10) {
        link.send(at * 1_000_000, ms(0), ms(0));
    }
    link.estimator.on_drained(Instant::from_millis(3_040));
    assert_eq!(link.send(8_500_000_000, ms(30), ms(0)), Some(ms(0)));
}

#[test]
fn stamps_that_are_rounded_down_cost_what_was_rounded() {
    // Exponent 10: 1.024 ms. A constant delay of 20 ms reads as 0 to 1.024 ms of queue.
    let mut estimator = OneWayDelay::new();
    for n in 0..1_000 {
        let sent = n * 7_777_777;
        let stamp = PeerInstant::from_nanos((sent + 20_000_000) / 1_024_000 * 1_024_000);
        let now = Instant::from_nanos(sent + 40_000_000);
        let queue = estimator.on_received(now, Some(n), Instant::from_nanos(sent), stamp).unwrap();
        assert!(queue <= Duration::from_nanos(1_024_000));
    }
}

#[test]
fn a_clock_that_goes_backwards_does_not_stop_the_base_from_ageing() {
    // bugs.md F3: a day ahead, and back. The base is gone 10 s after that.
    let mut estimator = OneWayDelay::new();
    let day = 86_400 * SECOND;
    let mut sample = |n: u64, now: u64, delay_ms: u64| {
        let sent = Instant::from_nanos(now);
        let stamp = PeerInstant::from_nanos(now + delay_ms * 1_000_000);
        estimator.on_received(sent, Some(n), sent, stamp).unwrap()
    };
    sample(0, day, 20);
    assert_eq!(sample(1, 0, 24), ms(4));
    for n in 2..=21 {
        let expected = if n < 21 { ms(4) } else { ms(0) };
        assert_eq!(sample(n, (n - 1) * SECOND / 2, 24), expected, "{n}");
    }
}

#[test]
fn the_estimator_is_small() {
    assert!(size_of::<OneWayDelay>() <= 40, "{}", size_of::<OneWayDelay>());
}
