//! The events that a stack (or [`Path`](crate::Path)) hands to a controller: plain `Copy` data and slices.
//!
//! Numbers are a per-path send sequence over all packet number spaces, given by the adapter or by
//! [`Path`](crate::Path); a stack's own packet number may serve only after the handshake. Fields that some
//! stacks cannot fill are `Option`s; a controller falls back on send times, never on the order of calls.

use crate::{Duration, Instant, PeerInstant};

/// Largest datagram size that is believed, in bytes of UDP payload (RFC 9000 section 18.2, `max_udp_payload_size`).
pub const MAX_DATAGRAM_SIZE: u64 = 65_527;

/// Packet number space of a packet (RFC 9000 section 12.3); 0-RTT packets belong to `Application`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum PacketSpace {
    /// Initial packets.
    Initial,
    /// Handshake packets.
    Handshake,
    /// 0-RTT and 1-RTT packets.
    #[default]
    Application,
}

/// RTT statistics of the path (RFC 9002 section 5), the samples of the current frame included.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PathRtt {
    /// `latest_rtt`: the newest accepted sample, ack delay included (RFC 9002 section 5.1).
    pub latest: Duration,
    /// `smoothed_rtt` (RFC 9002 section 5.3).
    pub smoothed: Duration,
    /// `min_rtt` (RFC 9002 section 5.2).
    pub min: Duration,
    /// `rttvar` (RFC 9002 section 5.3).
    pub var: Duration,
}

/// What every event carries: the state of the path when the event is delivered.
///
/// It is an input, never a private counter of a controller: two copies get out of step in every stack that
/// keeps both. Adapters build it with `..PathState::default()`, so that a later field does not break them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PathState {
    /// Time of the event.
    pub now: Instant,
    /// `bytes_in_flight` (RFC 9002 appendix B.2) after the whole frame or event, in bytes.
    pub bytes_in_flight: u64,
    /// `bytes_in_flight` before the frame or event, in bytes.
    pub prior_bytes_in_flight: u64,
    /// Total bytes delivered so far, this frame's acks included (`C.delivered` of the BBR draft).
    pub delivered: u64,
    /// Total bytes declared lost *before* this event (`C.lost` of the BBR draft); a controller adds the
    /// bytes of a slice of lost packets in order.
    pub lost: u64,
    /// Number that the next packet sent will get.
    pub next_number: u64,
    /// Lowest number neither acked nor declared lost after this frame. `None` if there is none or the stack
    /// does not know it: then a round ends when a number above its mark is acked.
    pub oldest_outstanding: Option<u64>,
    /// RTT statistics; `None` before the first sample.
    pub rtt: Option<PathRtt>,
    /// Current maximum datagram size in bytes; taken as at least 1 and at most [`MAX_DATAGRAM_SIZE`].
    pub max_datagram_size: u64,
    /// Whether the connection is application-limited now (`C.app_limited != 0` of the BBR draft): the bubble of the
    /// last moment without data to send has not left the pipe yet.
    pub app_limited: bool,
    /// Whether the handshake has finished at this endpoint (losses before it mean little).
    pub handshake_ready: bool,
}

impl Default for PathState {
    /// Nothing sent or received yet, 1200-byte datagrams (RFC 9000 section 14), handshake finished.
    fn default() -> Self {
        Self {
            now: Instant::ZERO,
            bytes_in_flight: 0,
            prior_bytes_in_flight: 0,
            delivered: 0,
            lost: 0,
            next_number: 0,
            oldest_outstanding: None,
            rtt: None,
            max_datagram_size: 1_200,
            app_limited: false,
            handshake_ready: true,
        }
    }
}

/// A packet that was handed to the network.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SentPacket {
    /// Its number; larger than that of any packet sent before.
    pub number: u64,
    /// Its packet number space.
    pub space: PacketSpace,
    /// Its size in bytes, UDP payload.
    pub bytes: u64,
    /// Whether it counts in flight (ack-eliciting or padded, RFC 9002 section 2).
    pub in_flight: bool,
    /// Its departure time (may be later than `now` where the stack paces by departure time).
    pub sent_at: Instant,
    /// Whether it carries stream or datagram data.
    pub carries_data: bool,
}

/// Delivery state of the connection that is stored with a packet when it is sent and comes back with its
/// ack or loss (the per-packet state of draft-ietf-ccwg-bbr, "Transmitting a data packet").
///
/// A small `Copy` value that a stack may keep with its packet; [`DeliveryRate`](crate::DeliveryRate) makes it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PacketSnapshot {
    /// `P.delivered`: bytes delivered at the reference point, 0 if there was none.
    pub delivered: u64,
    /// `P.delivered_time`: time of the reference point; `None` if there was none when the packet was sent
    /// (such a packet gives no rate sample).
    pub delivered_at: Option<Instant>,
    /// `P.first_send_time`: send time of the packet that made the reference point.
    pub first_sent_at: Instant,
    /// `P.lost`: bytes declared lost when the packet was sent.
    pub lost: u64,
    /// `P.tx_in_flight`: bytes in flight just after it was sent, itself included.
    pub bytes_in_flight: u64,
    /// `P.is_app_limited`: whether the connection was application-limited when it was sent.
    pub app_limited: bool,
}

/// One entry of a frame's newly acknowledged packets. It may stand for several packets where a stack gives
/// only sums: then number, send time and snapshot are those of the newest.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct AckedPacket {
    /// Its number, where the stack knows it.
    pub number: Option<u64>,
    /// Its packet number space.
    pub space: PacketSpace,
    /// Its send time.
    pub sent_at: Instant,
    /// Bytes acknowledged.
    pub bytes: u64,
    /// How many packets the entry stands for, where known; `None` for "one or more".
    pub packets: Option<u32>,
    /// When the peer received it, on the peer's clock (draft-ietf-quic-receive-ts).
    pub received_at: Option<PeerInstant>,
    /// Delivery state at its send.
    pub snapshot: Option<PacketSnapshot>,
    /// Whether it had been declared lost before (a spurious loss).
    pub was_lost: bool,
}

/// What stopped the last attempt to send (RFC 9002 section 7.8: only the window says "cwnd-limited").
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum SendLimit {
    /// The congestion window was full.
    Cwnd,
    /// The pacer asked to wait.
    Pacer,
    /// The anti-amplification limit (RFC 9000 section 8.1).
    Amplification,
    /// The peer's flow control.
    FlowControl,
    /// The application had nothing to send.
    NoData,
    /// The stack does not say.
    #[default]
    Unknown,
}

/// The raw delivery-rate sample of one ACK frame; every controller applies its own validity rule.
///
/// Source: draft-ietf-ccwg-bbr, "Delivery Rate Samples". The BBR rule (`interval >= min_rtt`) and the C4 rule
/// (ack interval over 1 ms, [`RateSample::moved_reference`]) are both left to the controller.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RateSample {
    /// Number of the newest newly acked packet, where known.
    pub number: Option<u64>,
    /// Its send time.
    pub sent_at: Instant,
    /// Delivery state stored with it.
    pub snapshot: PacketSnapshot,
    /// Bytes delivered in total now.
    pub delivered: u64,
    /// Send interval: its send time minus `snapshot.first_sent_at` (zero without a reference point).
    pub send_interval: Duration,
    /// Ack interval: now minus `snapshot.delivered_at` (zero without a reference point).
    pub ack_interval: Duration,
    /// Bytes declared lost since it was sent, this frame's losses included.
    pub lost_since_sent: u64,
    /// Bytes newly acked by this frame that had not been declared lost.
    pub newly_acked: u64,
    /// Bytes newly declared lost by this frame.
    pub newly_lost: u64,
    /// Bytes acked by this frame after having been declared lost.
    pub late_acked: u64,
    /// Whether the sample is application-limited.
    pub app_limited: bool,
    /// Whether this frame moved the reference point of the [`SamplingRule`] in force: always under
    /// [`SamplingRule::LastAck`]; under [`SamplingRule::LastAcceptedSample`] only if the sample was accepted.
    pub moved_reference: bool,
}

impl RateSample {
    /// Bytes delivered since the reference point stored in the newest acked packet.
    #[must_use]
    pub const fn delivered_since_sent(&self) -> u64 {
        self.delivered.saturating_sub(self.snapshot.delivered)
    }

    /// `RS.interval` of the BBR draft: the longer of the send and the ack interval; zero without reference.
    #[must_use]
    pub fn interval(&self) -> Duration {
        self.send_interval.max(self.ack_interval)
    }
}

/// Which reference point a packet remembers when it is sent, named by the controller that uses the samples.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum SamplingRule {
    /// The last ACK (draft-ietf-ccwg-bbr). Late acks count as delivered.
    #[default]
    LastAck,
    /// The last accepted sample (C4): a sample is accepted if the newest packet was sent no earlier than
    /// that of the last accepted one and the ack interval exceeds `min_ack_interval`, all in whole microseconds, to which
    /// each time is truncated. Late acks do not count as delivered.
    LastAcceptedSample {
        /// The ack interval must be longer than this, in whole microseconds.
        min_ack_interval: Duration,
    },
}

/// Newly acknowledged packets of one ACK frame, or of a part of it.
#[derive(Clone, Copy, Debug)]
pub struct AckEvent<'a> {
    /// The packets, ascending by send order. May be empty in the last part of a frame that acked nothing new.
    pub packets: &'a [AckedPacket],
    /// Whether this is the last (or only) part of the frame. What concerns the whole frame below is the same
    /// in every part.
    pub last: bool,
    /// The raw rate sample of the whole frame, where the stack has one.
    pub rate_sample: Option<RateSample>,
    /// What stopped the last attempt to send.
    pub limited_by: SendLimit,
    /// Largest bytes in flight since the last ACK, the prior value included.
    pub max_bytes_in_flight: u64,
    /// Last time that window and pacer allowed sending and no data was left; `None` if never.
    pub app_limited_at: Option<Instant>,
    /// Send time of the newest packet acked so far that carried stream or datagram data; `None` if none was.
    pub newest_data_sent_at: Option<Instant>,
}

/// A packet declared lost by packet or time threshold (RFC 9002 section 6.1). A probe timeout is no event.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LostPacket {
    /// Its number, where the stack knows it.
    pub number: Option<u64>,
    /// Its packet number space.
    pub space: PacketSpace,
    /// Its send time.
    pub sent_at: Instant,
    /// Its size in bytes.
    pub bytes: u64,
    /// Delivery state at its send.
    pub snapshot: Option<PacketSnapshot>,
    /// Whether the packet sent just before it was not lost (a new run of losses), where known.
    pub starts_run: Option<bool>,
}

/// What made the stack declare a loss.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LossCause {
    /// An ACK frame.
    Ack,
    /// The loss timer, no ACK.
    Timer,
}

/// Packets declared lost at one time, or a part of them.
#[derive(Clone, Copy, Debug)]
pub struct LossEvent<'a> {
    /// The packets, ascending by send order.
    pub packets: &'a [LostPacket],
    /// Whether this is the last (or only) part.
    pub last: bool,
    /// Whether persistent congestion is established (RFC 9002 section 7.6); the same in every part.
    pub persistent_congestion: bool,
    /// What made the stack declare the loss, where known.
    pub cause: Option<LossCause>,
}

/// Validated ECN counts of an ACK frame that raised the largest acknowledged (RFC 9000 section 13.4.2), also
/// when no CE mark came (averages must decay).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct EcnEvent {
    /// Packet number space of the counts.
    pub space: PacketSpace,
    /// Increase of the CE count. Not trusted: a controller clamps it to `newly_acked` where that is known. `None` where
    /// the stack only says that there was a mark (quinn): [`EcnEvent::marks`] counts it as one.
    pub ce: Option<u64>,
    /// Increase of the ECT(0) count, where known.
    pub ect0: Option<u64>,
    /// Increase of the ECT(1) count, where known.
    pub ect1: Option<u64>,
    /// Packets newly acked since the increases began (normally by the frame alone), where known: late and ACK-only ones
    /// included, since they carry marks too.
    pub newly_acked: Option<u64>,
    /// Number of the largest acked packet, where known.
    pub largest_acked: Option<u64>,
    /// Its send time.
    pub largest_acked_sent_at: Instant,
}

impl EcnEvent {
    /// CE marks to believe: the increase, an edge without a count being one, and no more than packets were newly acked.
    #[must_use]
    pub fn marks(&self) -> u64 {
        self.ce.unwrap_or(1).min(self.newly_acked.unwrap_or(u64::MAX))
    }
}

/// The RTT of the highest-numbered packet newly acked by a frame, which may be an ACK-only one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RttEvent {
    /// Packet number space of the packet.
    pub space: PacketSpace,
    /// Raw: now minus its send time, ack delay included; zero if the clock went backwards.
    pub latest: Duration,
    /// The peer's ack delay, clamped to its maximum (RFC 9002 section 5.3); `None` if unknown.
    pub ack_delay: Option<Duration>,
    /// Whether RFC 9002 section 5.1 accepts it as a sample (largest acked newly acked, ack-eliciting).
    pub is_sample: bool,
    /// Whether it is the first RTT seen on the path.
    pub is_first: bool,
}

/// Packets declared lost that turned out to have arrived.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SpuriousLoss {
    /// The packet with this number and send time.
    Packet {
        /// Its number, where the stack knows it.
        number: Option<u64>,
        /// Its send time.
        sent_at: Instant,
        /// Its size in bytes.
        bytes: u64,
    },
    /// All losses of the last recovery period (the stack gives no detail).
    All,
}

/// Why bytes left the network without being acked or lost.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DiscardReason {
    /// Keys of a packet number space were dropped (RFC 9002 section 6.4).
    KeysDiscarded,
    /// A lost path MTU probe (RFC 9000 section 14.4: no congestion signal).
    MtuProbeLost,
    /// 0-RTT data was rejected.
    ZeroRttRejected,
}

/// Why the maximum datagram size changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MtuChange {
    /// Learnt in the handshake, before data was sent: the initial window is computed anew (RFC 9002 section 7.2).
    Handshake,
    /// Found by probing (RFC 8899).
    Discovered,
    /// Reduced by black-hole detection (RFC 8899 section 4.3); by itself no congestion event.
    BlackHole,
}

/// How the path changed (RFC 9000 section 9.4).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PathChange {
    /// Only the peer's port changed (NAT rebinding): state may be kept.
    Rebinding,
    /// A new path: congestion state starts again.
    New,
}

/// State saved from an earlier connection on the same path (RFC 9959, careful resume).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ResumeHint {
    /// The saved congestion window in bytes (`saved_cwnd`).
    pub cwnd: u64,
    /// The saved minimum RTT (`saved_rtt`).
    pub rtt: Duration,
}

/// How often the peer acknowledges (draft-ietf-quic-ack-frequency).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AckPolicy {
    /// Ack-eliciting packets per ACK.
    pub packets: u64,
    /// The peer's maximum ack delay.
    pub max_ack_delay: Duration,
}

/// An ECN codepoint of outgoing packets (RFC 3168 section 5, RFC 9331).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum EcnCodepoint {
    /// Not ECN-capable.
    #[default]
    NotEct,
    /// ECT(0): classic ECN.
    Ect0,
    /// ECT(1): L4S.
    Ect1,
}

#[cfg(test)]
mod tests {
    use super::EcnEvent;

    #[test]
    fn marks_are_an_edge_or_a_count_and_at_most_what_was_newly_acked() {
        // bugs.md D4: 50 marks for 3 packets are 3.
        for (ce, newly_acked, marks) in [
            (Some(2), Some(3), 2),
            (Some(50), Some(3), 3),
            (Some(0), Some(3), 0),
            (Some(50), None, 50),
            (Some(u64::MAX), None, u64::MAX),
            (Some(5), Some(0), 0),
            // Only an edge is known: one mark.
            (None, None, 1),
            (None, Some(7), 1),
            (None, Some(0), 0),
        ] {
            let event = EcnEvent { ce, newly_acked, ..EcnEvent::default() };
            assert_eq!(event.marks(), marks, "{ce:?} {newly_acked:?}");
        }
    }
}
