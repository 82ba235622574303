//! Boxed controllers are controllers (feature `alloc`).

extern crate alloc;

use crate::{
    AckEvent, AckPolicy, CongestionController, DiscardReason, Duration, EcnCodepoint, EcnEvent, LossEvent,
    MtuChange, PathChange, PathState, Rate, ResumeHint, RttEvent, SamplingRule, SentPacket, Snapshot,
    SpuriousLoss,
};
use alloc::boxed::Box;

/// Every method is handed on, those with default bodies too.
impl<C: CongestionController + ?Sized> CongestionController for Box<C> {
    fn on_packet_sent(&mut self, path: &PathState, packet: &SentPacket) {
        (**self).on_packet_sent(path, packet);
    }
    fn on_ack(&mut self, path: &PathState, ack: &AckEvent<'_>) {
        (**self).on_ack(path, ack);
    }
    fn on_loss(&mut self, path: &PathState, loss: &LossEvent<'_>) {
        (**self).on_loss(path, loss);
    }
    fn on_ecn(&mut self, path: &PathState, ecn: &EcnEvent) {
        (**self).on_ecn(path, ecn);
    }
    fn pacing_rate(&self) -> Option<Rate> {
        (**self).pacing_rate()
    }
    fn cwnd(&self) -> u64 {
        (**self).cwnd()
    }
    fn on_rtt(&mut self, path: &PathState, rtt: &RttEvent) {
        (**self).on_rtt(path, rtt);
    }
    fn on_app_limited(&mut self, path: &PathState) {
        (**self).on_app_limited(path);
    }
    fn on_idle_restart(&mut self, path: &PathState, idle: Duration) {
        (**self).on_idle_restart(path, idle);
    }
    fn on_spurious_loss(&mut self, path: &PathState, spurious: &SpuriousLoss) {
        (**self).on_spurious_loss(path, spurious);
    }
    fn on_discarded(&mut self, path: &PathState, bytes: u64, reason: DiscardReason) {
        (**self).on_discarded(path, bytes, reason);
    }
    fn on_mtu_update(&mut self, path: &PathState, change: MtuChange) {
        (**self).on_mtu_update(path, change);
    }
    fn on_path_change(&mut self, path: &PathState, change: PathChange) {
        (**self).on_path_change(path, change);
    }
    fn on_resume_hint(&mut self, path: &PathState, hint: &ResumeHint) {
        (**self).on_resume_hint(path, hint);
    }
    fn on_ack_policy(&mut self, path: &PathState, policy: &AckPolicy) {
        (**self).on_ack_policy(path, policy);
    }
    fn on_ecn_state(&mut self, path: &PathState, codepoint: EcnCodepoint) {
        (**self).on_ecn_state(path, codepoint);
    }
    fn send_quantum(&self) -> u64 {
        (**self).send_quantum()
    }
    fn may_send_beyond_cwnd(&self) -> bool {
        (**self).may_send_beyond_cwnd()
    }
    fn wanted_ecn(&self) -> EcnCodepoint {
        (**self).wanted_ecn()
    }
    fn wanted_ack_policy(&self) -> Option<AckPolicy> {
        (**self).wanted_ack_policy()
    }
    fn sampling_rule(&self) -> SamplingRule {
        (**self).sampling_rule()
    }
    fn uses_rate_samples(&self) -> bool {
        (**self).uses_rate_samples()
    }
    fn marks_app_limited(&self) -> bool {
        (**self).marks_app_limited()
    }
    fn snapshot(&self) -> Snapshot {
        (**self).snapshot()
    }
}
