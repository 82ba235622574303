//! Packets sent, acked and lost.

use super::{Raw, at, bit_if, check_has, optional};
use crate::Status;
use cc_core::{AckedPacket, LostPacket, PacketSnapshot, PeerInstant, SentPacket, SpuriousLoss};

/// `delivered_at` is set: there was a reference point.
pub const CCFFI_PACKET_SNAPSHOT_HAS_DELIVERED_AT: u32 = 1;
/// `number` is set.
pub const CCFFI_ACKED_HAS_NUMBER: u32 = 1;
/// `packets` is set.
pub const CCFFI_ACKED_HAS_PACKETS: u32 = 2;
/// `received_at` is set.
pub const CCFFI_ACKED_HAS_RECEIVED_AT: u32 = 4;
/// `snapshot` is set.
pub const CCFFI_ACKED_HAS_SNAPSHOT: u32 = 8;
/// `number` is set.
pub const CCFFI_LOST_HAS_NUMBER: u32 = 1;
/// `snapshot` is set.
pub const CCFFI_LOST_HAS_SNAPSHOT: u32 = 2;
/// `starts_run` is set.
pub const CCFFI_LOST_HAS_STARTS_RUN: u32 = 4;
/// `number` is set.
pub const CCFFI_SPURIOUS_LOSS_HAS_NUMBER: u32 = 1;

/// A packet that was handed to the network.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct FfiSentPacket {
    /// Its number; larger than that of any packet sent before on the path, in whatever packet number space.
    pub number: u64,
    /// Its size in bytes, UDP payload.
    pub bytes: u64,
    /// Its departure time, nanoseconds (may be later than now where the stack paces by departure time).
    pub sent_at: u64,
    /// Its packet number space (`ccffi_space`).
    pub space: u32,
    /// Whether it counts in flight: ack-eliciting or padded (RFC 9002 section 2).
    pub in_flight: u8,
    /// Whether it carries stream or datagram data.
    pub carries_data: u8,
}

/// Delivery state that is stored with a packet when it is sent and comes back with its ack or loss (draft-ietf-ccwg-bbr).
/// `ccffi_rate_on_sent` makes it.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct FfiPacketSnapshot {
    /// Bytes delivered at the reference point, 0 if there was none.
    pub delivered: u64,
    /// Time of the reference point, nanoseconds. Optional.
    pub delivered_at: u64,
    /// Send time of the packet that made the reference point, nanoseconds.
    pub first_sent_at: u64,
    /// Bytes declared lost when the packet was sent.
    pub lost: u64,
    /// Bytes in flight just after it was sent, itself included.
    pub bytes_in_flight: u64,
    /// Which optional fields are set: `CCFFI_PACKET_SNAPSHOT_HAS_...`.
    pub has: u32,
    /// Whether the connection was application-limited when it was sent.
    pub app_limited: u8,
}

/// One entry of the packets newly acknowledged by a frame. It may stand for several packets where the stack knows sums only: then
/// number, send time and snapshot are those of the newest.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct FfiAckedPacket {
    /// Its number. Optional.
    pub number: u64,
    /// Its send time, nanoseconds.
    pub sent_at: u64,
    /// Bytes acknowledged.
    pub bytes: u64,
    /// When the peer received it, on the peer's clock, nanoseconds (draft-ietf-quic-receive-ts). Optional.
    pub received_at: u64,
    /// Delivery state at its send. Optional.
    pub snapshot: FfiPacketSnapshot,
    /// How many packets the entry stands for. Optional: else one or more.
    pub packets: u32,
    /// Its packet number space (`ccffi_space`).
    pub space: u32,
    /// Which optional fields are set: `CCFFI_ACKED_HAS_...`.
    pub has: u32,
    /// Whether it had been declared lost before (a spurious loss).
    pub was_lost: u8,
}

/// A packet declared lost by packet or time threshold (RFC 9002 section 6.1). A probe timeout is no event.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct FfiLostPacket {
    /// Its number. Optional.
    pub number: u64,
    /// Its send time, nanoseconds.
    pub sent_at: u64,
    /// Its size in bytes.
    pub bytes: u64,
    /// Delivery state at its send. Optional.
    pub snapshot: FfiPacketSnapshot,
    /// Its packet number space (`ccffi_space`).
    pub space: u32,
    /// Which optional fields are set: `CCFFI_LOST_HAS_...`.
    pub has: u32,
    /// Whether the packet sent just before it was not lost. Optional.
    pub starts_run: u8,
}

/// A packet declared lost that turned out to have arrived.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct FfiSpuriousLoss {
    /// Its number. Optional.
    pub number: u64,
    /// Its send time, nanoseconds.
    pub sent_at: u64,
    /// Its size in bytes.
    pub bytes: u64,
    /// Which optional fields are set: `CCFFI_SPURIOUS_LOSS_HAS_...`.
    pub has: u32,
}

plain!(FfiSentPacket FfiPacketSnapshot FfiAckedPacket FfiLostPacket FfiSpuriousLoss);

impl FfiSentPacket {
    pub(crate) fn to_core(self) -> Result<SentPacket, Status> {
        Ok(SentPacket {
            number: self.number,
            space: Raw::from_raw(self.space)?,
            bytes: self.bytes,
            in_flight: self.in_flight != 0,
            sent_at: at(self.sent_at),
            carries_data: self.carries_data != 0,
        })
    }
}

impl FfiPacketSnapshot {
    pub(crate) fn to_core(self) -> Result<PacketSnapshot, Status> {
        check_has(self.has, CCFFI_PACKET_SNAPSHOT_HAS_DELIVERED_AT)?;
        Ok(PacketSnapshot {
            delivered: self.delivered,
            delivered_at: optional(self.has, CCFFI_PACKET_SNAPSHOT_HAS_DELIVERED_AT, at(self.delivered_at)),
            first_sent_at: at(self.first_sent_at),
            lost: self.lost,
            bytes_in_flight: self.bytes_in_flight,
            app_limited: self.app_limited != 0,
        })
    }

    pub(crate) fn from_core(snapshot: &PacketSnapshot) -> Self {
        Self {
            delivered: snapshot.delivered,
            delivered_at: snapshot.delivered_at.unwrap_or_default().as_nanos(),
            first_sent_at: snapshot.first_sent_at.as_nanos(),
            lost: snapshot.lost,
            bytes_in_flight: snapshot.bytes_in_flight,
            has: bit_if(snapshot.delivered_at, CCFFI_PACKET_SNAPSHOT_HAS_DELIVERED_AT),
            app_limited: snapshot.app_limited.into(),
        }
    }
}

/// The snapshot if `has` says that it is there; what is not there is not looked at.
fn optional_snapshot(
    has: u32,
    bit: u32,
    snapshot: FfiPacketSnapshot,
) -> Result<Option<PacketSnapshot>, Status> {
    optional(has, bit, snapshot).map(FfiPacketSnapshot::to_core).transpose()
}

impl FfiAckedPacket {
    pub(crate) fn to_core(self) -> Result<AckedPacket, Status> {
        check_has(
            self.has,
            CCFFI_ACKED_HAS_NUMBER
                | CCFFI_ACKED_HAS_PACKETS
                | CCFFI_ACKED_HAS_RECEIVED_AT
                | CCFFI_ACKED_HAS_SNAPSHOT,
        )?;
        let received_at = PeerInstant::from_nanos(self.received_at);
        Ok(AckedPacket {
            number: optional(self.has, CCFFI_ACKED_HAS_NUMBER, self.number),
            space: Raw::from_raw(self.space)?,
            sent_at: at(self.sent_at),
            bytes: self.bytes,
            packets: optional(self.has, CCFFI_ACKED_HAS_PACKETS, self.packets),
            received_at: optional(self.has, CCFFI_ACKED_HAS_RECEIVED_AT, received_at),
            snapshot: optional_snapshot(self.has, CCFFI_ACKED_HAS_SNAPSHOT, self.snapshot)?,
            was_lost: self.was_lost != 0,
        })
    }
}

impl FfiLostPacket {
    pub(crate) fn to_core(self) -> Result<LostPacket, Status> {
        check_has(self.has, CCFFI_LOST_HAS_NUMBER | CCFFI_LOST_HAS_SNAPSHOT | CCFFI_LOST_HAS_STARTS_RUN)?;
        Ok(LostPacket {
            number: optional(self.has, CCFFI_LOST_HAS_NUMBER, self.number),
            space: Raw::from_raw(self.space)?,
            sent_at: at(self.sent_at),
            bytes: self.bytes,
            snapshot: optional_snapshot(self.has, CCFFI_LOST_HAS_SNAPSHOT, self.snapshot)?,
            starts_run: optional(self.has, CCFFI_LOST_HAS_STARTS_RUN, self.starts_run != 0),
        })
    }
}

impl FfiSpuriousLoss {
    pub(crate) fn to_core(self) -> Result<SpuriousLoss, Status> {
        check_has(self.has, CCFFI_SPURIOUS_LOSS_HAS_NUMBER)?;
        Ok(SpuriousLoss::Packet {
            number: optional(self.has, CCFFI_SPURIOUS_LOSS_HAS_NUMBER, self.number),
            sent_at: at(self.sent_at),
            bytes: self.bytes,
        })
    }
}
