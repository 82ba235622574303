//! What is measured of the path: the bandwidth estimate of Westwood+ and the minimum RTT (quicdc: "The controller").

use crate::config::BandwidthFilter;
use cc_core::{Duration, Instant, Rate, division};

/// A bandwidth sample is taken no more often than this: shorter intervals see the clustering of ACKs instead of the bandwidth
/// (Westwood+).
const MIN_INTERVAL: Duration = Duration::from_millis(50);

/// Samples before the bandwidth estimate is used.
const MIN_SAMPLES: u8 = 2;

/// A minimum RTT older than this is measured again (the authors' code).
const RE_MEASURE_AFTER_MS: u16 = 20_000;

/// Bytes acked per interval of max(latest RTT, 50 ms), through two low-pass filters; and the smallest RTT of late.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Measures {
    /// Output of the first stage, `f`, in bytes per second.
    first: u64,
    /// Output of the last stage, `BWE`, in bytes per second.
    estimate: u64,
    /// Bytes acked in the running interval.
    acked: u64,
    began: Instant,
    /// In microseconds, rounded up; 0 before the first sample; up to 71 minutes.
    min_rtt_us: u32,
    min_rtt_age_ms: u16,
    /// Up to [`MIN_SAMPLES`].
    samples: u8,
    interval: Interval,
}

/// The interval of a bandwidth sample.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Interval {
    NotBegun,
    Running,
    /// The sender was short of data, or held back by the peer, at some time in it.
    Limited,
}

impl Measures {
    pub(crate) const fn new() -> Self {
        Self {
            first: 0,
            estimate: 0,
            acked: 0,
            began: Instant::ZERO,
            min_rtt_us: 0,
            min_rtt_age_ms: 0,
            samples: 0,
            interval: Interval::NotBegun,
        }
    }

    /// `BWE`; `None` with fewer than two samples.
    pub(crate) fn bandwidth(&self) -> Option<Rate> {
        (self.samples >= MIN_SAMPLES).then_some(Rate::from_bytes_per_sec(self.estimate))
    }

    /// The minimum RTT; `None` before the first sample.
    pub(crate) fn min_rtt(&self) -> Option<Duration> {
        (self.min_rtt_us > 0).then(|| Duration::from_micros(u64::from(self.min_rtt_us)))
    }

    /// Bytes were acked, all of them counting, by a frame whose losses were told already: they react with what was measured
    /// before. `last` if the frame is complete. Returns the length of the interval if one ended.
    pub(crate) fn on_ack(
        &mut self,
        now: Instant,
        bytes: u64,
        last: bool,
        latest_rtt: Option<Duration>,
        filter: BandwidthFilter,
    ) -> Option<Duration> {
        let ended = self.count(now, bytes, last, latest_rtt.unwrap_or(Duration::ZERO), filter);
        if let Some(elapsed) = ended {
            self.min_rtt_age_ms = older(self.min_rtt_age_ms, elapsed);
        }
        if let Some(rtt) = latest_rtt {
            self.take_rtt(rtt);
        }
        ended
    }

    /// The sender was short of data, or held back by the peer: a sample of this interval only counts if it raises the estimate.
    pub(crate) fn mark_limited(&mut self) {
        if self.interval == Interval::Running {
            self.interval = Interval::Limited;
        }
    }

    /// The flight was empty for `idle`. If that is as long as an interval, it belongs to none, and the first flight after it tells
    /// little. Shorter gaps come from pacing a small window too. Returns the length of the interval that was broken off, idle time
    /// included: what is measured grows old meanwhile.
    pub(crate) fn on_idle(&mut self, now: Instant, idle: Duration, rtt: Duration) -> Option<Duration> {
        if idle < rtt.max(MIN_INTERVAL) {
            return None;
        }
        let elapsed =
            if self.interval == Interval::NotBegun { Duration::ZERO } else { now.since(self.began) };
        self.min_rtt_age_ms = older(self.min_rtt_age_ms, elapsed);
        self.restart_interval(now);
        self.interval = Interval::Limited;
        Some(elapsed)
    }

    const fn restart_interval(&mut self, now: Instant) {
        self.acked = 0;
        self.began = now;
        self.interval = Interval::Running;
    }

    fn count(
        &mut self,
        now: Instant,
        bytes: u64,
        last: bool,
        latest_rtt: Duration,
        filter: BandwidthFilter,
    ) -> Option<Duration> {
        if self.interval == Interval::NotBegun || now < self.began {
            // What the first ACK is for was not sent in an interval.
            if last {
                self.restart_interval(now);
            }
            return None;
        }
        self.acked = self.acked.saturating_add(bytes);
        let elapsed = now.since(self.began);
        if !last || elapsed < latest_rtt.max(MIN_INTERVAL) {
            return None;
        }
        let limited = self.interval == Interval::Limited;
        if let Some(sample) = Rate::from_delivery(self.acked, elapsed) {
            self.take_bandwidth(sample.as_bytes_per_sec(), limited, filter);
        }
        self.restart_interval(now);
        Some(elapsed)
    }

    fn take_bandwidth(&mut self, sample: u64, limited: bool, filter: BandwidthFilter) {
        if limited && sample < self.estimate {
            return;
        }
        if self.samples == 0 {
            // The first sample initialises both stages.
            (self.first, self.estimate) = (sample, sample);
        } else {
            match filter {
                BandwidthFilter::TwoStages => {
                    self.first = mix(self.first, 1, sample, 4);
                    self.estimate = mix(self.estimate, 1, self.first, 4);
                }
                BandwidthFilter::OneStage => self.estimate = mix(self.estimate, 1, sample, 4),
                BandwidthFilter::Linux => {
                    self.first = mix(self.first, 7, sample, 1);
                    self.estimate = mix(self.estimate, 7, self.first, 1);
                }
            }
        }
        self.samples = self.samples.saturating_add(1).min(MIN_SAMPLES);
    }

    fn take_rtt(&mut self, rtt: Duration) {
        let micros = u32::try_from(division::by_thousand(rtt.as_nanos().saturating_add(999)))
            .unwrap_or(u32::MAX)
            .max(1);
        let is_old = self.min_rtt_age_ms > RE_MEASURE_AFTER_MS;
        if self.min_rtt_us == 0 || micros <= self.min_rtt_us || is_old {
            self.min_rtt_us = micros;
            self.min_rtt_age_ms = 0;
        }
    }
}

/// An age in milliseconds after `elapsed` more, in whole milliseconds; it stops at 65 s, beyond all that is of interest.
pub(crate) fn older(age_ms: u16, elapsed: Duration) -> u16 {
    age_ms.saturating_add(u16::try_from(elapsed.as_millis()).unwrap_or(u16::MAX))
}

/// `(a * old + b * new) / (a + b)`, rounded down. Values of more than 2^61 saturate.
fn mix(old: u64, a: u64, new: u64, b: u64) -> u64 {
    let sum = old.saturating_mul(a).saturating_add(new.saturating_mul(b));
    division::checked(sum, a.saturating_add(b)).unwrap_or(sum)
}

#[cfg(test)]
mod tests {
    use super::Measures;
    use crate::config::BandwidthFilter;
    use cc_core::{Duration, Instant, Rate};

    const RTT: Duration = Duration::from_millis(100);

    fn at(millis: u64) -> Instant {
        Instant::from_millis(millis)
    }

    /// Intervals of 100 ms with so many bytes each, after a first ACK; `first` and `estimate` after each.
    fn filtered<const N: usize>(filter: BandwidthFilter, bytes: [u64; N]) -> [(u64, u64); N] {
        let mut measures = Measures::new();
        measures.on_ack(at(0), 999_999, true, Some(RTT), filter);
        let mut now = 0;
        bytes.map(|bytes| {
            now += 100;
            assert_eq!(measures.on_ack(at(now), bytes, true, Some(RTT), filter), Some(RTT));
            (measures.first, measures.estimate)
        })
    }

    #[test]
    fn the_first_sample_initialises_both_stages_and_later_ones_pass_through_them() {
        // 1000 bytes in 100 ms are 10000 B/s; then 20000: f = 0.2 * 10000 + 0.8 * 20000 = 18000, BWE = 0.2 * 10000 + 0.8 * 18000 =
        // 16400; then 20000 again: f = 3600 + 16000 = 19600, BWE = 3280 + 15680 = 18960.
        assert_eq!(
            filtered(BandwidthFilter::TwoStages, [1_000, 2_000, 2_000]),
            [(10_000, 10_000), (18_000, 16_400), (19_600, 18_960)]
        );
    }

    #[test]
    fn one_stage_follows_the_sample_itself() {
        // BWE = 0.2 * 10000 + 0.8 * 20000 = 18000, then 19600.
        let estimates =
            filtered(BandwidthFilter::OneStage, [1_000, 2_000, 2_000]).map(|(_, estimate)| estimate);
        assert_eq!(estimates, [10_000, 18_000, 19_600]);
    }

    #[test]
    fn the_filter_of_linux_is_slower() {
        // f = (7 * 10000 + 20000) / 8 = 11250, BWE = (70000 + 11250) / 8 = 10156.25; f = (78750 + 20000) / 8 = 12343.75, BWE =
        // (7 * 10156 + 12343) / 8 = 10429.375.
        assert_eq!(
            filtered(BandwidthFilter::Linux, [1_000, 2_000, 2_000]),
            [(10_000, 10_000), (11_250, 10_156), (12_343, 10_429)]
        );
    }

    #[test]
    fn an_interval_is_an_rtt_and_at_least_50_milliseconds() {
        let filter = BandwidthFilter::TwoStages;
        for (rtt_ms, interval_ms) in [(10, 50), (50, 50), (51, 51), (300, 300)] {
            let rtt = Duration::from_millis(rtt_ms);
            let mut measures = Measures::new();
            measures.on_ack(at(0), 1_000, true, Some(rtt), filter);
            assert_eq!(measures.on_ack(at(interval_ms - 1), 1_000, true, Some(rtt), filter), None);
            let ended = measures.on_ack(at(interval_ms), 1_000, true, Some(rtt), filter);
            assert_eq!(ended, Some(Duration::from_millis(interval_ms)));
            // Both ACKs of the interval, not the one before it.
            assert_eq!(measures.estimate, 2_000_000 / interval_ms);
        }
    }

    #[test]
    fn an_interval_ends_with_a_whole_frame() {
        // A frame in three parts is one ACK of 3000 bytes: 30000 B/s.
        let mut measures = Measures::new();
        let filter = BandwidthFilter::TwoStages;
        measures.on_ack(at(0), 500, false, Some(RTT), filter);
        measures.on_ack(at(0), 500, true, Some(RTT), filter);
        assert_eq!(measures.on_ack(at(100), 1_000, false, Some(RTT), filter), None);
        assert_eq!(measures.on_ack(at(100), 1_000, false, Some(RTT), filter), None);
        assert_eq!(measures.on_ack(at(100), 1_000, true, Some(RTT), filter), Some(RTT));
        assert_eq!((measures.estimate, measures.acked), (30_000, 0));
    }

    #[test]
    fn one_sample_is_no_estimate() {
        let mut measures = Measures::new();
        let filter = BandwidthFilter::TwoStages;
        for (now, estimate) in [(0, None), (100, None), (200, Some(10_000))] {
            measures.on_ack(at(now), 1_000, true, Some(RTT), filter);
            assert_eq!(measures.bandwidth(), estimate.map(Rate::from_bytes_per_sec));
        }
    }

    #[test]
    fn a_limited_sample_raises_the_estimate_and_never_lowers_it() {
        // bugs.md E2.
        let mut measures = Measures::new();
        let filter = BandwidthFilter::OneStage;
        for now in [0, 100, 200] {
            measures.on_ack(at(now), 1_000, true, Some(RTT), filter);
        }
        for (now, bytes, limited, estimate) in [
            (300, 100, true, 10_000),
            // 0.2 * 10000 + 0.8 * 20000.
            (400, 2_000, true, 18_000),
            // The mark is for one interval: 0.2 * 18000 + 0.8 * 1000 = 4400.
            (500, 100, false, 4_400),
        ] {
            if limited {
                measures.mark_limited();
            }
            measures.on_ack(at(now), bytes, true, Some(RTT), filter);
            assert_eq!(measures.estimate, estimate, "at {now} ms");
        }
    }

    #[test]
    fn an_idle_time_as_long_as_an_interval_belongs_to_none() {
        let filter = BandwidthFilter::OneStage;
        for (idle_ms, estimate) in [
            // 1000 bytes in 199 ms, 5025 B/s: 0.2 * 10000 + 0.8 * 5025 = 6020.
            (99, 6_020),
            // 1000 bytes in the 100 ms that follow the idle time.
            (100, 10_000),
        ] {
            let mut measures = Measures::new();
            for now in [0, 100, 200] {
                measures.on_ack(at(now), 1_000, true, Some(RTT), filter);
            }
            measures.on_idle(at(200 + idle_ms), ms(idle_ms), RTT);
            measures.on_ack(at(300 + idle_ms), 1_000, true, Some(RTT), filter);
            assert_eq!(measures.estimate, estimate, "{idle_ms}");
        }
    }

    #[test]
    fn a_clock_that_goes_backwards_begins_a_new_interval() {
        let mut measures = Measures::new();
        let filter = BandwidthFilter::TwoStages;
        measures.on_ack(at(1_000), 1_000, true, Some(RTT), filter);
        assert_eq!(measures.on_ack(at(500), 1_000, true, Some(RTT), filter), None);
        assert_eq!(measures.on_ack(at(600), 1_000, true, Some(RTT), filter), Some(RTT));
        assert_eq!(measures.estimate, 10_000);
    }

    #[test]
    fn absurd_samples_saturate() {
        let mut measures = Measures::new();
        for filter in [BandwidthFilter::TwoStages, BandwidthFilter::OneStage, BandwidthFilter::Linux] {
            for now in 0..4 {
                measures.on_ack(at(100 * now), u64::MAX, true, Some(RTT), filter);
            }
        }
        assert!(measures.estimate > 1 << 60);
    }

    fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    /// A path whose minimum RTT was 50 ms, and then 70 ms for `age_ms` in intervals of 100 ms: the minimum before and after.
    fn min_rtts(age_ms: u64) -> (Option<Duration>, Option<Duration>) {
        let mut measures = Measures::new();
        let filter = BandwidthFilter::TwoStages;
        measures.on_ack(at(0), 1_000, true, Some(ms(50)), filter);
        for now in (100..age_ms).step_by(100) {
            measures.on_ack(at(now), 1_000, true, Some(ms(70)), filter);
        }
        let before = measures.min_rtt();
        measures.on_ack(at(age_ms), 1_000, true, Some(ms(70)), filter);
        (before, measures.min_rtt())
    }

    #[test]
    fn the_minimum_rtt_is_measured_again_when_it_is_older_than_20_seconds() {
        assert_eq!(min_rtts(20_000), (Some(ms(50)), Some(ms(50))), "20 s old and not older");
        // Whoever reacts before that ACK still has the old minimum.
        assert_eq!(min_rtts(20_100), (Some(ms(50)), Some(ms(70))));
    }

    #[test]
    fn idle_time_makes_the_minimum_rtt_older() {
        // An idle time of 19.9 or 20 s after an interval of 100 ms: 20 s old and not older, or older. The flight after it measures.
        for (idle_ms, min_ms) in [(19_900, 50), (20_000, 70)] {
            let mut measures = Measures::new();
            let filter = BandwidthFilter::TwoStages;
            measures.on_ack(at(0), 1_000, true, Some(ms(50)), filter);
            measures.on_ack(at(100), 1_000, true, Some(ms(70)), filter);
            assert_eq!(measures.on_idle(at(100 + idle_ms), ms(idle_ms), RTT), Some(ms(idle_ms)));
            measures.on_ack(at(170 + idle_ms), 1_000, false, Some(ms(70)), filter);
            assert_eq!(measures.min_rtt(), Some(ms(min_ms)), "{idle_ms}");
        }
    }

    #[test]
    fn a_smaller_or_equal_rtt_takes_its_place_at_once_and_is_young() {
        let mut measures = Measures::new();
        let filter = BandwidthFilter::TwoStages;
        assert_eq!(measures.min_rtt(), None);
        for now in 0..600 {
            // 70 ms, but for 50 ms every 10 s.
            let rtt = if now % 100 == 0 { 50 } else { 70 };
            measures.on_ack(at(100 * now), 1_000, true, Some(ms(rtt)), filter);
            assert_eq!(measures.min_rtt(), Some(ms(50)), "at {now}");
        }
        measures.on_ack(at(60_000), 1_000, true, Some(ms(49)), filter);
        assert_eq!(measures.min_rtt(), Some(ms(49)));
    }

    #[test]
    fn the_minimum_rtt_is_never_zero_and_never_overflows() {
        // bugs.md A9 and A13.
        let mut measures = Measures::new();
        measures.take_rtt(Duration::MAX);
        assert_eq!(measures.min_rtt(), Some(Duration::from_micros(u64::from(u32::MAX))));
        measures.take_rtt(Duration::from_nanos(1_001));
        assert_eq!(measures.min_rtt(), Some(Duration::from_micros(2)));
        measures.take_rtt(Duration::ZERO);
        assert_eq!(measures.min_rtt(), Some(Duration::from_micros(1)));
    }
}
