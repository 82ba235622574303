//! Restarting from idle (section 5.4).

use crate::Bbr;
use crate::constants::ONE;
use cc_core::{Duration, PathState};

impl Bbr {
    /// Whether the application was the limit while nothing was in flight for `idle`.
    ///
    /// The draft looks for that when data is written (section 4.1.2.4). A stack may not have said so, but window and pacer hold
    /// back no sender whose flight is empty for longer than two quanta take.
    pub(crate) fn was_idle(&self, path: &PathState, idle: Duration) -> bool {
        path.app_limited || idle > self.pacing_rate.time_to_send(self.quantum().saturating_mul(2))
    }

    /// `HandleRestartFromIdle()`, before a packet is sent while nothing is in flight and the application was the limit.
    pub(crate) fn handle_restart_from_idle(&mut self, path: &PathState) {
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
