//! The calls of a controller, as data.

use cc_core::{
    AckEvent, AckPolicy, CongestionController, DiscardReason, Duration, EcnCodepoint, EcnEvent, LossEvent,
    MtuChange, PathChange, PathState, ResumeHint, RttEvent, SentPacket, SpuriousLoss,
};

/// One call of a method that tells a controller something.
#[derive(Clone, Copy, Debug)]
pub enum Call<'a> {
    /// `on_packet_sent`
    PacketSent(SentPacket),
    /// `on_ack`
    Ack(AckEvent<'a>),
    /// `on_loss`
    Loss(LossEvent<'a>),
    /// `on_ecn`
    Ecn(EcnEvent),
    /// `on_rtt`
    Rtt(RttEvent),
    /// `on_app_limited`
    AppLimited,
    /// `on_idle_restart`
    IdleRestart(Duration),
    /// `on_spurious_loss`
    SpuriousLoss(SpuriousLoss),
    /// `on_discarded`
    Discarded(u64, DiscardReason),
    /// `on_mtu_update`
    MtuUpdate(MtuChange),
    /// `on_path_change`
    PathChange(PathChange),
    /// `on_resume_hint`
    ResumeHint(ResumeHint),
    /// `on_ack_policy`
    AckPolicy(AckPolicy),
    /// `on_ecn_state`
    EcnState(EcnCodepoint),
}

impl Call<'_> {
    /// Makes the call.
    pub fn apply(&self, controller: &mut dyn CongestionController, path: &PathState) {
        match self {
            Self::PacketSent(packet) => controller.on_packet_sent(path, packet),
            Self::Ack(ack) => controller.on_ack(path, ack),
            Self::Loss(loss) => controller.on_loss(path, loss),
            Self::Ecn(ecn) => controller.on_ecn(path, ecn),
            Self::Rtt(rtt) => controller.on_rtt(path, rtt),
            Self::AppLimited => controller.on_app_limited(path),
            Self::IdleRestart(idle) => controller.on_idle_restart(path, *idle),
            Self::SpuriousLoss(spurious) => controller.on_spurious_loss(path, spurious),
            Self::Discarded(bytes, reason) => controller.on_discarded(path, *bytes, *reason),
            Self::MtuUpdate(change) => controller.on_mtu_update(path, *change),
            Self::PathChange(change) => controller.on_path_change(path, *change),
            Self::ResumeHint(hint) => controller.on_resume_hint(path, hint),
            Self::AckPolicy(policy) => controller.on_ack_policy(path, policy),
            Self::EcnState(codepoint) => controller.on_ecn_state(path, *codepoint),
        }
    }
}
