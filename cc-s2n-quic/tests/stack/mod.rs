//! s2n-quic, as the tests that all stacks share want it.

pub(crate) use cc_s2n_quic::{Config, reno};

use crate::shared::{Failure, any_port};
use cc_core::CongestionController;
use s2n_quic::client::Connect;
use s2n_quic::connection::{Handle, StreamAcceptor};
use s2n_quic::provider::event::events::{Frame, FrameSent, PacketHeader};
use s2n_quic::provider::event::{ConnectionInfo, ConnectionMeta, Subscriber};
use s2n_quic::provider::limits::Limits;
use s2n_quic::{Client, Connection, Server};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::Mutex;

/// Every path has a controller of its own.
pub(crate) const CONTROLLERS_WITH_A_NEW_PORT: usize = 2;

/// One end of a connection.
#[derive(Debug)]
pub(crate) struct End {
    handle: Handle,
    streams: Mutex<StreamAcceptor>,
}

impl End {
    fn new(connection: Connection) -> Self {
        let (handle, streams) = connection.split();
        Self { handle, streams: Mutex::new(streams) }
    }

    pub(crate) async fn send(&self, data: &[u8]) -> Result<(), Failure> {
        let mut stream = self.handle.clone().open_send_stream().await?;
        for chunk in data.chunks(64 * 1_024) {
            stream.send(chunk.to_vec().into()).await?;
        }
        // Returns when everything has been acked.
        Ok(stream.close().await?)
    }

    pub(crate) async fn receive(
        &self,
        mut on_chunk: impl FnMut(&[u8]) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let accepted = self.streams.lock().await.accept_receive_stream().await?;
        let mut stream = accepted.ok_or("the connection was closed")?;
        while let Some(chunk) = stream.receive().await? {
            on_chunk(&chunk)?;
        }
        Ok(())
    }
}

/// Two connected endpoints.
#[derive(Debug)]
pub(crate) struct Pair {
    pub(crate) at_client: End,
    pub(crate) at_server: End,
    client: Client,
    server: Server,
    reported: Arc<Reported>,
}

impl Pair {
    pub(crate) async fn connect<A, B>(
        client: Config<A>,
        server: Config<B>,
        through: impl FnOnce(SocketAddr) -> Result<SocketAddr, Failure>,
    ) -> Result<Self, Failure>
    where
        A: CongestionController + Clone,
        B: CongestionController + Clone,
    {
        let rcgen::CertifiedKey { cert, signing_key } =
            rcgen::generate_simple_self_signed(vec!["localhost".to_owned()])?;
        let (cert, key) = (cert.pem(), signing_key.serialize_pem());
        let reported = Arc::new(Reported::default());
        let mut server = Server::builder()
            .with_tls((cert.as_str(), key.as_str()))?
            .with_congestion_controller(server)?
            .with_limits(limits()?)?
            .with_event(CeCounter(Arc::clone(&reported)))?
            .with_io(any_port())?
            .start()?;
        let client = Client::builder()
            .with_tls(cert.as_str())?
            .with_limits(limits()?)?
            .with_congestion_controller(client)?
            .with_io(any_port())?
            .start()?;
        let address = through(server.local_addr()?)?;
        let connecting = client.connect(Connect::new(address).with_server_name("localhost"));
        let accepting = async { server.accept().await.ok_or("the server was closed") };
        let (at_client, at_server) = tokio::join!(connecting, accepting);
        let (at_client, at_server) = (End::new(at_client?), End::new(at_server?));
        Ok(Self { at_client, at_server, client, server, reported })
    }

    /// Packets with CE, as the server reports them in its ACK frames.
    pub(crate) fn ce_received(&self) -> u64 {
        self.reported.0.iter().map(|space| space.load(Ordering::SeqCst)).sum()
    }

    pub(crate) async fn close(self) {
        self.at_client.handle.close(0_u8.into());
        self.at_server.handle.close(0_u8.into());
        drop((self.client, self.server));
    }
}

/// With shorter ACK delays than the default of 25 ms: s2n-quic acks every tenth packet at once, so that a window of less than that would
/// wait for the delay in each round trip of 2 ms.
fn limits() -> Result<Limits, Failure> {
    Ok(Limits::new().with_max_ack_delay(Duration::from_millis(2))?)
}

/// The latest count of each packet number space: Initial, Handshake, application data.
#[derive(Debug, Default)]
struct Reported([AtomicU64; 3]);

/// Notes the CE counts of the ACK frames that an endpoint sends.
struct CeCounter(Arc<Reported>);

impl Subscriber for CeCounter {
    type ConnectionContext = ();

    fn create_connection_context(&mut self, _meta: &ConnectionMeta, _info: &ConnectionInfo) {}

    fn on_frame_sent(&mut self, _context: &mut (), _meta: &ConnectionMeta, event: &FrameSent) {
        let [initial, handshake, application] = &self.0.0;
        let space = match event.packet_header {
            PacketHeader::Initial { .. } => initial,
            PacketHeader::Handshake { .. } => handshake,
            _ => application,
        };
        if let Frame::Ack { ecn_counts: Some(counts), .. } = &event.frame {
            space.fetch_max(counts.ce_count, Ordering::SeqCst);
        }
    }
}
