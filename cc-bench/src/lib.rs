//! Congestion controllers compared on real QUIC connections over UDP sockets.
//!
//! - `cc-bench table` and `pairs`: client, server and the relay between them in one process. The table is the comparison of quinn's pull
//!   request 2524, each controller with no proxy, with one that knows nothing of ECN and with one that marks.
//! - `cc-bench sweep`: N clients against one server through a relay, each a program of its own ([`child`]) in a network
//!   namespace ([`hosts`]), on the loopback interface or on another machine ([`router`]). What the clients do is [`workload`], what is
//!   varied and printed [`mod@sweep`]; [`probe`] measures the path without QUIC.
//! - `cc-bench window`: a measurement held against arithmetic.
//!
//! See the README of this crate for what the columns mean. Linux only: elsewhere the crate is empty.

#![cfg(target_os = "linux")]

pub mod child;
pub mod cli;
pub mod controllers;
pub mod hosts;
pub mod media;
pub mod metadata;
pub mod pairs;
pub mod path;
pub mod probe;
pub mod protocol;
pub mod quic;
pub mod record;
pub mod report;
pub mod router;
pub mod server;
pub mod socket;
pub mod stack;
pub mod sweep;
pub mod table;
pub mod tap;
pub mod transfer;
pub mod usage;
pub mod window;
pub mod workload;

/// The time, for measurements.
#[expect(clippy::disallowed_methods, reason = "a benchmark measures real time")]
pub(crate) fn now() -> std::time::Instant {
    std::time::Instant::now()
}
