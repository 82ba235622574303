//! Writes down what a path tells its controller, and hands it on.

use super::{Outputs, Settable};
use cc_core::{
    AckEvent, AckedPacket, CongestionController, DiscardReason, EcnEvent, LossCause, LossEvent, LostPacket,
    PathState, RateSample, RttEvent, SpuriousLoss,
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

#[deny(clippy::missing_trait_methods)]
impl<C: CongestionController> CongestionController for Spy<C> {
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

    cc_testkit::delegate_controller! { inner except on_ack, on_loss, on_ecn, on_rtt, on_spurious_loss, on_discarded }
}
