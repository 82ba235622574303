//! `BBR.round_count`: packet-timed round trips (section 5.5.1), and `C.is_cwnd_limited`, which looks back by one (section 2.2).

use crate::Bbr;
use crate::sample::Sample;
use cc_core::{AckEvent, PathState, SendLimit};

/// Rounds so far. A round ends with the ack of a packet that was sent after its start.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Round {
    /// `BBR.next_round_delivered`: `C.delivered` at the start of the round.
    next_delivered: u64,
    /// `BBR.round_count`.
    pub(crate) count: u64,
    /// `C.lost` when the round that is counted began, for stacks that store nothing with a packet.
    pub(crate) lost_at_start: u64,
}

impl Round {
    /// On a new path the total goes on from where it is.
    pub(crate) const fn restart(&mut self, path: &PathState) {
        self.next_delivered = path.delivered;
        self.lost_at_start = path.lost;
    }

    /// `StartRound()`.
    const fn begin(&mut self, delivered: u64) {
        self.next_delivered = delivered;
    }

    /// `UpdateRound()`.
    fn update(&mut self, path: &PathState, rs: &mut Sample) {
        rs.round_start = rs.prior_delivered.is_some_and(|prior| prior >= self.next_delivered);
        if rs.round_start {
            self.begin(path.delivered);
            self.count = self.count.saturating_add(1);
            self.lost_at_start = path.lost;
        }
    }
}

/// Whether the window was full at any moment of the last round trip.
///
/// The newest such moment counts until a packet is acked that was sent after the next ACK: a round trip later, whatever
/// rounds the state machine has begun meanwhile.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct CwndLimited {
    /// One more than `C.delivered` at that moment; 0 for none.
    until: u64,
}

impl CwndLimited {
    const fn note(&mut self, delivered: u64) {
        self.until = delivered.saturating_add(1);
    }

    pub(crate) const fn get(&self) -> bool {
        self.until > 0
    }
}

impl Bbr {
    pub(crate) const fn start_round(&mut self, path: &PathState) {
        self.round.begin(path.delivered);
    }

    pub(crate) fn update_round(&mut self, path: &PathState, rs: &mut Sample) {
        self.round.update(path, rs);
    }

    /// A packet was sent; `path` is the state after it.
    pub(crate) fn note_cwnd_use(&mut self, path: &PathState) {
        if self.fills_cwnd(path.bytes_in_flight) {
            self.cwnd_limited.note(path.delivered);
        }
    }

    /// What an ACK says about the time before it: call it before the window changes.
    pub(crate) fn update_cwnd_limited(&mut self, path: &PathState, ack: &AckEvent<'_>, rs: &Sample) {
        let flight = largest_flight(path, ack);
        if ack.limited_by == SendLimit::Cwnd || self.fills_cwnd(flight) {
            self.cwnd_limited.note(path.delivered.saturating_sub(rs.newly_acked));
        } else if rs.prior_delivered.is_none_or(|prior| prior >= self.cwnd_limited.until) {
            self.cwnd_limited = CwndLimited::default();
        }
    }

    /// Whether one more datagram would not have fit.
    const fn fills_cwnd(&self, flight: u64) -> bool {
        flight.saturating_add(self.settings.datagram()) > self.cwnd
    }
}

/// Most bytes in flight since the last ACK.
pub(crate) fn largest_flight(path: &PathState, ack: &AckEvent<'_>) -> u64 {
    ack.max_bytes_in_flight.max(path.prior_bytes_in_flight)
}
