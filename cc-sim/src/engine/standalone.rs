//! The link by itself: the bottleneck of the simulator for a clock and datagrams of somebody else, such as a relay
//! between real sockets.

use super::dualpi2::DualPi2;
use super::ecn::Ecn;
use super::link::{Fate, Link};
use super::packet::{Content, Packet};
use super::rng::SplitMix64;
use crate::scenario::parse::{dualpi2 as aqm_ranges, path as ranges};
use crate::scenario::{self, Direction, Jitter, LinkState, QueueLimit, Scheduler};
use std::collections::VecDeque;
use std::fmt;
use std::ops::RangeInclusive;

/// Parameters of one direction of a link. The default carries everything at once: 10^12 bit/s, no delay, no loss.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkConfig {
    /// Rate in bits per second of the sizes that are submitted, 1 000 to 10^12; 0 suspends the link. A datagram takes whole
    /// microseconds, at least one, which rounds rates above some 100 Mbit/s up a little.
    pub rate_bps: u64,
    /// Propagation delay in microseconds, at most 60 000 000.
    pub latency_us: u64,
    /// What the queue in front of the link holds: 1 to 60 000 000 us, or 1252 to 10^12 bytes.
    pub queue: QueueLimit,
    /// Jitter added to the propagation delay, its mean at most 10 000 000 us. It does not reorder: a late datagram holds
    /// back those behind it.
    pub jitter: Jitter,
    /// Of a million datagrams that have been serialised, how many are lost, each for itself; at most 1 000 000.
    pub loss_ppm: u32,
    /// Of a million datagrams that come out of the link, how many take `reorder_us` longer without holding back those
    /// behind them; at most 1 000 000.
    pub reorder_ppm: u32,
    /// How much longer, in microseconds, at most 60 000 000.
    pub reorder_us: u64,
    /// An AQM in the place of tail drop; `queue` is then its room.
    pub dualpi2: Option<scenario::DualPi2>,
}

impl Default for LinkConfig {
    fn default() -> Self {
        Self {
            rate_bps: *ranges::RATE_BPS.end(),
            latency_us: 0,
            queue: QueueLimit::Unlimited,
            jitter: Jitter::None,
            loss_ppm: 0,
            reorder_ppm: 0,
            reorder_us: 0,
            dualpi2: None,
        }
    }
}

impl LinkConfig {
    /// Whether every field is in its range.
    ///
    /// # Errors
    ///
    /// The first field that is not.
    pub fn check(&self) -> Result<(), LinkConfigError> {
        /// Of a million.
        const PPM: RangeInclusive<u64> = 0..=1_000_000;
        if self.rate_bps != 0 {
            within("rate_bps", self.rate_bps, ranges::RATE_BPS)?;
        }
        within("latency_us", self.latency_us, ranges::LATENCY_US)?;
        match self.queue {
            QueueLimit::Unlimited => {}
            QueueLimit::DelayUs(us) => within("queue.delay_us", us, ranges::QUEUE_US)?,
            QueueLimit::Bytes(bytes) => within("queue.bytes", bytes, ranges::QUEUE_BYTES)?,
        }
        match self.jitter {
            Jitter::None => {}
            Jitter::Gauss { mean_us } => within("jitter.mean_us", mean_us, ranges::JITTER_US)?,
            Jitter::Wifi { average_us, .. } => within("jitter.average_us", average_us, ranges::JITTER_US)?,
        }
        within("loss_ppm", self.loss_ppm.into(), PPM)?;
        within("reorder_ppm", self.reorder_ppm.into(), PPM)?;
        within("reorder_us", self.reorder_us, ranges::LATENCY_US)?;
        let Some(aqm) = &self.dualpi2 else { return Ok(()) };
        within("dualpi2.target_us", aqm.target_us, aqm_ranges::TARGET_US)?;
        within("dualpi2.rtt_max_us", aqm.rtt_max_us, aqm_ranges::RTT_MAX_US)?;
        within("dualpi2.update_us", aqm.update_us, aqm_ranges::UPDATE_US)?;
        within("dualpi2.coupling", aqm.coupling, aqm_ranges::COUPLING)?;
        within("dualpi2.l4s_min_us", aqm.l4s_min_us, aqm_ranges::RAMP_US)?;
        within("dualpi2.l4s_range_us", aqm.l4s_range_us, aqm_ranges::RAMP_US)?;
        within("dualpi2.l4s_min_packets", aqm.l4s_min_packets, aqm_ranges::MIN_PACKETS)?;
        match aqm.scheduler {
            Scheduler::RoundRobin { l4s_weight } => {
                within("dualpi2.scheduler.l4s_weight", l4s_weight, aqm_ranges::L4S_WEIGHT)
            }
            Scheduler::ShiftedFifo { shift_us } => {
                within("dualpi2.scheduler.shift_us", shift_us, aqm_ranges::RAMP_US)
            }
        }
    }

    /// As the simulator's links want it; they know no reordering.
    fn state(&self) -> LinkState {
        let mut state = LinkState::constant(self.rate_bps, self.latency_us, self.queue);
        (state.jitter, state.loss_ppm) = (self.jitter, self.loss_ppm);
        state
    }
}

/// A field of a [`LinkConfig`] that is out of its range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkConfigError {
    /// Which field, such as `queue.delay_us`.
    pub field: &'static str,
    /// What it is.
    pub value: u64,
    /// What it may be.
    pub allowed: RangeInclusive<u64>,
}

impl fmt::Display for LinkConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { field, value, allowed } = self;
        let or_zero = if *field == "rate_bps" { ", or 0" } else { "" };
        write!(
            f,
            "{field}: {value} is out of range (allowed: {}..={}{or_zero})",
            allowed.start(),
            allowed.end()
        )
    }
}

impl std::error::Error for LinkConfigError {}

fn within(field: &'static str, value: u64, allowed: RangeInclusive<u64>) -> Result<(), LinkConfigError> {
    if allowed.contains(&value) { Ok(()) } else { Err(LinkConfigError { field, value, allowed }) }
}

/// What the link carries: somebody's datagram, known by a number that means nothing to the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Datagram {
    /// Whose it is.
    pub token: u32,
    /// Its size, in the unit of [`LinkConfig::rate_bps`]; sizes from 2^40 bytes on count as that.
    pub bytes: u64,
    /// Its ECN field.
    pub ecn: Ecn,
}

/// What became of a datagram. Each that is submitted has one event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// It comes out at this time; its ECN field is CE if it was marked.
    Delivered {
        /// When, in microseconds.
        at_us: u64,
        /// The datagram.
        datagram: Datagram,
    },
    /// It was lost at random.
    Lost(Datagram),
    /// It was dropped.
    Dropped(Datagram, DropCause),
}

/// Why a datagram was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DropCause {
    /// The queue was full, or what was in it found no room in a smaller one after [`LinkModel::change`].
    Full,
    /// The AQM dropped it instead of marking it.
    Aqm,
}

/// One direction of the bottleneck.
///
/// Time is the caller's, in whole microseconds from any origin; it never goes back, an earlier one counts as the latest
/// one seen. Events are dated by the model and not by when they are asked for, so that a caller who is late does not
/// slow the link down.
#[derive(Debug)]
pub struct LinkModel {
    link: Link,
    clock: u64,
    reorder_ppm: u32,
    reorder_us: u64,
    /// Datagrams that others may overtake, by the time at which they come out.
    late: VecDeque<(u64, Datagram)>,
    /// Of reordering and of AQMs, apart from that of the link, so that neither changes which datagrams are lost.
    rng: SplitMix64,
}

/// What is next.
enum Step {
    Dequeue,
    Arrival,
    Late,
}

impl LinkModel {
    /// A link. The same `seed`, datagrams and times give the same events.
    ///
    /// # Errors
    ///
    /// As [`LinkConfig::check`].
    pub fn new(config: &LinkConfig, seed: u64) -> Result<Self, LinkConfigError> {
        config.check()?;
        let mut rng = SplitMix64::new(!seed);
        let aqm_seed = rng.next_u64();
        let aqm = config.dualpi2.as_ref().map(|config| DualPi2::new(config, aqm_seed));
        Ok(Self {
            link: Link::new(&config.state(), Direction::Forward, seed).with_aqm(aqm),
            clock: 0,
            reorder_ppm: config.reorder_ppm,
            reorder_us: config.reorder_us,
            late: VecDeque::new(),
            rng,
        })
    }

    /// Lets time pass until `now` and hands a datagram to the link.
    pub fn submit(&mut self, now: u64, datagram: Datagram, mut on_event: impl FnMut(Event)) {
        self.advance(now, &mut on_event);
        let packet = Packet {
            bytes: datagram.bytes.min(1 << 40),
            flow: datagram.token,
            ecn: datagram.ecn,
            content: Content::Cross,
        };
        if !self.link.submit(self.clock, packet) {
            on_event(Event::Dropped(datagram, DropCause::Full));
        }
    }

    /// When something happens next, in microseconds; `None` if the link is empty or suspended.
    #[must_use]
    pub fn next_event(&self) -> Option<u64> {
        self.next().map(|(at, _)| at)
    }

    /// Lets time pass until `now`.
    pub fn advance(&mut self, now: u64, mut on_event: impl FnMut(Event)) {
        while let Some((at, step)) = self.next().filter(|&(at, _)| at <= now) {
            self.clock = at;
            match step {
                Step::Dequeue => {
                    let on_drop = |packet| on_event(Event::Dropped(datagram(&packet), DropCause::Aqm));
                    self.link.dequeue(at, on_drop);
                }
                Step::Arrival => match self.link.pop() {
                    Some(Fate::Arrived(packet)) => self.leave(at, datagram(&packet), &mut on_event),
                    Some(Fate::Lost(packet)) => on_event(Event::Lost(datagram(&packet))),
                    None => {}
                },
                Step::Late => {
                    if let Some((_, datagram)) = self.late.pop_front() {
                        on_event(Event::Delivered { at_us: at, datagram });
                    }
                }
            }
        }
        self.clock = self.clock.max(now);
    }

    /// Changes the parameters at time `now`. What is in the air stays there; what waits or is being serialised is taken up
    /// again in order by the new link, which may have no room for all of it.
    ///
    /// # Errors
    ///
    /// As [`LinkConfig::check`]; nothing has changed then.
    pub fn change(
        &mut self,
        now: u64,
        config: &LinkConfig,
        mut on_event: impl FnMut(Event),
    ) -> Result<(), LinkConfigError> {
        config.check()?;
        self.advance(now, &mut on_event);
        let mut on_drop = |packet| on_event(Event::Dropped(datagram(&packet), DropCause::Full));
        self.link.change(self.clock, &config.state(), Direction::Forward, &mut on_drop);
        self.link.change_aqm(self.clock, config.dualpi2.as_ref(), self.rng.next_u64(), &mut on_drop);
        (self.reorder_ppm, self.reorder_us) = (config.reorder_ppm, config.reorder_us);
        Ok(())
    }

    /// How long a datagram submitted at `now` would wait for the link, in microseconds.
    #[must_use]
    pub fn waiting_us(&self, now: u64) -> u64 {
        self.link.waiting_us(now.max(self.clock))
    }

    /// A datagram is through the link, and is late now or not.
    fn leave(&mut self, at: u64, datagram: Datagram, on_event: &mut impl FnMut(Event)) {
        if !self.rng.chance(self.reorder_ppm) {
            on_event(Event::Delivered { at_us: at, datagram });
            return;
        }
        let until = at.saturating_add(self.reorder_us);
        // At the end, but for a change of `reorder_us`.
        let place = self.late.partition_point(|&(other, _)| other <= until);
        self.late.insert(place, (until, datagram));
    }

    /// The earliest step; on a tie in the order of the simulator's event loop.
    fn next(&self) -> Option<(u64, Step)> {
        [
            (self.link.next_dequeue(), Step::Dequeue),
            (self.link.next_arrival(), Step::Arrival),
            (self.late.front().map(|&(at, _)| at), Step::Late),
        ]
        .into_iter()
        .filter_map(|(at, step)| Some((at?.max(self.clock), step)))
        .min_by_key(|&(at, _)| at)
    }
}

fn datagram(packet: &Packet) -> Datagram {
    Datagram { token: packet.flow, bytes: packet.bytes, ecn: packet.ecn }
}

#[cfg(test)]
mod tests;
