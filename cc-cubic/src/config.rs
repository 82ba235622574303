//! Settings of a controller.

use cc_core::{EcnCodepoint, IncreaseRule, MAX_DATAGRAM_SIZE, ResumeHint, Setup, initial_window};

/// Largest window in bytes (1 TiB): more than a path of 1 Tbit/s holds in 8 s. It bounds the arithmetic.
pub const MAX_WINDOW: u64 = 1 << 40;

/// The minimum window in datagrams (RFC 9002 section 7.2).
const MIN_WINDOW_DATAGRAMS: u64 = 2;

/// What part of a saved window is used at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ResumeJump {
    /// All of it, as picoquic does. More than RFC 9959 allows; for paths of one's own, and the default because
    /// the published C4 comparison runs CUBIC so.
    #[default]
    Whole,
    /// Half of it (RFC 9959, "Unvalidated Phase": the jump must be no more than half of the saved window); slow start
    /// goes on from there to the saved window.
    Half,
}

/// How a [`Cubic`](crate::Cubic) is set up. `..Config::default()` fills in what the RFCs recommend.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Config {
    /// Maximum datagram size at the start, in bytes; taken as at least 1 and at most 65527. Default 1200.
    pub max_datagram_size: u64,
    /// Initial window in bytes; `None` (default) for RFC 9002 section 7.2, computed anew when the handshake changes the
    /// datagram size. At least two datagrams are used.
    pub initial_window: Option<u64>,
    /// Largest window in bytes; at most [`MAX_WINDOW`] (default) and at least two datagrams are used.
    pub max_window: u64,
    /// Whether the stack paces: an unpaced one grows by at most 8 datagrams per ACK in slow start with
    /// HyStart++ (RFC 9406 section 4.3). Default true.
    pub paces: bool,
    /// Fast convergence (RFC 9438 section 4.7). Default true; to be switched off where one flow has the network
    /// for itself.
    pub fast_convergence: bool,
    /// Reduce to 0.85 instead of 0.7 of the window after a CE mark in congestion avoidance (ABE, RFC 8511). Default true.
    pub abe: bool,
    /// Undo reductions for losses that turn out spurious (RFC 9438 section 4.9.2). Default true.
    pub undo_spurious: bool,
    /// Ask for ECT(0) on outgoing packets. Default true.
    pub ecn: bool,
    /// When the window may grow. Default RFC 9002 section 7.8.
    pub increase_rule: IncreaseRule,
    /// Pacing rate as a percentage of window / smoothed RTT (`N` of RFC 9002 section 7.7); at least 100 is used.
    /// Default 125.
    pub pacing_percent: u16,
    /// The same in slow start, where some stacks use 200. Default 125: RFC 9002 makes no difference.
    pub slow_start_pacing_percent: u16,
    /// State of an earlier connection (RFC 9959); may also come later by
    /// [`on_resume_hint`](cc_core::CongestionController::on_resume_hint).
    ///
    /// A subset of RFC 9959. In it: the first RTT sample confirms the path if the saved RTT lies within a quarter of it
    /// (stricter than the RFC's half to tenfold); the window jumps once, does not grow until a packet sent after the
    /// jump is acked, and counts as validated when all packets sent until then are acked; a loss or CE mark before
    /// that retreats to half of what was acked ("safe retreat"), and the threshold follows from what the
    /// path turned out to carry. The threshold is set to the saved window, so congestion avoidance starts
    /// there, with `W_max` the window and `K` 0. Not in it: waiting for all of the initial window to be acked, and
    /// cutting an unused jump back to the flight (this window is kept, as RFC 9002 keeps any unused window).
    pub resume: Option<ResumeHint>,
    /// What part of the saved window is used at once.
    pub resume_jump: ResumeJump,
}

impl From<Setup> for Config {
    /// CUBIC takes its times from events, needs no RTT before the first sample (it does not pace until then), draws no
    /// random numbers, and always asks for ECT(0) where ECN is usable (RFC 8511).
    fn from(setup: Setup) -> Self {
        Self {
            max_datagram_size: setup.max_datagram_size,
            initial_window: setup.initial_window,
            paces: setup.paces,
            ecn: setup.ecn != EcnCodepoint::NotEct,
            resume: setup.resume,
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
            paces: true,
            fast_convergence: true,
            abe: true,
            undo_spurious: true,
            ecn: true,
            increase_rule: IncreaseRule::Rfc9002,
            pacing_percent: 125,
            slow_start_pacing_percent: 125,
            resume: None,
            resume_jump: ResumeJump::Whole,
        }
    }
}

/// What a controller keeps of its configuration, with the current datagram size.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Settings {
    /// 0 for RFC 9002 section 7.2.
    initial_window: u64,
    max_window: u64,
    datagram: u16,
    pub(crate) pacing_percent: u16,
    pub(crate) slow_start_pacing_percent: u16,
    pub(crate) fast_convergence: bool,
    pub(crate) abe: bool,
    pub(crate) undo_spurious: bool,
    pub(crate) ecn: bool,
    pub(crate) increase_rule: IncreaseRule,
    pub(crate) resume_jump: ResumeJump,
}

impl Settings {
    pub(crate) fn new(config: &Config) -> Self {
        Self {
            initial_window: config.initial_window.map_or(0, |bytes| bytes.max(1)),
            max_window: config.max_window.min(MAX_WINDOW),
            datagram: clamp_datagram(config.max_datagram_size),
            pacing_percent: config.pacing_percent.max(100),
            slow_start_pacing_percent: config.slow_start_pacing_percent.max(100),
            fast_convergence: config.fast_convergence,
            abe: config.abe,
            undo_spurious: config.undo_spurious,
            ecn: config.ecn,
            increase_rule: config.increase_rule,
            resume_jump: config.resume_jump,
        }
    }

    /// Maximum datagram size in bytes, 1 to 65527: the unit of the window.
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
        let changed = datagram != self.datagram;
        self.datagram = datagram;
        changed
    }

    /// RFC 9002 section 7.2.
    pub(crate) const fn min_window(&self) -> u64 {
        self.datagram().saturating_mul(MIN_WINDOW_DATAGRAMS)
    }

    pub(crate) fn max_window(&self) -> u64 {
        self.max_window.max(self.min_window())
    }

    pub(crate) fn initial_window(&self) -> u64 {
        let bytes =
            if self.initial_window == 0 { initial_window(self.datagram()) } else { self.initial_window };
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

#[cfg(test)]
mod tests {
    use super::{Config, EcnCodepoint, ResumeHint, Setup};
    use cc_core::Duration;

    #[test]
    fn a_setup_gives_what_it_says_and_the_defaults_for_the_rest() {
        let hint = ResumeHint { cwnd: 90_000, rtt: Duration::from_millis(30) };
        let setup = Setup {
            max_datagram_size: 1_440,
            initial_window: Some(40_000),
            resume: Some(hint),
            paces: false,
            ecn: EcnCodepoint::NotEct,
            ..Setup::default()
        };
        let expected = Config {
            max_datagram_size: 1_440,
            initial_window: Some(40_000),
            resume: Some(hint),
            paces: false,
            ecn: false,
            ..Config::default()
        };
        assert_eq!(Config::from(setup), expected);
        for usable in [EcnCodepoint::Ect0, EcnCodepoint::Ect1] {
            assert!(Config::from(Setup { ecn: usable, ..setup }).ecn, "{usable:?}");
        }
    }
}
