//! The controllers on a link of 10 Mbit/s and 50 ms, with queues of others on the way there and on the way back, and a clock
//! at the receiver that drifts.

use crate::{Config, DelayMode, DelayState, QuicDc, Westwood};
use cc_core::{
    CongestionController, Duration, FrameEnd, Instant, LossDetection, OutgoingPacket, Path, PathConfig,
    PeerInstant, SendDecision,
};
use std::collections::VecDeque;
use std::vec::Vec;

const MSS: u64 = 1_200;
const MS: u64 = 1_000_000;
const SECOND: u64 = 1_000 * MS;
/// Bytes per second.
const RATE: u64 = 1_250_000;
/// Each way, in nanoseconds.
const ONE_WAY: u64 = 25 * MS;
/// What the path holds without a queue.
const BDP: u64 = 62_500;

/// What surrounds the flow, by time in nanoseconds.
pub(super) struct World {
    /// Our own part of the buffer, in bytes.
    pub(super) buffer: u64,
    /// Delay by the queue of others on the way there.
    pub(super) forward: fn(u64) -> u64,
    /// And on the way back.
    pub(super) reverse: fn(u64) -> u64,
    /// What the peer says when it received the packet of this number at this time.
    pub(super) stamp: fn(u64, u64) -> Option<u64>,
}

impl Default for World {
    /// A buffer of four BDP, nobody else, and an honest peer whose clock is ahead.
    fn default() -> Self {
        Self { buffer: 4 * BDP, forward: |_| 0, reverse: |_| 0, stamp: |_, at| Some(at + 77 * SECOND) }
    }
}

/// A packet on the way: when its ACK arrives, its number, and what the peer says about it.
type Flying = (u64, u64, Option<u64>);

/// A sender that always has data.
pub(super) struct Flow<C> {
    pub(super) path: Path<C, 4_096>,
    world: World,
    now: u64,
    flying: VecDeque<Flying>,
    busy_until: u64,
    /// Own queue seen by each packet, in nanoseconds.
    pub(super) queues: Vec<u64>,
}

impl<C: CongestionController> Flow<C> {
    pub(super) fn new(controller: C, world: World) -> Self {
        let config = PathConfig { loss_detection: Some(LossDetection::default()), ..PathConfig::default() };
        let path = Path::new(controller, config);
        Self { path, world, now: 0, flying: VecDeque::new(), busy_until: 0, queues: Vec::new() }
    }

    /// Runs until `seconds`, calling `see` after each ACK.
    pub(super) fn run(&mut self, seconds: u64, see: impl FnMut(u64, &C)) {
        self.run_until(seconds * SECOND, see);
    }

    fn run_until(&mut self, end: u64, mut see: impl FnMut(u64, &C)) {
        while self.now < end {
            let departure = self.send();
            let arrival = self.flying.front().map(|(at, ..)| *at);
            let deadline = self.path.loss_deadline().map(Instant::as_nanos);
            let next = [departure, arrival, deadline].into_iter().flatten().min();
            self.now = next.expect("something is going on").max(self.now);
            let at = Instant::from_nanos(self.now);
            if deadline.is_some_and(|deadline| deadline <= self.now) {
                self.path.on_loss_timeout(at);
            }
            while self.flying.front().is_some_and(|(arrival, ..)| *arrival <= self.now) {
                let (_, number, stamp) = self.flying.pop_front().expect("it is there");
                self.path.acked(number, stamp.map(PeerInstant::from_nanos));
                let end = FrameEnd { ack_delay: Some(Duration::ZERO), ..FrameEnd::default() };
                self.path.finish(at, end);
                see(self.now, self.path.controller());
            }
        }
    }

    /// Sends what may be sent; when to try again.
    fn send(&mut self) -> Option<u64> {
        loop {
            let at = Instant::from_nanos(self.now);
            match self.path.poll_send(at, MSS) {
                SendDecision::Now => {}
                SendDecision::At(later) => return Some(later.as_nanos()),
                // A probe (RFC 9002 section 6.2) where nothing that was sent comes back.
                SendDecision::Blocked(_) if self.flying.is_empty() => self.now += 200 * MS,
                SendDecision::Blocked(_) => return None,
            }
            let packet =
                OutgoingPacket { sent_at: Instant::from_nanos(self.now), ..OutgoingPacket::default() };
            let number = self.path.on_packet_sent(packet.sent_at, &packet).expect("the ring has room");
            let waits = self.busy_until.saturating_sub(self.now);
            if waits * RATE / SECOND + MSS > self.world.buffer {
                continue;
            }
            self.queues.push(waits);
            self.busy_until = self.busy_until.max(self.now) + MSS * SECOND / RATE;
            let received = self.busy_until + ONE_WAY + (self.world.forward)(self.now);
            let arrives = received + ONE_WAY + (self.world.reverse)(received);
            // Nothing overtakes on the way back.
            let arrives = self.flying.back().map_or(arrives, |(last, ..)| arrives.max(*last));
            self.flying.push_back((arrives, number, (self.world.stamp)(number, received)));
        }
    }

    pub(super) fn delivered(&self) -> u64 {
        self.path.delivered()
    }

    /// Mean own queue, in milliseconds, of the packets from this one on.
    pub(super) fn mean_queue_ms(&self, from: usize) -> u64 {
        let queues = &self.queues[from..];
        queues.iter().sum::<u64>() / queues.len() as u64 / MS
    }
}

fn quicdc(delay: DelayMode) -> QuicDc {
    QuicDc::new(&Config { delay, ..Config::default() })
}

/// What a flow did from 35 s to 90 s.
#[derive(Clone, Copy, Debug)]
struct Course {
    /// Of what the link carries.
    percent: u64,
    /// Own queue.
    mean_queue_ms: u64,
}

fn course<C: CongestionController>(controller: C, world: World) -> (Course, Flow<C>) {
    let mut flow = Flow::new(controller, world);
    flow.run(35, |_, _| ());
    let (before, first) = (flow.delivered(), flow.queues.len());
    flow.run(90, |_, _| ());
    let percent = (flow.delivered() - before) * 100 / (55 * RATE);
    (Course { percent, mean_queue_ms: flow.mean_queue_ms(first) }, flow)
}

#[test]
fn alone_the_link_is_busy_and_the_queue_stays_below_the_threshold() {
    // min RTT / 4 = 12.5 ms. Westwood+ fills the buffer of 200 ms.
    let (signal, _) = course(quicdc(DelayMode::Threshold), World::default());
    assert!(signal.percent >= 97 && signal.mean_queue_ms <= 12, "{signal:?}");
    let (plain, _) = course(Westwood::new(&Config::default()), World::default());
    assert!(plain.percent >= 97 && plain.mean_queue_ms >= 100, "{plain:?}");
    // The paper's threshold knows the buffer and uses most of it.
    let (paper, _) = course(quicdc(DelayMode::PaperFraction { percent: 80 }), World::default());
    assert!(paper.percent >= 97, "{paper:?}");
    assert!((signal.mean_queue_ms..plain.mean_queue_ms).contains(&paper.mean_queue_ms), "{paper:?}");
}

#[test]
fn a_queue_on_the_way_back_costs_nothing_and_does_not_loosen_the_bound_on_the_way_there() {
    // 100 ms from 5 s on: the RTT is three times as long.
    let reverse = |at| if at > 5 * SECOND { 100 * MS } else { 0 };
    let (without, _) = course(quicdc(DelayMode::Threshold), World::default());
    let (with, flow) = course(quicdc(DelayMode::Threshold), World { reverse, ..World::default() });
    assert!(with.percent + 2 >= without.percent, "{with:?} {without:?}");
    // The minimum RTT is 150 ms by then, the threshold still a quarter of 50 ms and 0.96 ms for the packet itself.
    assert!(with.mean_queue_ms <= without.mean_queue_ms + 1, "{with:?} {without:?}");
    assert_eq!(flow.path.controller().westwood().min_rtt().map(Duration::as_millis), Some(150));
    let threshold = DelayState::Watching(Duration::from_micros(50_960 / 4));
    assert_eq!(flow.path.controller().delay_state(), threshold);
    // The arrival of ACKs cannot tell it from a queue on the way there, which therefore is foreign; the own one grows unseen.
    let world = World { reverse, stamp: |_, _| None, ..World::default() };
    let (blind, _) = course(quicdc(DelayMode::Threshold), world);
    assert!(blind.mean_queue_ms > 2 * with.mean_queue_ms, "{blind:?} {with:?}");
}

#[test]
fn a_foreign_queue_that_stands_does_not_drive_the_window_to_its_floor() {
    // As long as the path, and three times as long, from 10 s on. At its worst the window is an eighth of what the path holds without
    // it: three reactions, of which the second and the third take half.
    for forward in [(|at| if at > 10 * SECOND { 50 * MS } else { 0 }) as fn(u64) -> u64, |at| {
        if at > 10 * SECOND { 150 * MS } else { 0 }
    }] {
        let mut flow = Flow::new(quicdc(DelayMode::Threshold), World { forward, ..World::default() });
        flow.run(9, |_, _| ());
        let (mut least, mut was_foreign) = (u64::MAX, false);
        flow.run(60, |_, controller| {
            least = least.min(controller.cwnd());
            was_foreign |= matches!(controller.delay_state(), DelayState::ForeignQueue(_));
        });
        assert!(was_foreign);
        assert!(least >= BDP / 8, "{least}");
        assert!(flow.path.controller().cwnd() >= BDP / 2, "{}", flow.path.controller().cwnd());
    }
}

#[test]
fn a_foreign_queue_that_goes_is_noticed() {
    let forward = |at| if (10 * SECOND..30 * SECOND).contains(&at) { 100 * MS } else { 0 };
    let (course, flow) = course(quicdc(DelayMode::Threshold), World { forward, ..World::default() });
    assert!(matches!(flow.path.controller().delay_state(), DelayState::Watching(_)));
    assert!(course.percent >= 97 && course.mean_queue_ms <= 12, "{course:?}");
}

#[test]
fn clocks_that_drift_change_nothing_that_matters() {
    let (steady, _) = course(quicdc(DelayMode::Threshold), World::default());
    for stamp in
        [(|_, at| Some(at + at / 5_000)) as fn(u64, u64) -> Option<u64>, |_, at| Some(at - at / 5_000)]
    {
        let (drifting, flow) = course(quicdc(DelayMode::Threshold), World { stamp, ..World::default() });
        assert!(drifting.percent.abs_diff(steady.percent) <= 2, "{drifting:?} {steady:?}");
        assert!(drifting.mean_queue_ms.abs_diff(steady.mean_queue_ms) <= 2, "{drifting:?} {steady:?}");
        assert!(matches!(flow.path.controller().delay_state(), DelayState::Watching(_)));
    }
}

#[test]
fn a_true_queue_is_answered_within_a_round_trip() {
    // Just after a reaction there is no queue of our own; 20 ms come on top, which are more than 12.5.
    let mut flow = Flow::new(quicdc(DelayMode::Threshold), World::default());
    let reactions = |flow: &Flow<QuicDc>| flow.path.controller().delay_reactions();
    flow.run(10, |_, _| ());
    let before = reactions(&flow);
    while reactions(&flow) == before {
        flow.run_until(flow.now + MS, |_, _| ());
    }
    flow.run_until(flow.now + 100 * MS, |_, _| ());
    flow.world.forward = |_| 20 * MS;
    let (before, began) = (reactions(&flow), flow.now);
    while reactions(&flow) == before {
        flow.run_until(flow.now + MS, |_, _| ());
    }
    // The first packet that waited is acked after 70 ms, and a quarter of a round after that it is a signal: 18 ms, and what
    // the flight is bunched.
    let took = flow.now - began;
    assert!((70 * MS..(70 + 50) * MS).contains(&took), "{took}");
}
