//! quinn's traits.

use crate::Config;
use crate::flow::Flow;
use cc_adapter::Locked;
use cc_core::{CongestionController, Snapshot};
use quinn_proto::RttEstimator;
use quinn_proto::congestion::{Controller, ControllerFactory, ControllerMetrics};
use std::any::Any;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, MutexGuard};
use std::time::Instant;

/// Bits of a byte.
const BITS: u64 = 8;

/// A controller as quinn wants it. [`Config`] makes them.
///
/// quinn reads it through shared references, and a read may have to deliver a frame that was collected: hence the lock, which is
/// never contended. The window is asked for twice for each datagram, so that it is kept until something changes it.
///
/// What each call for an acked packet, and each for a window that is known, has to do with is one line of the cache.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct QuinnController<C> {
    /// In bytes; [`UNKNOWN`] where it has to be found anew.
    window: AtomicU64,
    flow: Locked<Flow<C>>,
}

/// No window is that small: quinn's test is strict, so that it would never send.
const UNKNOWN: u64 = 0;

impl<C: CongestionController + Clone> QuinnController<C> {
    const fn new(flow: Flow<C>) -> Self {
        Self { window: AtomicU64::new(UNKNOWN), flow: Locked::new(flow) }
    }

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
        let mut flow = self.flow.lock();
        flow.commit();
        flow
    }

    /// Apart from [`Controller::window`], so that the call that finds it known is short.
    #[cold]
    #[inline(never)]
    fn find_window(&self) -> u64 {
        let window = self.flow.lock().window();
        self.window.store(window, Ordering::Relaxed);
        window
    }

    /// One ack-eliciting packet was newly acked.
    fn acked(&mut self, now: Instant, sent: Instant, bytes: u64, app_limited: bool) {
        // If it goes with the last, the window is unknown already.
        if !self.flow.get_mut().goes_with_the_last(now, sent, bytes) {
            self.write().on_ack(now, sent, bytes, app_limited);
        }
    }

    /// For an event.
    fn write(&mut self) -> &mut Flow<C> {
        *self.window.get_mut() = UNKNOWN;
        self.flow.get_mut()
    }
}

impl<C: CongestionController + Clone> Controller for QuinnController<C> {
    fn on_sent(&mut self, now: Instant, bytes: u64, _last_packet_number: u64) {
        let flow = self.write();
        flow.on_sent(now, bytes);
        let window = flow.same_window();
        *self.window.get_mut() = window.unwrap_or(UNKNOWN);
    }

    fn on_ack(&mut self, now: Instant, sent: Instant, bytes: u64, app_limited: bool, _rtt: &RttEstimator) {
        self.acked(now, sent, bytes, app_limited);
    }

    fn on_end_acks(&mut self, now: Instant, in_flight: u64, app_limited: bool, _largest: Option<u64>) {
        self.write().on_end_acks(now, in_flight, app_limited);
    }

    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        is_persistent_congestion: bool,
        lost_bytes: u64,
    ) {
        if lost_bytes == 0 {
            self.write().on_mark(now, sent);
        } else {
            self.write().on_loss(now, sent, lost_bytes, is_persistent_congestion);
        }
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.write().on_mtu_update(new_mtu);
    }

    fn window(&self) -> u64 {
        // Nobody changes it meanwhile: events have the controller for themselves.
        match self.window.load(Ordering::Relaxed) {
            UNKNOWN => self.find_window(),
            window => window,
        }
    }

    fn metrics(&self) -> ControllerMetrics {
        let snapshot = self.snapshot();
        let mut metrics = ControllerMetrics::default();
        metrics.congestion_window = snapshot.cwnd;
        metrics.ssthresh = snapshot.ssthresh;
        metrics.pacing_rate = snapshot.pacing_rate.map(|rate| rate.as_bytes_per_sec().saturating_mul(BITS));
        metrics
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(Self::new(self.read().for_new_port()))
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
        Box::new(QuinnController::new(Flow::new(&self.recipe, now, current_mtu)))
    }
}

#[cfg(test)]
mod tests;
