//! The response to CE marks. The draft (section 3.7) asks for one and leaves open which: the crate documentation says what
//! was chosen.

use crate::arithmetic::percent_of;
use crate::constants::BETA;
use crate::{Bbr, State};
use cc_core::{EcnEvent, PathState, Rate, SendMark};

impl Bbr {
    /// Marks are answered once per round trip (RFC 9002 section 7.1), by at least as much as CUBIC would.
    pub(crate) fn on_marks(&mut self, path: &PathState, ecn: &EcnEvent) {
        let is_answered = self.has_answered_marks
            && self.marks_answered.covers(ecn.largest_acked, ecn.largest_acked_sent_at);
        if ecn.marks() == 0 || self.ecn_has_failed || is_answered {
            return;
        }
        (self.marks_answered, self.has_answered_marks) = (SendMark::new(path), true);
        self.congestion_events = self.congestion_events.saturating_add(1);
        match self.state {
            State::Startup => {
                self.leave_startup();
                // Before anything was measured, what the flight was is all that is known.
                let least = percent_of(path.prior_bytes_in_flight, BETA);
                self.bounds.inflight_longterm = self.bounds.inflight_longterm.max(least);
            }
            State::ProbeBwRefill | State::ProbeBwUp { .. } => {
                let inflight = percent_of(path.prior_bytes_in_flight, BETA);
                let bound = self.bounds.inflight_longterm;
                // Whether or not the flow is limited: this flight was measured, and it was too much.
                self.handle_inflight_too_high(path, inflight, false);
                self.bounds.inflight_longterm = self.bounds.inflight_longterm.min(bound);
                if self.state == State::ProbeBwRefill {
                    self.start_probe_bw_down(path);
                }
            }
            State::Drain { .. }
            | State::ProbeBwDown(_)
            | State::ProbeBwCruise(_)
            | State::ProbeRtt { .. } => self.lower_bounds(Rate::ZERO, 0),
        }
        self.keep_bounds_upon_undo();
        self.retreat_from_resume(path);
    }
}
