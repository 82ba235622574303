//! A UDP socket that reads and writes ECN fields.

use cc_sim::link::Ecn;
use quinn_udp::{BATCH_SIZE, EcnCodepoint, RecvMeta, Transmit, UdpSockRef, UdpSocketState};
use socket2::{Domain, Protocol, SockAddr, Socket as RawSocket, Type};
use std::io::{self, IoSliceMut};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd};

/// A non-blocking UDP socket.
#[derive(Debug)]
pub(crate) struct Socket {
    io: UdpSocket,
    state: UdpSocketState,
}

/// A datagram as it was received.
#[derive(Debug)]
pub(crate) struct Received<'a> {
    pub(crate) from: SocketAddr,
    /// Address of this machine that it was sent to.
    pub(crate) to: Option<IpAddr>,
    pub(crate) ecn: Ecn,
    pub(crate) payload: &'a [u8],
}

/// Room for what one call of the system returns.
pub(crate) struct Buffers {
    space: Vec<u8>,
    meta: [RecvMeta; BATCH_SIZE],
}

impl Socket {
    /// A socket at `address`.
    pub(crate) fn bind(address: SocketAddr, buffer_bytes: usize) -> io::Result<Self> {
        let socket = RawSocket::new(Domain::for_address(address), Type::DGRAM, Some(Protocol::UDP))?;
        // Above the system's limit with privileges only; without them less is granted, which is no error.
        if rustix::net::sockopt::set_socket_recv_buffer_size_force(&socket, buffer_bytes).is_err() {
            socket.set_recv_buffer_size(buffer_bytes)?;
        }
        socket.set_send_buffer_size(buffer_bytes)?;
        socket.bind(&SockAddr::from(address))?;
        let io = UdpSocket::from(socket);
        let state = UdpSocketState::new(UdpSockRef::from(&io))?;
        Ok(Self { io, state })
    }

    /// A socket at a free port that only talks to `peer`, and so learns of errors that the network reports.
    pub(crate) fn connect(peer: SocketAddr, buffer_bytes: usize) -> io::Result<Self> {
        let any = match peer {
            SocketAddr::V4(_) => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
            SocketAddr::V6(_) => IpAddr::V6(Ipv6Addr::UNSPECIFIED),
        };
        let socket = Self::bind(SocketAddr::new(any, 0), buffer_bytes)?;
        socket.io.connect(peer)?;
        Ok(socket)
    }

    pub(crate) fn local_addr(&self) -> io::Result<SocketAddr> {
        self.io.local_addr()
    }

    /// Sends one datagram, from `from` if the socket is bound to all addresses.
    pub(crate) fn send(
        &self,
        to: SocketAddr,
        from: Option<IpAddr>,
        ecn: Ecn,
        contents: &[u8],
    ) -> io::Result<()> {
        let ecn = codepoint(ecn);
        let transmit = Transmit { destination: to, ecn, contents, segment_size: None, src_ip: from };
        self.state.try_send(UdpSockRef::from(&self.io), &transmit)
    }

    /// Reads what is there, up to a batch, and takes it apart into datagrams. `WouldBlock` if there is nothing.
    pub(crate) fn receive(
        &self,
        buffers: &mut Buffers,
        mut on_datagram: impl FnMut(Received<'_>),
    ) -> io::Result<()> {
        let Buffers { space, meta } = buffers;
        let mut parts = space.chunks_exact_mut(BUFFER_BYTES);
        let mut slices: [IoSliceMut<'_>; BATCH_SIZE] =
            std::array::from_fn(|_| IoSliceMut::new(parts.next().unwrap_or_default()));
        let count = self.state.recv(UdpSockRef::from(&self.io), &mut slices, meta)?;
        for (slice, meta) in slices.iter().zip(meta.iter()).take(count) {
            let contents = slice.get(..meta.len).unwrap_or_default();
            let received =
                |payload| Received { from: meta.addr, to: meta.dst_ip, ecn: ecn(meta.ecn), payload };
            if contents.is_empty() {
                on_datagram(received(contents));
            }
            // Several of one size, but for the last, if the system put them together.
            contents.chunks(meta.stride.max(1)).for_each(|payload| on_datagram(received(payload)));
        }
        Ok(())
    }
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.io.as_fd()
    }
}

/// The largest UDP payload, and the most that the system puts together.
const BUFFER_BYTES: usize = 1 << 16;

impl Buffers {
    pub(crate) fn new() -> Self {
        Self { space: vec![0; BATCH_SIZE * BUFFER_BYTES], meta: [RecvMeta::default(); BATCH_SIZE] }
    }
}

fn codepoint(ecn: Ecn) -> Option<EcnCodepoint> {
    match ecn {
        Ecn::NotEct => None,
        Ecn::Ect0 => Some(EcnCodepoint::Ect0),
        Ecn::Ect1 => Some(EcnCodepoint::Ect1),
        Ecn::Ce => Some(EcnCodepoint::Ce),
    }
}

fn ecn(codepoint: Option<EcnCodepoint>) -> Ecn {
    match codepoint {
        None => Ecn::NotEct,
        Some(EcnCodepoint::Ect0) => Ecn::Ect0,
        Some(EcnCodepoint::Ect1) => Ecn::Ect1,
        Some(EcnCodepoint::Ce) => Ecn::Ce,
    }
}
