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
        // Section 4.1.2.2: an interval of delivery begins with the first packet of a flight.
        self.start_round(path);
        if self.state.is_probe_bw() {
            self.set_pacing_rate_with_gain(ONE);
        } else if self.state.is_probe_rtt() {
            self.check_probe_rtt_done(path);
            // The window restored is that of before; the bounds of the state that was entered hold at once.
            self.bound_cwnd_for_model();
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::tests::{cruising, later, ms, path, probing, rate};
    use crate::{Bbr, State};
    use cc_core::{CongestionController, Duration, PathState};

    fn restart(bbr: &mut Bbr, app_limited: bool, idle: Duration) {
        let path = PathState { app_limited, ..later(&path(), ms(5_000)) };
        bbr.on_idle_restart(&path, idle);
    }

    #[test]
    fn a_flow_in_probe_bw_starts_again_at_the_bandwidth() {
        let mut bbr = probing(1_000_000, 40);
        bbr.set_pacing_rate_with_gain(125);
        restart(&mut bbr, true, ms(1));
        assert!(bbr.idle_restart);
        assert_eq!(bbr.pacing_rate(), Some(rate(990_000)));
    }

    #[test]
    fn a_gap_that_the_pacer_made_is_no_idle_time() {
        // Two quanta of 2400 B take 4.85 ms at 0.99 MB/s.
        let mut bbr = cruising(1_000_000, 40);
        restart(&mut bbr, false, Duration::from_micros(4_848));
        assert!(!bbr.idle_restart);
        restart(&mut bbr, false, Duration::from_micros(4_849));
        assert!(bbr.idle_restart);
    }

    #[test]
    fn probe_rtt_may_be_over_by_then() {
        for (done_at, phase, cwnd) in [(5_900, "probe_bw_cruise", 80_000), (6_100, "probe_rtt", 20_000)] {
            let mut bbr = cruising(1_000_000, 40);
            bbr.prior_cwnd = 80_000;
            bbr.cwnd = 20_000;
            let done_at = Some(cc_core::Instant::from_millis(done_at));
            bbr.state = State::ProbeRtt { done_at, round_done: false };
            restart(&mut bbr, true, ms(1_000));
            assert_eq!((bbr.state.name(), bbr.cwnd()), (phase, cwnd));
        }
    }
}
