//! A controller that writes down what it is told, and what it answers.

use cc_core::{
    AckEvent, AckPolicy, CongestionController, DiscardReason, Duration, EcnCodepoint, EcnEvent, LossEvent,
    MtuChange, PathChange, PathState, ResumeHint, RttEvent, SentPacket, SpuriousLoss,
};
use cc_replay::{Call, Hash, Header, TraceWriter, hash_outputs};
use cc_sim::AnyController;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A controller whose calls are written into a [`Recording`].
#[derive(Debug)]
pub(crate) struct Recorder {
    inner: AnyController,
    recording: SharedRecording,
}

/// A recording that somebody else keeps too.
pub(crate) type SharedRecording = Arc<Mutex<Recording>>;

/// The first calls of one controller.
#[derive(Debug)]
pub(crate) struct Recording {
    pub(crate) header: Header,
    pub(crate) calls: u64,
    pub(crate) hash: Hash,
    /// The trace, but for its end.
    pub(crate) writer: TraceWriter<Vec<u8>>,
    limit: u64,
}

impl Recording {
    /// Of at most `limit` calls.
    pub(crate) fn new(header: Header, limit: u64) -> Self {
        let writer = TraceWriter::new(Vec::new(), &header);
        Self { header, calls: 0, hash: Hash::new(), writer, limit }
    }
}

pub(crate) fn lock(recording: &SharedRecording) -> MutexGuard<'_, Recording> {
    recording.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Recorder {
    pub(crate) fn new(inner: AnyController, recording: SharedRecording) -> Self {
        Self { inner, recording }
    }

    /// Makes the call and, as long as there is room, writes it and the outputs after it down.
    fn call(&mut self, path: &PathState, call: &Call<'_>) {
        call.apply(&mut self.inner, path);
        let mut recording = lock(&self.recording);
        if recording.calls < recording.limit {
            recording.calls += 1;
            recording.writer.call(path, call);
            hash_outputs(&mut recording.hash, &self.inner);
        }
    }
}

#[deny(clippy::missing_trait_methods)]
impl CongestionController for Recorder {
    fn on_packet_sent(&mut self, path: &PathState, packet: &SentPacket) {
        self.call(path, &Call::PacketSent(*packet));
    }
    fn on_ack(&mut self, path: &PathState, ack: &AckEvent<'_>) {
        self.call(path, &Call::Ack(*ack));
    }
    fn on_loss(&mut self, path: &PathState, loss: &LossEvent<'_>) {
        self.call(path, &Call::Loss(*loss));
    }
    fn on_ecn(&mut self, path: &PathState, ecn: &EcnEvent) {
        self.call(path, &Call::Ecn(*ecn));
    }
    fn on_rtt(&mut self, path: &PathState, rtt: &RttEvent) {
        self.call(path, &Call::Rtt(*rtt));
    }
    fn on_app_limited(&mut self, path: &PathState) {
        self.call(path, &Call::AppLimited);
    }
    fn on_idle_restart(&mut self, path: &PathState, idle: Duration) {
        self.call(path, &Call::IdleRestart(idle));
    }
    fn on_spurious_loss(&mut self, path: &PathState, spurious: &SpuriousLoss) {
        self.call(path, &Call::SpuriousLoss(*spurious));
    }
    fn on_discarded(&mut self, path: &PathState, bytes: u64, reason: DiscardReason) {
        self.call(path, &Call::Discarded(bytes, reason));
    }
    fn on_mtu_update(&mut self, path: &PathState, change: MtuChange) {
        self.call(path, &Call::MtuUpdate(change));
    }
    fn on_path_change(&mut self, path: &PathState, change: PathChange) {
        self.call(path, &Call::PathChange(change));
    }
    fn on_resume_hint(&mut self, path: &PathState, hint: &ResumeHint) {
        self.call(path, &Call::ResumeHint(*hint));
    }
    fn on_ack_policy(&mut self, path: &PathState, policy: &AckPolicy) {
        self.call(path, &Call::AckPolicy(*policy));
    }
    fn on_ecn_state(&mut self, path: &PathState, codepoint: EcnCodepoint) {
        self.call(path, &Call::EcnState(codepoint));
    }

    cc_testkit::delegate_controller! {
        inner except on_packet_sent, on_ack, on_loss, on_ecn, on_rtt, on_app_limited, on_idle_restart,
        on_spurious_loss, on_discarded, on_mtu_update, on_path_change, on_resume_hint, on_ack_policy, on_ecn_state
    }
}
