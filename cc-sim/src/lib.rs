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
pub mod link {
    //! One direction of the simulator's bottleneck by itself, for whoever has datagrams and a clock of their own.
    //!
    //! ```
    //! use cc_sim::link::{Datagram, Ecn, Event, LinkConfig, LinkModel};
    //!
    //! // 8 Mbit/s, 20 ms: 1000 bytes take a millisecond and 20 more.
    //! let config = LinkConfig { rate_bps: 8_000_000, latency_us: 20_000, ..LinkConfig::default() };
    //! let mut link = LinkModel::new(&config, 1)?;
    //! let datagram = Datagram { token: 7, bytes: 1_000, ecn: Ecn::Ect0 };
    //! link.submit(500, datagram, |event| panic!("{event:?}"));
    //! assert_eq!(link.next_event(), Some(21_500));
    //! let mut events = Vec::new();
    //! link.advance(30_000, |event| events.push(event));
    //! assert_eq!(events, [Event::Delivered { at_us: 21_500, datagram }]);
    //! # Ok::<(), cc_sim::link::LinkConfigError>(())
    //! ```
    pub use crate::engine::Ecn;
    pub use crate::engine::standalone::{Datagram, DropCause, Event, LinkConfig, LinkConfigError, LinkModel};
    pub use crate::scenario::{DualPi2, Jitter, QueueLimit, Scheduler, WifiModel};
}
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
