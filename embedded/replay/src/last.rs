//! What a difference is a difference to, and the marks of a file: shared by both directions.

/// The last row of words of each kind of structure. Kinds that are rare start from zeros each time and are not here.
#[derive(Clone, Debug, Default)]
pub(crate) struct Last {
    pub(crate) path: [u64; 13],
    pub(crate) sent: [u64; 5],
    pub(crate) acked: [u64; 13],
    pub(crate) ack: [u64; 5],
    pub(crate) sample: [u64; 16],
    pub(crate) lost: [u64; 11],
    pub(crate) ecn: [u64; 8],
    pub(crate) rtt: [u64; 4],
}

/// What stands before each part of a file.
pub(crate) mod mark {
    pub(crate) const END_OF_TRACE: u8 = 0;
    pub(crate) const PACKET_SENT: u8 = 1;
    pub(crate) const ACK: u8 = 2;
    pub(crate) const LOSS: u8 = 3;
    pub(crate) const ECN: u8 = 4;
    pub(crate) const RTT: u8 = 5;
    pub(crate) const APP_LIMITED: u8 = 6;
    pub(crate) const IDLE_RESTART: u8 = 7;
    pub(crate) const SPURIOUS_LOSS: u8 = 8;
    pub(crate) const DISCARDED: u8 = 9;
    pub(crate) const MTU_UPDATE: u8 = 10;
    pub(crate) const PATH_CHANGE: u8 = 11;
    pub(crate) const RESUME_HINT: u8 = 12;
    pub(crate) const ACK_POLICY: u8 = 13;
    pub(crate) const ECN_STATE: u8 = 14;
    pub(crate) const TRACE: u8 = 32;
    pub(crate) const END_OF_FILE: u8 = 33;
}
