//! A sender that speaks the language of the test scripts: sent, acked, lost, CE, at times in milliseconds.

use crate::{Config, Cubic};
use cc_core::{
    AckEvent, AckedPacket, CongestionController, DiscardReason, Duration, EcnEvent, HyStartPlusPlus, Instant,
    LossCause, LossEvent, LostPacket, PathRtt, PathState, RttEvent, SendLimit, SentPacket, SlowStart,
    SpuriousLoss,
};
use std::ops::RangeInclusive;
use std::vec::Vec;

pub(crate) const MSS: u64 = 1_200;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fate {
    InFlight,
    Acked,
    Lost,
    Discarded,
}

#[derive(Clone, Copy, Debug)]
struct Packet {
    at: Instant,
    bytes: u64,
    fate: Fate,
}

/// What the controller is told of numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Numbers {
    /// Those of packets, the next one and the oldest outstanding one.
    Known,
    /// Those of packets and the oldest outstanding one; the next one stays 0.
    WithoutNext,
    Unknown,
}

/// The parts of one ACK frame, in the order in which the stack calls the controller.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Part {
    Ecn,
    Rtt,
    Losses,
    Acks,
}

pub(crate) const CANONICAL: [Part; 4] = [Part::Ecn, Part::Rtt, Part::Losses, Part::Acks];

/// One ACK frame.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    pub(crate) acks: Vec<u64>,
    pub(crate) losses: Vec<u64>,
    pub(crate) ce: u64,
    pub(crate) persistent: bool,
    pub(crate) order: [Part; 4],
}

impl Default for Frame {
    fn default() -> Self {
        Self { acks: Vec::new(), losses: Vec::new(), ce: 0, persistent: false, order: CANONICAL }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Stack<S: SlowStart = HyStartPlusPlus> {
    pub(crate) cc: Cubic<S>,
    pub(crate) numbers: Numbers,
    /// Whether the controller is told of sends.
    pub(crate) reports_sends: bool,
    /// Whether acked packets that had been declared lost are marked so.
    pub(crate) flags_late: bool,
    pub(crate) limited_by: SendLimit,
    pub(crate) app_limited_at: Option<Instant>,
    pub(crate) datagram: u64,
    pub(crate) rtt: Option<PathRtt>,
    /// Whether the RTT statistics stay as they are.
    pub(crate) rtt_is_fixed: bool,
    /// Packet n is entry n - 1: scripts count from 1.
    packets: Vec<Packet>,
    newest_data: Option<Instant>,
    peak: u64,
    /// Bytes in each [`Fate`].
    sums: [u64; 4],
    /// Index of the oldest packet in flight, or of a packet before it.
    oldest: usize,
}

pub(crate) fn ms(millis: u64) -> Instant {
    Instant::from_millis(millis)
}

impl Stack {
    pub(crate) fn new() -> Self {
        Self::with(&Config::default())
    }

    pub(crate) fn with(config: &Config) -> Self {
        Self::around(Cubic::new(config), config.max_datagram_size)
    }

    /// A sender in congestion avoidance: the window is `cwnd` after a loss at `cwnd / 0.7`, at time `at_ms` with an
    /// RTT of `rtt_ms`. `cwnd` is a multiple of 8400, so that all windows are whole packets.
    pub(crate) fn in_avoidance(cwnd: u64, rtt_ms: u64, at_ms: u64) -> Self {
        Self::after_a_loss(&Config::default(), cwnd, rtt_ms, at_ms, MSS)
    }

    /// The same with a window of exactly `cwnd` bytes and an RTT of 100 ms, at 1000 ms: what ends the recovery is one
    /// byte, which adds less than one. `W_max` and `cwnd_prior` are `cwnd / 0.7`.
    pub(crate) fn resting(cwnd: u64, config: &Config) -> Self {
        let stack = Self::after_a_loss(config, cwnd, 100, 1_000, 1);
        assert_eq!(stack.cc.cwnd(), cwnd);
        stack
    }

    fn after_a_loss(config: &Config, cwnd: u64, rtt_ms: u64, at_ms: u64, probe_bytes: u64) -> Self {
        let before = cwnd / 7 * 10;
        let mut stack = Self::with(&Config { initial_window: Some(before), ..*config });
        let sent = at_ms - 2 * rtt_ms;
        let flight = stack.fill(sent);
        stack.frame(sent + rtt_ms, Frame { losses: std::vec![*flight.start()], ..Frame::default() });
        assert_eq!(stack.cc.cwnd(), cwnd);
        let probe = stack.send_sized(ms(sent + rtt_ms + 1), 1, probe_bytes);
        stack.ack(at_ms, *flight.start() + 1..=*probe.end());
        assert_eq!(stack.cc.snapshot().phase, "congestion_avoidance");
        stack
    }
}

impl<S: SlowStart> Stack<S> {
    pub(crate) fn around(cc: Cubic<S>, datagram: u64) -> Self {
        Self {
            cc,
            numbers: Numbers::Known,
            reports_sends: true,
            flags_late: true,
            limited_by: SendLimit::Cwnd,
            app_limited_at: None,
            datagram,
            rtt: None,
            rtt_is_fixed: false,
            packets: Vec::new(),
            newest_data: None,
            peak: 0,
            sums: [0; 4],
            oldest: 0,
        }
    }

    pub(crate) fn in_flight(&self) -> u64 {
        self.sums[Fate::InFlight as usize]
    }

    /// Numbers of the packets in flight.
    pub(crate) fn outstanding(&self) -> Vec<u64> {
        (self.oldest..self.packets.len())
            .filter(|i| self.packets[*i].fate == Fate::InFlight)
            .map(|i| i as u64 + 1)
            .collect()
    }

    fn set_fate(&mut self, number: u64, fate: Fate) {
        let packet = &mut self.packets[number as usize - 1];
        self.sums[packet.fate as usize] -= packet.bytes;
        self.sums[fate as usize] += packet.bytes;
        packet.fate = fate;
        while self.packets.get(self.oldest).is_some_and(|p| p.fate != Fate::InFlight) {
            self.oldest += 1;
        }
    }

    /// Number that the next packet gets.
    pub(crate) fn next(&self) -> u64 {
        self.packets.len() as u64 + 1
    }

    pub(crate) fn path(&self, now: Instant) -> PathState {
        let flight = self.in_flight();
        let oldest = (self.oldest < self.packets.len()).then_some(self.oldest as u64 + 1);
        PathState {
            now,
            bytes_in_flight: flight,
            prior_bytes_in_flight: flight,
            delivered: self.sums[Fate::Acked as usize],
            lost: self.sums[Fate::Lost as usize],
            next_number: if self.numbers == Numbers::Known { self.next() } else { 0 },
            oldest_outstanding: oldest.filter(|_| self.numbers != Numbers::Unknown),
            rtt: self.rtt,
            max_datagram_size: self.datagram,
            handshake_ready: true,
            app_limited: false,
        }
    }

    pub(crate) fn send(&mut self, at_ms: u64, count: u64) -> RangeInclusive<u64> {
        self.send_sized(ms(at_ms), count, self.datagram)
    }

    pub(crate) fn send_sized(&mut self, at: Instant, count: u64, bytes: u64) -> RangeInclusive<u64> {
        let first = self.next();
        for _ in 0..count {
            let number = self.next();
            self.packets.push(Packet { at, bytes, fate: Fate::InFlight });
            self.sums[Fate::InFlight as usize] += bytes;
            self.peak = self.peak.max(self.in_flight());
            if self.reports_sends {
                let packet = SentPacket {
                    number,
                    bytes,
                    in_flight: true,
                    sent_at: at,
                    carries_data: true,
                    ..SentPacket::default()
                };
                self.cc.on_packet_sent(&self.path(at), &packet);
            }
        }
        first..=first + count - 1
    }

    /// Sends until the next datagram would not fit the window.
    pub(crate) fn fill(&mut self, at_ms: u64) -> RangeInclusive<u64> {
        let room = self.cc.cwnd().saturating_sub(self.in_flight()) / self.datagram;
        self.limited_by = SendLimit::Cwnd;
        self.send(at_ms, room)
    }

    pub(crate) fn ack(&mut self, at_ms: u64, range: RangeInclusive<u64>) {
        self.frame(at_ms, Frame { acks: range.collect(), ..Frame::default() });
    }

    pub(crate) fn frame(&mut self, at_ms: u64, frame: Frame) {
        self.frame_at(ms(at_ms), frame);
    }

    pub(crate) fn frame_at(&mut self, now: Instant, frame: Frame) {
        let prior = self.in_flight();
        let numbers = self.numbers;
        let number = |n: u64| (numbers != Numbers::Unknown).then_some(n);
        let acked: Vec<AckedPacket> = frame
            .acks
            .iter()
            .map(|n| {
                let packet = self.packets[*n as usize - 1];
                AckedPacket {
                    number: number(*n),
                    sent_at: packet.at,
                    bytes: packet.bytes,
                    packets: Some(1),
                    was_lost: self.flags_late && packet.fate == Fate::Lost,
                    ..AckedPacket::default()
                }
            })
            .filter(|p| p.bytes > 0)
            .collect();
        let lost: Vec<LostPacket> = frame
            .losses
            .iter()
            .map(|n| {
                let packet = self.packets[*n as usize - 1];
                LostPacket {
                    number: number(*n),
                    sent_at: packet.at,
                    bytes: packet.bytes,
                    ..LostPacket::default()
                }
            })
            .collect();
        let spurious: Vec<AckedPacket> = acked.iter().filter(|p| p.was_lost).copied().collect();
        let newest = frame.acks.iter().max().map(|n| (*n, self.packets[*n as usize - 1].at));
        for n in &frame.acks {
            self.set_fate(*n, Fate::Acked);
        }
        for n in &frame.losses {
            self.set_fate(*n, Fate::Lost);
        }
        if let Some((_, at)) = newest {
            self.newest_data = self.newest_data.max(Some(at));
            self.measure(now.since(at));
        }
        let path = PathState { prior_bytes_in_flight: prior, ..self.path(now) };
        for part in frame.order {
            match part {
                Part::Ecn if frame.ce > 0 => {
                    let (n, at) = newest.unwrap();
                    self.cc.on_ecn(
                        &path,
                        &EcnEvent {
                            ce: Some(frame.ce),
                            newly_acked: Some(acked.len() as u64),
                            largest_acked: number(n),
                            largest_acked_sent_at: at,
                            ..EcnEvent::default()
                        },
                    );
                }
                Part::Rtt if !acked.is_empty() => {
                    let latest = newest.map_or(Duration::ZERO, |(_, at)| now.since(at));
                    self.cc.on_rtt(&path, &RttEvent { latest, is_sample: true, ..RttEvent::default() });
                }
                Part::Losses if !lost.is_empty() => {
                    let cause = Some(if frame.acks.is_empty() { LossCause::Timer } else { LossCause::Ack });
                    let persistent_congestion = frame.persistent;
                    self.cc.on_loss(
                        &path,
                        &LossEvent { packets: &lost, last: true, persistent_congestion, cause },
                    );
                }
                Part::Acks if !acked.is_empty() => {
                    // As `Path` does: after the losses, before the acks.
                    for packet in &spurious {
                        let (number, sent_at, bytes) = (packet.number, packet.sent_at, packet.bytes);
                        self.cc.on_spurious_loss(&path, &SpuriousLoss::Packet { number, sent_at, bytes });
                    }
                    self.cc.on_ack(
                        &path,
                        &AckEvent {
                            packets: &acked,
                            last: true,
                            rate_sample: None,
                            limited_by: self.limited_by,
                            max_bytes_in_flight: self.peak.max(prior),
                            app_limited_at: self.app_limited_at,
                            newest_data_sent_at: self.newest_data,
                        },
                    );
                }
                _ => {}
            }
        }
        self.peak = self.in_flight();
    }

    /// The packet leaves the network without being acked or lost.
    pub(crate) fn discard(&mut self, at_ms: u64, number: u64, reason: DiscardReason) {
        let prior_bytes_in_flight = self.in_flight();
        self.set_fate(number, Fate::Discarded);
        let path = PathState { prior_bytes_in_flight, ..self.path(ms(at_ms)) };
        self.cc.on_discarded(&path, prior_bytes_in_flight - path.bytes_in_flight, reason);
    }

    /// From now on every RTT is `rtt_ms`.
    pub(crate) fn fix_rtt(&mut self, rtt_ms: u64) {
        let rtt = Duration::from_millis(rtt_ms);
        self.rtt = Some(PathRtt { latest: rtt, smoothed: rtt, min: rtt, var: rtt });
        self.rtt_is_fixed = true;
    }

    /// RFC 9002 section 5.3.
    fn measure(&mut self, latest: Duration) {
        if self.rtt_is_fixed {
            return;
        }
        self.rtt = Some(match self.rtt {
            None => PathRtt { latest, smoothed: latest, min: latest, var: latest.divided_by(2) },
            Some(rtt) => PathRtt {
                latest,
                smoothed: rtt.smoothed.times(7).plus(latest).divided_by(8),
                min: rtt.min.min(latest),
                var: rtt.var,
            },
        });
    }

    /// One round of a sender that always fills its window: what is in flight is acked one RTT after the start of
    /// the round, `per_ack` packets at a time and spread over `spread_ms`, and replaced at once.
    pub(crate) fn greedy_round(&mut self, at_ms: u64, spread_ms: u64, per_ack: usize) {
        self.greedy_round_sized(at_ms, spread_ms, per_ack, self.datagram);
    }

    /// The same with packets of `bytes` bytes.
    pub(crate) fn greedy_round_sized(&mut self, at_ms: u64, spread_ms: u64, per_ack: usize, bytes: u64) {
        let outstanding = self.outstanding();
        let count = outstanding.len() as u64;
        for (done, chunk) in outstanding.chunks(per_ack).enumerate() {
            // The ACK comes with the last packet of the chunk.
            let acked = ((done + 1) * per_ack) as u64;
            let nanos = at_ms * 1_000_000 + spread_ms * 1_000_000 * acked.min(count) / count;
            let now = Instant::from_nanos(nanos);
            self.frame_at(now, Frame { acks: chunk.to_vec(), ..Frame::default() });
            let room = self.cc.cwnd().saturating_sub(self.in_flight()) / bytes;
            self.limited_by = SendLimit::Cwnd;
            self.send_sized(now, room, bytes);
        }
    }
}
