//! Read access for logs and tests: nothing here is needed to drive a controller.

use crate::constants::INFINITE;
use crate::{Bbr, State};
use cc_core::{Duration, Rate};

impl Bbr {
    /// `BBR.state`.
    #[must_use]
    pub const fn state(&self) -> &State {
        &self.state
    }

    /// `BBR.max_bw`; [`Rate::ZERO`] before the first sample.
    #[must_use]
    pub const fn max_bw(&self) -> Rate {
        self.max_bw.get()
    }

    /// `BBR.bw`; [`Rate::ZERO`] before the first sample.
    #[must_use]
    pub const fn bw(&self) -> Rate {
        self.bw
    }

    /// `BBR.bw_shortterm`; `None` while it is infinite.
    #[must_use]
    pub fn bw_shortterm(&self) -> Option<Rate> {
        (self.bounds.bw_shortterm != Rate::MAX).then_some(self.bounds.bw_shortterm)
    }

    /// `BBR.inflight_shortterm` in bytes; `None` while it is infinite.
    #[must_use]
    pub fn inflight_shortterm(&self) -> Option<u64> {
        (self.bounds.inflight_shortterm != INFINITE).then_some(self.bounds.inflight_shortterm)
    }

    /// `BBR.inflight_longterm` in bytes; `None` while it is infinite.
    #[must_use]
    pub fn inflight_longterm(&self) -> Option<u64> {
        (self.bounds.inflight_longterm != INFINITE).then_some(self.bounds.inflight_longterm)
    }

    /// `BBR.min_rtt`; `None` before the first sample.
    #[must_use]
    pub fn min_rtt(&self) -> Option<Duration> {
        self.min_rtt.get()
    }

    /// `BBR.probe_rtt_min_delay`; `None` before the first sample.
    #[must_use]
    pub fn probe_rtt_min_delay(&self) -> Option<Duration> {
        self.min_rtt.probe_min()
    }

    /// `BBR.extra_acked` in bytes.
    #[must_use]
    pub const fn extra_acked(&self) -> u64 {
        self.extra_acked.get()
    }

    /// `Inflight(gain)` in bytes: what `gain` percent of the estimated BDP needs in flight.
    #[must_use]
    pub fn inflight_for(&self, gain: u32) -> u64 {
        self.inflight(self.bw, gain)
    }

    /// `InflightWithHeadroom()` in bytes; `None` while `inflight_longterm` is infinite.
    #[must_use]
    pub fn headroom_inflight(&self) -> Option<u64> {
        self.inflight_longterm().map(|_| self.inflight_with_headroom())
    }

    /// `BBR.round_count`.
    #[must_use]
    pub const fn round_count(&self) -> u64 {
        self.round.count
    }

    /// `BBR.full_bw_count`.
    #[must_use]
    pub const fn full_bw_count(&self) -> u8 {
        self.full_bw.count
    }

    /// `BBR.full_bw_now`.
    #[must_use]
    pub const fn full_bw_now(&self) -> bool {
        self.full_bw.now
    }

    /// `BBR.full_bw_reached`.
    #[must_use]
    pub const fn full_bw_reached(&self) -> bool {
        self.full_bw.reached
    }

    /// `BBR.idle_restart`.
    #[must_use]
    pub const fn idle_restart(&self) -> bool {
        self.idle_restart
    }

    /// `C.is_cwnd_limited`, as judged at the last ACK.
    #[must_use]
    pub const fn is_cwnd_limited(&self) -> bool {
        self.cwnd_limited.get()
    }

    /// Whether a recovery period is running (RFC 9002 section 7.3.2).
    #[must_use]
    pub const fn in_recovery(&self) -> bool {
        self.in_loss_recovery()
    }
}
