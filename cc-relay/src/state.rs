//! What the relay's thread works on: sockets, clients, one link each way, the datagrams that are under way.

use crate::clients::{ClientKey, Clients};
use crate::config::{EcnPolicy, PathConfig, RelayConfig};
use crate::socket::{Buffers, Received, Socket};
use crate::stats::{ClientStats, DirectionStats, RelayStats, Timing};
use crate::{Direction, RelayError};
use cc_sim::link::{Datagram, DropCause, Ecn, Event, LinkModel};
use rustix::event::epoll;
use slab::Slab;
use std::io;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What a ready descriptor is known by: the thing to wake the thread with, the socket that clients send to, and from this on the
/// sockets of the clients.
pub(crate) const WAKE: u64 = 0;
const LISTEN: u64 = 1;
const FIRST_CLIENT: u64 = 2;

/// Memory that a datagram takes beside its payload, about.
const OVERHEAD_BYTES: usize = 96;

#[derive(Debug)]
pub(crate) struct State {
    config: RelayConfig,
    epoll: Arc<OwnedFd>,
    listen: Socket,
    clients: Clients,
    to_server: Lane,
    to_client: Lane,
    packets: Slab<Held>,
    held_bytes: usize,
    epoch: Instant,
    next_sweep_us: u64,
    expired: u64,
    icmp_errors: u64,
    receive_errors: u64,
    timing: Timing,
    events: Vec<Event>,
    /// What ended the thread, if that was not the handle.
    pub(crate) failure: Option<io::Error>,
}

/// One direction.
#[derive(Debug)]
struct Lane {
    path: PathConfig,
    model: LinkModel,
    stats: DirectionStats,
}

/// A datagram that is under way.
#[derive(Debug)]
struct Held {
    client: ClientKey,
    client_number: u64,
    ecn: Ecn,
    payload: Vec<u8>,
}

/// What became of a datagram that is no longer under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Forwarded(Ecn),
    QueueFull,
    Aqm,
    RandomLoss,
    TooLarge,
    SocketError,
    NoMemory,
    ClientGone,
}

impl State {
    pub(crate) fn new(config: &RelayConfig, epoll: Arc<OwnedFd>) -> Result<Self, RelayError> {
        config.check()?;
        let address = config.listen;
        let listen = Socket::bind(address, config.socket_buffer_bytes)
            .map_err(|source| RelayError::Bind { address, source })?;
        epoll::add(&*epoll, &listen, epoll::EventData::new_u64(LISTEN), epoll::EventFlags::IN)
            .map_err(|error| RelayError::io("cannot watch the socket")(error.into()))?;
        Ok(Self {
            to_server: Lane::new(&config.to_server, Direction::ToServer, config.seed)?,
            to_client: Lane::new(&config.to_client, Direction::ToClient, config.seed)?,
            config: config.clone(),
            epoll,
            listen,
            clients: Clients::default(),
            packets: Slab::new(),
            held_bytes: 0,
            epoch: monotonic_now(),
            next_sweep_us: 0,
            expired: 0,
            icmp_errors: 0,
            receive_errors: 0,
            timing: Timing::default(),
            events: Vec::new(),
            failure: None,
        })
    }

    pub(crate) fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listen.local_addr()
    }

    /// How long the thread may sleep; `None` for ever.
    pub(crate) fn sleep(&self) -> Option<Duration> {
        let sweep = (self.clients.len() > 0).then_some(self.next_sweep_us);
        let next = [self.to_server.model.next_event(), self.to_client.model.next_event(), sweep];
        let at = Duration::from_micros(next.into_iter().flatten().min()?);
        Some(at.saturating_sub(self.elapsed()))
    }

    /// Reads from the descriptor known by `key`.
    pub(crate) fn on_ready(&mut self, key: u64, buffers: &mut Buffers) {
        if key == LISTEN {
            return self.receive_from_clients(buffers);
        }
        let client = key.checked_sub(FIRST_CLIENT).and_then(|key| ClientKey::try_from(key).ok());
        if let Some(client) = client {
            self.receive_from_server(client, buffers);
        }
    }

    /// Lets the links run up to now, and forgets clients.
    pub(crate) fn advance(&mut self) {
        for direction in [Direction::ToServer, Direction::ToClient] {
            let now = self.now();
            let mut events = std::mem::take(&mut self.events);
            self.lane(direction).model.advance(now, |event| events.push(event));
            self.settle(direction, now, &mut events);
            self.events = events;
        }
        let now = self.now();
        if now >= self.next_sweep_us {
            let idle_us = micros(self.config.idle_timeout);
            // A client of before the start is none; and none is forgotten later than a quarter of the time-out late.
            if let Some(since) = now.checked_sub(idle_us) {
                self.expired += self.clients.expire(since);
            }
            self.next_sweep_us = now + idle_us / 4;
        }
    }

    pub(crate) fn stats(&self) -> RelayStats {
        let now = self.now();
        let clients = self.clients.iter().map(|client| ClientStats {
            address: client.address,
            server_side: client.server_side,
            idle_us: now.saturating_sub(client.active_at),
            to_server: client.to_server,
            to_client: client.to_client,
        });
        RelayStats {
            to_server: self.to_server.stats,
            to_client: self.to_client.stats,
            to_server_waiting_us: self.to_server.model.waiting_us(now),
            to_client_waiting_us: self.to_client.model.waiting_us(now),
            clients: clients.collect(),
            clients_total: self.clients.total(),
            clients_expired: self.expired,
            icmp_errors: self.icmp_errors,
            receive_errors: self.receive_errors,
            timing: self.timing,
        }
    }

    pub(crate) fn set_path(&mut self, direction: Direction, path: &PathConfig) -> Result<(), RelayError> {
        path.check(direction)?;
        let now = self.now();
        let mut events = std::mem::take(&mut self.events);
        let lane = self.lane(direction);
        let changed = lane.model.change(now, &path.link, |event| events.push(event));
        lane.path = path.clone();
        self.settle(direction, now, &mut events);
        self.events = events;
        changed.map_err(|error| RelayError::link("path", &error))
    }

    /// Gives every client a new socket towards the server; how many.
    pub(crate) fn rebind_clients(&mut self) -> Result<usize, RelayError> {
        let keys = self.clients.keys();
        for &key in &keys {
            let (socket, server_side) =
                self.server_socket(key).map_err(RelayError::io("cannot make a new socket"))?;
            if let Some(client) = self.clients.get_mut(key) {
                // The old one closes, and so leaves the epoll set.
                (client.socket, client.server_side) = (socket, server_side);
            }
        }
        Ok(keys.len())
    }

    fn receive_from_clients(&mut self, buffers: &mut Buffers) {
        let now = self.now();
        let mut batch = Vec::new();
        let result = self.listen.receive(buffers, |received| {
            batch.push((received.from, received.to, received.ecn, received.payload.to_vec()));
        });
        self.note_receive(result);
        for (from, to, ecn, payload) in batch {
            let Some(client) = self.clients.find(from).or_else(|| self.new_client(from, to, now)) else {
                let stats = &mut self.to_server.stats;
                stats.received.add(payload.len());
                stats.ecn_received.add(ecn);
                stats.dropped.no_client += 1;
                continue;
            };
            self.submit(Direction::ToServer, now, client, ecn, payload);
        }
    }

    fn receive_from_server(&mut self, key: ClientKey, buffers: &mut Buffers) {
        let now = self.now();
        let Some(client) = self.clients.get(key) else { return };
        let mut batch = Vec::new();
        let result = client.socket.receive(buffers, |received: Received<'_>| {
            batch.push((received.ecn, received.payload.to_vec()));
        });
        self.note_receive(result);
        for (ecn, payload) in batch {
            self.submit(Direction::ToClient, now, key, ecn, payload);
        }
    }

    fn note_receive(&mut self, result: io::Result<()>) {
        match result.map_err(|error| error.kind()) {
            Ok(()) | Err(io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {}
            Err(kind) if is_icmp(kind) => self.icmp_errors += 1,
            Err(_) => self.receive_errors += 1,
        }
    }

    /// A client that was not known; `None` if there is no room for it.
    fn new_client(
        &mut self,
        address: SocketAddr,
        relay_ip: Option<std::net::IpAddr>,
        now: u64,
    ) -> Option<ClientKey> {
        if self.clients.len() >= self.config.max_clients {
            return None;
        }
        let (socket, server_side) = self.server_socket(self.clients.next_key()).ok()?;
        // A socket bound to one address sends from it anyway.
        let relay_ip = relay_ip.filter(|_| self.config.listen.ip().is_unspecified());
        if self.clients.len() == 0 {
            self.next_sweep_us = now + micros(self.config.idle_timeout) / 4;
        }
        Some(self.clients.add(address, relay_ip, socket, server_side, now))
    }

    /// A socket towards the server for the client at `key`, and its address.
    fn server_socket(&self, key: ClientKey) -> io::Result<(Socket, SocketAddr)> {
        let socket = Socket::connect(self.config.server, self.config.socket_buffer_bytes)?;
        let data = epoll::EventData::new_u64(key as u64 + FIRST_CLIENT);
        epoll::add(&*self.epoll, &socket, data, epoll::EventFlags::IN)?;
        let address = socket.local_addr()?;
        Ok((socket, address))
    }

    fn submit(&mut self, direction: Direction, now: u64, key: ClientKey, ecn: Ecn, payload: Vec<u8>) {
        let Some(client) = self.clients.get_mut(key) else { return };
        client.active_at = now;
        let lane = match direction {
            Direction::ToServer => &mut self.to_server,
            Direction::ToClient => &mut self.to_client,
        };
        for stats in [&mut lane.stats, client.stats(direction)] {
            stats.received.add(payload.len());
            stats.ecn_received.add(ecn);
        }
        let bytes = payload.len() as u64;
        let cost = payload.len() + OVERHEAD_BYTES;
        let early_end = if payload.len() > lane.path.mtu_bytes {
            Some(End::TooLarge)
        } else if self.held_bytes + cost > self.config.max_held_bytes {
            Some(End::NoMemory)
        } else {
            None
        };
        if let Some(end) = early_end {
            lane.stats.note(end, payload.len(), ecn);
            client.stats(direction).note(end, payload.len(), ecn);
            return;
        }
        self.held_bytes += cost;
        let on_link = match lane.path.ecn {
            EcnPolicy::Forward => ecn,
            EcnPolicy::Clear => Ecn::NotEct,
        };
        let held = Held { client: key, client_number: client.number, ecn, payload };
        // Bounded by `max_held_bytes` over OVERHEAD_BYTES, far below 2^32.
        let token = u32::try_from(self.packets.insert(held)).unwrap_or(u32::MAX);
        let mut events = std::mem::take(&mut self.events);
        lane.model.submit(now, Datagram { token, bytes, ecn: on_link }, |event| events.push(event));
        self.settle(direction, now, &mut events);
        self.events = events;
    }

    /// Does what the link says.
    fn settle(&mut self, direction: Direction, now: u64, events: &mut Vec<Event>) {
        for event in events.drain(..) {
            let (datagram, end) = match event {
                Event::Delivered { at_us, datagram } => {
                    self.timing.note(now.saturating_sub(at_us));
                    (datagram, None)
                }
                Event::Lost(datagram) => (datagram, Some(End::RandomLoss)),
                Event::Dropped(datagram, DropCause::Full) => (datagram, Some(End::QueueFull)),
                Event::Dropped(datagram, DropCause::Aqm) => (datagram, Some(End::Aqm)),
            };
            let Some(held) = self.packets.try_remove(datagram.token as usize) else { continue };
            self.held_bytes -= held.payload.len() + OVERHEAD_BYTES;
            let end = end.unwrap_or_else(|| self.forward(direction, now, &held, datagram.ecn));
            let bytes = held.payload.len();
            self.lane(direction).stats.note(end, bytes, held.ecn);
            if let Some(client) = self.clients.same_mut(held.client, held.client_number) {
                client.stats(direction).note(end, bytes, held.ecn);
            }
        }
    }

    /// Sends a datagram that is through the link.
    fn forward(&mut self, direction: Direction, now: u64, held: &Held, ecn: Ecn) -> End {
        let Some(client) = self.clients.same_mut(held.client, held.client_number) else {
            return End::ClientGone;
        };
        let send = || match direction {
            Direction::ToServer => client.socket.send(self.config.server, None, ecn, &held.payload),
            Direction::ToClient => self.listen.send(client.address, client.relay_ip, ecn, &held.payload),
        };
        let mut result = send();
        if result.as_ref().is_err_and(|error| is_icmp(error.kind())) {
            // The network's answer to an earlier datagram: it is told once, and this datagram was not sent.
            self.icmp_errors += 1;
            result = send();
        }
        client.active_at = client.active_at.max(now);
        match result {
            Ok(()) => End::Forwarded(ecn),
            Err(error) if error.raw_os_error() == Some(rustix::io::Errno::MSGSIZE.raw_os_error()) => {
                End::TooLarge
            }
            Err(_) => End::SocketError,
        }
    }

    fn lane(&mut self, direction: Direction) -> &mut Lane {
        match direction {
            Direction::ToServer => &mut self.to_server,
            Direction::ToClient => &mut self.to_client,
        }
    }

    fn elapsed(&self) -> Duration {
        monotonic_now().saturating_duration_since(self.epoch)
    }

    fn now(&self) -> u64 {
        micros(self.elapsed())
    }
}

impl Lane {
    fn new(path: &PathConfig, direction: Direction, seed: u64) -> Result<Self, RelayError> {
        let (name, seed) = match direction {
            Direction::ToServer => ("to_server", seed),
            // Another sequence for the way back.
            Direction::ToClient => ("to_client", seed ^ 0x5555_5555_5555_5555),
        };
        let model = LinkModel::new(&path.link, seed).map_err(|error| RelayError::link(name, &error))?;
        Ok(Self { path: path.clone(), model, stats: DirectionStats::default() })
    }
}

impl crate::clients::Client {
    fn stats(&mut self, direction: Direction) -> &mut DirectionStats {
        match direction {
            Direction::ToServer => &mut self.to_server,
            Direction::ToClient => &mut self.to_client,
        }
    }
}

impl DirectionStats {
    fn note(&mut self, end: End, bytes: usize, came_with: Ecn) {
        let dropped = &mut self.dropped;
        let counter = match end {
            End::Forwarded(ecn) => {
                self.forwarded.add(bytes);
                self.ecn_forwarded.add(ecn);
                self.marked_ce += u64::from(ecn == Ecn::Ce && came_with != Ecn::Ce);
                return;
            }
            End::QueueFull => &mut dropped.queue_full,
            End::Aqm => &mut dropped.aqm,
            End::RandomLoss => &mut dropped.random_loss,
            End::TooLarge => &mut dropped.too_large,
            End::SocketError => &mut dropped.socket_error,
            End::NoMemory => &mut dropped.no_memory,
            End::ClientGone => &mut dropped.client_gone,
        };
        *counter += 1;
    }
}

/// Whether an error is the network's about an earlier datagram (ICMP destination unreachable), not about this call.
fn is_icmp(kind: io::ErrorKind) -> bool {
    matches!(
        kind,
        io::ErrorKind::ConnectionRefused
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::HostUnreachable
            | io::ErrorKind::NetworkUnreachable
    )
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

#[expect(clippy::disallowed_methods, reason = "the relay is where the model's time comes from")]
fn monotonic_now() -> Instant {
    Instant::now()
}
