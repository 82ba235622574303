//! What a user chooses when a controller is made.

use cc_core::{Duration, Instant, ResumeHint, Setup};

/// Parameters of a [`Bbr`](crate::Bbr). Start from the default: `Config { seed, ..Config::default() }`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Config {
    /// Time of construction.
    pub now: Instant,
    /// Maximum datagram size in bytes, UDP payload (`C.SMSS`). Clamped to 1 to 65 527. Default 1200.
    pub max_datagram_size: u64,
    /// Initial window in bytes (`C.InitialCwnd`); `None` (default) for RFC 9002 section 7.2, computed anew when the handshake
    /// changes the datagram size. At least two datagrams are used.
    pub initial_window: Option<u64>,
    /// RTT from which the initial pacing rate is computed before the first sample; `None` (default) for 1 ms
    /// (section 5.6.2). It is never taken for a measurement.
    pub initial_rtt: Option<Duration>,
    /// Seed of the random waits between bandwidth probes. A factory derives a fresh one for each connection: flows that
    /// draw the same numbers probe together.
    pub seed: u64,
    /// State of an earlier connection (RFC 9959); may also come later by
    /// [`on_resume_hint`](cc_core::CongestionController::on_resume_hint). See the crate documentation.
    pub resume: Option<ResumeHint>,
}

impl From<Setup> for Config {
    /// BBR always paces, and asks for no ECN.
    fn from(setup: Setup) -> Self {
        Self {
            now: setup.now,
            max_datagram_size: setup.max_datagram_size,
            initial_window: setup.initial_window,
            initial_rtt: setup.initial_rtt,
            seed: setup.seed,
            resume: setup.resume,
        }
    }
}

impl Default for Config {
    fn default() -> Self {
        Setup::default().into()
    }
}
