//! The controller: Westwood+, and a limit that delay sets to its window.

use crate::config::{Config, MAX_WINDOW};
use crate::delay::{Delay, Reaction, Sample, Threshold, burst, burst_bytes};
use crate::outputs::Outputs;
use crate::westwood::Westwood;
use cc_core::{
    AckEvent, CongestionController, DiscardReason, Duration, EcnCodepoint, EcnEvent, Instant, LossEvent,
    MtuChange, OneWayDelay, PathChange, PathState, Rate, RttEvent, SendLimit, SentPacket, Snapshot,
    SpuriousLoss, WindowGrowth,
};

/// Room, in datagrams, that a flight may leave in the window and still count as filling it, where the stack does not say what
/// stopped it (as in [`cc_core::Utilisation`]).
const FULL_SLACK: u64 = 3;

/// The row of samples whose minimum is the signal stands for this part of a window at least: a quarter of a round.
const ROUND_DIVISOR: u64 = 4;

/// What the delay signal does at the moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DelayState {
    /// There is no threshold: bandwidth or minimum RTT are not known yet, or a paper mode does not know the buffer yet or
    /// probes for it.
    Blind,
    /// A queue above this threshold is a signal.
    Watching(Duration),
    /// The queue did not fall below this through three reactions, so that it is somebody else's: it is no signal until it does, but
    /// for a try after 5 s, and after twice as long each time, up to 40 s.
    ForeignQueue(Duration),
}

/// QUIC-DC: Westwood+ with an early delay signal. See the [crate documentation](crate).
///
/// The inner [`Westwood`] is told all events and never a receive time; delay acts as an upper limit to its window. So for
/// the same events no output is ever larger than that of Westwood+, whatever receive times a peer reports.
#[derive(Clone, Copy, Debug)]
pub struct QuicDc {
    westwood: Westwood,
    delay: Delay,
}

impl QuicDc {
    /// A controller before the first packet.
    #[must_use]
    pub fn new(config: &Config) -> Self {
        Self { westwood: Westwood::new(config), delay: Delay::new(config.delay) }
    }

    /// What plain Westwood+ makes of the same events.
    #[must_use]
    pub const fn westwood(&self) -> &Westwood {
        &self.westwood
    }

    /// The estimator of the queueing delay, its source included.
    #[must_use]
    pub const fn one_way_delay(&self) -> &OneWayDelay {
        &self.delay.estimator
    }

    /// What the delay signal does at the moment.
    #[must_use]
    pub fn delay_state(&self) -> DelayState {
        match self.threshold() {
            None => DelayState::Blind,
            Some(threshold) if self.delay.is_foreign() => DelayState::ForeignQueue(threshold.drained),
            Some(threshold) => DelayState::Watching(threshold.signal),
        }
    }

    /// Reactions to delay so far; it stops at 2^32 - 1.
    #[must_use]
    pub const fn delay_reactions(&self) -> u32 {
        self.delay.reactions()
    }

    /// Whether the window is lower than that of plain Westwood+, because of delay.
    #[must_use]
    pub const fn is_limited_by_delay(&self) -> bool {
        self.delay.is_limiting()
    }

    fn is_in_slow_start(&self) -> bool {
        self.westwood.is_in_slow_start() && !self.delay.is_limiting()
    }

    fn threshold(&self) -> Option<Threshold> {
        let datagram = self.westwood.settings().datagram();
        let mut bandwidth = self.westwood.bandwidth();
        if self.is_in_slow_start() {
            // The estimate is of a round trip ago or two, when the window was a half or a quarter of this.
            bandwidth = bandwidth.map(|rate| rate.max(self.westwood.window_rate().unwrap_or(rate)));
        }
        self.delay.mode().threshold(self.westwood.min_rtt(), bandwidth, datagram)
    }

    /// All outputs, from the state.
    fn outputs(&self) -> Outputs<'_> {
        let doubling = self.westwood.is_doubling() && !self.delay.is_limiting();
        self.westwood.outputs(self.delay.limited(self.westwood.cwnd()), doubling)
    }

    /// The window in force.
    fn window(&self) -> u64 {
        self.outputs().cwnd()
    }

    fn on_sample(&mut self, now: Instant, sample: Sample, threshold: Option<Threshold>) {
        let (window, slow_start) = (self.window(), self.is_in_slow_start());
        let least_run = if slow_start {
            // A quarter of a round is a quarter of a window more. What is longer than a burst will do.
            burst_bytes(self.westwood.settings().datagram()).min(window / ROUND_DIVISOR)
        } else {
            window / ROUND_DIVISOR
        };
        let Some(reaction) = self.delay.on_sample(now, sample, threshold, least_run) else { return };
        // Reaction to delay as to loss: max(BWE * min RTT, 2 datagrams).
        let target = self.westwood.target(window);
        let least = match reaction {
            // In slow start the packets that tell of the queue left with half of this window, so that half of it fills the path,
            // and the estimate is behind.
            Reaction::Full if !slow_start => 0,
            Reaction::Full | Reaction::AtMostHalf => window / 2,
        };
        self.delay.react(now, target.max(least));
    }

    /// Losses or marks, for which the inner controller has just reduced its window; the newest of the packets was sent at
    /// `sent_at`, and `window` was in force.
    fn on_congestion(&mut self, now: Instant, sent_at: Instant, window: u64) {
        let bandwidth = self.westwood.bandwidth();
        let burst = bandwidth.map_or(Duration::ZERO, |rate| burst(rate, self.westwood.settings().datagram()));
        self.delay.on_congestion(now, sent_at, self.westwood.target(window), burst);
    }

    /// Growth of the limit: as congestion avoidance, and none while the window in force is not used.
    fn grow_limit(&mut self, path: &PathState, ack: &AckEvent<'_>) {
        let fresh = ack
            .packets
            .iter()
            .filter(|packet| !packet.was_lost && self.delay.is_news(packet.sent_at))
            .fold(0_u64, |sum, packet| sum.saturating_add(packet.bytes));
        if fresh > 0 && (self.westwood.utilisation().is_utilised() || self.fills_window(path, ack)) {
            let limit = self.westwood.growth_limit(WindowGrowth::Additive).min(MAX_WINDOW);
            self.delay.grow(fresh, self.westwood.settings().datagram(), limit);
        }
    }

    /// Whether the flight filled the window in force, which may be far below the one that the inner controller judges by.
    fn fills_window(&self, path: &PathState, ack: &AckEvent<'_>) -> bool {
        let flight = ack.max_bytes_in_flight.max(path.prior_bytes_in_flight).max(path.bytes_in_flight);
        let slack = if ack.limited_by == SendLimit::Unknown { FULL_SLACK } else { 1 };
        let room = slack.saturating_mul(self.westwood.settings().datagram());
        flight.saturating_add(room) > self.window()
    }

    /// After every event that may have lowered the inner window.
    fn settle(&mut self) {
        self.delay.drop_idle_limit(self.westwood.cwnd());
    }

    /// The same after a loss or a mark, which must not raise the pacing rate: without its limit a slow start paces faster.
    fn settle_after_signal(&mut self) {
        if !self.westwood.is_doubling() {
            self.settle();
        }
    }
}

impl CongestionController for QuicDc {
    fn on_packet_sent(&mut self, path: &PathState, packet: &SentPacket) {
        self.westwood.on_packet_sent(path, packet);
    }

    fn on_ack(&mut self, path: &PathState, ack: &AckEvent<'_>) {
        let threshold = self.threshold();
        for packet in ack.packets {
            let Some(received_at) = packet.received_at else { continue };
            let queue =
                self.delay.estimator.on_received(path.now, packet.number, packet.sent_at, received_at);
            if let Some(queue) = queue {
                let sample = Sample { sent_at: packet.sent_at, bytes: packet.bytes, queue };
                self.on_sample(path.now, sample, threshold);
            }
        }
        let ended = self.westwood.acknowledge(path, ack);
        if let Some(min_rtt) = self.westwood.min_rtt() {
            self.delay.on_min_rtt(min_rtt);
        }
        self.grow_limit(path, ack);
        if let Some(elapsed) = ended {
            self.delay.on_interval(elapsed);
        }
        self.settle();
    }

    fn on_loss(&mut self, path: &PathState, loss: &LossEvent<'_>) {
        let (window, events) = (self.window(), self.westwood.congestion_events());
        self.westwood.on_loss(path, loss);
        let newest = loss.packets.iter().filter(|packet| packet.bytes > 0).map(|packet| packet.sent_at).max();
        if let Some(sent_at) = newest
            && self.westwood.congestion_events() != events
        {
            self.on_congestion(path.now, sent_at, window);
        }
        self.settle_after_signal();
    }

    fn on_ecn(&mut self, path: &PathState, ecn: &EcnEvent) {
        let (window, events) = (self.window(), self.westwood.congestion_events());
        self.westwood.on_ecn(path, ecn);
        if self.westwood.congestion_events() != events {
            self.on_congestion(path.now, ecn.largest_acked_sent_at, window);
        }
        self.settle_after_signal();
    }

    fn pacing_rate(&self) -> Option<Rate> {
        self.outputs().pacing_rate()
    }

    fn cwnd(&self) -> u64 {
        self.window()
    }

    fn on_rtt(&mut self, path: &PathState, rtt: &RttEvent) {
        self.westwood.on_rtt(path, rtt);
        if rtt.is_sample {
            self.delay.on_rtt(rtt.latest);
        }
        if !self.westwood.settings().ack_arrival {
            return;
        }
        let sent_at = path.now.before(rtt.latest);
        let ack_delay = rtt.ack_delay.unwrap_or(Duration::ZERO);
        if let Some(queue) = self.delay.estimator.on_ack_arrival(path.now, sent_at, ack_delay) {
            // One sample for all that the frame took out of the flight.
            let bytes = path.prior_bytes_in_flight.saturating_sub(path.bytes_in_flight);
            self.on_sample(path.now, Sample { sent_at, bytes, queue }, self.threshold());
        }
    }

    fn on_app_limited(&mut self, path: &PathState) {
        self.westwood.on_app_limited(path);
    }

    fn on_idle_restart(&mut self, path: &PathState, idle: Duration) {
        if let Some(elapsed) = self.westwood.take_idle(path, idle) {
            self.delay.on_interval(elapsed);
        }
    }

    fn on_spurious_loss(&mut self, path: &PathState, spurious: &SpuriousLoss) {
        self.westwood.on_spurious_loss(path, spurious);
    }

    fn on_discarded(&mut self, path: &PathState, bytes: u64, reason: DiscardReason) {
        self.westwood.on_discarded(path, bytes, reason);
    }

    fn on_mtu_update(&mut self, path: &PathState, change: MtuChange) {
        self.westwood.on_mtu_update(path, change);
        self.settle();
    }

    fn on_path_change(&mut self, path: &PathState, change: PathChange) {
        self.westwood.on_path_change(path, change);
        if change == PathChange::New {
            self.delay.on_new_path(path.now);
        }
    }

    fn send_quantum(&self) -> u64 {
        self.outputs().send_quantum()
    }

    fn may_send_beyond_cwnd(&self) -> bool {
        self.westwood.may_send_beyond_cwnd()
    }

    fn wanted_ecn(&self) -> EcnCodepoint {
        self.westwood.wanted_ecn()
    }

    fn snapshot(&self) -> Snapshot {
        let inner = self.westwood.snapshot();
        let limiting = self.delay.is_limiting();
        Snapshot {
            phase: if self.delay.is_foreign() {
                "foreign_queue"
            } else if limiting && !self.westwood.in_recovery() {
                "congestion_avoidance"
            } else {
                inner.phase
            },
            startup: inner.startup && !limiting,
            cwnd: self.cwnd(),
            pacing_rate: self.pacing_rate(),
            // Under a limit the window grows as in congestion avoidance: its threshold is not above it.
            ssthresh: if limiting {
                Some(self.delay.limited(inner.ssthresh.unwrap_or(u64::MAX)))
            } else {
                inner.ssthresh
            },
            queueing_delay: self.delay.estimator.queue(),
            delay_source: self.delay.estimator.source(),
            congestion_events: inner.congestion_events.saturating_add(u64::from(self.delay.reactions())),
            ..inner
        }
    }
}
