//! C4, "Christian's Congestion Control Code", for real-time media and bulk data over QUIC.
//!
//! Source: draft-huitema-ccwg-c4-spec and draft-huitema-ccwg-c4-design (July 2026), and the authors' reference,
//! private-octopus/picoquic `picoquic/c4.c` as of 7 July 2026; where the drafts and the reference differ, the
//! reference holds. Names of its functions are cited beside the code.
//!
//! Two variables describe a flow: the *nominal rate*, which is how fast the path delivers, and the *nominal max
//! RTT*, the largest RTT (jitter included) that the path shows while C4 builds no queue. The window is their
//! product, so that a spike of jitter does not stall the flow; the pacing rate, not the window, keeps queues short.
//! [`Phase`] lists the phases.
//!
//! ```
//! use cc_c4::{C4, Config};
//! use cc_core::CongestionController;
//!
//! let c4 = C4::new(&Config { max_datagram_size: 1_350, ..Config::default() });
//! assert_eq!(c4.cwnd(), 15_360);
//! assert_eq!(c4.pacing_rate(), None); // nothing measured yet
//! ```
//!
//! # What a stack must give
//!
//! * A [`RateSample`](cc_core::RateSample) with each ACK frame, made under the rule that
//!   [`sampling_rule`](cc_core::CongestionController::sampling_rule) names. Without samples C4 has no rate: it stays
//!   in Initial and only its window grows.
//! * `on_rtt` for each frame that newly acknowledges anything, not only for those that RFC 9002 samples.
//! * `on_ecn` for each validated frame, CE or not.
//! * `app_limited_at` and `newest_data_sent_at` in [`AckEvent`](cc_core::AckEvent): without a newest data packet
//!   C4 never probes for more.
//!
//! Numbers of packets are optional everywhere. What takes their place:
//!
//! * An era ends without `oldest_outstanding` when the number that began it, or a later one, is acked; without
//!   numbers, when a packet sent *after* its start is acked (equal times count as before).
//! * A lost packet without a number counts, for the loss average, as the next number after the packets acked since
//!   the last counted loss. If it was sent before the last counted loss it is a loss out of order and leaves the
//!   average alone; in Recovery it is ignored if it was sent no later than the era began. An entry of more than one
//!   datagram's bytes stands for as many packets as it has full datagrams (stacks that report sums).
//!
//! # Rounding and range
//!
//! All arithmetic is on integers: every division but one (below) floors, in the order written, and everything else
//! saturates. Spans of time are truncated to whole microseconds on input, once, and more than 2^32 - 1 of them (71 min
//! 34 s) count as so many: so most of the arithmetic has 32 bits, which makes C4 small and fast on a microcontroller.
//! That holds for RTTs, ACK delays and the spans of rate samples; the reference has 64 bits. More bytes in one span than
//! 2^64 / 10^6 (18.4 TB) count as so many for a rate; as a window they are no limit. Packets and marks are counted up to
//! 2^32 - 1. Only the loss average is finer, with 40 fractional bits, each step rounded down.
//!
//! # No reaction, on purpose
//!
//! Probe timeouts, spurious losses, persistent congestion and restart from idle change nothing, as in the reference.
//! Discarded bytes, NAT rebinding and changes of the ACK policy do not either. Only the application packet number
//! space counts; samples of the delivery rate also come from the others. Losses before the handshake is finished
//! are ignored.
//!
//! # Where this crate adds to or leaves the reference
//!
//! * The window is never below two datagrams; the reference has no minimum. A datagram is taken as 1 to 65 527 bytes
//!   (the largest UDP payload).
//! * Once a rate is known, the pacing rate is at least 1 B/s, so that a loss never turns pacing off.
//! * The reference's pacer sends at least one packet per smoothed RTT. Here the pacing rate itself is raised to one
//!   datagram per smoothed RTT, the only quotient that is rounded up. Window and send quantum do not see it.
//! * A loss or a mark never raises the window or the pacing rate, nor does it turn pacing off: what was learnt since the
//!   outputs were last computed shows with the next ACK, normally that of the same frame.
//! * A change of the datagram size never raises the window, except to the new minimum.
//! * The CE count is clamped to the newly acked packets where they are known. Where the increase of ECT(1) is not
//!   known but ECT(1) is in use, all newly acked packets that were not marked count as ECT(1). After
//!   [`EcnCodepoint::NotEct`](cc_core::EcnCodepoint) ECN counts are ignored.
//! * An RTT of zero (a clock that stood still or went back) is no RTT sample; a span below 1 us counts as 1 us.
//! * A saved window is taken as at most 4 GiB; one that is not above the window in force is no hint (RFC 9959 jumps up
//!   only; the reference would shrink the window, and the first loss would open it again). A hint that comes after the first RTT sample is compared with the path's minimum RTT, and only while in Initial.
//! * Packets sent before a change to a new path give the new path's state nothing.
//! * The end of an era takes in the latest RTT sample with its ack delay subtracted, as `on_rtt` left it, not the
//!   `latest` of the path's statistics, which contains the ack delay.
//! * All sizes are those of whole datagrams; the reference leaves the 16 bytes of the AEAD tag out of delivered and
//!   acked bytes (about 1 %).
//!
//! # Properties to know
//!
//! Those of the algorithm, kept as they are. A flow that stays application-limited from its start never leaves
//! Initial, and its window grows with every acked byte: the pacing rate alone bounds its bursts. Below 50 kB/s
//! losses are never congestion, since the average loss rate stays below 52 %. A resume that ends before the first
//! rate sample falls back to the initial window, unpaced from the next ACK on. The fastest burst of ACKs that the path
//! ever showed stays in the pace of Initial, also when that begins anew: after ACKs were held back and handed over
//! together, a start of one round trip at twelve times the path's rate has been seen.
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

mod arithmetic;
mod config;
mod congestion;
mod constants;
mod controller;
mod cruising;
mod delivery;
mod ecn;
mod era;
mod growth;
mod initial;
mod loss_rate;
mod outputs;
mod phase;
mod probing;
mod pushing;
mod recovery;
mod resuming;
mod rtt;
mod sensitivity;
mod state;

#[cfg(test)]
mod tests;

pub use config::Config;
pub use phase::Phase;
pub use state::C4;
