use cc_core::{
    AckEvent, AckPolicy, CongestionController, DiscardReason, Duration, EcnCodepoint, EcnEvent, LossEvent,
    MtuChange, PathChange, PathState, Rate, ResumeHint, RttEvent, SamplingRule, SendLimit, SentPacket,
    Snapshot, SpuriousLoss,
};

/// Writes down the events, and has no output that is a default one.
#[derive(Clone, Debug, Default)]
struct Inner(Vec<&'static str>);

#[deny(clippy::missing_trait_methods)]
impl CongestionController for Inner {
    fn on_packet_sent(&mut self, _: &PathState, _: &SentPacket) {
        self.0.push("sent");
    }
    fn on_ack(&mut self, _: &PathState, _: &AckEvent<'_>) {
        self.0.push("ack");
    }
    fn on_loss(&mut self, _: &PathState, _: &LossEvent<'_>) {
        self.0.push("loss");
    }
    fn on_ecn(&mut self, _: &PathState, _: &EcnEvent) {
        self.0.push("ecn");
    }
    fn on_rtt(&mut self, _: &PathState, _: &RttEvent) {
        self.0.push("rtt");
    }
    fn on_app_limited(&mut self, _: &PathState) {
        self.0.push("limited");
    }
    fn on_idle_restart(&mut self, _: &PathState, _: Duration) {
        self.0.push("idle");
    }
    fn on_spurious_loss(&mut self, _: &PathState, _: &SpuriousLoss) {
        self.0.push("spurious");
    }
    fn on_discarded(&mut self, _: &PathState, _: u64, _: DiscardReason) {
        self.0.push("discarded");
    }
    fn on_mtu_update(&mut self, _: &PathState, _: MtuChange) {
        self.0.push("mtu");
    }
    fn on_path_change(&mut self, _: &PathState, _: PathChange) {
        self.0.push("path");
    }
    fn on_resume_hint(&mut self, _: &PathState, _: &ResumeHint) {
        self.0.push("resume");
    }
    fn on_ack_policy(&mut self, _: &PathState, _: &AckPolicy) {
        self.0.push("policy");
    }
    fn on_ecn_state(&mut self, _: &PathState, _: EcnCodepoint) {
        self.0.push("codepoint");
    }
    fn pacing_rate(&self) -> Option<Rate> {
        Some(Rate::MAX)
    }
    fn cwnd(&self) -> u64 {
        1
    }
    fn send_quantum(&self) -> u64 {
        2
    }
    fn may_send_beyond_cwnd(&self) -> bool {
        true
    }
    fn wanted_ecn(&self) -> EcnCodepoint {
        EcnCodepoint::Ect1
    }
    fn wanted_ack_policy(&self) -> Option<AckPolicy> {
        Some(AckPolicy { packets: 3, max_ack_delay: Duration::ZERO })
    }
    fn sampling_rule(&self) -> SamplingRule {
        SamplingRule::LastAcceptedSample { min_ack_interval: Duration::ZERO }
    }
    fn uses_rate_samples(&self) -> bool {
        false
    }
    fn marks_app_limited(&self) -> bool {
        true
    }
    fn snapshot(&self) -> Snapshot {
        Snapshot { phase: "inner", ..Snapshot::default() }
    }
}

/// A wrapper with nothing of its own.
#[derive(Clone, Debug, Default)]
struct Plain {
    inner: Inner,
}

#[deny(clippy::missing_trait_methods)]
impl CongestionController for Plain {
    crate::delegate_controller! { inner }
}

/// A wrapper with an event and an output of its own, both of them with default bodies.
#[derive(Clone, Debug, Default)]
struct Own {
    inner: Inner,
    rtts: u64,
}

#[deny(clippy::missing_trait_methods)]
impl CongestionController for Own {
    fn on_rtt(&mut self, _: &PathState, _: &RttEvent) {
        self.rtts = self.rtts.saturating_add(1);
    }
    fn send_quantum(&self) -> u64 {
        9
    }
    crate::delegate_controller! { inner except send_quantum, on_rtt }
}

/// All events, in the order of the trait.
fn tell(controller: &mut impl CongestionController) {
    let path = PathState::default();
    let loss = LossEvent { packets: &[], last: true, persistent_congestion: false, cause: None };
    let ack = AckEvent {
        packets: &[],
        last: true,
        rate_sample: None,
        limited_by: SendLimit::Unknown,
        max_bytes_in_flight: 0,
        app_limited_at: None,
        newest_data_sent_at: None,
    };
    controller.on_packet_sent(&path, &SentPacket::default());
    controller.on_ack(&path, &ack);
    controller.on_loss(&path, &loss);
    controller.on_ecn(&path, &EcnEvent::default());
    controller.on_rtt(&path, &RttEvent::default());
    controller.on_app_limited(&path);
    controller.on_idle_restart(&path, Duration::ZERO);
    controller.on_spurious_loss(&path, &SpuriousLoss::All);
    controller.on_discarded(&path, 1, DiscardReason::KeysDiscarded);
    controller.on_mtu_update(&path, MtuChange::Discovered);
    controller.on_path_change(&path, PathChange::New);
    controller.on_resume_hint(&path, &ResumeHint { cwnd: 1, rtt: Duration::ZERO });
    controller.on_ack_policy(&path, &AckPolicy { packets: 1, max_ack_delay: Duration::ZERO });
    controller.on_ecn_state(&path, EcnCodepoint::Ect0);
}

const EVENTS: [&str; 14] = [
    "sent",
    "ack",
    "loss",
    "ecn",
    "rtt",
    "limited",
    "idle",
    "spurious",
    "discarded",
    "mtu",
    "path",
    "resume",
    "policy",
    "codepoint",
];

/// All outputs.
fn outputs(controller: &impl CongestionController) -> impl PartialEq + std::fmt::Debug {
    (
        (controller.pacing_rate(), controller.cwnd(), controller.send_quantum()),
        (controller.may_send_beyond_cwnd(), controller.wanted_ecn(), controller.wanted_ack_policy()),
        (controller.sampling_rule(), controller.uses_rate_samples()),
        (controller.marks_app_limited(), controller.snapshot()),
    )
}

#[test]
fn every_method_reaches_the_inner_controller() {
    let mut plain = Plain::default();
    tell(&mut plain);
    assert_eq!(plain.inner.0, EVENTS);
    assert_eq!(format!("{:?}", outputs(&plain)), format!("{:?}", outputs(&Inner::default())));
}

#[test]
fn methods_of_its_own_do_not_reach_it() {
    let mut own = Own::default();
    tell(&mut own);
    assert!(!own.inner.0.contains(&"rtt") && own.inner.0.len() == EVENTS.len() - 1 && own.rtts == 1);
    assert_eq!((own.send_quantum(), own.cwnd()), (9, 1));
}
