//! Read access for logs and tests: nothing here is needed to drive a controller.

use crate::Cubic;
use crate::state::{INFINITE, Phase};
use cc_core::{Duration, Instant, SlowStart, Utilisation};

impl<S: SlowStart> Cubic<S> {
    /// Slow-start threshold in bytes; `None` while it is infinite.
    #[must_use]
    pub fn ssthresh(&self) -> Option<u64> {
        (self.state.ssthresh != INFINITE).then_some(self.state.ssthresh)
    }

    /// `W_max` in bytes (RFC 9438 section 4.1.2): the window before the last reduction, lower after fast convergence, and
    /// the window at its start for a stage that none precedes (after HyStart++, a timeout or a resumption). 0 in the
    /// initial slow start.
    #[must_use]
    pub const fn w_max(&self) -> u64 {
        self.state.w_max
    }

    /// `cwnd_prior` in bytes (RFC 9438 section 4.1.2): the window when the threshold was last set; 0 before.
    #[must_use]
    pub const fn cwnd_prior(&self) -> u64 {
        self.state.cwnd_prior
    }

    /// `K` of the running congestion avoidance stage (RFC 9438 section 4.2).
    #[must_use]
    pub const fn k(&self) -> Option<Duration> {
        match &self.state.phase {
            Phase::Avoidance(stage) => Some(stage.k),
            Phase::SlowStart | Phase::Recovery => None,
        }
    }

    /// `W_est` in bytes, rounded down, of the running congestion avoidance stage (RFC 9438 section 4.3).
    #[must_use]
    pub const fn w_est(&self) -> Option<u64> {
        match &self.state.phase {
            Phase::Avoidance(stage) => Some(stage.w_est.whole()),
            Phase::SlowStart | Phase::Recovery => None,
        }
    }

    /// `t_epoch`: start of the running congestion avoidance stage, moved later by time that does not count
    /// (RFC 9438 section 4.2).
    #[must_use]
    pub const fn epoch(&self) -> Option<Instant> {
        match &self.state.phase {
            Phase::Avoidance(stage) => Some(stage.epoch),
            Phase::SlowStart | Phase::Recovery => None,
        }
    }

    /// Whether a recovery period is running (RFC 9002 section 7.3.2).
    #[must_use]
    pub fn in_recovery(&self) -> bool {
        self.state.phase == Phase::Recovery
    }

    /// Whether the window was used at the newest ACK (RFC 9002 section 7.8).
    #[must_use]
    pub const fn utilisation(&self) -> &Utilisation {
        &self.utilisation
    }

    /// The slow-start algorithm.
    #[must_use]
    pub const fn slow_start(&self) -> &S {
        &self.slow_start
    }
}
