//! The controller: events to state, and all outputs from state in one place.

use crate::config::{Config, Settings};
use crate::window::{INFINITE, Window};
use cc_core::{
    AckEvent, CongestionController, DiscardReason, Duration, EcnCodepoint, EcnEvent, LossEvent, MtuChange,
    PathChange, PathState, Rate, RecoveryPeriod, RttEvent, SentPacket, SlowStart, SlowStartStep, Snapshot,
    SpuriousLoss, StandardSlowStart, Utilisation, WindowGrowth, division,
};

/// Largest [`send_quantum`](CongestionController::send_quantum) in bytes: what one UDP segmentation offload call takes.
const MAX_QUANTUM: u64 = 65_536;

/// The quantum is this part of the window: four bursts per round trip (picoquic's choice).
const QUANTUM_DIVISOR: u64 = 4;

/// Smoothed RTTs below this are taken as this: clocks of some stacks are that coarse.
const MIN_RTT: Duration = Duration::from_micros(1);

/// NewReno with a slow start of choice. See the [crate documentation](crate).
#[derive(Clone, Copy, Debug)]
pub struct Reno<S: SlowStart = StandardSlowStart> {
    settings: Settings,
    window: Window,
    slow_start: S,
    utilisation: Utilisation,
    period: RecoveryPeriod,
    /// Smoothed RTT of the newest ACK; zero before the first sample.
    smoothed_rtt: Duration,
    congestion_events: u32,
    outputs: Outputs,
}

/// The states of RFC 9002 section 7.3.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    SlowStart,
    Recovery,
    CongestionAvoidance,
}

/// What the stack reads.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Outputs {
    cwnd: u64,
    pacing_rate: Option<Rate>,
    send_quantum: u64,
}

impl Reno<StandardSlowStart> {
    /// NewReno with the slow start of RFC 9002 section 7.3.1.
    #[must_use]
    pub fn new(config: &Config) -> Self {
        Self::with_slow_start(config, StandardSlowStart)
    }
}

impl<S: SlowStart> Reno<S> {
    /// NewReno with another initial slow start.
    #[must_use]
    pub fn with_slow_start(config: &Config, slow_start: S) -> Self {
        let settings = Settings::new(config);
        let mut reno = Self {
            settings,
            window: Window::initial(&settings),
            slow_start,
            utilisation: Utilisation::new(settings.increase_rule, settings.initial_window()),
            period: RecoveryPeriod::new(),
            smoothed_rtt: Duration::ZERO,
            congestion_events: 0,
            outputs: Outputs::default(),
        };
        reno.update_outputs();
        reno
    }

    /// Slow-start threshold in bytes; `None` while it is infinite.
    #[must_use]
    pub fn ssthresh(&self) -> Option<u64> {
        (self.window.ssthresh != INFINITE).then_some(self.window.ssthresh)
    }

    /// Whether a recovery period is running (RFC 9002 section 7.3.2).
    #[must_use]
    pub const fn in_recovery(&self) -> bool {
        self.period.is_running()
    }

    /// Whether the window was used at the newest ACK (RFC 9002 section 7.8).
    #[must_use]
    pub const fn utilisation(&self) -> &Utilisation {
        &self.utilisation
    }

    /// The slow-start algorithm.
    #[must_use]
    pub const fn slow_start(&self) -> &S {
        &self.slow_start
    }

    const fn phase(&self) -> Phase {
        if self.period.is_running() {
            Phase::Recovery
        } else if self.window.cwnd < self.window.ssthresh {
            Phase::SlowStart
        } else {
            Phase::CongestionAvoidance
        }
    }

    /// All outputs, from the state.
    fn update_outputs(&mut self) {
        let cwnd = self.settings.limited(self.window.cwnd);
        // RFC 9002 section 7.7: rate = N * congestion_window / smoothed_rtt.
        let per_rtt = division::by_hundred(cwnd.saturating_mul(u64::from(self.settings.pacing_percent)));
        let pacing_rate =
            Rate::from_delivery(per_rtt, self.smoothed_rtt).map(|rate| rate.max(Rate::from_bytes_per_sec(1)));
        // At least two datagrams, and no burst above the initial window (RFC 9002 section 7.7).
        let quantum =
            (cwnd / QUANTUM_DIVISOR).min(self.settings.initial_window()).max(self.settings.min_window());
        self.outputs = Outputs { cwnd, pacing_rate, send_quantum: quantum.min(MAX_QUANTUM) };
    }

    /// Takes the datagram size from the path state where a stack does not announce a change.
    #[inline]
    fn follow_mtu(&mut self, path: &PathState) {
        // Every event asks, and the answer is no.
        if !self.settings.is_datagram(path.max_datagram_size) {
            self.take_mtu(path, !path.handshake_ready);
        }
    }

    /// Takes the datagram size from the path state; `in_handshake` if a change belongs to the handshake.
    fn take_mtu(&mut self, path: &PathState, in_handshake: bool) {
        let old = self.settings;
        if !self.settings.set_datagram(path.max_datagram_size) {
            return;
        }
        if in_handshake && self.window.change_initial_window(&old, &self.settings) {
            self.utilisation = Utilisation::new(self.settings.increase_rule, self.settings.initial_window());
        }
        self.window.cwnd = self.window.cwnd.max(self.settings.min_window());
        self.update_outputs();
    }

    fn take_rtt(&mut self, path: &PathState) {
        if let Some(rtt) = path.rtt {
            self.smoothed_rtt = rtt.smoothed.max(MIN_RTT);
        }
    }

    /// Newly acked packets (RFC 9002 appendix B.5).
    fn take_ack(&mut self, path: &PathState, ack: &AckEvent<'_>) {
        let (mut acked, mut fresh) = (0_u64, 0_u64);
        for packet in ack.packets {
            acked = acked.saturating_add(packet.bytes);
            if !packet.was_lost && !self.period.covers(packet.number, packet.sent_at) {
                fresh = fresh.saturating_add(packet.bytes);
            }
        }
        if acked == 0 {
            return;
        }
        self.take_rtt(path);
        self.period.on_ack(path.now);
        let slow_start = self.phase() == Phase::SlowStart;
        let utilised = self.utilisation.on_ack(path, ack, self.outputs.cwnd, slow_start);
        if fresh > 0 {
            // RFC 9002 section 7.3.2: a packet sent during recovery is acked.
            self.period.end();
            self.grow(path, ack, if utilised { fresh } else { 0 });
        }
        self.update_outputs();
    }

    fn grow(&mut self, path: &PathState, ack: &AckEvent<'_>, bytes: u64) {
        let mut left = bytes;
        if self.phase() == Phase::SlowStart {
            left = self.grow_in_slow_start(path, ack, bytes);
        }
        if self.phase() == Phase::CongestionAvoidance {
            let limit = self.limit(WindowGrowth::Additive);
            self.window.avoid_congestion(left, self.settings.datagram(), limit);
        }
    }

    /// Returns the bytes that are left for congestion avoidance.
    fn grow_in_slow_start(&mut self, path: &PathState, ack: &AckEvent<'_>, bytes: u64) -> u64 {
        let limit = self.limit(WindowGrowth::Doubling);
        let step = if self.window.in_initial_slow_start() {
            self.slow_start.on_ack(path, ack, bytes)
        } else {
            // RFC 9406 section 4.3: HyStart++ serves the initial slow start only.
            SlowStartStep::Grow(bytes)
        };
        match step {
            SlowStartStep::Grow(growth) => self.window.slow_start(bytes, growth, limit),
            SlowStartStep::Exit(growth) => {
                self.window.slow_start(bytes, growth, limit);
                self.window.ssthresh = self.window.cwnd;
                0
            }
        }
    }

    fn limit(&self, growth: WindowGrowth) -> u64 {
        self.utilisation.limit(growth, self.settings.datagram()).min(self.settings.max_window())
    }

    /// RFC 9002 appendix B.6: a congestion event that no earlier reduction covers.
    fn reduce(&mut self, path: &PathState) {
        self.window.reduce(&self.settings);
        self.period.begin(path);
        self.congestion_events = self.congestion_events.saturating_add(1);
        self.utilisation.on_reduction();
    }
}

impl<S: SlowStart> CongestionController for Reno<S> {
    fn on_packet_sent(&mut self, path: &PathState, packet: &SentPacket) {
        self.follow_mtu(path);
        self.period.on_packet_sent(path, packet, self.outputs.cwnd);
        self.utilisation.on_packet_sent(path);
        self.slow_start.on_packet_sent(path, packet);
    }

    fn on_ack(&mut self, path: &PathState, ack: &AckEvent<'_>) {
        self.follow_mtu(path);
        self.take_ack(path, ack);
        if ack.last {
            self.utilisation.on_frame_end();
            self.slow_start.on_frame_end();
        }
    }

    /// RFC 9002 appendix B.8.
    fn on_loss(&mut self, path: &PathState, loss: &LossEvent<'_>) {
        self.follow_mtu(path);
        let (mut any_new, mut any_here) = (false, false);
        for packet in loss.packets.iter().filter(|packet| packet.bytes > 0) {
            any_new |= !self.period.covers(packet.number, packet.sent_at);
            any_here |= !self.period.is_elsewhere(packet.number, packet.sent_at);
        }
        if any_new {
            self.reduce(path);
        }
        // RFC 9002 section 7.6.2, also for losses that an earlier reduction answered, but once for the same packets.
        if loss.persistent_congestion && any_here && !self.period.is_collapse() {
            self.window.collapse(&self.settings);
            self.utilisation.on_reduction();
            self.period.collapse();
        }
        self.update_outputs();
    }

    /// RFC 9002 appendix B.7: the largest acked packet stands for the mark.
    fn on_ecn(&mut self, path: &PathState, ecn: &EcnEvent) {
        self.follow_mtu(path);
        if ecn.marks() > 0 && !self.period.covers(ecn.largest_acked, ecn.largest_acked_sent_at) {
            self.reduce(path);
            self.update_outputs();
        }
    }

    fn pacing_rate(&self) -> Option<Rate> {
        self.outputs.pacing_rate
    }

    fn cwnd(&self) -> u64 {
        self.outputs.cwnd
    }

    fn on_rtt(&mut self, path: &PathState, rtt: &RttEvent) {
        self.follow_mtu(path);
        self.take_rtt(path);
        if self.window.in_initial_slow_start() {
            self.slow_start.on_rtt(path, rtt);
        }
        self.update_outputs();
    }

    fn on_app_limited(&mut self, path: &PathState) {
        self.follow_mtu(path);
        self.utilisation.on_app_limited(path.now);
    }

    fn on_idle_restart(&mut self, path: &PathState, _idle: Duration) {
        self.follow_mtu(path);
    }

    fn on_spurious_loss(&mut self, path: &PathState, _spurious: &SpuriousLoss) {
        self.follow_mtu(path);
    }

    fn on_discarded(&mut self, path: &PathState, _bytes: u64, _reason: DiscardReason) {
        self.follow_mtu(path);
    }

    fn on_mtu_update(&mut self, path: &PathState, change: MtuChange) {
        self.take_mtu(path, change == MtuChange::Handshake || !path.handshake_ready);
    }

    fn on_path_change(&mut self, path: &PathState, change: PathChange) {
        if change == PathChange::Rebinding {
            self.follow_mtu(path);
            return;
        }
        // RFC 9000 section 9.4: start again; packets sent on the old path say nothing about the new one.
        self.settings.set_datagram(path.max_datagram_size);
        self.window = Window::initial(&self.settings);
        self.slow_start.reset();
        self.utilisation = Utilisation::new(self.settings.increase_rule, self.settings.initial_window());
        self.period.on_new_path(path);
        self.smoothed_rtt = Duration::ZERO;
        self.update_outputs();
    }

    fn send_quantum(&self) -> u64 {
        self.outputs.send_quantum
    }

    fn may_send_beyond_cwnd(&self) -> bool {
        self.period.may_send_beyond_cwnd()
    }

    fn wanted_ecn(&self) -> EcnCodepoint {
        if self.settings.ecn { EcnCodepoint::Ect0 } else { EcnCodepoint::NotEct }
    }

    fn uses_rate_samples(&self) -> bool {
        false
    }

    fn snapshot(&self) -> Snapshot {
        let startup = self.window.in_initial_slow_start();
        Snapshot {
            phase: match self.phase() {
                Phase::SlowStart if startup => self.slow_start.phase(),
                Phase::SlowStart => "slow_start",
                Phase::Recovery => "recovery",
                Phase::CongestionAvoidance => "congestion_avoidance",
            },
            startup,
            cwnd: self.outputs.cwnd,
            pacing_rate: self.outputs.pacing_rate,
            ssthresh: self.ssthresh(),
            model_rtt: (!self.smoothed_rtt.is_zero()).then_some(self.smoothed_rtt),
            congestion_events: u64::from(self.congestion_events),
            ..Snapshot::default()
        }
    }
}
