//! ProbeBW (section 5.3.3): DOWN, CRUISE, REFILL and UP.

use crate::constants::{ONE, PROBE_WAIT, PROBE_WAIT_SPREAD, RENO_ROUNDS};
use crate::inflight_longterm::AckPhase;
use crate::sample::Sample;
use crate::{Bbr, State};
use cc_core::{AckEvent, Duration, Instant, PathState, Rate};

/// How long DOWN and CRUISE last together: a random time and a random number of rounds (section 5.3.3.8).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ProbeWait {
    /// `BBR.cycle_stamp`.
    since: Instant,
    /// `BBR.round_count` at the start.
    round: u64,
    /// `BBR.bw_probe_wait`, ns: 2 to 3 s.
    wait_nanos: u32,
    /// The value of `BBR.rounds_since_probe_up` at the start: 0 or 1.
    head_start: u8,
}

impl ProbeWait {
    /// `BBR.cycle_stamp`: when the cycle began.
    #[must_use]
    pub const fn since(&self) -> Instant {
        self.since
    }

    /// `BBR.bw_probe_wait`: the time after which bandwidth is probed.
    #[must_use]
    pub const fn wait(&self) -> Duration {
        Duration::from_nanos(self.wait_nanos as u64)
    }

    /// `HasElapsedInPhase(BBR.bw_probe_wait)`.
    fn has_elapsed(&self, now: Instant) -> bool {
        now > self.since.after(self.wait())
    }

    /// `BBR.rounds_since_probe_up`.
    const fn rounds(&self, round_count: u64) -> u64 {
        round_count.saturating_sub(self.round).saturating_add(self.head_start as u64)
    }
}

impl Bbr {
    /// `EnterProbeBW()`.
    pub(crate) fn enter_probe_bw(&mut self, path: &PathState) {
        self.start_probe_bw_down(path);
    }

    /// `StartProbeBW_DOWN()`.
    pub(crate) fn start_probe_bw_down(&mut self, path: &PathState) {
        self.signals.reset();
        let wait = self.pick_probe_wait(path);
        self.long_term.ack_phase = AckPhase::ProbeStopping;
        self.start_round(path);
        self.state = State::ProbeBwDown(wait);
    }

    /// `StartProbeBW_CRUISE()`; the wait goes on.
    pub(crate) const fn start_probe_bw_cruise(&mut self, wait: ProbeWait) {
        self.state = State::ProbeBwCruise(wait);
    }

    /// `StartProbeBW_REFILL()`.
    pub(crate) const fn start_probe_bw_refill(&mut self, path: &PathState) {
        self.bounds.reset_short_term();
        self.long_term.prev_probe_precautionary = false;
        self.long_term.ack_phase = AckPhase::Refilling;
        self.start_round(path);
        self.state = State::ProbeBwRefill;
    }

    /// `StartProbeBW_UP()`.
    fn start_probe_bw_up(&mut self, path: &PathState, rate: Rate) {
        self.long_term.ack_phase = AckPhase::ProbeStarting;
        self.start_round(path);
        self.full_bw.reset(rate);
        self.state = State::ProbeBwUp { rounds: 0, acked: 0, acked_per_increase: 0 };
        self.raise_inflight_longterm_slope();
    }

    /// `UpdateProbeBWCyclePhase()`.
    pub(crate) fn update_probe_bw_cycle_phase(&mut self, path: &PathState, ack: &AckEvent<'_>, rs: &Sample) {
        if !self.full_bw.reached || self.adapt_long_term_model(path, rs) {
            return;
        }
        match self.state {
            State::ProbeBwDown(wait) => {
                if self.is_time_to_probe_bw(path, &wait) {
                    self.start_probe_bw_refill(path);
                } else if self.is_time_to_cruise(path) {
                    self.start_probe_bw_cruise(wait);
                }
            }
            State::ProbeBwCruise(wait) => {
                if self.is_time_to_probe_bw(path, &wait) {
                    self.start_probe_bw_refill(path);
                }
            }
            State::ProbeBwRefill => {
                if rs.round_start {
                    self.long_term.is_bw_probe_sample = true;
                    self.start_probe_bw_up(path, rs.delivery_rate);
                }
            }
            State::ProbeBwUp { .. } => {
                if self.is_time_to_go_down(path, ack, rs) {
                    self.long_term.prev_probe_too_high = false;
                    self.start_probe_bw_down(path);
                }
            }
            State::Startup | State::Drain { .. } | State::ProbeRtt { .. } => {}
        }
    }

    /// `IsTimeToProbeBW()`.
    fn is_time_to_probe_bw(&self, path: &PathState, wait: &ProbeWait) -> bool {
        wait.has_elapsed(path.now) || self.is_reno_coexistence_probe_time(wait)
    }

    /// `IsRenoCoexistenceProbeTime()`: as many rounds as Reno would need to grow by what is in flight. The flight is counted
    /// in datagrams, and at least the minimal one is wanted in it.
    fn is_reno_coexistence_probe_time(&self, wait: &ProbeWait) -> bool {
        let wanted = self.target_inflight().max(self.settings.min_pipe_cwnd());
        let reno_rounds = wanted.checked_div(self.settings.datagram()).unwrap_or(RENO_ROUNDS);
        wait.rounds(self.round.count) >= reno_rounds.min(RENO_ROUNDS)
    }

    /// `PickProbeWait()`.
    fn pick_probe_wait(&mut self, path: &PathState) -> ProbeWait {
        let head_start = u8::from(self.random.bit() == 1);
        let wait = PROBE_WAIT.plus(self.random.below(PROBE_WAIT_SPREAD));
        let wait_nanos = u32::try_from(wait.as_nanos()).unwrap_or(u32::MAX);
        ProbeWait { since: path.now, round: self.round.count, wait_nanos, head_start }
    }

    /// `TargetInflight()`: the estimated BDP, unless congestion cut the window.
    pub(crate) fn target_inflight(&self) -> u64 {
        self.bdp().min(self.cwnd)
    }

    /// `IsTimeToCruise()`.
    fn is_time_to_cruise(&self, path: &PathState) -> bool {
        path.bytes_in_flight <= self.inflight_with_headroom()
            && path.bytes_in_flight <= self.inflight(self.max_bw.get(), ONE)
    }

    /// `IsTimeToGoDown()`.
    fn is_time_to_go_down(&mut self, path: &PathState, ack: &AckEvent<'_>, rs: &Sample) -> bool {
        // Section 5.3.3.6, deceleration.
        if self.long_term.prev_probe_too_high && self.has_reached_inflight_longterm(path, ack) {
            self.long_term.prev_probe_precautionary = true;
            return true;
        }
        if self.cwnd_limited.get() && self.cwnd >= self.bounds.inflight_longterm {
            // The bound, not the path, limits the bandwidth.
            self.full_bw.reset(rs.delivery_rate);
            return false;
        }
        self.full_bw.now
    }
}
