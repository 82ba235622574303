//! CUBIC (RFC 9438) for QUIC (RFC 9002), with HyStart++ (RFC 9406), `no_std`, in integers.
//!
//! ```
//! use cc_core::CongestionController;
//! use cc_cubic::{Config, Cubic};
//!
//! let cubic = Cubic::new(&Config { max_datagram_size: 1_452, ..Config::default() });
//! assert_eq!(cubic.cwnd(), 14_520);
//! ```
//!
//! # How the documents are put together
//!
//! * RFC 9438 gives the window in congestion avoidance, the reductions, fast convergence, what follows a timeout and
//!   the undo of spurious losses. All of it is here.
//! * RFC 9002 gives the states, the initial and minimum window, recovery periods and persistent congestion (which is
//!   what RFC 9438 section 4.8 calls a timeout).
//! * RFC 9406 gives the end of the initial slow start; any other [`SlowStart`](cc_core::SlowStart) may be used.
//! * RFC 8511 gives the smaller reduction after a CE mark in congestion avoidance, RFC 9959 (as a [subset](Config::resume)) the use of a saved
//!   window.
//!
//! # Choices where the documents leave one, and deviations
//!
//! * Reductions start from the congestion window, not from the flight size (RFC 9438 section 4.6 allows it to a sender
//!   that does not grow an unused window; see [`Config::increase_rule`]).
//! * The minimum window is two datagrams for CE marks too (RFC 9002 section 7.2; RFC 9438 section 4.6 goes down to
//!   one for TCP).
//! * A recovery period covers what was sent before it, by packet number where known, else by send time. Losses
//!   and CE marks of one period give the reduction of a loss, those of marks alone that of a mark, in whatever order
//!   they come and always measured from the window before the period. So a loss deepens the reduction for a mark; if
//!   all losses of the period turn out spurious, the reduction for the mark takes the place of theirs (a stage then
//!   begins anew); and a real loss after that deepens it again.
//! * Bytes of packets sent before the last reduction never grow the window (RFC 9002 appendix B.5).
//! * A congestion avoidance stage begins with the ACK that ends the recovery period.
//! * The increment per ACK is taken at the rate that holds at the start of each 32nd part of a window, so that the
//!   result does not depend on how ACKs are cut. Of one ACK event at most two windows count.
//! * With W_max below the window at the start of a stage (it happens at the minimum window) K is 0 and the curve
//!   starts from the window (RFC 9438 section 4.8 does the same after a timeout).
//! * With a reduction factor of 0.85 (CE), fast convergence uses the same factor in `(1 + beta) / 2`.
//! * A change of the datagram size lets the curve start anew from the current window, since its unit is the datagram.
//! * The undo of RFC 9438 section 4.9.2 takes place when every packet that the period declared lost was acked; never
//!   after persistent congestion. The epoch is restored as it was (section 4.9.2), less application-limited time.
//! * A stage's time leaves out every gap between ACKs after which the window was not allowed to grow, and idle time
//!   (RFC 9438 sections 4.2 and 5.8).
//! * RTTs feed HyStart++ with the ack delay included.
//! * A saved window is used whole by default ([`ResumeJump::Whole`]), which RFC 9959 does not allow.
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
#![cfg_attr(
    test,
    allow(
        clippy::arithmetic_side_effects,
        clippy::cast_possible_truncation,
        clippy::float_arithmetic,
        reason = "tests compute expected values in plain arithmetic"
    )
)]

#[cfg(test)]
extern crate std;

mod access;
mod avoidance;
mod bytes;
mod config;
mod controller;
mod curve;
mod cut;
mod resume;
mod state;

#[cfg(test)]
mod tests;

pub use config::{Config, MAX_WINDOW, ResumeJump};
pub use controller::Cubic;
