//! Modulating the window in loss recovery (section 5.6.4.4), with the recovery periods of RFC 9002 section 7.3.2.

use crate::Bbr;
use cc_core::{AckEvent, LostPacket, PathState, SendMark};

/// The newest recovery period: from a loss until a packet that was sent after it is acked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Recovery {
    /// Losses of packets sent before it begin no other period, whether or not it is over.
    start: SendMark,
    /// `InLossRecovery()`: whether it still lasts.
    is_running: bool,
    /// Whether persistent congestion, QUIC's equivalent of an RTO, belongs to it.
    is_persistent: bool,
}

impl Bbr {
    /// `OnEnterFastRecovery()`, with the first lost packet that was sent after the start of the last period.
    pub(crate) fn enter_recovery(&mut self, path: &PathState, packet: &LostPacket) {
        if self.recovery.is_some_and(|recovery| recovery.start.covers(packet.number, packet.sent_at)) {
            return;
        }
        self.save_cwnd();
        self.save_state_upon_loss();
        self.recovery = Some(Recovery { start: SendMark::new(path), is_running: true, is_persistent: false });
        self.congestion_events = self.congestion_events.saturating_add(1);
    }

    /// `OnEnterRTO()`, upon persistent congestion (RFC 9002 section 7.6): the minimum window of that section, which is less than
    /// the flight and one packet in all cases but the smallest. The state before was saved with the first loss, and comes back
    /// by an undo only.
    pub(crate) fn on_persistent_congestion(&mut self, path: &PathState) {
        self.recovery = Some(Recovery { start: SendMark::new(path), is_running: true, is_persistent: true });
        self.cwnd = self.cwnd.min(self.settings.min_window());
        self.prior_cwnd = self.cwnd;
    }

    /// `InLossRecovery()`.
    pub(crate) fn in_loss_recovery(&self) -> bool {
        self.recovery.is_some_and(|recovery| recovery.is_running)
    }

    /// Whether persistent congestion keeps the window at the minimum.
    pub(crate) fn is_collapsed(&self) -> bool {
        self.recovery.is_some_and(|recovery| recovery.is_running && recovery.is_persistent)
    }

    /// The recovery period ends, whatever is to become of the window.
    pub(crate) const fn end_recovery(&mut self) {
        if let Some(recovery) = &mut self.recovery {
            recovery.is_running = false;
        }
    }

    /// Whether these acks end the recovery period.
    pub(crate) fn ends_recovery(&self, ack: &AckEvent<'_>) -> bool {
        self.recovery.filter(|recovery| recovery.is_running).is_some_and(|recovery| {
            ack.packets.iter().any(|packet| !recovery.start.covers(packet.number, packet.sent_at))
        })
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
