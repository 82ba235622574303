//! Settings of a controller.

use cc_core::{EcnCodepoint, IncreaseRule, MAX_DATAGRAM_SIZE, Setup, initial_window};

/// Largest window in bytes (1 TiB): more than a path of 1 Tbit/s holds in 8 s. It bounds the arithmetic.
pub const MAX_WINDOW: u64 = 1 << 40;

/// `kMinimumWindow` in datagrams (RFC 9002 section 7.2).
const MIN_WINDOW_DATAGRAMS: u64 = 2;

/// `N` of RFC 9002 section 7.7 in percent: the example that it gives.
const PACING_PERCENT: u16 = 125;

/// How a [`Reno`](crate::Reno) is set up. `..Config::default()` fills in what RFC 9002 recommends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Config {
    /// Maximum datagram size at the start, in bytes; taken as at least 1 and at most 65527. Default 1200.
    pub max_datagram_size: u64,
    /// Initial window in bytes; `None` (default) for RFC 9002 section 7.2, computed anew when the handshake changes the
    /// datagram size. At least two datagrams are used.
    pub initial_window: Option<u64>,
    /// Largest window in bytes; at most [`MAX_WINDOW`] (default) and at least two datagrams are used.
    pub max_window: u64,
    /// Ask for ECT(0) on outgoing packets. Default true.
    pub ecn: bool,
    /// When the window may grow. Default RFC 9002 section 7.8.
    pub increase_rule: IncreaseRule,
    /// Pacing rate as a percentage of window / smoothed RTT (`N` of RFC 9002 section 7.7); at least 100 is used.
    /// Default 125.
    pub pacing_percent: u16,
}

impl From<Setup> for Config {
    /// NewReno takes its times from events, needs no RTT before the first sample (it does not pace until then), draws
    /// no random numbers, uses no saved window, and asks for ECT(0) where ECN is usable.
    fn from(setup: Setup) -> Self {
        Self {
            max_datagram_size: setup.max_datagram_size,
            initial_window: setup.initial_window,
            ecn: setup.ecn != EcnCodepoint::NotEct,
            ..Self::default()
        }
    }
}

impl Default for Config {
    fn default() -> Self {
        Self {
            max_datagram_size: 1_200,
            initial_window: None,
            max_window: MAX_WINDOW,
            ecn: true,
            increase_rule: IncreaseRule::Rfc9002,
            pacing_percent: PACING_PERCENT,
        }
    }
}

/// What a controller keeps of its configuration, with the current datagram size.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Settings {
    /// `None` for RFC 9002 section 7.2.
    initial_window: Option<u64>,
    max_window: u64,
    datagram: u16,
    pub(crate) pacing_percent: u16,
    pub(crate) ecn: bool,
    pub(crate) increase_rule: IncreaseRule,
}

impl Settings {
    pub(crate) fn new(config: &Config) -> Self {
        Self {
            initial_window: config.initial_window,
            max_window: config.max_window.min(MAX_WINDOW),
            datagram: clamp_datagram(config.max_datagram_size),
            pacing_percent: config.pacing_percent.max(100),
            ecn: config.ecn,
            increase_rule: config.increase_rule,
        }
    }

    /// Maximum datagram size in bytes, 1 to 65527.
    pub(crate) const fn datagram(&self) -> u64 {
        self.datagram as u64
    }

    /// Whether that maximum datagram size is the one in force.
    #[inline]
    pub(crate) fn is_datagram(&self, bytes: u64) -> bool {
        clamp_datagram(bytes) == self.datagram
    }

    /// Sets the maximum datagram size; returns whether it changed.
    pub(crate) fn set_datagram(&mut self, bytes: u64) -> bool {
        let datagram = clamp_datagram(bytes);
        core::mem::replace(&mut self.datagram, datagram) != datagram
    }

    /// `kMinimumWindow` (RFC 9002 section 7.2).
    pub(crate) const fn min_window(&self) -> u64 {
        self.datagram().saturating_mul(MIN_WINDOW_DATAGRAMS)
    }

    pub(crate) fn max_window(&self) -> u64 {
        self.max_window.max(self.min_window())
    }

    /// `kInitialWindow` (RFC 9002 section 7.2).
    pub(crate) fn initial_window(&self) -> u64 {
        let bytes = self.initial_window.unwrap_or_else(|| initial_window(self.datagram()));
        self.limited(bytes)
    }

    /// The window within its limits; the minimum holds where they cross.
    pub(crate) fn limited(&self, window: u64) -> u64 {
        // Not `clamp`, which has a panic for limits that cross.
        window.min(self.max_window).max(self.min_window())
    }
}

fn clamp_datagram(bytes: u64) -> u16 {
    u16::try_from(bytes.clamp(1, MAX_DATAGRAM_SIZE)).unwrap_or(u16::MAX)
}
