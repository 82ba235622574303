//! One path of a connection, as noq tells it.

use cc_adapter::{Packets, Recipe};
use cc_core::{
    AckPolicy, AckedPacket, CongestionController, LossCause, LostPacket, PacketSpace, SendLimit, SpuriousLoss,
};
use std::time::{Duration, Instant};

/// The calls of noq 1.4 without its own types, which only noq can make.
#[derive(Clone, Debug)]
pub(crate) struct Flow<C> {
    path: cc_adapter::Flow<C>,
    packets: Packets,
    /// The window stopped the last attempt to send.
    cwnd_limited: bool,
    /// Losses were told one by one since the last congestion event.
    losses_told: bool,
}

impl<C: CongestionController + Clone> Flow<C> {
    pub(crate) fn new(recipe: &Recipe<C>, now: Instant, mtu: u16) -> Self {
        Self {
            path: cc_adapter::Flow::new(recipe, now, mtu),
            packets: Packets::new(),
            cwnd_limited: false,
            losses_told: false,
        }
    }

    /// The controller, as of the last commit.
    pub(crate) const fn controller(&self) -> &C {
        self.path.ledger().controller()
    }

    pub(crate) const fn initial_window(&self) -> u64 {
        self.path.initial_window()
    }

    /// Delivers what was collected of a frame.
    pub(crate) fn commit(&mut self) {
        self.path.ledger_mut().commit();
    }

    /// noq sends while `in_flight + bytes <= window`, and paces by the rate.
    pub(crate) fn window(&self) -> u64 {
        self.path.ledger().window()
    }

    /// The copy for a path on which only the port is new.
    pub(crate) fn for_new_port(&self) -> Self {
        Self { path: self.path.for_new_port(), ..self.clone() }
    }

    /// One ack-eliciting packet left.
    pub(crate) fn on_packet_sent(&mut self, now: Instant, bytes: u64, packet_number: u64) {
        let at = self.path.begin(now);
        self.cwnd_limited = false;
        let sent = self.path.ledger_mut().on_sent(at, at, bytes, PacketSpace::Application);
        self.packets.on_sent(at, packet_number, bytes, &sent, self.path.ledger().smoothed_rtt());
    }

    pub(crate) const fn on_cwnd_limited(&mut self) {
        self.cwnd_limited = true;
    }

    /// One ack-eliciting packet was newly acked.
    pub(crate) fn on_ack(
        &mut self,
        now: Instant,
        sent: Instant,
        bytes: u64,
        packet_number: u64,
        app_limited: bool,
    ) {
        let limit = self.limit(app_limited);
        let at = self.path.begin_acks(now, |_| limit);
        let Some(sent_at) = self.path.sent_at(sent) else { return };
        let known = self.packets.on_acked(sent_at, packet_number);
        let packet = AckedPacket {
            number: known.map(|known| known.number),
            sent_at,
            bytes,
            packets: Some(1),
            snapshot: known.and_then(|known| known.snapshot),
            ..AckedPacket::default()
        };
        self.path.ledger_mut().on_acked(at, &packet);
    }

    /// The acks of a frame are complete; losses and marks of the same frame may follow.
    pub(crate) fn on_end_acks(&mut self, now: Instant, in_flight: u64, app_limited: bool) {
        let limit = self.limit(app_limited);
        self.path.end_acks(now, in_flight, |_| limit);
    }

    /// One packet was declared lost. It counts for nothing if it was not sent on this path, or was ACK-only (no bytes).
    pub(crate) fn on_packet_lost(&mut self, now: Instant, bytes: u64, packet_number: u64) {
        let at = self.path.begin(now);
        self.losses_told = true;
        let Some(known) = self.packets.on_lost(packet_number, bytes).filter(|_| bytes > 0) else { return };
        let packet = LostPacket {
            number: Some(known.number),
            sent_at: known.sent_at,
            bytes,
            snapshot: known.snapshot,
            ..LostPacket::default()
        };
        // An ACK frame tells its acks first.
        self.path.ledger_mut().on_lost(at, &packet, Some(LossCause::Timer));
    }

    /// All losses of one time were told; the newest was sent at `sent`.
    pub(crate) fn on_losses(&mut self, now: Instant, sent: Instant, bytes: u64, persistent: bool) {
        let at = self.path.begin(now);
        let told = std::mem::take(&mut self.losses_told);
        let Some(sent_at) = self.path.sent_at(sent) else { return };
        if !told {
            let packet = LostPacket { sent_at, bytes, ..LostPacket::default() };
            self.path.ledger_mut().on_lost(at, &packet, Some(LossCause::Timer));
        }
        if persistent {
            self.path.ledger_mut().on_persistent_congestion(at);
        }
    }

    /// The CE count rose; the largest acked was sent at `sent`.
    pub(crate) fn on_mark(&mut self, now: Instant, sent: Instant) {
        self.path.on_mark(now, sent);
    }

    /// All packets that were declared lost have been acked.
    pub(crate) fn on_spurious_losses(&mut self) {
        self.path.ledger_mut().on_spurious_loss(&SpuriousLoss::All);
    }

    pub(crate) fn on_mtu_update(&mut self, mtu: u16) {
        self.path.ledger_mut().on_mtu_update(u64::from(mtu));
    }

    /// The peer is asked for an ACK when it has received more than `threshold` ack-eliciting packets
    /// (draft-ietf-quic-ack-frequency, "ACK_FREQUENCY Frame").
    pub(crate) fn on_ack_frequency(&mut self, threshold: u64, max_ack_delay: Duration) {
        let policy = AckPolicy { packets: threshold.saturating_add(1), max_ack_delay: max_ack_delay.into() };
        self.path.ledger_mut().on_ack_policy(&policy);
    }

    const fn limit(&self, app_limited: bool) -> SendLimit {
        match (app_limited, self.cwnd_limited) {
            (true, _) => SendLimit::NoData,
            (false, true) => SendLimit::Cwnd,
            // Pacer, amplification limit, or more was about to be sent.
            (false, false) => SendLimit::Unknown,
        }
    }
}

#[cfg(test)]
mod tests;
