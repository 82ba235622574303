//! ProbeRTT (section 5.3.4).

use crate::constants::{PROBE_RTT_CWND_GAIN, PROBE_RTT_DURATION};
use crate::inflight_longterm::AckPhase;
use crate::sample::Sample;
use crate::{Bbr, State};
use cc_core::PathState;

impl Bbr {
    /// `CheckProbeRTT()`.
    ///
    /// `is_due` is `BBR.probe_rtt_expired`.
    pub(crate) fn check_probe_rtt(&mut self, path: &PathState, rs: &Sample, is_due: bool) {
        if !self.state.is_probe_rtt() && is_due && !self.idle_restart {
            // Before the state changes: the window is not one of ProbeRTT yet.
            self.save_cwnd();
            self.enter_probe_rtt();
            self.long_term.ack_phase = AckPhase::ProbeStopping;
            self.start_round(path);
        }
        self.handle_probe_rtt(path, rs);
        if rs.delivered > 0 {
            self.idle_restart = false;
        }
    }

    /// `EnterProbeRTT()`.
    const fn enter_probe_rtt(&mut self) {
        self.state = State::ProbeRtt { done_at: None, round_done: false };
    }

    /// `HandleProbeRTT()`. That samples count as application-limited is told by `marks_app_limited`.
    fn handle_probe_rtt(&mut self, path: &PathState, rs: &Sample) {
        let State::ProbeRtt { done_at, round_done } = self.state else { return };
        if done_at.is_none() {
            if path.bytes_in_flight <= self.probe_rtt_cwnd() {
                let done_at = Some(path.now.after(PROBE_RTT_DURATION));
                self.state = State::ProbeRtt { done_at, round_done: false };
                self.start_round(path);
            }
            return;
        }
        let round_done = round_done || rs.round_start;
        self.state = State::ProbeRtt { done_at, round_done };
        if round_done {
            self.check_probe_rtt_done(path);
        }
    }

    /// `CheckProbeRTTDone()`.
    pub(crate) fn check_probe_rtt_done(&mut self, path: &PathState) {
        let State::ProbeRtt { done_at: Some(done_at), .. } = self.state else { return };
        if path.now > done_at {
            self.min_rtt.schedule_next_probe(path.now);
            self.restore_cwnd();
            self.exit_probe_rtt(path);
        }
    }

    /// `ExitProbeRTT()` (section 5.3.4.4).
    fn exit_probe_rtt(&mut self, path: &PathState) {
        self.left_probe_rtt = true;
        self.bounds.reset_short_term();
        if !self.full_bw.reached {
            self.enter_startup();
            return;
        }
        self.start_probe_bw_down(path);
        if let State::ProbeBwDown(wait) = self.state {
            self.start_probe_bw_cruise(wait);
        }
    }

    /// `ProbeRTTCwnd()` (section 5.6.4.5).
    pub(crate) fn probe_rtt_cwnd(&self) -> u64 {
        self.bdp_multiple(self.bw, PROBE_RTT_CWND_GAIN).max(self.settings.min_pipe_cwnd())
    }
}
