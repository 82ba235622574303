//! Interface and building blocks of sans-IO congestion control.
//!
//! The contract is [`CongestionController`]: a stack hands it events and reads back a window, a pacing rate and a few
//! hints. A stack that keeps per-packet state and an RTT of its own calls the trait itself; one that keeps nothing lets
//! [`Path`] do the bookkeeping of one network path in a fixed amount of memory.
//!
//! `no_std`, no allocation, no `unsafe`, no panic: whatever a peer sends is clamped by the rules stated at each
//! item. All arithmetic is on integers, so that decisions are the same bit for bit on every CPU.
//!
//! # Events
//!
//! [`SentPacket`], [`AckEvent`], [`LossEvent`], [`EcnEvent`], [`RttEvent`] and the rest are plain `Copy` data and slices;
//! each comes with the [`PathState`]. Numbers are a per-path send sequence over all packet number spaces, given by the
//! adapter or by [`Path`]; a stack's own packet number may serve only after the handshake. Fields that some stacks cannot
//! fill are `Option`s; a controller falls back on send times, never on the order of calls.
//!
//! # For algorithms
//!
//! What loss-based algorithms share: slow start as a part of its own ([`SlowStart`], with [`StandardSlowStart`] and
//! [`HyStartPlusPlus`]), rounds of sends ([`SendRound`]), recovery periods ([`RecoveryPeriod`]), Reno's increase
//! ([`AdditiveIncrease`]), and the judgement whether the window was used ([`Utilisation`]). For delay-based ones there is the queueing delay of the forward path ([`OneWayDelay`]).
//!
//! # Features
//!
//! `alloc`: a boxed controller is a controller. `std`: the same, and conversions to and from `std::time::Instant`.
//!
//! # Choices and deviations
//!
//! - [`RttEstimator`]: `rttvar` uses the `smoothed_rtt` from before the sample (RFC 9002 appendix A.7, RFC 6298
//!   section 2.3; section 5.3 can be read either way). Samples are at least 1 us. `min_rtt` restarts after persistent
//!   congestion with the sample of the ACK that established it, else with the next (section 5.2 says "newest").
//! - [`DeliveryRate`]: lost and discarded bytes shorten the application-limited bubble, which the draft leaves as it is
//!   (bytes that never arrive would keep it open); a late ack lengthens it by what the loss had taken off.
//! - [`PersistentCongestion`]: a period may be made of several loss events; [`Path`] uses it once.
//! - [`Path`], loss detection: packets are counted for the packet threshold by entries of the ring, so that ACK-only
//!   packets do not count (RFC 9002 section 6.1.1 counts packet numbers).
//! - [`Path`], RTT: a late ack gives none. A frame whose newest packet is older than what was acked before gives no sample,
//!   since a stack may name newly acked packets only, and not the frame's largest.
//! - [`Path`], ECN: the reference of a mark is the newest packet acked that is in flight, not an ACK-only one behind it
//!   (RFC 9002 appendix B.7 takes the largest acked).
//! - [`Path`], sending: a full ring is reported as an unknown limit, not as a full window; idle time counts from when the
//!   flight became empty; unpaced bursts are limited by the window alone (section 7.7; see
//!   [`CongestionController::pacing_rate`]).
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

// `no-std-compat` gives `std`'s paths in both modes, so that one set of `use` lines serves both.
extern crate no_std_compat as std;

mod additive_increase;
#[cfg(feature = "alloc")]
mod boxed;
mod controller;
mod delivery_rate;
pub mod division;
mod event;
mod one_way_delay;
mod pacer;
mod path;
mod persistent_congestion;
mod rate;
mod recovery_period;
mod rtt;
mod setup;
mod slow_start;
mod snapshot;
mod time;
mod utilisation;

pub use additive_increase::AdditiveIncrease;
pub use controller::CongestionController;
pub use delivery_rate::DeliveryRate;
pub use event::{
    AckEvent, AckPolicy, AckedPacket, DiscardReason, EcnCodepoint, EcnEvent, LossCause, LossEvent,
    LostPacket, MAX_DATAGRAM_SIZE, MtuChange, PacketSnapshot, PacketSpace, PathChange, PathRtt, PathState,
    RateSample, ResumeHint, RttEvent, SamplingRule, SendLimit, SentPacket, SpuriousLoss,
};
pub use one_way_delay::{DelaySource, OneWayDelay};
pub use pacer::Pacer;
pub use path::{
    EcnCounts, FrameEnd, FrameReport, LossDetection, OutgoingPacket, Outstanding, Path, PathConfig, RingFull,
    SendDecision,
};
pub use persistent_congestion::PersistentCongestion;
pub use rate::Rate;
pub use recovery_period::RecoveryPeriod;
pub use rtt::{GRANULARITY, INITIAL_RTT, RttEstimator};
pub use setup::Setup;
pub use slow_start::{
    HyStartPlusPlus, SendMark, SendRound, SlowStart, SlowStartStep, StandardSlowStart, initial_window,
};
pub use snapshot::Snapshot;
pub use time::{Duration, Instant, PeerInstant};
pub use utilisation::{IncreaseRule, Utilisation, WindowGrowth};
