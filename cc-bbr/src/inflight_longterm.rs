//! `BBR.inflight_longterm`: the flight that probing found to be safe (sections 5.3.3.9 and 5.5.10.2).

use crate::arithmetic::percent_of;
use crate::constants::{BETA, HEADROOM, INFINITE, MAX_UP_ROUNDS};
use crate::round::largest_flight;
use crate::sample::Sample;
use crate::undo::UndoState;
use crate::{Bbr, State};
use cc_core::{AckEvent, PathState};

/// `BBR.ack_phase`: what the acks that arrive mean for the probing.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum AckPhase {
    /// `ACKS_INIT`: no feedback of a probe.
    #[default]
    Init,
    /// `ACKS_REFILLING`: sending at the estimated bandwidth.
    Refilling,
    /// `ACKS_PROBE_STARTING`: the flight grows; no feedback yet.
    ProbeStarting,
    /// `ACKS_PROBE_FEEDBACK`: feedback of the probe arrives.
    ProbeFeedback,
    /// `ACKS_PROBE_STOPPING`: the probe is over; its feedback still arrives.
    ProbeStopping,
}

/// What is remembered of probes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct LongTerm {
    pub(crate) ack_phase: AckPhase,
    /// `BBR.is_bw_probe_sample`: acks and losses are of packets that probed, and no loss was answered yet.
    pub(crate) is_bw_probe_sample: bool,
    /// `BBR.prev_probe_too_high`: the newest probe lost too much.
    pub(crate) prev_probe_too_high: bool,
    /// `BBR.prev_probe_precautionary`: the newest probe was stopped at the level that had been too high.
    pub(crate) prev_probe_precautionary: bool,
}

impl Bbr {
    /// `AdaptLongTermModel()`: whether it decided on a change of state.
    pub(crate) fn adapt_long_term_model(&mut self, path: &PathState, rs: &Sample) -> bool {
        if self.long_term.ack_phase == AckPhase::ProbeStarting && rs.round_start {
            self.long_term.ack_phase = AckPhase::ProbeFeedback;
        }
        if self.long_term.ack_phase == AckPhase::ProbeStopping && rs.round_start {
            // The last feedback of the probe has arrived.
            self.long_term.is_bw_probe_sample = false;
            self.long_term.ack_phase = AckPhase::Init;
            if self.state.is_probe_bw() {
                if !rs.is_app_limited {
                    self.max_bw.advance();
                }
                // Section 5.3.3.6, acceleration: the level that had been too high no longer is.
                if self.long_term.prev_probe_precautionary && !self.long_term.prev_probe_too_high {
                    self.start_probe_bw_refill(path);
                    return true;
                }
            }
        }
        if !rs.is_inflight_too_high() && self.bounds.inflight_longterm != INFINITE {
            self.bounds.inflight_longterm = self.bounds.inflight_longterm.max(rs.tx_in_flight);
            self.probe_inflight_longterm_upward(rs);
        }
        false
    }

    /// `ProbeInflightLongtermUpward()`, in ProbeBW_UP.
    fn probe_inflight_longterm_upward(&mut self, rs: &Sample) {
        let is_limit = self.cwnd_limited.get() && self.cwnd >= self.bounds.inflight_longterm;
        let State::ProbeBwUp { acked, acked_per_increase, .. } = &mut self.state else { return };
        if !is_limit {
            return;
        }
        *acked = acked.saturating_add(rs.newly_acked);
        let increases = acked.checked_div(*acked_per_increase).unwrap_or(0);
        *acked = acked.saturating_sub(increases.saturating_mul(*acked_per_increase));
        let growth = increases.saturating_mul(self.settings.datagram());
        self.bounds.inflight_longterm = self.bounds.inflight_longterm.saturating_add(growth);
        if rs.round_start {
            self.raise_inflight_longterm_slope();
        }
    }

    /// `RaiseInflightLongtermSlope()`: growth by 1, 2, 4, ... datagrams in successive rounds.
    pub(crate) fn raise_inflight_longterm_slope(&mut self) {
        let State::ProbeBwUp { rounds, acked_per_increase, .. } = &mut self.state else { return };
        let growth = 1_u64.checked_shl(u32::from(*rounds)).unwrap_or(u64::MAX);
        *rounds = rounds.saturating_add(1).min(MAX_UP_ROUNDS);
        *acked_per_increase = self.cwnd.checked_div(growth).unwrap_or(0).max(self.settings.datagram());
    }

    /// `HandleInflightTooHigh()`: once per probe. `inflight` is the flight at which the losses became too many.
    pub(crate) fn handle_inflight_too_high(&mut self, path: &PathState, inflight: u64, is_app_limited: bool) {
        self.long_term.prev_probe_too_high = true;
        self.long_term.is_bw_probe_sample = false;
        if !is_app_limited {
            self.bounds.inflight_longterm = inflight.max(percent_of(self.target_inflight(), BETA));
        }
        if matches!(self.state, State::ProbeBwUp { .. }) {
            self.set_undo_state(UndoState::ProbeBwUp);
            self.start_probe_bw_down(path);
        }
    }

    /// `InflightWithHeadroom()`: leaves room for others.
    pub(crate) fn inflight_with_headroom(&self) -> u64 {
        let inflight = self.bounds.inflight_longterm;
        if inflight == INFINITE {
            return INFINITE;
        }
        let headroom = percent_of(inflight, HEADROOM).max(self.settings.datagram());
        inflight.saturating_sub(headroom).max(self.settings.min_pipe_cwnd())
    }

    /// Whether the flight has come to `inflight_longterm`: one more datagram would have exceeded it. A window bounded
    /// by it leaves a part of a datagram free, and an ACK has taken what it acked from the flight when it is looked at.
    pub(crate) fn has_reached_inflight_longterm(&self, path: &PathState, ack: &AckEvent<'_>) -> bool {
        let bound = self.bounds.inflight_longterm;
        bound != INFINITE && largest_flight(path, ack).saturating_add(self.settings.datagram()) > bound
    }
}
