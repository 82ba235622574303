//! The control parameters: pacing rate, send quantum and window (section 5.6).

use crate::arithmetic::percent_of;
use crate::constants::{
    INFINITE, MAX_QUANTUM, ONE, PACING_MARGIN_PERCENT, QUANTUM_TIME, STARTUP_PACING_GAIN,
};
use crate::{Bbr, State};
use cc_core::{Duration, PathState, Rate};

/// Never zero: a sender that may not send measures nothing.
const LEAST_RATE: Rate = Rate::from_bytes_per_sec(1);

impl Bbr {
    /// `UpdateControlParameters()`. The quantum is computed where it is asked for.
    pub(crate) fn update_control_parameters(&mut self, path: &PathState, newly_acked: u64) {
        self.set_pacing_rate_with_gain(self.state.pacing_gain());
        self.set_cwnd(path, newly_acked);
    }

    /// `InitPacingRate()` (section 5.6.2), at the start and once more with the first RTT sample.
    pub(crate) fn init_pacing_rate(&mut self, srtt: Option<Duration>) {
        let rtt = srtt.unwrap_or(self.settings.assumed_rtt());
        let nominal = Rate::from_delivery(self.settings.initial_window(), rtt);
        self.pacing_rate = nominal.unwrap_or(Rate::MAX).scaled(STARTUP_PACING_GAIN, ONE).max(LEAST_RATE);
        self.settings.has_seen_rtt = srtt.is_some();
    }

    /// `SetPacingRateWithGain()`. Without an estimate the rate stays as it is.
    pub(crate) fn set_pacing_rate_with_gain(&mut self, gain: u32) {
        if self.bw.is_zero() {
            return;
        }
        let rate = self
            .bw
            .scaled(gain.saturating_mul(ONE.saturating_sub(PACING_MARGIN_PERCENT)), ONE.saturating_mul(ONE))
            .max(LEAST_RATE);
        if self.full_bw.reached || rate > self.pacing_rate {
            self.pacing_rate = rate;
        }
    }

    /// `C.send_quantum` (section 5.6.3).
    pub(crate) fn quantum(&self) -> u64 {
        self.pacing_rate
            .bytes_in(QUANTUM_TIME)
            .min(MAX_QUANTUM)
            .max(self.settings.min_window())
            // Two datagrams above 32 KiB are more than one burst may be.
            .min(MAX_QUANTUM)
    }

    /// `SetCwnd()` (section 5.6.4.6).
    fn set_cwnd(&mut self, path: &PathState, newly_acked: u64) {
        // RFC 9002 appendix B.5: acks of what was sent before persistent congestion do not raise the window.
        if self.is_collapsed() {
            self.bound_cwnd_for_model();
            return;
        }
        // RFC 9959, "Unvalidated Phase": no growth before a packet of the jump is acked.
        let newly_acked = if self.is_unvalidated() { 0 } else { newly_acked };
        let max_inflight = self.max_inflight();
        let grown = self.cwnd.saturating_add(newly_acked);
        let delivered = path.delivered.saturating_sub(self.delivered_before);
        if self.full_bw.reached {
            self.cwnd = grown.min(max_inflight);
        } else if self.cwnd < max_inflight || delivered < self.settings.initial_window() {
            self.cwnd = grown;
        }
        // An event that acked nothing raises no window.
        if newly_acked > 0 {
            self.cwnd = self.cwnd.max(self.settings.min_pipe_cwnd());
        }
        self.bound_cwnd_for_model();
        self.bound_cwnd_for_retreat();
        self.cwnd = self.cwnd.max(self.settings.min_window());
    }

    /// `BoundCwndForProbeRTT()` and `BoundCwndForModel()` (sections 5.6.4.5 and 5.6.4.7). Lowers the window only.
    pub(crate) fn bound_cwnd_for_model(&mut self) {
        if self.state.is_probe_rtt() {
            self.cwnd = self.cwnd.min(self.probe_rtt_cwnd());
        }
        let cap = match self.state {
            State::Startup => INFINITE,
            // Drain as in the table of section 5.6.1.
            State::Drain { .. } | State::ProbeBwDown(_) | State::ProbeBwRefill | State::ProbeBwUp { .. } => {
                self.bounds.inflight_longterm
            }
            State::ProbeBwCruise(_) | State::ProbeRtt { .. } => self.inflight_with_headroom(),
        };
        let cap = cap.min(self.bounds.inflight_shortterm).max(self.settings.min_pipe_cwnd());
        self.cwnd = self.cwnd.min(cap);
    }

    /// `BBR.bdp` in bytes; the initial window before the first RTT sample.
    pub(crate) fn bdp(&self) -> u64 {
        self.bdp_multiple(self.bw, ONE)
    }

    /// `BDPMultiple()` (section 5.6.4.2), with a gain in percent.
    pub(crate) fn bdp_multiple(&self, bw: Rate, gain: u32) -> u64 {
        match self.min_rtt.get() {
            Some(min_rtt) => percent_of(bw.bytes_in(min_rtt), gain),
            None => self.settings.initial_window(),
        }
    }

    /// `Inflight()`.
    pub(crate) fn inflight(&self, bw: Rate, gain: u32) -> u64 {
        self.quantization_budget(self.bdp_multiple(bw, gain))
    }

    /// `UpdateMaxInflight()`: `BBR.max_inflight`.
    pub(crate) fn max_inflight(&self) -> u64 {
        let inflight = self.bdp_multiple(self.bw, self.state.cwnd_gain());
        self.quantization_budget(inflight.saturating_add(self.extra_acked.get()))
    }

    /// `QuantizationBudget()`.
    fn quantization_budget(&self, inflight: u64) -> u64 {
        let inflight = inflight.max(self.offload_budget()).max(self.settings.min_pipe_cwnd());
        if matches!(self.state, State::ProbeBwUp { .. }) {
            inflight.saturating_add(self.settings.datagram().saturating_mul(2))
        } else {
            inflight
        }
    }
}
