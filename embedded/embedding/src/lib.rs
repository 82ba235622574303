//! How a firmware sends with congestion control: a sender in the manner of smoltcp's sockets, and a peer to send to.
//!
//! [`Sender`] owns no clock, no timer and no device. A main loop asks it for packets ([`Sender::poll_transmit`]), hands it
//! ACKs ([`Sender::on_ack`]), calls it when time has passed ([`Sender::on_time`]), and sleeps until
//! [`Sender::poll_at`] or until something arrives:
//!
//! ```
//! # use cc_core::{Duration, Instant, Rate};
//! # use cc_embedding::{Link, Peer, Sender};
//! # let link = Link { rate: Rate::from_bits_per_sec(10_000_000), delay: Duration::from_millis(10), queue: 25_000 };
//! # let mut device: Peer<64> = Peer::new(link);
//! # let mut now = Instant::ZERO;
//! let mut sender: Sender<_, 64> = Sender::new(cc_reno::Reno::new(&cc_reno::Config::default()), now, 100_000);
//! while !sender.is_done() {
//!     while let Some(ack) = device.poll(now) {
//!         sender.on_ack(now, &ack);
//!     }
//!     sender.on_time(now);
//!     while let Some(packet) = sender.poll_transmit(now) {
//!         device.send(now, &packet);
//!     }
//!     // Here the processor sleeps; the firmware's `embedding` does it with a timer. In this example time is virtual.
//!     now = sender.poll_at().into_iter().chain(device.poll_at()).min().unwrap_or(now).max(now);
//! }
//! assert_eq!(device.received(), 100_000);
//! ```
//!
//! The payload is a number of bytes: what a packet carries, and in which order, is another layer's business.
#![no_std]
#![forbid(unsafe_code)]
#![deny(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::float_arithmetic,
    clippy::cast_possible_truncation
)]

mod peer;
mod sender;
mod virtual_time;

#[cfg(test)]
mod tests;

pub use peer::{Ack, Link, Peer};
pub use sender::{Packet, Sender};
pub use virtual_time::transfer;
