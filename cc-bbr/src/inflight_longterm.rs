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

#[cfg(test)]
mod tests {
    use crate::sample::Sample;
    use crate::tests::{cruising, path, probing, sample};
    use crate::{Bbr, State};
    use cc_core::{LostPacket, PacketSnapshot, PathState};

    /// In ProbeBW_UP with a window of 48 000 B that `inflight_longterm` bounds and that is full.
    fn limited() -> Bbr {
        let mut bbr = probing(1_000_000, 40);
        bbr.cwnd = 48_000;
        bbr.bounds.inflight_longterm = 48_000;
        bbr.note_cwnd_use(&PathState { bytes_in_flight: 48_000, ..path() });
        bbr.state = State::ProbeBwUp { rounds: 0, acked: 0, acked_per_increase: 0 };
        bbr.raise_inflight_longterm_slope();
        bbr
    }

    fn up(bbr: &Bbr) -> (u8, u64, u64) {
        match bbr.state {
            State::ProbeBwUp { rounds, acked, acked_per_increase } => (rounds, acked, acked_per_increase),
            other => panic!("{other:?}"),
        }
    }

    fn acked(bytes: u64, round_start: bool) -> Sample {
        Sample { newly_acked: bytes, round_start, ..sample(1_000_000) }
    }

    #[test]
    fn the_slope_doubles_each_round_down_to_a_datagram_per_datagram() {
        let mut bbr = limited();
        for (rounds, per_increase) in [
            (1, 48_000),
            (2, 24_000),
            (3, 12_000),
            (4, 6_000),
            (5, 3_000),
            (6, 1_500),
            (7, 1_200),
            (8, 1_200),
        ] {
            assert_eq!(up(&bbr), (rounds, 0, per_increase));
            bbr.raise_inflight_longterm_slope();
        }
        for _ in 0..100 {
            bbr.raise_inflight_longterm_slope();
        }
        assert_eq!(up(&bbr).0, 30);
    }

    #[test]
    fn whole_increases_count_and_the_rest_is_kept() {
        let mut bbr = limited();
        // 3 * 48 000 + 100: three datagrams.
        bbr.adapt_long_term_model(&path(), &acked(144_100, false));
        assert_eq!(bbr.bounds.inflight_longterm, 48_000 + 3_600);
        assert_eq!(up(&bbr), (1, 100, 48_000));
        // The window no longer reaches the bound: no growth.
        bbr.adapt_long_term_model(&path(), &acked(144_100, true));
        assert_eq!(bbr.bounds.inflight_longterm, 51_600);
        assert_eq!(up(&bbr), (1, 100, 48_000));
    }

    #[test]
    fn a_round_raises_the_slope_where_the_bound_is_the_limit() {
        let mut bbr = limited();
        bbr.adapt_long_term_model(&path(), &acked(1_200, true));
        assert_eq!(up(&bbr), (2, 1_200, 24_000));
    }

    #[test]
    fn what_was_in_flight_without_many_losses_raises_the_bound() {
        let mut bbr = limited();
        let rs = Sample { tx_in_flight: 60_000, lost: 1_200, ..acked(0, false) };
        bbr.adapt_long_term_model(&path(), &rs);
        assert_eq!(bbr.bounds.inflight_longterm, 60_000);
        // 2 % of 70 000 are 1400.
        let rs = Sample { tx_in_flight: 70_000, lost: 1_401, ..rs };
        bbr.adapt_long_term_model(&path(), &rs);
        assert_eq!(bbr.bounds.inflight_longterm, 60_000);
    }

    #[test]
    fn an_infinite_bound_stays_infinite() {
        let mut bbr = probing(1_000_000, 40);
        bbr.adapt_long_term_model(&path(), &Sample { tx_in_flight: 60_000, ..sample(1) });
        assert_eq!(bbr.inflight_longterm(), None);
    }

    #[test]
    fn headroom_is_fifteen_per_cent_and_at_least_a_datagram() {
        let mut bbr = cruising(1_000_000, 40);
        assert_eq!(bbr.inflight_with_headroom(), u64::MAX);
        for (bound, left) in [(100_000, 85_000), (7_200, 6_000), (2_000, 4_800)] {
            bbr.bounds.inflight_longterm = bound;
            assert_eq!(bbr.inflight_with_headroom(), left);
        }
    }

    #[test]
    fn a_probe_that_lost_too_much_leaves_what_was_safe_or_beta_of_what_is_wanted() {
        // Target 40 000, of which 0.7 are 28 000.
        for (inflight, bound) in [(35_000, 35_000), (20_000, 28_000)] {
            let mut bbr = probing(1_000_000, 40);
            bbr.handle_inflight_too_high(&path(), inflight, false);
            assert_eq!(bbr.bounds.inflight_longterm, bound);
            assert!(matches!(bbr.state, State::ProbeBwDown(_)));
            assert!(bbr.long_term.prev_probe_too_high && !bbr.long_term.is_bw_probe_sample);
        }
    }

    #[test]
    fn a_limited_probe_ends_but_says_nothing_about_the_bound() {
        let mut bbr = probing(1_000_000, 40);
        bbr.handle_inflight_too_high(&path(), 35_000, true);
        assert_eq!(bbr.inflight_longterm(), None);
        assert!(matches!(bbr.state, State::ProbeBwDown(_)));
    }

    #[test]
    fn a_round_after_the_probe_losses_leave_the_bound() {
        let lost = LostPacket {
            number: Some(50),
            bytes: 1_200,
            snapshot: Some(PacketSnapshot { bytes_in_flight: 24_000, ..PacketSnapshot::default() }),
            ..LostPacket::default()
        };
        for (round_start, bound) in [(false, Some(28_000)), (true, None)] {
            let mut bbr = probing(1_000_000, 40);
            bbr.start_probe_bw_down(&path());
            bbr.adapt_long_term_model(&path(), &acked(1_200, round_start));
            // 1200 B of 24 000 are 5 %: too many, if they count. 0.7 * 40 000
            bbr.handle_lost_packet(&path(), &lost, 1_200);
            assert_eq!(bbr.inflight_longterm(), bound);
        }
    }

    #[test]
    fn feedback_that_comes_after_the_probe_changes_the_bound_and_not_the_state() {
        let mut bbr = cruising(1_000_000, 40);
        let before = bbr.state;
        bbr.handle_inflight_too_high(&path(), 35_000, false);
        assert_eq!((bbr.state, bbr.bounds.inflight_longterm), (before, 35_000));
    }
}
