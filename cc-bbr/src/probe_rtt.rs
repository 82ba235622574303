//! ProbeRTT (section 5.3.4).

use crate::constants::{PROBE_RTT_CWND_GAIN, PROBE_RTT_DURATION};
use crate::inflight_longterm::AckPhase;
use crate::sample::Sample;
use crate::{Bbr, State};
use cc_core::{Instant, PathState};

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
        // Without a sample too.
        if rs.delivered > 0 || rs.newly_acked > 0 {
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
        let State::ProbeRtt { done_at: Some(done_at), round_done } = self.state else { return };
        // Where the clock went back no time has passed, and the whole duration is left at most.
        let done_at = done_at.min(path.now.after(PROBE_RTT_DURATION));
        self.state = State::ProbeRtt { done_at: Some(done_at), round_done };
        // At the end of the range of times nothing is later.
        if path.now > done_at || done_at == Instant::MAX {
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

#[cfg(test)]
mod tests {
    use crate::inflight_longterm::AckPhase;
    use crate::sample::Sample;
    use crate::tests::{cruising, later, ms, path, sample, starting};
    use crate::{Bbr, State};
    use cc_core::{CongestionController, Instant, PathState};

    const ROUND: Sample = Sample {
        round_start: true,
        delivered: 1,
        ..Sample {
            delivery_rate: cc_core::Rate::ZERO,
            delivered: 0,
            prior_delivered: None,
            is_app_limited: false,
            tx_in_flight: 0,
            lost: 0,
            newly_acked: 0,
            rtt: None,
            round_start: false,
            loss_round_start: false,
        }
    };

    /// An ACK so many ms later, that leaves this much in flight.
    fn check(bbr: &mut Bbr, at: u64, in_flight: u64, is_due: bool) -> &'static str {
        let path = PathState { bytes_in_flight: in_flight, ..later(&path(), ms(at)) };
        bbr.check_probe_rtt(&path, &ROUND, is_due);
        bbr.update_control_parameters(&path, 0);
        bbr.state.name()
    }

    #[test]
    fn it_lasts_200_ms_and_a_round_from_when_the_flight_is_half_a_bdp() {
        let mut bbr = cruising(1_000_000, 40);
        assert_eq!(check(&mut bbr, 0, 40_000, false), "probe_bw_cruise");
        assert_eq!(check(&mut bbr, 0, 40_000, true), "probe_rtt");
        assert_eq!((bbr.cwnd(), bbr.prior_cwnd), (20_000, 80_000));
        assert!(bbr.marks_app_limited());
        assert_eq!(check(&mut bbr, 10, 20_001, false), "probe_rtt");
        // Now the time runs; the round is done with the next ACK here.
        assert_eq!(check(&mut bbr, 20, 20_000, false), "probe_rtt");
        assert_eq!(check(&mut bbr, 220, 15_000, false), "probe_rtt");
        bbr.bounds.inflight_shortterm = 1;
        assert_eq!(check(&mut bbr, 221, 15_000, false), "probe_bw_cruise");
        assert_eq!(bbr.cwnd(), 80_000);
        assert_eq!(bbr.inflight_shortterm(), None);
        // What is in flight still counts as limited, until something is sent.
        assert!(bbr.marks_app_limited());
        bbr.on_packet_sent(&path(), &cc_core::SentPacket { in_flight: true, ..Default::default() });
        assert!(!bbr.marks_app_limited());
    }

    #[test]
    fn it_takes_a_whole_round() {
        let mut bbr = cruising(1_000_000, 40);
        check(&mut bbr, 0, 10_000, true);
        let late = later(&path(), ms(400));
        bbr.check_probe_rtt(&late, &Sample { round_start: false, ..ROUND }, false);
        assert!(bbr.state.is_probe_rtt());
        bbr.check_probe_rtt(&late, &ROUND, false);
        assert!(!bbr.state.is_probe_rtt());
    }

    #[test]
    fn a_clock_that_goes_back_or_saturates_does_not_prolong_it() {
        let at = |now| PathState { now, bytes_in_flight: 10_000, ..path() };
        let mut bbr = cruising(1_000_000, 40);
        bbr.check_probe_rtt(&at(Instant::from_secs(3_600)), &ROUND, true);
        bbr.check_probe_rtt(&at(Instant::from_millis(1_000)), &ROUND, false);
        bbr.check_probe_rtt(&at(Instant::from_millis(1_200)), &ROUND, false);
        assert!(bbr.state.is_probe_rtt());
        bbr.check_probe_rtt(&at(Instant::from_millis(1_201)), &ROUND, false);
        assert!(!bbr.state.is_probe_rtt());

        let mut bbr = cruising(1_000_000, 40);
        bbr.check_probe_rtt(&at(Instant::MAX.before(ms(100))), &ROUND, true);
        assert!(bbr.state.is_probe_rtt());
        bbr.check_probe_rtt(&at(Instant::MAX), &ROUND, false);
        assert!(!bbr.state.is_probe_rtt());
    }

    #[test]
    fn without_a_full_pipe_it_leads_back_to_startup() {
        let mut bbr = starting(1_000_000, 40);
        check(&mut bbr, 0, 10_000, true);
        check(&mut bbr, 100, 10_000, false);
        assert_eq!(check(&mut bbr, 300, 10_000, false), "startup");
    }

    #[test]
    fn an_idle_restart_skips_it_once() {
        let mut bbr = cruising(1_000_000, 40);
        bbr.idle_restart = true;
        assert_eq!(check(&mut bbr, 0, 10_000, true), "probe_bw_cruise");
        assert!(!bbr.idle_restart);
        assert_eq!(check(&mut bbr, 1, 10_000, true), "probe_rtt");
    }

    #[test]
    fn a_bdp_below_four_datagrams_keeps_four_in_flight() {
        let mut bbr = cruising(8_000, 10);
        bbr.cwnd = 12_000;
        check(&mut bbr, 0, 10_000, true);
        assert_eq!(bbr.cwnd(), 4_800);
        assert!(matches!(bbr.state, State::ProbeRtt { done_at: None, .. }));
        check(&mut bbr, 1, 4_800, false);
        assert!(matches!(bbr.state, State::ProbeRtt { done_at: Some(_), .. }));
    }

    #[test]
    fn it_ends_a_probe_of_bandwidth() {
        let mut bbr = crate::tests::probing(1_000_000, 40);
        bbr.cwnd = 80_000;
        assert_eq!(check(&mut bbr, 0, 40_000, true), "probe_rtt");
        assert_eq!(bbr.long_term.ack_phase, AckPhase::ProbeStopping);
        // With the next round its feedback is over: losses say nothing about the bound any more.
        bbr.adapt_long_term_model(&path(), &ROUND);
        assert!(!bbr.long_term.is_bw_probe_sample);
    }

    #[test]
    fn samples_of_it_lower_no_estimate() {
        let mut bbr = cruising(1_000_000, 40);
        check(&mut bbr, 0, 10_000, true);
        // Not even when two cycles have passed.
        bbr.max_bw.advance();
        bbr.max_bw.advance();
        bbr.update_max_bw(&path(), &mut Sample { is_app_limited: true, ..sample(500_000) });
        assert_eq!(bbr.max_bw().as_bytes_per_sec(), 1_000_000);
    }
}
