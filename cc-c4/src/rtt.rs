//! The RTT model: the nominal max RTT, the running minimum and the excess of the latest sample. Microseconds.

use crate::arithmetic::{micros, seven_eighths};
use crate::constants::{MAX_JITTER, MIN_NOMINAL_MAX_RTT};
use crate::sensitivity::delay_threshold;
use cc_core::{PathState, RttEvent};

/// What C4 knows of the path's RTT.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct RttModel {
    /// Largest RTT without a queue of C4's own; 0 before the first sample.
    pub(crate) nominal_max: u32,
    /// Slowly rising minimum; `u32::MAX` before the first sample.
    pub(crate) running_min: u32,
    /// Excess over the nominal max RTT that is still jitter.
    pub(crate) delay_threshold: u32,
    /// `recent_delay_excess`: what the latest sample exceeded both by.
    pub(crate) excess: u32,
    /// Latest sample of any packet number space; 0 before the first.
    pub(crate) latest: u32,
}

impl RttModel {
    pub(crate) const fn new() -> Self {
        Self { nominal_max: 0, running_min: u32::MAX, delay_threshold: 0, excess: 0, latest: 0 }
    }

    /// To be called whenever the nominal rate or the nominal max RTT changed by a rule that says so.
    #[inline(never)]
    pub(crate) fn update_threshold(&mut self, nominal_rate: u64) {
        self.delay_threshold = delay_threshold(nominal_rate, self.nominal_max);
    }

    /// Takes a sample of the application space (`c4_update_rtt`).
    pub(crate) fn on_sample(&mut self, micros: u32, nominal_rate: u64) {
        self.running_min = self.running_min.min(micros);
        if self.nominal_max == 0 {
            self.set_nominal_max(micros, nominal_rate);
            self.excess = 0;
        } else {
            self.excess = micros.saturating_sub(self.nominal_max.saturating_add(self.delay_threshold));
        }
    }

    /// Sets the nominal max RTT, at least 1 000 us, and the threshold with it.
    pub(crate) fn set_nominal_max(&mut self, micros: u32, nominal_rate: u64) {
        self.nominal_max = micros.max(MIN_NOMINAL_MAX_RTT);
        self.update_threshold(nominal_rate);
    }

    /// End of an era (`c4_update_min_max_rtt`) with the extremes that it saw. Only an era that ran without C4's own
    /// load (`unloaded`: its gain was at most one) moves the model.
    pub(crate) fn on_era_end(&mut self, era_min: u32, era_max: u32, unloaded: bool, nominal_rate: u64) {
        if unloaded {
            self.running_min =
                if era_min < self.running_min { era_min } else { seven_eighths(self.running_min, era_min) };
            let max = era_max.min(self.running_min.saturating_add(MAX_JITTER));
            let nominal_max = if max > self.nominal_max { max } else { seven_eighths(self.nominal_max, max) };
            self.set_nominal_max(nominal_max, nominal_rate);
        } else if self.nominal_max == 0 {
            self.set_nominal_max(era_max, nominal_rate);
        }
    }
}

/// The RTT sample of an ACK, us: now minus the send time of the newest newly acked packet, less the ack delay unless
/// it is the path's first sample or not more than the minimum RTT would be left. `None` if no time passed: the
/// clock stood still or went back. A span below 1 us counts as 1 us.
pub(crate) fn sample_of(path: &PathState, event: &RttEvent) -> Option<u32> {
    if event.latest.is_zero() {
        return None;
    }
    let raw = micros(event.latest).max(1);
    // picoquic_update_path_rtt
    match (event.ack_delay, path.rtt) {
        (Some(delay), Some(rtt)) if !event.is_first => {
            let delay = micros(delay);
            let is_above_min = raw > micros(rtt.min).saturating_add(delay);
            Some(if is_above_min { raw.saturating_sub(delay) } else { raw })
        }
        _ => Some(raw),
    }
}

#[cfg(test)]
mod tests {
    use super::{RttModel, sample_of};
    use cc_core::{Duration, PathRtt, PathState, RttEvent};

    const FAST: u64 = 20_000_000; // s = 1024, so that the threshold is nominal_max * 64/1024

    fn model(nominal_max: u32, running_min: u32) -> RttModel {
        let mut model = RttModel { nominal_max, running_min, ..RttModel::new() };
        model.update_threshold(FAST);
        model
    }

    fn sample(latest: u64, ack_delay: u64, min: u64, is_first: bool) -> Option<u32> {
        let micros = Duration::from_micros;
        let rtt = PathRtt { latest: micros(latest), smoothed: micros(min), min: micros(min), var: micros(0) };
        let path = PathState { rtt: Some(rtt), ..PathState::default() };
        let event = RttEvent {
            latest: micros(latest),
            ack_delay: Some(micros(ack_delay)),
            is_first,
            ..RttEvent::default()
        };
        sample_of(&path, &event)
    }

    #[test]
    fn ack_delay_is_subtracted_only_if_more_than_the_minimum_is_left() {
        assert_eq!(sample(60_000, 10_000, 49_999, false), Some(50_000));
        assert_eq!(sample(60_000, 10_000, 50_000, false), Some(60_000));
        assert_eq!(sample(60_000, u64::MAX / 1_000, 1, false), Some(60_000));
    }

    #[test]
    fn a_sample_above_71_minutes_counts_as_the_longest_of_32_bits() {
        // 2^32 us = 4 294 967 296 us
        assert_eq!(sample(4_294_967_295, 0, 1, false), Some(4_294_967_295));
        assert_eq!(sample(4_294_967_296, 0, 1, false), Some(4_294_967_295));
        // Its ack delay is subtracted from that.
        assert_eq!(sample(9_000_000_000, 4_000_000_000, 1, false), Some(294_967_295));
    }

    #[test]
    fn ack_delay_is_not_subtracted_from_the_first_sample() {
        assert_eq!(sample(60_000, 10_000, 0, true), Some(60_000));
    }

    #[test]
    fn a_sample_is_truncated_to_microseconds_and_none_if_no_time_passed() {
        let of_nanos = |nanos| {
            let event = RttEvent { latest: Duration::from_nanos(nanos), ..RttEvent::default() };
            sample_of(&PathState::default(), &event)
        };
        assert_eq!(of_nanos(2_999), Some(2));
        assert_eq!(of_nanos(1), Some(1));
        assert_eq!(of_nanos(0), None);
    }

    #[test]
    fn first_sample_becomes_the_nominal_max_rtt_of_at_least_a_millisecond() {
        let mut rtt = RttModel::new();
        rtt.on_sample(40_000, FAST);
        // threshold 40 000 * 64/1024 = 2 500
        assert_eq!(
            (rtt.nominal_max, rtt.running_min, rtt.delay_threshold, rtt.excess),
            (40_000, 40_000, 2_500, 0)
        );
        let mut short = RttModel::new();
        short.on_sample(300, FAST);
        assert_eq!((short.nominal_max, short.running_min), (1_000, 300));
    }

    #[test]
    fn excess_is_what_is_above_nominal_max_and_threshold() {
        let mut rtt = model(40_000, 30_000); // threshold 2 500
        rtt.on_sample(42_500, FAST);
        assert_eq!(rtt.excess, 0);
        rtt.on_sample(42_600, FAST);
        assert_eq!(rtt.excess, 100);
        rtt.on_sample(29_000, FAST);
        assert_eq!((rtt.excess, rtt.running_min, rtt.nominal_max), (0, 29_000, 40_000));
    }

    #[test]
    fn unloaded_era_raises_the_maximum_at_once_and_lowers_it_by_an_eighth() {
        let mut rtt = model(40_000, 30_000);
        rtt.on_era_end(30_000, 50_000, true, FAST);
        assert_eq!((rtt.nominal_max, rtt.delay_threshold), (50_000, 3_125));
        // (7 * 50 000 + 42 001)/8 = 49 000.1
        rtt.on_era_end(30_000, 42_001, true, FAST);
        assert_eq!((rtt.nominal_max, rtt.delay_threshold), (49_000, 3_062));
    }

    #[test]
    fn unloaded_era_lowers_the_minimum_at_once_and_raises_it_by_an_eighth() {
        let mut rtt = model(40_000, 30_000);
        rtt.on_era_end(29_000, 40_000, true, FAST);
        assert_eq!(rtt.running_min, 29_000);
        // (7 * 29 000 + 33 007)/8 = 29 500.9
        rtt.on_era_end(33_007, 40_000, true, FAST);
        assert_eq!(rtt.running_min, 29_500);
    }

    #[test]
    fn one_era_adds_at_most_250_ms_above_the_running_minimum_of_its_end() {
        let mut rtt = model(40_000, 30_000);
        // The minimum falls to 20 000 first, then m = min(900 000, 20 000 + 250 000).
        rtt.on_era_end(20_000, 900_000, true, FAST);
        assert_eq!(rtt.nominal_max, 270_000);
    }

    #[test]
    fn loaded_era_freezes_the_model_unless_there_is_none() {
        let mut rtt = model(40_000, 30_000);
        rtt.on_era_end(10_000, 90_000, false, FAST);
        assert_eq!((rtt.nominal_max, rtt.running_min), (40_000, 30_000));
        let mut none = RttModel::new();
        none.on_era_end(10_000, 90_000, false, FAST);
        // threshold 90 000 * 64/1024 = 5 625
        assert_eq!((none.nominal_max, none.delay_threshold), (90_000, 5_625));
    }

    #[test]
    fn nominal_max_rtt_is_never_below_a_millisecond() {
        let mut rtt = model(1_000, 200);
        rtt.on_era_end(200, 200, true, FAST);
        assert_eq!(rtt.nominal_max, 1_000);
        let mut none = RttModel::new();
        none.on_era_end(200, 200, false, FAST);
        // threshold 1 000 * 64/1024 = 62.5
        assert_eq!((none.nominal_max, none.delay_threshold), (1_000, 62));
    }
}
