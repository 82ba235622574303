//! The control parameters: pacing rate, send quantum and window (section 5.6).

use crate::arithmetic::percent_of;
use crate::constants::{
    INFINITE, MAX_QUANTUM, ONE, PACING_MARGIN_PERCENT, QUANTUM_BDP_DIVISOR, QUANTUM_TIME, STARTUP_PACING_GAIN,
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

    /// `C.send_quantum` (section 5.6.3), and no more than a part of the BDP.
    pub(crate) fn quantum(&self) -> u64 {
        self.pacing_rate
            .bytes_in(QUANTUM_TIME)
            .min(MAX_QUANTUM)
            .min(self.bdp() / QUANTUM_BDP_DIVISOR)
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

#[cfg(test)]
mod tests {
    use crate::tests::{cruising, ms, path, probing, rate, starting};
    use crate::{Bbr, Config, State};
    use cc_core::{CongestionController, PathState};

    #[test]
    fn the_first_pacing_rate_follows_from_the_initial_window() {
        // 2.77 * 12 000 B / 1 ms; / 100 ms
        let mut bbr = Bbr::new(&Config::default());
        assert_eq!(bbr.pacing_rate(), Some(rate(33_240_000)));
        bbr.init_pacing_rate(Some(ms(100)));
        assert_eq!(bbr.pacing_rate(), Some(rate(332_400)));
        let bbr = Bbr::new(&Config { initial_rtt: Some(ms(50)), ..Config::default() });
        assert_eq!(bbr.pacing_rate(), Some(rate(664_800)));
        assert_eq!(bbr.min_rtt(), None, "it is no measurement");
    }

    #[test]
    fn pacing_leaves_one_per_cent() {
        let mut bbr = cruising(1_000_000, 40);
        let State::ProbeBwCruise(wait) = bbr.state else { panic!() };
        for (state, expected) in [
            (State::Startup, 2_742_300),
            (State::Drain { start_round: 0 }, 495_000),
            (State::ProbeBwDown(wait), 891_000),
            (State::ProbeBwCruise(wait), 990_000),
            (State::ProbeBwRefill, 990_000),
            (State::ProbeBwUp { rounds: 0, acked: 0, acked_per_increase: 0 }, 1_237_500),
            (State::ProbeRtt { done_at: None, round_done: false }, 990_000),
        ] {
            bbr.state = state;
            bbr.update_control_parameters(&path(), 0);
            assert_eq!(bbr.pacing_rate(), Some(rate(expected)), "{state:?}");
        }
    }

    #[test]
    fn before_the_pipe_is_full_the_rate_only_rises() {
        let mut bbr = starting(1_000_000, 40);
        bbr.pacing_rate = rate(2_742_299);
        bbr.set_pacing_rate_with_gain(277);
        assert_eq!(bbr.pacing_rate(), Some(rate(2_742_300)));
        bbr.set_pacing_rate_with_gain(100);
        assert_eq!(bbr.pacing_rate(), Some(rate(2_742_300)));
    }

    #[test]
    fn without_an_estimate_the_rate_stays_and_it_is_never_zero() {
        let mut bbr = Bbr::new(&Config::default());
        bbr.full_bw.set_full();
        bbr.set_pacing_rate_with_gain(50);
        assert_eq!(bbr.pacing_rate(), Some(rate(33_240_000)));
        bbr.bw = rate(1);
        bbr.set_pacing_rate_with_gain(50);
        assert_eq!(bbr.pacing_rate(), Some(rate(1)));
    }

    #[test]
    fn a_quantum_lasts_a_millisecond_within_two_datagrams_and_64_kib() {
        let mut bbr = cruising(100_000_000, 40);
        for (pacing, quantum) in [(1, 2_400), (5_000_000, 5_000), (1_000_000_000, 65_536)] {
            bbr.pacing_rate = rate(pacing);
            assert_eq!(bbr.send_quantum(), quantum);
        }
        // A quarter of a BDP of 54 720 (218.88 Mbit/s, 2 ms) is less than a millisecond at 27.36 MB/s.
        let mut short = cruising(27_360_000, 2);
        short.pacing_rate = rate(27_360_000);
        assert_eq!(short.send_quantum(), 13_680);
        bbr.take_path(&PathState { max_datagram_size: 65_527, ..path() });
        assert_eq!(bbr.send_quantum(), 65_536);
    }

    #[test]
    fn max_inflight_is_a_multiple_of_the_bdp_and_what_aggregation_adds() {
        // BDP 40 000; quantum and four datagrams are less.
        let mut bbr = cruising(1_000_000, 40);
        assert_eq!(bbr.max_inflight(), 80_000);
        // 2.25 BDP and two datagrams
        let bbr_up = probing(1_000_000, 40);
        assert_eq!(bbr_up.max_inflight(), 90_000 + 2_400);
        assert_eq!(bbr_up.inflight(rate(1_000_000), 100), 40_000 + 2_400);
        bbr.enter_drain();
        assert_eq!(bbr.max_inflight(), 80_000);
        // Below a packet: four datagrams.
        let bbr = cruising(8_000, 10);
        assert_eq!((bbr.bdp(), bbr.max_inflight()), (80, 4_800));
    }

    #[test]
    fn without_an_rtt_the_bdp_is_the_initial_window() {
        let bbr = Bbr::new(&Config { initial_window: Some(20_000), ..Config::default() });
        assert_eq!((bbr.bdp(), bbr.inflight(rate(1), 50)), (20_000, 20_000));
    }

    #[test]
    fn the_window_grows_by_what_is_acked_and_no_further_than_the_model() {
        let mut bbr = cruising(1_000_000, 40);
        bbr.cwnd = 70_000;
        bbr.update_control_parameters(&path(), 6_000);
        assert_eq!(bbr.cwnd(), 76_000);
        bbr.update_control_parameters(&path(), 6_000);
        assert_eq!(bbr.cwnd(), 80_000);
        bbr.cwnd = 200_000;
        bbr.update_control_parameters(&path(), 0);
        assert_eq!(bbr.cwnd(), 80_000);
    }

    #[test]
    fn before_the_pipe_is_full_the_window_is_not_cut_to_the_model() {
        let mut bbr = starting(1_000_000, 40);
        for (cwnd, delivered, expected) in [
            (70_000, 1_000_000, 76_000),
            // Above it no growth ...
            (90_000, 1_000_000, 90_000),
            // ... unless so little was delivered that the model means nothing.
            (90_000, 11_999, 96_000),
        ] {
            bbr.cwnd = cwnd;
            bbr.update_control_parameters(&PathState { delivered, ..path() }, 6_000);
            assert_eq!(bbr.cwnd(), expected);
        }
    }

    #[test]
    fn bounds_of_the_state_hold_the_window_down_to_four_datagrams() {
        let mut bbr = cruising(1_000_000, 40);
        let State::ProbeBwCruise(wait) = bbr.state else { panic!() };
        bbr.bounds.inflight_longterm = 60_000;
        for (state, expected) in [
            (State::Startup, 80_000),
            (State::Drain { start_round: 0 }, 60_000),
            (State::ProbeBwDown(wait), 60_000),
            (State::ProbeBwRefill, 60_000),
            (State::ProbeBwUp { rounds: 0, acked: 0, acked_per_increase: 0 }, 60_000),
            // 0.85 * 60 000
            (State::ProbeBwCruise(wait), 51_000),
            // 0.5 * 40 000 is less than 51 000.
            (State::ProbeRtt { done_at: None, round_done: false }, 20_000),
        ] {
            bbr.state = state;
            bbr.cwnd = 80_000;
            bbr.bound_cwnd_for_model();
            assert_eq!(bbr.cwnd(), expected, "{state:?}");
        }
        for bound in [10_000, 100] {
            bbr.state = State::ProbeBwRefill;
            bbr.cwnd = 80_000;
            bbr.bounds.inflight_shortterm = bound;
            bbr.bound_cwnd_for_model();
            assert_eq!(bbr.cwnd(), bound.max(4_800));
        }
    }

    #[test]
    fn ten_gigabit_and_600_ms_fit() {
        let bbr = cruising(1_250_000_000, 600);
        assert_eq!(bbr.max_inflight(), 1_500_000_000);
        let bbr = cruising(u64::MAX, u64::MAX / 2_000_000);
        assert_eq!(bbr.max_inflight(), u64::MAX);
    }
}
