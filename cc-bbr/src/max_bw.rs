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
