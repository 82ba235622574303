//! DualPI2, the coupled dual-queue AQM of RFC 9332 appendix A, in integers. Figures and lines are those of that appendix; with
//! pass 2, which repeats the functions with low link rates and overload.
//!
//! What the RFC leaves open, and what is chosen here:
//!
//! - Times in a queue are sojourn times (note a of appendix A.1): what the head of the queue has waited.
//! - The counters of [`Queue::recurs`] start at random values of the run's seed, so that the runs of a cell differ.
//! - An update that is due between two events takes place at its own time, with the queues as they are then.
//! - The packet that is being dequeued is one of the queue when the length is compared with `Th_len`: the text exempts a queue of
//!   one packet from the native AQM; the pseudocode, read to the letter (line 5a after line 4a), would exempt one of two as well.
//! - Round robin counts bytes, prefers the L queue when both queues begin to compete, and forgets what it owes when it is asked
//!   with one of them empty.
//!
//! Left out:
//!
//! - Classifiers other than the ECN field (section 2.3), and with them what section 2.5.1.1 wants of ECT(0) and Not-ECT
//!   packets in the L queue and of ECT(1) packets in the classic one. Its last paragraph, drops of both types of ECN-capable
//!   traffic in overload, is here.
//! - Separate buffers (note b), the delay behind the head (note a), delay on saturation (section 4.2.3), per-flow protection of
//!   the L queue.
//! - The additions of the Linux implementation: no coupled marks and classic drops while both queues together hold less than
//!   two datagrams, `Th_len` compared at enqueue, updates every 16 ms.
//! - The monitoring of section 2.5.2: marks, drops and delays of each queue are counted for the tables, base and coupled
//!   probabilities are not.

use super::ecn::Ecn;
use super::packet::Packet;
use super::rng::SplitMix64;
use crate::scenario;
use crate::scenario::Scheduler;
use std::collections::VecDeque;

/// A probability in units of 2^-32.
type Probability = u64;

/// Certainty: the largest base probability, and `p_Lmax` (figure 2, line 21).
const ONE: Probability = 1 << 32;

/// `MTU` of figure 3, line 2, in bytes: an Ethernet packet of 1500, less 28 for the headers of IPv4 and UDP, as sizes are those of
/// UDP payloads here.
const MTU: u64 = 1_472;

/// Which of the two queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum QueueKind {
    /// ECT(1) and CE.
    L4s,
    /// Not-ECT and ECT(0).
    Classic,
}

#[derive(Debug)]
pub(super) struct DualPi2 {
    config: scenario::DualPi2,
    l4s: Queue,
    classic: Queue,
    /// `p'`, the base probability, from 0 to 1.
    base: Probability,
    /// Queue delay at the last update.
    previous_us: u64,
    next_update: u64,
    /// What round robin owes the classic queue, in bytes times weights.
    credit: i128,
}

#[derive(Debug)]
struct Queue {
    /// Packets and when they came, in order.
    packets: VecDeque<(u64, Packet)>,
    bytes: u64,
    /// Sum of the likelihoods since the last hit, less one for each hit.
    count: Probability,
}

/// A packet that goes on to the link.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dequeued {
    pub(super) packet: Packet,
    pub(super) queue: QueueKind,
    pub(super) sojourn_us: u64,
    /// Whether it was marked here.
    pub(super) marked: bool,
}

impl DualPi2 {
    pub(super) fn new(config: &scenario::DualPi2, seed: u64) -> Self {
        let mut rng = SplitMix64::new(seed);
        Self {
            config: *config,
            l4s: Queue::new(rng.below(ONE)),
            classic: Queue::new(rng.below(ONE)),
            base: 0,
            previous_us: 0,
            next_update: config.update_us,
            credit: 0,
        }
    }

    /// Works with other parameters from now on. Queues and probability stay.
    pub(super) fn set_config(&mut self, config: &scenario::DualPi2) {
        self.config = *config;
    }

    /// Takes all packets out, in the order in which they came.
    pub(super) fn drain(&mut self) -> Vec<Packet> {
        let mut packets: Vec<(u64, Packet)> = Vec::new();
        for queue in [&mut self.l4s, &mut self.classic] {
            queue.bytes = 0;
            packets.extend(queue.packets.drain(..));
        }
        // Stable: of two that came in the same microsecond that of the L queue is first.
        packets.sort_by_key(|&(came_at, _)| came_at);
        packets.into_iter().map(|(_, packet)| packet).collect()
    }

    /// Bytes in both queues.
    pub(super) fn bytes(&self) -> u64 {
        self.l4s.bytes + self.classic.bytes
    }

    /// Whether there is nothing to dequeue.
    pub(super) fn is_empty(&self) -> bool {
        self.l4s.packets.is_empty() && self.classic.packets.is_empty()
    }

    /// Takes a packet if both queues together have room for one of the MTU, so that large packets fare no worse than small
    /// ones (`dualpi2_enqueue`, figure 3). One that is larger needs its own room.
    pub(super) fn enqueue(&mut self, now: u64, packet: Packet, limit: Option<u64>) -> bool {
        self.update_until(now);
        if limit.is_some_and(|limit| self.bytes().saturating_add(packet.bytes.max(MTU)) > limit) {
            return false;
        }
        match packet.ecn {
            Ecn::Ect1 | Ecn::Ce => self.l4s.push(now, packet),
            Ecn::NotEct | Ecn::Ect0 => self.classic.push(now, packet),
        }
        true
    }

    /// The next packet for the link, marked or not; `on_drop` gets those that are dropped before it (`dualpi2_dequeue`,
    /// figure 7).
    pub(super) fn dequeue(&mut self, now: u64, mut on_drop: impl FnMut(Packet)) -> Option<Dequeued> {
        self.update_until(now);
        loop {
            let queue = self.schedule(now)?;
            let dequeued = match queue {
                QueueKind::L4s => self.dequeue_l4s(now, &mut on_drop),
                QueueKind::Classic => self.dequeue_classic(now, &mut on_drop),
            };
            if dequeued.is_some() {
                return dequeued;
            }
        }
    }

    /// A packet of the L queue; `None` if it is dropped.
    fn dequeue_l4s(&mut self, now: u64, on_drop: &mut impl FnMut(Packet)) -> Option<Dequeued> {
        let (came_at, mut packet) = self.l4s.pop()?;
        let sojourn_us = now.saturating_sub(came_at);
        let coupled = self.coupled();
        // Lines 4b to 8j.
        let marked = if coupled < ONE {
            let likelihood = self.native(sojourn_us).max(coupled);
            self.l4s.recurs(likelihood)
        } else {
            // Overload: as the classic queue would drop, and marks for the rest.
            if self.l4s.recurs(self.classic_likelihood()) {
                on_drop(packet);
                return None;
            }
            self.l4s.recurs(coupled)
        };
        let marked = marked && packet.mark();
        Some(Dequeued { packet, queue: QueueKind::L4s, sojourn_us, marked })
    }

    /// A packet of the classic queue; `None` if it is dropped.
    fn dequeue_classic(&mut self, now: u64, on_drop: &mut impl FnMut(Packet)) -> Option<Dequeued> {
        let (came_at, mut packet) = self.classic.pop()?;
        let likelihood = self.classic_likelihood();
        let mut marked = false;
        if self.classic.recurs(likelihood) {
            // Lines 12a and 12b: overload disables ECN.
            if packet.ecn == Ecn::NotEct || likelihood >= self.classic_max() {
                on_drop(packet);
                return None;
            }
            marked = packet.mark();
        }
        Some(Dequeued { packet, queue: QueueKind::Classic, sojourn_us: now.saturating_sub(came_at), marked })
    }

    /// `p_CL`: the base probability times the coupling factor, at most 1.
    fn coupled(&self) -> Probability {
        self.base.saturating_mul(self.config.coupling).min(ONE)
    }

    /// `p_C`: the base probability squared. Not above 1, so the product has 64 bits and one that only 1 times 1 sets.
    fn classic_likelihood(&self) -> Probability {
        ((u128::from(self.base) * u128::from(self.base)) >> 32) as Probability
    }

    /// `p_Cmax` (figure 2, line 11): the classic probability at which the coupled one is 1.
    fn classic_max(&self) -> Probability {
        ONE / self.config.coupling.max(1).pow(2)
    }

    /// `p'_L`: the ramp of the L queue's own AQM over the packet's time in it (`laqm`, figure 5; figure 7, lines 5a to 5d). The
    /// packet has left the queue.
    fn native(&self, sojourn_us: u64) -> Probability {
        let scenario::DualPi2 { l4s_min_us, l4s_range_us, l4s_min_packets, .. } = self.config;
        if (self.l4s.packets.len() as u64) < l4s_min_packets || sojourn_us <= l4s_min_us {
            return 0;
        }
        let above_us = sojourn_us - l4s_min_us;
        if above_us >= l4s_range_us {
            return ONE;
        }
        // Below 2^32 times a range of at most 2^26.
        above_us * ONE / l4s_range_us
    }

    /// Whose turn it is (`scheduler`, section 4.2.2); `None` if both queues are empty.
    fn schedule(&mut self, now: u64) -> Option<QueueKind> {
        let (l4s, classic) = match (self.l4s.packets.front(), self.classic.packets.front()) {
            (Some(l4s), Some(classic)) => (l4s, classic),
            (l4s, classic) => {
                self.credit = 0;
                return l4s.map(|_| QueueKind::L4s).or(classic.map(|_| QueueKind::Classic));
            }
        };
        match self.config.scheduler {
            Scheduler::ShiftedFifo { shift_us } => {
                let (l4s_us, classic_us) = (now.saturating_sub(l4s.0), now.saturating_sub(classic.0));
                let l4s_first = l4s_us.saturating_add(shift_us) >= classic_us;
                Some(if l4s_first { QueueKind::L4s } else { QueueKind::Classic })
            }
            Scheduler::RoundRobin { l4s_weight } => {
                if self.credit > 0 {
                    self.credit -= i128::from(classic.1.bytes) * i128::from(l4s_weight);
                    Some(QueueKind::Classic)
                } else {
                    self.credit += i128::from(l4s.1.bytes);
                    Some(QueueKind::L4s)
                }
            }
        }
    }

    /// The updates that are due up to `now`, with the longer of the two delays (`dualpi2_update`, figure 8).
    fn update_until(&mut self, now: u64) {
        while self.next_update <= now {
            let at = self.next_update;
            let queue_us = self.l4s.delay_us(at).max(self.classic.delay_us(at));
            self.update(queue_us);
            self.next_update = at.saturating_add(self.config.update_us);
            if self.base == 0 && self.previous_us == 0 && self.is_empty() {
                // Nothing changes any more.
                let missed = now.saturating_sub(at) / self.config.update_us;
                self.next_update = at.saturating_add((missed + 1).saturating_mul(self.config.update_us));
            }
        }
    }

    /// One update: `p' += alpha * (queue - target) + beta * (queue - previous)`, between 0 and 1, with alpha = 0.1 * Tupdate /
    /// RTT_max^2 and beta = 0.3 / RTT_max, over the common denominator 10 * RTT_max^2.
    fn update(&mut self, queue_us: u64) {
        let scenario::DualPi2 { target_us, rtt_max_us, update_us, .. } = self.config;
        let queue = i128::from(queue_us);
        let rtt_max = i128::from(rtt_max_us.max(1));
        let integral = i128::from(update_us) * (queue - i128::from(target_us));
        let proportional = 3 * rtt_max * (queue - i128::from(self.previous_us));
        let change = i128::from(ONE) * (integral + proportional) / (10 * rtt_max * rtt_max);
        let base = (i128::from(self.base) + change).clamp(0, i128::from(ONE));
        self.base = u64::try_from(base).unwrap_or(ONE);
        self.previous_us = queue_us;
    }
}

impl Queue {
    fn new(count: Probability) -> Self {
        Self { packets: VecDeque::new(), bytes: 0, count }
    }

    fn push(&mut self, now: u64, packet: Packet) {
        self.bytes += packet.bytes;
        self.packets.push_back((now, packet));
    }

    fn pop(&mut self) -> Option<(u64, Packet)> {
        let head = self.packets.pop_front()?;
        self.bytes -= head.1.bytes;
        Some(head)
    }

    /// How long the packet at the head has been waiting; 0 if there is none.
    fn delay_us(&self, now: u64) -> u64 {
        self.packets.front().map_or(0, |&(came_at, _)| now.saturating_sub(came_at))
    }

    /// True with this likelihood, evenly spaced (`recur`, figure 4).
    fn recurs(&mut self, likelihood: Probability) -> bool {
        self.count += likelihood;
        let hit = self.count > ONE;
        if hit {
            self.count -= ONE;
        }
        hit
    }
}

#[cfg(test)]
mod tests;
