//! `BBR.round_count`: packet-timed round trips (section 5.5.1), and `C.is_cwnd_limited`, which looks back by one (section 2.2).

use crate::Bbr;
use crate::sample::{Sample, reliable_rate};
use cc_core::{AckEvent, AckedPacket, Instant, PathState, Rate, SendLimit, SendMark};

/// Rounds so far. A round ends with the ack of a packet that was sent after its start.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Round {
    /// `BBR.next_round_delivered`: `C.delivered` at the start of the round.
    next_delivered: u64,
    /// `BBR.round_count`.
    pub(crate) count: u64,

    // The same start, for stacks that store nothing with a packet.
    /// `C.lost`.
    pub(crate) lost_at_start: u64,
    start: SendMark,
}

impl Round {
    /// The first one, from construction on.
    pub(crate) fn new(now: Instant) -> Self {
        Self {
            next_delivered: 0,
            count: 0,
            lost_at_start: 0,
            start: SendMark::new(&PathState { now, ..PathState::default() }),
        }
    }

    const fn begin(&mut self, path: &PathState) {
        self.next_delivered = path.delivered;
        self.lost_at_start = path.lost;
        self.start = SendMark::new(path);
    }

    /// Whether the packet was sent after the start of the round, so that its ack ends it.
    pub(crate) fn ends_with(&self, packet: &AckedPacket) -> bool {
        !self.start.covers(packet.number, packet.sent_at)
    }

    /// The sample of a stack that takes none, with the ACK that ends the round: what was delivered and lost since its start. Both
    /// together were in flight then. The first round has no rate: its time goes back to construction.
    pub(crate) fn sample(&self, path: &PathState, rs: &Sample) -> Sample {
        let delivered = path.delivered.saturating_sub(self.next_delivered);
        let lost = path.lost.saturating_sub(self.lost_at_start);
        let interval = path.now.since(self.start.at());
        Sample {
            delivery_rate: if self.count == 0 {
                Rate::ZERO
            } else {
                reliable_rate(path, delivered, interval)
            },
            delivered,
            prior_delivered: Some(self.next_delivered),
            tx_in_flight: delivered.saturating_add(lost),
            lost,
            ..*rs
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
    /// `StartRound()`.
    pub(crate) const fn start_round(&mut self, path: &PathState) {
        self.round.begin(path);
        self.is_round_limited = path.app_limited;
    }

    /// `UpdateRound()`.
    pub(crate) fn update_round(&mut self, path: &PathState, rs: &mut Sample) {
        rs.round_start = rs.prior_delivered.is_some_and(|prior| prior >= self.round.next_delivered);
        self.is_round_limited |= path.app_limited;
        if rs.round_start {
            self.start_round(path);
            self.round.count = self.round.count.saturating_add(1);
        }
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
