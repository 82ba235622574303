//! Writes down what a path tells its controller, and hands it on.

use super::{Outputs, Settable};
use cc_core::{
    AckEvent, AckPolicy, AckedPacket, CongestionController, DiscardReason, Duration, EcnCodepoint, EcnEvent,
    LossCause, LossEvent, LostPacket, MtuChange, PathChange, PathState, Rate, RateSample, ResumeHint,
    RttEvent, SamplingRule, SentPacket, Snapshot, SpuriousLoss,
};

/// A call that the model knows about.
#[derive(Clone, Debug)]
pub(super) enum Call {
    Ecn(PathState, EcnEvent),
    Rtt(PathState, RttEvent),
    Loss { path: PathState, packets: Vec<LostPacket>, last: bool, persistent: bool, cause: Option<LossCause> },
    Spurious(PathState, SpuriousLoss),
    Ack { path: PathState, packets: Vec<AckedPacket>, last: bool, sample: Option<RateSample> },
    Discarded(PathState, u64),
}

/// A controller with a log.
#[derive(Clone, Debug)]
pub(super) struct Spy<C> {
    inner: C,
    calls: Vec<Call>,
}

impl<C> Spy<C> {
    pub(super) fn new(inner: C) -> Self {
        Self { inner, calls: Vec::new() }
    }

    /// The calls since the last time.
    pub(super) fn take(&mut self) -> Vec<Call> {
        std::mem::take(&mut self.calls)
    }
}

impl<C: Settable> Settable for Spy<C> {
    fn set(&mut self, outputs: &Outputs) {
        self.inner.set(outputs);
    }
}

impl<C: CongestionController> CongestionController for Spy<C> {
    fn on_packet_sent(&mut self, path: &PathState, packet: &SentPacket) {
        self.inner.on_packet_sent(path, packet);
    }
    fn on_ack(&mut self, path: &PathState, ack: &AckEvent<'_>) {
        let packets = ack.packets.to_vec();
        self.calls.push(Call::Ack { path: *path, packets, last: ack.last, sample: ack.rate_sample });
        self.inner.on_ack(path, ack);
    }
    fn on_loss(&mut self, path: &PathState, loss: &LossEvent<'_>) {
        self.calls.push(Call::Loss {
            path: *path,
            packets: loss.packets.to_vec(),
            last: loss.last,
            persistent: loss.persistent_congestion,
            cause: loss.cause,
        });
        self.inner.on_loss(path, loss);
    }
    fn on_ecn(&mut self, path: &PathState, ecn: &EcnEvent) {
        self.calls.push(Call::Ecn(*path, *ecn));
        self.inner.on_ecn(path, ecn);
    }
    fn on_rtt(&mut self, path: &PathState, rtt: &RttEvent) {
        self.calls.push(Call::Rtt(*path, *rtt));
        self.inner.on_rtt(path, rtt);
    }
    fn on_spurious_loss(&mut self, path: &PathState, spurious: &SpuriousLoss) {
        self.calls.push(Call::Spurious(*path, *spurious));
        self.inner.on_spurious_loss(path, spurious);
    }
    fn on_discarded(&mut self, path: &PathState, bytes: u64, reason: DiscardReason) {
        self.calls.push(Call::Discarded(*path, bytes));
        self.inner.on_discarded(path, bytes, reason);
    }
    fn on_app_limited(&mut self, path: &PathState) {
        self.inner.on_app_limited(path);
    }
    fn on_idle_restart(&mut self, path: &PathState, idle: Duration) {
        self.inner.on_idle_restart(path, idle);
    }
    fn on_mtu_update(&mut self, path: &PathState, change: MtuChange) {
        self.inner.on_mtu_update(path, change);
    }
    fn on_path_change(&mut self, path: &PathState, change: PathChange) {
        self.inner.on_path_change(path, change);
    }
    fn on_resume_hint(&mut self, path: &PathState, hint: &ResumeHint) {
        self.inner.on_resume_hint(path, hint);
    }
    fn on_ack_policy(&mut self, path: &PathState, policy: &AckPolicy) {
        self.inner.on_ack_policy(path, policy);
    }
    fn on_ecn_state(&mut self, path: &PathState, codepoint: EcnCodepoint) {
        self.inner.on_ecn_state(path, codepoint);
    }
    fn pacing_rate(&self) -> Option<Rate> {
        self.inner.pacing_rate()
    }
    fn cwnd(&self) -> u64 {
        self.inner.cwnd()
    }
    fn send_quantum(&self) -> u64 {
        self.inner.send_quantum()
    }
    fn may_send_beyond_cwnd(&self) -> bool {
        self.inner.may_send_beyond_cwnd()
    }
    fn wanted_ecn(&self) -> EcnCodepoint {
        self.inner.wanted_ecn()
    }
    fn wanted_ack_policy(&self) -> Option<AckPolicy> {
        self.inner.wanted_ack_policy()
    }
    fn sampling_rule(&self) -> SamplingRule {
        self.inner.sampling_rule()
    }
    fn marks_app_limited(&self) -> bool {
        self.inner.marks_app_limited()
    }
    fn snapshot(&self) -> Snapshot {
        self.inner.snapshot()
    }
}
