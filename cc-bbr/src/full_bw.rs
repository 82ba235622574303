//! The full pipe estimator: a plateau of the delivery rate (section 5.3.1.2).

use crate::Bbr;
use crate::arithmetic::percent_of;
use crate::constants::{FULL_BW_COUNT, FULL_BW_GROWTH};
use crate::sample::Sample;
use cc_core::Rate;

/// What the estimator knows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct FullBw {
    /// `BBR.full_bw`: the rate from which growth is counted.
    pub(crate) bw: Rate,
    /// `BBR.full_bw_count`: rounds without growth.
    pub(crate) count: u8,
    /// `BBR.full_bw_now`: the pipe has been full since the search began.
    pub(crate) now: bool,
    /// `BBR.full_bw_reached`: the pipe was full once.
    pub(crate) reached: bool,
}

impl FullBw {
    /// `ResetFullBW()`, with the rate from which growth counts from now on.
    pub(crate) const fn reset(&mut self, bw: Rate) {
        self.bw = bw;
        self.count = 0;
        self.now = false;
    }

    /// The pipe is full, whatever showed it.
    pub(crate) const fn set_full(&mut self) {
        self.now = true;
        self.reached = true;
    }
}

impl Bbr {
    /// `CheckFullBWReached()`: once a round. A round that ends with an ACK without a reliable sample counts for nothing.
    pub(crate) fn check_full_bw_reached(&mut self, rs: &Sample) {
        let full = &mut self.full_bw;
        if full.now || !rs.round_start || rs.is_app_limited || rs.delivery_rate.is_zero() {
            return;
        }
        let rate = rs.delivery_rate.as_bytes_per_sec();
        if rate >= percent_of(full.bw.as_bytes_per_sec(), FULL_BW_GROWTH) {
            full.reset(rs.delivery_rate);
            return;
        }
        full.count = full.count.saturating_add(1);
        if full.count >= FULL_BW_COUNT {
            full.set_full();
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::sample::Sample;
    use crate::tests::{sample, starting};

    #[test]
    fn three_rounds_below_a_quarter_more_fill_the_pipe() {
        let mut bbr = starting(1_000, 40);
        bbr.check_full_bw_reached(&sample(1_000));
        assert_eq!((bbr.full_bw.bw.as_bytes_per_sec(), bbr.full_bw.count), (1_000, 0));
        // 1.25 * 1000 is enough, 1249 is not.
        bbr.check_full_bw_reached(&sample(1_249));
        assert_eq!(bbr.full_bw.count, 1);
        bbr.check_full_bw_reached(&sample(1_250));
        assert_eq!((bbr.full_bw.bw.as_bytes_per_sec(), bbr.full_bw.count), (1_250, 0));
        for count in 1..=3 {
            assert!(!bbr.full_bw.reached);
            bbr.check_full_bw_reached(&sample(1_300));
            assert_eq!(bbr.full_bw.count, count);
        }
        assert!(bbr.full_bw.now && bbr.full_bw.reached);
    }

    #[test]
    fn only_rounds_with_a_sample_that_is_not_limited_count() {
        let mut bbr = starting(1_000, 40);
        bbr.check_full_bw_reached(&sample(1_000));
        for rs in [
            Sample { round_start: false, ..sample(1_000) },
            Sample { is_app_limited: true, ..sample(1_000) },
            sample(0),
        ] {
            bbr.check_full_bw_reached(&rs);
            assert_eq!(bbr.full_bw.count, 0, "{rs:?}");
        }
    }
}
