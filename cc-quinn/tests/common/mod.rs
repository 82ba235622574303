//! A quinn client and server on this machine, and transfers between them.

#![allow(dead_code, reason = "each test binary uses a part of it")]

use quinn::udp::{EcnCodepoint, RecvMeta, Transmit};
use quinn::{
    AsyncUdpSocket, ClientConfig, Connection, Endpoint, EndpointConfig, Runtime, ServerConfig, TokioRuntime,
    TransportConfig, UdpPoller,
};
use std::io::{self, IoSliceMut};
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

/// Long enough for a busy machine; only a transfer that hangs takes it.
const TIMEOUT: Duration = Duration::from_secs(50);

/// The boxed error of a test.
pub(crate) type Failure = Box<dyn std::error::Error + Send + Sync>;

pub(crate) fn any_port() -> SocketAddr {
    (Ipv4Addr::LOCALHOST, 0).into()
}

/// Client and server configuration with a certificate of its own.
pub(crate) fn configs(
    client: TransportConfig,
    server: TransportConfig,
) -> Result<(ClientConfig, ServerConfig), Failure> {
    let rcgen::CertifiedKey { cert, signing_key } =
        rcgen::generate_simple_self_signed(vec!["localhost".to_owned()])?;
    let key = rustls::pki_types::PrivatePkcs8KeyDer::from(signing_key.serialize_der());
    let mut server_config = ServerConfig::with_single_cert(vec![cert.der().clone()], key.into())?;
    server_config.transport_config(Arc::new(server));
    let mut roots = rustls::RootCertStore::empty();
    roots.add(cert.der().clone())?;
    let mut client_config = ClientConfig::with_root_certificates(Arc::new(roots))?;
    client_config.transport_config(Arc::new(client));
    Ok((client_config, server_config))
}

/// Counts the datagrams with CE that arrive at a socket.
#[derive(Debug)]
pub(crate) struct CountingSocket {
    inner: Arc<dyn AsyncUdpSocket>,
    ce: AtomicU64,
}

impl CountingSocket {
    /// Datagrams with CE so far.
    pub(crate) fn ce(&self) -> u64 {
        self.ce.load(Ordering::SeqCst)
    }
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

/// What `check` gives as soon as it gives something; `None` if it never does.
pub(crate) async fn eventually<T>(mut check: impl FnMut() -> Option<T>) -> Option<T> {
    for _ in 0..TIMEOUT.as_millis() / 20 {
        if let Some(found) = check() {
            return Some(found);
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    None
}

/// Two connected endpoints.
pub(crate) struct Pair {
    pub(crate) server_received: Arc<CountingSocket>,
    pub(crate) client: Endpoint,
    pub(crate) server: Endpoint,
    pub(crate) to_server: Connection,
    pub(crate) to_client: Connection,
}

impl Pair {
    /// Connects directly.
    pub(crate) async fn connect(client: TransportConfig, server: TransportConfig) -> Result<Self, Failure> {
        Self::connect_through(client, server, Ok).await
    }

    /// Connects to the address that `through` gives for the server's.
    pub(crate) async fn connect_through(
        client: TransportConfig,
        server: TransportConfig,
        through: impl FnOnce(SocketAddr) -> Result<SocketAddr, Failure>,
    ) -> Result<Self, Failure> {
        let (client_config, server_config) = configs(client, server)?;
        let runtime = Arc::new(TokioRuntime);
        let socket = UdpSocket::bind(any_port())?;
        // So that the system drops nothing while this machine is busy.
        socket2::SockRef::from(&socket).set_recv_buffer_size(4 << 20)?;
        let inner = runtime.wrap_udp_socket(socket)?;
        let server_received = Arc::new(CountingSocket { inner, ce: AtomicU64::new(0) });
        let server = Endpoint::new_with_abstract_socket(
            EndpointConfig::default(),
            Some(server_config),
            Arc::clone(&server_received) as Arc<dyn AsyncUdpSocket>,
            runtime,
        )?;
        let mut client = Endpoint::client(any_port())?;
        client.set_default_client_config(client_config);
        let connecting = client.connect(through(server.local_addr()?)?, "localhost")?;
        let accepting = async {
            let incoming = server.accept().await.ok_or("the server was closed")?;
            Ok::<Connection, Failure>(incoming.await?)
        };
        let (to_server, to_client) = tokio::join!(connecting, accepting);
        Ok(Self { server_received, to_server: to_server?, to_client: to_client?, client, server })
    }

    /// Closes both ends and waits until the packets that say so are sent.
    pub(crate) async fn close(self) {
        self.to_server.close(0_u8.into(), b"done");
        self.to_client.close(0_u8.into(), b"done");
        let idle = async { tokio::join!(self.client.wait_idle(), self.server.wait_idle()) };
        // The data has arrived: whether the last words do does not matter.
        let _ = tokio::time::timeout(Duration::from_secs(2), idle).await;
    }
}

/// Bytes that do not repeat with any packet size: SplitMix64.
pub(crate) fn pattern(bytes: usize) -> Vec<u8> {
    let mut state = 0x5eed_u64;
    let mut data = Vec::with_capacity(bytes + 8);
    while data.len() < bytes {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        data.extend_from_slice(&(z ^ (z >> 31)).to_le_bytes());
    }
    data.truncate(bytes);
    data
}

/// Sends `data` from one end to the other and compares what arrives. `halfway` is run when half of it has arrived.
pub(crate) async fn transfer(
    from: &Connection,
    to: &Connection,
    data: &Arc<Vec<u8>>,
    halfway: impl FnOnce() -> Result<(), Failure>,
) -> Result<(), Failure> {
    let sending = {
        let (from, data) = (from.clone(), Arc::clone(data));
        async move {
            let mut stream = from.open_uni().await?;
            stream.write_all(&data).await?;
            stream.finish()?;
            // Until everything is acked.
            stream.stopped().await?;
            Ok::<(), Failure>(())
        }
    };
    let receiving = async {
        let mut stream = to.accept_uni().await?;
        let mut received = 0;
        let mut halfway = Some(halfway);
        while let Some(chunk) = stream.read_chunk(64 * 1_024, true).await? {
            let expected = data.get(received..received + chunk.bytes.len());
            if expected != Some(&chunk.bytes[..]) {
                return Err(format!("other bytes than sent at {received}").into());
            }
            received += chunk.bytes.len();
            if received * 2 >= data.len()
                && let Some(halfway) = halfway.take()
            {
                halfway()?;
            }
        }
        if received != data.len() {
            return Err(format!("{received} bytes of {} arrived", data.len()).into());
        }
        Ok::<(), Failure>(())
    };
    let both = async { tokio::join!(sending, receiving) };
    let (sent, received) = tokio::time::timeout(TIMEOUT, both).await?;
    received?;
    sent
}

/// A transport configuration with a factory.
pub(crate) fn transport(
    factory: impl quinn::congestion::ControllerFactory + Send + Sync + 'static,
) -> TransportConfig {
    let mut transport = TransportConfig::default();
    transport.congestion_controller_factory(Arc::new(factory));
    transport
}
