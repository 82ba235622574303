//! The controllers of this workspace as congestion controllers of [noq](https://docs.rs/noq), which need not be changed for it.
//!
//! # In five minutes
//!
//! One line in the transport configuration of a client, a server or both:
//!
//! ```
//! use std::sync::Arc;
//!
//! let mut transport = noq::TransportConfig::default();
//! transport.congestion_controller_factory(Arc::new(cc_noq::c4()));
//! ```
//!
//! [`c4`], [`bbr`], [`cubic`], [`reno`], [`quicdc`] and [`westwood`] are there; [`Config`] has what can be set for any of them. What
//! only one algorithm has is in the configuration of its crate, and a controller of your own is as good as one of ours:
//!
//! ```
//! use std::sync::Arc;
//!
//! // CUBIC without fast convergence, and with a larger initial window.
//! let cubic = cc_noq::Config::new(|setup| {
//!     cc_cubic::Cubic::new(&cc_cubic::Config { fast_convergence: false, ..cc_cubic::Config::from(*setup) })
//! });
//! let cubic = cubic.initial_window(32 * 1_200);
//!
//! let mut transport = noq::TransportConfig::default();
//! transport.congestion_controller_factory(Arc::new(cubic));
//! ```
//!
//! The state of a path's controller, for logs:
//!
//! ```
//! use cc_noq::NoqController;
//!
//! fn phase(connection: &noq::Connection) -> Option<&'static str> {
//!     let state = connection.congestion_state(noq::PathId::ZERO)?.into_any();
//!     let controller = state.downcast::<NoqController<cc_c4::C4>>().ok()?;
//!     Some(controller.snapshot().phase)
//! }
//! ```
//!
//! # What noq says, and what becomes of it
//!
//! - **Order.** noq tells acks, RTT, losses and ECN in that order. The calls of one ACK frame are collected and delivered (ECN, RTT,
//!   losses, acks) with the next thing that is asked or told: the window, a send, the next frame, a copy.
//! - **Pacing.** noq paces at the controller's rate, with its own burst size, and limits a batch to the send quantum; the window is
//!   the window. Without a rate (before the first RTT sample) it paces 1.25 windows per smoothed RTT.
//! - **RTT.** The estimator that comes with an ack is one frame old. The RTT is taken as now less the send time instead, of the newest
//!   packet of a frame, and is a sample if that was sent later than any acked before. Ack delays are not known and are in
//!   it. Of packets that left together, which noq gives one send time, only the first to be acked gives a sample.
//! - **Packets** are known by number and send time, each loss by number: all of them get a number in one sequence over the packet
//!   number spaces, and a snapshot for the delivery rate ([`cc_adapter::Packets`]). Which space a packet is of is not told.
//! - **Bytes in flight** are counted per ack-eliciting packet and set right at the end of each frame's acks, where noq says them.
//! - **CE marks** come as an edge, one per frame however many there are (noq marks its packets ECT(0)). **Spurious losses** come as
//!   one call when all packets declared lost have been acked.
//! - **Limits.** That the window was full is told, and that no data was left; the latter only with the next ACK, so that packets
//!   sent between the last data and that ACK are not marked as application-limited.
//! - **Migration.** Where only the port changes noq copies the controller: the copy goes on with a flight of zero
//!   ([`Rebinding`](cc_core::PathChange::Rebinding)). Otherwise it asks for a new one, which ignores what was sent before it. With
//!   multipath each path has one of its own.
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

pub use controller::NoqController;

// noq marks outgoing packets ECT(0).
cc_adapter::stack_config! { "noq", ecn: cc_core::EcnCodepoint::Ect0, paces: true }
