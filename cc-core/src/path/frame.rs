//! Collecting the parts of one frame: marks in the ring, in any order.

use super::entry::{Entry, State};
use super::loss::SPACES;
use super::marks::Marks;
use super::received::ReceiveTimes;
use super::{EcnCounts, Path};
use crate::{CongestionController, PacketSpace, PeerInstant};

/// What was collected since the last frame, beside the marks in the ring.
#[derive(Clone, Debug, Default)]
pub(super) struct Frame {
    /// The numbers marked.
    pub(super) marks: Marks,
    /// Highest number named by an ack, marked or not.
    pub(super) largest_named: Option<u64>,
    /// Highest number newly acked of each of [`SPACES`], that had not been declared lost.
    pub(super) largest_acked: [Option<u64>; SPACES.len()],
    /// Whether one of the packets newly acked was ack-eliciting.
    pub(super) any_ack_eliciting: bool,
    /// ECN increases that no `on_ecn` has carried yet; they outlive a frame that newly acks nothing in flight.
    pub(super) ecn: Option<EcnCounts>,
    /// Packets newly acked since `ecn` is there.
    pub(super) ecn_acked: u64,
    pub(super) received: ReceiveTimes,
}

impl Frame {
    pub(super) const fn new() -> Self {
        Self {
            marks: Marks::new(),
            largest_named: None,
            largest_acked: [None; SPACES.len()],
            any_ack_eliciting: false,
            ecn: None,
            ecn_acked: 0,
            received: ReceiveTimes::new(),
        }
    }

    /// A packet in flight is newly acked; that is not taken back before the frame is over.
    fn note_acked(&mut self, number: u64, entry: &Entry) {
        let [initial, handshake, application] = &mut self.largest_acked;
        let largest = match entry.space() {
            PacketSpace::Initial => initial,
            PacketSpace::Handshake => handshake,
            PacketSpace::Application => application,
        };
        *largest = Some(number).max(*largest);
        self.any_ack_eliciting |= entry.ack_eliciting();
    }

    /// The frame is over. ECN increases that were not delivered are kept.
    pub(super) fn clear(&mut self) {
        self.marks.clear();
        self.largest_named = None;
        self.largest_acked = [None; SPACES.len()];
        self.any_ack_eliciting = false;
        self.received.clear();
    }
}

impl<C: CongestionController, const N: usize> Path<C, N> {
    /// A part of a frame: the packet is acked, whether or not it was acked before. Takes effect with
    /// [`Path::finish`]. Of an ACK frame's ranges, naming the newly acked packets is enough.
    ///
    /// `received_at` is when the peer received it, on the peer's clock; it is kept for the 32 highest-numbered
    /// packets of a frame that have one.
    pub fn acked(&mut self, number: u64, received_at: Option<PeerInstant>) {
        if number >= self.ring.next_number() {
            return;
        }
        self.frame.largest_named = self.frame.largest_named.max(Some(number));
        let Some(entry) = self.ring.get_mut(number) else { return };
        match entry.state() {
            // An ack wins over a loss in the same frame.
            State::Outstanding | State::MarkedLost => {
                entry.set_state(State::MarkedAcked);
                self.frame.note_acked(number, entry);
            }
            State::Lost => entry.set_state(State::MarkedLate),
            State::MarkedAcked | State::MarkedLate => {}
            State::Acked | State::Discarded => return,
        }
        self.frame.marks.insert(number);
        if let Some(at) = received_at {
            self.frame.received.insert(number, at);
        }
    }

    /// A part of a frame: the packet is declared lost. Takes effect with [`Path::finish`]. Ignored unless it is
    /// in flight; an ack of the same frame wins.
    pub fn lost(&mut self, number: u64) {
        let Some(entry) = self.ring.get_mut(number) else { return };
        if entry.state() == State::Outstanding {
            entry.set_state(State::MarkedLost);
            self.frame.marks.insert(number);
        }
    }

    /// A part of a frame: validated increases of the peer's ECN counts. Takes effect with [`Path::finish`]; if the frame
    /// newly acks nothing that is in flight, with the next one that does, so that no mark is lost. Several add up.
    pub fn ecn(&mut self, counts: EcnCounts) {
        let sum = self.frame.ecn.unwrap_or_default();
        self.frame.ecn = Some(EcnCounts {
            ce: sum.ce.saturating_add(counts.ce),
            ect0: sum.ect0.saturating_add(counts.ect0),
            ect1: sum.ect1.saturating_add(counts.ect1),
        });
    }
}
