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

#[cfg(test)]
mod tests {
    use super::inflight_at_loss;
    use crate::sample::Sample;
    use crate::tests::{cruising, path, probing, rate, sample};
    use crate::{Bbr, State};
    use cc_core::{LostPacket, PacketSnapshot, PathState};

    fn lost(bytes: u64, tx_in_flight: u64, lost_before: u64) -> LostPacket {
        let snapshot =
            PacketSnapshot { lost: lost_before, bytes_in_flight: tx_in_flight, ..PacketSnapshot::default() };
        LostPacket { number: Some(50), bytes, snapshot: Some(snapshot), ..LostPacket::default() }
    }

    #[test]
    fn the_prefix_is_the_part_of_the_packet_that_was_safe() {
        let at = |tx_in_flight, lost, size| {
            inflight_at_loss(&Sample { tx_in_flight, lost, ..Sample::default() }, size)
        };
        // A burst of 10 packets, nothing lost before: 38 000 / 49 = 775 of it, 38 775 / 50 = 775.5 lost.
        assert_eq!(at(50_000, 12_000, 12_000), 38_775);
        // 1200 lost before: (98 800 - 60 000) / 49 = 791.
        assert_eq!(at(100_000, 2_400, 1_200), 99_591);
        // Too many before: 0, never less.
        assert_eq!(at(100_000, 3_600, 1_200), 98_800);
        // Nothing known of the flight.
        assert_eq!(at(0, 1_200, 1_200), 0);
        // Never more than the packet.
        assert_eq!(at(1_000_000, 1_000, 1_000), 1_000_000);
    }

    #[test]
    fn losses_are_counted_from_the_send_of_the_packet_with_the_packet_itself() {
        // Of 100 packets the first 2 are within 2 %, the third is not: 3600 * 50 > 120 000.
        let mut bbr = probing(10_000_000, 40);
        let path = PathState { lost: 10_000, ..path() };
        for total in [11_200, 12_400] {
            bbr.handle_lost_packet(&path, &lost(1_200, 120_000, 10_000), total);
            assert!(matches!(bbr.state, State::ProbeBwUp { .. }), "{total}");
        }
        bbr.handle_lost_packet(&path, &lost(1_200, 120_000, 10_000), 13_600);
        assert!(matches!(bbr.state, State::ProbeBwDown(_)));
        // 118 800 before, 2400 lost: (118 800 - 120 000) < 0: no part of it. Target: 0.7 * 400 000.
        assert_eq!(bbr.bounds.inflight_longterm, 280_000);
    }

    #[test]
    fn a_probe_is_answered_once() {
        let mut bbr = probing(1_000_000, 40);
        bbr.handle_lost_packet(&path(), &lost(1_200, 36_000, 0), 1_200);
        let bound = bbr.bounds.inflight_longterm;
        // 34 800 + 34 800 / 49 = 35 510
        assert_eq!(bound, 35_510);
        bbr.handle_lost_packet(&path(), &lost(1_200, 30_000, 0), 12_000);
        assert_eq!(bbr.bounds.inflight_longterm, bound);
    }

    #[test]
    fn without_per_packet_state_the_losses_of_the_round_are_held_against_the_flight() {
        let mut bbr = probing(1_000_000, 40);
        bbr.round.lost_at_start = 5_000;
        let path = PathState { prior_bytes_in_flight: 60_000, ..path() };
        let packet = LostPacket { bytes: 1_200, ..LostPacket::default() };
        // 1200 of 60 000 are 2 %, not more.
        bbr.handle_lost_packet(&path, &packet, 6_200);
        assert!(matches!(bbr.state, State::ProbeBwUp { .. }));
        // A sum of 6000 more: 54 000 before it, 1200 lost: (54 000 - 60 000) < 0.
        let sum = LostPacket { bytes: 6_000, ..packet };
        bbr.handle_lost_packet(&path, &sum, 12_200);
        assert!(matches!(bbr.state, State::ProbeBwDown(_)));
        assert_eq!(bbr.bounds.inflight_longterm, 54_000);
    }

    #[test]
    fn outside_of_probes_losses_are_noted_only() {
        let mut bbr = cruising(1_000_000, 40);
        bbr.handle_lost_packet(&path(), &lost(1_200, 12_000, 0), 12_000);
        assert!(bbr.signals.is_loss_in_round);
        assert_eq!(bbr.inflight_longterm(), None);
    }

    /// One ACK of the loss round trip, with `C.delivered` before the newest packet and now.
    fn ack(bbr: &mut Bbr, prior: u64, now: u64, bytes_per_sec: u64) -> Sample {
        let path = PathState { delivered: now, ..path() };
        let mut rs = Sample {
            prior_delivered: Some(prior),
            delivered: now - prior,
            delivery_rate: rate(bytes_per_sec),
            ..Sample::default()
        };
        bbr.update_latest_delivery_signals(&path, &mut rs);
        bbr.update_congestion_signals(&path, &mut rs);
        bbr.advance_latest_delivery_signals(&rs);
        rs
    }

    #[test]
    fn a_round_with_losses_lowers_the_bounds_to_what_it_delivered_but_by_no_more_than_beta() {
        let mut bbr = cruising(1_000_000, 40);
        bbr.cwnd = 80_000;
        let start = PathState { delivered: 2_000_000, ..path() };
        bbr.handle_lost_packet(&start, &lost(1_200, 40_000, 0), 1_200);
        // Inside the round: nothing yet.
        assert!(!ack(&mut bbr, 1_990_000, 2_020_000, 800_000).loss_round_start);
        assert_eq!(bbr.bw_shortterm(), None);
        // Its end: max(0.8 MB/s, 0.7 * 1 MB/s); delivered: max(30 000, 38 000, 0.7 * 80 000).
        assert!(ack(&mut bbr, 2_000_000, 2_038_000, 750_000).loss_round_start);
        assert_eq!(bbr.bw_shortterm(), Some(rate(800_000)));
        assert_eq!(bbr.inflight_shortterm(), Some(56_000));
        // The next round has none: no change.
        ack(&mut bbr, 2_038_000, 2_070_000, 300_000);
        assert_eq!(bbr.bw_shortterm(), Some(rate(800_000)));
        // Another loss, and a round that delivers little: 0.7 * 0.8 MB/s, 0.7 * 56 000.
        let start = PathState { delivered: 2_070_000, ..path() };
        bbr.handle_lost_packet(&start, &lost(1_200, 40_000, 0), 2_400);
        ack(&mut bbr, 2_070_000, 2_075_000, 100_000);
        assert_eq!(bbr.bw_shortterm(), Some(rate(560_000)));
        assert_eq!(bbr.inflight_shortterm(), Some(39_200));
    }

    #[test]
    fn a_probe_lowers_no_short_term_bound() {
        for mut bbr in [probing(1_000_000, 40), crate::tests::starting(1_000_000, 40)] {
            bbr.signals.is_loss_in_round = true;
            let mut rs = Sample { loss_round_start: true, ..sample(100_000) };
            bbr.update_congestion_signals(&path(), &mut rs);
            assert_eq!((bbr.bw_shortterm(), bbr.inflight_shortterm()), (None, None));
            assert!(!bbr.signals.is_loss_in_round);
        }
    }
}
