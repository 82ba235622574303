//! `BBR.min_rtt` and the schedule of ProbeRTT (sections 5.3.4.3 and 5.5.7).

use crate::Bbr;
use crate::constants::{MIN_RTT_FILTER_LEN, PROBE_RTT_INTERVAL};
use crate::sample::Sample;
use cc_core::{Duration, Instant, PathState};

/// Both windows: of 10 s for the model, of 5 s for the schedule.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct MinRtt {
    /// `BBR.min_rtt`; [`Duration::MAX`] for "Infinity".
    min: Duration,
    /// `BBR.min_rtt_stamp`.
    stamp: Instant,
    /// `BBR.probe_rtt_min_delay`; [`Duration::MAX`] before the first sample.
    probe_min: Duration,
    /// `BBR.probe_rtt_min_stamp`.
    probe_stamp: Instant,
}

impl MinRtt {
    pub(crate) const fn new() -> Self {
        Self {
            min: Duration::MAX,
            stamp: Instant::ZERO,
            probe_min: Duration::MAX,
            probe_stamp: Instant::ZERO,
        }
    }

    /// `BBR.min_rtt`; `None` before the first sample.
    pub(crate) fn get(&self) -> Option<Duration> {
        (self.min != Duration::MAX).then_some(self.min)
    }

    /// `BBR.probe_rtt_min_delay`; `None` before the first sample.
    pub(crate) fn probe_min(&self) -> Option<Duration> {
        (self.probe_min != Duration::MAX).then_some(self.probe_min)
    }

    /// ProbeRTT is over: the next is due an interval later.
    pub(crate) const fn schedule_next_probe(&mut self, now: Instant) {
        self.probe_stamp = now;
    }
}

impl Bbr {
    /// `UpdateMinRTT()` (section 5.3.4.3).
    ///
    /// Differs from it where both windows expire at once (issue 109 of the draft): the sample that takes the place of an expired
    /// `probe_rtt_min_delay` may hold a whole queue. So an expired `min_rtt` stays until the ProbeRTT that is due, which it
    /// sizes, is over. What has no value yet does not expire.
    ///
    /// The answer is `BBR.probe_rtt_expired`.
    pub(crate) fn update_min_rtt(&mut self, path: &PathState, rs: &Sample) -> bool {
        let now = path.now;
        let model = &mut self.min_rtt;
        let probe_expired = model.probe_min().is_some() && now > model.probe_stamp.after(PROBE_RTT_INTERVAL);
        if let Some(rtt) = rs.rtt
            && (rtt < model.probe_min || probe_expired)
        {
            model.probe_min = rtt;
            model.probe_stamp = now;
        }

        let probes = self.state.is_probe_rtt() || (probe_expired && !self.idle_restart);
        let expired = now > model.stamp.after(MIN_RTT_FILTER_LEN) && !probes;
        if model.probe_min < model.min || (expired && model.probe_min().is_some()) {
            model.min = model.probe_min;
            model.stamp = model.probe_stamp;
        }
        probe_expired
    }
}

#[cfg(test)]
mod tests {
    use crate::sample::Sample;
    use crate::tests::{ms, path};
    use crate::{Bbr, Config, State};
    use cc_core::{Instant, PathState};

    /// An RTT sample at a time, both in ms: whether ProbeRTT is due.
    fn rtt(bbr: &mut Bbr, at: u64, rtt: u64) -> bool {
        let path = PathState { now: Instant::from_millis(at), ..path() };
        bbr.update_min_rtt(&path, &Sample { rtt: Some(ms(rtt)), ..Sample::default() })
    }

    fn known(bbr: &Bbr) -> (u64, u64) {
        let millis = |rtt: Option<cc_core::Duration>| rtt.map_or(0, |rtt| rtt.as_millis());
        (millis(bbr.min_rtt()), millis(bbr.probe_rtt_min_delay()))
    }

    #[test]
    fn nothing_expires_before_there_is_a_sample() {
        let mut bbr = Bbr::new(&Config::default());
        let late = PathState { now: Instant::from_secs(11), ..path() };
        assert!(!bbr.update_min_rtt(&late, &Sample::default()));
        assert!(!rtt(&mut bbr, 11_000, 100));
        assert_eq!(known(&bbr), (100, 100));
    }

    #[test]
    fn the_schedule_expires_after_five_seconds_and_the_model_after_ten() {
        let mut bbr = Bbr::new(&Config::default());
        assert!(!rtt(&mut bbr, 0, 40));
        assert!(!rtt(&mut bbr, 5_000, 50));
        assert_eq!(known(&bbr), (40, 40));
        assert!(rtt(&mut bbr, 5_001, 50), "later than 5 s");
        assert_eq!(known(&bbr), (40, 50));
        // What ProbeRTT finds.
        bbr.state = State::ProbeRtt { done_at: None, round_done: false };
        assert!(!rtt(&mut bbr, 5_100, 45));
        bbr.min_rtt.schedule_next_probe(Instant::from_millis(5_300));
        bbr.enter_startup();
        assert!(!rtt(&mut bbr, 10_000, 60));
        assert_eq!(known(&bbr), (40, 45));
        // After 10 s the smallest of the last 5 s takes its place.
        assert!(!rtt(&mut bbr, 10_001, 60));
        assert_eq!(known(&bbr), (45, 45));
    }

    #[test]
    fn lower_samples_count_at_once() {
        let mut bbr = Bbr::new(&Config::default());
        rtt(&mut bbr, 0, 40);
        rtt(&mut bbr, 1_000, 39);
        assert_eq!(known(&bbr), (39, 39));
        // An equal one does not put off the next ProbeRTT.
        assert!(!rtt(&mut bbr, 5_000, 39));
        assert!(rtt(&mut bbr, 6_001, 39));
    }

    #[test]
    fn a_probe_rtt_that_is_due_is_sized_by_the_minimum_of_before() {
        // Issue 109 of the draft: both windows have expired, and the sample holds a queue.
        let mut bbr = Bbr::new(&Config::default());
        rtt(&mut bbr, 0, 40);
        assert!(rtt(&mut bbr, 11_000, 400));
        assert_eq!(known(&bbr), (40, 400));
        bbr.state = State::ProbeRtt { done_at: None, round_done: false };
        rtt(&mut bbr, 11_200, 120);
        assert_eq!(known(&bbr), (40, 120));
        // After it, what it found.
        bbr.enter_startup();
        rtt(&mut bbr, 11_500, 150);
        assert_eq!(known(&bbr), (120, 120));
    }

    #[test]
    fn after_idle_no_probe_rtt_comes_and_the_sample_counts() {
        let mut bbr = Bbr::new(&Config::default());
        rtt(&mut bbr, 0, 40);
        bbr.idle_restart = true;
        assert!(rtt(&mut bbr, 11_000, 60));
        assert_eq!(known(&bbr), (60, 60));
    }
}
