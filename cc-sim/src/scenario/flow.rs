//! Who sends what, and when.

/// A bulk transfer requested by the client right after its handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// Bytes of the answer.
    pub bytes: u64,
    /// When the client starts its handshake, in microseconds.
    pub start_us: u64,
}

/// Saved state for careful resume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resume {
    /// Saved congestion window in bytes.
    pub cwnd_bytes: u64,
    /// Saved RTT in microseconds.
    pub rtt_us: u64,
}
