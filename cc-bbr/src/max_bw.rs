//! `BBR.max_bw`: the largest delivery rate of this and the last probing cycle (sections 5.5.2 to 5.5.6).

use crate::Bbr;
use crate::sample::Sample;
use cc_core::{PathState, Rate};

/// `BBR.max_bw_filter`, whose window of `BBR.MaxBwFilterLen` = 2 cycles needs two values, and its result.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct MaxBw {
    /// `BBR.max_bw`. It changes with samples only: a cycle that ends lowers it at the next one that counts.
    max: Rate,
    previous_cycle: Rate,
    this_cycle: Rate,
}

impl MaxBw {
    pub(crate) const fn get(&self) -> Rate {
        self.max
    }

    fn update(&mut self, rate: Rate) {
        self.this_cycle = self.this_cycle.max(rate);
        self.max = self.this_cycle.max(self.previous_cycle);
    }

    /// `AdvanceMaxBwFilter()`.
    pub(crate) const fn advance(&mut self) {
        self.previous_cycle = self.this_cycle;
        self.this_cycle = Rate::ZERO;
    }
}

impl Bbr {
    /// `UpdateMaxBw()` (section 5.5.5). Limited samples count only where they show more than is known.
    pub(crate) fn update_max_bw(&mut self, path: &PathState, rs: &mut Sample) {
        self.update_round(path, rs);
        let rate = rs.delivery_rate;
        if !rate.is_zero() && (rate >= self.max_bw.get() || !rs.is_app_limited) {
            self.max_bw.update(rate);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::sample::Sample;
    use crate::tests::{cruising, path, rate, sample};

    #[test]
    fn limited_samples_count_only_where_they_show_more() {
        let mut bbr = cruising(1_000, 40);
        for (bytes_per_sec, expected) in [(999, 1_000), (1_001, 1_001), (1_001, 1_001), (5, 1_001)] {
            bbr.update_max_bw(&path(), &mut Sample { is_app_limited: true, ..sample(bytes_per_sec) });
            assert_eq!(bbr.max_bw(), rate(expected));
        }
        // Nor when what they are below has left the filter.
        bbr.max_bw.advance();
        bbr.max_bw.advance();
        for bytes_per_sec in [5, 1_000] {
            bbr.update_max_bw(&path(), &mut Sample { is_app_limited: true, ..sample(bytes_per_sec) });
            assert_eq!(bbr.max_bw(), rate(1_001));
        }
        bbr.update_max_bw(&path(), &mut sample(900));
        assert_eq!(bbr.max_bw(), rate(900));
    }

    #[test]
    fn a_maximum_lasts_for_its_cycle_and_the_next() {
        let mut bbr = cruising(1_000, 40);
        bbr.max_bw.advance();
        bbr.update_max_bw(&path(), &mut sample(900));
        assert_eq!(bbr.max_bw(), rate(1_000));
        bbr.max_bw.advance();
        // Without a sample the old one stays.
        assert_eq!(bbr.max_bw(), rate(1_000));
        bbr.update_max_bw(&path(), &mut sample(800));
        assert_eq!(bbr.max_bw(), rate(900));
    }

    #[test]
    fn no_rate_is_no_sample() {
        let mut bbr = cruising(1_000, 40);
        bbr.max_bw.advance();
        bbr.max_bw.advance();
        bbr.update_max_bw(&path(), &mut sample(0));
        assert_eq!(bbr.max_bw(), rate(1_000));
    }
}
