//! What a relay counts.

use cc_sim::link::Ecn;
use serde::{Deserialize, Serialize};
use std::net::SocketAddr;

/// State of a relay's counters at one moment. All counters but those of [`RelayStats::clients`] are those of its whole life.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RelayStats {
    /// From all clients to the server.
    pub to_server: DirectionStats,
    /// From the server to all clients.
    pub to_client: DirectionStats,
    /// How long a datagram would wait for the link to the server now, in microseconds.
    pub to_server_waiting_us: u64,
    /// How long one would wait for the link to the clients now, in microseconds.
    pub to_client_waiting_us: u64,
    /// The clients that are known now, in no order.
    pub clients: Vec<ClientStats>,
    /// Clients that there have been.
    pub clients_total: u64,
    /// Of these, how many were forgotten because nothing came from them or went to them.
    pub clients_expired: u64,
    /// Errors that the network reported about earlier datagrams to the server, such as that nobody listens there.
    pub icmp_errors: u64,
    /// Other errors while reading from a socket.
    pub receive_errors: u64,
    /// How punctual the relay was.
    pub timing: Timing,
}

/// One client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientStats {
    /// Its address, as the relay sees it.
    pub address: SocketAddr,
    /// The relay's address for it, as the server sees it.
    pub server_side: SocketAddr,
    /// How long nothing has been received from it or for it, in microseconds.
    pub idle_us: u64,
    /// From it to the server.
    pub to_server: DirectionStats,
    /// From the server to it.
    pub to_client: DirectionStats,
}

/// One direction. `received` is `forwarded`, `dropped` and what is [`held`](Self::held) together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DirectionStats {
    /// What the relay has read.
    pub received: Traffic,
    /// What it has sent on.
    pub forwarded: Traffic,
    /// What it has dropped, by reason.
    pub dropped: Drops,
    /// Datagrams forwarded with CE that had come with another codepoint.
    pub marked_ce: u64,
    /// Codepoints of the datagrams received.
    pub ecn_received: EcnCounts,
    /// Codepoints of the datagrams forwarded.
    pub ecn_forwarded: EcnCounts,
}

/// Datagrams and their payload.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Traffic {
    /// How many.
    pub packets: u64,
    /// Bytes of UDP payload.
    pub bytes: u64,
}

/// Datagrams dropped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Drops {
    /// By a full queue.
    pub queue_full: u64,
    /// By the AQM, as they were not ECN-capable or it was overloaded.
    pub aqm: u64,
    /// At random.
    pub random_loss: u64,
    /// Larger than [`PathConfig::mtu_bytes`](crate::PathConfig::mtu_bytes) or than the interface takes.
    pub too_large: u64,
    /// The system refused to send them.
    pub socket_error: u64,
    /// No room within [`RelayConfig::max_held_bytes`](crate::RelayConfig::max_held_bytes).
    pub no_memory: u64,
    /// Of a new client while there were [`RelayConfig::max_clients`](crate::RelayConfig::max_clients), or for which the system had
    /// no socket.
    pub no_client: u64,
    /// Their client was forgotten while they were under way.
    pub client_gone: u64,
}

/// Datagrams by the codepoint of their ECN field (RFC 3168 section 5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EcnCounts {
    /// Not ECN-capable.
    pub not_ect: u64,
    /// ECT(0).
    pub ect0: u64,
    /// ECT(1).
    pub ect1: u64,
    /// Congestion experienced.
    pub ce: u64,
}

/// How late datagrams left, compared with when the model had them leave.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timing {
    /// Departures.
    pub departures: u64,
    /// Sum of their delays, in microseconds.
    pub late_sum_us: u64,
    /// Largest delay, in microseconds.
    pub late_max_us: u64,
    /// Departures more than a millisecond late.
    pub later_than_1ms: u64,
}

impl DirectionStats {
    /// Datagrams that wait or are in the air.
    #[must_use]
    pub fn held(&self) -> u64 {
        self.received.packets.saturating_sub(self.forwarded.packets).saturating_sub(self.dropped.total())
    }
}

impl Drops {
    /// For all reasons.
    #[must_use]
    pub fn total(&self) -> u64 {
        let Self { queue_full, aqm, random_loss, too_large, socket_error, no_memory, no_client, client_gone } =
            self;
        queue_full + aqm + random_loss + too_large + socket_error + no_memory + no_client + client_gone
    }
}

impl Timing {
    /// Mean delay in microseconds; 0 before the first departure.
    #[must_use]
    pub fn late_mean_us(&self) -> f64 {
        if self.departures == 0 { 0.0 } else { self.late_sum_us as f64 / self.departures as f64 }
    }

    pub(crate) fn note(&mut self, late_us: u64) {
        self.departures += 1;
        self.late_sum_us += late_us;
        self.late_max_us = self.late_max_us.max(late_us);
        self.later_than_1ms += u64::from(late_us > 1_000);
    }
}

impl Traffic {
    pub(crate) fn add(&mut self, bytes: usize) {
        self.packets += 1;
        self.bytes += bytes as u64;
    }
}

impl EcnCounts {
    pub(crate) fn add(&mut self, ecn: Ecn) {
        *match ecn {
            Ecn::NotEct => &mut self.not_ect,
            Ecn::Ect0 => &mut self.ect0,
            Ecn::Ect1 => &mut self.ect1,
            Ecn::Ce => &mut self.ce,
        } += 1;
    }
}
