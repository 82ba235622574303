//! What a user chooses when a controller is made.

use crate::constants::INITIAL_WINDOW;
use cc_core::{EcnCodepoint, Instant, ResumeHint, Setup};

/// Parameters of a [`C4`](crate::C4). Start from the default: `Config { now, ..Config::default() }`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Config {
    /// Time of construction.
    pub now: Instant,
    /// Maximum datagram size in bytes, UDP payload. Clamped to 1 to 65 527.
    pub max_datagram_size: u64,
    /// Initial window in bytes, the same whatever the datagram size. Default 15 360 (the reference's); the value of
    /// RFC 9002 section 7.2 is allowed too. At least two datagrams are used.
    pub initial_window: u64,
    /// State saved from an earlier connection (RFC 9959); used if the first RTT sample is within a quarter of the
    /// saved RTT. May also come later by `on_resume_hint`.
    pub resume: Option<ResumeHint>,
    /// Codepoint on outgoing packets. Default ECT(1), which C4 asks for. On ECT(0) any CE counts as all packets
    /// marked; on [`EcnCodepoint::NotEct`] ECN counts are ignored.
    pub ecn: EcnCodepoint,
}

impl From<Setup> for Config {
    /// C4 needs no RTT before the first sample (it does not pace until then), draws no random numbers and leaves it to the
    /// stack to honour its pacing rate.
    fn from(setup: Setup) -> Self {
        Self {
            now: setup.now,
            max_datagram_size: setup.max_datagram_size,
            initial_window: setup.initial_window.unwrap_or(INITIAL_WINDOW),
            resume: setup.resume,
            ecn: setup.ecn,
        }
    }
}

impl Default for Config {
    fn default() -> Self {
        Self {
            now: Instant::ZERO,
            max_datagram_size: 1_200,
            initial_window: INITIAL_WINDOW,
            resume: None,
            ecn: EcnCodepoint::Ect1,
        }
    }
}
