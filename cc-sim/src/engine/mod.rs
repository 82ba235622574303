//! The event loop and the models of links and endpoints.
//!
//! All times are whole microseconds of one virtual clock that starts at 0. There are two nodes: node 0 has the data
//! senders of forward flows and the receivers of reverse ones, node 1 their peers. One step takes the earliest of: a
//! change of the link, a packet that leaves an AQM towards node 0, an arrival from that link, the same of the link to node 1, the arrival of a packet of a flow with a longer
//! path, a wake-up at node 0, a wake-up at node 1, a datagram of cross traffic; on a tie the earlier in this list wins,
//! and at a node the flow that the scenario names first. An endpoint that wakes up sends
//! all that it may send at that moment.
//!
//! "sim_model" in comments is the description of the simulator behind the C4 test draft that this one was written from;
//! "the reference" is that simulator. The description is no part of the repository: what a citation needs of it stands
//! beside it.

mod ack_policy;
mod client;
mod cross;
mod dualpi2;
mod ecn;
mod flow;
mod jitter;
pub(crate) mod link;
mod loss;
mod media;
mod outcome;
pub(crate) mod packet;
mod packet_event;
mod ranges;
mod receive_ts;
pub(crate) mod rng;
mod run;
mod schedule;
mod server;
pub(crate) mod standalone;

pub use dualpi2::QueueKind;
pub use ecn::Ecn;
pub use outcome::{
    CrossOutcome, FlowCounters, FlowOutcome, LinkOutcome, MediaOutcome, MediaStreamOutcome, Outcome,
    RunOutcome,
};
pub use packet_event::PacketEvent;

use crate::algorithm::{Algorithm, MakeController};
use crate::scenario::{Direction, Scenario, time_limit_range};
use crate::text::Millis;
use cc_core::{PathRtt, Snapshot};
use run::Simulation;
use std::fmt;

/// Runs `scenario` with `algorithm` as the main flow's, and says how that flow fared.
///
/// The same arguments give the same outcome and the same calls of `observer`.
///
/// # Errors
///
/// [`SimulationError::TimeLimit`] if the run has not ended at the scenario's virtual-time limit,
/// [`SimulationError::TooManyInFlight`] if the path holds more packets than a sender keeps track of.
pub fn simulate(
    scenario: &Scenario,
    algorithm: Algorithm,
    seed: u64,
    observer: &mut dyn Observer,
) -> Result<Outcome, SimulationError> {
    simulate_flows(scenario, algorithm, seed, observer).map(|outcome| outcome.main)
}

/// As [`simulate`], with the outcome of every flow.
///
/// # Errors
///
/// Those of [`simulate`].
pub fn simulate_flows(
    scenario: &Scenario,
    algorithm: Algorithm,
    seed: u64,
    observer: &mut dyn Observer,
) -> Result<RunOutcome, SimulationError> {
    simulate_with(scenario, algorithm, &Algorithm::controller, seed, observer)
}

/// As [`simulate_flows`], with controllers of one's own: `make` is given each flow's algorithm and the parameters of its
/// endpoints. For wrappers such as the conformance kit's `Watched`, and for algorithms that are not in the list.
///
/// # Errors
///
/// Those of [`simulate`].
pub fn simulate_with(
    scenario: &Scenario,
    algorithm: Algorithm,
    make: MakeController<'_>,
    seed: u64,
    observer: &mut dyn Observer,
) -> Result<RunOutcome, SimulationError> {
    let timeline = scenario.link.with_queue_for(algorithm, &scenario.queue_for);
    Simulation::new(scenario, &timeline, algorithm, make, seed).run(observer)
}

/// Sees what happens at the senders. Unit, `()`, looks away.
pub trait Observer {
    /// The state of the main flow's sender may have changed.
    fn on_sample(&mut self, _sample: &Sample) {}

    /// The state of the sender of flow number `flow` may have changed; number 0 is the main flow, the others follow in
    /// the order of the scenario. The default looks at the main flow only.
    fn on_flow_sample(&mut self, flow: usize, sample: &Sample) {
        if flow == 0 {
            self.on_sample(sample);
        }
    }

    /// Whether it wants the samples of flow number `flow` at all.
    fn watches(&self, _flow: usize) -> bool {
        true
    }

    /// Asked once, before the run: whether it wants to know of the packets of flow number `flow`.
    fn watches_packets(&self, _flow: usize) -> bool {
        false
    }

    /// Something happened to a packet at the data sender of flow number `flow`. The samples of that moment come after it.
    fn on_packet(&mut self, _flow: usize, _at_us: u64, _event: &PacketEvent) {}

    /// Asked once, before the run: how often [`Observer::on_interval`] is to be called, in microseconds; `None` for never.
    fn interval_us(&self) -> Option<u64> {
        None
    }

    /// An interval ends: at its multiples, and after everything else that happens at that moment. The last one of a run
    /// is not complete and has no call.
    fn on_interval(&mut self, _progress: &Progress<'_>) {}

    /// A datagram leaves an AQM for the link.
    fn on_dequeue(&mut self, _departure: &Departure) {}
}

/// A datagram that an AQM hands on to the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Departure {
    /// Virtual time in microseconds.
    pub at_us: u64,
    /// Which link.
    pub direction: Direction,
    /// Number of its flow, or of its source of cross traffic, counted on from the flows.
    pub flow: usize,
    /// The queue that it was in.
    pub queue: QueueKind,
    /// How long it was there, in microseconds.
    pub sojourn_us: u64,
    /// Whether it was marked CE there.
    pub marked: bool,
}

/// How far a run has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress<'a> {
    /// Virtual time in microseconds.
    pub at_us: u64,
    /// Bytes of data that the client of each flow has got, each counted once.
    pub received: &'a [u64],
    /// How long a packet would now wait in front of the link in forward direction, in microseconds.
    pub queue_us: u64,
    /// The same of the other link.
    pub reverse_queue_us: u64,
}

impl Observer for () {
    fn watches(&self, _flow: usize) -> bool {
        false
    }
}

/// A sender's state after an event.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// Virtual time in microseconds.
    pub at_us: u64,
    /// What happened.
    pub kind: SampleKind,
    /// State of the controller.
    pub cc: Snapshot,
    /// Bytes in flight.
    pub bytes_in_flight: u64,
    /// RTT statistics; `None` before the first sample.
    pub rtt: Option<PathRtt>,
    /// What the network took of the RTT of the newest packet that an ACK frame newly acknowledged, if this sample is that
    /// of a frame which did so: without the time that the receiver held its ACK back. In microseconds.
    pub network_rtt_us: Option<u64>,
    /// Bytes delivered so far, as the sender knows.
    pub delivered: u64,
    /// Bytes declared lost so far.
    pub lost: u64,
    /// CE marks that the receiver has reported and the sender has believed; `None` in a scenario without ECN.
    pub ce_marks: Option<u64>,
    /// How long a packet sent now would wait in the queue in front of the flow's link, in microseconds.
    pub queue_us: u64,
}

/// What made a [`Sample`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SampleKind {
    /// Packets were sent, nothing else.
    Sent,
    /// An ACK frame arrived.
    Ack,
    /// The loss timer declared packets lost.
    Loss,
    /// A probe timeout.
    Timeout,
}

/// Why a run has no outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SimulationError {
    /// The run had not ended at the virtual-time limit.
    TimeLimit {
        /// Name of the scenario.
        scenario: String,
        /// The limit in microseconds.
        limit_us: u64,
        /// Bytes that had arrived, of the flows that the end of the run depends on.
        delivered: u64,
        /// Bytes that these flows transfer.
        bytes: u64,
    },
    /// More packets of a flow were in flight than its sender keeps track of.
    TooManyInFlight {
        /// Name of the scenario.
        scenario: String,
        /// The largest number of packets.
        limit: usize,
    },
}

/// One line: scenario, field, what is wrong and what is allowed.
impl fmt::Display for SimulationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TimeLimit { scenario, limit_us, delivered, bytes } => {
                let (limit, range) = (Millis(*limit_us), time_limit_range());
                write!(
                    f,
                    "scenario {scenario}: time_limit_ms: not finished after {limit} ms of virtual time, \
                     {delivered} of {bytes} bytes arrived (allowed: {range})"
                )
            }
            Self::TooManyInFlight { scenario, limit } => {
                write!(
                    f,
                    "scenario {scenario}: link: rate_mbps, latency_ms and queue hold more packets than the sender \
                     keeps track of (allowed: 0..={limit} packets and 4 GiB in flight)"
                )
            }
        }
    }
}

impl std::error::Error for SimulationError {}
