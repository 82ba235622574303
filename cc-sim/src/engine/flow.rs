//! A connection: its two endpoints, where its data goes, and what is counted.

use super::client::Client;
use super::outcome::{FlowCounters, FlowOutcome};
use super::server::Server;
use crate::scenario::{Direction, Scenario, Transfer};
use crate::{Algorithm, MakeController};

#[derive(Debug)]
pub(super) struct Flow {
    pub(super) direction: Direction,
    pub(super) server: Server,
    pub(super) client: Client,
    pub(super) counters: FlowCounters,
    algorithm: Algorithm,
    transfer: Transfer,
    last_byte_us: Option<u64>,
    completion_us: Option<u64>,
}

impl Flow {
    /// The main flow of `scenario`.
    pub(super) fn main(
        scenario: &Scenario,
        algorithm: Algorithm,
        make: MakeController<'_>,
        seed: u64,
    ) -> Self {
        let (endpoint, transfer) = (&scenario.endpoint, scenario.transfer);
        let media = scenario.media.as_ref();
        let make = || make(algorithm, endpoint, seed);
        let server = Server::new(endpoint, &make, &transfer, scenario.resume, seed).with_media(media);
        let mut flow = Self::new(scenario, server, algorithm, transfer, Direction::Forward, seed);
        flow.client = flow.client.with_media(media);
        flow
    }

    /// Another flow of `scenario`, whose main flow has the algorithm `main`.
    pub(super) fn other(
        scenario: &Scenario,
        flow: &crate::scenario::Flow,
        main: Algorithm,
        make: MakeController<'_>,
        seed: u64,
    ) -> Self {
        let (algorithm, transfer) = (flow.algorithm.with(main), flow.transfer);
        let server = Server::new(
            &scenario.endpoint,
            &|| make(algorithm, &scenario.endpoint, seed),
            &transfer,
            None,
            seed,
        );
        Self::new(scenario, server, algorithm, transfer, flow.direction, seed)
    }

    fn new(
        scenario: &Scenario,
        server: Server,
        algorithm: Algorithm,
        transfer: Transfer,
        direction: Direction,
        server_seed: u64,
    ) -> Self {
        Self {
            direction,
            server,
            // Another sequence than the server's.
            client: Client::new(&scenario.endpoint, &transfer, !server_seed),
            counters: FlowCounters::default(),
            algorithm,
            transfer,
            last_byte_us: None,
            completion_us: None,
        }
    }

    /// How much longer than the link its path is, in microseconds each way.
    pub(super) fn access_us(&self) -> u64 {
        self.transfer.access_us
    }

    /// Bytes that it transfers.
    pub(super) fn bytes(&self) -> u64 {
        self.transfer.bytes
    }

    /// Notes what its client has reached at time `now`; whether that is the end of the connection.
    pub(super) fn note_progress(&mut self, now: u64) -> bool {
        if self.last_byte_us.is_none() && self.client.is_complete() {
            self.last_byte_us = Some(now);
        }
        if self.completion_us.is_some() || !self.client.is_closed() {
            return false;
        }
        self.completion_us = Some(now);
        true
    }

    /// Counts a datagram that the queue of the link in `direction` dropped.
    pub(super) fn note_dropped(&mut self, direction: Direction, datagrams: u64) {
        if direction == self.direction {
            self.counters.dropped += datagrams;
        } else {
            self.counters.dropped_back += datagrams;
        }
    }

    /// Counts a datagram that the AQM of the link in `direction` dropped although there was room.
    pub(super) fn note_dropped_early(&mut self, direction: Direction) {
        self.note_dropped(direction, 1);
        self.counters.dropped_early += u64::from(direction == self.direction);
    }

    /// Counts a datagram that the AQM of the link in `direction` marked.
    pub(super) fn note_marked(&mut self, direction: Direction) {
        self.counters.marked += u64::from(direction == self.direction);
    }

    /// Counts a datagram that got lost on the link in `direction`.
    pub(super) fn note_lost(&mut self, direction: Direction) {
        if direction == self.direction {
            self.counters.lost_on_link += 1;
        } else {
            self.counters.lost_on_link_back += 1;
        }
    }

    pub(super) fn outcome(&self) -> FlowOutcome {
        FlowOutcome {
            algorithm: self.algorithm,
            direction: self.direction,
            start_us: self.transfer.start_us,
            request_us: self.server.request_at(),
            last_byte_us: self.last_byte_us,
            completion_us: self.completion_us,
            received: self.client.received(),
            counters: self.counters,
        }
    }
}
