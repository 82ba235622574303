//! What a controller is made from.

use super::{Raw, at, check_has, datagram_size, optional, span};
use crate::Status;
use cc_core::{ResumeHint, Setup};

/// `initial_window` is set.
pub const CCFFI_SETUP_HAS_INITIAL_WINDOW: u32 = 1;
/// `initial_rtt` is set.
pub const CCFFI_SETUP_HAS_INITIAL_RTT: u32 = 2;
/// `resume_cwnd` and `resume_rtt` are set.
pub const CCFFI_SETUP_HAS_RESUME: u32 = 4;

/// Construction parameters. All zero but `max_datagram_size`: time zero, the algorithm's own initial window and RTT, a stack that
/// honours the pacing rate, ECN not usable.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct FfiSetup {
    /// Time of construction, nanoseconds since any epoch.
    pub now: u64,
    /// Maximum datagram size in bytes, UDP payload: 1 to 65 527; larger counts as 65 527.
    pub max_datagram_size: u64,
    /// Initial window in bytes. Optional: else the algorithm's own.
    pub initial_window: u64,
    /// RTT to assume before the first sample, nanoseconds. Optional: else the algorithm's own.
    pub initial_rtt: u64,
    /// Seed of all randomness. A fresh one for each connection.
    pub seed: u64,
    /// Congestion window saved from an earlier connection on the path, bytes (RFC 9959). Optional.
    pub resume_cwnd: u64,
    /// Minimum RTT saved with it, nanoseconds. Optional, with `resume_cwnd`.
    pub resume_rtt: u64,
    /// The codepoint that outgoing packets can carry (`ccffi_ecn`); ECT(1) stands for any.
    pub ecn: u32,
    /// Which optional fields are set: `CCFFI_SETUP_HAS_...`.
    pub has: u32,
    /// Whether the stack does not honour the pacing rate.
    pub unpaced: u8,
}

plain!(FfiSetup);

impl FfiSetup {
    pub(crate) fn to_core(self) -> Result<Setup, Status> {
        check_has(
            self.has,
            CCFFI_SETUP_HAS_INITIAL_WINDOW | CCFFI_SETUP_HAS_INITIAL_RTT | CCFFI_SETUP_HAS_RESUME,
        )?;
        let resume = ResumeHint { cwnd: self.resume_cwnd, rtt: span(self.resume_rtt) };
        Ok(Setup {
            now: at(self.now),
            max_datagram_size: datagram_size(self.max_datagram_size)?,
            initial_window: optional(self.has, CCFFI_SETUP_HAS_INITIAL_WINDOW, self.initial_window),
            initial_rtt: optional(self.has, CCFFI_SETUP_HAS_INITIAL_RTT, span(self.initial_rtt)),
            seed: self.seed,
            resume: optional(self.has, CCFFI_SETUP_HAS_RESUME, resume),
            paces: self.unpaced == 0,
            ecn: Raw::from_raw(self.ecn)?,
        })
    }
}
