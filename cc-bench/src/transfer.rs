//! One bulk transfer from a client to a server, and what was seen of it at each of the three places.

use crate::controllers::Controller;
use crate::now;
use crate::path::{Path, Proxy};
use crate::protocol::{self, ProtocolError};
use crate::quic::{Identity, SERVER_NAME, Trust, send_buffer};
use crate::server::Server;
use crate::socket::{EcnTally, bind};
use crate::tap::Tap;
use cc_relay::{EcnCounts, Relay, RelayError, RelayStats};
use quinn::{Endpoint, EndpointConfig, TokioRuntime};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use std::{error, fmt};
use tokio::runtime;
use tokio::time::timeout;

type AnyError = Box<dyn error::Error + Send + Sync>;

/// What to do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Transfer {
    /// Whose sender.
    pub controller: Controller,
    /// Bytes of data.
    pub bytes: u64,
    /// What is between the ends.
    pub proxy: Proxy,
    /// The path, if there is a relay.
    pub path: Path,
    /// Of the relay's randomness.
    pub seed: u64,
    /// How long handshake and transfer may take together.
    pub time_limit: Duration,
}

/// What was seen.
#[derive(Clone, Debug)]
pub struct Measured {
    /// From the first packet until the handshake was complete at the client.
    pub handshake: Duration,
    /// From the opening of the stream until the client had the server's word that all bytes have arrived.
    pub duration: Duration,
    /// RTT samples in microseconds, ascending.
    pub rtt_us: Vec<u32>,
    /// quinn's smoothed RTT at the end.
    pub rtt_end: Duration,
    /// Packets that the client sent.
    pub sent_packets: u64,
    /// Packets that it declared lost.
    pub lost_packets: u64,
    /// Congestion events that it saw.
    pub congestion_events: u64,
    /// Datagrams that arrived at the server, by codepoint.
    pub receiver: EcnCounts,
    /// The relay's counters, if there was one.
    pub relay: Option<RelayStats>,
}

impl Measured {
    /// Datagrams that the relay forwarded and that did not reach the server's socket: what the kernel dropped for want of room
    /// in a buffer. Such a run says more about the machine than about the controller.
    #[must_use]
    pub fn unaccounted(&self) -> u64 {
        let EcnCounts { not_ect, ect0, ect1, ce } = self.receiver;
        let forwarded = self.relay.as_ref().map_or(0, |relay| relay.to_server.forwarded.packets);
        forwarded.saturating_sub(not_ect + ect0 + ect1 + ce)
    }
}

/// Why there is nothing to see.
#[derive(Debug)]
pub enum TransferError {
    /// It took longer than it may.
    TimeLimit(Duration),
    /// The relay did not start, or ended.
    Relay(String),
    /// What arrived is not what was sent.
    Corrupt,
    /// Anything else.
    Other(AnyError),
}

impl fmt::Display for TransferError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TimeLimit(limit) => write!(f, "not finished after {limit:?}"),
            Self::Relay(error) => write!(f, "relay: {error}"),
            Self::Corrupt => f.write_str("the bytes that arrived are not those that were sent"),
            Self::Other(error) => write!(f, "{error}"),
        }
    }
}

impl error::Error for TransferError {}

impl From<RelayError> for TransferError {
    fn from(error: RelayError) -> Self {
        Self::Relay(error.to_string())
    }
}

impl From<ProtocolError> for TransferError {
    fn from(error: ProtocolError) -> Self {
        match error {
            ProtocolError::Corrupt => Self::Corrupt,
            ProtocolError::Connection(error) => Self::Other(error),
        }
    }
}

/// An error that has no kind of its own.
fn other<E: Into<AnyError>>(error: E) -> TransferError {
    TransferError::Other(error.into())
}

/// Does it. All threads have ended and all sockets are closed when it returns.
///
/// # Errors
///
/// See [`TransferError`].
pub fn run(transfer: &Transfer) -> Result<Measured, TransferError> {
    let identity = Identity::generate().map_err(other)?;
    let server = Server::start((Ipv4Addr::LOCALHOST, 0).into(), &identity).map_err(TransferError::Other)?;
    let relay_config = transfer.proxy.relay(&transfer.path, server.address(), transfer.seed);
    let relay = relay_config.as_ref().map(Relay::start).transpose()?;
    let address = relay.as_ref().map_or(server.address(), Relay::local_addr);
    let runtime = runtime::Builder::new_current_thread().enable_all().build().map_err(other)?;
    let result = runtime.block_on(client(transfer, &identity.trust(), address));
    let mut measured = result?;
    if let Some(relay) = relay {
        if let Some(failure) = relay.failure() {
            return Err(TransferError::Relay(failure));
        }
        settle(&relay, server.tally(), transfer.path.delay_us);
        measured.relay = Some(relay.stop());
    }
    measured.receiver = server.stop();
    Ok(measured)
}

/// Waits until what is under way has arrived, so that both sides have counted the same datagrams. Not for long: what the kernel
/// has dropped never arrives.
fn settle(relay: &Relay, tally: &EcnTally, delay_us: u64) {
    let end = now() + Duration::from_millis(300) + Duration::from_micros(2 * delay_us);
    while now() < end {
        let stats = relay.stats().to_server;
        if stats.held() == 0 && tally.total() >= stats.forwarded.packets {
            return;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

async fn client(transfer: &Transfer, trust: &Trust, server: SocketAddr) -> Result<Measured, TransferError> {
    let (tap, samples) = Tap::new(
        transfer
            .controller
            .factory()
            .ok_or_else(|| other(format!("{} is not there for quinn", transfer.controller.name())))?,
    );
    let config = trust.client(Arc::new(tap), send_buffer(1)).map_err(other)?;
    let socket = bind((Ipv4Addr::LOCALHOST, 0).into()).map_err(other)?;
    let endpoint =
        Endpoint::new(EndpointConfig::default(), None, socket, Arc::new(TokioRuntime)).map_err(other)?;
    let exchange = async {
        let began = now();
        let connecting = endpoint.connect_with(config, server, SERVER_NAME).map_err(other)?;
        let connection = connecting.await.map_err(other)?;
        let handshake = began.elapsed();
        let began = now();
        protocol::upload(&connection.clone().into(), transfer.bytes).await?;
        Ok((connection, handshake, began.elapsed()))
    };
    let result = timeout(transfer.time_limit, exchange)
        .await
        .unwrap_or(Err(TransferError::TimeLimit(transfer.time_limit)));
    let measured = result.map(|(connection, handshake, duration)| {
        let path = connection.stats().path;
        let mut rtt_us = samples.take();
        rtt_us.sort_unstable();
        Measured {
            handshake,
            duration,
            rtt_us,
            rtt_end: path.rtt,
            sent_packets: path.sent_packets,
            lost_packets: path.lost_packets,
            congestion_events: path.congestion_events,
            receiver: EcnCounts::default(),
            relay: None,
        }
    });
    endpoint.close(0_u32.into(), b"");
    // Lets the close leave; the server does not depend on it.
    let _ = timeout(Duration::from_millis(20), endpoint.wait_idle()).await;
    measured
}
