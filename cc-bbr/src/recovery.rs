//! Modulating the window in loss recovery (section 5.6.4.4), with the recovery periods of RFC 9002 section 7.3.2.

use crate::Bbr;
use cc_core::{AckEvent, AckedPacket, LostPacket, PathState, SendMark};

/// How the newest recovery period stands. It lasts from a loss until a packet that was sent after it is acked.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Recovery {
    /// There was none.
    #[default]
    Never,
    /// `InLossRecovery()`.
    Running,
    /// The same, with persistent congestion, QUIC's equivalent of an RTO.
    Persistent,
    /// It is over. Losses of packets sent before it still begin no other.
    Over,
}

impl Bbr {
    /// `OnEnterFastRecovery()`, with the first lost packet that was sent after the start of the last period.
    pub(crate) fn enter_recovery(&mut self, path: &PathState, packet: &LostPacket) {
        let is_known = self.recovery != Recovery::Never;
        if is_known && self.recovery_start.covers(packet.number, packet.sent_at) {
            return;
        }
        self.save_cwnd();
        self.save_state_upon_loss();
        (self.recovery, self.recovery_start) = (Recovery::Running, SendMark::new(path));
        self.congestion_events = self.congestion_events.saturating_add(1);
    }

    /// `OnEnterRTO()`, upon persistent congestion (RFC 9002 section 7.6): the minimum window of that section, which is less than
    /// the flight and one packet in all cases but the smallest. The state before was saved with the first loss, and comes back
    /// by an undo only.
    pub(crate) fn on_persistent_congestion(&mut self, path: &PathState) {
        (self.recovery, self.recovery_start) = (Recovery::Persistent, SendMark::new(path));
        self.cwnd = self.cwnd.min(self.settings.min_window());
        self.prior_cwnd = self.cwnd;
    }

    /// `InLossRecovery()`.
    pub(crate) const fn in_loss_recovery(&self) -> bool {
        matches!(self.recovery, Recovery::Running | Recovery::Persistent)
    }

    /// Whether persistent congestion keeps the window at the minimum.
    pub(crate) const fn is_collapsed(&self) -> bool {
        matches!(self.recovery, Recovery::Persistent)
    }

    /// The recovery period ends, whatever is to become of the window.
    pub(crate) const fn end_recovery(&mut self) {
        if self.in_loss_recovery() {
            self.recovery = Recovery::Over;
        }
    }

    /// Whether these acks end the recovery period.
    pub(crate) fn ends_recovery(&self, ack: &AckEvent<'_>) -> bool {
        let is_later = |packet: &AckedPacket| !self.recovery_start.covers(packet.number, packet.sent_at);
        self.in_loss_recovery() && ack.packets.iter().any(is_later)
    }

    /// The recovery period is over: the last good window is back, within what the model allows. After persistent
    /// congestion the window grows with the acks instead.
    pub(crate) fn leave_recovery(&mut self) {
        if !self.is_collapsed() {
            self.restore_cwnd();
        }
        self.end_recovery();
    }

    /// `SaveCwnd()`.
    pub(crate) fn save_cwnd(&mut self) {
        self.prior_cwnd = if !self.in_loss_recovery() && !self.state.is_probe_rtt() {
            self.cwnd
        } else {
            self.prior_cwnd.max(self.cwnd)
        };
    }

    /// `RestoreCwnd()`.
    pub(crate) fn restore_cwnd(&mut self) {
        self.cwnd = self.cwnd.max(self.prior_cwnd);
    }
}
