//! What goes into and comes out of the bookkeeping of a path.

use super::{FfiRateSample, FfiSend, Raw, at, bit_if, check_has, optional, span};
use crate::Status;
use cc_core::{
    FrameEnd, FrameReport, LossCause, LossDetection, OutgoingPacket, Outstanding, PathConfig, SendDecision,
    Setup,
};

/// `max_ack_delay` is set.
pub const CCFFI_PATH_CONFIG_HAS_MAX_ACK_DELAY: u32 = 1;
/// The path declares losses itself (RFC 9002 section 6.1).
pub const CCFFI_PATH_CONFIG_HAS_LOSS_DETECTION: u32 = 2;
/// `packet_threshold`, `time_numerator` and `time_denominator` are set.
pub const CCFFI_PATH_CONFIG_HAS_THRESHOLDS: u32 = 4;
/// `ack_delay` is set.
pub const CCFFI_FRAME_END_HAS_ACK_DELAY: u32 = 1;
/// `largest_untracked` is set.
pub const CCFFI_FRAME_END_HAS_LARGEST_UNTRACKED: u32 = 2;
/// `lost_first` and `lost_last` are set: something was lost.
pub const CCFFI_FRAME_REPORT_HAS_LOST_SPAN: u32 = 1;
/// `rtt_sample` is set.
pub const CCFFI_FRAME_REPORT_HAS_RTT_SAMPLE: u32 = 2;
/// `rate_sample` is set: something was acked.
pub const CCFFI_FRAME_REPORT_HAS_RATE_SAMPLE: u32 = 4;

/// How a path keeps its books. All zero: losses declared by the stack, a `max_ack_delay` of 25 ms (RFC 9000 section 18.2). Time,
/// datagram size and initial RTT (else 333 ms, RFC 9002 section 6.2.2) are those of the `ccffi_setup`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct FfiPathConfig {
    /// The peer's `max_ack_delay`, nanoseconds. Optional.
    pub max_ack_delay: u64,
    /// `kPacketThreshold` (RFC 9002 section 6.1.1). Optional, else 3; looked at only with loss detection.
    pub packet_threshold: u32,
    /// Numerator of `kTimeThreshold` (RFC 9002 section 6.1.2). Optional, else 9.
    pub time_numerator: u32,
    /// Denominator of `kTimeThreshold`; 0 counts as 1. Optional, else 8.
    pub time_denominator: u32,
    /// Which optional fields are set: `CCFFI_PATH_CONFIG_HAS_...`.
    pub has: u32,
}

/// A packet handed to the network.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct FfiOutgoingPacket {
    /// Its size in bytes, UDP payload; clamped to 65 535.
    pub bytes: u64,
    /// Its departure time, nanoseconds.
    pub sent_at: u64,
    /// Its packet number space (`ccffi_space`).
    pub space: u32,
    /// Whether it counts in flight: ack-eliciting or padded (RFC 9002 section 2).
    pub in_flight: u8,
    /// Whether it is ack-eliciting.
    pub ack_eliciting: u8,
    /// Whether it carries stream or datagram data.
    pub carries_data: u8,
}

/// Whether a packet may be sent.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FfiSendDecision {
    /// With `CCFFI_SEND_AT`: not before this time, nanoseconds.
    pub at: u64,
    /// The answer (`ccffi_send`).
    pub send: u32,
    /// With `CCFFI_SEND_BLOCKED`: what stops it (`ccffi_send_limit`); a full ring is `CCFFI_SEND_LIMIT_UNKNOWN`.
    pub limit: u32,
}

/// What a frame ends with.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct FfiFrameEnd {
    /// The peer's ack delay as decoded from the frame, nanoseconds. Optional.
    pub ack_delay: u64,
    /// How many packets the frame newly acked that the path does not keep: ACK-only ones.
    pub untracked_acked: u64,
    /// Send time of the frame's largest acknowledged packet, if the frame newly acks it and the path does not keep it,
    /// nanoseconds. Optional.
    pub largest_untracked: u64,
    /// What made the stack declare the losses (`ccffi_loss_cause`); unknown counts as an ACK.
    pub cause: u32,
    /// Which optional fields are set: `CCFFI_FRAME_END_HAS_...`.
    pub has: u32,
}

/// What a frame came to.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct FfiFrameReport {
    /// Bytes newly acked that had not been declared lost.
    pub newly_acked: u64,
    /// Bytes newly declared lost.
    pub newly_lost: u64,
    /// Bytes acked after having been declared lost.
    pub late_acked: u64,
    /// Lowest number newly declared lost. Optional.
    pub lost_first: u64,
    /// Highest number newly declared lost. Optional. With loss detection by the path, a packet between them that the stack has
    /// not seen acked and that is no longer outstanding is lost.
    pub lost_last: u64,
    /// The RTT sample, ack delay included, nanoseconds. Optional.
    pub rtt_sample: u64,
    /// The raw rate sample. Optional.
    pub rate_sample: FfiRateSample,
    /// Which optional fields are set: `CCFFI_FRAME_REPORT_HAS_...`.
    pub has: u32,
    /// Whether the losses established persistent congestion.
    pub persistent_congestion: u8,
}

/// A packet in flight.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FfiOutstanding {
    /// Its number.
    pub number: u64,
    /// Its send time, nanoseconds.
    pub sent_at: u64,
    /// Its size in bytes.
    pub bytes: u64,
    /// Its packet number space (`ccffi_space`).
    pub space: u32,
}

plain!(FfiPathConfig FfiOutgoingPacket FfiSendDecision FfiFrameEnd FfiFrameReport FfiOutstanding);

impl FfiPathConfig {
    pub(crate) fn to_core(self, setup: &Setup) -> Result<PathConfig, Status> {
        check_has(
            self.has,
            CCFFI_PATH_CONFIG_HAS_MAX_ACK_DELAY
                | CCFFI_PATH_CONFIG_HAS_LOSS_DETECTION
                | CCFFI_PATH_CONFIG_HAS_THRESHOLDS,
        )?;
        let default = PathConfig::default();
        let thresholds = LossDetection {
            packet_threshold: self.packet_threshold,
            time_numerator: self.time_numerator,
            time_denominator: self.time_denominator,
        };
        let thresholds = optional(self.has, CCFFI_PATH_CONFIG_HAS_THRESHOLDS, thresholds).unwrap_or_default();
        Ok(PathConfig {
            now: setup.now,
            max_datagram_size: setup.max_datagram_size,
            initial_rtt: setup.initial_rtt.unwrap_or(default.initial_rtt),
            max_ack_delay: optional(self.has, CCFFI_PATH_CONFIG_HAS_MAX_ACK_DELAY, span(self.max_ack_delay))
                .unwrap_or(default.max_ack_delay),
            loss_detection: optional(self.has, CCFFI_PATH_CONFIG_HAS_LOSS_DETECTION, thresholds),
        })
    }
}

impl FfiOutgoingPacket {
    pub(crate) fn to_core(self) -> Result<OutgoingPacket, Status> {
        Ok(OutgoingPacket {
            space: Raw::from_raw(self.space)?,
            bytes: self.bytes,
            in_flight: self.in_flight != 0,
            ack_eliciting: self.ack_eliciting != 0,
            carries_data: self.carries_data != 0,
            sent_at: at(self.sent_at),
        })
    }
}

impl FfiSendDecision {
    pub(crate) fn from_core(decision: SendDecision) -> Self {
        let (send, at, limit) = match decision {
            SendDecision::Now => (FfiSend::Now, 0, 0),
            SendDecision::At(at) => (FfiSend::At, at.as_nanos(), 0),
            SendDecision::Blocked(limit) => (FfiSend::Blocked, 0, limit.to_raw()),
        };
        Self { at, send: send as u32, limit }
    }
}

impl FfiFrameEnd {
    pub(crate) fn to_core(self) -> Result<FrameEnd, Status> {
        check_has(self.has, CCFFI_FRAME_END_HAS_ACK_DELAY | CCFFI_FRAME_END_HAS_LARGEST_UNTRACKED)?;
        let cause: Option<LossCause> = Raw::from_raw(self.cause)?;
        Ok(FrameEnd {
            ack_delay: optional(self.has, CCFFI_FRAME_END_HAS_ACK_DELAY, span(self.ack_delay)),
            cause: cause.unwrap_or(LossCause::Ack),
            untracked_acked: self.untracked_acked,
            largest_untracked: optional(
                self.has,
                CCFFI_FRAME_END_HAS_LARGEST_UNTRACKED,
                at(self.largest_untracked),
            ),
        })
    }
}

impl FfiFrameReport {
    pub(crate) fn from_core(report: &FrameReport) -> Self {
        let (lost_first, lost_last) = report.lost_span.unwrap_or_default();
        Self {
            newly_acked: report.newly_acked,
            newly_lost: report.newly_lost,
            late_acked: report.late_acked,
            lost_first,
            lost_last,
            rtt_sample: report.rtt_sample.unwrap_or_default().as_nanos(),
            rate_sample: report.rate_sample.as_ref().map(FfiRateSample::from_core).unwrap_or_default(),
            has: bit_if(report.lost_span, CCFFI_FRAME_REPORT_HAS_LOST_SPAN)
                | bit_if(report.rtt_sample, CCFFI_FRAME_REPORT_HAS_RTT_SAMPLE)
                | bit_if(report.rate_sample, CCFFI_FRAME_REPORT_HAS_RATE_SAMPLE),
            persistent_congestion: report.persistent_congestion.into(),
        }
    }
}

impl FfiOutstanding {
    pub(crate) fn from_core(packet: &Outstanding) -> Self {
        Self {
            number: packet.number,
            sent_at: packet.sent_at.as_nanos(),
            bytes: packet.bytes,
            space: packet.space.to_raw(),
        }
    }
}
