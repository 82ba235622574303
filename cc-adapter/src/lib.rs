//! What the adapters for quinn, noq and s2n-quic share.
//!
//! These stacks own sockets, clocks, packets and loss detection, and tell a congestion controller less than
//! [`CongestionController`](cc_core::CongestionController) is told, in an order of their own. A [`Ledger`] stands between: it
//! holds a controller and the books that the stack does not hand over (delivered and lost totals, delivery-rate samples, RTT,
//! bytes in flight), collects the calls that belong to one ACK frame, and delivers them in the order of the contract: ECN, RTT,
//! losses, acks. A [`Recipe`] makes a controller for each connection, with a seed of its own. [`SendTimes`] gives back what was
//! remembered of a packet to a stack that names packets by their send time only, [`Packets`] to one that names their numbers; [`Clock`] turns the stack's clock into ours.
//!
//! It is for writers of adapters. Users of a stack take `cc-quinn`, `cc-noq` or `cc-s2n-quic`.
#![forbid(unsafe_code)]
#![deny(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects
)]
#![cfg_attr(
    test,
    allow(clippy::arithmetic_side_effects, reason = "tests compute expected values in plain arithmetic")
)]

mod clock;
mod frame;
mod ledger;
mod packets;
mod recipe;
mod send_times;

/// For macros.
#[doc(hidden)]
pub use {cc_bbr, cc_c4, cc_core, cc_cubic, cc_quicdc, cc_reno};

pub use clock::Clock;
pub use ledger::{Ledger, Sent};
pub use packets::{Known, Packets};
pub use recipe::Recipe;
pub use send_times::SendTimes;
