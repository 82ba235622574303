//! `BBR.extra_acked`: how much more is acked at once than the bandwidth explains (section 5.5.9).

use crate::Bbr;
use crate::constants::EXTRA_ACKED_FILTER_LEN;
use crate::filter::WindowedMax;
use crate::sample::Sample;
use cc_core::{Instant, PathState};

/// The running interval and the largest excess of recent rounds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ExtraAcked {
    /// `BBR.extra_acked_interval_start`.
    interval_start: Instant,
    /// `BBR.extra_acked_delivered`: bytes acked since then.
    delivered: u64,
    /// `BBR.extra_acked_filter`.
    filter: WindowedMax,
}

impl ExtraAcked {
    pub(crate) fn new(now: Instant) -> Self {
        Self { interval_start: now, delivered: 0, filter: WindowedMax::default() }
    }

    /// `BBR.extra_acked` in bytes.
    pub(crate) const fn get(&self) -> u64 {
        self.filter.get()
    }

    /// Time without packets in flight is no time in which acks were missing (section 5.4.1). The draft leaves the count of the
    /// interval before as it is, all of which would then be an excess.
    pub(crate) const fn on_idle_restart(&mut self, now: Instant) {
        self.interval_start = now;
        self.delivered = 0;
    }
}

impl Bbr {
    /// `UpdateACKAggregation()`.
    pub(crate) fn update_ack_aggregation(&mut self, path: &PathState, rs: &Sample) {
        let aggregation = &mut self.extra_acked;
        let mut expected = self.bw.bytes_in(path.now.since(aggregation.interval_start));
        // Acks come more slowly than data at the bandwidth: the interval starts again.
        if aggregation.delivered <= expected {
            aggregation.delivered = 0;
            aggregation.interval_start = path.now;
            expected = 0;
        }
        aggregation.delivered = aggregation.delivered.saturating_add(rs.newly_acked);
        let extra = aggregation.delivered.saturating_sub(expected).min(self.cwnd);
        let len = if self.full_bw.reached { EXTRA_ACKED_FILTER_LEN } else { 1 };
        aggregation.filter.update(extra, self.round.count, len);
    }
}
