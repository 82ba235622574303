//! What can be set, and in which ranges.

use crate::{Direction, RelayError};
use cc_sim::link::LinkConfig;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::ops::RangeInclusive;
use std::time::Duration;

/// What one relay does.
#[derive(Clone, Debug, PartialEq)]
pub struct RelayConfig {
    /// Where clients send to; port 0 lets the system choose, see [`Relay::local_addr`](crate::Relay::local_addr).
    pub listen: SocketAddr,
    /// Where their datagrams go.
    pub server: SocketAddr,
    /// The path from the clients to the server, which all clients share.
    pub to_server: PathConfig,
    /// The path back.
    pub to_client: PathConfig,
    /// Of all randomness: the same seed and the same datagrams in the same order give the same losses.
    pub seed: u64,
    /// Clients at a time, 1 to 4096 (256). Datagrams of more are dropped and counted.
    pub max_clients: usize,
    /// A client that has neither sent nor been sent anything for this long is forgotten: 10 ms to a day (a minute).
    pub idle_timeout: Duration,
    /// Send and receive buffer of each socket, 4096 bytes to 1 GiB (4 MiB). The system may grant less.
    pub socket_buffer_bytes: usize,
    /// Payload bytes that both directions together hold at a time, 64 KiB to 16 GiB (256 MiB): a bound on memory for links
    /// that are long, suspended or have unlimited queues.
    pub max_held_bytes: usize,
    /// Whether the relay's thread asks for the highest priority that is not real time (nice -20), so that other processes do not
    /// make departures late (true). It goes without where the system does not allow that.
    pub raise_priority: bool,
}

/// One direction.
#[derive(Clone, Debug, PartialEq)]
pub struct PathConfig {
    /// The link.
    pub link: LinkConfig,
    /// What happens to the ECN field.
    pub ecn: EcnPolicy,
    /// Largest datagram that gets through, in bytes of UDP payload: 1200 (RFC 9000 section 14) to 65 527 (the default).
    pub mtu_bytes: usize,
}

/// What a path does to ECN fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum EcnPolicy {
    /// They pass; an AQM marks what is ECN-capable.
    #[default]
    Forward,
    /// They are cleared before the link, as by a proxy that knows nothing of ECN; an AQM then drops instead.
    Clear,
}

impl RelayConfig {
    /// A relay on a free port of the loopback address, to `server`, that adds nothing in either direction.
    #[must_use]
    pub fn new(server: SocketAddr) -> Self {
        let loopback = match server {
            SocketAddr::V4(_) => IpAddr::V4(Ipv4Addr::LOCALHOST),
            SocketAddr::V6(_) => IpAddr::V6(Ipv6Addr::LOCALHOST),
        };
        Self {
            listen: SocketAddr::new(loopback, 0),
            server,
            to_server: PathConfig::default(),
            to_client: PathConfig::default(),
            seed: 1,
            max_clients: 256,
            idle_timeout: Duration::from_secs(60),
            socket_buffer_bytes: 4 << 20,
            max_held_bytes: 256 << 20,
            raise_priority: true,
        }
    }

    /// The same path both ways.
    #[must_use]
    pub fn with_path(mut self, path: &PathConfig) -> Self {
        (self.to_server, self.to_client) = (path.clone(), path.clone());
        self
    }

    /// Whether every field is in its range.
    ///
    /// # Errors
    ///
    /// [`RelayError::Config`] names the first field that is not.
    pub fn check(&self) -> Result<(), RelayError> {
        if self.server.port() == 0 {
            return Err(out_of_range("server.port", 0, &(1..=65_535)));
        }
        if self.server.ip().is_unspecified() {
            return Err(RelayError::config("server.ip", format!("{} is no destination", self.server.ip())));
        }
        // It would be a client of itself, once for each of its clients.
        let same_ip = self.listen.ip() == self.server.ip()
            || self.listen.ip().is_unspecified() && self.server.ip().is_loopback();
        if same_ip && self.listen.port() == self.server.port() {
            return Err(RelayError::config("server", format!("{} is the relay itself", self.server)));
        }
        within("max_clients", self.max_clients, 1..=4_096)?;
        let (shortest, longest) = (Duration::from_millis(10), Duration::from_secs(86_400));
        if !(shortest..=longest).contains(&self.idle_timeout) {
            let problem =
                format!("{:?} is out of range (allowed: {shortest:?}..={longest:?})", self.idle_timeout);
            return Err(RelayError::config("idle_timeout", problem));
        }
        within("socket_buffer_bytes", self.socket_buffer_bytes, 4_096..=1 << 30)?;
        within("max_held_bytes", self.max_held_bytes, 1 << 16..=1 << 34)?;
        self.to_server.check(Direction::ToServer)?;
        self.to_client.check(Direction::ToClient)
    }
}

impl PathConfig {
    /// This link, ECN fields and datagrams of any size let through.
    #[must_use]
    pub fn new(link: LinkConfig) -> Self {
        Self { link, ecn: EcnPolicy::Forward, mtu_bytes: 65_527 }
    }

    pub(crate) fn check(&self, direction: Direction) -> Result<(), RelayError> {
        let name = match direction {
            Direction::ToServer => "to_server",
            Direction::ToClient => "to_client",
        };
        self.link.check().map_err(|error| RelayError::link(name, &error))?;
        within(&format!("{name}.mtu_bytes"), self.mtu_bytes, 1_200..=65_527)
    }
}

/// Everything passes at once.
impl Default for PathConfig {
    fn default() -> Self {
        Self::new(LinkConfig::default())
    }
}

fn within(field: &str, value: usize, allowed: RangeInclusive<usize>) -> Result<(), RelayError> {
    if allowed.contains(&value) { Ok(()) } else { Err(out_of_range(field, value, &allowed)) }
}

fn out_of_range(field: &str, value: usize, allowed: &RangeInclusive<usize>) -> RelayError {
    let problem = format!("{value} is out of range (allowed: {}..={})", allowed.start(), allowed.end());
    RelayError::config(field, problem)
}
