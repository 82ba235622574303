//! One ACK frame, or one expiry of the loss timer, while it is collected.

use cc_core::{AckedPacket, EcnEvent, Instant, LossCause, LostPacket, SendLimit};

/// The parts of a frame that came so far. The lists keep their memory from frame to frame.
#[derive(Clone, Debug, Default)]
pub(crate) struct Frame {
    /// Whether anything was collected; the rest means nothing otherwise.
    pub(crate) open: bool,
    pub(crate) now: Instant,
    /// What the losses came from, as far as one can tell.
    pub(crate) cause: Option<LossCause>,
    /// Ascending by send time, as far as the stack does so.
    pub(crate) acked: Vec<AckedPacket>,
    pub(crate) lost: Vec<LostPacket>,
    pub(crate) persistent_congestion: bool,
    /// Send time of the packet that gave an RTT sample, if the stack measures.
    pub(crate) sampled_at: Option<Instant>,
    pub(crate) ecn: Option<EcnEvent>,
    /// What stopped the last attempt to send before the frame; `None` until the stack was asked.
    pub(crate) limited_by: Option<SendLimit>,
    /// Bytes in flight after the acks and before the losses, if the stack said so.
    pub(crate) in_flight_after_acks: Option<u64>,
    /// The stack has said that the acks are complete: another one begins another frame.
    pub(crate) acks_complete: bool,
}

impl Frame {
    pub(crate) fn acked_bytes(&self) -> u64 {
        self.acked.iter().fold(0, |sum: u64, packet| sum.saturating_add(packet.bytes))
    }

    pub(crate) fn lost_bytes(&self) -> u64 {
        self.lost.iter().fold(0, |sum: u64, packet| sum.saturating_add(packet.bytes))
    }

    /// The newest packet acked.
    pub(crate) fn newest_acked(&self) -> Option<&AckedPacket> {
        self.acked.iter().max_by_key(|packet| (packet.sent_at, packet.number))
    }

    /// Makes it ready for the next frame.
    pub(crate) fn clear(&mut self) {
        let (mut acked, mut lost) = (std::mem::take(&mut self.acked), std::mem::take(&mut self.lost));
        acked.clear();
        lost.clear();
        *self = Self { acked, lost, ..Self::default() };
    }
}
