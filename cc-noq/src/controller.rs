//! noq's traits.

use crate::Config;
use crate::flow::Flow;
use cc_adapter::Locked;
use cc_core::{CongestionController, Rate, Snapshot};
use noq_proto::RttEstimator;
use noq_proto::congestion::{Controller, ControllerFactory, ControllerMetrics};
use std::any::Any;
use std::sync::{Arc, MutexGuard};
use std::time::{Duration, Instant};

/// Bits of a byte.
const BITS: u64 = 8;

/// A controller as noq wants it. [`Config`] makes them.
///
/// noq reads it through shared references, and a read may have to deliver a frame that was collected: hence the lock, which is
/// never contended.
#[derive(Debug)]
pub struct NoqController<C>(Locked<Flow<C>>);

impl<C: CongestionController + Clone> NoqController<C> {
    /// The controller's state for logs.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        self.read().controller().snapshot()
    }

    /// A copy of the controller itself.
    #[must_use]
    pub fn controller(&self) -> C {
        self.read().controller().clone()
    }

    /// With everything delivered that was collected.
    fn read(&self) -> MutexGuard<'_, Flow<C>> {
        let mut flow = self.0.lock();
        flow.commit();
        flow
    }

    fn write(&mut self) -> &mut Flow<C> {
        self.0.get_mut()
    }
}

impl<C: CongestionController + Clone> Controller for NoqController<C> {
    fn on_packet_sent(&mut self, now: Instant, bytes: u16, pn: u64) {
        self.write().on_packet_sent(now, bytes.into(), pn);
    }

    fn on_cwnd_limited(&mut self) {
        self.write().on_cwnd_limited();
    }

    fn on_ack(
        &mut self,
        now: Instant,
        sent: Instant,
        bytes: u64,
        pn: u64,
        app_limited: bool,
        _rtt: &RttEstimator,
    ) {
        self.write().on_ack(now, sent, bytes, pn, app_limited);
    }

    fn on_end_acks(&mut self, now: Instant, in_flight: u64, app_limited: bool, _largest: Option<u64>) {
        self.write().on_end_acks(now, in_flight, app_limited);
    }

    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        is_persistent_congestion: bool,
        is_ecn: bool,
        lost_bytes: u64,
        _largest_lost_pn: u64,
    ) {
        if is_ecn {
            self.write().on_mark(now, sent);
        } else {
            self.write().on_losses(now, sent, lost_bytes, is_persistent_congestion);
        }
    }

    fn on_packet_lost(&mut self, lost_bytes: u16, pn: u64, now: Instant) {
        self.write().on_packet_lost(now, lost_bytes.into(), pn);
    }

    fn on_spurious_congestion_event(&mut self) {
        self.write().on_spurious_losses();
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.write().on_mtu_update(new_mtu);
    }

    fn on_ack_frequency_update(&mut self, ack_eliciting_threshold: u64, requested_max_ack_delay: Duration) {
        self.write().on_ack_frequency(ack_eliciting_threshold, requested_max_ack_delay);
    }

    fn window(&self) -> u64 {
        self.read().window()
    }

    fn metrics(&self) -> ControllerMetrics {
        let flow = self.read();
        let snapshot = flow.controller().snapshot();
        let mut metrics = ControllerMetrics::default();
        metrics.congestion_window = snapshot.cwnd;
        metrics.ssthresh = snapshot.ssthresh;
        metrics.pacing_rate = flow.controller().pacing_rate().map(Rate::as_bytes_per_sec);
        metrics.send_quantum = Some(flow.controller().send_quantum());
        metrics.bandwidth_estimate =
            snapshot.bandwidth.map(|rate| rate.as_bytes_per_sec().saturating_mul(BITS));
        metrics
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(Self(Locked::new(self.read().for_new_port())))
    }

    fn initial_window(&self) -> u64 {
        self.read().initial_window()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

impl<C: CongestionController + Clone> ControllerFactory for Config<C> {
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn Controller> {
        Box::new(NoqController(Locked::new(Flow::new(&self.recipe, now, current_mtu))))
    }
}

#[cfg(test)]
mod tests;
