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
