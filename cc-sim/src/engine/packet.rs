//! What travels over the links.

use super::ecn::{Counts, Ecn};
use super::media::Control;
use super::receive_ts::TimestampField;
use crate::scenario::Endpoint;

/// Sizes of the datagrams of handshake and close, in bytes (sim_model section 5.2).
pub(crate) mod size {
    /// Client: Initial (RFC 9000 section 14.1 asks for 1200 at least).
    pub(crate) const CLIENT_HELLO: u64 = 1_252;
    /// Server: first datagram of its TLS flight with the certificate of the draft's runs.
    pub(crate) const SERVER_HELLO: u64 = 1_252;
    /// Server: the rest of the flight.
    pub(crate) const SERVER_FINISHED: u64 = 511;
    /// Client: ACK of the first Handshake packet.
    pub(crate) const HANDSHAKE_ACK: u64 = 53;
    /// Client: end of its flight and the request.
    pub(crate) const CLIENT_FINISHED: u64 = 715;
    /// Of that, the request for a bulk transfer: a stream frame of 397 bytes.
    pub(crate) const BULK_REQUEST: u64 = 401;
    /// Of that, the 1-RTT packet with the request.
    pub(crate) const REQUEST: u64 = 623;
    /// Client: CONNECTION_CLOSE.
    pub(crate) const CLOSE: u64 = 41;
    /// Server: its answer.
    pub(crate) const CLOSE_REPLY: u64 = 32;
}

/// A datagram: its size in bytes, UDP payload, its ECN field, the number of its flow (of its source, counted on from the flows, if it is cross
/// traffic), and what it means.
#[derive(Clone, Copy, Debug)]
pub(super) struct Packet {
    pub(super) bytes: u64,
    pub(super) flow: u32,
    pub(super) ecn: Ecn,
    pub(super) content: Content,
}

impl Packet {
    /// Marks it CE; whether it was not marked yet.
    pub(super) fn mark(&mut self) -> bool {
        std::mem::replace(&mut self.ecn, Ecn::Ce) != Ecn::Ce
    }
}

/// Meaning of a datagram. Handshake sizes and order are those of sim_model section 5.2.
#[derive(Clone, Copy, Debug)]
pub(super) enum Content {
    /// Client: Initial with the TLS client hello.
    ClientHello { sent_at: u64 },
    /// Server: Initial and Handshake packets with the first part of its TLS flight, which acknowledge the client hello that was
    /// sent then. `packet` is the number of the Handshake packet on the server's path.
    ServerHello { hello_sent_at: u64, packet: u64 },
    /// Server: rest of its TLS flight, a Handshake packet, at first with a 1-RTT packet of this number.
    ServerFinished { packet: u64, number: Option<u64> },
    /// Client: ACK of the Handshake packet with the first part.
    HandshakeAck { packet: u64 },
    /// Client: end of its TLS flight and the request, with an ACK of the Handshake packets of both parts.
    ClientFinished { packets: [u64; 2] },
    /// Client: path MTU probe.
    ClientProbe,
    /// Server: a 1-RTT packet.
    Data(Data),
    /// Client: an ACK frame (its ranges are kept apart), flow-control limits, and what it asks for. If something of that is
    /// new, the packet is ack-eliciting and `sent_at` is set.
    Ack { slot: usize, limits: Limits, control: Control, sent_at: Option<u64> },
    /// Client: CONNECTION_CLOSE.
    Close,
    /// Server: its answer.
    CloseReply,
    /// Cross traffic.
    Cross,
}

/// A 1-RTT packet of the server.
#[derive(Clone, Copy, Debug)]
pub(super) struct Data {
    /// Packet number in the 1-RTT space.
    pub(super) number: u64,
    /// Offset and length of the stream data; no data (a probe) if the length is 0. With audio and video, the number of the
    /// packet's first piece, and how much of the room for data its pieces take.
    pub(super) offset: u64,
    pub(super) length: u64,
    /// An ACK_FREQUENCY frame.
    pub(super) ack_frequency: Option<AckFrequency>,
    /// The ACK of an ack-eliciting packet of the client: when that was sent.
    pub(super) echo: Option<u64>,
}

/// Content of an ACK_FREQUENCY frame (draft-ietf-quic-ack-frequency).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct AckFrequency {
    /// Packets per ACK.
    pub(super) gap: u64,
    /// Largest ACK delay, in microseconds.
    pub(super) delay_us: u64,
}

/// Flow-control limits (RFC 9000 section 4): totals of bytes that the server may send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Limits {
    pub(super) max_data: u64,
    pub(super) max_stream_data: u64,
}

/// ACK ranges that travel, kept apart from the packets so that those stay small; slots are used again.
#[derive(Debug)]
pub(super) struct AckStore {
    /// Most ranges of a frame; those of the newest packets are kept.
    max_ranges: usize,
    frames: Vec<AckFrame>,
    free: Vec<usize>,
}

/// An ACK frame: ranges ascending, delay in microseconds since the largest arrived, receive timestamps and ECN counts if
/// there are any.
#[derive(Debug, Default)]
pub(super) struct AckFrame {
    pub(super) ranges: Vec<(u64, u64)>,
    pub(super) delay_us: u64,
    pub(super) timestamps: TimestampField,
    /// ECN counts, if the frame has them.
    pub(super) ecn: Option<Counts>,
}

impl AckStore {
    pub(super) fn new(config: &Endpoint) -> Self {
        let max_ranges = usize::try_from(config.max_ack_ranges).unwrap_or(usize::MAX);
        Self { max_ranges, frames: Vec::new(), free: Vec::new() }
    }

    pub(super) fn put(&mut self, ranges: &[(u64, u64)], delay_us: u64) -> usize {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.frames.push(AckFrame::default());
            self.frames.len() - 1
        });
        let frame = &mut self.frames[slot];
        let highest = &ranges[ranges.len().saturating_sub(self.max_ranges)..];
        frame.ranges.clear();
        frame.ranges.extend_from_slice(highest);
        frame.delay_us = delay_us;
        frame.timestamps.clear();
        frame.ecn = None;
        slot
    }

    /// The receive timestamps of a frame, to be written.
    pub(super) fn timestamps(&mut self, slot: usize) -> &mut TimestampField {
        &mut self.frames[slot].timestamps
    }

    /// Adds ECN counts to a frame.
    pub(super) fn set_ecn(&mut self, slot: usize, counts: Counts) {
        self.frames[slot].ecn = Some(counts);
    }

    pub(super) fn get(&self, slot: usize) -> &AckFrame {
        &self.frames[slot]
    }

    pub(super) fn release(&mut self, slot: usize) {
        self.free.push(slot);
    }
}

#[cfg(test)]
mod tests {
    use super::AckStore;
    use crate::scenario::Endpoint;

    #[test]
    fn a_frame_holds_the_ranges_of_the_newest_packets() {
        let ranges: Vec<(u64, u64)> = (0..40).map(|i| (2 * i, 2 * i)).collect();
        let mut store = AckStore::new(&Endpoint::default());
        // 40 ranges, the newest 33 of them: from the eighth, packet 14, on.
        let slot = store.put(&ranges, 5);
        assert_eq!(store.get(slot).ranges, ranges[7..]);
        assert_eq!((store.get(slot).ranges[0], store.get(slot).delay_us), ((14, 14), 5));
        let mut short = AckStore::new(&Endpoint { max_ack_ranges: 1, ..Endpoint::default() });
        let slot = short.put(&ranges, 0);
        assert_eq!(short.get(slot).ranges, [(78, 78)]);
    }

    #[test]
    fn a_released_slot_is_used_again() {
        let mut store = AckStore::new(&Endpoint::default());
        let (first, second) = (store.put(&[(0, 3)], 0), store.put(&[(0, 5)], 0));
        store.release(first);
        assert_eq!(store.put(&[(7, 9)], 0), first);
        assert_eq!((store.get(first).ranges[0], store.get(second).ranges[0]), ((7, 9), (0, 5)));
    }
}
