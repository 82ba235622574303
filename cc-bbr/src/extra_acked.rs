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
    /// `BBR.extra_acked_delivered`: bytes acked since then, of which 4 GiB are remembered.
    delivered: u32,
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
        if u64::from(aggregation.delivered) <= expected {
            aggregation.delivered = 0;
            aggregation.interval_start = path.now;
            expected = 0;
        }
        let delivered = u64::from(aggregation.delivered).saturating_add(rs.newly_acked);
        aggregation.delivered = u32::try_from(delivered).unwrap_or(u32::MAX);
        let extra = delivered.saturating_sub(expected).min(self.cwnd);
        let len = if self.full_bw.reached { EXTRA_ACKED_FILTER_LEN } else { 1 };
        aggregation.filter.update(extra, self.round.count, len);
    }
}

#[cfg(test)]
mod tests {
    use crate::Bbr;
    use crate::sample::Sample;
    use crate::tests::{cruising, later, ms, path};

    /// So many bytes acked so many ms after the start, in this round.
    fn ack(bbr: &mut Bbr, at: u64, bytes: u64, round: u64) -> u64 {
        bbr.round.count = round;
        let rs = Sample { newly_acked: bytes, ..Sample::default() };
        bbr.update_ack_aggregation(&later(&path(), ms(at)), &rs);
        bbr.extra_acked()
    }

    #[test]
    fn what_the_bandwidth_does_not_explain_is_extra() {
        // 1 MB/s: 1000 B per ms
        let mut bbr = cruising(1_000_000, 40);
        assert_eq!(ack(&mut bbr, 0, 12_000, 1), 12_000);
        // 12 000 + 6000 - 5000
        assert_eq!(ack(&mut bbr, 5, 6_000, 1), 13_000);
        // 20 000 were expected: the interval begins again.
        assert_eq!(ack(&mut bbr, 20, 4_000, 1), 13_000);
        assert_eq!(ack(&mut bbr, 21, 2_000, 1), 13_000);
        // Nine rounds later all of them count.
        assert_eq!(ack(&mut bbr, 21, 0, 10), 13_000);
        // Ten rounds later only the newest interval counts: 4000 + 2000 + 1000 - 2000.
        assert_eq!(ack(&mut bbr, 22, 1_000, 11), 5_000);
    }

    #[test]
    fn it_is_no_more_than_the_window() {
        let mut bbr = cruising(1_000_000, 40);
        assert_eq!(ack(&mut bbr, 0, 1_000_000, 1), 80_000);
    }

    #[test]
    fn before_the_pipe_is_full_one_round_is_remembered() {
        let mut bbr = cruising(1_000_000, 40);
        bbr.full_bw.reached = false;
        assert_eq!(ack(&mut bbr, 0, 12_000, 1), 12_000);
        assert_eq!(ack(&mut bbr, 50, 1_200, 2), 1_200);
    }

    #[test]
    fn acks_of_before_an_idle_time_are_forgotten() {
        // 60 000 B take 60 ms: after 10 ms the interval would go on, with 61 200 - 10 000 too many.
        let mut bbr = cruising(1_000_000, 40);
        ack(&mut bbr, 0, 60_000, 1);
        bbr.handle_restart_from_idle(&later(&path(), ms(9)));
        assert_eq!(ack(&mut bbr, 10, 1_200, 20), 1_200);
    }
}
