//! A controller that hands everything on to another one and keeps the RTT samples.
//!
//! quinn's statistics have the smoothed RTT only, of which a transfer of a few round trips gives no mean worth the name.

mod noq;

pub use noq::NoqTap;

use quinn::congestion::{Controller, ControllerFactory, ControllerMetrics};
use quinn_proto::RttEstimator;
use std::any::Any;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Makes tapped controllers.
pub struct Tap {
    inner: Arc<dyn ControllerFactory + Send + Sync>,
    samples: RttSamples,
}

/// RTT samples in microseconds, one for each ACK frame whose newest packet was sent later than any acknowledged before
/// (RFC 9002 section 5.1), ACK delay included. In the order in which they were taken.
#[derive(Clone, Debug, Default)]
pub struct RttSamples(Arc<Mutex<Vec<u32>>>);

impl Tap {
    /// A tap on the controllers that `inner` makes, with its samples.
    #[must_use]
    pub fn new(inner: Arc<dyn ControllerFactory + Send + Sync>) -> (Self, RttSamples) {
        let samples = RttSamples::default();
        (Self { inner, samples: samples.clone() }, samples)
    }
}

impl std::fmt::Debug for Tap {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tap").field("samples", &self.samples).finish_non_exhaustive()
    }
}

impl ControllerFactory for Tap {
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn Controller> {
        let inner = Arc::clone(&self.inner).build(now, current_mtu);
        Box::new(Tapped { inner, sampler: Sampler::new(self.samples.clone()) })
    }
}

impl RttSamples {
    /// Takes what there is.
    #[must_use]
    pub fn take(&self) -> Vec<u32> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn push(&self, rtt: Duration) {
        let us = u32::try_from(rtt.as_micros()).unwrap_or(u32::MAX);
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(us);
    }
}

struct Tapped {
    inner: Box<dyn Controller>,
    sampler: Sampler,
}

/// Takes the samples, whatever the stack.
#[derive(Clone, Debug)]
struct Sampler {
    samples: RttSamples,
    /// When the newest packet was sent that has been acknowledged.
    newest: Option<Instant>,
    /// The same of the frame at hand, if it is newer than all before.
    of_frame: Option<Instant>,
}

impl Sampler {
    fn new(samples: RttSamples) -> Self {
        Self { samples, newest: None, of_frame: None }
    }

    fn on_ack(&mut self, sent: Instant) {
        if self.newest.is_none_or(|newest| sent > newest) {
            (self.newest, self.of_frame) = (Some(sent), Some(sent));
        }
    }

    fn on_end_acks(&mut self, now: Instant) {
        if let Some(sent) = self.of_frame.take() {
            self.samples.push(now.saturating_duration_since(sent));
        }
    }
}

impl Controller for Tapped {
    fn on_sent(&mut self, now: Instant, bytes: u64, last_packet_number: u64) {
        self.inner.on_sent(now, bytes, last_packet_number);
    }

    fn on_ack(&mut self, now: Instant, sent: Instant, bytes: u64, app_limited: bool, rtt: &RttEstimator) {
        self.sampler.on_ack(sent);
        self.inner.on_ack(now, sent, bytes, app_limited, rtt);
    }

    fn on_end_acks(
        &mut self,
        now: Instant,
        in_flight: u64,
        app_limited: bool,
        largest_packet_num_acked: Option<u64>,
    ) {
        self.sampler.on_end_acks(now);
        self.inner.on_end_acks(now, in_flight, app_limited, largest_packet_num_acked);
    }

    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        is_persistent_congestion: bool,
        lost_bytes: u64,
    ) {
        self.inner.on_congestion_event(now, sent, is_persistent_congestion, lost_bytes);
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.inner.on_mtu_update(new_mtu);
    }

    fn window(&self) -> u64 {
        self.inner.window()
    }

    fn metrics(&self) -> ControllerMetrics {
        self.inner.metrics()
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(Self { inner: self.inner.clone_box(), sampler: self.sampler.clone() })
    }

    fn initial_window(&self) -> u64 {
        self.inner.initial_window()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self.inner.into_any()
    }
}
