//! Drain (section 5.3.2).

use crate::constants::{DRAIN_ROUNDS, ONE};
use crate::{Bbr, State};
use cc_core::PathState;

impl Bbr {
    /// `EnterDrain()`.
    pub(crate) const fn enter_drain(&mut self) {
        self.state = State::Drain { start_round: self.round.count };
    }

    /// `CheckDrainDone()`.
    pub(crate) fn check_drain_done(&mut self, path: &PathState) {
        let State::Drain { start_round } = self.state else { return };
        if path.bytes_in_flight <= self.inflight(self.bw, ONE)
            || self.round.count > start_round.saturating_add(DRAIN_ROUNDS)
        {
            self.enter_probe_bw(path);
        }
    }
}
