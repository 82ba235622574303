//! The peer behind a bottleneck of fixed rate and delay.

use crate::Packet;
use cc_core::{Duration, Instant, Rate};
use heapless::{Deque, Vec};

/// Packets per ACK (RFC 9000 section 13.2.2).
const PACKETS_PER_ACK: usize = 2;

/// How long a single packet waits for a second one (RFC 9000 section 18.2, `max_ack_delay`).
const MAX_ACK_DELAY: Duration = Duration::from_millis(25);

/// A bottleneck with a queue that drops what does not fit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Link {
    /// Its rate.
    pub rate: Rate,
    /// One way, without the queue; the way back takes as long.
    pub delay: Duration,
    /// Most bytes that wait.
    pub queue: u64,
}

/// An ACK frame.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Ack {
    /// The packets that it is about.
    pub numbers: Vec<u64, PACKETS_PER_ACK>,
    /// How long the newest of them waited for it.
    pub delay: Duration,
}

/// The peer and the way there and back; up to `M` packets, and as many ACKs, are on their way at once.
#[derive(Clone, Debug)]
pub struct Peer<const M: usize> {
    link: Link,
    /// When the link has sent all that waits.
    busy_until: Instant,
    /// Packets, with the times of their arrivals.
    packets: Deque<(Instant, Packet), M>,
    /// Packets that arrived and are not acked yet, and when the newest of them arrived.
    waiting: Vec<u64, PACKETS_PER_ACK>,
    newest: Instant,
    /// ACKs, with the times of their arrivals at the sender.
    acks: Deque<(Instant, Ack), M>,
    received: u64,
    dropped: u64,
}

impl<const M: usize> Peer<M> {
    /// A peer to which nothing was sent yet.
    #[must_use]
    pub const fn new(link: Link) -> Self {
        Self {
            link,
            busy_until: Instant::ZERO,
            packets: Deque::new(),
            waiting: Vec::new(),
            newest: Instant::ZERO,
            acks: Deque::new(),
            received: 0,
            dropped: 0,
        }
    }

    /// A packet enters the queue, or is dropped if it does not fit.
    pub fn send(&mut self, now: Instant, packet: &Packet) {
        let waiting = self.link.rate.bytes_in(self.busy_until.since(now));
        let leaves = self.busy_until.max(now).after(self.link.rate.time_to_send(packet.bytes));
        let arrives = leaves.after(self.link.delay);
        let fits = waiting.saturating_add(packet.bytes) <= self.link.queue;
        if fits && self.packets.push_back((arrives, *packet)).is_ok() {
            self.busy_until = leaves;
        } else {
            self.dropped = self.dropped.saturating_add(1);
        }
    }

    /// The next ACK that has arrived at the sender by now.
    pub fn poll(&mut self, now: Instant) -> Option<Ack> {
        self.receive(now);
        match self.acks.front() {
            Some((arrives, _)) if *arrives <= now => self.acks.pop_front().map(|(_, ack)| ack),
            _ => None,
        }
    }

    /// When [`Peer::poll`] may have something new.
    #[must_use]
    pub fn poll_at(&self) -> Option<Instant> {
        let ack = self.acks.front().map(|(arrives, _)| *arrives);
        let packet = self.packets.front().map(|(arrives, _)| *arrives);
        let delayed = (!self.waiting.is_empty()).then(|| self.newest.after(MAX_ACK_DELAY));
        ack.into_iter().chain(packet).chain(delayed).min()
    }

    /// Bytes of payload received.
    #[must_use]
    pub const fn received(&self) -> u64 {
        self.received
    }

    /// Packets dropped.
    #[must_use]
    pub const fn dropped(&self) -> u64 {
        self.dropped
    }

    /// What the peer has done by now.
    fn receive(&mut self, now: Instant) {
        loop {
            let arrival = self.packets.front().map(|(arrives, _)| *arrives).filter(|arrives| *arrives <= now);
            let delayed = self.newest.after(MAX_ACK_DELAY);
            if !self.waiting.is_empty() && delayed <= arrival.unwrap_or(now) {
                self.acknowledge(delayed);
                continue;
            }
            if arrival.is_none() {
                return;
            }
            let Some((arrives, packet)) = self.packets.pop_front() else { return };
            if packet.carries_data {
                self.received = self.received.saturating_add(packet.bytes);
            }
            self.newest = arrives;
            // Room for one: two are acked at once.
            let _ = self.waiting.push(packet.number);
            if self.waiting.is_full() {
                self.acknowledge(arrives);
            }
        }
    }

    fn acknowledge(&mut self, at: Instant) {
        let numbers = core::mem::take(&mut self.waiting);
        // No more ACKs than packets are on their way; one that did not fit would be lost.
        let _ =
            self.acks.push_back((at.after(self.link.delay), Ack { numbers, delay: at.since(self.newest) }));
    }
}
