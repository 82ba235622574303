//! QUIC-DC (QUIC Delay Control): Westwood+ with an early signal from the one-way queueing delay, `no_std`, in integers. And
//! Westwood+ itself.
//!
//! ```
//! use cc_core::CongestionController;
//! use cc_quicdc::{Config, DelayState, QuicDc, Westwood};
//!
//! let quicdc = QuicDc::new(&Config { max_datagram_size: 1_452, ..Config::default() });
//! assert_eq!(quicdc.cwnd(), 14_520);
//! assert_eq!(quicdc.delay_state(), DelayState::Blind);
//! let westwood = Westwood::new(&Config::default());
//! assert_eq!(westwood.cwnd(), 12_000);
//! ```
//!
//! A stack gives the peer's receive times (draft-ietf-quic-receive-ts) with each acked packet
//! ([`AckedPacket::received_at`](cc_core::AckedPacket::received_at)); [`OneWayDelay`](cc_core::OneWayDelay) turns them into the
//! queueing delay of the forward path. Where there are none, the arrival of ACKs less the reported ack delay stands in, which cannot
//! tell a queue on the way back from one on the way there: downloads while an upload fills its queue are slowed down.
//! [`Snapshot::delay_source`](cc_core::Snapshot::delay_source) says which it is.
//!
//! Sources: Mascolo et al., "QUIC Delay Control" (arXiv 2507.00896); Westwood+ (Mascolo et al., and Linux `tcp_westwood.c`); the
//! authors' mvfst controllers; RFC 9002 for what is NewReno's.
//!
//! # How it is put together
//!
//! [`Westwood`] is NewReno but for the reduction, which leaves bandwidth estimate times minimum RTT. [`QuicDc`] hands every event to
//! a `Westwood` of its own, which never sees a receive time, and keeps a *limit* beside it. A reaction to delay sets the limit to
//! what a loss would have left; it grows as in congestion avoidance; the window is the lesser of both.
//!
//! # What hostile receive times can do
//!
//! Slow the flow down, and no more. **For the same events, whatever receive times are in them, no output of `QuicDc` (window,
//! pacing rate, quantum, the packet beyond the window) is ever above that of `Westwood`**, at any point: by construction, and by a
//! property test. Two things are not promised, and cannot be:
//!
//! * On a real path a smaller window makes for other events: fewer losses, for instance, which is what the signal is for.
//! * A flow *with ACK arrivals* as its source also slows down for queues that receive times hide. A peer that reports receive
//!   times can rid itself of that, whether they are true or not, up to the speed of `Westwood`.
//!
//! # Choices where the sources leave one
//!
//! Bandwidth and RTT:
//!
//! * The first ACK begins the first interval and is not counted. An interval ends with the last part of a frame. Idle time as
//!   long as an interval belongs to none. A sample is limited if the stack said so at some time in the interval; the window in force
//!   does not decide about that.
//! * RTTs are raw, ack delay included. They count after the losses of the same frame. The minimum is in whole microseconds.
//!
//! Reductions and growth:
//!
//! * A reduction never raises the window, and the threshold becomes the window; Linux leaves a threshold above it.
//! * Slow start is RFC 9002's, up to the threshold; in congestion avoidance bytes are counted
//!   ([`AdditiveIncrease`](cc_core::AdditiveIncrease)). The one packet of RFC 9002 section 7.3.2 may be sent after a loss or a mark,
//!   not after a delay.
//! * A burst ([`send_quantum`](cc_core::CongestionController::send_quantum)) is what the pacing rate sends in a millisecond, from two
//!   datagrams to the initial window. With a quarter of the window, as the other crates have it, bursts alone make a queue of the
//!   threshold's length, and its minimum is seen to grow when the buffer is full.
//! * After persistent congestion the recovery period stays ([`RecoveryPeriod`](cc_core::RecoveryPeriod)), and slow start goes up to what
//!   the path was measured to hold. It is paced at two windows from its first ack on, since no signal raises the pacing rate.
//! * Stacks that call acks before losses let a frame's own bandwidth sample decide about its losses.
//!
//! The signal:
//!
//! * The minimum of at least three samples in a row, and of so many that they stand for a quarter of the window in bytes, from
//!   packets sent after the last reaction to anything (by send time; at the time of the reaction counts as before).
//! * The default threshold is of the smallest RTT of the path, and does not grow when the minimum RTT is measured again: a queue on the
//!   way back, which that takes for the path, would loosen the bound on the way there. The reaction takes the new minimum.
//! * In slow start, where the window grows by a quarter in a quarter of a round, samples that stand for eight datagrams are enough; and the
//!   time of those is taken at window / smoothed RTT where that is more than the estimate, which is a round trip or two behind.
//! * There is no signal before there are two bandwidth samples, since the time of eight datagrams is not known.
//! * A round, for the peak before a loss, is an interval of the bandwidth estimate. A loss without a queue longer than a burst teaches
//!   nothing; two losses within 30 s of each other teach the higher of both values.
//! * A loss of packets sent before a reaction to delay leaves the limit as it is. The inner `Westwood` answers it, with the
//!   same product; the window follows if that has fallen in the meantime.
//! * The base of the delay is held while a queue stands (see [`OneWayDelay`](cc_core::OneWayDelay)), and preferably renewed when the queue
//!   has fallen below half of the threshold after a reaction.
//!
//! The paper's modes use the same estimator instead of the clamped sum, one reaction for a round, and the rule for foreign queues. `Qmax` is
//! taken when a loss comes, from the RTTs since the loss before; there is none, and so no signal, before the first.
//!
//! # Deviations
//!
//! * "Drained" is below half of the threshold *without* the time of a burst. A sender that has little left of the bandwidth has a
//!   burst of long duration, and would take a queue that stands for one that has drained.
//! * The reaction that ends slow start takes at most half of the window, which is what the packets that tell of the queue left with.
//!   The estimate is behind, the more so the earlier the signal: congestion avoidance would be long in making up for it.
//! * The second and third reaction in a row, and each try while the queue is foreign, take at most half of the window. Their
//!   product falls with the window while somebody else's queue stands: with an RTT six times the minimum three reactions would end at
//!   the floor.
//! * A foreign queue is tried again after 5, 10, 20 and then every 40 s, not always after 5 s: against CUBIC each try costs a part of the
//!   share.
//! * With [`IncreaseRule::RateLimited`](cc_core::IncreaseRule::RateLimited) growth stops at `limit(maxFS)`, but a window that
//!   lies above it stays.
//!
//! # Not in it
//!
//! * The authors' subtraction of a slow average of the delay variation: it hides queues, and invents them after a drain.
//! * Undo of reductions for spurious losses, a saved window (RFC 9959), HyStart++: the sources have none.
//! * Recognising a longer route: to receive times it is a queue of somebody else's. It costs three reactions, and half of the window in each
//!   try, until the base of the delay follows after up to 60 s. A stack that knows of the change tells it
//!   ([`on_path_change`](cc_core::CongestionController::on_path_change)).
//! * Limits to keep in mind: on a path whose congestion avoidance takes longer than 10 s to build up 5 ms of queue, the base follows the
//!   queue, and only losses end growth. With fewer than eight datagrams' worth of window the threshold is never reached.
//!   [`DelayMode::PaperFraction`] after losses that no queue caused has a threshold below a datagram's time, and a window that stays low
//!   until a loss teaches another.
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
mod delay;
mod measures;
mod outputs;
mod westwood;

#[cfg(test)]
mod tests;

pub use config::{BandwidthFilter, Config, DelayMode, MAX_WINDOW};
pub use controller::{DelayState, QuicDc};
pub use westwood::Westwood;
