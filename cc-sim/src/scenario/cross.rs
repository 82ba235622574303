//! Traffic that belongs to no flow and does not react.

use super::Direction;

/// A source of datagrams of one size, evenly spaced while it is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CrossTraffic {
    /// Which link it loads.
    pub direction: Direction,
    /// Its rate while it is on, in bits per second. At most one datagram a microsecond leaves.
    pub rate_bps: u64,
    /// Size of its datagrams, in bytes.
    pub packet_bytes: u64,
    /// When it starts, in microseconds of virtual time, with an on period.
    pub start_us: u64,
    /// When it stops for good; `None` for never.
    pub stop_us: Option<u64>,
    /// When it is on.
    pub pattern: Pattern,
}

/// When a source is on. Each on period starts with a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// Always: a constant bit rate.
    Constant,
    /// On and off in turn.
    OnOff {
        /// Length of the on periods, in microseconds.
        on_us: u64,
        /// Length of the off periods, in microseconds.
        off_us: u64,
        /// Whether these are the means of exponential distributions instead.
        random: bool,
    },
}
