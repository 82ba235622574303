//! The state of the path, and what concerns a frame as a whole.

use super::{FfiPacketSnapshot, Raw, at, bit_if, check_has, datagram_size, optional, span};
use crate::Status;
use cc_core::{
    AckEvent, AckedPacket, EcnEvent, LossEvent, LostPacket, PathRtt, PathState, RateSample, RttEvent,
};

/// `oldest_outstanding` is set.
pub const CCFFI_PATH_HAS_OLDEST_OUTSTANDING: u32 = 1;
/// `latest_rtt`, `smoothed_rtt`, `min_rtt` and `rtt_var` are set: there was an RTT sample.
pub const CCFFI_PATH_HAS_RTT: u32 = 2;
/// `number` is set.
pub const CCFFI_RATE_SAMPLE_HAS_NUMBER: u32 = 1;
/// `rate_sample` is set.
pub const CCFFI_ACK_HAS_RATE_SAMPLE: u32 = 1;
/// `app_limited_at` is set.
pub const CCFFI_ACK_HAS_APP_LIMITED_AT: u32 = 2;
/// `newest_data_sent_at` is set.
pub const CCFFI_ACK_HAS_NEWEST_DATA_SENT_AT: u32 = 4;
/// `ce` is set. Without it there was a mark, of unknown number.
pub const CCFFI_ECN_HAS_CE: u32 = 1;
/// `ect0` is set.
pub const CCFFI_ECN_HAS_ECT0: u32 = 2;
/// `ect1` is set.
pub const CCFFI_ECN_HAS_ECT1: u32 = 4;
/// `newly_acked` is set.
pub const CCFFI_ECN_HAS_NEWLY_ACKED: u32 = 8;
/// `largest_acked` is set.
pub const CCFFI_ECN_HAS_LARGEST_ACKED: u32 = 16;
/// `ack_delay` is set.
pub const CCFFI_RTT_HAS_ACK_DELAY: u32 = 1;

/// The state of the path that every event carries. For an ACK frame: the state after the whole frame, but for
/// `prior_bytes_in_flight` and `lost`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct FfiPathState {
    /// Time of the event, nanoseconds.
    pub now: u64,
    /// Bytes in flight after the whole frame or event.
    pub bytes_in_flight: u64,
    /// Bytes in flight before the frame or event.
    pub prior_bytes_in_flight: u64,
    /// Total bytes delivered so far, this frame's acks included.
    pub delivered: u64,
    /// Total bytes declared lost before this event.
    pub lost: u64,
    /// Number that the next packet sent will get.
    pub next_number: u64,
    /// Lowest number neither acked nor declared lost after this frame. Optional: if there is none, or the stack does not know it.
    pub oldest_outstanding: u64,
    /// Newest RTT sample, ack delay included, nanoseconds. Optional, the four RTTs together.
    pub latest_rtt: u64,
    /// Smoothed RTT, nanoseconds (RFC 9002 section 5.3). Optional.
    pub smoothed_rtt: u64,
    /// Minimum RTT, nanoseconds (RFC 9002 section 5.2). Optional.
    pub min_rtt: u64,
    /// RTT variation, nanoseconds (RFC 9002 section 5.3). Optional.
    pub rtt_var: u64,
    /// Current maximum datagram size in bytes: 1 to 65 527; larger counts as 65 527.
    pub max_datagram_size: u64,
    /// Which optional fields are set: `CCFFI_PATH_HAS_...`.
    pub has: u32,
    /// Whether the connection is application-limited now.
    pub app_limited: u8,
    /// Whether the handshake has not finished yet at this endpoint.
    pub in_handshake: u8,
}

/// The raw delivery-rate sample of one ACK frame (draft-ietf-ccwg-bbr, "Delivery Rate Samples"). `ccffi_rate_finish_frame` makes
/// it.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct FfiRateSample {
    /// Number of the newest newly acked packet. Optional.
    pub number: u64,
    /// Its send time, nanoseconds.
    pub sent_at: u64,
    /// Delivery state stored with it.
    pub snapshot: FfiPacketSnapshot,
    /// Bytes delivered in total now.
    pub delivered: u64,
    /// Its send time minus `snapshot.first_sent_at`, nanoseconds (0 without a reference point).
    pub send_interval: u64,
    /// Now minus `snapshot.delivered_at`, nanoseconds (0 without a reference point).
    pub ack_interval: u64,
    /// Bytes declared lost since it was sent, this frame's losses included.
    pub lost_since_sent: u64,
    /// Bytes newly acked by this frame that had not been declared lost.
    pub newly_acked: u64,
    /// Bytes newly declared lost by this frame.
    pub newly_lost: u64,
    /// Bytes acked by this frame after having been declared lost.
    pub late_acked: u64,
    /// Which optional fields are set: `CCFFI_RATE_SAMPLE_HAS_...`.
    pub has: u32,
    /// Whether the sample is application-limited.
    pub app_limited: u8,
    /// Whether this frame moved the reference point of the sampling rule in force: always with `CCFFI_SAMPLING_RULE_LAST_ACK`.
    pub moved_reference: u8,
}

/// What concerns an ACK frame as a whole.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct FfiAck {
    /// The raw rate sample of the whole frame. Optional.
    pub rate_sample: FfiRateSample,
    /// Largest bytes in flight since the last ACK, the prior value included.
    pub max_bytes_in_flight: u64,
    /// Last time that window and pacer allowed sending and no data was left, nanoseconds. Optional: if never.
    pub app_limited_at: u64,
    /// Send time of the newest packet acked so far that carried stream or datagram data, nanoseconds. Optional: if none was.
    pub newest_data_sent_at: u64,
    /// What stopped the last attempt to send (`ccffi_send_limit`).
    pub limited_by: u32,
    /// Which optional fields are set: `CCFFI_ACK_HAS_...`.
    pub has: u32,
    /// Whether the frame goes on in a further call.
    pub more: u8,
}

/// What concerns packets declared lost at one time as a whole.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct FfiLoss {
    /// What made the stack declare the loss (`ccffi_loss_cause`).
    pub cause: u32,
    /// Whether persistent congestion is established (RFC 9002 section 7.6).
    pub persistent_congestion: u8,
    /// Whether the losses go on in a further call.
    pub more: u8,
}

/// Validated ECN counts of an ACK frame that raised the largest acknowledged (RFC 9000 section 13.4.2), also when no CE mark came.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct FfiEcnEvent {
    /// Increase of the CE count. Optional: else there was one mark.
    pub ce: u64,
    /// Increase of the ECT(0) count. Optional.
    pub ect0: u64,
    /// Increase of the ECT(1) count. Optional.
    pub ect1: u64,
    /// Packets newly acked since the increases began. Optional.
    pub newly_acked: u64,
    /// Number of the largest acked packet. Optional.
    pub largest_acked: u64,
    /// Its send time, nanoseconds.
    pub largest_acked_sent_at: u64,
    /// Packet number space of the counts (`ccffi_space`).
    pub space: u32,
    /// Which optional fields are set: `CCFFI_ECN_HAS_...`.
    pub has: u32,
}

/// The RTT of the highest-numbered packet newly acked by a frame.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct FfiRtt {
    /// Raw: now minus its send time, ack delay included, nanoseconds; 0 if the clock went backwards.
    pub latest: u64,
    /// The peer's ack delay, clamped to its maximum, nanoseconds (RFC 9002 section 5.3). Optional.
    pub ack_delay: u64,
    /// Packet number space of the packet (`ccffi_space`).
    pub space: u32,
    /// Which optional fields are set: `CCFFI_RTT_HAS_...`.
    pub has: u32,
    /// Whether RFC 9002 section 5.1 accepts it as a sample (largest acked newly acked, ack-eliciting).
    pub is_sample: u8,
    /// Whether it is the first RTT seen on the path.
    pub is_first: u8,
}

plain!(FfiPathState FfiRateSample FfiAck FfiLoss FfiEcnEvent FfiRtt);

impl FfiPathState {
    pub(crate) fn to_core(self) -> Result<PathState, Status> {
        check_has(self.has, CCFFI_PATH_HAS_OLDEST_OUTSTANDING | CCFFI_PATH_HAS_RTT)?;
        let rtt = PathRtt {
            latest: span(self.latest_rtt),
            smoothed: span(self.smoothed_rtt),
            min: span(self.min_rtt),
            var: span(self.rtt_var),
        };
        Ok(PathState {
            now: at(self.now),
            bytes_in_flight: self.bytes_in_flight,
            prior_bytes_in_flight: self.prior_bytes_in_flight,
            delivered: self.delivered,
            lost: self.lost,
            next_number: self.next_number,
            oldest_outstanding: optional(
                self.has,
                CCFFI_PATH_HAS_OLDEST_OUTSTANDING,
                self.oldest_outstanding,
            ),
            rtt: optional(self.has, CCFFI_PATH_HAS_RTT, rtt),
            max_datagram_size: datagram_size(self.max_datagram_size)?,
            app_limited: self.app_limited != 0,
            handshake_ready: self.in_handshake == 0,
        })
    }

    pub(crate) fn from_core(state: &PathState) -> Self {
        let rtt =
            |of: fn(&PathRtt) -> cc_core::Duration| state.rtt.as_ref().map(of).unwrap_or_default().as_nanos();
        Self {
            now: state.now.as_nanos(),
            bytes_in_flight: state.bytes_in_flight,
            prior_bytes_in_flight: state.prior_bytes_in_flight,
            delivered: state.delivered,
            lost: state.lost,
            next_number: state.next_number,
            oldest_outstanding: state.oldest_outstanding.unwrap_or_default(),
            latest_rtt: rtt(|rtt| rtt.latest),
            smoothed_rtt: rtt(|rtt| rtt.smoothed),
            min_rtt: rtt(|rtt| rtt.min),
            rtt_var: rtt(|rtt| rtt.var),
            max_datagram_size: state.max_datagram_size,
            has: bit_if(state.oldest_outstanding, CCFFI_PATH_HAS_OLDEST_OUTSTANDING)
                | bit_if(state.rtt, CCFFI_PATH_HAS_RTT),
            app_limited: state.app_limited.into(),
            in_handshake: (!state.handshake_ready).into(),
        }
    }
}

impl FfiRateSample {
    pub(crate) fn to_core(self) -> Result<RateSample, Status> {
        check_has(self.has, CCFFI_RATE_SAMPLE_HAS_NUMBER)?;
        Ok(RateSample {
            number: optional(self.has, CCFFI_RATE_SAMPLE_HAS_NUMBER, self.number),
            sent_at: at(self.sent_at),
            snapshot: self.snapshot.to_core()?,
            delivered: self.delivered,
            send_interval: span(self.send_interval),
            ack_interval: span(self.ack_interval),
            lost_since_sent: self.lost_since_sent,
            newly_acked: self.newly_acked,
            newly_lost: self.newly_lost,
            late_acked: self.late_acked,
            app_limited: self.app_limited != 0,
            moved_reference: self.moved_reference != 0,
        })
    }

    pub(crate) fn from_core(sample: &RateSample) -> Self {
        Self {
            number: sample.number.unwrap_or_default(),
            sent_at: sample.sent_at.as_nanos(),
            snapshot: FfiPacketSnapshot::from_core(&sample.snapshot),
            delivered: sample.delivered,
            send_interval: sample.send_interval.as_nanos(),
            ack_interval: sample.ack_interval.as_nanos(),
            lost_since_sent: sample.lost_since_sent,
            newly_acked: sample.newly_acked,
            newly_lost: sample.newly_lost,
            late_acked: sample.late_acked,
            has: bit_if(sample.number, CCFFI_RATE_SAMPLE_HAS_NUMBER),
            app_limited: sample.app_limited.into(),
            moved_reference: sample.moved_reference.into(),
        }
    }
}

impl FfiAck {
    /// The event without its packets.
    pub(crate) fn to_core(self) -> Result<AckEvent<'static>, Status> {
        check_has(
            self.has,
            CCFFI_ACK_HAS_RATE_SAMPLE | CCFFI_ACK_HAS_APP_LIMITED_AT | CCFFI_ACK_HAS_NEWEST_DATA_SENT_AT,
        )?;
        const NONE: &[AckedPacket] = &[];
        Ok(AckEvent {
            packets: NONE,
            last: self.more == 0,
            rate_sample: optional(self.has, CCFFI_ACK_HAS_RATE_SAMPLE, self.rate_sample)
                .map(FfiRateSample::to_core)
                .transpose()?,
            limited_by: Raw::from_raw(self.limited_by)?,
            max_bytes_in_flight: self.max_bytes_in_flight,
            app_limited_at: optional(self.has, CCFFI_ACK_HAS_APP_LIMITED_AT, at(self.app_limited_at)),
            newest_data_sent_at: optional(
                self.has,
                CCFFI_ACK_HAS_NEWEST_DATA_SENT_AT,
                at(self.newest_data_sent_at),
            ),
        })
    }
}

impl FfiLoss {
    /// The event without its packets.
    pub(crate) fn to_core(self) -> Result<LossEvent<'static>, Status> {
        const NONE: &[LostPacket] = &[];
        Ok(LossEvent {
            packets: NONE,
            last: self.more == 0,
            persistent_congestion: self.persistent_congestion != 0,
            cause: Raw::from_raw(self.cause)?,
        })
    }
}

impl FfiEcnEvent {
    pub(crate) fn to_core(self) -> Result<EcnEvent, Status> {
        check_has(
            self.has,
            CCFFI_ECN_HAS_CE
                | CCFFI_ECN_HAS_ECT0
                | CCFFI_ECN_HAS_ECT1
                | CCFFI_ECN_HAS_NEWLY_ACKED
                | CCFFI_ECN_HAS_LARGEST_ACKED,
        )?;
        Ok(EcnEvent {
            space: Raw::from_raw(self.space)?,
            ce: optional(self.has, CCFFI_ECN_HAS_CE, self.ce),
            ect0: optional(self.has, CCFFI_ECN_HAS_ECT0, self.ect0),
            ect1: optional(self.has, CCFFI_ECN_HAS_ECT1, self.ect1),
            newly_acked: optional(self.has, CCFFI_ECN_HAS_NEWLY_ACKED, self.newly_acked),
            largest_acked: optional(self.has, CCFFI_ECN_HAS_LARGEST_ACKED, self.largest_acked),
            largest_acked_sent_at: at(self.largest_acked_sent_at),
        })
    }
}

impl FfiRtt {
    pub(crate) fn to_core(self) -> Result<RttEvent, Status> {
        check_has(self.has, CCFFI_RTT_HAS_ACK_DELAY)?;
        Ok(RttEvent {
            space: Raw::from_raw(self.space)?,
            latest: span(self.latest),
            ack_delay: optional(self.has, CCFFI_RTT_HAS_ACK_DELAY, span(self.ack_delay)),
            is_sample: self.is_sample != 0,
            is_first: self.is_first != 0,
        })
    }
}
