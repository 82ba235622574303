//! A UDP relay on real sockets that treats datagrams as the simulator's bottleneck does.
//!
//! Clients send to the relay, which sends on to one server, and back: a socket of its own for each client, so that the
//! server can tell them apart. Each direction goes through a [`cc_sim::link::LinkModel`], driven by real time: rate,
//! tail-drop queue or DualPI2, propagation delay, jitter, random loss, reordering. It is the simulator's own code, so that a
//! scenario means the same on virtual time and on sockets. The ECN field is read on arrival and set on departure.
//!
//! ```no_run
//! use cc_relay::{LinkConfig, PathConfig, QueueLimit, Relay, RelayConfig};
//!
//! // 20 Mbit/s and 20 ms each way, a queue of 40 ms towards the server.
//! let link = LinkConfig { rate_bps: 20_000_000, latency_us: 20_000, ..LinkConfig::default() };
//! let mut config = RelayConfig::new("127.0.0.1:4433".parse()?);
//! config.to_client = PathConfig::new(link.clone());
//! config.to_server = PathConfig::new(LinkConfig { queue: QueueLimit::DelayUs(40_000), ..link });
//! let relay = Relay::start(&config)?;
//! println!("clients send to {}", relay.local_addr());
//! // ... and when they are done:
//! let stats = relay.stop();
//! println!("{} datagrams marked", stats.to_server.marked_ce);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What it counts and what it cannot see
//!
//! Every datagram that the relay reads ends as forwarded or under one reason of [`Drops`]; [`DirectionStats::held`] is what is
//! still under way. What the kernel drops before the relay reads it, because a receive buffer is full, is not in these
//! numbers: [`RelayConfig::socket_buffer_bytes`] is there to avoid that. Sizes are UDP payload bytes, as in the simulator.
//!
//! # Precision
//!
//! One thread does all the work, with as high a priority as it gets. It sleeps until the next departure with a resolution of nanoseconds and without timer slack;
//! a departure is dated by the model, so that waking up late does not slow the link down. How late datagrams left is in
//! [`Timing`]; on a machine with nothing else to do that is tens of microseconds. Datagrams count as arrived when the relay
//! reads them.
//!
//! Linux only (5.11 or newer): elsewhere the crate is empty.

#![cfg(target_os = "linux")]

pub mod cli;
mod clients;
mod config;
mod error;
mod relay;
mod socket;
mod state;
mod stats;

pub use cc_sim::link::{DualPi2, Jitter, LinkConfig, QueueLimit, Scheduler, WifiModel};
pub use config::{EcnPolicy, PathConfig, RelayConfig};
pub use error::RelayError;
pub use relay::Relay;
pub use stats::{ClientStats, DirectionStats, Drops, EcnCounts, RelayStats, Timing, Traffic};

/// Which way datagrams go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// From the clients to the server.
    ToServer,
    /// From the server to the clients.
    ToClient,
}

/// The example of the README, run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
