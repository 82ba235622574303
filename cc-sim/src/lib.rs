//! A deterministic discrete-event simulator of congestion control on virtual time.
//!
//! Two endpoints, a bottleneck link each way, one seed: the same scenario, algorithm and seed give the same run
//! to the last byte, on every machine and with any number of worker threads. The model is that of the simulator
//! behind the tables of the C4 test draft (draft-huitema-ccwg-c4-test), but for the receiver, which does not pace
//! its ACKs. [`simulate`] runs one connection and hands what happens to an [`Observer`].

mod algorithm;
pub mod checkpoint;
pub mod delay;
pub mod ecn;
mod engine;
pub mod event_log;
pub mod experiment;
pub mod ideal;
pub mod measure;
pub mod report;
pub mod scenario;
pub mod share;
pub mod stats;
pub mod text;
pub mod trace;

pub use algorithm::{Algorithm, AnyController, MakeController};
pub use engine::{
    CrossOutcome, Departure, FlowCounters, FlowOutcome, LinkOutcome, MediaOutcome, MediaStreamOutcome,
    Observer, Outcome, PacketEvent, Progress, QueueKind, RunOutcome, Sample, SampleKind, SimulationError,
    simulate, simulate_flows, simulate_with,
};
pub use scenario::Scenario;

/// The examples of the README, run as tests.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
