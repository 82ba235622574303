//! CUBIC (RFC 9438) for QUIC (RFC 9002), with HyStart++ (RFC 9406), `no_std`.
//!
//! Every path that runs per packet or per ACK computes in integers. The cube root `K` is taken once per congestion
//! avoidance stage in `f64` by `libm`, in software, so that decisions are the same bit for bit on every CPU.
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
//! * RFC 8511 gives the smaller reduction after a CE mark in congestion avoidance, RFC 9959 (as a
//!   [subset](Config::resume)) the use of a saved window.
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
//!   begins anew); and a real loss after that deepens it again. In one frame, a loss of a period that a mark of the
//!   frame ends counts as told before the mark; this is not undone.
//! * Bytes of packets sent before the last reduction never grow the window (RFC 9002 appendix B.5).
//! * An acked entry that stands for several packets ([`AckedPacket::packets`](cc_core::AckedPacket::packets)) counts as
//!   a whole by the number and send time of the newest: on the border of a recovery period some bytes too many may
//!   grow the window, less than one ACK.
//! * [`may_send_beyond_cwnd`](cc_core::CongestionController::may_send_beyond_cwnd) allows the one packet of RFC 9002
//!   section 7.3.2 when a recovery period begins. It ends with that packet, or with the first ACK later than the
//!   reduction. Only a stack that reports every send may use it: else it would send more than one packet. The
//!   packet belongs to the period; where numbers are unknown it is known by its send time, and so is any other
//!   packet sent at that time.
//! * After persistent congestion the recovery period stays as it is (RFC 9002 appendix B.8 forgets when it began):
//!   what was sent before it neither grows the window nor reduces it again. Persistent congestion among packets of
//!   an earlier period counts as well, unless the last reduction is one already.
//! * Deviation: with [`IncreaseRule::RateLimited`](cc_core::IncreaseRule::RateLimited) growth stops at `limit(maxFS)`,
//!   but a window that lies above it is not taken down to it, although the draft says that the sender MUST cap it.
//!   `maxFS` starts again at a reduction, with whatever is in flight at the next ACK: a sender that has just
//!   paused would have its window reduced a second time without congestion. The window was reached by acks for
//!   flights of its size; it may be out of date, which the draft leaves to RFC 7661.
//! * A datagram size that falls before the handshake is finished takes the window down to the new initial window; one
//!   that rises replaces a window that is still the initial one (RFC 9002 section 7.2).
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
//! * Of an idle time that ended with sends that were not reported, the oldest packet acked that was sent since tells the
//!   end. Late acks do not. If all of the flight was lost, its time in flight counts as idle too.
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
