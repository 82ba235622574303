//! Sockets with room, and a count of the ECN codepoints that arrive: quinn acts on them and does not tell.

use crate::probe::Tally;
use cc_relay::EcnCounts;
use quinn::udp::{EcnCodepoint, RecvMeta, Transmit};
use quinn::{AsyncUdpSocket, Runtime, TokioRuntime, UdpPoller};
use socket2::{Domain, Protocol, SockAddr, Socket, Type};
use std::io::{self, IoSliceMut};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
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

/// A free port of any address, to reach `to` from.
#[must_use]
pub fn any_port(to: SocketAddr) -> SocketAddr {
    let any = match to {
        SocketAddr::V4(_) => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
        SocketAddr::V6(_) => IpAddr::V6(Ipv6Addr::UNSPECIFIED),
    };
    (any, 0).into()
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

/// A socket of quinn's that counts what it receives, and answers [probes](crate::probe), which quinn does not get to see.
#[derive(Debug)]
pub struct CountingSocket {
    inner: Arc<dyn AsyncUdpSocket>,
    tally: Arc<EcnTally>,
    probes: Mutex<Tally>,
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
        Ok((Self { inner, tally: Arc::clone(&tally), probes: Mutex::default() }, tally))
    }
}

impl CountingSocket {
    /// Whether it is one, or some of one sender that the system has put together. They are answered then.
    fn is_probe(&self, meta: &RecvMeta, buffer: &[u8]) -> bool {
        let stride = meta.stride.clamp(1, meta.len.max(1));
        let count = meta.len.div_ceil(stride) as u64;
        let Some(all) = buffer.get(..meta.len) else { return false };
        let Some(first) = all.get(..stride) else { return false };
        let (is_probe, answer) = self.probes().take(first, count);
        if answer.is_some() {
            for datagram in all.chunks(stride) {
                let answer = self.probes().take(datagram, 1).1;
                let contents = answer.as_deref().unwrap_or_default();
                // One for which there is no room is lost, as on the way.
                let _ = self.inner.try_send(&Transmit {
                    destination: meta.addr,
                    ecn: None,
                    contents,
                    segment_size: None,
                    src_ip: meta.dst_ip,
                });
            }
        }
        is_probe
    }

    fn probes(&self) -> MutexGuard<'_, Tally> {
        self.probes.lock().unwrap_or_else(PoisonError::into_inner)
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
        for (meta, buffer) in meta.iter_mut().zip(bufs).take(count) {
            if self.is_probe(meta, buffer) {
                // Nothing is left for quinn.
                meta.len = 0;
            } else {
                self.tally.add(meta);
            }
        }
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
