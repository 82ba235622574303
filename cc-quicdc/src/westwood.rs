//! Westwood+: a loss reduces the window to what the path was measured to hold.

use crate::config::{Config, MAX_WINDOW, Settings};
use crate::measures::Measures;
use crate::outputs::Outputs;
use cc_core::{
    AckEvent, AdditiveIncrease, CongestionController, DiscardReason, Duration, EcnCodepoint, EcnEvent,
    LossEvent, MtuChange, PathChange, PathState, Rate, RecoveryPeriod, RttEvent, SendLimit, SentPacket,
    Snapshot, SpuriousLoss, Utilisation, WindowGrowth,
};

/// "Infinite" slow-start threshold (RFC 9002 appendix B.4).
const INFINITE: u64 = u64::MAX;

/// Smoothed RTTs below this are taken as this: clocks of some stacks are that coarse.
const MIN_SMOOTHED_RTT: Duration = Duration::from_micros(1);

/// Westwood+ for QUIC: NewReno's states and growth (RFC 9002 section 7), but a loss or a CE mark reduces the window to bandwidth
/// estimate times minimum RTT. See the [crate documentation](crate).
#[derive(Clone, Copy, Debug)]
pub struct Westwood {
    settings: Settings,
    congestion_events: u32,
    cwnd: u64,
    ssthresh: u64,
    increase: AdditiveIncrease,
    utilisation: Utilisation,
    period: RecoveryPeriod,
    measures: Measures,
    /// Of the newest ACK; zero before the first sample.
    smoothed_rtt: Duration,
}

impl Westwood {
    /// A controller before the first packet.
    #[must_use]
    pub fn new(config: &Config) -> Self {
        let settings = Settings::new(config);
        Self {
            settings,
            congestion_events: 0,
            cwnd: settings.initial_window(),
            ssthresh: INFINITE,
            increase: AdditiveIncrease::new(),
            utilisation: Utilisation::new(settings.increase_rule, settings.initial_window()),
            period: RecoveryPeriod::new(),
            measures: Measures::new(),
            smoothed_rtt: Duration::ZERO,
        }
    }

    /// The bandwidth estimate `BWE`; `None` with fewer than two samples.
    #[must_use]
    pub fn bandwidth(&self) -> Option<Rate> {
        self.measures.bandwidth()
    }

    /// The minimum RTT, at most about 20 s old, in whole microseconds; `None` before the first sample.
    #[must_use]
    pub fn min_rtt(&self) -> Option<Duration> {
        self.measures.min_rtt()
    }

    /// Slow-start threshold in bytes; `None` while it is infinite.
    #[must_use]
    pub fn ssthresh(&self) -> Option<u64> {
        (self.ssthresh != INFINITE).then_some(self.ssthresh)
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

    /// Reductions so far; it stops at 2^32 - 1.
    pub(crate) const fn congestion_events(&self) -> u32 {
        self.congestion_events
    }

    pub(crate) const fn settings(&self) -> &Settings {
        &self.settings
    }

    pub(crate) const fn is_in_slow_start(&self) -> bool {
        !self.period.is_running() && self.cwnd < self.ssthresh
    }

    /// Whether slow start paces ahead of the flight. The one after a collapse does from its first ack on: no signal raises
    /// the pacing rate.
    pub(crate) fn is_doubling(&self) -> bool {
        self.is_in_slow_start() && !self.period.is_fresh_collapse()
    }

    /// What a window of `cwnd` bytes is reduced to: `max(BWE * min RTT, 2 datagrams)`, with half of the window in place
    /// of the product where there are fewer than two samples. At most the window itself.
    pub(crate) fn target(&self, cwnd: u64) -> u64 {
        let measured = match (self.measures.bandwidth(), self.measures.min_rtt()) {
            (Some(bandwidth), Some(min_rtt)) => bandwidth.bytes_in(min_rtt),
            _ => cwnd / 2,
        };
        measured.min(cwnd).max(self.settings.min_window())
    }

    /// The window per smoothed RTT; `None` before an RTT is known.
    pub(crate) fn window_rate(&self) -> Option<Rate> {
        Rate::from_delivery(self.cwnd, self.smoothed_rtt)
    }

    /// All outputs for a window of `cwnd` bytes, from the state.
    pub(crate) fn outputs(&self, cwnd: u64, doubling: bool) -> Outputs<'_> {
        Outputs::new(&self.settings, cwnd, doubling, self.smoothed_rtt)
    }

    fn own_outputs(&self) -> Outputs<'_> {
        self.outputs(self.cwnd, self.is_doubling())
    }

    /// Newly acked packets, or nothing new in the last part of a frame. Returns the length of the interval of the bandwidth
    /// estimate if one ended.
    pub(crate) fn acknowledge(&mut self, path: &PathState, ack: &AckEvent<'_>) -> Option<Duration> {
        self.follow_mtu(path);
        let ended = self.take_ack(path, ack);
        if ack.last {
            self.utilisation.on_frame_end();
        }
        ended
    }

    /// The flight was empty for `idle`. Returns the length of the interval of the bandwidth estimate if that broke it off.
    pub(crate) fn take_idle(&mut self, path: &PathState, idle: Duration) -> Option<Duration> {
        self.follow_mtu(path);
        self.measures.on_idle(path.now, idle, self.smoothed_rtt)
    }

    fn take_ack(&mut self, path: &PathState, ack: &AckEvent<'_>) -> Option<Duration> {
        let (mut acked, mut fresh) = (0_u64, 0_u64);
        for packet in ack.packets {
            if self.period.is_elsewhere(packet.number, packet.sent_at) {
                continue;
            }
            acked = acked.saturating_add(packet.bytes);
            // RFC 9002 appendix B.5: packets sent before the reduction do not grow the window.
            if !packet.was_lost && !self.period.covers(packet.number, packet.sent_at) {
                fresh = fresh.saturating_add(packet.bytes);
            }
        }
        if acked == 0 {
            return None;
        }
        self.take_rtt(path);
        let ended = self.measure(path, ack, acked);
        self.period.on_ack(path.now);
        let utilised = self.utilisation.on_ack(path, ack, self.cwnd, self.is_in_slow_start());
        if fresh > 0 {
            self.period.end();
            self.grow(if utilised { fresh } else { 0 });
        }
        ended
    }

    /// Bandwidth and minimum RTT, after the losses of the same frame.
    fn measure(&mut self, path: &PathState, ack: &AckEvent<'_>, acked: u64) -> Option<Duration> {
        let held_back =
            matches!(ack.limited_by, SendLimit::NoData | SendLimit::FlowControl | SendLimit::Amplification);
        if held_back || path.app_limited || ack.rate_sample.is_some_and(|sample| sample.app_limited) {
            self.measures.mark_limited();
        }
        let latest = path.rtt.map(|rtt| rtt.latest);
        self.measures.on_ack(path.now, acked, ack.last, latest, self.settings.filter)
    }

    fn grow(&mut self, bytes: u64) {
        let mut left = bytes;
        if self.cwnd < self.ssthresh {
            // RFC 9002 section 7.3.1, up to the threshold; the rest counts for congestion avoidance.
            let limit = self.growth_limit(WindowGrowth::Doubling).min(self.ssthresh);
            let growth = bytes.min(limit.saturating_sub(self.cwnd));
            self.cwnd = self.cwnd.saturating_add(growth);
            left = bytes.saturating_sub(growth);
        }
        if self.cwnd >= self.ssthresh {
            // RFC 9002 section 7.3.3.
            let limit = self.growth_limit(WindowGrowth::Additive);
            self.cwnd = self.increase.grow(self.cwnd, left, self.settings.datagram(), limit);
        }
    }

    /// Largest window that growth may reach, in bytes.
    pub(crate) fn growth_limit(&self, growth: WindowGrowth) -> u64 {
        self.utilisation.limit(growth, self.settings.datagram()).min(MAX_WINDOW)
    }

    /// A congestion event that no earlier reduction covers.
    fn reduce(&mut self, path: &PathState) {
        self.cwnd = self.target(self.cwnd);
        self.ssthresh = self.cwnd;
        self.increase.restart();
        self.period.begin(path);
        self.congestion_events = self.congestion_events.saturating_add(1);
        self.utilisation.on_reduction();
    }

    fn take_rtt(&mut self, path: &PathState) {
        if let Some(rtt) = path.rtt {
            self.smoothed_rtt = rtt.smoothed.max(MIN_SMOOTHED_RTT);
        }
    }

    /// Takes the datagram size from the path state where a stack does not announce a change.
    fn follow_mtu(&mut self, path: &PathState) {
        self.take_mtu(path, !path.handshake_ready);
    }

    /// Takes the datagram size from the path state; `in_handshake` if a change belongs to the handshake.
    fn take_mtu(&mut self, path: &PathState, in_handshake: bool) {
        let old = self.settings;
        if !self.settings.set_datagram(path.max_datagram_size) {
            return;
        }
        // RFC 9002 section 7.2.
        let initial = self.settings.initial_window();
        let follows = in_handshake
            && if self.settings.datagram() < old.datagram() {
                self.cwnd > initial
            } else {
                self.ssthresh == INFINITE && self.cwnd == old.initial_window()
            };
        if follows {
            self.cwnd = initial;
            if self.ssthresh != INFINITE {
                // Not a slow start, which would pace faster, in a call that may tell a loss.
                self.ssthresh = initial;
            }
            self.utilisation = Utilisation::new(self.settings.increase_rule, initial);
        }
        self.cwnd = self.cwnd.max(self.settings.min_window());
    }
}

impl CongestionController for Westwood {
    fn on_packet_sent(&mut self, path: &PathState, packet: &SentPacket) {
        self.follow_mtu(path);
        self.period.on_packet_sent(path, packet, self.cwnd);
        self.utilisation.on_packet_sent(path);
    }

    fn on_ack(&mut self, path: &PathState, ack: &AckEvent<'_>) {
        self.acknowledge(path, ack);
    }

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
            self.cwnd = self.settings.min_window();
            self.increase.restart();
            self.utilisation.on_reduction();
            self.period.collapse();
        }
    }

    fn on_ecn(&mut self, path: &PathState, ecn: &EcnEvent) {
        self.follow_mtu(path);
        // RFC 9002 appendix B.7: the largest acked packet stands for the mark.
        if ecn.marks() > 0 && !self.period.covers(ecn.largest_acked, ecn.largest_acked_sent_at) {
            self.reduce(path);
        }
    }

    fn pacing_rate(&self) -> Option<Rate> {
        self.own_outputs().pacing_rate()
    }

    fn cwnd(&self) -> u64 {
        self.own_outputs().cwnd()
    }

    fn on_rtt(&mut self, path: &PathState, _rtt: &RttEvent) {
        self.follow_mtu(path);
        self.take_rtt(path);
    }

    fn on_app_limited(&mut self, path: &PathState) {
        self.follow_mtu(path);
        self.utilisation.on_app_limited(path.now);
        self.measures.mark_limited();
    }

    fn on_idle_restart(&mut self, path: &PathState, idle: Duration) {
        self.take_idle(path, idle);
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
        self.cwnd = self.settings.initial_window();
        self.ssthresh = INFINITE;
        self.increase.restart();
        self.utilisation = Utilisation::new(self.settings.increase_rule, self.settings.initial_window());
        self.period.on_new_path(path);
        self.measures = Measures::new();
        self.smoothed_rtt = Duration::ZERO;
    }

    fn send_quantum(&self) -> u64 {
        self.own_outputs().send_quantum()
    }

    fn may_send_beyond_cwnd(&self) -> bool {
        self.period.may_send_beyond_cwnd()
    }

    fn wanted_ecn(&self) -> EcnCodepoint {
        if self.settings.ecn { EcnCodepoint::Ect0 } else { EcnCodepoint::NotEct }
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot {
            phase: if self.period.is_running() {
                "recovery"
            } else if self.cwnd < self.ssthresh {
                "slow_start"
            } else {
                "congestion_avoidance"
            },
            startup: self.ssthresh == INFINITE,
            cwnd: self.cwnd(),
            pacing_rate: self.pacing_rate(),
            ssthresh: self.ssthresh(),
            bandwidth: self.bandwidth(),
            model_rtt: self.min_rtt(),
            congestion_events: u64::from(self.congestion_events),
            ..Snapshot::default()
        }
    }
}
