//! The controllers of this workspace as congestion controllers of [quinn](https://docs.rs/quinn), which need not be changed for it.
//!
//! # In five minutes
//!
//! One line in the transport configuration of a client, a server or both:
//!
//! ```
//! use std::sync::Arc;
//!
//! let mut transport = quinn::TransportConfig::default();
//! transport.congestion_controller_factory(Arc::new(cc_quinn::c4()));
//! ```
//!
//! [`c4`], [`bbr`], [`cubic`], [`reno`], [`quicdc`] and [`westwood`] are there; [`Config`] has what can be set for any of them. What
//! only one algorithm has is in the configuration of its crate, and a controller of your own is as good as one of ours:
//!
//! ```
//! use std::sync::Arc;
//! use std::time::Duration;
//!
//! // CUBIC without fast convergence, and with a larger initial window.
//! let cubic = cc_quinn::Config::new(|setup| {
//!     cc_cubic::Cubic::new(&cc_cubic::Config { fast_convergence: false, ..cc_cubic::Config::from(*setup) })
//! });
//! let cubic = cubic.initial_window(32 * 1_200);
//!
//! let mut transport = quinn::TransportConfig::default();
//! transport.congestion_controller_factory(Arc::new(cubic));
//! ```
//!
//! The state of a connection's controller, for logs:
//!
//! ```
//! use cc_quinn::QuinnController;
//!
//! fn phase(connection: &quinn::Connection) -> Option<&'static str> {
//!     let state = connection.congestion_state().into_any();
//!     let controller = state.downcast::<QuinnController<cc_c4::C4>>().ok()?;
//!     Some(controller.snapshot().phase)
//! }
//! ```
//!
//! # What quinn says, and what becomes of it
//!
//! quinn 0.11 tells a controller less than [`cc_core::CongestionController`] is told, and in another order (acks, RTT, losses, ECN):
//!
//! - **Order.** The calls of one ACK frame are collected and delivered (ECN, RTT, losses, acks) with the next thing that is
//!   asked or told: the window, a send, the next frame, a copy.
//! - **RTT.** The estimator that comes with an ack is one frame old. The RTT is taken as now less the send time instead, of the newest
//!   packet of a frame, and is a sample if that was sent later than any acked before. Ack delays are not known and are in
//!   it. Of packets that left together, which quinn gives one send time, only the first to be acked gives a sample.
//! - **Pacing.** quinn's pacer lets 1.25 windows through per smoothed RTT and takes no rate. Window and rate are therefore one window,
//!   `min(cwnd, rate * rtt)`: the rate, and each gain that an algorithm applies to it, acts on the bytes in flight. The RTT is the
//!   smoothed one, less an eighth of what is a queue ([`cc_adapter::Ledger::window_for_rate`]). So a rate of less than 8/7 windows a
//!   round trip, which CUBIC and NewReno have only if they are configured so, holds the flight below the window while a queue stands. One send
//!   quantum, and two datagrams, fit in any case. quinn compares strictly, so that it is told one byte more.
//! - **Bytes in flight.** What is announced as sent includes ACK-only packets; MTU probes are acked and not announced. The flight is
//!   set right at the end of each frame's acks, where quinn says it.
//! - **Delivery rate.** quinn keeps nothing for a controller with its packets and names them by send time; what is to be
//!   remembered is found by that ([`cc_adapter::SendTimes`]).
//! - **Losses** come as a sum, with the send time of the newest; **CE marks** as an edge, one per frame however many there are
//!   (`lost_bytes` is 0 then; quinn marks its packets ECT(0)). Numbers, packet number spaces, receive times and losses that were
//!   spurious are not told.
//! - **Application-limited**: known only when the next ACK arrives, so that packets sent between the last data and that ACK are not
//!   marked as such.
//! - **Idle periods** are not seen by an endpoint that sent ACK-only packets since its last data was acked.
//! - **Migration.** Where only the port changes quinn copies the controller: the copy goes on with a flight of zero
//!   ([`Rebinding`](cc_core::PathChange::Rebinding)). Otherwise it asks for a new one, which ignores what was sent before it.
//! - **Seeds.** Each connection and each new path gets one of its own.
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

mod controller;
mod flow;

pub use controller::QuinnController;

// quinn marks outgoing packets ECT(0), and its pacer follows the window.
cc_adapter::stack_config! { "quinn", ecn: cc_core::EcnCodepoint::Ect0, paces: true }
