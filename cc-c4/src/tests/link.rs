//! C4 over one simulated bottleneck: it must fill the link, keep the queue short and come back after an outage.

use crate::{C4, Config};
use cc_core::{
    AckEvent, AckedPacket, CongestionController, Duration, Instant, LossCause, LossEvent, LostPacket,
    PacketSnapshot, PathRtt, PathState, RateSample, RttEvent, SendLimit,
};
use std::{collections::VecDeque, vec::Vec};

const DATAGRAM: u64 = 1_200;
/// Virtual time per turn of the loop, us: short, since coarser times make rates look higher than they are.
const STEP: u64 = 20;

struct Packet {
    number: u64,
    sent: u64,
    /// When its ACK arrives, us; `None` if the queue dropped it.
    acked: Option<u64>,
    snapshot: PacketSnapshot,
}

/// A greedy or timed sender, a bottleneck with a tail-drop queue, and a receiver that acks every packet.
struct Link {
    c4: C4,
    now: u64,
    /// Bottleneck rate, bytes per second; 0 in an outage.
    rate: u64,
    /// One-way delays together, us.
    round_trip: u64,
    /// Longest time that a packet may wait, us.
    buffer: u64,
    /// Send one packet each so many us; `None` for as much as possible.
    media: Option<u64>,
    busy_until: u64,
    next_send: u64,
    next_media: u64,
    next_number: u64,
    flight: VecDeque<Packet>,
    delivered: u64,
    reference: Option<(u64, Instant, Instant)>,
    rtt: Option<PathRtt>,
    app_limited_at: Option<Instant>,
    max_rtt: u64,
}

impl Link {
    fn new(rate: u64, round_trip: u64, buffer: u64) -> Self {
        Self {
            c4: C4::new(&Config::default()),
            now: 0,
            rate,
            round_trip,
            buffer,
            media: None,
            busy_until: 0,
            next_send: 0,
            next_media: 0,
            next_number: 0,
            flight: VecDeque::new(),
            delivered: 0,
            reference: None,
            rtt: None,
            app_limited_at: None,
            max_rtt: 0,
        }
    }

    /// Runs for `millis` and gives the bytes delivered and the largest RTT in us.
    fn run(&mut self, millis: u64) -> (u64, u64) {
        let (until, before) = (self.now + millis * 1_000, self.delivered);
        self.max_rtt = 0;
        while self.now < until {
            self.now += STEP;
            self.receive();
            self.send();
        }
        (self.delivered - before, self.max_rtt)
    }

    fn path(&self) -> PathState {
        PathState {
            now: Instant::from_micros(self.now),
            bytes_in_flight: self.flight.len() as u64 * DATAGRAM,
            delivered: self.delivered,
            next_number: self.next_number,
            oldest_outstanding: self.flight.front().map(|packet| packet.number),
            rtt: self.rtt,
            ..PathState::default()
        }
    }

    fn send(&mut self) {
        loop {
            let is_open = (self.flight.len() as u64 + 1) * DATAGRAM <= self.c4.cwnd();
            if !is_open || self.next_send > self.now {
                return;
            }
            if let Some(interval) = self.media {
                if self.next_media > self.now {
                    self.app_limited_at = Some(Instant::from_micros(self.now));
                    return;
                }
                self.next_media += interval;
            }
            if let Some(rate) = self.c4.pacing_rate() {
                let wait = DATAGRAM * 1_000_000 / rate.as_bytes_per_sec();
                self.next_send = self.next_send.max(self.now.saturating_sub(1_000)) + wait;
            }
            let acked = self.departure().map(|at| at + self.round_trip);
            let (delivered, delivered_at, first_sent_at) = match self.reference {
                Some((delivered, at, sent)) => (delivered, Some(at), sent),
                None => (0, None, Instant::ZERO),
            };
            let snapshot =
                PacketSnapshot { delivered, delivered_at, first_sent_at, ..PacketSnapshot::default() };
            self.flight.push_back(Packet { number: self.next_number, sent: self.now, acked, snapshot });
            self.next_number += 1;
        }
    }

    fn departure(&mut self) -> Option<u64> {
        if self.rate == 0 {
            return None;
        }
        let start = self.busy_until.max(self.now);
        if start - self.now > self.buffer {
            return None;
        }
        self.busy_until = start + DATAGRAM * 1_000_000 / self.rate;
        Some(self.busy_until)
    }

    /// One ACK frame for all packets that arrived in this step; packets more than 3 below are lost.
    fn receive(&mut self) {
        let now = self.now;
        let arrived = |packet: &Packet| packet.acked.is_some_and(|at| at <= now);
        // The queue keeps the order: those that arrived are the first of those that were not dropped.
        let passed = self.flight.iter().take_while(|packet| packet.acked.is_none() || arrived(packet));
        let Some((last, largest)) = passed
            .enumerate()
            .filter(|(_, packet)| arrived(packet))
            .map(|(index, packet)| (index, packet.number))
            .last()
        else {
            self.probe_timeout();
            return;
        };
        let mut acked: Vec<Packet> = Vec::new();
        let mut lost: Vec<LostPacket> = Vec::new();
        let mut rest = Vec::new();
        for packet in self.flight.drain(..=last) {
            if arrived(&packet) {
                acked.push(packet);
            } else if packet.number + 3 <= largest {
                lost.push(LostPacket {
                    number: Some(packet.number),
                    sent_at: Instant::from_micros(packet.sent),
                    bytes: DATAGRAM,
                    ..LostPacket::default()
                });
            } else {
                rest.push(packet);
            }
        }
        for packet in rest.into_iter().rev() {
            self.flight.push_front(packet);
        }
        self.delivered += acked.len() as u64 * DATAGRAM;
        self.notify(&acked, &lost);
    }

    /// After a second of silence the oldest packet is given up, so that another can be sent.
    fn probe_timeout(&mut self) {
        let is_late = self
            .flight
            .front()
            .is_some_and(|packet| packet.acked.is_none() && packet.sent + 1_000_000 < self.now);
        if is_late {
            self.flight.pop_front();
        }
    }

    fn notify(&mut self, acked: &[Packet], lost: &[LostPacket]) {
        let newest = acked.last().expect("an ACK frame acks something");
        let sent_at = Instant::from_micros(newest.sent);
        let latest = Duration::from_micros(self.now - newest.sent);
        self.max_rtt = self.max_rtt.max(latest.as_micros());
        let is_first = self.rtt.is_none();
        let rtt = self.rtt.get_or_insert(PathRtt { latest, smoothed: latest, min: latest, var: latest });
        rtt.latest = latest;
        rtt.min = rtt.min.min(latest);
        rtt.smoothed = rtt.smoothed.times(7).plus(latest).divided_by(8);

        let path = self.path();
        let event = RttEvent { latest, is_sample: true, is_first, ..RttEvent::default() };
        self.c4.on_rtt(&path, &event);
        if !lost.is_empty() {
            let loss = LossEvent {
                packets: lost,
                last: true,
                persistent_congestion: false,
                cause: Some(LossCause::Ack),
            };
            self.c4.on_loss(&path, &loss);
        }
        let sample = self.sample(newest);
        let packets: Vec<AckedPacket> = acked
            .iter()
            .map(|packet| AckedPacket {
                number: Some(packet.number),
                sent_at: Instant::from_micros(packet.sent),
                bytes: DATAGRAM,
                ..AckedPacket::default()
            })
            .collect();
        let ack = AckEvent {
            packets: &packets,
            last: true,
            rate_sample: Some(sample),
            limited_by: SendLimit::Unknown,
            max_bytes_in_flight: 0,
            app_limited_at: self.app_limited_at,
            newest_data_sent_at: Some(sent_at),
        };
        self.c4.on_ack(&path, &ack);
    }

    /// The sampler's rule for C4: the reference moves with each accepted sample.
    fn sample(&mut self, newest: &Packet) -> RateSample {
        let (now, sent_at) = (Instant::from_micros(self.now), Instant::from_micros(newest.sent));
        let mut sample = RateSample {
            number: Some(newest.number),
            sent_at,
            snapshot: newest.snapshot,
            delivered: self.delivered,
            ..RateSample::default()
        };
        if let Some(at) = newest.snapshot.delivered_at {
            sample.ack_interval = now.since(at);
            sample.send_interval = sent_at.since(newest.snapshot.first_sent_at);
        }
        let is_accepted = match self.reference {
            None => true,
            Some((_, _, last_sent)) => {
                sent_at >= last_sent && sample.ack_interval > Duration::from_micros(1_000)
            }
        };
        if is_accepted {
            sample.moved_reference = true;
            self.reference = Some((self.delivered, now, sent_at));
        }
        sample
    }
}

#[test]
fn fills_the_link_and_keeps_the_queue_short() {
    // 20 Mbit/s, 40 ms, a buffer of 80 ms
    let mut link = Link::new(2_500_000, 40_000, 80_000);
    link.run(5_000);
    let (bytes, max_rtt) = link.run(10_000);
    assert!(bytes >= 22_500_000, "{bytes} of 25 000 000");
    assert!(max_rtt <= 40_000 + 25_000, "{max_rtt} us");
}

#[test]
fn fills_links_of_very_different_size() {
    for (rate, round_trip) in [(125_000, 100_000), (25_000_000, 20_000), (2_500_000, 600_000)] {
        let mut link = Link::new(rate, round_trip, round_trip);
        link.run(20_000);
        let (bytes, _) = link.run(10_000);
        assert!(bytes >= rate * 9, "{bytes} of {} at {round_trip} us", rate * 10);
    }
}

#[test]
fn comes_back_after_an_outage_and_after_a_change_of_rate() {
    let mut link = Link::new(2_500_000, 40_000, 80_000);
    link.run(5_000);
    link.rate = 0;
    link.run(2_000);
    link.rate = 2_500_000;
    link.run(5_000);
    let (bytes, _) = link.run(5_000);
    assert!(bytes >= 11_250_000, "{bytes} of 12 500 000 after the outage");
    link.rate = 1_250_000;
    link.run(5_000);
    let (bytes, max_rtt) = link.run(5_000);
    assert!(bytes >= 5_625_000, "{bytes} of 6 250 000 after the rate fell");
    // At a gain of one a standing queue drains slowly, but no packet waits any more as long as the buffer allows:
    // 40 ms of path and 80 ms in the queue.
    assert!(max_rtt < 120_000, "{max_rtt} us after the rate fell");
    link.rate = 5_000_000;
    link.run(10_000);
    let (bytes, _) = link.run(5_000);
    assert!(bytes >= 22_500_000, "{bytes} of 25 000 000 after the rate rose");
}

#[test]
fn media_below_the_capacity_sees_no_queue() {
    // One packet each 10 ms (about 1 Mbit/s) over 20 Mbit/s
    let mut link = Link::new(2_500_000, 40_000, 80_000);
    link.media = Some(10_000);
    let (bytes, max_rtt) = link.run(20_000);
    assert!(bytes >= 1_990 * DATAGRAM, "{bytes}");
    // 40 ms, 480 us of transmission and one step of 20 us; once more 480 us behind a packet that the pacer held back in
    // Recovery (1 200 B at 15/16 of 120 kB/s take 10.7 ms) so that it left together with the next
    assert!(max_rtt <= 40_980, "{max_rtt}");
}
