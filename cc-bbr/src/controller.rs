//! The events, and the steps of each ACK in the draft's order (section 5.2).

use crate::Bbr;
use crate::offload_budget::PeerAckPolicy;
use crate::sample::Sample;
use cc_core::{
    AckEvent, AckPolicy, CongestionController, Duration, EcnCodepoint, EcnEvent, Instant, LossEvent,
    MtuChange, PathChange, PathState, Rate, ResumeHint, SentPacket, Snapshot, SpuriousLoss,
};

impl CongestionController for Bbr {
    /// Restarts from idle too, for stacks that do not tell that.
    fn on_packet_sent(&mut self, path: &PathState, packet: &SentPacket) {
        self.take_path(path);
        if !packet.in_flight {
            return;
        }
        if path.prior_bytes_in_flight == 0 && path.app_limited {
            // As before the packet: it belongs to what is sent after the idle time.
            let next_number = path.next_number.min(packet.number);
            self.handle_restart_from_idle(&PathState { next_number, ..*path });
        }
        self.left_probe_rtt = false;
        self.note_cwnd_use(path);
    }

    /// `UpdateOnACK()` (section 5.2.3), with the last part of a frame.
    fn on_ack(&mut self, path: &PathState, ack: &AckEvent<'_>) {
        self.take_path(path);
        for packet in ack.packets {
            if !self.is_of_path(path, packet.number, packet.sent_at) {
                continue;
            }
            self.frame.any = true;
            let acked = if packet.was_lost { &mut self.frame.late_acked } else { &mut self.frame.acked };
            *acked = acked.saturating_add(packet.bytes);
            self.frame.newest_sent_at = self.frame.newest_sent_at.max(packet.sent_at);
            self.frame.ends_round |= self.round.ends_with(packet);
        }
        self.frame.ends_recovery |= self.ends_recovery(ack);
        self.validate_resume(path, ack);
        if !ack.last {
            return;
        }
        let frame = core::mem::take(&mut self.frame);
        // Not more can be newly acked than was in flight, nor more acked late than was ever declared lost.
        let late_acked = frame.late_acked.min(path.lost);
        let newly_acked = frame.acked.min(path.prior_bytes_in_flight).saturating_add(late_acked);
        if !frame.any || (newly_acked == 0 && frame.acked > 0) {
            return;
        }
        self.left_probe_rtt = false;
        let raw = ack.rate_sample.as_ref();
        let mut rs = self.rate_sample(path, newly_acked, frame.newest_sent_at, frame.ends_round, raw);
        self.update_cwnd_limited(path, ack, &rs);
        self.update_model_and_state(path, ack, &mut rs);
        if frame.ends_recovery {
            self.leave_recovery();
        }
        if !self.settings.has_seen_rtt && rs.rtt.is_some() {
            self.init_pacing_rate(path.rtt.map(|rtt| rtt.smoothed).filter(|rtt| !rtt.is_zero()).or(rs.rtt));
        }
        self.update_control_parameters(path, rs.newly_acked);
        if let Some(rtt) = rs.rtt {
            self.try_resume(path, rtt);
        }
    }

    /// Section 5.2.4. Losses found by timer come the same way.
    fn on_loss(&mut self, path: &PathState, loss: &LossEvent<'_>) {
        self.take_path(path);
        let mut lost = path.lost;
        for packet in loss.packets {
            if !self.is_of_path(path, packet.number, packet.sent_at) {
                continue;
            }
            self.loss_is_of_path = true;
            lost = lost.saturating_add(packet.bytes);
            self.enter_recovery(path, packet);
            self.note_lost_for_undo(packet);
            if packet.starts_run == Some(true) {
                self.signals.note_range();
            }
            self.handle_lost_packet(path, packet, lost);
        }
        // Of all parts: a report of unknown packets says nothing about this path, persistent congestion included.
        if !loss.last || !core::mem::take(&mut self.loss_is_of_path) {
            return;
        }
        // A stack that does not tell ranges: each report is one.
        if loss.packets.last().is_some_and(|packet| packet.starts_run.is_none()) {
            self.signals.note_range();
        }
        self.retreat_from_resume(path);
        if loss.persistent_congestion {
            self.on_persistent_congestion(path);
        }
    }

    fn on_ecn(&mut self, path: &PathState, ecn: &EcnEvent) {
        self.take_path(path);
        if self.is_since_path_start(ecn.largest_acked, ecn.largest_acked_sent_at) {
            self.on_marks(path, ecn);
        }
    }

    fn pacing_rate(&self) -> Option<Rate> {
        Some(self.pacing_rate)
    }

    fn cwnd(&self) -> u64 {
        self.cwnd
    }

    /// `OnTransmit()` (section 5.2.2).
    fn on_idle_restart(&mut self, path: &PathState, idle: Duration) {
        self.take_path(path);
        if self.was_idle(path, idle) {
            self.handle_restart_from_idle(path);
        }
    }

    /// Section 5.2.5.
    fn on_spurious_loss(&mut self, path: &PathState, spurious: &SpuriousLoss) {
        self.take_path(path);
        if self.is_spurious(spurious) {
            self.handle_spurious_loss_detection(path);
            self.bound_bw_for_model();
            self.update_control_parameters(path, 0);
        }
    }

    fn on_mtu_update(&mut self, path: &PathState, change: MtuChange) {
        if change == MtuChange::Handshake {
            self.update_initial_window(path);
        }
        self.take_path(path);
    }

    fn on_path_change(&mut self, path: &PathState, change: PathChange) {
        self.take_path(path);
        if change == PathChange::New {
            self.restart(path);
        }
    }

    fn on_resume_hint(&mut self, path: &PathState, hint: &ResumeHint) {
        self.take_path(path);
        self.take_hint(path, hint);
    }

    fn on_ack_policy(&mut self, path: &PathState, policy: &AckPolicy) {
        self.take_path(path);
        self.settings.peer_acks = PeerAckPolicy::new(policy);
    }

    fn on_ecn_state(&mut self, path: &PathState, codepoint: EcnCodepoint) {
        self.take_path(path);
        self.ecn_has_failed = codepoint == EcnCodepoint::NotEct;
    }

    fn send_quantum(&self) -> u64 {
        self.quantum()
    }

    fn wanted_ack_policy(&self) -> Option<AckPolicy> {
        self.ack_policy()
    }

    /// `MarkConnectionAppLimited()` of `HandleProbeRTT()`: in ProbeRTT, and once more for what is in flight at its end.
    fn marks_app_limited(&self) -> bool {
        self.state.is_probe_rtt() || self.left_probe_rtt
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot {
            phase: self.state.name(),
            startup: !self.full_bw.reached,
            cwnd: self.cwnd,
            pacing_rate: Some(self.pacing_rate),
            bandwidth: Some(self.max_bw.get()).filter(|bw| !bw.is_zero()),
            model_rtt: self.min_rtt.get(),
            congestion_events: u64::from(self.congestion_events),
            ..Snapshot::default()
        }
    }
}

impl Bbr {
    /// Whether a packet was sent on this path: not before it began, and not with a number that was not given yet.
    fn is_of_path(&self, path: &PathState, number: Option<u64>, sent_at: Instant) -> bool {
        let was_sent = path.next_number == 0 || number.is_none_or(|number| number < path.next_number);
        was_sent && self.is_since_path_start(number, sent_at)
    }

    /// `UpdateModelAndState()`.
    fn update_model_and_state(&mut self, path: &PathState, ack: &AckEvent<'_>, rs: &mut Sample) {
        self.update_latest_delivery_signals(path, rs);
        self.update_congestion_signals(path, rs);
        self.update_ack_aggregation(path, rs);
        self.check_full_bw_reached(rs);
        self.check_startup_done(rs);
        self.check_drain_done(path);
        self.update_probe_bw_cycle_phase(path, ack, rs);
        let probe_rtt_expired = self.update_min_rtt(path, rs);
        self.check_probe_rtt(path, rs, probe_rtt_expired);
        self.advance_latest_delivery_signals(rs);
        self.bound_bw_for_model();
    }
}
