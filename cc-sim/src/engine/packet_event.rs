//! What happens to packets at a data sender, for those who want to see each of them.

use cc_core::{EcnCodepoint, EcnCounts};

/// An event of a 1-RTT packet. Packets of the handshake and of the end of a connection have none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PacketEvent {
    /// A packet was sent.
    Sent {
        /// Its number.
        number: u64,
        /// Its UDP payload in bytes.
        bytes: u64,
        /// Where in the stream its data begins; of audio and video, how many pieces of streams were sent before.
        offset: u64,
        /// How much data it has there, in bytes; 0 for a probe. Repeated data that does not fill a packet has other data behind it,
        /// which is not told.
        length: u64,
        /// Whether it is there to find out the path MTU (RFC 9000 section 14.4).
        is_mtu_probe: bool,
        /// ECN codepoint that it is sent with.
        ecn: EcnCodepoint,
    },
    /// A packet with an ACK frame arrived.
    Received {
        /// Its UDP payload in bytes.
        bytes: u64,
        /// How long the receiver held the ACK of the largest packet back, in microseconds.
        ack_delay_us: u64,
        /// The numbers that the frame acknowledges: first and last of each range, ascending.
        ranges: Vec<(u64, u64)>,
        /// The ECN counts of the frame, if it has any: totals, not increases.
        ecn: Option<EcnCounts>,
    },
    /// A packet was declared lost.
    Lost {
        /// Its number.
        number: u64,
        /// Whether it was there to find out the path MTU.
        is_mtu_probe: bool,
    },
    /// The path or the peer does not do ECN: packets are sent without it from now on (RFC 9000 section 13.4.2.2).
    EcnFailed,
}
