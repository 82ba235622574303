//! The RTT estimator of RFC 9002 section 5.

use crate::{Duration, PathRtt};

/// RTT assumed before the first sample, RFC 9002 section 6.2.2 (`kInitialRtt`).
pub const INITIAL_RTT: Duration = Duration::from_millis(333);

/// Granularity of timers, RFC 9002 section 6.1.2 (`kGranularity`).
pub const GRANULARITY: Duration = Duration::from_millis(1);

/// Shortest sample. A clock that did not tick between send and ack must not give an RTT of zero, by which
/// controllers would divide.
const MIN_SAMPLE: Duration = Duration::from_micros(1);

/// Longest sample: 73 years, so that `7 * smoothed_rtt + sample` cannot overflow. `smoothed_rtt` and `rttvar` are no longer
/// than the longest sample, since they are means.
const MAX_SAMPLE: Duration = Duration::from_nanos(u64::MAX / 8);

/// RTT statistics of one path (RFC 9002 section 5).
///
/// All arithmetic is on whole nanoseconds; `7/8 * a + 1/8 * b` is `(7 * a + b) / 8`, rounded down once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RttEstimator {
    latest: Duration,
    smoothed: Duration,
    var: Duration,
    min: Duration,
    max_ack_delay: Duration,
    has_sample: bool,
    /// Whether the next sample replaces `min`.
    restart_min: bool,
}

impl RttEstimator {
    /// An estimator without a sample. `initial_rtt` (normally [`INITIAL_RTT`]) is clamped to at least 1 us;
    /// `max_ack_delay` is the peer's.
    #[must_use]
    pub fn new(initial_rtt: Duration, max_ack_delay: Duration) -> Self {
        let initial = clamp_sample(initial_rtt);
        // RFC 9002 section 5.3: smoothed_rtt = kInitialRtt, rttvar = kInitialRtt / 2.
        Self {
            latest: initial,
            smoothed: initial,
            var: initial.divided_by(2),
            min: initial,
            max_ack_delay,
            has_sample: false,
            restart_min: false,
        }
    }

    /// Takes a sample that RFC 9002 section 5.1 accepts.
    ///
    /// `latest` is now minus the send time of the newly acked largest packet, ack delay included; clamped to
    /// at least 1 us. `ack_delay` is what the peer reported (zero if unknown).
    pub fn update(&mut self, latest: Duration, ack_delay: Duration, handshake_confirmed: bool) {
        let latest = clamp_sample(latest);
        self.latest = latest;
        if !self.has_sample {
            // RFC 9002 sections 5.2 and 5.3: the first sample replaces everything; its ack delay is not used.
            self.min = latest;
            self.smoothed = latest;
            self.var = latest.divided_by(2);
            self.has_sample = true;
            self.restart_min = false;
            return;
        }

        // RFC 9002 section 5.2: min_rtt ignores the ack delay.
        self.min = if std::mem::take(&mut self.restart_min) { latest } else { self.min.min(latest) };
        let ack_delay = self.usable_ack_delay(ack_delay, handshake_confirmed);
        // RFC 9002 section 5.3: not subtracted where the result would be below min_rtt.
        let adjusted = if latest >= self.min.plus(ack_delay) { latest.minus(ack_delay) } else { latest };

        // RFC 9002 appendix A.7 (and RFC 6298 section 2.3): rttvar first, from the old smoothed_rtt.
        let deviation = self.smoothed.max(adjusted).minus(self.smoothed.min(adjusted));
        self.var = mean::<4>(self.var, deviation);
        self.smoothed = mean::<8>(self.smoothed, adjusted);
    }

    /// Persistent congestion was established: `min_rtt` starts again with the newest sample (RFC 9002 section 5.2), so that
    /// a path that became longer does not look congested again and again.
    ///
    /// `sampled`: whether the ACK that established it gave a sample, which was taken; else the next one counts.
    pub fn restart_min(&mut self, sampled: bool) {
        if sampled {
            self.min = self.latest;
        }
        self.restart_min = !sampled;
    }

    /// What of a reported ack delay counts: all of it before the handshake is confirmed, at most the peer's
    /// `max_ack_delay` afterwards (RFC 9002 section 5.3).
    #[must_use]
    pub fn usable_ack_delay(&self, ack_delay: Duration, handshake_confirmed: bool) -> Duration {
        if handshake_confirmed { ack_delay.min(self.max_ack_delay) } else { ack_delay }
    }

    /// The peer's `max_ack_delay` changed.
    pub fn set_max_ack_delay(&mut self, max_ack_delay: Duration) {
        self.max_ack_delay = max_ack_delay;
    }

    /// The peer's `max_ack_delay`.
    #[must_use]
    pub const fn max_ack_delay(&self) -> Duration {
        self.max_ack_delay
    }

    /// Whether a sample was taken. Until then the getters answer with the initial RTT (`var`: half of it).
    #[must_use]
    pub const fn has_sample(&self) -> bool {
        self.has_sample
    }

    /// `latest_rtt`.
    #[must_use]
    pub const fn latest(&self) -> Duration {
        self.latest
    }

    /// `smoothed_rtt`.
    #[must_use]
    pub const fn smoothed(&self) -> Duration {
        self.smoothed
    }

    /// `min_rtt`.
    #[must_use]
    pub const fn min(&self) -> Duration {
        self.min
    }

    /// `rttvar`.
    #[must_use]
    pub const fn var(&self) -> Duration {
        self.var
    }

    /// The statistics as events carry them; `None` before the first sample.
    #[must_use]
    pub fn as_path_rtt(&self) -> Option<PathRtt> {
        self.has_sample.then_some(PathRtt {
            latest: self.latest,
            smoothed: self.smoothed,
            min: self.min,
            var: self.var,
        })
    }

    /// `smoothed_rtt + max(4 * rttvar, kGranularity) + max_ack_delay`: the probe timeout of application data
    /// without backoff (RFC 9002 section 6.2.1), and a third of the persistent congestion duration
    /// (section 7.6.1).
    #[must_use]
    pub fn pto_base(&self) -> Duration {
        // The first three fit: 2^61 + 4 * 2^61 ns at most.
        let variation = Duration::from_nanos(self.var.as_nanos().wrapping_mul(4)).max(GRANULARITY);
        let sum = self.smoothed.as_nanos().wrapping_add(variation.as_nanos());
        Duration::from_nanos(sum).plus(self.max_ack_delay)
    }
}

/// `(N - 1) / N` of one and `1 / N` of the other, `N` being a power of two up to 8, and both at most [`MAX_SAMPLE`].
const fn mean<const N: u64>(mean: Duration, sample: Duration) -> Duration {
    const { assert!(N.is_power_of_two() && N <= 8, "no overflow, and a shift") };
    let sum = mean.as_nanos().wrapping_mul(N).wrapping_sub(mean.as_nanos()).wrapping_add(sample.as_nanos());
    Duration::from_nanos(sum.wrapping_shr(N.trailing_zeros()))
}

fn clamp_sample(sample: Duration) -> Duration {
    sample.clamp(MIN_SAMPLE, MAX_SAMPLE)
}

#[cfg(test)]
mod tests {
    use super::{INITIAL_RTT, RttEstimator};
    use crate::{Duration, PathRtt};
    use proptest::prelude::*;

    const MAX_ACK_DELAY: Duration = Duration::from_millis(25);

    fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    fn estimator() -> RttEstimator {
        RttEstimator::new(INITIAL_RTT, MAX_ACK_DELAY)
    }

    #[test]
    fn before_a_sample_the_initial_rtt_stands_in() {
        // RFC 9002 section 6.2.2: 333 ms, and half of it; PTO base 333 + 4 * 166.5 + 25 = 1024 ms.
        let rtt = estimator();
        assert!(!rtt.has_sample());
        assert_eq!(rtt.as_path_rtt(), None);
        assert_eq!(rtt.smoothed(), ms(333));
        assert_eq!(rtt.var(), Duration::from_micros(166_500));
        assert_eq!(rtt.pto_base(), ms(1_024));
    }

    #[test]
    fn the_first_sample_replaces_everything_and_ignores_its_ack_delay() {
        let mut rtt = estimator();
        rtt.update(ms(100), ms(20), true);
        assert_eq!(
            rtt.as_path_rtt(),
            Some(PathRtt { latest: ms(100), smoothed: ms(100), min: ms(100), var: ms(50) })
        );
        // 100 + max(4 * 50, 1) + 25.
        assert_eq!(rtt.pto_base(), ms(325));
    }

    #[test]
    fn later_samples_are_averaged_with_the_old_smoothed_rtt_in_the_deviation() {
        let mut rtt = estimator();
        rtt.update(ms(100), Duration::ZERO, true);
        rtt.update(ms(180), ms(20), true);
        // adjusted = 160; rttvar = (3 * 50 + |100 - 160|) / 4 = 52.5; smoothed = (7 * 100 + 160) / 8 = 107.5.
        assert_eq!(rtt.var(), Duration::from_micros(52_500));
        assert_eq!(rtt.smoothed(), Duration::from_micros(107_500));
        assert_eq!(rtt.min(), ms(100));
        assert_eq!(rtt.latest(), ms(180));
    }

    #[test]
    fn averages_are_floored_once_to_a_nanosecond() {
        let mut rtt = estimator();
        rtt.update(Duration::from_nanos(2_001), Duration::ZERO, true);
        rtt.update(Duration::from_nanos(2_006), Duration::ZERO, true);
        // smoothed = (7 * 2001 + 2006) / 8 = 16013 / 8 = 2001.6; rttvar = (3 * 1000 + 5) / 4 = 751.25.
        assert_eq!(rtt.smoothed(), Duration::from_nanos(2_001));
        assert_eq!(rtt.var(), Duration::from_nanos(751));
    }

    #[test]
    fn an_ack_delay_that_would_go_below_min_rtt_is_ignored() {
        let mut rtt = estimator();
        rtt.update(ms(100), Duration::ZERO, true);
        // 110 - 11 = 99 < 100: not subtracted; smoothed = (700 + 110) / 8 = 101.25.
        rtt.update(ms(110), ms(11), true);
        assert_eq!(rtt.smoothed(), Duration::from_micros(101_250));
        // 110 - 10 = 100 is allowed: (7 * 101.25 + 100) / 8 = 101.09375.
        rtt.update(ms(110), ms(10), true);
        assert_eq!(rtt.smoothed(), Duration::from_nanos(101_093_750));
    }

    #[test]
    fn ack_delays_are_limited_only_once_the_handshake_is_confirmed() {
        let (mut before, mut after) = (estimator(), estimator());
        before.update(ms(100), Duration::ZERO, false);
        after.update(ms(100), Duration::ZERO, true);
        before.update(ms(200), ms(60), false);
        after.update(ms(200), ms(60), true);
        // (700 + 140) / 8 = 105 and (700 + 175) / 8 = 109.375.
        assert_eq!(before.smoothed(), ms(105));
        assert_eq!(after.smoothed(), Duration::from_micros(109_375));
    }

    #[test]
    fn min_rtt_starts_again_with_the_sample_of_the_ack_or_the_next_one() {
        for sampled in [true, false] {
            let mut rtt = estimator();
            rtt.update(ms(100), Duration::ZERO, true);
            rtt.update(ms(300), Duration::ZERO, true);
            rtt.restart_min(sampled);
            assert_eq!(rtt.min(), if sampled { ms(300) } else { ms(100) });
            // With the next sample replacing it, that is the lesser of both or the next alone.
            rtt.update(ms(400), Duration::ZERO, true);
            assert_eq!(rtt.min(), if sampled { ms(300) } else { ms(400) });
            rtt.update(ms(350), Duration::ZERO, true);
            assert_eq!(rtt.min(), if sampled { ms(300) } else { ms(350) });
            rtt.update(ms(500), Duration::ZERO, true);
            assert_eq!(rtt.min(), if sampled { ms(300) } else { ms(350) });
        }
        // Before the first sample there is nothing to restart.
        let mut rtt = estimator();
        rtt.restart_min(false);
        rtt.update(ms(100), Duration::ZERO, true);
        rtt.update(ms(200), Duration::ZERO, true);
        assert_eq!(rtt.min(), ms(100));
    }

    #[test]
    fn a_sample_of_zero_counts_as_a_microsecond() {
        // bugs.md A9: a clock that did not tick.
        let mut rtt = estimator();
        rtt.update(Duration::ZERO, Duration::ZERO, true);
        assert_eq!(rtt.latest(), Duration::from_micros(1));
        assert_eq!(rtt.min(), Duration::from_micros(1));
        for _ in 0..100 {
            rtt.update(Duration::from_micros(1), Duration::MAX, false);
        }
        assert_eq!(rtt.smoothed(), Duration::from_micros(1));
        assert!(RttEstimator::new(Duration::ZERO, Duration::ZERO).smoothed() >= Duration::from_micros(1));
    }

    proptest! {
        #[test]
        fn averages_stay_within_the_samples_whatever_comes(
            samples in proptest::collection::vec((any::<u64>(), any::<u64>(), any::<bool>()), 1..50),
        ) {
            let mut rtt = estimator();
            let (mut low, mut high) = (Duration::MAX, Duration::ZERO);
            for (latest, ack_delay, confirmed) in samples {
                rtt.update(Duration::from_nanos(latest), Duration::from_nanos(ack_delay), confirmed);
                low = low.min(rtt.latest());
                high = high.max(rtt.latest());
                prop_assert_eq!(rtt.min(), low);
                prop_assert!(rtt.min() <= rtt.smoothed() && rtt.smoothed() <= high);
                prop_assert!(rtt.var() <= high);
                prop_assert!(rtt.min() >= Duration::from_micros(1));
            }
        }
    }
}
