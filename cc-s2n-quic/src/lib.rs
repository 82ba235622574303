//! The controllers of this workspace as congestion controllers of [s2n-quic](https://docs.rs/s2n-quic), by its feature
//! `unstable-congestion-controller`.
//!
//! # In five minutes
//!
//! One line where a client or a server is built:
//!
//! ```no_run
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let client = s2n_quic::Client::builder()
//!     .with_congestion_controller(cc_s2n_quic::c4())?
//!     .with_io("0.0.0.0:0")?
//!     .start()?;
//! # Ok(())
//! # }
//! ```
//!
//! [`c4`], [`bbr`], [`cubic`], [`reno`], [`quicdc`] and [`westwood`] are there; [`Config`] has what can be set for any of them. What
//! only one algorithm has is in the configuration of its crate, and a controller of your own is as good as one of ours:
//!
//! ```
//! // CUBIC without fast convergence, and with a larger initial window.
//! let cubic = cc_s2n_quic::Config::new(|setup| {
//!     cc_cubic::Cubic::new(&cc_cubic::Config { fast_convergence: false, ..cc_cubic::Config::from(*setup) })
//! });
//! let cubic = cubic.initial_window(32 * 1_200);
//! # let _ = cubic;
//! ```
//!
//! The feature is unstable: s2n-quic may change it in any release. It wants Rust 1.95 (as of 1.91), so that this crate is a workspace
//! of its own.
//!
//! # What s2n-quic says, and what becomes of it
//!
//! - **Order.** One ACK frame arrives as RTT, losses, ECN and an ack with the sum of bytes: it is collected and delivered (ECN, RTT,
//!   losses, acks) with the ack. A loss outside of a frame (loss timer) is an event by itself, since nothing says which is the last.
//! - **Packets** carry a [`PacketInfo`]: number in one sequence over the packet number spaces, send time and delivery state. Of a
//!   frame's acks only the newest is named.
//! - **Pacing.** Departure times follow the controller's rate and send quantum ([`cc_core::Pacer`]).
//! - **RTT** statistics are s2n-quic's own.
//! - **Losses** are told one by one, with the beginnings of runs. What is discarded is taken for keys dropped before the handshake
//!   is over, and for a lost MTU probe after it. Spurious losses are not told.
//! - **CE marks** come as a count, without those of ECT(0), and not when there are none (s2n-quic marks its packets ECT(0)).
//! - **Application-limited** is known at each send but for Initial and Handshake packets, which count as limited.
//! - **Migration.** Every path gets a controller of its own, also where only the port is new.
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

pub use controller::{PacketInfo, S2nController};

// s2n-quic marks outgoing packets ECT(0).
cc_adapter::stack_config! { "s2n-quic", ecn: cc_core::EcnCodepoint::Ect0, paces: true }
