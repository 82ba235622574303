//! The event loop.

use super::cross::Source;
use super::dualpi2::DualPi2;
use super::flow::Flow;
use super::link::{Fate, Link, Port};
use super::media::Sink;
use super::packet::{AckStore, Content, Packet};
use super::rng::SplitMix64;
use super::schedule::Schedule;
use super::{
    CrossOutcome, Departure, Observer, Outcome, Progress, RunOutcome, Sample, SampleKind, SimulationError,
    server,
};
use crate::scenario::{Direction, EcnUse, LinkTimeline, RunEnd, Scenario};
use crate::{Algorithm, MakeController};
use cc_core::CongestionController;
use std::collections::VecDeque;

/// What can act. The index of a part in the schedule is its place in the order that decides ties.
#[derive(Clone, Copy, Debug)]
enum Part {
    /// The timeline of the link.
    Timeline,
    /// The AQM of the link in this direction.
    Dequeue(Direction),
    /// The packet at the head of the link in this direction.
    Arrival(Direction),
    /// The packet at the head of an access path.
    Access(usize),
    /// The data sender of a flow.
    Server(usize),
    /// The data receiver of a flow.
    Client(usize),
    /// A source of cross traffic.
    Cross(usize),
    /// The end of the observer's interval.
    Interval,
}

/// What the packets of one flow in one direction still have to go after the link.
struct Access {
    direction: Direction,
    flow: usize,
    delay_us: u64,
    /// Packets and their arrival times, in order.
    packets: VecDeque<(u64, Packet)>,
}

pub(super) struct Simulation<'a> {
    scenario: &'a Scenario,
    /// The timeline of the links, for the main flow's algorithm.
    timeline: &'a LinkTimeline,
    clock: u64,
    /// The link of each direction.
    links: [Link; 2],
    acks: AckStore,
    flows: Vec<Flow>,
    /// Flows whose client has not closed its connection.
    open: usize,
    /// Access paths of the flows that have one, data and ACKs apart.
    access: Vec<Access>,
    cross: Vec<(Source, CrossOutcome)>,
    schedule: Schedule,
    parts: Vec<Part>,
    /// Where in `parts` each flow stands.
    places: Vec<Places>,
    /// Index of the link state in force.
    link_state: usize,
    /// For [`Progress::received`].
    received: Vec<u64>,
    /// What left an AQM in this step.
    departure: Option<Departure>,
}

impl<'a> Simulation<'a> {
    pub(super) fn new(
        scenario: &'a Scenario,
        timeline: &'a LinkTimeline,
        algorithm: Algorithm,
        make: MakeController<'_>,
        seed: u64,
    ) -> Self {
        let mut seeds = SplitMix64::new(seed);
        let first = &timeline.states[0];
        let links = [Direction::Forward, Direction::Reverse]
            .map(|direction| Link::new(first, direction, seeds.next_u64()));
        let mut side_seed = !seed;
        let links = links.map(|link| {
            side_seed = side_seed.wrapping_add(1);
            link.with_aqm(scenario.dualpi2.as_ref().map(|config| DualPi2::new(config, side_seed)))
        });
        let mut flows = vec![Flow::main(scenario, algorithm, make, seeds.next_u64())];
        let others = scenario.flows.iter();
        flows.extend(others.map(|flow| Flow::other(scenario, flow, algorithm, make, seeds.next_u64())));
        let cross = scenario.cross.iter().map(|source| Source::new(source, seeds.next_u64()));
        let cross: Vec<_> = cross.map(|source| (source, CrossOutcome::default())).collect();
        let access = access_paths(&flows);
        let parts = parts(&flows, access.len(), cross.len());
        let places = places(&parts, &access, flows.len());
        let mut simulation = Self {
            scenario,
            timeline,
            clock: 0,
            links,
            acks: AckStore::new(&scenario.endpoint),
            open: flows.len(),
            flows,
            access,
            cross,
            schedule: Schedule::new(parts.len()),
            parts,
            places,
            link_state: 0,
            received: Vec::new(),
            departure: None,
        };
        simulation.schedule.set(TIMELINE, first.duration_us);
        for flow in 0..simulation.flows.len() {
            simulation.reschedule_server(flow);
            simulation.reschedule_client(flow);
        }
        for source in 0..simulation.cross.len() {
            simulation.reschedule_cross(source);
        }
        simulation
    }

    pub(super) fn run(mut self, observer: &mut dyn Observer) -> Result<RunOutcome, SimulationError> {
        let until = match self.scenario.end {
            RunEnd::At(until) => until,
            RunEnd::MainFlow | RunEnd::AllFlows => u64::MAX,
        };
        let interval_us = observer.interval_us().map(|us| us.max(1));
        let interval_part = self.parts.len() - 1;
        self.schedule.set(interval_part, interval_us);
        for (index, flow) in self.flows.iter_mut().enumerate() {
            if observer.watches_packets(index) {
                flow.server.watch_packets();
            }
        }
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
            if part == interval_part {
                self.end_interval(observer);
                self.schedule.set(part, interval_us.and_then(|us| at.checked_add(us)));
            } else if let Some(flow) = self.step(self.parts[part]) {
                self.look_at_server(flow, observer)?;
            } else if let Some(departure) = self.departure.take() {
                observer.on_dequeue(&departure);
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
            Part::Dequeue(direction) => {
                self.dequeue(direction);
                None
            }
            Part::Arrival(direction) => {
                let fate = self.links[side(direction)].pop();
                self.reschedule_link(direction);
                match fate? {
                    Fate::Arrived(packet) => self.leave_link(direction, &packet),
                    Fate::Lost(packet) => {
                        self.on_lost(direction, &packet);
                        None
                    }
                }
            }
            Part::Access(index) => {
                let access = self.access.get_mut(index)?;
                let (_, packet) = access.packets.pop_front()?;
                let direction = access.direction;
                self.reschedule_access(index);
                self.deliver(direction, &packet)
            }
            Part::Server(flow) => {
                self.wake_server(flow);
                Some(flow)
            }
            Part::Client(flow) => {
                self.wake_client(flow);
                None
            }
            Part::Cross(source) => {
                self.wake_cross(source);
                None
            }
            Part::Interval => None,
        }
    }

    fn end_interval(&mut self, observer: &mut dyn Observer) {
        let mut received = std::mem::take(&mut self.received);
        received.clear();
        received.extend(self.flows.iter().map(|flow| flow.client.received()));
        let [queue_us, reverse_queue_us] = self.links.each_ref().map(|link| link.waiting_us(self.clock));
        let at_us = self.clock;
        observer.on_interval(&Progress { at_us, received: &received, queue_us, reverse_queue_us });
        self.received = received;
    }

    /// A packet is through the link.
    fn leave_link(&mut self, direction: Direction, packet: &Packet) -> Option<usize> {
        let flow = packet.flow as usize;
        let Some(places) = self.places.get(flow) else {
            self.cross[flow - self.flows.len()].1.packets_delivered += 1;
            return None;
        };
        let Some(index) = places.access[side(direction)] else {
            return self.deliver(direction, packet);
        };
        let access = &mut self.access[index];
        access.packets.push_back((self.clock + access.delay_us, *packet));
        self.reschedule_access(index);
        None
    }

    /// Hands a packet to the endpoint that it is for; its flow, if that is a data sender.
    fn deliver(&mut self, direction: Direction, packet: &Packet) -> Option<usize> {
        let index = packet.flow as usize;
        let flow = self.flows.get_mut(index)?;
        if flow.direction == direction {
            flow.client.on_arrival(self.clock, packet);
            if let Content::Data(data) = &packet.content {
                if let Some(media) = flow.server.media() {
                    flow.client.on_pieces(self.clock, media.packet(data.offset).filter(|_| data.length > 0));
                } else if let Some((offset, length)) = flow.server.second_piece(data.number) {
                    flow.client.on_second_piece(offset, length);
                }
            }
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
        if let Some(media) = flow.client.media() {
            flow.server.on_control(self.clock, packet, media);
        }
        self.reschedule_server(index);
        Some(index)
    }

    /// A packet gets lost on the link.
    fn on_lost(&mut self, direction: Direction, packet: &Packet) {
        if let Content::Ack { slot, .. } = packet.content {
            self.acks.release(slot);
        }
        let index = packet.flow as usize;
        match self.flows.get_mut(index) {
            Some(flow) => flow.note_lost(direction),
            None => self.cross[index - self.flows.len()].1.lost_on_link += 1,
        }
    }

    fn wake_server(&mut self, index: usize) {
        let flow = &mut self.flows[index];
        let direction = flow.direction;
        let link = &mut self.links[side(direction)];
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
        let link = &mut self.links[side(direction)];
        let mut port = Port::new(link, index as u32);
        flow.client.wake(self.clock, &mut port, &mut self.acks);
        let dropped = port.dropped();
        flow.note_dropped(direction, dropped);
        self.note_progress(index);
        self.reschedule_link(direction);
        self.reschedule_client(index);
    }

    fn wake_cross(&mut self, index: usize) {
        let (source, outcome) = &mut self.cross[index];
        let direction = source.config().direction;
        let link = &mut self.links[side(direction)];
        let mut port = Port::new(link, (self.flows.len() + index) as u32);
        port.submit(self.clock, source.config().packet_bytes, Content::Cross);
        outcome.packets_sent += 1;
        outcome.dropped += port.dropped();
        source.on_sent();
        self.reschedule_link(direction);
        self.reschedule_cross(index);
    }

    fn change_link(&mut self) {
        let timeline = self.timeline;
        self.link_state += 1;
        if self.link_state == timeline.states.len() {
            self.link_state = 0;
        }
        let state = &timeline.states[self.link_state];
        let ends = timeline.repeat || self.link_state + 1 < timeline.states.len();
        let until = state.duration_us.filter(|_| ends).map(|duration| self.clock + duration);
        self.schedule.set(TIMELINE, until);
        for direction in [Direction::Reverse, Direction::Forward] {
            let link = &mut self.links[side(direction)];
            let (acks, flows, cross) = (&mut self.acks, &mut self.flows, &mut self.cross);
            link.change(self.clock, state, direction, |packet| {
                if let Content::Ack { slot, .. } = packet.content {
                    acks.release(slot);
                }
                let index = packet.flow as usize;
                match flows.get_mut(index) {
                    Some(flow) => flow.note_dropped(direction, 1),
                    None => cross[index - flows.len()].1.dropped += 1,
                }
            });
            self.reschedule_link(direction);
        }
    }

    /// Lets the AQM of a link hand on a packet.
    fn dequeue(&mut self, direction: Direction) {
        let (acks, flows, cross) = (&mut self.acks, &mut self.flows, &mut self.cross);
        let dequeued = self.links[side(direction)].dequeue(self.clock, |packet| {
            if let Content::Ack { slot, .. } = packet.content {
                acks.release(slot);
            }
            let index = packet.flow as usize;
            match flows.get_mut(index) {
                Some(flow) => flow.note_dropped_early(direction),
                None => cross[index - flows.len()].1.dropped += 1,
            }
        });
        if let Some(dequeued) = dequeued {
            let flow = dequeued.packet.flow as usize;
            if let Some(flow) = self.flows.get_mut(flow)
                && dequeued.marked
            {
                flow.note_marked(direction);
            }
            self.departure = Some(Departure {
                at_us: self.clock,
                direction,
                flow,
                queue: dequeued.queue,
                sojourn_us: dequeued.sojourn_us,
                marked: dequeued.marked,
            });
        }
        self.reschedule_link(direction);
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
        for event in server.take_packet_events() {
            observer.on_packet(index, self.clock, &event);
        }
        if let Some((kind, network_rtt_us)) = server.take_change()
            && observer.watches(index)
        {
            observer.on_flow_sample(index, &self.sample(index, kind, network_rtt_us));
        }
        Ok(())
    }

    fn sample(&self, index: usize, kind: SampleKind, network_rtt_us: Option<u64>) -> Sample {
        let flow = &self.flows[index];
        let path = flow.server.path();
        Sample {
            at_us: self.clock,
            kind,
            cc: path.controller().snapshot(),
            bytes_in_flight: path.bytes_in_flight(),
            rtt: path.rtt().as_path_rtt(),
            network_rtt_us,
            delivered: path.delivered(),
            lost: path.lost_bytes(),
            ce_marks: (self.scenario.endpoint.ecn != EcnUse::Off).then_some(flow.counters.ce_reported),
            queue_us: self.links[side(flow.direction)].waiting_us(self.clock),
        }
    }

    fn reschedule_link(&mut self, direction: Direction) {
        let (dequeue, arrival) = match direction {
            Direction::Forward => (DOWN_DEQUEUE, DOWN_ARRIVAL),
            Direction::Reverse => (UP_DEQUEUE, UP_ARRIVAL),
        };
        self.reschedule(arrival, self.links[side(direction)].next_arrival());
        if self.scenario.dualpi2.is_some() {
            self.reschedule(dequeue, self.links[side(direction)].next_dequeue());
        }
    }

    fn reschedule_server(&mut self, flow: usize) {
        self.reschedule(self.places[flow].server, self.flows[flow].server.next_wake());
    }

    fn reschedule_client(&mut self, flow: usize) {
        self.reschedule(self.places[flow].client, self.flows[flow].client.next_wake());
    }

    fn reschedule_access(&mut self, index: usize) {
        let at = self.access[index].packets.front().map(|&(at, _)| at);
        self.reschedule(DOWN_ARRIVAL + 1 + index, at);
    }

    fn reschedule_cross(&mut self, source: usize) {
        let first = self.parts.len() - 1 - self.cross.len();
        self.reschedule(first + source, self.cross[source].0.next_wake());
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
            events: self.links.iter().map(Link::submitted).sum(),
            media: self.flows[0].client.media().map(Sink::outcome),
        };
        let media = self.flows[0].client.media().map(Sink::statistics).unwrap_or_default().to_vec();
        let cross = self.cross.iter().map(|(_, outcome)| *outcome).collect();
        let [forward, reverse] = self.links.each_ref().map(Link::carried);
        RunOutcome { main, end_us: self.clock, flows, cross, media, forward, reverse }
    }
}

const TIMELINE: usize = 0;
const UP_DEQUEUE: usize = 1;
const UP_ARRIVAL: usize = 2;
const DOWN_DEQUEUE: usize = 3;
const DOWN_ARRIVAL: usize = 4;

/// All parts in the order that decides ties: sim_model section 1, and what the model does not have.
fn parts(flows: &[Flow], access_paths: usize, sources: usize) -> Vec<Part> {
    let mut parts = vec![
        Part::Timeline,
        Part::Dequeue(Direction::Reverse),
        Part::Arrival(Direction::Reverse),
        Part::Dequeue(Direction::Forward),
        Part::Arrival(Direction::Forward),
    ];
    parts.extend((0..access_paths).map(Part::Access));
    // The sending endpoints of a direction are at one node, with the receiving ones of the other.
    for node in [Direction::Forward, Direction::Reverse] {
        parts.extend(flows.iter().enumerate().map(|(index, flow)| {
            if flow.direction == node { Part::Server(index) } else { Part::Client(index) }
        }));
    }
    parts.extend((0..sources).map(Part::Cross));
    parts.push(Part::Interval);
    parts
}

/// Arrivals at node 0 first.
fn access_paths(flows: &[Flow]) -> Vec<Access> {
    let flows = || flows.iter().enumerate().filter(|(_, flow)| flow.access_us() > 0);
    [Direction::Reverse, Direction::Forward]
        .into_iter()
        .flat_map(|direction| {
            flows().map(move |(index, flow)| Access {
                direction,
                flow: index,
                delay_us: flow.access_us(),
                packets: VecDeque::new(),
            })
        })
        .collect()
}

/// Where a flow stands among the parts.
#[derive(Clone, Copy, Default)]
struct Places {
    server: usize,
    client: usize,
    /// Index of its access path in each direction, if it has one.
    access: [Option<usize>; 2],
}

/// Index of what there is one of for each direction.
fn side(direction: Direction) -> usize {
    match direction {
        Direction::Forward => 0,
        Direction::Reverse => 1,
    }
}

fn places(parts: &[Part], access: &[Access], flows: usize) -> Vec<Places> {
    let mut places = vec![Places::default(); flows];
    for (place, part) in parts.iter().enumerate() {
        match *part {
            Part::Server(flow) => places[flow].server = place,
            Part::Client(flow) => places[flow].client = place,
            Part::Timeline
            | Part::Dequeue(_)
            | Part::Arrival(_)
            | Part::Access(_)
            | Part::Cross(_)
            | Part::Interval => {}
        }
    }
    for (index, path) in access.iter().enumerate() {
        places[path.flow].access[side(path.direction)] = Some(index);
    }
    places
}
