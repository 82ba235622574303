//! NewReno for QUIC (RFC 9002 section 7 and appendix B), `no_std`, in integers.
//!
//! ```
//! use cc_core::CongestionController;
//! use cc_reno::{Config, Reno};
//!
//! let reno = Reno::new(&Config { max_datagram_size: 1_452, ..Config::default() });
//! assert_eq!(reno.cwnd(), 14_520);
//! ```
//!
//! Slow start is a part of its own ([`SlowStart`](cc_core::SlowStart)): RFC 9002's by default, HyStart++ by
//! [`Reno::with_slow_start`].
//!
//! # Choices where RFC 9002 leaves one
//!
//! * In congestion avoidance bytes are counted and a whole datagram is added for each window acked (section 7.3.3,
//!   appendix B.5 names RFC 3465 section 2.1): no byte is lost to rounding, and the result does not depend on how ACKs
//!   are cut. Of one ACK event at most two windows count: more cannot have been in flight.
//! * Slow start grows up to the threshold and no further; what is left of an ACK counts for congestion avoidance.
//! * The window is reduced at once, and the one packet of section 7.3.2 may be sent beyond it, by a stack that reports
//!   every send (see [`RecoveryPeriod`](cc_core::RecoveryPeriod)).
//! * The threshold is at least the minimum window.
//! * An ACK counts for the whole of an entry by the number and send time of its newest packet
//!   ([`AckedPacket::packets`](cc_core::AckedPacket::packets)). Acks of packets declared lost before do not grow the window.
//! * Pacing is at 1.25 windows per smoothed RTT (section 7.7), in slow start too.
//! * A datagram size that falls before the handshake is finished takes the window down to the new initial window; one
//!   that rises replaces a window that is still the initial one (section 7.2).
//!
//! # Deviations
//!
//! * Appendix B.8 forgets the recovery period after persistent congestion. Here it stays: what was sent before it neither
//!   grows the window, which would leave the minimum with the very ACK that established it, nor reduces it again, which
//!   would take the threshold, too, to the minimum for one more late loss.
//! * With [`IncreaseRule::RateLimited`](cc_core::IncreaseRule::RateLimited) growth stops at `limit(maxFS)`, but a window that
//!   lies above it stays.
//!
//! # Not in it
//!
//! * Undo of a reduction for losses that turn out spurious: RFC 9002 has no rule for it.
//! * A more gradual reduction (proportional rate reduction), which section 7.3.2 allows.
//! * A smaller reduction for CE marks (RFC 8511), the use of a saved window (RFC 9959), and the decay of an unused window
//!   (RFC 7661): documents of their own, which RFC 9002 does not ask for.
//! * Section 7.4 (losses before the peer had keys) and the probe timeouts of section 7.5 are for the stack that reports losses.
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
        reason = "tests compute expected values in plain arithmetic"
    )
)]

#[cfg(test)]
extern crate std;

mod config;
mod controller;
mod window;

#[cfg(test)]
mod tests;

pub use config::{Config, MAX_WINDOW};
pub use controller::Reno;
