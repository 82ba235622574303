//! The event loop and the models of links and endpoints.
//!
//! All times are whole microseconds of one virtual clock that starts at 0. One step takes the earliest of: a change
//! of the link, an arrival at the server, an arrival at the client, a wake-up of the server, a wake-up of the
//! client; on a tie the earlier in this list wins.
//!
//! "sim_model" in comments is the description of the simulator behind the C4 test draft that this one was written from;
//! "the reference" is that simulator. The description is no part of the repository: what a citation needs of it stands
//! beside it.

mod ack_policy;
mod client;
pub(crate) mod link;
mod loss;
pub(crate) mod packet;
mod ranges;
pub(crate) mod rng;
mod server;

use crate::algorithm::Algorithm;
use crate::scenario::{Scenario, time_limit_range};
use crate::text::Millis;
use cc_core::{CongestionController, PathRtt, Snapshot};
use client::Client;
use link::{Direction, Link};
use packet::{AckStore, Content, Packet};
use rng::SplitMix64;
use server::Server;
use std::fmt;

/// Runs one connection of `scenario` to its end.
///
/// The same arguments give the same outcome and the same calls of `observer`.
///
/// # Errors
///
/// [`SimulationError::TimeLimit`] if the connection is not closed at the scenario's virtual-time limit,
/// [`SimulationError::TooManyInFlight`] if the path holds more packets than the sender keeps track of.
pub fn simulate(
    scenario: &Scenario,
    algorithm: Algorithm,
    seed: u64,
    observer: &mut dyn Observer,
) -> Result<Outcome, SimulationError> {
    Simulation::new(scenario, algorithm, seed).run(observer)
}

/// Sees what happens at the sender. Unit, `()`, looks away.
pub trait Observer {
    /// The sender's state may have changed.
    fn on_sample(&mut self, _sample: &Sample) {}
}

impl Observer for () {}

/// The sender's state after an event.
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
    /// Bytes delivered so far, as the sender knows.
    pub delivered: u64,
    /// Bytes declared lost so far.
    pub lost: u64,
    /// How long a packet sent now would wait in the queue, in microseconds.
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

/// How a run ended. Sizes are UDP payload bytes, times are microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// When the client's connection was closed: the completion time of the tables. It is a point of the virtual
    /// clock, so that a late start counts.
    pub completion_us: u64,
    /// When the request reached the server.
    pub request_us: u64,
    /// When the client had all data.
    pub last_byte_us: u64,
    /// Datagrams sent by the server, those of handshake and close included, each as often as it was sent.
    pub packets_sent: u64,
    /// Their bytes.
    pub bytes_sent: u64,
    /// Packets that the server declared lost, path MTU probes among them.
    pub packets_lost: u64,
    /// Their bytes.
    pub bytes_lost: u64,
    /// Packets declared lost that were acknowledged later.
    pub spurious_losses: u64,
    /// Datagrams that the queue towards the client dropped.
    pub dropped: u64,
    /// ACK frames that reached the server.
    pub acks_received: u64,
    /// Datagrams handed to both links.
    pub events: u64,
}

/// Why a run has no outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SimulationError {
    /// The connection was not closed at the virtual-time limit.
    TimeLimit {
        /// Name of the scenario.
        scenario: String,
        /// The limit in microseconds.
        limit_us: u64,
        /// Bytes that had arrived.
        delivered: u64,
        /// Bytes to transfer.
        bytes: u64,
    },
    /// More packets were in flight than the sender keeps track of.
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
                     keeps track of (allowed: 0..={limit} in flight)"
                )
            }
        }
    }
}

impl std::error::Error for SimulationError {}

/// What the server counts for the [`Outcome`].
#[derive(Clone, Copy, Debug, Default)]
struct Counters {
    packets_sent: u64,
    bytes_sent: u64,
    packets_lost: u64,
    bytes_lost: u64,
    spurious_losses: u64,
    acks_received: u64,
}

impl Counters {
    fn on_sent(&mut self, bytes: u64) {
        self.packets_sent += 1;
        self.bytes_sent += bytes;
    }
}

struct Simulation<'a> {
    scenario: &'a Scenario,
    clock: u64,
    down: Link,
    up: Link,
    acks: AckStore,
    server: Server,
    client: Client,
    counters: Counters,
    /// Index of the link state in force and when it ends.
    link_state: usize,
    link_until: Option<u64>,
    last_byte_us: Option<u64>,
}

enum Step {
    Link,
    UpArrival,
    DownArrival,
    Server,
    Client,
}

impl<'a> Simulation<'a> {
    fn new(scenario: &'a Scenario, algorithm: Algorithm, seed: u64) -> Self {
        let mut seeds = SplitMix64::new(seed);
        let first = &scenario.link.states[0];
        Self {
            scenario,
            clock: 0,
            down: Link::new(first, Direction::Down, seeds.next_u64()),
            up: Link::new(first, Direction::Up, seeds.next_u64()),
            acks: AckStore::new(&scenario.endpoint),
            server: Server::new(
                &scenario.endpoint,
                algorithm,
                &scenario.transfer,
                scenario.resume,
                seeds.next_u64(),
            ),
            client: Client::new(&scenario.endpoint, &scenario.transfer),
            counters: Counters::default(),
            link_state: 0,
            link_until: first.duration_us,
            last_byte_us: None,
        }
    }

    fn run(mut self, observer: &mut dyn Observer) -> Result<Outcome, SimulationError> {
        while !self.client.is_closed() {
            let (at, step) = self.next_step().unwrap_or((u64::MAX, Step::Client));
            if at > self.scenario.time_limit_us {
                return Err(SimulationError::TimeLimit {
                    scenario: self.scenario.name.clone(),
                    limit_us: self.scenario.time_limit_us,
                    delivered: self.client.received(),
                    bytes: self.scenario.transfer.bytes,
                });
            }
            self.clock = self.clock.max(at);
            self.step(&step);
            if self.server.is_overloaded() {
                let scenario = self.scenario.name.clone();
                return Err(SimulationError::TooManyInFlight { scenario, limit: server::MAX_IN_FLIGHT });
            }
            if self.last_byte_us.is_none() && self.client.is_complete() {
                self.last_byte_us = Some(self.clock);
            }
            if let Some(kind) = self.server.take_change() {
                observer.on_sample(&self.sample(kind));
            }
        }
        Ok(self.outcome())
    }

    fn next_step(&self) -> Option<(u64, Step)> {
        let candidates = [
            (self.link_until, Step::Link),
            (self.up.next_arrival(), Step::UpArrival),
            (self.down.next_arrival(), Step::DownArrival),
            (self.server.next_wake(), Step::Server),
            (self.client.next_wake(), Step::Client),
        ];
        // Times in the past mean "now": only then does the order of the list decide among them.
        candidates
            .into_iter()
            .filter_map(|(at, step)| Some((at?.max(self.clock), step)))
            .min_by_key(|&(at, _)| at)
    }

    fn step(&mut self, step: &Step) {
        let now = self.clock;
        match step {
            Step::Link => self.change_link(now),
            Step::UpArrival => {
                if let Some(packet) = self.up.pop() {
                    self.deliver_up(now, &packet);
                }
            }
            Step::DownArrival => {
                if let Some(packet) = self.down.pop() {
                    self.client.on_arrival(now, &packet);
                }
            }
            Step::Server => self.server.wake(now, &mut self.down, &mut self.counters),
            Step::Client => self.client.wake(now, &mut self.up, &mut self.acks),
        }
    }

    fn deliver_up(&mut self, now: u64, packet: &Packet) {
        let Content::Ack { slot, .. } = packet.content else {
            self.server.on_arrival(now, packet, None, &mut self.counters);
            return;
        };
        self.server.on_arrival(now, packet, Some(self.acks.get(slot)), &mut self.counters);
        self.acks.release(slot);
    }

    fn change_link(&mut self, now: u64) {
        let states = &self.scenario.link.states;
        self.link_state += 1;
        if self.link_state == states.len() {
            self.link_state = 0;
        }
        let state = &states[self.link_state];
        let last = self.link_state + 1 == states.len();
        self.link_until = state.duration_us.map(|duration| now + duration);
        if last && !self.scenario.link.repeat {
            self.link_until = None;
        }
        let acks = &mut self.acks;
        self.up.change(now, state, Direction::Up, |packet| {
            if let Content::Ack { slot, .. } = packet.content {
                acks.release(slot);
            }
        });
        self.down.change(now, state, Direction::Down, |_| ());
    }

    fn sample(&self, kind: SampleKind) -> Sample {
        let path = self.server.path();
        Sample {
            at_us: self.clock,
            kind,
            cc: path.controller().snapshot(),
            bytes_in_flight: path.bytes_in_flight(),
            rtt: path.rtt().as_path_rtt(),
            delivered: path.delivered(),
            lost: path.lost_bytes(),
            queue_us: self.down.waiting_us(self.clock),
        }
    }

    fn outcome(&self) -> Outcome {
        let counters = &self.counters;
        Outcome {
            completion_us: self.clock,
            request_us: self.server.request_at(),
            last_byte_us: self.last_byte_us.unwrap_or(self.clock),
            packets_sent: counters.packets_sent,
            bytes_sent: counters.bytes_sent,
            packets_lost: counters.packets_lost,
            bytes_lost: counters.bytes_lost,
            spurious_losses: counters.spurious_losses,
            dropped: self.down.dropped(),
            acks_received: counters.acks_received,
            events: self.down.submitted() + self.up.submitted(),
        }
    }
}
