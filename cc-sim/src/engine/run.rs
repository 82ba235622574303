//! The event loop.

use super::flow::Flow;
use super::link::{Fate, Link, Port};
use super::packet::{AckStore, Content, Packet};
use super::rng::SplitMix64;
use super::schedule::Schedule;
use super::{Observer, Outcome, RunOutcome, Sample, SampleKind, SimulationError, server};
use crate::scenario::{Direction, RunEnd, Scenario};
use crate::{Algorithm, MakeController};
use cc_core::CongestionController;

/// What can act. The index of a part in the schedule is its place in the order that decides ties.
#[derive(Clone, Copy, Debug)]
enum Part {
    /// The timeline of the link.
    Timeline,
    /// The packet at the head of the link in this direction.
    Arrival(Direction),
    /// The data sender of a flow.
    Server(usize),
    /// The data receiver of a flow.
    Client(usize),
}

pub(super) struct Simulation<'a> {
    scenario: &'a Scenario,
    clock: u64,
    /// The link of data in forward direction.
    down: Link,
    /// The other one.
    up: Link,
    acks: AckStore,
    flows: Vec<Flow>,
    /// Flows whose client has not closed its connection.
    open: usize,
    schedule: Schedule,
    parts: Vec<Part>,
    /// Where in `parts` the endpoints of each flow stand: data sender, data receiver.
    endpoints: Vec<(usize, usize)>,
    /// Index of the link state in force.
    link_state: usize,
}

impl<'a> Simulation<'a> {
    pub(super) fn new(
        scenario: &'a Scenario,
        algorithm: Algorithm,
        make: MakeController<'_>,
        seed: u64,
    ) -> Self {
        let mut seeds = SplitMix64::new(seed);
        let first = &scenario.link.states[0];
        let down = Link::new(first, Direction::Forward, seeds.next_u64());
        let up = Link::new(first, Direction::Reverse, seeds.next_u64());
        let mut flows = vec![Flow::main(scenario, algorithm, make, seeds.next_u64())];
        let others = scenario.flows.iter();
        flows.extend(others.map(|flow| Flow::other(scenario, flow, algorithm, make, seeds.next_u64())));
        let parts = parts(&flows);
        let mut endpoints = vec![(0, 0); flows.len()];
        for (place, part) in parts.iter().enumerate() {
            match *part {
                Part::Server(flow) => endpoints[flow].0 = place,
                Part::Client(flow) => endpoints[flow].1 = place,
                Part::Timeline | Part::Arrival(_) => {}
            }
        }
        let mut simulation = Self {
            scenario,
            clock: 0,
            down,
            up,
            acks: AckStore::new(&scenario.endpoint),
            open: flows.len(),
            flows,
            schedule: Schedule::new(parts.len()),
            parts,
            endpoints,
            link_state: 0,
        };
        simulation.schedule.set(TIMELINE, first.duration_us);
        for flow in 0..simulation.flows.len() {
            simulation.reschedule_server(flow);
            simulation.reschedule_client(flow);
        }
        simulation
    }

    pub(super) fn run(mut self, observer: &mut dyn Observer) -> Result<RunOutcome, SimulationError> {
        let until = match self.scenario.end {
            RunEnd::At(until) => until,
            RunEnd::MainFlow | RunEnd::AllFlows => u64::MAX,
        };
        while !self.is_over() {
            let (at, part) = self.schedule.earliest();
            if at > self.scenario.time_limit_us.min(until) {
                if until <= self.scenario.time_limit_us {
                    self.clock = until;
                    break;
                }
                return Err(self.time_limit());
            }
            self.clock = at;
            if let Some(flow) = self.step(self.parts[part]) {
                self.look_at_server(flow, observer)?;
            }
        }
        Ok(self.outcome())
    }

    fn is_over(&self) -> bool {
        match self.scenario.end {
            RunEnd::MainFlow => self.flows[0].client.is_closed(),
            RunEnd::AllFlows | RunEnd::At(_) => self.open == 0,
        }
    }

    /// Lets a part act; the flow whose data sender took part, if one did.
    fn step(&mut self, part: Part) -> Option<usize> {
        match part {
            Part::Timeline => {
                self.change_link();
                None
            }
            Part::Arrival(direction) => {
                let fate = self.link_mut(direction).pop();
                self.reschedule_link(direction);
                match fate? {
                    Fate::Arrived(packet) => self.deliver(direction, &packet),
                    Fate::Lost(packet) => {
                        self.release(&packet);
                        self.flows.get_mut(packet.flow as usize)?.note_lost(direction);
                        None
                    }
                }
            }
            Part::Server(flow) => {
                self.wake_server(flow);
                Some(flow)
            }
            Part::Client(flow) => {
                self.wake_client(flow);
                None
            }
        }
    }

    /// Hands a packet to the endpoint that it is for; its flow, if that is a data sender.
    fn deliver(&mut self, direction: Direction, packet: &Packet) -> Option<usize> {
        let index = packet.flow as usize;
        let flow = self.flows.get_mut(index)?;
        if flow.direction == direction {
            flow.client.on_arrival(self.clock, packet);
            self.note_progress(index);
            self.reschedule_client(index);
            return None;
        }
        if let Content::Ack { slot, .. } = packet.content {
            let frame = self.acks.get(slot);
            flow.server.on_arrival(self.clock, packet, Some(frame), &mut flow.counters);
            self.acks.release(slot);
        } else {
            flow.server.on_arrival(self.clock, packet, None, &mut flow.counters);
        }
        self.reschedule_server(index);
        Some(index)
    }

    /// Gives back what is kept for a packet that will not arrive.
    fn release(&mut self, packet: &Packet) {
        if let Content::Ack { slot, .. } = packet.content {
            self.acks.release(slot);
        }
    }

    fn wake_server(&mut self, index: usize) {
        let flow = &mut self.flows[index];
        let direction = flow.direction;
        let link = match direction {
            Direction::Forward => &mut self.down,
            Direction::Reverse => &mut self.up,
        };
        let mut port = Port::new(link, index as u32);
        flow.server.wake(self.clock, &mut port, &mut flow.counters);
        let dropped = port.dropped();
        flow.note_dropped(direction, dropped);
        self.reschedule_link(direction);
        self.reschedule_server(index);
    }

    fn wake_client(&mut self, index: usize) {
        let flow = &mut self.flows[index];
        let direction = flow.direction.opposite();
        let link = match direction {
            Direction::Forward => &mut self.down,
            Direction::Reverse => &mut self.up,
        };
        let mut port = Port::new(link, index as u32);
        flow.client.wake(self.clock, &mut port, &mut self.acks);
        let dropped = port.dropped();
        flow.note_dropped(direction, dropped);
        self.note_progress(index);
        self.reschedule_link(direction);
        self.reschedule_client(index);
    }

    fn change_link(&mut self) {
        let timeline = &self.scenario.link;
        self.link_state += 1;
        if self.link_state == timeline.states.len() {
            self.link_state = 0;
        }
        let state = &timeline.states[self.link_state];
        let ends = timeline.repeat || self.link_state + 1 < timeline.states.len();
        let until = state.duration_us.filter(|_| ends).map(|duration| self.clock + duration);
        self.schedule.set(TIMELINE, until);
        for direction in [Direction::Reverse, Direction::Forward] {
            let link = match direction {
                Direction::Forward => &mut self.down,
                Direction::Reverse => &mut self.up,
            };
            let (acks, flows) = (&mut self.acks, &mut self.flows);
            link.change(self.clock, state, direction, |packet| {
                if let Content::Ack { slot, .. } = packet.content {
                    acks.release(slot);
                }
                if let Some(flow) = flows.get_mut(packet.flow as usize) {
                    flow.note_dropped(direction, 1);
                }
            });
            self.reschedule_link(direction);
        }
    }

    fn note_progress(&mut self, flow: usize) {
        if self.flows[flow].note_progress(self.clock) {
            self.open -= 1;
        }
    }

    fn look_at_server(&mut self, index: usize, observer: &mut dyn Observer) -> Result<(), SimulationError> {
        let server = &mut self.flows[index].server;
        if server.is_overloaded() {
            let scenario = self.scenario.name.clone();
            return Err(SimulationError::TooManyInFlight { scenario, limit: server::MAX_IN_FLIGHT });
        }
        if let Some(kind) = server.take_change()
            && observer.watches(index)
        {
            observer.on_flow_sample(index, &self.sample(index, kind));
        }
        Ok(())
    }

    fn sample(&self, index: usize, kind: SampleKind) -> Sample {
        let flow = &self.flows[index];
        let path = flow.server.path();
        Sample {
            at_us: self.clock,
            kind,
            cc: path.controller().snapshot(),
            bytes_in_flight: path.bytes_in_flight(),
            rtt: path.rtt().as_path_rtt(),
            delivered: path.delivered(),
            lost: path.lost_bytes(),
            queue_us: self.link(flow.direction).waiting_us(self.clock),
        }
    }

    fn link(&self, direction: Direction) -> &Link {
        match direction {
            Direction::Forward => &self.down,
            Direction::Reverse => &self.up,
        }
    }

    fn link_mut(&mut self, direction: Direction) -> &mut Link {
        match direction {
            Direction::Forward => &mut self.down,
            Direction::Reverse => &mut self.up,
        }
    }

    fn reschedule_link(&mut self, direction: Direction) {
        let part = match direction {
            Direction::Forward => DOWN_ARRIVAL,
            Direction::Reverse => UP_ARRIVAL,
        };
        self.reschedule(part, self.link(direction).next_arrival());
    }

    fn reschedule_server(&mut self, flow: usize) {
        self.reschedule(self.endpoints[flow].0, self.flows[flow].server.next_wake());
    }

    fn reschedule_client(&mut self, flow: usize) {
        self.reschedule(self.endpoints[flow].1, self.flows[flow].client.next_wake());
    }

    /// Times in the past mean "now": only then does the order of the parts decide among them.
    fn reschedule(&mut self, part: usize, at: Option<u64>) {
        self.schedule.set(part, at.map(|at| at.max(self.clock)));
    }

    fn time_limit(&self) -> SimulationError {
        let counted = match self.scenario.end {
            RunEnd::MainFlow => &self.flows[..1],
            RunEnd::AllFlows | RunEnd::At(_) => &self.flows[..],
        };
        SimulationError::TimeLimit {
            scenario: self.scenario.name.clone(),
            limit_us: self.scenario.time_limit_us,
            delivered: counted.iter().map(|flow| flow.client.received()).sum(),
            bytes: counted.iter().map(Flow::bytes).sum(),
        }
    }

    fn outcome(&self) -> RunOutcome {
        let flows: Vec<_> = self.flows.iter().map(Flow::outcome).collect();
        let main = &flows[0];
        let counters = &main.counters;
        let main = Outcome {
            completion_us: main.completion_us.unwrap_or(self.clock),
            request_us: main.request_us.unwrap_or(self.clock),
            last_byte_us: main.last_byte_us.unwrap_or(self.clock),
            packets_sent: counters.packets_sent,
            bytes_sent: counters.bytes_sent,
            packets_lost: counters.packets_lost,
            bytes_lost: counters.bytes_lost,
            spurious_losses: counters.spurious_losses,
            dropped: counters.dropped,
            acks_received: counters.acks_received,
            events: self.down.submitted() + self.up.submitted(),
        };
        RunOutcome { main, end_us: self.clock, flows }
    }
}

const TIMELINE: usize = 0;
const UP_ARRIVAL: usize = 1;
const DOWN_ARRIVAL: usize = 2;

/// All parts in the order that decides ties: sim_model section 1.
fn parts(flows: &[Flow]) -> Vec<Part> {
    let mut parts =
        vec![Part::Timeline, Part::Arrival(Direction::Reverse), Part::Arrival(Direction::Forward)];
    // The sending endpoints of a direction are at one node, with the receiving ones of the other.
    for node in [Direction::Forward, Direction::Reverse] {
        parts.extend(flows.iter().enumerate().map(|(index, flow)| {
            if flow.direction == node { Part::Server(index) } else { Part::Client(index) }
        }));
    }
    parts
}
