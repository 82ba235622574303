//! Restarting from idle (section 5.4).

use crate::Bbr;
use crate::constants::ONE;
use cc_core::PathState;

impl Bbr {
    /// `HandleRestartFromIdle()`, before a packet is sent while nothing is in flight.
    pub(crate) fn handle_restart_from_idle(&mut self, path: &PathState) {
        if !path.app_limited {
            return;
        }
        self.idle_restart = true;
        self.extra_acked.on_idle_restart(path.now);
        if self.state.is_probe_bw() {
            self.set_pacing_rate_with_gain(ONE);
        } else if self.state.is_probe_rtt() {
            self.check_probe_rtt_done(path);
            // The window restored is that of before; the bounds of the state that was entered hold at once.
            self.bound_cwnd_for_model();
        }
    }
}
