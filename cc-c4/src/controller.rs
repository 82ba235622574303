//! The events, in the order of one ACK frame: ECN, RTT, losses, ACK (`c4_notify`, `c4_handle_ack`).

use crate::arithmetic::{bytes_in, micros};
use crate::congestion::Congestion;
use crate::constants::{JITTER_RESTART_RATE, JITTER_RESTART_RTT, MIN_ACK_INTERVAL, ONE};
use crate::rtt::sample_of;
use crate::sensitivity::{ecn_threshold, loss_threshold};
use crate::{C4, Phase};
use cc_core::{
    AckEvent, AckedPacket, CongestionController, EcnCodepoint, EcnEvent, Instant, LossEvent, LostPacket,
    MtuChange, PacketSpace, PathChange, PathState, Rate, RateSample, ResumeHint, RttEvent, SamplingRule,
    SentPacket, Snapshot,
};

impl CongestionController for C4 {
    /// Nothing but the datagram size is taken: all state comes from the events of ACKs and losses.
    fn on_packet_sent(&mut self, path: &PathState, _packet: &SentPacket) {
        self.update_datagram(path);
    }

    /// Step 1. The marks are summed in any case; only a CE mark makes them count at once.
    fn on_ecn(&mut self, path: &PathState, ecn: &EcnEvent) {
        self.update_datagram(path);
        if ecn.space != PacketSpace::Application || self.is_of_older_path(ecn.largest_acked_sent_at) {
            return;
        }
        if !self.ecn.add(ecn) {
            return;
        }
        let threshold = ecn_threshold(self.nominal_rate);
        self.ecn.update();
        if self.ecn.alpha() <= threshold {
            return;
        }
        let before = self.outputs;
        if matches!(self.phase, Phase::Initial { .. }) {
            self.initial_on_delay_or_ecn(path);
        } else {
            self.on_congestion(path, Congestion::Ecn { threshold });
        }
        self.outputs.keep_below(&before);
    }

    /// Step 2, and the comparison with a saved state at the path's first sample.
    fn on_rtt(&mut self, path: &PathState, rtt: &RttEvent) {
        self.update_datagram(path);
        if self.is_of_older_path(path.now.before(rtt.latest)) {
            return;
        }
        let Some(sample) = sample_of(path, rtt) else {
            return;
        };
        self.rtt.latest = sample;
        if rtt.space == PacketSpace::Application {
            self.on_rtt_sample(path, sample);
        }
        if let Some(hint) = self.hint.take() {
            self.try_resume(path, &hint, sample);
        }
    }

    /// Step 4: one signal per packet, in ascending order. Losses found by timer come the same way.
    fn on_loss(&mut self, path: &PathState, loss: &LossEvent<'_>) {
        self.update_datagram(path);
        if !path.handshake_ready {
            return;
        }
        let before = self.outputs;
        for packet in loss.packets {
            if packet.space == PacketSpace::Application && !self.is_of_older_path(packet.sent_at) {
                self.on_lost_packet(path, packet);
            }
        }
        self.outputs.keep_below(&before);
    }

    /// Steps 3 and 5. Parts of a frame are summed; the last one runs the step.
    fn on_ack(&mut self, path: &PathState, ack: &AckEvent<'_>) {
        self.update_datagram(path);
        for packet in ack.packets {
            self.on_acked_packet(packet);
        }
        if !ack.last {
            return;
        }
        let frame = core::mem::take(&mut self.frame);
        let sample = ack.rate_sample.as_ref().filter(|sample| frame.any && !self.spans_paths(sample));
        if let Some(sample) = sample {
            self.delivery.on_sample(path.now, sample);
        }
        let has_rtt = path.rtt.is_some() || self.rtt.latest > 0;
        if !frame.application || !has_rtt {
            return;
        }
        self.take_rate(sample);
        self.step(path, ack, frame.bytes);
        self.update_outputs(path);
    }

    fn pacing_rate(&self) -> Option<Rate> {
        self.pacing()
    }

    fn cwnd(&self) -> u64 {
        self.outputs.cwnd
    }

    /// The reason does not matter: the initial window is a number of bytes, not of datagrams.
    fn on_mtu_update(&mut self, path: &PathState, _change: MtuChange) {
        self.update_datagram(path);
    }

    fn on_path_change(&mut self, path: &PathState, change: PathChange) {
        match change {
            PathChange::Rebinding => self.update_datagram(path),
            PathChange::New => self.restart(path),
        }
    }

    fn on_resume_hint(&mut self, path: &PathState, hint: &ResumeHint) {
        self.update_datagram(path);
        self.take_hint(path, hint);
    }

    fn on_ecn_state(&mut self, path: &PathState, codepoint: EcnCodepoint) {
        self.update_datagram(path);
        self.ecn.set_codepoint(codepoint);
        if codepoint != EcnCodepoint::NotEct {
            self.codepoint = codepoint;
        }
    }

    fn send_quantum(&self) -> u64 {
        u64::from(self.outputs.quantum)
    }

    fn wanted_ecn(&self) -> EcnCodepoint {
        EcnCodepoint::Ect1
    }

    fn sampling_rule(&self) -> SamplingRule {
        SamplingRule::LastAcceptedSample { min_ack_interval: MIN_ACK_INTERVAL }
    }

    /// `startup` is true until the first congestion signal outside Initial: what the reference tells its ACK policy.
    fn snapshot(&self) -> Snapshot {
        Snapshot {
            phase: self.phase.name(),
            startup: !self.was_congested,
            cwnd: self.outputs.cwnd,
            pacing_rate: self.pacing(),
            bandwidth: (self.nominal_rate > 0).then(|| self.nominal_rate()),
            model_rtt: (self.rtt.nominal_max > 0).then(|| self.nominal_max_rtt()),
            congestion_events: u64::from(self.congestion_events),
            ..Snapshot::default()
        }
    }
}

impl C4 {
    fn on_rtt_sample(&mut self, path: &PathState, sample: u32) {
        self.era.widen(sample);
        self.rtt.on_sample(sample, self.nominal_rate);
        if matches!(self.phase, Phase::Initial { .. }) {
            self.initial_on_delay_or_ecn(path);
            self.update_outputs(path);
        } else if self.rtt.excess > 0 && self.alpha_previous > ONE {
            // Only packets sent with a gain above one can have made the queue (`c4_handle_rtt_excess`).
            self.on_congestion(path, Congestion::Delay);
        }
    }

    fn on_lost_packet(&mut self, path: &PathState, packet: &LostPacket) {
        for _ in 0..self.packets_in(packet) {
            if matches!(self.phase, Phase::Recovery { .. })
                && self.era.start.covers(packet.number, packet.sent_at)
            {
                return;
            }
            self.loss_rate.on_lost(packet.number, packet.sent_at);
            if self.loss_rate.average() > loss_threshold(self.nominal_rate) {
                if matches!(self.phase, Phase::Initial { .. }) {
                    self.initial_on_loss(path);
                } else {
                    self.on_congestion(path, Congestion::Loss);
                }
            }
        }
    }

    /// How many packets an entry stands for: without a number it may be a sum. More than 32 add nothing to the
    /// average that 32 do not.
    fn packets_in(&self, packet: &LostPacket) -> u32 {
        match packet.number {
            Some(_) => 1,
            None => self.full_datagrams(packet.bytes).min(32),
        }
    }

    /// Full datagrams in so many bytes: at least one.
    fn full_datagrams(&self, bytes: u64) -> u32 {
        u32::try_from(bytes).unwrap_or(u32::MAX).checked_div(u32::from(self.datagram)).unwrap_or(1).max(1)
    }

    #[cfg_attr(target_pointer_width = "32", inline(never))]
    fn on_acked_packet(&mut self, packet: &AckedPacket) {
        if self.is_of_older_path(packet.sent_at) {
            return;
        }
        self.frame.any = true;
        if let Some(number) = packet.number {
            self.acked_end = self.acked_end.max(number.saturating_add(1));
        }
        self.newest_acked_sent_at = self.newest_acked_sent_at.max(packet.sent_at);
        if packet.space != PacketSpace::Application {
            return;
        }
        self.frame.application = true;
        self.frame.bytes = self.frame.bytes.saturating_add(packet.bytes);
        if !packet.was_lost {
            self.loss_rate.on_acked(packet.packets.unwrap_or_else(|| self.full_datagrams(packet.bytes)));
        }
    }

    /// Adopts the persisting rate estimate if it is higher than the nominal rate (first half of `c4_handle_ack`).
    fn take_rate(&mut self, sample: Option<&RateSample>) {
        let delivered = sample.map_or(0, RateSample::delivered_since_sent);
        if delivered == 0 {
            return;
        }
        let rate = self.delivery.estimate;
        self.recent_maximum_rate = self.recent_maximum_rate.max(rate);
        let is_barred = matches!(self.phase, Phase::Recovery { .. }) && self.growth.congestion_notified;
        if rate > self.nominal_rate && !is_barred {
            self.growth.push_was_not_limited = true;
            self.nominal_rate = rate;
            self.rtt.update_threshold(rate);
        } else if delivered > bytes_in(self.rtt.running_min, self.nominal_rate) {
            // More came back than a minimum RTT at the nominal rate holds: the network was the limit.
            self.growth.push_was_not_limited = true;
        }
    }

    /// The phase's own step (second half of `c4_handle_ack`).
    fn step(&mut self, path: &PathState, ack: &AckEvent<'_>, acked_bytes: u64) {
        if matches!(self.phase, Phase::Initial { .. }) {
            self.initial_on_ack(path, acked_bytes);
            return;
        }
        self.resuming_on_ack(path);
        if !self.era_ended(path) {
            if self.phase == Phase::Pushing {
                self.pushing_on_ack(path);
            }
            return;
        }
        self.update_rtt_model(path);
        if self.should_restart_after_jitter() {
            self.initial_after_jitter = true;
            self.enter_initial(path);
            return;
        }
        match self.phase {
            Phase::Recovery { .. } => self.recovery_on_era_end(path),
            Phase::Cruising => self.cruising_on_era_end(path, ack),
            Phase::Probing => self.probing_on_era_end(path),
            Phase::Pushing => self.pushing_on_era_end(path),
            Phase::Resuming { .. } => self.resuming_on_era_end(path),
            Phase::Initial { .. } => {}
        }
    }

    /// `c4_update_min_max_rtt`. The latest sample is taken in, so that the era's extremes are never empty.
    fn update_rtt_model(&mut self, path: &PathState) {
        let latest = match self.rtt.latest {
            0 => path.rtt.map_or(1, |rtt| micros(rtt.latest).max(1)),
            latest => latest,
        };
        self.era.widen(latest);
        let unloaded = self.alpha_previous <= ONE;
        self.rtt.on_era_end(self.era.min_rtt, self.era.max_rtt, unloaded, self.nominal_rate);
    }

    /// Whether high jitter made the first Initial end too soon. Once per path, and not on short or fast paths, where
    /// a second search would do more harm than good.
    fn should_restart_after_jitter(&self) -> bool {
        let times = |micros: u32, factor: u64| u64::from(micros).saturating_mul(factor);
        !self.initial_after_jitter
            && self.rtt.nominal_max > JITTER_RESTART_RTT
            && self.nominal_rate < JITTER_RESTART_RATE
            && times(self.rtt.running_min, 5) < times(self.rtt.nominal_max, 2)
    }

    fn is_of_older_path(&self, sent_at: Instant) -> bool {
        sent_at < self.path_since
    }

    /// Whether a sample reaches back to another path.
    fn spans_paths(&self, sample: &RateSample) -> bool {
        self.is_of_older_path(sample.sent_at)
            || sample.snapshot.delivered_at.is_some_and(|at| self.is_of_older_path(at))
    }
}
