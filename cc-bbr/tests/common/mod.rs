//! A sender on `cc_core::Path`, one bottleneck and a receiver, on virtual time in whole nanoseconds. Everything is
//! deterministic; a test changes the link and the application between steps.
#![allow(dead_code, reason = "every test file uses a part of this module")]

use cc_bbr::{Bbr, Config, State};
use cc_core::{
    CongestionController, Duration, FrameEnd, FrameReport, Instant, LossDetection, OutgoingPacket, Path,
    PathConfig, Rate, SendDecision,
};
use std::collections::{BTreeMap, VecDeque};

pub(crate) const DATAGRAM: u64 = 1_200;
/// Packets of the ring: enough for all tests.
const RING: usize = 32_768;

/// 10 Mbit/s in bytes per second.
pub(crate) const TEN_MBIT: u64 = 1_250_000;

pub(crate) const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// What the application gives to send.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum App {
    /// As much as may be sent.
    Greedy,
    /// So many bytes per second, evenly.
    Paced(u64),
    /// So many packets, and then nothing.
    Packets(u64),
    /// Nothing.
    Silent,
}

/// The network. May be changed at any time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Link {
    /// Bottleneck, bytes per second.
    pub(crate) rate: u64,
    /// Propagation delay of both directions together.
    pub(crate) rtt: Duration,
    /// Bytes that may wait in front of the bottleneck.
    pub(crate) buffer: u64,
    /// A policer in front of it: rate in bytes per second and bucket in bytes.
    pub(crate) policer: Option<(u64, u64)>,
    /// Acks reach the sender only at multiples of this time: aggregation on the way back.
    pub(crate) ack_slot: Option<Duration>,
    /// Packets per ACK frame; an ACK waits for at most 25 ms.
    pub(crate) ack_every: usize,
    /// Of each so many packets one is dropped; 0 for none.
    pub(crate) drop_one_of: u64,
    /// So many of the next packets arrive later by this time.
    pub(crate) hold: (u64, Duration),
}

#[derive(Clone, Copy, Debug)]
struct Packet {
    number: u64,
    bytes: u64,
    /// Delay on top of that of the link.
    extra: Duration,
}

/// Counts that a test may reset.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) sent: u64,
    pub(crate) dropped: u64,
    pub(crate) acked: u64,
    pub(crate) lost: u64,
    /// Largest bytes in flight.
    pub(crate) max_flight: u64,
}

pub(crate) struct Net {
    pub(crate) path: Box<Path<Bbr, RING>>,
    pub(crate) now: Instant,
    pub(crate) link: Link,
    pub(crate) app: App,
    pub(crate) datagram: u64,
    pub(crate) counts: Counts,
    /// The report of the newest ACK frame.
    pub(crate) report: FrameReport,
    /// Bytes that the application may still give, and when it was computed.
    made: u64,
    made_at: Instant,
    queue: VecDeque<Packet>,
    queued: u64,
    /// When the packet at the head of the queue has left.
    head_done: Option<Instant>,
    tokens: u64,
    tokens_at: Instant,
    /// Packets on their way to the receiver, by arrival.
    arriving: BTreeMap<(Instant, u64), ()>,
    /// What the receiver did not ack yet, and when it must.
    unacked: Vec<u64>,
    ack_due: Option<Instant>,
    /// ACK frames on their way back, by arrival.
    returning: BTreeMap<Instant, Vec<u64>>,
    /// When the last packet in flight was sent or acked, and probes since.
    progress: Instant,
    probes: u32,
    total: u64,
    wake: Option<Instant>,
}

impl Net {
    /// A greedy sender on a link with a buffer in BDPs.
    pub(crate) fn new(rate: u64, rtt: Duration, buffer_in_bdp: u64) -> Self {
        Self::with_datagram(rate, rtt, buffer_in_bdp, DATAGRAM)
    }

    pub(crate) fn with_datagram(rate: u64, rtt: Duration, buffer_in_bdp: u64, datagram: u64) -> Self {
        let bdp = Rate::from_bytes_per_sec(rate).bytes_in(rtt);
        let config = PathConfig {
            max_datagram_size: datagram,
            loss_detection: Some(LossDetection::default()),
            ..PathConfig::default()
        };
        let bbr = Bbr::new(&Config { max_datagram_size: datagram, seed: 1, ..Config::default() });
        let mut net = Self {
            // Built on the heap: it is larger than the stack of a test.
            path: Box::write(Box::new_uninit(), Path::new(bbr, config)),
            now: Instant::ZERO,
            link: Link {
                rate,
                rtt,
                buffer: (bdp * buffer_in_bdp).max(4 * datagram),
                policer: None,
                ack_slot: None,
                ack_every: 1,
                drop_one_of: 0,
                hold: (0, Duration::ZERO),
            },
            app: App::Greedy,
            datagram,
            counts: Counts::default(),
            report: FrameReport::default(),
            made: 0,
            made_at: Instant::ZERO,
            queue: VecDeque::new(),
            queued: 0,
            head_done: None,
            tokens: u64::MAX,
            tokens_at: Instant::ZERO,
            arriving: BTreeMap::new(),
            unacked: Vec::new(),
            ack_due: None,
            returning: BTreeMap::new(),
            progress: Instant::ZERO,
            probes: 0,
            total: 0,
            wake: None,
        };
        net.send();
        net
    }

    pub(crate) fn bbr(&self) -> &Bbr {
        self.path.controller()
    }

    pub(crate) fn state(&self) -> State {
        *self.bbr().state()
    }

    pub(crate) fn phase(&self) -> &'static str {
        self.bbr().state().name()
    }

    pub(crate) fn cwnd(&self) -> u64 {
        self.bbr().cwnd()
    }

    pub(crate) fn bdp(&self) -> u64 {
        Rate::from_bytes_per_sec(self.link.rate).bytes_in(self.link.rtt)
    }

    /// Changes what the application gives; the sender notices at once.
    pub(crate) fn set_app(&mut self, app: App) {
        self.make_data();
        self.app = app;
        self.made = 0;
        self.send();
    }

    /// One event. Panics if nothing will ever happen any more.
    pub(crate) fn step(&mut self) {
        let next = [
            self.head_done,
            self.arriving.keys().next().map(|(at, _)| *at),
            self.ack_due,
            self.returning.keys().next().copied(),
            self.path.loss_deadline(),
            self.probe_deadline(),
            self.wake,
        ];
        let at = next.into_iter().flatten().min().expect("the simulation has stopped").max(self.now);
        self.advance(at);
    }

    fn advance(&mut self, at: Instant) {
        self.now = at;
        if self.head_done.is_some_and(|done| done <= at) {
            self.leave_bottleneck();
        } else if self.arriving.keys().next().is_some_and(|(due, _)| *due <= at) {
            let ((_, number), ()) = self.arriving.pop_first().expect("there is one");
            self.receive(number);
        } else if self.ack_due.is_some_and(|due| due <= at) {
            self.acknowledge();
        } else if self.returning.keys().next().is_some_and(|due| *due <= at) {
            self.take_ack();
        } else if self.path.loss_deadline().is_some_and(|due| due <= at) {
            let report = self.path.on_loss_timeout(at);
            self.counts.lost += report.newly_lost;
            self.send();
        } else if self.probe_deadline().is_some_and(|due| due <= at) {
            self.probes += 1;
            self.progress = at;
            self.put(true);
        } else {
            self.send();
        }
    }

    /// Runs for a time.
    pub(crate) fn run(&mut self, span: Duration) {
        let end = self.now.after(span);
        self.run_while(span.plus(ms(1)), |net| net.now < end);
    }

    /// Runs until something is so, for at most `limit`; false if it never was.
    pub(crate) fn run_until(&mut self, limit: Duration, mut done: impl FnMut(&Self) -> bool) -> bool {
        let mut was = false;
        self.run_while(limit, |net| {
            was = done(net);
            !was
        });
        was
    }

    /// As [`run_until`](Self::run_until), but must come true.
    pub(crate) fn expect(&mut self, limit: Duration, what: &str, done: impl FnMut(&Self) -> bool) {
        let from = self.now;
        assert!(
            self.run_until(limit, done),
            "{what}: not from {from:?} to {:?}; now {:?}",
            self.now,
            self.bbr()
        );
    }

    /// Runs until the state has this name.
    pub(crate) fn reach(&mut self, limit: Duration, phase: &str) {
        self.expect(limit, phase, |net| net.phase() == phase);
    }

    /// Runs from now on through a whole state: until it is another.
    pub(crate) fn leave(&mut self, limit: Duration) {
        let phase = self.phase();
        self.expect(limit, "another state", |net| net.phase() != phase);
    }

    fn run_while(&mut self, limit: Duration, mut goes_on: impl FnMut(&Self) -> bool) {
        let end = self.now.after(limit);
        // A timer of the test, so that there is always a next event.
        while goes_on(self) && self.now < end {
            let before = self.wake;
            self.wake = Some(before.map_or(end, |wake| wake.min(end)));
            self.step();
        }
    }

    fn probe_deadline(&self) -> Option<Instant> {
        let oldest = self.path.outstanding().next()?;
        let base = self.path.rtt().pto_base().times(1 << self.probes.min(6));
        Some(oldest.sent_at.max(self.progress).after(base))
    }

    fn make_data(&mut self) {
        let elapsed = self.now.since(self.made_at);
        self.made_at = self.now;
        if let App::Paced(rate) = self.app {
            // At most a burst of ten packets is saved up.
            let made = Rate::from_bytes_per_sec(rate).bytes_in(elapsed);
            self.made = (self.made + made).min(10 * self.datagram);
        }
    }

    /// Sends what application, window and pacer allow.
    fn send(&mut self) {
        // Bytes below the resolution of a call would be lost.
        self.wake = None;
        loop {
            if self.now.since(self.made_at) >= Duration::from_micros(100) {
                self.make_data();
            }
            let has_data = match self.app {
                App::Greedy => true,
                App::Paced(_) => self.made >= self.datagram,
                App::Packets(left) => left > 0,
                App::Silent => false,
            };
            if !has_data {
                self.path.on_app_limited(self.now);
                if let App::Paced(rate) = self.app {
                    let missing = self.datagram - self.made;
                    let wait = Rate::from_bytes_per_sec(rate).time_to_send(missing);
                    self.wake = Some(self.made_at.after(wait.max(Duration::from_micros(100))));
                }
                return;
            }
            match self.path.poll_send(self.now, self.datagram) {
                SendDecision::Now => {
                    self.made = self.made.saturating_sub(self.datagram);
                    if let App::Packets(left) = &mut self.app {
                        *left -= 1;
                    }
                    self.put(false);
                }
                SendDecision::At(at) => {
                    self.wake = Some(at);
                    return;
                }
                SendDecision::Blocked(_) => return,
            }
        }
    }

    /// Hands a packet to the network.
    fn put(&mut self, is_probe: bool) {
        let packet = OutgoingPacket { bytes: self.datagram, sent_at: self.now, ..OutgoingPacket::default() };
        let Ok(number) = self.path.on_packet_sent(self.now, &packet) else {
            assert!(is_probe, "poll_send has seen that there is room");
            return;
        };
        self.counts.sent += self.datagram;
        self.counts.max_flight = self.counts.max_flight.max(self.path.bytes_in_flight());
        self.total += 1;
        let extra = if self.link.hold.0 > 0 {
            self.link.hold.0 -= 1;
            self.link.hold.1
        } else {
            Duration::ZERO
        };
        let is_dropped = self.link.drop_one_of > 0 && self.total.is_multiple_of(self.link.drop_one_of);
        if is_dropped || !self.passes_policer() || self.queued + self.datagram > self.link.buffer {
            self.counts.dropped += self.datagram;
            return;
        }
        self.queue.push_back(Packet { number, bytes: self.datagram, extra });
        self.queued += self.datagram;
        if self.head_done.is_none() {
            self.start_head();
        }
    }

    fn passes_policer(&mut self) -> bool {
        let Some((rate, burst)) = self.link.policer else { return true };
        let made = Rate::from_bytes_per_sec(rate).bytes_in(self.now.since(self.tokens_at));
        // Time that made no whole byte is kept.
        if made > 0 {
            self.tokens_at = self.now;
        }
        self.tokens = self.tokens.saturating_add(made).min(burst);
        if self.tokens < self.datagram {
            return false;
        }
        self.tokens -= self.datagram;
        true
    }

    fn start_head(&mut self) {
        self.head_done = self.queue.front().map(|packet| {
            self.now.after(Rate::from_bytes_per_sec(self.link.rate).time_to_send(packet.bytes))
        });
    }

    fn leave_bottleneck(&mut self) {
        let packet = self.queue.pop_front().expect("the head has left");
        self.queued -= packet.bytes;
        let arrival = self.now.after(self.link.rtt.divided_by(2)).after(packet.extra);
        self.arriving.insert((arrival, packet.number), ());
        self.start_head();
    }

    fn receive(&mut self, number: u64) {
        self.unacked.push(number);
        if self.unacked.len() >= self.link.ack_every {
            self.acknowledge();
        } else if self.ack_due.is_none() {
            self.ack_due = Some(self.now.after(ms(25)));
        }
    }

    fn acknowledge(&mut self) {
        self.ack_due = None;
        let mut arrival = self.now.after(self.link.rtt.divided_by(2));
        if let Some(slot) = self.link.ack_slot {
            let over = arrival.as_nanos() % slot.as_nanos();
            arrival = arrival.after(slot).before(Duration::from_nanos(over));
        }
        // No ACK overtakes another.
        let arrival = self.returning.keys().next_back().map_or(arrival, |last| arrival.max(*last));
        self.returning.entry(arrival).or_default().append(&mut self.unacked);
    }

    fn take_ack(&mut self) {
        let (_, numbers) = self.returning.pop_first().expect("one has arrived");
        for number in numbers {
            self.path.acked(number, None);
        }
        self.report = self.path.finish(self.now, FrameEnd::default());
        self.counts.acked += self.report.newly_acked + self.report.late_acked;
        self.counts.lost += self.report.newly_lost;
        self.progress = self.now;
        self.probes = 0;
        self.send();
    }
}

/// Within `percent` of `expected`.
pub(crate) fn is_close(rate: Rate, expected: u64, percent: u64) -> bool {
    rate.as_bytes_per_sec().abs_diff(expected) <= expected * percent / 100
}
