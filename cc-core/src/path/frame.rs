//! Collecting the parts of one frame: marks in the ring, in any order.

use super::entry::{Entry, State};
use super::loss::SPACES;
use super::marks::Marks;
use super::received::ReceiveTimes;
use super::{EcnCounts, Path};
use crate::{CongestionController, Instant, PacketSpace, PeerInstant};

/// What was collected since the last frame, beside the marks in the ring.
///
/// Numbers that may be missing are kept as the number behind them, zero standing for none: that is what they are
/// compared by.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub(super) struct Frame {
    /// Behind the highest number named by an ack, marked or not.
    pub(super) named_end: u64,
    /// Behind the highest number newly acked of each of [`SPACES`], that had not been declared lost.
    pub(super) acked_end: [u64; SPACES.len()],
    /// The packets newly acked that had not been declared lost.
    pub(super) acked: Acked,
    /// Whether anything else was marked: packets that are lost, or acked after having been declared lost.
    pub(super) has_others: bool,
    /// ECN increases that no `on_ecn` has carried yet; they outlive a frame that newly acks nothing in flight.
    pub(super) ecn: Option<EcnCounts>,
    /// Packets newly acked since `ecn` is there.
    pub(super) ecn_acked: u64,
    /// The numbers marked.
    pub(super) marks: Marks,
    pub(super) received: ReceiveTimes,
}

/// Sums over the packets newly acked that had not been declared lost. An ack is not taken back before the frame is over.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Acked {
    pub(super) packets: u64,
    pub(super) bytes: u64,
    /// Send time and number of the one sent last; means nothing without packets.
    pub(super) newest: (Instant, u64),
    /// Behind the number of the one with the highest number.
    pub(super) end: u64,
    /// Its send time and space.
    pub(super) highest: (Instant, PacketSpace),
    /// Whether one of them was ack-eliciting.
    pub(super) any_ack_eliciting: bool,
}

impl Frame {
    pub(super) const fn new() -> Self {
        Self {
            marks: Marks::new(),
            named_end: 0,
            acked_end: [0; SPACES.len()],
            acked: Acked {
                packets: 0,
                bytes: 0,
                newest: (Instant::ZERO, 0),
                end: 0,
                highest: (Instant::ZERO, PacketSpace::Initial),
                any_ack_eliciting: false,
            },
            has_others: false,
            ecn: None,
            ecn_acked: 0,
            received: ReceiveTimes::new(),
        }
    }

    /// See the field.
    pub(super) const fn acked_end(&self, space: PacketSpace) -> u64 {
        let [initial, handshake, application] = self.acked_end;
        match space {
            PacketSpace::Initial => initial,
            PacketSpace::Handshake => handshake,
            PacketSpace::Application => application,
        }
    }

    /// A packet in flight is newly acked.
    fn note_acked(&mut self, number: u64, entry: &Entry) {
        let [initial, handshake, application] = &mut self.acked_end;
        let end = match entry.space() {
            PacketSpace::Initial => initial,
            PacketSpace::Handshake => handshake,
            PacketSpace::Application => application,
        };
        let number_end = number.wrapping_add(1);
        *end = number_end.max(*end);
        let acked = &mut self.acked;
        if number_end > acked.end {
            acked.end = number_end;
            acked.highest = (entry.sent_at(), entry.space());
        }
        let (sent_at, newest) = acked.newest;
        if acked.packets == 0 || entry.sent_at() > sent_at || entry.sent_at() == sent_at && number > newest {
            acked.newest = (entry.sent_at(), number);
        }
        // No overflow: each packet is of the ring, and has at most 65 535 bytes.
        acked.packets = acked.packets.wrapping_add(1);
        acked.bytes = acked.bytes.wrapping_add(entry.bytes());
        acked.any_ack_eliciting |= entry.ack_eliciting();
    }

    /// The frame is over. ECN increases that were not delivered are kept.
    pub(super) fn clear(&mut self) {
        self.marks.clear();
        self.named_end = 0;
        self.acked_end = [0; SPACES.len()];
        // The others mean nothing without packets.
        (self.acked.packets, self.acked.bytes, self.acked.end) = (0, 0, 0);
        self.acked.any_ack_eliciting = false;
        self.has_others = false;
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
        self.frame.named_end = number.wrapping_add(1).max(self.frame.named_end);
        let Some(entry) = self.ring.get_mut(number) else { return };
        match entry.state() {
            // An ack wins over a loss in the same frame.
            State::Outstanding | State::MarkedLost => {
                entry.set_state(State::MarkedAcked);
                self.frame.note_acked(number, entry);
                if entry.carries_data() && number >= self.newest_data_end {
                    (self.newest_data_end, self.newest_data_sent_at) =
                        (number.wrapping_add(1), entry.sent_at());
                }
            }
            State::Lost => {
                entry.set_state(State::MarkedLate);
                self.frame.has_others = true;
            }
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
            self.frame.has_others = true;
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
