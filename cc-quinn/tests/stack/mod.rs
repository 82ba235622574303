//! quinn, as the tests that all stacks share want it.

pub(crate) use cc_quinn::{Config, reno};

use crate::shared::{Failure, any_port};
use cc_core::CongestionController;
use quinn::congestion::ControllerFactory;
use quinn::udp::{EcnCodepoint, RecvMeta, Transmit};
use quinn::{
    AsyncUdpSocket, ClientConfig, Connection, Endpoint, EndpointConfig, Runtime, ServerConfig, TokioRuntime,
    TransportConfig, UdpPoller,
};
use std::io::{self, IoSliceMut};
use std::net::{SocketAddr, UdpSocket};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

/// It is copied.
pub(crate) const CONTROLLERS_WITH_A_NEW_PORT: usize = 1;

/// One end of a connection.
#[derive(Debug)]
pub(crate) struct End(pub(crate) Connection);

impl End {
    pub(crate) async fn send(&self, data: &[u8]) -> Result<(), Failure> {
        let mut stream = self.0.open_uni().await?;
        stream.write_all(data).await?;
        stream.finish()?;
        // Until everything is acked.
        stream.stopped().await?;
        Ok(())
    }

    pub(crate) async fn receive(
        &self,
        mut on_chunk: impl FnMut(&[u8]) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let mut stream = self.0.accept_uni().await?;
        while let Some(chunk) = stream.read_chunk(64 * 1_024, true).await? {
            on_chunk(&chunk.bytes)?;
        }
        Ok(())
    }
}

/// Two connected endpoints.
#[derive(Debug)]
pub(crate) struct Pair {
    pub(crate) at_client: End,
    pub(crate) at_server: End,
    client: Endpoint,
    server: Endpoint,
    ce_received: Arc<AtomicU64>,
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
        let (client_config, server_config) = configs(client, server)?;
        let runtime = Arc::new(TokioRuntime);
        let socket = UdpSocket::bind(any_port())?;
        // So that the system drops nothing while this machine is busy.
        socket2::SockRef::from(&socket).set_recv_buffer_size(4 << 20)?;
        let ce_received = Arc::new(AtomicU64::new(0));
        let counting =
            CountingSocket { inner: runtime.wrap_udp_socket(socket)?, ce: Arc::clone(&ce_received) };
        let server = Endpoint::new_with_abstract_socket(
            EndpointConfig::default(),
            Some(server_config),
            Arc::new(counting),
            runtime,
        )?;
        let mut client = Endpoint::client(any_port())?;
        client.set_default_client_config(client_config);
        let connecting = client.connect(through(server.local_addr()?)?, "localhost")?;
        let accepting = async {
            let incoming = server.accept().await.ok_or("the server was closed")?;
            Ok::<Connection, Failure>(incoming.await?)
        };
        let (at_client, at_server) = tokio::join!(connecting, accepting);
        Ok(Self { at_client: End(at_client?), at_server: End(at_server?), client, server, ce_received })
    }

    /// Datagrams with CE that arrived at the server's socket.
    pub(crate) fn ce_received(&self) -> u64 {
        self.ce_received.load(Ordering::SeqCst)
    }

    pub(crate) fn client_address(&self) -> Result<SocketAddr, Failure> {
        Ok(self.at_server.0.remote_address())
    }

    pub(crate) fn rebind(&self, address: SocketAddr) -> Result<(), Failure> {
        Ok(self.client.rebind(UdpSocket::bind(address)?)?)
    }

    pub(crate) async fn close(self) {
        self.at_client.0.close(0_u8.into(), b"done");
        self.at_server.0.close(0_u8.into(), b"done");
        let idle = async { tokio::join!(self.client.wait_idle(), self.server.wait_idle()) };
        // The data has arrived: whether the last words do does not matter.
        let _ = tokio::time::timeout(Duration::from_secs(2), idle).await;
    }
}

/// Client and server configuration with a certificate of its own.
fn configs(
    client: impl ControllerFactory + Send + Sync + 'static,
    server: impl ControllerFactory + Send + Sync + 'static,
) -> Result<(ClientConfig, ServerConfig), Failure> {
    let rcgen::CertifiedKey { cert, signing_key } =
        rcgen::generate_simple_self_signed(vec!["localhost".to_owned()])?;
    let key = rustls::pki_types::PrivatePkcs8KeyDer::from(signing_key.serialize_der());
    let mut server_config = ServerConfig::with_single_cert(vec![cert.der().clone()], key.into())?;
    server_config.transport_config(transport(server));
    let mut roots = rustls::RootCertStore::empty();
    roots.add(cert.der().clone())?;
    let mut client_config = ClientConfig::with_root_certificates(Arc::new(roots))?;
    client_config.transport_config(transport(client));
    Ok((client_config, server_config))
}

fn transport(factory: impl ControllerFactory + Send + Sync + 'static) -> Arc<TransportConfig> {
    let mut transport = TransportConfig::default();
    transport.congestion_controller_factory(Arc::new(factory));
    Arc::new(transport)
}

/// Counts the datagrams with CE that arrive at a socket.
#[derive(Debug)]
struct CountingSocket {
    inner: Arc<dyn AsyncUdpSocket>,
    ce: Arc<AtomicU64>,
}

impl AsyncUdpSocket for CountingSocket {
    fn create_io_poller(self: Arc<Self>) -> Pin<Box<dyn UdpPoller>> {
        Arc::clone(&self.inner).create_io_poller()
    }
    fn try_send(&self, transmit: &Transmit<'_>) -> io::Result<()> {
        self.inner.try_send(transmit)
    }
    fn poll_recv(
        &self,
        cx: &mut Context<'_>,
        bufs: &mut [IoSliceMut<'_>],
        meta: &mut [RecvMeta],
    ) -> Poll<io::Result<usize>> {
        let received = self.inner.poll_recv(cx, bufs, meta);
        if let Poll::Ready(Ok(filled)) = received {
            for meta in meta.iter().take(filled).filter(|meta| meta.ecn == Some(EcnCodepoint::Ce)) {
                // The system may have joined datagrams that agree in their ECN field.
                let datagrams = meta.len.div_ceil(meta.stride.max(1));
                self.ce.fetch_add(u64::try_from(datagrams).unwrap_or(0), Ordering::SeqCst);
            }
        }
        received
    }
    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.inner.local_addr()
    }
    fn max_transmit_segments(&self) -> usize {
        self.inner.max_transmit_segments()
    }
    fn max_receive_segments(&self) -> usize {
        self.inner.max_receive_segments()
    }
    fn may_fragment(&self) -> bool {
        self.inner.may_fragment()
    }
}
