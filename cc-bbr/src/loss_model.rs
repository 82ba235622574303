//! Updating the model upon packet loss (section 5.5.10): per lost packet, and what the last round delivered.

use crate::Bbr;
use crate::constants::LOSS_THRESH_DIVISOR;
use crate::sample::Sample;
use cc_core::{LostPacket, PacketSnapshot, PathState, Rate};

/// State for responding to congestion (section 2.11).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Signals {
    /// `BBR.bw_latest`: largest delivery rate of the round.
    pub(crate) bw_latest: Rate,
    /// `BBR.inflight_latest`: largest `RS.delivered` of the round.
    pub(crate) inflight_latest: u64,
    /// `BBR.loss_round_delivered`: `C.delivered` at the start of the round of losses.
    loss_round_delivered: u64,
    /// `BBR.is_loss_in_round`.
    pub(crate) is_loss_in_round: bool,
    /// Discontiguous ranges lost in the round.
    pub(crate) lost_ranges: u8,
}

impl Signals {
    /// On a new path the total goes on from where it is.
    pub(crate) const fn restart(&mut self, path: &PathState) {
        self.loss_round_delivered = path.delivered;
    }

    /// `ResetCongestionSignals()`.
    pub(crate) const fn reset(&mut self) {
        self.is_loss_in_round = false;
        self.bw_latest = Rate::ZERO;
        self.inflight_latest = 0;
    }

    /// A lost packet began a range, or a stack that does not tell ranges reported a loss.
    pub(crate) const fn note_range(&mut self) {
        self.lost_ranges = self.lost_ranges.saturating_add(1);
    }
}

impl Sample {
    /// `IsInflightTooHigh()`: more than `LossThresh` of the flight was lost. QUIC always has selective acks.
    pub(crate) const fn is_inflight_too_high(&self) -> bool {
        self.lost.saturating_mul(LOSS_THRESH_DIVISOR) > self.tx_in_flight
    }
}

impl Bbr {
    /// `NoteLoss()`. State for an undo is saved when recovery is entered.
    fn note_loss(&mut self, path: &PathState) {
        if !self.signals.is_loss_in_round {
            self.signals.loss_round_delivered = path.delivered;
        }
        self.signals.is_loss_in_round = true;
    }

    /// `HandleLostPacket()`. `lost` is `C.lost` with this packet.
    pub(crate) fn handle_lost_packet(&mut self, path: &PathState, packet: &LostPacket, lost: u64) {
        self.note_loss(path);
        if !self.long_term.is_bw_probe_sample {
            return;
        }
        let at_send = packet.snapshot.unwrap_or(PacketSnapshot {
            // What is known without per-packet state: the losses of this round, and the flight now.
            lost: self.round.lost_at_start,
            bytes_in_flight: path.prior_bytes_in_flight,
            app_limited: path.app_limited,
            ..PacketSnapshot::default()
        });
        let rs = Sample {
            tx_in_flight: at_send.bytes_in_flight,
            lost: lost.saturating_sub(at_send.lost),
            is_app_limited: at_send.app_limited,
            ..Sample::default()
        };
        if rs.is_inflight_too_high() {
            let inflight = inflight_at_loss(&rs, packet.bytes);
            self.handle_inflight_too_high(path, inflight, rs.is_app_limited);
        }
    }

    /// `UpdateLatestDeliverySignals()`, near the start of ACK processing.
    pub(crate) fn update_latest_delivery_signals(&mut self, path: &PathState, rs: &mut Sample) {
        let signals = &mut self.signals;
        signals.bw_latest = signals.bw_latest.max(rs.delivery_rate);
        signals.inflight_latest = signals.inflight_latest.max(rs.delivered);
        rs.loss_round_start = rs.prior_delivered.is_some_and(|prior| prior >= signals.loss_round_delivered);
        if rs.loss_round_start {
            signals.loss_round_delivered = path.delivered;
        }
    }

    /// `AdvanceLatestDeliverySignals()`, near the end of ACK processing.
    pub(crate) const fn advance_latest_delivery_signals(&mut self, rs: &Sample) {
        if rs.loss_round_start {
            self.signals.bw_latest = rs.delivery_rate;
            self.signals.inflight_latest = rs.delivered;
            self.signals.lost_ranges = 0;
        }
    }

    /// `UpdateCongestionSignals()`.
    pub(crate) fn update_congestion_signals(&mut self, path: &PathState, rs: &mut Sample) {
        self.update_max_bw(path, rs);
        if rs.loss_round_start {
            self.adapt_lower_bounds_from_congestion();
            self.signals.is_loss_in_round = false;
        }
    }
}

/// `InflightAtLoss()`: the flight at which the losses crossed the threshold, inside a packet that may stand for a burst.
///
/// `(lost_prev + prefix) / (inflight_prev + prefix) = 1/50` gives `prefix = (inflight_prev - 50 * lost_prev) / 49`, which is
/// zero if the losses before the packet were too many already, and never more than the packet.
fn inflight_at_loss(rs: &Sample, size: u64) -> u64 {
    let inflight_prev = rs.tx_in_flight.saturating_sub(size);
    let lost_prev = rs.lost.saturating_sub(size);
    let prefix = inflight_prev.saturating_sub(lost_prev.saturating_mul(LOSS_THRESH_DIVISOR))
        / (LOSS_THRESH_DIVISOR - 1);
    inflight_prev.saturating_add(prefix.min(size))
}
