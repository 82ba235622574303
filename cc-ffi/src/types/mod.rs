//! What crosses the boundary: plain structs of integers, and how they become the types of `cc-core` and back.
//!
//! Fields that name one of several values are integers on this side too, since C may write anything into them. A flag is a byte
//! of which 0 is "no" and everything else is "yes". Optional fields are there if their bit in `has` is set.

/// Says of `repr(C)` structs of integers that they are plain data.
macro_rules! plain {
    ($($name:ident)+) => {$(
        // SAFETY: integers, arrays and structs of integers, `repr(C)`.
        #[expect(unsafe_code, reason = "plain data from and for C")]
        unsafe impl crate::memory::Plain for $name {}
    )+};
}

mod enums;
mod events;
mod outputs;
mod packets;
mod path;
mod setup;

#[cfg(test)]
mod tests;

pub use enums::{
    FfiDiscardReason, FfiEcn, FfiLossCause, FfiMtuChange, FfiPathChange, FfiSamplingRule, FfiSend,
    FfiSendLimit, FfiSpace,
};
pub use events::{
    CCFFI_ACK_HAS_APP_LIMITED_AT, CCFFI_ACK_HAS_NEWEST_DATA_SENT_AT, CCFFI_ACK_HAS_RATE_SAMPLE,
    CCFFI_ECN_HAS_CE, CCFFI_ECN_HAS_ECT0, CCFFI_ECN_HAS_ECT1, CCFFI_ECN_HAS_LARGEST_ACKED,
    CCFFI_ECN_HAS_NEWLY_ACKED, CCFFI_PATH_HAS_OLDEST_OUTSTANDING, CCFFI_PATH_HAS_RTT,
    CCFFI_RATE_SAMPLE_HAS_NUMBER, CCFFI_RTT_HAS_ACK_DELAY, FfiAck, FfiEcnEvent, FfiLoss, FfiPathState,
    FfiRateSample, FfiRtt,
};
pub use outputs::{
    CCFFI_OUTPUTS_HAS_PACING_RATE, CCFFI_OUTPUTS_HAS_WANTED_ACK_POLICY, CCFFI_PHASE_SIZE,
    CCFFI_SNAPSHOT_HAS_BANDWIDTH, CCFFI_SNAPSHOT_HAS_MODEL_RTT, CCFFI_SNAPSHOT_HAS_PACING_RATE,
    CCFFI_SNAPSHOT_HAS_SSTHRESH, CCFFI_UNPACED, FfiOutputs, FfiSnapshot,
};
pub use packets::{
    CCFFI_ACKED_HAS_NUMBER, CCFFI_ACKED_HAS_PACKETS, CCFFI_ACKED_HAS_RECEIVED_AT, CCFFI_ACKED_HAS_SNAPSHOT,
    CCFFI_LOST_HAS_NUMBER, CCFFI_LOST_HAS_SNAPSHOT, CCFFI_LOST_HAS_STARTS_RUN,
    CCFFI_PACKET_SNAPSHOT_HAS_DELIVERED_AT, CCFFI_SPURIOUS_LOSS_HAS_NUMBER, FfiAckedPacket, FfiLostPacket,
    FfiPacketSnapshot, FfiSentPacket, FfiSpuriousLoss,
};
pub use path::{
    CCFFI_FRAME_END_HAS_ACK_DELAY, CCFFI_FRAME_END_HAS_LARGEST_UNTRACKED, CCFFI_FRAME_REPORT_HAS_LOST_SPAN,
    CCFFI_FRAME_REPORT_HAS_RATE_SAMPLE, CCFFI_FRAME_REPORT_HAS_RTT_SAMPLE,
    CCFFI_PATH_CONFIG_HAS_LOSS_DETECTION, CCFFI_PATH_CONFIG_HAS_MAX_ACK_DELAY,
    CCFFI_PATH_CONFIG_HAS_THRESHOLDS, FfiFrameEnd, FfiFrameReport, FfiOutgoingPacket, FfiOutstanding,
    FfiPathConfig, FfiSendDecision,
};
pub use setup::{
    CCFFI_SETUP_HAS_INITIAL_RTT, CCFFI_SETUP_HAS_INITIAL_WINDOW, CCFFI_SETUP_HAS_RESUME, FfiSetup,
};

pub(crate) use enums::Raw;
pub(crate) use outputs::raw_pacing_rate;

use crate::Status;
use cc_core::{Duration, Instant};

/// Refuses bits of `has` that are not in `known`: the caller meant something that this version does not have.
const fn check_has(has: u32, known: u32) -> Result<(), Status> {
    if has & !known == 0 { Ok(()) } else { Err(Status::InvalidHas) }
}

/// `value` if the bit is set.
fn optional<T>(has: u32, bit: u32, value: T) -> Option<T> {
    (has & bit != 0).then_some(value)
}

/// The bit if there is a value.
const fn bit_if<T>(value: Option<T>, bit: u32) -> u32
where
    T: Copy,
{
    if value.is_some() { bit } else { 0 }
}

const fn at(nanos: u64) -> Instant {
    Instant::from_nanos(nanos)
}

const fn span(nanos: u64) -> Duration {
    Duration::from_nanos(nanos)
}

/// The size of a datagram; 0 is a field that was forgotten. The rest of the range is clamped by the controllers.
const fn datagram_size(bytes: u64) -> Result<u64, Status> {
    if bytes == 0 { Err(Status::InvalidDatagramSize) } else { Ok(bytes) }
}
