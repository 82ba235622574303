//! A controller that writes down what it is told, and a path around it.
#![allow(dead_code, reason = "every test file uses a part of this module")]

use cc_core::{
    AckEvent, AckPolicy, AckedPacket, CongestionController, DiscardReason, Duration, EcnCodepoint, EcnEvent,
    FrameEnd, Instant, LossCause, LossEvent, LostPacket, MtuChange, OutgoingPacket, PacketSpace, Path,
    PathChange, PathConfig, PathState, Rate, RateSample, ResumeHint, RttEvent, SamplingRule, SendLimit,
    SentPacket, Snapshot, SpuriousLoss,
};

/// One call of the trait.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Call {
    Sent(PathState, SentPacket),
    Ack(PathState, Ack),
    Loss(PathState, Loss),
    Ecn(PathState, EcnEvent),
    Rtt(PathState, RttEvent),
    AppLimited(PathState),
    IdleRestart(PathState, Duration),
    Spurious(PathState, SpuriousLoss),
    Discarded(PathState, u64, DiscardReason),
    Mtu(PathState, MtuChange),
    PathChange(PathState, PathChange),
    Resume(PathState, ResumeHint),
    AckPolicy(PathState, AckPolicy),
    EcnState(PathState, EcnCodepoint),
}

/// An owned [`AckEvent`].
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Ack {
    pub(crate) packets: Vec<AckedPacket>,
    pub(crate) last: bool,
    pub(crate) rate_sample: Option<RateSample>,
    pub(crate) limited_by: SendLimit,
    pub(crate) max_bytes_in_flight: u64,
    pub(crate) app_limited_at: Option<Instant>,
    pub(crate) newest_data_sent_at: Option<Instant>,
}

/// An owned [`LossEvent`].
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Loss {
    pub(crate) packets: Vec<LostPacket>,
    pub(crate) last: bool,
    pub(crate) persistent_congestion: bool,
    pub(crate) cause: Option<LossCause>,
}

impl Call {
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Sent(..) => "sent",
            Self::Ack(..) => "ack",
            Self::Loss(..) => "loss",
            Self::Ecn(..) => "ecn",
            Self::Rtt(..) => "rtt",
            Self::AppLimited(..) => "app_limited",
            Self::IdleRestart(..) => "idle_restart",
            Self::Spurious(..) => "spurious",
            Self::Discarded(..) => "discarded",
            Self::Mtu(..) => "mtu",
            Self::PathChange(..) => "path_change",
            Self::Resume(..) => "resume",
            Self::AckPolicy(..) => "ack_policy",
            Self::EcnState(..) => "ecn_state",
        }
    }

    pub(crate) fn state(&self) -> &PathState {
        match self {
            Self::Sent(state, _)
            | Self::Ack(state, _)
            | Self::Loss(state, _)
            | Self::Ecn(state, _)
            | Self::Rtt(state, _)
            | Self::AppLimited(state)
            | Self::IdleRestart(state, _)
            | Self::Spurious(state, _)
            | Self::Discarded(state, ..)
            | Self::Mtu(state, _)
            | Self::PathChange(state, _)
            | Self::Resume(state, _)
            | Self::AckPolicy(state, _)
            | Self::EcnState(state, _) => state,
        }
    }
}

/// Writes every call down; its outputs are set by the test.
#[derive(Clone, Debug)]
pub(crate) struct Recorder {
    pub(crate) calls: Vec<Call>,
    pub(crate) cwnd: u64,
    pub(crate) pacing_rate: Option<Rate>,
    pub(crate) send_quantum: u64,
    pub(crate) may_send_beyond_cwnd: bool,
    pub(crate) marks_app_limited: bool,
    pub(crate) rule: SamplingRule,
}

impl Default for Recorder {
    fn default() -> Self {
        Self {
            calls: Vec::new(),
            cwnd: 1 << 40,
            pacing_rate: None,
            send_quantum: 12_000,
            may_send_beyond_cwnd: false,
            marks_app_limited: false,
            rule: SamplingRule::LastAck,
        }
    }
}

impl CongestionController for Recorder {
    fn on_packet_sent(&mut self, path: &PathState, packet: &SentPacket) {
        self.calls.push(Call::Sent(*path, *packet));
    }
    fn on_ack(&mut self, path: &PathState, ack: &AckEvent<'_>) {
        let owned = Ack {
            packets: ack.packets.to_vec(),
            last: ack.last,
            rate_sample: ack.rate_sample,
            limited_by: ack.limited_by,
            max_bytes_in_flight: ack.max_bytes_in_flight,
            app_limited_at: ack.app_limited_at,
            newest_data_sent_at: ack.newest_data_sent_at,
        };
        self.calls.push(Call::Ack(*path, owned));
    }
    fn on_loss(&mut self, path: &PathState, loss: &LossEvent<'_>) {
        let owned = Loss {
            packets: loss.packets.to_vec(),
            last: loss.last,
            persistent_congestion: loss.persistent_congestion,
            cause: loss.cause,
        };
        self.calls.push(Call::Loss(*path, owned));
    }
    fn on_ecn(&mut self, path: &PathState, ecn: &EcnEvent) {
        self.calls.push(Call::Ecn(*path, *ecn));
    }
    fn pacing_rate(&self) -> Option<Rate> {
        self.pacing_rate
    }
    fn cwnd(&self) -> u64 {
        self.cwnd
    }
    fn on_rtt(&mut self, path: &PathState, rtt: &RttEvent) {
        self.calls.push(Call::Rtt(*path, *rtt));
    }
    fn on_app_limited(&mut self, path: &PathState) {
        self.calls.push(Call::AppLimited(*path));
    }
    fn on_idle_restart(&mut self, path: &PathState, idle: Duration) {
        self.calls.push(Call::IdleRestart(*path, idle));
    }
    fn on_spurious_loss(&mut self, path: &PathState, spurious: &SpuriousLoss) {
        self.calls.push(Call::Spurious(*path, *spurious));
    }
    fn on_discarded(&mut self, path: &PathState, bytes: u64, reason: DiscardReason) {
        self.calls.push(Call::Discarded(*path, bytes, reason));
    }
    fn on_mtu_update(&mut self, path: &PathState, change: MtuChange) {
        self.calls.push(Call::Mtu(*path, change));
    }
    fn on_path_change(&mut self, path: &PathState, change: PathChange) {
        self.calls.push(Call::PathChange(*path, change));
    }
    fn on_resume_hint(&mut self, path: &PathState, hint: &ResumeHint) {
        self.calls.push(Call::Resume(*path, *hint));
    }
    fn on_ack_policy(&mut self, path: &PathState, policy: &AckPolicy) {
        self.calls.push(Call::AckPolicy(*path, *policy));
    }
    fn on_ecn_state(&mut self, path: &PathState, codepoint: EcnCodepoint) {
        self.calls.push(Call::EcnState(*path, codepoint));
    }
    fn send_quantum(&self) -> u64 {
        self.send_quantum
    }
    fn may_send_beyond_cwnd(&self) -> bool {
        self.may_send_beyond_cwnd
    }
    fn sampling_rule(&self) -> SamplingRule {
        self.rule
    }
    fn marks_app_limited(&self) -> bool {
        self.marks_app_limited
    }
    fn snapshot(&self) -> Snapshot {
        Snapshot::default()
    }
}

pub(crate) type TestPath = Path<Recorder, 64>;

/// A path with 25 ms `max_ack_delay` whose losses the test declares. Its construction is not recorded.
pub(crate) fn path() -> TestPath {
    let mut path = Path::new(Recorder::default(), PathConfig::default());
    calls(&mut path);
    path
}

/// The calls since the last time.
pub(crate) fn calls<const N: usize>(path: &mut Path<Recorder, N>) -> Vec<Call> {
    std::mem::take(&mut path.controller_mut().calls)
}

pub(crate) fn names(calls: &[Call]) -> Vec<&'static str> {
    calls.iter().map(Call::name).collect()
}

pub(crate) fn ms(millis: u64) -> Instant {
    Instant::from_millis(millis)
}

pub(crate) fn span(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// Sends `count` application packets of 1200 bytes at one time; the first number.
pub(crate) fn send<const N: usize>(path: &mut Path<Recorder, N>, now: Instant, count: u64) -> u64 {
    let first = path.next_number();
    for _ in 0..count {
        send_packet(path, OutgoingPacket { sent_at: now, ..OutgoingPacket::default() });
    }
    first
}

pub(crate) fn send_packet<const N: usize>(path: &mut Path<Recorder, N>, packet: OutgoingPacket) -> u64 {
    path.on_packet_sent(packet.sent_at, &packet).expect("the ring has room")
}

/// An ACK frame of the application space.
pub(crate) fn ack<const N: usize>(
    path: &mut Path<Recorder, N>,
    now: Instant,
    numbers: impl IntoIterator<Item = u64>,
) -> cc_core::FrameReport {
    for number in numbers {
        path.acked(number, None);
    }
    path.finish(now, FrameEnd::default())
}

pub(crate) fn in_space(space: PacketSpace) -> OutgoingPacket {
    OutgoingPacket { space, ..OutgoingPacket::default() }
}
