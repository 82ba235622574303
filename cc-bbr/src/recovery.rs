//! Modulating the window in loss recovery (section 5.6.4.4), with the recovery periods of RFC 9002 section 7.3.2.

use crate::Bbr;
use cc_core::{AckEvent, LostPacket, PathState, SendMark};

/// A recovery period: from a loss until a packet that was sent after it is acked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Recovery {
    start: SendMark,
    /// Whether persistent congestion, QUIC's equivalent of an RTO, belongs to it.
    pub(crate) is_persistent: bool,
}

impl Bbr {
    /// `OnEnterFastRecovery()`, with the first lost packet that was sent after the start of the last period.
    pub(crate) fn enter_recovery(&mut self, path: &PathState, packet: &LostPacket) {
        if self.recovery.is_some_and(|recovery| recovery.start.covers(packet.number, packet.sent_at)) {
            return;
        }
        self.save_cwnd();
        self.save_state_upon_loss();
        self.recovery = Some(Recovery { start: SendMark::new(path), is_persistent: false });
        self.congestion_events = self.congestion_events.saturating_add(1);
    }

    /// `OnEnterRTO()`, upon persistent congestion (RFC 9002 section 7.6): the minimum window of that section, which is less than
    /// the flight and one packet in all cases but the smallest. State for an undo was saved with the first loss.
    pub(crate) fn on_persistent_congestion(&mut self, path: &PathState) {
        self.save_cwnd();
        self.recovery = Some(Recovery { start: SendMark::new(path), is_persistent: true });
        self.cwnd = self.cwnd.min(self.settings.min_window());
    }

    /// Whether these acks end the recovery period.
    pub(crate) fn ends_recovery(&self, ack: &AckEvent<'_>) -> bool {
        self.recovery.is_some_and(|recovery| {
            ack.packets.iter().any(|packet| !recovery.start.covers(packet.number, packet.sent_at))
        })
    }

    /// The recovery period is over: the last good window is back, within what the model allows. After persistent
    /// congestion the window grows with the acks instead.
    pub(crate) fn leave_recovery(&mut self) {
        if self.recovery.take().is_some_and(|recovery| !recovery.is_persistent) {
            self.restore_cwnd();
        }
    }

    /// `SaveCwnd()`.
    pub(crate) fn save_cwnd(&mut self) {
        self.prior_cwnd = if self.recovery.is_none() && !self.state.is_probe_rtt() {
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
