//! A measurement held against arithmetic: a window that does not change carries itself once a round trip.
//!
//! What makes it hold on a machine with other work too: the round trip is not the nominal one but that of every packet, from its
//! sending until its acknowledgement was processed, weighted by bytes. By Little's law throughput times that is what was in flight on
//! average, however late the ends and the relay were; what is left is how full the sender kept its window. The first seconds, in which
//! quinn paces by an initial round trip of 333 ms and looks for the largest packet, are left out.

use crate::protocol;
use crate::quic::{Identity, SERVER_NAME, send_buffer};
use crate::server::Server;
use crate::socket::bind;
use crate::stack::Connection;
use cc_relay::{LinkConfig, PathConfig, Relay, RelayConfig};
use quinn::congestion::{Controller, ControllerFactory};
use quinn::{Endpoint, EndpointConfig, TokioRuntime};
use quinn_proto::RttEstimator;
use serde::Serialize;
use std::any::Any;
use std::error::Error;
use std::fmt;
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::runtime;
use tokio::time::timeout;

/// What to measure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Case {
    /// The window in bytes.
    pub window: u64,
    /// Delay each way.
    pub delay: Duration,
    /// Rate in bit/s, far above the window over the round trip.
    pub rate_bps: u64,
    /// What is left out at the beginning.
    pub warm_up: Duration,
    /// What is measured.
    pub duration: Duration,
}

/// What was measured, and what it should be.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Outcome {
    /// The window in bytes.
    pub window: u64,
    /// Twice the delay, in microseconds.
    pub nominal_rtt_us: u64,
    /// From the sending of a packet until its acknowledgement was processed, mean by bytes, in microseconds.
    pub rtt_us: f64,
    /// Mean size of an acknowledged packet in bytes.
    pub packet_bytes: f64,
    /// Packets that were declared lost; there should be none.
    pub lost_packets: u64,
    /// Window over round trip, the part of it that is payload, in kbit/s.
    pub computed_kbps: f64,
    /// Payload that arrived at the server over the time that it took, in kbit/s.
    pub measured_kbps: f64,
}

/// Of each packet, what is no payload (RFC 9000 sections 17.3.1 and 19.8, RFC 9001 section 5.3): first byte, connection ID of 8 bytes, packet
/// number of 2, tag of 16; type, stream and offset of a STREAM frame, 1 + 1 + 4.
const OVERHEAD_BYTES: f64 = 1.0 + 8.0 + 2.0 + 16.0 + 1.0 + 1.0 + 4.0;

impl Outcome {
    /// Measured over computed.
    #[must_use]
    pub fn ratio(&self) -> f64 {
        self.measured_kbps / self.computed_kbps.max(1e-9)
    }

    fn new(case: &Case, acked: &[Acked], lost_packets: u64, measured_kbps: f64) -> Self {
        let bytes: f64 = acked.iter().map(|acked| acked.bytes as f64).sum();
        let weighted: f64 =
            acked.iter().map(|acked| acked.bytes as f64 * acked.rtt.as_secs_f64() * 1e6).sum();
        let rtt_us = weighted / bytes.max(1.0);
        let packet_bytes = bytes / (acked.len().max(1)) as f64;
        let payload = 1.0 - OVERHEAD_BYTES / packet_bytes.max(OVERHEAD_BYTES);
        Self {
            window: case.window,
            nominal_rtt_us: protocol::micros(case.delay * 2),
            rtt_us,
            packet_bytes,
            lost_packets,
            computed_kbps: case.window as f64 * 8e3 / rtt_us.max(1.0) * payload,
            measured_kbps,
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { window, nominal_rtt_us, rtt_us, packet_bytes, lost_packets, computed_kbps, measured_kbps } =
            self;
        let (rtt, nominal) = (rtt_us / 1e3, *nominal_rtt_us as f64 / 1e3);
        let payload = packet_bytes - OVERHEAD_BYTES;
        writeln!(f, "window       {window} bytes")?;
        writeln!(
            f,
            "round trip   {rtt:.2} ms on average, by bytes ({nominal} ms without the ends and the relay)"
        )?;
        writeln!(
            f,
            "packets      {packet_bytes:.0} bytes on average, {payload:.0} of them payload; {lost_packets} lost"
        )?;
        writeln!(
            f,
            "computed     {window} B * 8 / {rtt:.2} ms * {payload:.0} / {packet_bytes:.0} = {:.3} Mbit/s",
            computed_kbps / 1e3
        )?;
        writeln!(f, "measured     {:.3} Mbit/s of payload at the server", measured_kbps / 1e3)?;
        write!(f, "ratio        {:.1} %", 100.0 * self.ratio())
    }
}

/// A packet that was acknowledged.
#[derive(Clone, Copy, Debug)]
struct Acked {
    bytes: u64,
    rtt: Duration,
}

/// Client, relay and server on the loopback interface.
///
/// # Errors
///
/// Those of the system, of the connection, and that it took far too long.
pub fn measure(case: &Case) -> Result<Outcome, Box<dyn Error + Send + Sync>> {
    let identity = Identity::generate()?;
    let server = Server::start((Ipv4Addr::LOCALHOST, 0).into(), &identity)?;
    let latency_us = protocol::micros(case.delay);
    let link = LinkConfig { rate_bps: case.rate_bps, latency_us, ..LinkConfig::default() };
    let relay = Relay::start(&RelayConfig::new(server.address()).with_path(&PathConfig::new(link)))?;
    let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
    let acked = Arc::<Mutex<Vec<Acked>>>::default();
    let factory = Constant { window: case.window, acked: Arc::clone(&acked) };
    let config = identity.trust().client(Arc::new(factory), send_buffer(1))?;
    let limit = case.warm_up + case.duration + Duration::from_secs(30);
    let exchange = async {
        let socket = bind((Ipv4Addr::LOCALHOST, 0).into())?;
        let endpoint = Endpoint::new(EndpointConfig::default(), None, socket, Arc::new(TokioRuntime))?;
        let connection = endpoint.connect_with(config, relay.local_addr(), SERVER_NAME)?.await?;
        let connection = Connection::from(connection);
        protocol::upload_for(&connection, case.warm_up).await?;
        let lost = connection.counted().lost_packets;
        take(&acked);
        let arrived = protocol::upload_for(&connection, case.duration).await?;
        let (acked, lost) = (take(&acked), connection.counted().lost_packets - lost);
        endpoint.close(0_u32.into(), b"");
        let kbps = arrived.bytes as f64 * 8e-3 / arrived.duration().as_secs_f64().max(1e-6);
        Ok(Outcome::new(case, &acked, lost, kbps))
    };
    let result = runtime.block_on(async { timeout(limit, exchange).await });
    result.unwrap_or_else(|_| Err(format!("not finished after {limit:?}").into()))
}

fn take(acked: &Mutex<Vec<Acked>>) -> Vec<Acked> {
    std::mem::take(&mut acked.lock().unwrap_or_else(PoisonError::into_inner))
}

/// A window that does not change, and a list of what was acknowledged.
#[derive(Clone)]
struct Constant {
    window: u64,
    acked: Arc<Mutex<Vec<Acked>>>,
}

impl ControllerFactory for Constant {
    fn build(self: Arc<Self>, _now: Instant, _current_mtu: u16) -> Box<dyn Controller> {
        Box::new((*self).clone())
    }
}

impl Controller for Constant {
    fn on_ack(&mut self, now: Instant, sent: Instant, bytes: u64, _app_limited: bool, _rtt: &RttEstimator) {
        let rtt = now.saturating_duration_since(sent);
        self.acked.lock().unwrap_or_else(PoisonError::into_inner).push(Acked { bytes, rtt });
    }

    fn on_congestion_event(&mut self, _: Instant, _: Instant, _: bool, _: u64) {}

    fn on_mtu_update(&mut self, _new_mtu: u16) {}

    fn window(&self) -> u64 {
        self.window
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }

    fn initial_window(&self) -> u64 {
        self.window
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

#[cfg(test)]
mod tests {
    use super::{Acked, Case, Outcome};
    use std::time::Duration;

    #[test]
    fn the_computed_value_is_the_window_over_the_round_trip_less_what_is_no_payload() {
        let case = Case {
            window: 120_000,
            delay: Duration::from_millis(50),
            rate_bps: 1,
            warm_up: Duration::ZERO,
            duration: Duration::ZERO,
        };
        // 1000 bytes after 100 ms and 3000 after 120: 115 ms by bytes, packets of 2000 bytes with 33 that are no payload.
        let acked = [
            Acked { bytes: 1_000, rtt: Duration::from_millis(100) },
            Acked { bytes: 3_000, rtt: Duration::from_millis(120) },
        ];
        let outcome = Outcome::new(&case, &acked, 0, 8_000.0);
        assert!((outcome.rtt_us - 115_000.0).abs() < 1e-6, "{outcome:?}");
        // 120 000 * 8 bit in 115 ms are 8347.826 kbit/s; times 1967 / 2000 are 8210.087.
        assert!((outcome.computed_kbps - 8_210.087).abs() < 1e-3, "{outcome:?}");
        assert!((outcome.ratio() - 0.974_411).abs() < 1e-5, "{outcome:?}");
        // Of nothing, nothing that is no number.
        assert!(Outcome::new(&case, &[], 0, 0.0).ratio().is_finite());
    }
}
