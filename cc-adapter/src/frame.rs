//! One ACK frame, or one expiry of the loss timer, while it is collected.

use cc_core::{AckedPacket, EcnEvent, Instant, LossCause, LostPacket, PacketSpace, SendLimit};

/// The parts of a frame that came so far, or of the last one. The lists keep their memory from frame to frame.
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

/// What the packets acked in a frame come to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Acked {
    /// Bytes of packets that had not been declared lost.
    pub(crate) newly_acked: u64,
    /// Bytes of packets that had.
    pub(crate) late_acked: u64,
    /// Send time and space of the newest.
    pub(crate) newest: Option<(Instant, PacketSpace)>,
}

impl Frame {
    pub(crate) fn acked(&self) -> Acked {
        let (mut newly_acked, mut late_acked) = (0_u64, 0_u64);
        let mut newest: Option<&AckedPacket> = None;
        for packet in &self.acked {
            let sum = if packet.was_lost { &mut late_acked } else { &mut newly_acked };
            *sum = sum.saturating_add(packet.bytes);
            if newest.is_none_or(|newest| (packet.sent_at, packet.number) >= (newest.sent_at, newest.number))
            {
                newest = Some(packet);
            }
        }
        Acked { newly_acked, late_acked, newest: newest.map(|newest| (newest.sent_at, newest.space)) }
    }

    /// Begins the next one.
    pub(crate) fn start(&mut self, at: Instant, from: Option<LossCause>) {
        // Taken apart, so that a field that is new cannot be forgotten here.
        let Self {
            open,
            now,
            cause,
            acked,
            lost,
            persistent_congestion,
            sampled_at,
            ecn,
            limited_by,
            in_flight_after_acks,
            acks_complete,
        } = self;
        (*open, *now, *cause) = (true, at, from);
        acked.clear();
        lost.clear();
        (*persistent_congestion, *acks_complete) = (false, false);
        (*sampled_at, *ecn, *limited_by, *in_flight_after_acks) = (None, None, None, None);
    }
}
