//! A boxed controller hands on every method (feature `alloc`).
#![cfg(feature = "alloc")]

mod common;

use cc_core::{
    AckEvent, AckPolicy, AckedPacket, CongestionController, DiscardReason, Duration, EcnCodepoint, EcnEvent,
    LossCause, LossEvent, LostPacket, MtuChange, Path, PathChange, PathConfig, PathState, Rate, ResumeHint,
    RttEvent, SamplingRule, SendLimit, SentPacket, Snapshot, SpuriousLoss,
};
use common::{Recorder, names, span};
use std::sync::{Arc, Mutex};

/// A recorder whose calls can be read through a box, and whose outputs are no defaults.
#[derive(Clone, Debug)]
struct Shared(Arc<Mutex<Recorder>>);

impl Shared {
    fn with<T>(&self, call: impl FnOnce(&mut Recorder) -> T) -> T {
        call(&mut self.0.lock().unwrap())
    }
}

impl CongestionController for Shared {
    fn on_packet_sent(&mut self, path: &PathState, packet: &SentPacket) {
        self.with(|recorder| recorder.on_packet_sent(path, packet));
    }
    fn on_ack(&mut self, path: &PathState, ack: &AckEvent<'_>) {
        self.with(|recorder| recorder.on_ack(path, ack));
    }
    fn on_loss(&mut self, path: &PathState, loss: &LossEvent<'_>) {
        self.with(|recorder| recorder.on_loss(path, loss));
    }
    fn on_ecn(&mut self, path: &PathState, ecn: &EcnEvent) {
        self.with(|recorder| recorder.on_ecn(path, ecn));
    }
    fn on_rtt(&mut self, path: &PathState, rtt: &RttEvent) {
        self.with(|recorder| recorder.on_rtt(path, rtt));
    }
    fn on_app_limited(&mut self, path: &PathState) {
        self.with(|recorder| recorder.on_app_limited(path));
    }
    fn on_idle_restart(&mut self, path: &PathState, idle: Duration) {
        self.with(|recorder| recorder.on_idle_restart(path, idle));
    }
    fn on_spurious_loss(&mut self, path: &PathState, spurious: &SpuriousLoss) {
        self.with(|recorder| recorder.on_spurious_loss(path, spurious));
    }
    fn on_discarded(&mut self, path: &PathState, bytes: u64, reason: DiscardReason) {
        self.with(|recorder| recorder.on_discarded(path, bytes, reason));
    }
    fn on_mtu_update(&mut self, path: &PathState, change: MtuChange) {
        self.with(|recorder| recorder.on_mtu_update(path, change));
    }
    fn on_path_change(&mut self, path: &PathState, change: PathChange) {
        self.with(|recorder| recorder.on_path_change(path, change));
    }
    fn on_resume_hint(&mut self, path: &PathState, hint: &ResumeHint) {
        self.with(|recorder| recorder.on_resume_hint(path, hint));
    }
    fn on_ack_policy(&mut self, path: &PathState, policy: &AckPolicy) {
        self.with(|recorder| recorder.on_ack_policy(path, policy));
    }
    fn on_ecn_state(&mut self, path: &PathState, codepoint: EcnCodepoint) {
        self.with(|recorder| recorder.on_ecn_state(path, codepoint));
    }
    fn pacing_rate(&self) -> Option<Rate> {
        Some(Rate::from_bytes_per_sec(1))
    }
    fn cwnd(&self) -> u64 {
        2
    }
    fn send_quantum(&self) -> u64 {
        3
    }
    fn may_send_beyond_cwnd(&self) -> bool {
        true
    }
    fn wanted_ecn(&self) -> EcnCodepoint {
        EcnCodepoint::Ect0
    }
    fn wanted_ack_policy(&self) -> Option<AckPolicy> {
        Some(AckPolicy { packets: 4, max_ack_delay: span(5) })
    }
    fn sampling_rule(&self) -> SamplingRule {
        SamplingRule::LastAcceptedSample { min_ack_interval: span(6) }
    }
    fn uses_rate_samples(&self) -> bool {
        false
    }
    fn marks_app_limited(&self) -> bool {
        true
    }
    fn snapshot(&self) -> Snapshot {
        Snapshot { cwnd: 7, ..Snapshot::default() }
    }
}

/// Calls every method that tells something, each with its own time, so that the arguments can be told apart.
fn tell(controller: &mut impl CongestionController) {
    let mut clock = 0..;
    let mut at = || PathState {
        now: common::ms(clock.next().unwrap()),
        bytes_in_flight: 1_200,
        ..PathState::default()
    };
    controller.on_packet_sent(&at(), &SentPacket { number: 1, ..SentPacket::default() });
    let packets = [AckedPacket { number: Some(2), ..AckedPacket::default() }];
    let ack = AckEvent {
        packets: &packets,
        last: true,
        rate_sample: None,
        limited_by: SendLimit::Pacer,
        max_bytes_in_flight: 3,
        app_limited_at: None,
        newest_data_sent_at: None,
    };
    controller.on_ack(&at(), &ack);
    let packets = [LostPacket { number: Some(4), ..LostPacket::default() }];
    let loss = LossEvent {
        packets: &packets,
        last: false,
        persistent_congestion: true,
        cause: Some(LossCause::Timer),
    };
    controller.on_loss(&at(), &loss);
    controller.on_ecn(&at(), &EcnEvent { ce: Some(5), ..EcnEvent::default() });
    controller.on_rtt(&at(), &RttEvent { latest: span(6), ..RttEvent::default() });
    controller.on_app_limited(&at());
    controller.on_idle_restart(&at(), span(7));
    controller.on_spurious_loss(&at(), &SpuriousLoss::All);
    controller.on_discarded(&at(), 8, DiscardReason::ZeroRttRejected);
    controller.on_mtu_update(&at(), MtuChange::BlackHole);
    controller.on_path_change(&at(), PathChange::New);
    controller.on_resume_hint(&at(), &ResumeHint { cwnd: 9, rtt: span(10) });
    controller.on_ack_policy(&at(), &AckPolicy { packets: 11, max_ack_delay: span(12) });
    controller.on_ecn_state(&at(), EcnCodepoint::Ect0);
}

#[test]
fn what_a_box_is_told_the_controller_is_told() {
    let shared = Shared(Arc::default());
    let mut boxed: Box<dyn CongestionController> = Box::new(shared.clone());
    tell(&mut boxed);
    let mut direct = Recorder::default();
    tell(&mut direct);
    let calls = shared.with(|recorder| std::mem::take(&mut recorder.calls));
    assert_eq!(
        names(&calls),
        [
            "sent",
            "ack",
            "loss",
            "ecn",
            "rtt",
            "app_limited",
            "idle_restart",
            "spurious",
            "discarded",
            "mtu",
            "path_change",
            "resume",
            "ack_policy",
            "ecn_state",
        ]
    );
    assert_eq!(calls, direct.calls);
}

#[test]
fn what_a_controller_answers_its_box_answers() {
    let boxed: Box<dyn CongestionController> = Box::new(Shared(Arc::default()));
    // As a controller of its own, not through the box's contents.
    fn outputs(controller: &impl CongestionController) -> String {
        format!(
            "{:?}",
            (
                (controller.pacing_rate(), controller.cwnd(), controller.send_quantum()),
                (controller.may_send_beyond_cwnd(), controller.marks_app_limited()),
                (controller.wanted_ecn(), controller.wanted_ack_policy()),
                (controller.sampling_rule(), controller.uses_rate_samples(), controller.snapshot().cwnd),
            )
        )
    }
    let expected = (
        (Some(Rate::from_bytes_per_sec(1)), 2_u64, 3_u64),
        (true, true),
        (EcnCodepoint::Ect0, Some(AckPolicy { packets: 4, max_ack_delay: span(5) })),
        (SamplingRule::LastAcceptedSample { min_ack_interval: span(6) }, false, 7_u64),
    );
    assert_eq!(outputs(&boxed), format!("{expected:?}"));
}

#[test]
fn a_path_takes_a_boxed_controller() {
    let shared = Shared(Arc::default());
    let boxed: Box<dyn CongestionController> = Box::new(shared.clone());
    let mut path: Path<_, 4> = Path::new(boxed, PathConfig::default());
    path.on_packet_sent(common::ms(0), &cc_core::OutgoingPacket::default()).unwrap();
    assert!(shared.with(|recorder| names(&recorder.calls).ends_with(&["sent"])));
}
