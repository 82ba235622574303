//! Sockets with room, and a count of the ECN codepoints that arrive: quinn acts on them and does not tell.

use cc_relay::EcnCounts;
use quinn::udp::{EcnCodepoint, RecvMeta, Transmit};
use quinn::{AsyncUdpSocket, Runtime, TokioRuntime, UdpPoller};
use socket2::{Domain, Protocol, SockAddr, Socket, Type};
use std::io::{self, IoSliceMut};
use std::net::{SocketAddr, UdpSocket};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, ready};

/// Send and receive buffers that are asked for, in bytes. The system may grant less.
const BUFFER_BYTES: usize = 8 << 20;

/// A UDP socket at `address`.
///
/// # Errors
///
/// Those of the system, such as that the port is in use.
pub fn bind(address: SocketAddr) -> io::Result<UdpSocket> {
    let socket = Socket::new(Domain::for_address(address), Type::DGRAM, Some(Protocol::UDP))?;
    socket.set_recv_buffer_size(BUFFER_BYTES)?;
    socket.set_send_buffer_size(BUFFER_BYTES)?;
    socket.bind(&SockAddr::from(address))?;
    Ok(socket.into())
}

/// Datagrams received, by codepoint. Others look at it while the socket is in use.
#[derive(Debug, Default)]
pub struct EcnTally([AtomicU64; 4]);

impl EcnTally {
    /// What has arrived so far.
    #[must_use]
    pub fn counts(&self) -> EcnCounts {
        let [not_ect, ect0, ect1, ce] = self.0.each_ref().map(|count| count.load(Ordering::Relaxed));
        EcnCounts { not_ect, ect0, ect1, ce }
    }

    /// Datagrams in all.
    #[must_use]
    pub fn total(&self) -> u64 {
        let EcnCounts { not_ect, ect0, ect1, ce } = self.counts();
        not_ect + ect0 + ect1 + ce
    }

    fn add(&self, meta: &RecvMeta) {
        let [not_ect, ect0, ect1, ce] = &self.0;
        let count = match meta.ecn {
            None => not_ect,
            Some(EcnCodepoint::Ect0) => ect0,
            Some(EcnCodepoint::Ect1) => ect1,
            Some(EcnCodepoint::Ce) => ce,
        };
        // The system puts datagrams of one codepoint together only.
        count.fetch_add(meta.len.div_ceil(meta.stride.max(1)) as u64, Ordering::Relaxed);
    }
}

/// A socket of quinn's that counts what it receives.
#[derive(Debug)]
pub struct CountingSocket {
    inner: Arc<dyn AsyncUdpSocket>,
    tally: Arc<EcnTally>,
}

impl CountingSocket {
    /// Wraps `socket`, for which there must be a tokio runtime.
    ///
    /// # Errors
    ///
    /// Those of the system.
    pub fn new(socket: UdpSocket) -> io::Result<(Self, Arc<EcnTally>)> {
        let inner = TokioRuntime.wrap_udp_socket(socket)?;
        let tally = Arc::<EcnTally>::default();
        Ok((Self { inner, tally: Arc::clone(&tally) }, tally))
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
        let count = ready!(self.inner.poll_recv(cx, bufs, meta))?;
        meta.iter().take(count).for_each(|meta| self.tally.add(meta));
        Poll::Ready(Ok(count))
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
