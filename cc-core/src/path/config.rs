//! Plain data that goes into and comes out of a [`Path`](crate::Path).

use crate::{Duration, INITIAL_RTT, Instant, LossCause, MAX_DATAGRAM_SIZE, PacketSpace, RateSample};

/// What a [`Path`](crate::Path) is built from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PathConfig {
    /// Time of construction.
    pub now: Instant,
    /// Maximum datagram size in bytes; clamped to 1 ..= 65 527
    /// ([`MAX_DATAGRAM_SIZE`]).
    pub max_datagram_size: u64,
    /// RTT assumed before the first sample (RFC 9002 section 6.2.2).
    pub initial_rtt: Duration,
    /// The peer's `max_ack_delay` (RFC 9000 section 18.2).
    pub max_ack_delay: Duration,
    /// Thresholds of RFC 9002 section 6.1; `None` if the stack declares losses itself.
    pub loss_detection: Option<LossDetection>,
}

impl Default for PathConfig {
    /// 1200-byte datagrams (RFC 9000 section 14), 333 ms initial RTT, 25 ms `max_ack_delay` (RFC 9000 section
    /// 18.2), losses declared by the stack.
    fn default() -> Self {
        Self {
            now: Instant::ZERO,
            max_datagram_size: 1_200,
            initial_rtt: INITIAL_RTT,
            max_ack_delay: Duration::from_millis(25),
            loss_detection: None,
        }
    }
}

impl PathConfig {
    pub(super) fn clamped(self) -> Self {
        Self { max_datagram_size: self.max_datagram_size.clamp(1, MAX_DATAGRAM_SIZE), ..self }
    }
}

/// Thresholds of loss detection (RFC 9002 section 6.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LossDetection {
    /// `kPacketThreshold`: packets of the same space sent after a lost one and up to the largest acked.
    /// ACK-only packets, which have no entry in the ring, are not counted.
    pub packet_threshold: u32,
    /// `kTimeThreshold`, numerator.
    pub time_numerator: u32,
    /// `kTimeThreshold`, denominator; zero counts as one.
    pub time_denominator: u32,
}

impl Default for LossDetection {
    /// 3 packets (RFC 9002 section 6.1.1) and 9/8 RTT (section 6.1.2).
    fn default() -> Self {
        Self { packet_threshold: 3, time_numerator: 9, time_denominator: 8 }
    }
}

/// A packet handed to the network.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OutgoingPacket {
    /// Its packet number space.
    pub space: PacketSpace,
    /// Its size in bytes, UDP payload; clamped to 65 535.
    pub bytes: u64,
    /// Whether it counts in flight (ack-eliciting or padded, RFC 9002 section 2). ACK-only packets do not.
    pub in_flight: bool,
    /// Whether it is ack-eliciting. False with `in_flight` for padded packets only: they give no RTT sample
    /// and end no period of persistent congestion.
    pub ack_eliciting: bool,
    /// Whether it carries stream or datagram data.
    pub carries_data: bool,
    /// Its departure time.
    pub sent_at: Instant,
}

impl Default for OutgoingPacket {
    /// A 1200-byte, ack-eliciting application packet with data, sent at time zero.
    fn default() -> Self {
        Self {
            space: PacketSpace::Application,
            bytes: 1_200,
            in_flight: true,
            ack_eliciting: true,
            carries_data: true,
            sent_at: Instant::ZERO,
        }
    }
}

/// Increases of the peer's ECN counts in one ACK frame, validated by the stack (RFC 9000 section 13.4.2).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct EcnCounts {
    /// Increase of the CE count.
    pub ce: u64,
    /// Increase of the ECT(0) count.
    pub ect0: u64,
    /// Increase of the ECT(1) count.
    pub ect1: u64,
}

/// What a frame ends with: all that concerns it as a whole.
///
/// Its packet number space is that of the packets named. Build it with `..FrameEnd::default()`, so that a later field
/// changes nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FrameEnd {
    /// The peer's ack delay as decoded from the frame; `None` if unknown.
    pub ack_delay: Option<Duration>,
    /// What made the stack declare the losses.
    pub cause: LossCause,
    /// How many packets the frame newly acked that the path does not keep: ACK-only ones, and those whose entry is gone.
    /// They may carry ECN marks, which are believed up to the number of packets newly acked.
    pub untracked_acked: u64,
    /// Send time of the frame's largest acknowledged packet, if the frame newly acks it and the path does not keep it
    /// (ACK-only). The RTT is then measured from it (RFC 9002 section 5.1). Ignored if it is before the send time of the
    /// newest packet that the frame newly acks and the path keeps.
    pub largest_untracked: Option<Instant>,
}

impl Default for FrameEnd {
    /// An ACK frame, ack delay unknown, all packets that it acked named.
    fn default() -> Self {
        Self { ack_delay: None, cause: LossCause::Ack, untracked_acked: 0, largest_untracked: None }
    }
}

/// What a frame came to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FrameReport {
    /// Bytes newly acked that had not been declared lost.
    pub newly_acked: u64,
    /// Bytes newly declared lost.
    pub newly_lost: u64,
    /// Bytes acked after having been declared lost.
    pub late_acked: u64,
    /// Lowest and highest number newly declared lost. With loss detection by the path, a packet between them
    /// that the stack has not seen acked and that is no longer outstanding is lost.
    pub lost_span: Option<(u64, u64)>,
    /// The RTT sample, if RFC 9002 section 5.1 accepts one: now minus send time, ack delay included.
    pub rtt_sample: Option<Duration>,
    /// The raw rate sample; `None` if nothing was acked.
    pub rate_sample: Option<RateSample>,
    /// Whether the losses established persistent congestion.
    pub persistent_congestion: bool,
}
