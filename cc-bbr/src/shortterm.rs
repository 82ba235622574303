//! The bounds of the model, and how those of short term follow congestion (section 5.5.10.3).

use crate::Bbr;
use crate::arithmetic::percent_of;
use crate::constants::{BETA, INFINITE, ONE};
use cc_core::Rate;

/// What congestion has shown to be safe. What a loss changes and an undo restores is all here.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Bounds {
    /// `BBR.bw_shortterm`; [`Rate::MAX`] for "Infinity".
    pub(crate) bw_shortterm: Rate,
    /// `BBR.inflight_shortterm` in bytes; [`INFINITE`] for "Infinity".
    pub(crate) inflight_shortterm: u64,
    /// `BBR.inflight_longterm` in bytes; [`INFINITE`] for "Infinity".
    pub(crate) inflight_longterm: u64,
}

impl Bounds {
    /// No congestion was seen.
    pub(crate) const UNKNOWN: Self =
        Self { bw_shortterm: Rate::MAX, inflight_shortterm: INFINITE, inflight_longterm: INFINITE };

    /// `ResetShortTermModel()`.
    pub(crate) const fn reset_short_term(&mut self) {
        self.bw_shortterm = Rate::MAX;
        self.inflight_shortterm = INFINITE;
    }

    /// The higher of both, bound by bound.
    pub(crate) fn max(self, other: Self) -> Self {
        Self {
            bw_shortterm: self.bw_shortterm.max(other.bw_shortterm),
            inflight_shortterm: self.inflight_shortterm.max(other.inflight_shortterm),
            inflight_longterm: self.inflight_longterm.max(other.inflight_longterm),
        }
    }

    /// The lower of both, bound by bound.
    pub(crate) fn min(self, other: Self) -> Self {
        Self {
            bw_shortterm: self.bw_shortterm.min(other.bw_shortterm),
            inflight_shortterm: self.inflight_shortterm.min(other.inflight_shortterm),
            inflight_longterm: self.inflight_longterm.min(other.inflight_longterm),
        }
    }
}

impl Bbr {
    /// `AdaptLowerBoundsFromCongestion()`, at the end of each round of losses.
    pub(crate) fn adapt_lower_bounds_from_congestion(&mut self) {
        if self.state.is_probing_bw() || !self.signals.is_loss_in_round {
            return;
        }
        let (bw, inflight) = (self.signals.bw_latest, self.signals.inflight_latest);
        self.lower_bounds(bw, inflight);
    }

    /// `InitLowerBounds()` and `LossLowerBounds()`: down to what was delivered in the last round, but by no more than Beta.
    pub(crate) fn lower_bounds(&mut self, bw_latest: Rate, inflight_latest: u64) {
        let bounds = &mut self.bounds;
        // No share of a bandwidth that is not known yet: the window alone is lowered then.
        if bounds.bw_shortterm == Rate::MAX && !self.max_bw.get().is_zero() {
            bounds.bw_shortterm = self.max_bw.get();
        }
        if bounds.inflight_shortterm == INFINITE {
            bounds.inflight_shortterm = self.cwnd;
        }
        if bounds.bw_shortterm != Rate::MAX {
            bounds.bw_shortterm = bw_latest.max(bounds.bw_shortterm.scaled(BETA, ONE));
        }
        bounds.inflight_shortterm = inflight_latest.max(percent_of(bounds.inflight_shortterm, BETA));
    }

    /// `BoundBWForModel()`.
    pub(crate) fn bound_bw_for_model(&mut self) {
        self.bw = self.max_bw.get().min(self.bounds.bw_shortterm);
    }
}
