//! Startup (section 5.3.1).

use crate::constants::STARTUP_FULL_LOSS_COUNT;
use crate::sample::Sample;
use crate::undo::UndoState;
use crate::{Bbr, State};

impl Bbr {
    /// `EnterStartup()`.
    pub(crate) const fn enter_startup(&mut self) {
        self.state = State::Startup;
    }

    /// `CheckStartupDone()`.
    pub(crate) fn check_startup_done(&mut self, rs: &Sample) {
        if self.state != State::Startup {
            return;
        }
        self.check_startup_high_loss(rs);
        if self.state == State::Startup && self.full_bw.reached {
            self.enter_drain();
        }
    }

    /// `CheckStartupHighLoss()` (section 5.3.1.3), at the end of a round of losses: then recovery has lasted for a round, and the
    /// packet that was just acked tells the losses of that round.
    fn check_startup_high_loss(&mut self, rs: &Sample) {
        let enough = rs.loss_round_start
            && self.in_loss_recovery()
            && self.signals.lost_ranges >= STARTUP_FULL_LOSS_COUNT;
        if enough && rs.is_inflight_too_high() {
            self.leave_startup();
        }
    }

    /// Congestion showed that the pipe is full.
    pub(crate) fn leave_startup(&mut self) {
        self.set_undo_state(UndoState::Startup);
        self.full_bw.set_full();
        self.bounds.inflight_longterm = self.bdp().max(self.signals.inflight_latest);
        self.enter_drain();
    }
}
