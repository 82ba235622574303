//! Use of a window saved from an earlier connection: a subset of RFC 9959, which the draft does not mention.
//!
//! Only the start of Startup is another: the window jumps to half of the saved one, the pacing rate to what sends that in a
//! round trip. Startup lowers neither, so that the first samples of the jump take over the search from there.

use crate::recovery::Recovery;
use crate::{Bbr, State};
use cc_core::{AckEvent, Duration, PathState, Rate, ResumeHint, SendMark};

/// Largest difference between the first RTT sample and the saved RTT: this part of the sample (stricter than RFC 9959,
/// "Reconnaissance Phase", which takes from a half to tenfold).
const RTT_TOLERANCE_DIVISOR: u64 = 4;
/// Part of the saved window that is used at once (RFC 9959, "Unvalidated Phase").
const JUMP_DIVISOR: u64 = 2;
/// Part of what was acked that a safe retreat leaves (RFC 9959, "Safe Retreat Phase").
const RETREAT_DIVISOR: u64 = 2;
/// Largest saved window that is believed, bytes: 3.4 s at 10 Gbit/s. This project's.
const MAX_SAVED_WINDOW: u64 = 1 << 32;

/// Phases of RFC 9959. Sums above 4 GiB count as that.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Resume {
    /// No saved window yet.
    #[default]
    Open,
    /// "Reconnaissance": before the first RTT sample.
    Waiting(ResumeHint),
    /// Packets are sent that only the jump allows; none of them is acked.
    Unvalidated {
        /// They are sent after this.
        first: SendMark,
        /// `PipeSize` in bytes: flight at the jump, and all acked since.
        pipe: u32,
    },
    /// The first of them was acked.
    Validating {
        /// The last of them was sent before this.
        last: SendMark,
        /// `PipeSize` in bytes.
        pipe: u32,
    },
    /// "Safe retreat": congestion before all of them were acked.
    Retreat {
        /// Until a packet sent after this is acked.
        until: SendMark,
        /// The window in bytes.
        window: u32,
    },
    /// "Normal": a window was used, or none can be any more.
    Over,
}

impl Bbr {
    /// A saved window became known.
    pub(crate) fn take_hint(&mut self, path: &PathState, hint: &ResumeHint) {
        if !matches!(self.resume, Resume::Open | Resume::Waiting(_)) {
            return;
        }
        self.resume = Resume::Waiting(*hint);
        // The first sample was the smallest so far, or close to it.
        if let Some(rtt) = self.min_rtt.get() {
            self.try_resume(path, rtt);
        }
    }

    /// The first RTT sample of the path: a saved window is used if it confirms it, and nothing was lost.
    pub(crate) fn try_resume(&mut self, path: &PathState, rtt: Duration) {
        let Resume::Waiting(hint) = self.resume else { return };
        self.resume = Resume::Over;
        let jump = hint.cwnd.min(MAX_SAVED_WINDOW) / JUMP_DIVISOR;
        let difference = hint.rtt.minus(rtt).plus(rtt.minus(hint.rtt));
        let is_confirmed = difference <= rtt.divided_by(RTT_TOLERANCE_DIVISOR);
        let is_undisturbed =
            self.state == State::Startup && self.recovery == Recovery::Never && self.undo.is_none();
        if !is_confirmed || !is_undisturbed || jump <= self.cwnd {
            return;
        }
        self.cwnd = jump;
        let rate = Rate::from_delivery(jump, rtt).unwrap_or(Rate::ZERO);
        self.pacing_rate = self.pacing_rate.max(rate);
        self.resume = Resume::Unvalidated { first: SendMark::new(path), pipe: clamped(path.bytes_in_flight) };
    }

    /// Acks move on to the next phase.
    pub(crate) fn validate_resume(&mut self, path: &PathState, ack: &AckEvent<'_>) {
        let is_sent_after =
            |mark: SendMark| ack.packets.iter().any(|packet| !mark.covers(packet.number, packet.sent_at));
        let acked = ack.packets.iter().fold(0_u32, |sum, packet| sum.saturating_add(clamped(packet.bytes)));
        match self.resume {
            Resume::Unvalidated { first, pipe } => {
                let pipe = pipe.saturating_add(acked);
                self.resume = if is_sent_after(first) {
                    Resume::Validating { last: SendMark::new(path), pipe }
                } else {
                    Resume::Unvalidated { first, pipe }
                };
            }
            Resume::Validating { last, pipe } => {
                self.resume = if is_sent_after(last) {
                    Resume::Over
                } else {
                    Resume::Validating { last, pipe: pipe.saturating_add(acked) }
                };
            }
            Resume::Retreat { until, .. } if is_sent_after(until) => self.resume = Resume::Over,
            Resume::Open | Resume::Waiting(_) | Resume::Retreat { .. } | Resume::Over => {}
        }
    }

    /// Congestion: if the jump is not validated yet, the window retreats to half of what the path is known to have carried, and
    /// the search is over.
    pub(crate) fn retreat_from_resume(&mut self, path: &PathState) {
        let (Resume::Unvalidated { pipe, .. } | Resume::Validating { pipe, .. }) = self.resume else {
            return;
        };
        let window = (u64::from(pipe) / RETREAT_DIVISOR).max(self.settings.min_window());
        self.resume = Resume::Retreat { until: SendMark::new(path), window: clamped(window) };
        if self.state == State::Startup {
            self.leave_startup();
        }
        self.cwnd = self.cwnd.min(window);
        self.prior_cwnd = self.cwnd;
    }

    pub(crate) const fn is_unvalidated(&self) -> bool {
        matches!(self.resume, Resume::Unvalidated { .. })
    }

    /// What a safe retreat leaves of the window.
    pub(crate) fn bound_cwnd_for_retreat(&mut self) {
        if let Resume::Retreat { window, .. } = self.resume {
            self.cwnd = self.cwnd.min(u64::from(window));
        }
    }
}

fn clamped(bytes: u64) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}
