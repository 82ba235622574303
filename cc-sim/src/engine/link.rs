//! One direction of the bottleneck: a serialiser with a tail-drop queue or an AQM, then propagation with jitter.
//!
//! Source of the model: the simulator behind the C4 test draft. Packets are never reordered: one whose jittered
//! arrival is late holds back all later ones, which then come out at once.

use super::dualpi2::{Dequeued, DualPi2};
use super::ecn::Ecn;
use super::jitter;
use super::outcome::LinkOutcome;
use super::packet::{Content, Packet};
use super::rng::SplitMix64;
use super::schedule::NEVER;
use crate::scenario;
use crate::scenario::{Direction, Jitter, LinkState, QueueLimit};
use std::collections::VecDeque;

#[derive(Debug)]
pub(super) struct Link {
    rate_bps: u64,
    /// What [`byte_time`] says of the rate, which does not change with each packet.
    byte_time: u64,
    latency_us: u64,
    queue: QueueLimit,
    jitter: Jitter,
    loss_ppm: u32,
    /// What stands in front of the serialiser instead of the tail-drop queue.
    aqm: Option<Box<DualPi2>>,
    /// When the serialiser has sent all that was accepted so far.
    idle_at: u64,
    /// Accepted packets in order of submission.
    in_transit: VecDeque<Accepted>,
    /// Packets to submit again at a change of parameters; empty in between.
    resubmit: VecDeque<Accepted>,
    rng: SplitMix64,
    submitted: u64,
    carried: LinkOutcome,
}

/// A packet that the queue has taken.
#[derive(Clone, Copy, Debug)]
struct Accepted {
    arrival: u64,
    /// Whether it gets lost on the way. It takes its time on the link all the same.
    lost: bool,
    packet: Packet,
}

/// What becomes of a packet at its time of arrival.
#[derive(Clone, Copy, Debug)]
pub(super) enum Fate {
    Arrived(Packet),
    Lost(Packet),
}

/// Where an endpoint of one flow hands its datagrams to a link.
#[derive(Debug)]
pub(super) struct Port<'a> {
    link: &'a mut Link,
    flow: u32,
    ecn: Ecn,
    dropped: u64,
}

impl<'a> Port<'a> {
    /// A port of `flow` whose datagrams are not-ECT.
    pub(super) fn new(link: &'a mut Link, flow: u32) -> Self {
        Self { link, flow, ecn: Ecn::NotEct, dropped: 0 }
    }

    /// Gives the datagrams that follow this ECN field.
    pub(super) fn set_ecn(&mut self, ecn: Ecn) {
        self.ecn = ecn;
    }

    /// Hands a datagram to the link at time `now`; `false` if its queue drops it.
    #[inline]
    pub(super) fn submit(&mut self, now: u64, bytes: u64, content: Content) -> bool {
        let packet = Packet { bytes, flow: self.flow, ecn: self.ecn, content };
        let accepted = self.link.submit(now, packet);
        self.dropped += u64::from(!accepted);
        accepted
    }

    /// How many datagrams the queue has dropped.
    pub(super) fn dropped(&self) -> u64 {
        self.dropped
    }
}

impl Link {
    pub(super) fn new(state: &LinkState, direction: Direction, seed: u64) -> Self {
        let mut link = Self {
            rate_bps: 0,
            byte_time: 0,
            latency_us: 0,
            queue: QueueLimit::Unlimited,
            jitter: Jitter::None,
            loss_ppm: 0,
            aqm: None,
            idle_at: 0,
            in_transit: VecDeque::with_capacity(1_024),
            resubmit: VecDeque::new(),
            rng: SplitMix64::new(seed),
            submitted: 0,
            carried: LinkOutcome::default(),
        };
        link.set(state, direction);
        link
    }

    /// Puts an AQM in front of it, for which the queue of the link's state is the room.
    pub(super) fn with_aqm(mut self, aqm: Option<DualPi2>) -> Self {
        self.aqm = aqm.map(Box::new);
        self
    }

    /// Changes, adds or removes the AQM at time `now`. What a removed one held goes into the queue of the link, or to `on_drop`.
    pub(super) fn change_aqm(
        &mut self,
        now: u64,
        config: Option<&scenario::DualPi2>,
        seed: u64,
        mut on_drop: impl FnMut(Packet),
    ) {
        match (self.aqm.as_mut(), config) {
            (Some(aqm), Some(config)) => aqm.set_config(config),
            (None, Some(config)) => self.aqm = Some(Box::new(DualPi2::new(config, seed))),
            (_, None) => {
                let held = self.aqm.take().map(|mut aqm| aqm.drain()).unwrap_or_default();
                held.into_iter().filter(|&packet| !self.enqueue(now, packet)).for_each(&mut on_drop);
            }
        }
    }

    fn set(&mut self, state: &LinkState, direction: Direction) {
        (self.rate_bps, self.queue, self.loss_ppm) = match direction {
            Direction::Forward => (state.down_bps, state.queue, state.loss_ppm),
            Direction::Reverse => (state.up_bps, state.up_queue, state.up_loss_ppm),
        };
        self.byte_time = byte_time(self.rate_bps);
        self.latency_us = state.latency_us;
        self.jitter = state.jitter;
    }

    /// Hands a packet to the link at time `now`; `false` if the queue drops it.
    #[inline]
    pub(super) fn submit(&mut self, now: u64, packet: Packet) -> bool {
        self.submitted += 1;
        if self.aqm.is_none() {
            return self.enqueue(now, packet);
        }
        let limit = self.limit_bytes();
        self.aqm.as_mut().is_some_and(|aqm| aqm.enqueue(now, packet, limit))
    }

    fn enqueue(&mut self, now: u64, packet: Packet) -> bool {
        if self.rate_bps == 0 {
            self.in_transit.push_back(Accepted { arrival: NEVER, lost: false, packet });
            return true;
        }
        let waiting = self.serialising_us(now);
        if self.aqm.is_none() && self.is_full(waiting, packet.bytes) {
            return false;
        }
        self.idle_at = now + waiting + service_us(self.byte_time, packet.bytes);
        let arrival = self.idle_at + self.latency_us + jitter::sample_us(self.jitter, &mut self.rng);
        // No draw without loss: jitter is then the same as on a link that knows none.
        let lost = self.rng.chance(self.loss_ppm);
        self.in_transit.push_back(Accepted { arrival, lost, packet });
        true
    }

    fn is_full(&self, waiting_us: u64, bytes: u64) -> bool {
        match self.queue {
            QueueLimit::Unlimited => false,
            QueueLimit::DelayUs(limit) => waiting_us >= limit,
            QueueLimit::Bytes(limit) => {
                let waiting = u128::from(waiting_us) * u128::from(self.rate_bps) / 8_000_000;
                waiting + u128::from(bytes) > u128::from(limit)
            }
        }
    }

    /// What the queue holds, in bytes; `None` for any number, as what a time of a link that is down amounts to.
    fn limit_bytes(&self) -> Option<u64> {
        match self.queue {
            QueueLimit::Unlimited => None,
            QueueLimit::DelayUs(_) if self.rate_bps == 0 => None,
            QueueLimit::DelayUs(us) => {
                let bytes = u128::from(us) * u128::from(self.rate_bps) / 8_000_000;
                Some(u64::try_from(bytes).unwrap_or(u64::MAX))
            }
            QueueLimit::Bytes(bytes) => Some(bytes),
        }
    }

    /// When the AQM is asked for the next packet; `None` if there is none, or the link is down.
    pub(super) fn next_dequeue(&self) -> Option<u64> {
        let aqm = self.aqm.as_ref()?;
        (self.rate_bps > 0 && !aqm.is_empty()).then_some(self.idle_at)
    }

    /// Lets the AQM choose a packet for the serialiser, which is idle; `on_drop` gets the packets dropped instead.
    pub(super) fn dequeue(&mut self, now: u64, on_drop: impl FnMut(Packet)) -> Option<Dequeued> {
        let dequeued = self.aqm.as_mut()?.dequeue(now, on_drop)?;
        self.enqueue(now, dequeued.packet);
        Some(dequeued)
    }

    /// How long a packet submitted at `now` would wait, in microseconds; with an AQM if it had to wait for all others.
    pub(super) fn waiting_us(&self, now: u64) -> u64 {
        let queued = match &self.aqm {
            Some(aqm) if self.rate_bps > 0 && !aqm.is_empty() => service_us(self.byte_time, aqm.bytes()),
            _ => 0,
        };
        self.serialising_us(now).saturating_add(queued)
    }

    /// How long the serialiser is busy with what it has.
    fn serialising_us(&self, now: u64) -> u64 {
        self.idle_at.saturating_sub(now)
    }

    /// Arrival time of the next packet; it may lie in the past if an earlier packet held it back.
    pub(super) fn next_arrival(&self) -> Option<u64> {
        self.in_transit.front().map(|accepted| accepted.arrival).filter(|&arrival| arrival != NEVER)
    }

    /// Takes the packet at the head.
    pub(super) fn pop(&mut self) -> Option<Fate> {
        let Accepted { lost, packet, .. } = self.in_transit.pop_front()?;
        if lost {
            return Some(Fate::Lost(packet));
        }
        self.carried.packets += 1;
        self.carried.bytes += packet.bytes;
        Some(Fate::Arrived(packet))
    }

    /// Changes the parameters at time `now`. Packets in the air keep their arrival time; from the first one on that is
    /// not, all are submitted again in order, so that a lower rate or a shorter queue drops the newest of them.
    /// `on_drop` gets the packets dropped.
    ///
    /// In the air is, as in the reference, what arrives within the old latency from now. Without jitter that is what has
    /// left the serialiser; a packet that has left it but is later than that by its jitter is serialised again.
    pub(super) fn change(
        &mut self,
        now: u64,
        state: &LinkState,
        direction: Direction,
        mut on_drop: impl FnMut(Packet),
    ) {
        let in_air_until = now.saturating_add(self.latency_us);
        let kept = self.in_transit.iter().take_while(|accepted| accepted.arrival <= in_air_until).count();
        self.resubmit.extend(self.in_transit.drain(kept..));
        self.set(state, direction);
        self.idle_at = now;
        while let Some(Accepted { packet, .. }) = self.resubmit.pop_front() {
            if !self.enqueue(now, packet) {
                on_drop(packet);
            }
        }
    }

    /// What came out of it so far.
    pub(super) fn carried(&self) -> LinkOutcome {
        self.carried
    }

    /// Packets handed to the link so far.
    pub(super) fn submitted(&self) -> u64 {
        self.submitted
    }
}

/// Time to serialise `bytes`, in whole microseconds rounded down, at least 1.
///
/// The rate enters as the time of a byte in units of 2^-20 us, rounded down, as in the model (at 20 Mbit/s a
/// packet of 1440 bytes takes 575 us and not 576): the published tables contain that rounding.
pub(crate) fn service_time_us(rate_bps: u64, bytes: u64) -> u64 {
    service_us(byte_time(rate_bps), bytes)
}

/// Time of a byte in units of 2^-20 us, rounded down.
fn byte_time(rate_bps: u64) -> u64 {
    const AT_ONE_BPS: u64 = 8_000_000 << 20;
    AT_ONE_BPS / rate_bps.max(1)
}

/// Time to serialise `bytes` that take `byte_time` each.
fn service_us(byte_time: u64, bytes: u64) -> u64 {
    u64::try_from((u128::from(byte_time) * u128::from(bytes)) >> 20).unwrap_or(NEVER / 4).clamp(1, NEVER / 4)
}

#[cfg(test)]
mod path_tests;

#[cfg(test)]
mod theory_tests;

#[cfg(test)]
mod tests {
    use super::{Fate, Link, service_time_us};
    use crate::engine::dualpi2::DualPi2;
    use crate::engine::ecn::Ecn;
    use crate::engine::packet::{Content, Packet};
    use crate::engine::rng::SplitMix64;
    use crate::scenario;
    use crate::scenario::{Direction, Jitter, LinkState, QueueLimit};

    fn state(down_bps: u64, latency_us: u64, queue: QueueLimit) -> LinkState {
        LinkState::constant(down_bps, latency_us, queue)
    }

    fn packet(bytes: u64) -> Packet {
        Packet { bytes, flow: 0, ecn: Ecn::NotEct, content: Content::Close }
    }

    fn arrivals(link: &mut Link) -> Vec<u64> {
        std::iter::from_fn(|| {
            let at = link.next_arrival()?;
            link.pop().map(|_| at)
        })
        .collect()
    }

    #[test]
    fn a_packet_takes_the_time_that_the_tables_contain() {
        // sim_model section 2, item 3: rates in Mbit/s and microseconds for 1440 bytes.
        for (mbps, us) in
            [(20, 575), (200, 57), (250, 46), (100, 115), (50, 230), (25, 460), (10, 1151), (5, 2303)]
        {
            assert_eq!(service_time_us(mbps * 1_000_000, 1_440), us, "{mbps} Mbit/s");
        }
        assert_eq!(service_time_us(1_000_000_000_000, 40), 1, "never less than a microsecond");
    }

    #[test]
    fn packets_wait_for_the_serialiser_and_then_propagate() {
        let state = state(20_000_000, 40_000, QueueLimit::Unlimited);
        let mut link = Link::new(&state, Direction::Forward, 0);
        assert!(link.submit(100, packet(1_440)) && link.submit(100, packet(1_440)));
        assert_eq!(link.waiting_us(100), 2 * 575);
        // 100 + 575 + 40000, and one service time more.
        assert_eq!(arrivals(&mut link), [40_675, 41_250]);
    }

    #[test]
    fn the_queue_is_limited_in_time_with_the_packet_in_service() {
        let state = state(20_000_000, 0, QueueLimit::DelayUs(1_000));
        let mut link = Link::new(&state, Direction::Forward, 0);
        // Waits: 0, 575, 1150 (refused, not below 1000).
        assert!(link.submit(0, packet(1_440)) && link.submit(0, packet(1_440)));
        assert!(!link.submit(0, packet(1_440)));
        assert!(link.submit(151, packet(1_440)), "at 151 us it waits 999 us");
    }

    #[test]
    fn the_queue_may_be_limited_in_bytes() {
        let state = state(8_000_000, 0, QueueLimit::Bytes(3_000));
        let mut link = Link::new(&state, Direction::Forward, 0);
        assert!((0..3).all(|_| link.submit(0, packet(1_000))));
        assert!(!link.submit(0, packet(1_000)));
    }

    #[test]
    fn a_lower_rate_serialises_again_what_is_not_in_the_air_and_drops_the_newest() {
        let fast = state(8_000_000, 10_000, QueueLimit::DelayUs(4_000));
        let mut link = Link::new(&fast, Direction::Forward, 0);
        assert!((0..4).all(|_| link.submit(0, packet(1_000))));
        // At 1500 us the first packet has left the serialiser (it arrives at 11 000 <= 1500 + 10 000); the others
        // arrive at 12 000, 13 000, 14 000 and are taken out.
        let mut dropped = 0;
        let slow = state(4_000_000, 10_000, QueueLimit::DelayUs(4_000));
        link.change(1_500, &slow, Direction::Forward, |_| dropped += 1);
        // 2 ms each from 1500 on: 3500 and 5500, the third would wait 4000 and is dropped.
        assert_eq!((arrivals(&mut link), dropped), (vec![11_000, 13_500, 15_500], 1));
    }

    #[test]
    fn a_packet_that_its_jitter_makes_late_is_not_in_the_air() {
        let mut jittered = state(8_000_000, 10_000, QueueLimit::Unlimited);
        jittered.jitter = Jitter::Gauss { mean_us: 5_000 };
        let mut link = Link::new(&jittered, Direction::Forward, 0);
        assert!(link.submit(0, packet(1_000)));
        let late = link.next_arrival().unwrap() - 11_000;
        assert!(late > 100, "this seed gives it a jitter of {late} us");
        // It left the serialiser at 1000. At `late` us later it arrives in 10 000: in the air. A microsecond before that
        // it is not, and goes through the serialiser again.
        let plain = state(8_000_000, 10_000, QueueLimit::Unlimited);
        let mut changed = Link::new(&jittered, Direction::Forward, 0);
        changed.submit(0, packet(1_000));
        changed.change(1_000 + late - 1, &plain, Direction::Forward, |_| ());
        assert_eq!(changed.next_arrival(), Some(1_000 + late - 1 + 1_000 + 10_000));
        link.change(1_000 + late, &plain, Direction::Forward, |_| ());
        assert_eq!(link.next_arrival(), Some(11_000 + late));
    }

    #[test]
    fn a_suspended_link_keeps_everything_until_it_resumes() {
        let up = state(8_000_000, 1_000, QueueLimit::DelayUs(1_500));
        let mut link = Link::new(&up, Direction::Reverse, 0);
        link.change(0, &state(0, 1_000, QueueLimit::DelayUs(1_500)), Direction::Reverse, |_| ());
        assert!((0..3).all(|_| link.submit(10, packet(1_000))));
        assert_eq!(link.next_arrival(), None);
        let mut dropped = 0;
        link.change(5_000, &up, Direction::Reverse, |_| dropped += 1);
        assert_eq!((arrivals(&mut link), dropped), (vec![7_000, 8_000], 1));
    }

    #[test]
    fn each_direction_has_its_queue_and_its_losses() {
        let mut both = state(8_000_000, 0, QueueLimit::DelayUs(1_500));
        both.up_queue = QueueLimit::DelayUs(2_500);
        both.up_loss_ppm = 1_000_000;
        let mut down = Link::new(&both, Direction::Forward, 0);
        let mut up = Link::new(&both, Direction::Reverse, 0);
        // A millisecond each: waits of 0, 1000, 2000, 3000 us.
        let accepted = |link: &mut Link| (0..4).filter(|_| link.submit(0, packet(1_000))).count();
        assert_eq!((accepted(&mut down), accepted(&mut up)), (2, 3));
        assert!(matches!(down.pop(), Some(Fate::Arrived(_))));
        // Lost, but not before its time: the next one comes a service time later.
        assert_eq!(up.next_arrival(), Some(1_000));
        assert!(matches!(up.pop(), Some(Fate::Lost(_))));
        assert_eq!(up.next_arrival(), Some(2_000));
    }

    #[test]
    fn as_many_packets_are_lost_as_stated_each_for_itself() {
        let mut lossy = state(8_000_000, 0, QueueLimit::Unlimited);
        lossy.loss_ppm = 20_000;
        let mut link = Link::new(&lossy, Direction::Forward, 5);
        let lost: Vec<bool> = (0..100_000)
            .map(|_| {
                link.submit(0, packet(1));
                matches!(link.pop(), Some(Fate::Lost(_)))
            })
            .collect();
        // Binomial: mean 2000, standard deviation sqrt(100 000 * 0.02 * 0.98) = 44.3.
        let count = lost.iter().filter(|&&lost| lost).count();
        assert!((1_823..=2_177).contains(&count), "{count}");
        // After a loss the next is as likely as ever: mean 40, standard deviation sqrt(2000 * 0.02 * 0.98) = 6.3.
        let pairs = lost.windows(2).filter(|pair| pair[0] && pair[1]).count();
        assert!((15..=65).contains(&pairs), "{pairs}");
    }

    /// Lets `link` carry packets of 1000 us each that come at random, on average every 1250 us; mean time until each starts to be
    /// serialised.
    fn mean_wait_us(link: &mut Link) -> f64 {
        let (mut rng, mut now, mut sum) = (SplitMix64::new(11), 0.0, 0.0);
        let mut waits = 0_u32;
        for _ in 0..300_000 {
            let uniform = (rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
            now -= 1_250.0 * libm::log1p(-uniform);
            while let Some(at) = link.next_dequeue().filter(|&at| at <= now as u64) {
                let dequeued = link.dequeue(at, |packet| panic!("{packet:?} dropped")).unwrap();
                sum += dequeued.sojourn_us as f64;
                waits += 1;
            }
            if link.aqm.is_none() {
                sum += link.waiting_us(now as u64) as f64;
                waits += 1;
            }
            assert!(link.submit(now as u64, packet(1_000)));
            while link.next_arrival().is_some_and(|at| at <= now as u64) {
                link.pop();
            }
            // An AQM looks at an idle link at once.
            if link.next_dequeue().is_some_and(|at| at <= now as u64) {
                sum += link.dequeue(now as u64, |_| ()).unwrap().sojourn_us as f64;
                waits += 1;
            }
        }
        sum / f64::from(waits)
    }

    #[test]
    fn random_arrivals_wait_as_long_as_theory_says() {
        // M/D/1: rho S / (2 (1 - rho)) = 0.8 * 1000 / 0.4.
        let state = state(8_000_000, 0, QueueLimit::Unlimited);
        let mean = mean_wait_us(&mut Link::new(&state, Direction::Forward, 0));
        assert!((mean - 2_000.0).abs() < 60.0, "{mean}");
        // The same through an AQM whose target is far away: a queue of its own makes no difference.
        let config =
            scenario::DualPi2 { target_us: 60_000_000, rtt_max_us: 60_000_000, ..Default::default() };
        let link = Link::new(&state, Direction::Forward, 0);
        let through_aqm = mean_wait_us(&mut link.with_aqm(Some(DualPi2::new(&config, 1))));
        assert!((through_aqm - mean).abs() < 1.0, "{through_aqm} and {mean}");
    }

    #[test]
    fn evenly_spaced_arrivals_do_not_wait_and_those_of_a_burst_each_for_the_others() {
        let state = state(8_000_000, 0, QueueLimit::Unlimited);
        for aqm in [None, Some(DualPi2::new(&scenario::DualPi2::default(), 1))] {
            let mut link = Link::new(&state, Direction::Forward, 0).with_aqm(aqm);
            let mut arrived = Vec::new();
            for now in (0..20_000).step_by(1_250).chain([30_000; 4]) {
                assert!(link.submit(now, packet(1_000)));
                if now < 30_000 && link.aqm.is_some() {
                    link.dequeue(now, |_| ()).unwrap();
                }
                arrived.extend(arrivals(&mut link));
            }
            while let Some(at) = link.next_dequeue() {
                link.dequeue(at.max(30_000), |_| ()).unwrap();
                arrived.extend(arrivals(&mut link));
            }
            let expected: Vec<u64> = (0..20_000)
                .step_by(1_250)
                .map(|at| at + 1_000)
                .chain((31..35).map(|ms| ms * 1_000))
                .collect();
            assert_eq!(arrived, expected);
        }
    }

    #[test]
    fn an_aqm_keeps_its_packets_while_the_link_is_down_and_its_room_is_that_of_the_link() {
        let up = state(8_000_000, 1_000, QueueLimit::DelayUs(2_500));
        let aqm = DualPi2::new(&scenario::DualPi2::default(), 1);
        let mut link = Link::new(&up, Direction::Forward, 0).with_aqm(Some(aqm));
        // 2.5 ms of 8 Mbit/s are 2500 bytes; one packet, and there is still room for 1472.
        assert_eq!((0..3).filter(|_| link.submit(0, packet(1_000))).count(), 2);
        assert_eq!((link.next_dequeue(), link.waiting_us(0)), (Some(0), 2_000));
        link.dequeue(0, |_| ()).unwrap();
        assert_eq!((link.next_dequeue(), link.waiting_us(500)), (Some(1_000), 1_500));
        // The packet in service is serialised again when the link is back.
        link.change(500, &state(0, 1_000, QueueLimit::DelayUs(2_500)), Direction::Forward, |_| {
            panic!("dropped")
        });
        assert_eq!((link.next_dequeue(), link.next_arrival()), (None, None));
        assert!(link.submit(600, packet(5_000)), "nothing is dropped while it is down");
        link.change(5_000, &up, Direction::Forward, |_| panic!("dropped"));
        assert_eq!((link.next_arrival(), link.next_dequeue()), (Some(7_000), Some(6_000)));
    }
}
