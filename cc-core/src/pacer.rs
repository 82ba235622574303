//! The pacer: a token bucket in bytes (RFC 9002 section 7.7).

use crate::{Duration, Instant, Rate, division};
use std::num::NonZeroU64;

const NANOS_PER_SEC: u64 = 1_000_000_000;

/// Largest burst, in bytes. With it and [`MAX_DEBT`] everything the bucket may lack, times 10^9, fits in 64
/// bits, and a product of rate and time that does not fit in 64 bits (18.4 GB) has filled the bucket.
const MAX_BURST: u64 = 1 << 32;

/// How much more than allowed may be owed, in bytes: the larger of this (one UDP datagram of the largest size)
/// and one burst. What is sent beyond it is forgotten, so that a row of probes cannot block the sender for long.
const MAX_DEBT: u64 = 65_535;

/// Farthest that a departure time may be ahead of the time of the next call. A larger step back is a clock
/// that was set, and the bucket goes on from the new time.
const MAX_AHEAD: Duration = Duration::from_secs(1);

/// A token bucket: says when the next packet may leave. Sans-IO: it owns no timer.
///
/// Credit accrues at the pacing rate up to one burst and pays for packets by their bytes. It is exact: what a
/// step leaves over below one byte is carried to the next step, so that no rounding slows the sender down.
/// A packet larger than the burst leaves when the bucket is full and goes into debt.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pacer {
    /// In bytes per second; `None` if unpaced.
    rate: Option<NonZeroU64>,
    /// 1 to [`MAX_BURST`].
    burst: u64,
    /// Bytes that may be sent at `last`; below zero in debt.
    credit: i64,
    /// Credit below one byte, in bytes / 10^9; less than 10^9.
    fraction: u64,
    /// Time up to which credit has accrued.
    last: Instant,
}

impl Pacer {
    /// A full bucket, unpaced until [`Pacer::set_rate`] is called. `burst_bytes` is clamped to 1 ..= 2^32.
    #[must_use]
    pub fn new(now: Instant, burst_bytes: u64) -> Self {
        let burst = burst_bytes.clamp(1, MAX_BURST);
        Self { rate: None, burst, credit: burst.cast_signed(), fraction: 0, last: now }
    }

    /// Sets the rate and the largest burst. Credit up to `now` accrues at the old rate. Cheap if nothing
    /// changed. `None` is unpaced, and so is a rate of zero: a pacer never blocks for ever.
    pub fn set_rate(&mut self, now: Instant, rate: Option<Rate>, burst_bytes: u64) {
        let rate = rate.and_then(|rate| NonZeroU64::new(rate.as_bytes_per_sec()));
        let burst = burst_bytes.clamp(1, MAX_BURST);
        if rate == self.rate && burst == self.burst {
            return;
        }
        self.accrue(now);
        self.rate = rate;
        self.burst = burst;
        self.cap();
    }

    /// The rate in force; `None` if unpaced.
    #[must_use]
    pub const fn rate(&self) -> Option<Rate> {
        match self.rate {
            Some(rate) => Some(Rate::from_bytes_per_sec(rate.get())),
            None => None,
        }
    }

    /// When a packet of `bytes` bytes may leave. At most `now` means at once; otherwise the earliest whole
    /// nanosecond at which the credit is there.
    #[inline]
    pub fn departure(&mut self, now: Instant, bytes: u64) -> Instant {
        self.accrue(now);
        let Some(rate) = self.rate else { return now };
        // Both are at most 2^32.
        let needed = bytes.min(self.burst).cast_signed();
        if needed <= self.credit {
            // Later than now only if the last packet was given a departure time that is still to come.
            return self.last;
        }
        let missing = needed.abs_diff(self.credit);
        // At most (2^32 + 2^32) * 10^9, which is below 2^63, and at least 10^9, which the fraction is below.
        let wanted = missing.wrapping_mul(NANOS_PER_SEC).wrapping_sub(self.fraction);
        self.last.after(Duration::from_nanos(division::divide_up(wanted, rate)))
    }

    /// Bytes that may be sent at `now`: at most one burst, `u64::MAX` if unpaced.
    pub fn allowance(&mut self, now: Instant) -> u64 {
        self.accrue(now);
        if self.rate.is_none() { u64::MAX } else { u64::try_from(self.credit).unwrap_or(0) }
    }

    /// A packet of `bytes` bytes was handed over at `now` to leave at `departure`, which counts as `now` if it is before it
    /// and as one second after it if it is later than that.
    ///
    /// It is charged whether or not it was allowed (probes are never held back); the debt is at most one
    /// burst or 65 535 bytes, whichever is larger.
    #[inline]
    pub fn on_sent(&mut self, now: Instant, departure: Instant, bytes: u64) {
        let ahead = departure > now;
        self.accrue(if ahead { departure.min(now.after(MAX_AHEAD)) } else { now });
        if self.rate.is_some() {
            // The deepest debt is 2^32 bytes: more than twice as much is no more.
            let deepest = self.burst.max(MAX_DEBT).cast_signed().wrapping_neg();
            let bytes = bytes.min(2 * MAX_BURST).cast_signed();
            self.credit = self.credit.wrapping_sub(bytes).max(deepest);
        }
    }

    /// Adds what has accrued since `last`. A clock that went backwards adds nothing.
    fn accrue(&mut self, now: Instant) {
        let Some(rate) = self.rate else {
            self.credit = self.burst.cast_signed();
            self.last = now;
            return;
        };
        if now <= self.last {
            if self.last.since(now) > MAX_AHEAD {
                self.last = now;
            }
            return;
        }
        let elapsed = now.since(self.last).as_nanos();
        self.last = now;
        let rate = rate.get();
        let product = if (rate | elapsed) >> 32 == 0 {
            // The rule: 4.29 GB/s and 4.29 s at most. (2^32 - 1)^2 + 10^9 fits.
            Some(rate.wrapping_mul(elapsed).wrapping_add(self.fraction))
        } else {
            rate.checked_mul(elapsed).and_then(|product| product.checked_add(self.fraction))
        };
        match product {
            Some(product) => {
                let bytes = division::by_billion(product);
                // At most 1.9 * 10^10.
                self.credit = self.credit.wrapping_add(bytes.cast_signed());
                self.fraction = product.wrapping_sub(bytes.wrapping_mul(NANOS_PER_SEC));
            }
            // At least 18.4 GB, more than burst and debt together.
            None => {
                self.credit = self.burst.cast_signed();
                self.fraction = 0;
            }
        }
        self.cap();
    }

    fn cap(&mut self) {
        // What is left over below one byte stays with a bucket that is just full: a sender that waits for a full
        // bucket wakes up to a nanosecond late each time.
        let burst = self.burst.cast_signed();
        if self.credit > burst {
            self.credit = burst;
            self.fraction = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Pacer;
    use crate::{Duration, Instant, Rate};
    use proptest::prelude::*;

    fn pacer(bytes_per_sec: u64, burst: u64) -> Pacer {
        let mut pacer = Pacer::new(Instant::ZERO, burst);
        pacer.set_rate(Instant::ZERO, Some(Rate::from_bytes_per_sec(bytes_per_sec)), burst);
        pacer
    }

    /// Sends `count` packets as fast as the pacer allows, waking up at whole multiples of `tick` only.
    fn send(pacer: &mut Pacer, count: u64, bytes: u64, tick: Duration) -> Instant {
        let mut now = Instant::ZERO;
        for _ in 0..count {
            let departure = pacer.departure(now, bytes);
            if departure > now {
                let ticks = departure.as_nanos().div_ceil(tick.as_nanos());
                now = Instant::from_nanos(ticks * tick.as_nanos());
            }
            assert!(pacer.departure(now, bytes) <= now, "the announced time is late enough");
            pacer.on_sent(now, now, bytes);
        }
        now
    }

    #[test]
    fn ten_thousand_packets_at_50_megabytes_per_second_take_a_fifth_of_a_second() {
        // bugs.md F7: 10^4 * 1000 B / 50 MB/s = 200 ms, less the first burst of 10 000 B = 0.2 ms, exactly:
        // the last packet leaves when 10^7 - 10^4 bytes have accrued.
        let end = send(&mut pacer(50_000_000, 10_000), 10_000, 1_000, Duration::from_nanos(1));
        assert_eq!(end, Instant::from_micros(199_800));
    }

    #[test]
    fn a_rate_that_divides_nothing_loses_nothing() {
        // 3 B/s, packets of 1 byte, burst 1: packet n leaves at (n - 1)/3 s, rounded up to a nanosecond.
        let mut pacer = pacer(3, 1);
        for n in 0..10_000_u64 {
            let due = Instant::from_nanos((n * 1_000_000_000).div_ceil(3));
            assert_eq!(pacer.departure(Instant::ZERO, 1).max(due), due);
            assert_eq!(pacer.departure(due, 1), due);
            pacer.on_sent(due, due, 1);
        }
    }

    #[test]
    fn a_timer_of_a_millisecond_does_not_slow_down_what_the_burst_covers() {
        // 50 MB/s are 50 000 B per millisecond: the burst covers one tick and the packet that waits for it.
        let end = send(&mut pacer(50_000_000, 51_000), 10_000, 1_000, Duration::from_millis(1));
        assert!(end >= Instant::from_millis(196) && end <= Instant::from_millis(204), "{end:?}");
    }

    #[test]
    fn ten_idle_days_at_ten_gigabit_give_exactly_one_burst() {
        // bugs.md A8: 10 days * 1.25 GB/s = 1.08 * 10^15 B; in nanoseconds the product exceeds 64 bits.
        let mut pacer = pacer(1_250_000_000, 12_000);
        pacer.on_sent(Instant::ZERO, Instant::ZERO, 12_000);
        let later = Instant::from_secs(10 * 86_400);
        assert_eq!(pacer.allowance(later), 12_000);
        pacer.on_sent(later, later, 12_000);
        assert_eq!(pacer.allowance(later), 0);
        // 1 us at 1.25 GB/s = 1250 B.
        assert_eq!(pacer.allowance(later.after(Duration::from_micros(1))), 1_250);
    }

    #[test]
    fn a_megabyte_per_second_allows_ten_thousand_bytes_in_ten_milliseconds() {
        // bugs.md A14.
        let mut pacer = pacer(1_000_000, 20_000);
        pacer.on_sent(Instant::ZERO, Instant::ZERO, 20_000);
        assert_eq!(pacer.allowance(Instant::from_millis(10)), 10_000);
    }

    #[test]
    fn small_packets_are_charged_by_their_bytes() {
        // bugs.md F9: 1 MB/s, burst 1200, packets of 100 B: 12 at once, then one every 100 us.
        let mut pacer = pacer(1_000_000, 1_200);
        for _ in 0..12 {
            assert_eq!(pacer.departure(Instant::ZERO, 100), Instant::ZERO);
            pacer.on_sent(Instant::ZERO, Instant::ZERO, 100);
        }
        for n in 1..100 {
            let due = Instant::from_micros(100 * n);
            assert_eq!(pacer.departure(due.before(Duration::from_micros(100)), 100), due);
            pacer.on_sent(due, due, 100);
        }
    }

    #[test]
    fn unpaced_never_waits_and_a_rate_of_zero_is_unpaced() {
        let mut pacer = Pacer::new(Instant::ZERO, 1_200);
        for rate in [None, Some(Rate::ZERO)] {
            pacer.set_rate(Instant::ZERO, rate, 1_200);
            for _ in 0..1_000 {
                assert_eq!(pacer.departure(Instant::ZERO, 1_200), Instant::ZERO);
                pacer.on_sent(Instant::ZERO, Instant::ZERO, 1_200);
            }
            assert_eq!(pacer.allowance(Instant::ZERO), u64::MAX);
        }
    }

    #[test]
    fn a_packet_larger_than_the_burst_leaves_with_a_full_bucket_and_is_paid_afterwards() {
        // 1 MB/s, burst 1000, packets of 3000 B: the second is due when 3000 B have accrued, at 3 ms.
        let mut pacer = pacer(1_000_000, 1_000);
        assert_eq!(pacer.departure(Instant::ZERO, 3_000), Instant::ZERO);
        pacer.on_sent(Instant::ZERO, Instant::ZERO, 3_000);
        assert_eq!(pacer.departure(Instant::ZERO, 3_000), Instant::from_millis(3));
    }

    #[test]
    fn debt_of_probes_is_bounded() {
        // 1 MB/s; 10 MB of probes leave a debt of 65 535 B: 1200 B more are due after 66.735 ms.
        let mut pacer = pacer(1_000_000, 1_200);
        for _ in 0..10_000 {
            pacer.on_sent(Instant::ZERO, Instant::ZERO, 1_000);
        }
        assert_eq!(pacer.departure(Instant::ZERO, 1_200), Instant::from_micros(66_735));
    }

    #[test]
    fn a_change_of_rate_counts_from_the_moment_of_the_change() {
        // 1 MB/s for 2 ms = 2000 B, then 3 MB/s for 1 ms = 3000 B.
        let mut pacer = pacer(1_000_000, 100_000);
        pacer.on_sent(Instant::ZERO, Instant::ZERO, 100_000);
        pacer.set_rate(Instant::from_millis(2), Some(Rate::from_bytes_per_sec(3_000_000)), 100_000);
        assert_eq!(pacer.allowance(Instant::from_millis(3)), 5_000);
        // A smaller burst takes what is above it.
        pacer.set_rate(Instant::from_millis(3), Some(Rate::from_bytes_per_sec(1)), 4_000);
        assert_eq!(pacer.allowance(Instant::from_millis(3)), 4_000);
    }

    #[test]
    fn packets_can_be_given_departure_times_ahead_of_the_clock() {
        // A stack that paces by departure time asks for many packets at one time: 1 MB/s, 1000 B each.
        let mut pacer = pacer(1_000_000, 1_000);
        for n in 0..500 {
            let departure = pacer.departure(Instant::ZERO, 1_000);
            assert_eq!(departure, Instant::from_millis(n));
            pacer.on_sent(Instant::ZERO, departure, 1_000);
        }
    }

    #[test]
    fn a_departure_far_ahead_or_in_the_past_blocks_nobody() {
        // 1 MB/s, burst 1000 B. Scheduled for next year, charged at 1 s: 1000 B more are due a millisecond later.
        let mut pacer = pacer(1_000_000, 1_000);
        pacer.on_sent(Instant::ZERO, Instant::from_secs(31_536_000), 1_000);
        assert_eq!(pacer.departure(Instant::ZERO, 1_000), Instant::from_millis(1_001));
        // A departure in the past is one now: the credit of the time since does not come twice.
        let mut pacer = self::pacer(1_000_000, 1_000);
        pacer.on_sent(Instant::from_secs(5), Instant::ZERO, 1_000);
        assert_eq!(pacer.departure(Instant::from_secs(5), 1_000), Instant::from_millis(5_001));
    }

    #[test]
    fn a_clock_that_is_set_back_does_not_block_the_sender() {
        let mut pacer = Pacer::new(Instant::from_secs(1_000_000), 1_000);
        pacer.set_rate(Instant::from_secs(1_000_000), Some(Rate::from_bytes_per_sec(1_000_000)), 1_000);
        pacer.on_sent(Instant::from_secs(1_000_000), Instant::from_secs(1_000_000), 1_000);
        let now = Instant::from_secs(5);
        assert_eq!(pacer.departure(now, 1_000), now.after(Duration::from_millis(1)));
    }

    proptest! {
        #[test]
        fn what_is_sent_never_exceeds_burst_plus_rate_times_time_and_never_lags_behind_it(
            rate in 1_000..2_000_000_000_u64,
            burst in 1..100_000_u64,
            packets in proptest::collection::vec((1..65_536_u64, 0..2_000_000_u64), 1..100),
        ) {
            let mut pacer = pacer(rate, burst);
            let (mut now, mut sent) = (Instant::ZERO, 0_u64);
            let accrued = |now: Instant| u128::from(rate) * u128::from(now.as_nanos()) / 1_000_000_000;
            for (bytes, idle) in packets {
                let departure = pacer.departure(now, bytes);
                if departure > now {
                    // One nanosecond earlier it was not allowed: the credit lacked at least one byte then.
                    let early = departure.before(Duration::from_nanos(1));
                    prop_assert!(pacer.departure(early, bytes) == departure);
                    now = departure;
                }
                prop_assert!(pacer.departure(now, bytes) <= now);
                pacer.on_sent(now, now, bytes);
                sent += bytes;
                let excess = u128::from(bytes.saturating_sub(burst));
                prop_assert!(u128::from(sent) <= u128::from(burst) + accrued(now) + excess);
                now = now.after(Duration::from_nanos(idle));
            }
        }

        #[test]
        fn nothing_panics_and_every_wait_ends(
            calls in proptest::collection::vec(
                (0..4_u8, any::<u64>(), any::<u64>(), proptest::option::of(any::<u64>())), 1..100),
        ) {
            let mut pacer = Pacer::new(Instant::ZERO, 0);
            for (call, now, bytes, rate) in calls {
                let now = Instant::from_nanos(now);
                match call {
                    0 => pacer.set_rate(now, rate.map(Rate::from_bytes_per_sec), bytes),
                    1 => pacer.on_sent(now, Instant::from_nanos(bytes), bytes),
                    2 => prop_assert!(pacer.rate().is_none() || pacer.allowance(now) <= 1 << 32),
                    _ => {
                        let departure = pacer.departure(now, bytes);
                        // Waking up then is always enough.
                        prop_assert!(pacer.departure(departure.max(now), bytes) <= departure.max(now));
                    }
                }
            }
        }
    }
}
