//! The data sender: a QUIC-like endpoint around [`cc_core::Path`].
//!
//! It keeps what a QUIC stack keeps (packet numbers, stream data, loss detection, timers, path MTU, flow
//! control) and leaves bytes in flight, RTT, delivery rate and pacing to the path.

use super::ack_policy::{self, Requested};
use super::link::Link;
use super::loss::LossTimer;
use super::packet::{AckFrame, AckFrequency, Content, Data, Limits, Packet, size};
use super::ranges::Ranges;
use super::rng::SplitMix64;
use super::{Counters, SampleKind};
use crate::AnyController;
use crate::scenario::{Endpoint, Resume, Transfer};
use cc_core::{
    CongestionController, Duration, FrameEnd, Instant, LossCause, MtuChange, OutgoingPacket, PacketSpace,
    Path, PathConfig, ResumeHint, SendLimit,
};
use std::collections::VecDeque;

/// Packets in flight that the path keeps track of; a run that needs more ends with an error.
pub(super) const MAX_IN_FLIGHT: usize = 65_536;

pub(super) type SimPath = Path<AnyController, MAX_IN_FLIGHT>;

/// Packets of the server's first flight, in bytes (sim_model section 5.2): Initial and Handshake share the first
/// datagram, Handshake and 1-RTT the second.
const INITIAL_PACKET: u64 = 184;
const FINISHED_1RTT: u64 = 222;
/// More full-size packets than this lost at one ACK make the path MTU fall back (sim_model section 5.1).
const MTU_LOSSES: u64 = 10;

#[derive(Debug)]
pub(super) struct Server {
    config: Endpoint,
    path: Box<SimPath>,
    resume: Option<Resume>,
    handshake: Handshake,
    /// Sent 1-RTT packets from number `first_number` on.
    sent: VecDeque<SentPacket>,
    first_number: u64,
    next_number: u64,
    /// Next packet number to skip, and how many were skipped so far.
    next_hole: u64,
    holes: u32,
    rng: SplitMix64,
    acked: Ranges,
    /// Packets before this number are neither acked nor lost by now.
    first_outstanding: u64,
    loss: LossTimer,
    stream: Stream,
    mtu: Mtu,
    requested: Requested,
    ack_frequency: Option<AckFrequency>,
    /// The pacer allows the next packet at this time.
    pacing_until: Option<u64>,
    probes: u32,
    close_reply: bool,
    /// Whether more packets were in flight than the path keeps track of.
    is_overloaded: bool,
    /// Send time of an ack-eliciting packet of the client that is still to be acknowledged.
    echo: Option<u64>,
    changed: Option<SampleKind>,
    return_rate: ReturnRate,
}

#[derive(Debug)]
struct Handshake {
    /// Whether the client hello is here.
    started: bool,
    ready: bool,
    /// Path numbers of the Handshake packets and whether the first was acknowledged.
    packets: [Option<u64>; 2],
    flight_due: bool,
    retry_at: Option<u64>,
    retries: u32,
    request_at: u64,
}

/// A 1-RTT packet.
#[derive(Clone, Copy, Debug)]
struct SentPacket {
    /// Its number on the path.
    path_number: u64,
    sent_at: u64,
    bytes: u64,
    offset: u64,
    length: u64,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Outstanding,
    Acked,
    Lost,
    /// A skipped packet number.
    Hole,
}

#[derive(Debug)]
struct Stream {
    bytes: u64,
    next_offset: u64,
    retransmit: VecDeque<(u64, u64)>,
    acked: Ranges,
    limits: Limits,
}

#[derive(Debug)]
struct Mtu {
    current: u64,
    /// Number of the probe; `None` until sent.
    probe: Option<u64>,
    probe_acked: bool,
    full_losses: u64,
}

/// Rate at which the client's packets arrive: the largest over a stretch of at least 10 ms.
#[derive(Debug, Default)]
struct ReturnRate {
    since: u64,
    bytes: u64,
    max: u64,
}

impl ReturnRate {
    fn on_packet(&mut self, now: u64, bytes: u64) {
        self.bytes += bytes;
        let elapsed = now.saturating_sub(self.since);
        if elapsed >= 10_000 {
            self.max = self.max.max(self.bytes * 1_000_000 / elapsed);
            (self.since, self.bytes) = (now, 0);
        }
    }
}

impl Server {
    pub(super) fn new(
        config: &Endpoint,
        controller: AnyController,
        transfer: &Transfer,
        resume: Option<Resume>,
        seed: u64,
    ) -> Self {
        let path_config = PathConfig {
            max_datagram_size: config.initial_mtu,
            initial_rtt: Duration::from_micros(config.initial_pto_us),
            max_ack_delay: Duration::from_micros(config.max_ack_delay_us),
            ..PathConfig::default()
        };
        let mut rng = SplitMix64::new(seed);
        let next_hole = 3 + rng.below(256);
        Self {
            config: *config,
            path: boxed_path(controller, path_config),
            resume,
            handshake: Handshake {
                started: false,
                ready: false,
                packets: [None; 2],
                flight_due: false,
                retry_at: None,
                retries: 0,
                request_at: 0,
            },
            sent: VecDeque::with_capacity(1_024),
            first_number: 0,
            next_number: 0,
            next_hole,
            holes: 0,
            rng,
            acked: Ranges::default(),
            first_outstanding: 0,
            loss: LossTimer::new(config),
            stream: Stream {
                bytes: transfer.bytes,
                next_offset: 0,
                retransmit: VecDeque::new(),
                acked: Ranges::default(),
                limits: Limits {
                    max_data: config.initial_max_data,
                    max_stream_data: config.initial_max_stream_data,
                },
            },
            mtu: Mtu { current: config.initial_mtu, probe: None, probe_acked: false, full_losses: 0 },
            requested: Requested::default(),
            ack_frequency: None,
            pacing_until: None,
            probes: 0,
            close_reply: false,
            is_overloaded: false,
            echo: None,
            changed: None,
            return_rate: ReturnRate::default(),
        }
    }

    pub(super) fn path(&self) -> &SimPath {
        &self.path
    }

    /// When the request arrived.
    pub(super) fn request_at(&self) -> u64 {
        self.handshake.request_at
    }

    /// Whether more than [`MAX_IN_FLIGHT`] packets were in flight: the run is void.
    pub(super) fn is_overloaded(&self) -> bool {
        self.is_overloaded
    }

    /// What changed since the last call, for observers.
    pub(super) fn take_change(&mut self) -> Option<SampleKind> {
        self.changed.take()
    }

    /// When [`Server::wake`] is to be called; `None` for "when something arrives".
    pub(super) fn next_wake(&self) -> Option<u64> {
        if self.handshake.flight_due || self.close_reply {
            return Some(0);
        }
        if !self.handshake.ready {
            return self.handshake.retry_at;
        }
        let timers = [self.pacing_until, self.loss_deadline(), self.pto_deadline()];
        timers.into_iter().flatten().min()
    }

    /// A datagram arrived. ACK ranges come separately.
    pub(super) fn on_arrival(
        &mut self,
        now: u64,
        packet: &Packet,
        ack: Option<&AckFrame>,
        counters: &mut Counters,
    ) {
        self.return_rate.on_packet(now, packet.bytes);
        match packet.content {
            Content::ClientHello if !self.handshake.started => {
                self.handshake.started = true;
                self.handshake.flight_due = true;
            }
            Content::HandshakeAck => self.on_handshake_ack(now, 1),
            Content::ClientFinished => self.on_client_finished(now),
            Content::Ack { limits, sent_at, .. } if self.handshake.ready => {
                let known = &mut self.stream.limits;
                known.max_data = known.max_data.max(limits.max_data);
                known.max_stream_data = known.max_stream_data.max(limits.max_stream_data);
                self.echo = self.echo.or(sent_at);
                if let Some(frame) = ack {
                    counters.acks_received += 1;
                    self.on_ack(now, frame, counters);
                }
                self.pacing_until = Some(now);
            }
            Content::Close => self.close_reply = true,
            _ => {}
        }
    }

    fn on_handshake_ack(&mut self, now: u64, packets: usize) {
        for number in self.handshake.packets.iter_mut().take(packets).filter_map(Option::take) {
            self.path.acked(number, None);
        }
        self.finish(now, PacketSpace::Handshake, LossCause::Ack, Duration::ZERO);
    }

    fn on_client_finished(&mut self, now: u64) {
        if self.handshake.ready || !self.handshake.started || self.handshake.flight_due {
            return;
        }
        let at = instant(now);
        self.on_handshake_ack(now, 2);
        // RFC 9001 section 4.9: Initial and Handshake keys go.
        self.path.discard_space(at, PacketSpace::Initial);
        self.path.discard_space(at, PacketSpace::Handshake);
        self.path.set_handshake_ready(true);
        self.handshake.ready = true;
        self.handshake.request_at = now;
        self.pacing_until = Some(now);
        // The first packet of data carries the first ACK_FREQUENCY frame.
        self.update_ack_frequency();
        self.changed = Some(SampleKind::Ack);
    }

    fn on_ack(&mut self, now: u64, frame: &AckFrame, counters: &mut Counters) {
        let mut acked_new = false;
        for &(first, last) in frame.ranges.iter().rev() {
            let last = last.min(self.next_number.saturating_sub(1));
            let mut from = first;
            while let Some((start, end)) = self.acked.first_gap(from, last) {
                for number in start..=end {
                    acked_new |= self.mark_acked(number, counters);
                }
                self.acked.insert(start, end);
                from = end + 1;
            }
        }
        let Some(largest) = frame.ranges.last().map(|range| range.1.min(self.next_number.saturating_sub(1)))
        else {
            return;
        };
        if let Some(packet) = self.packet(largest) {
            self.loss.on_ack(now, largest, packet.sent_at);
        }
        if !acked_new {
            return;
        }
        self.probes = 0;
        self.detect_losses(now, counters);
        let delay = Duration::from_micros(frame.delay_us);
        self.finish(now, PacketSpace::Application, LossCause::Ack, delay);
        self.forget_resolved();
        self.changed = Some(SampleKind::Ack);
        self.update_ack_frequency();
    }

    /// Marks a packet acknowledged; whether it was outstanding or declared lost.
    fn mark_acked(&mut self, number: u64, counters: &mut Counters) -> bool {
        let Some(index) = number.checked_sub(self.first_number).and_then(|index| usize::try_from(index).ok())
        else {
            return false;
        };
        let Some(packet) = self.sent.get_mut(index) else { return false };
        match packet.state {
            State::Outstanding => {}
            State::Lost => counters.spurious_losses += 1,
            State::Acked | State::Hole => return false,
        }
        packet.state = State::Acked;
        let packet = *packet;
        self.path.acked(packet.path_number, None);
        if packet.length > 0 {
            self.stream.acked.insert(packet.offset, packet.offset + packet.length - 1);
        }
        if packet.bytes > self.mtu.current && packet.bytes <= self.config.mtu {
            self.set_mtu(packet.sent_at, packet.bytes, MtuChange::Discovered);
        }
        if packet.bytes == self.mtu.current {
            self.mtu.full_losses = 0;
        }
        if self.mtu.probe == Some(number) {
            self.mtu.probe_acked = true;
        }
        true
    }

    /// Declares lost, oldest first, what the thresholds say; stops at the first packet that is not.
    fn detect_losses(&mut self, now: u64, counters: &mut Counters) -> bool {
        let timer_us = self.retransmit_timer_us();
        let smoothed_us = self.path.rtt().smoothed().as_micros();
        let mut any = false;
        while let Some(packet) = self.packet(self.first_outstanding) {
            let number = self.first_outstanding;
            match packet.state {
                State::Acked | State::Lost | State::Hole => {}
                State::Outstanding => {
                    if !self.loss.is_lost(now, number, packet.sent_at, timer_us, smoothed_us) {
                        break;
                    }
                    self.declare_lost(now, number, packet, counters);
                    any = true;
                }
            }
            self.first_outstanding += 1;
        }
        any
    }

    fn declare_lost(&mut self, now: u64, number: u64, packet: SentPacket, counters: &mut Counters) {
        if let Some(index) = self.index(number) {
            self.sent[index].state = State::Lost;
        }
        counters.packets_lost += 1;
        counters.bytes_lost += packet.bytes;
        self.path.lost(packet.path_number);
        if packet.length > 0 {
            self.stream.retransmit.push_back((packet.offset, packet.length));
        }
        if packet.bytes == self.mtu.current && self.mtu.current > self.config.initial_mtu {
            self.mtu.full_losses += 1;
            if self.mtu.full_losses > MTU_LOSSES {
                self.set_mtu(now, self.config.initial_mtu, MtuChange::BlackHole);
            }
        }
    }

    fn set_mtu(&mut self, now: u64, bytes: u64, change: MtuChange) {
        self.mtu.current = bytes;
        self.mtu.full_losses = 0;
        self.path.set_max_datagram_size(instant(now), bytes, change);
    }

    fn finish(&mut self, now: u64, space: PacketSpace, cause: LossCause, ack_delay: Duration) {
        let first = !self.path.rtt().has_sample();
        self.path.finish(instant(now), FrameEnd { space, cause, ack_delay: Some(ack_delay) });
        if first
            && self.path.rtt().has_sample()
            && let Some(resume) = self.resume.take()
        {
            let hint = ResumeHint { cwnd: resume.cwnd_bytes, rtt: Duration::from_micros(resume.rtt_us) };
            self.path.resume(instant(now), &hint);
        }
    }

    fn update_ack_frequency(&mut self) {
        let rtt = self.path.rtt();
        if !rtt.has_sample() {
            return;
        }
        let snapshot = self.path.controller().snapshot();
        let inputs = ack_policy::Inputs {
            cwnd: snapshot.cwnd,
            mtu: self.mtu.current,
            min_rtt_us: rtt.min().as_micros(),
            smoothed_rtt_us: rtt.smoothed().as_micros(),
            rate: snapshot.bandwidth.map_or(0, |rate| rate.as_bytes_per_sec()),
            return_rate: self.return_rate.max,
            startup: snapshot.ssthresh.is_none() && snapshot.congestion_events == 0,
        };
        if let Some(frame) = self.requested.update(ack_policy::suited(&self.config, &inputs)) {
            self.ack_frequency = Some(frame);
        }
    }

    /// sim_model section 5.3: srtt + 3 rttvar + the peer's largest ACK delay.
    fn retransmit_timer_us(&self) -> u64 {
        let rtt = self.path.rtt();
        if !rtt.has_sample() {
            return self.config.initial_pto_us;
        }
        let timer = rtt.smoothed().plus(rtt.var().times(3)).max(rtt.latest());
        timer.as_micros() + self.config.max_ack_delay_us
    }

    fn loss_deadline(&self) -> Option<u64> {
        let packet = self.packet(self.first_outstanding)?;
        let smoothed_us = self.path.rtt().smoothed().as_micros();
        self.loss.deadline(self.first_outstanding, packet.sent_at, self.retransmit_timer_us(), smoothed_us)
    }

    /// The probe timeout runs from the newest packet in flight (sim_model section 5.7).
    fn pto_deadline(&self) -> Option<u64> {
        if self.path.bytes_in_flight() == 0 {
            return None;
        }
        let newest = self.sent.iter().rev().find(|packet| packet.state == State::Outstanding)?;
        let timer = self.loss.backed_off(self.retransmit_timer_us(), self.probes);
        Some(newest.sent_at.saturating_add(timer))
    }

    /// Runs timers and sends what may be sent at `now`.
    pub(super) fn wake(&mut self, now: u64, downlink: &mut Link, counters: &mut Counters) {
        if self.handshake.flight_due
            || self.handshake.retry_at.is_some_and(|at| at <= now && !self.handshake.ready)
        {
            self.send_flight(now, downlink, counters);
        }
        if std::mem::take(&mut self.close_reply) {
            downlink.submit(now, Packet { bytes: size::CLOSE_REPLY, content: Content::CloseReply });
        }
        if !self.handshake.ready {
            return;
        }
        if self.loss_deadline().is_some_and(|at| at <= now) && self.detect_losses(now, counters) {
            self.finish(now, PacketSpace::Application, LossCause::Timer, Duration::ZERO);
            self.forget_resolved();
            self.changed = Some(SampleKind::Loss);
        } else if self.pto_deadline().is_some_and(|at| at <= now) {
            self.send_probe(now, downlink, counters);
        }
        self.send_data(now, downlink, counters);
    }

    fn send_flight(&mut self, now: u64, downlink: &mut Link, counters: &mut Counters) {
        let again = self.handshake.retry_at.is_some();
        let backoff = self.config.initial_pto_us << self.handshake.retries.min(6);
        self.handshake.flight_due = false;
        self.handshake.retry_at = Some(now + backoff);
        self.handshake.retries += 1;
        if again {
            // Only the handshake datagrams are sent again; the path keeps the numbers of the first ones.
            downlink.submit(now, Packet { bytes: size::SERVER_HELLO, content: Content::ServerHello });
            let content = Content::ServerFinished { number: 0 };
            downlink.submit(now, Packet { bytes: size::SERVER_FINISHED, content });
            return;
        }
        let spaces = [
            (PacketSpace::Initial, INITIAL_PACKET),
            (PacketSpace::Handshake, size::SERVER_HELLO - INITIAL_PACKET),
            (PacketSpace::Handshake, size::SERVER_FINISHED - FINISHED_1RTT),
        ];
        let numbers = spaces.map(|(space, bytes)| self.register(now, space, bytes, false));
        self.handshake.packets = [numbers[1], numbers[2]];
        counters.on_sent(size::SERVER_HELLO);
        downlink.submit(now, Packet { bytes: size::SERVER_HELLO, content: Content::ServerHello });
        let number = self.record(now, FINISHED_1RTT, 0, 0);
        counters.on_sent(size::SERVER_FINISHED);
        downlink.submit(
            now,
            Packet { bytes: size::SERVER_FINISHED, content: Content::ServerFinished { number } },
        );
        let probe = self.record(now, self.config.mtu, 0, 0);
        self.mtu.probe = Some(probe);
        let data = Data { number: probe, offset: 0, length: 0, ack_frequency: None, echo: None };
        counters.on_sent(self.config.mtu);
        downlink.submit(now, Packet { bytes: self.config.mtu, content: Content::Data(data) });
        self.changed = Some(SampleKind::Sent);
    }

    /// Tells the path of a packet; `None` if its ring is full.
    fn register(&mut self, now: u64, space: PacketSpace, bytes: u64, carries_data: bool) -> Option<u64> {
        let at = instant(now);
        let packet = OutgoingPacket { space, bytes, carries_data, sent_at: at, ..OutgoingPacket::default() };
        self.path.on_packet_sent(at, &packet).ok()
    }

    /// Gives a 1-RTT packet its number and remembers it.
    fn record(&mut self, now: u64, bytes: u64, offset: u64, length: u64) -> u64 {
        if self.config.skip_packet_numbers && self.handshake.ready && self.next_number >= self.next_hole {
            self.skip_number(now);
        }
        let registered = self.register(now, PacketSpace::Application, bytes, length > 0);
        self.is_overloaded |= registered.is_none();
        let path_number = registered.unwrap_or(u64::MAX);
        let number = self.next_number;
        self.next_number += 1;
        let state = State::Outstanding;
        self.sent.push_back(SentPacket { path_number, sent_at: now, bytes, offset, length, state });
        number
    }

    /// sim_model section 7: the next hole comes 3 + U(0 .. 256 * 2^holes - 1) numbers later.
    fn skip_number(&mut self, now: u64) {
        self.holes += 1;
        self.next_hole = self.next_number + 3 + self.rng.below(256 << self.holes.min(32));
        self.next_number += 1;
        self.sent.push_back(SentPacket {
            path_number: u64::MAX,
            sent_at: now,
            bytes: 0,
            offset: 0,
            length: 0,
            state: State::Hole,
        });
    }

    /// A probe timeout: one packet with the oldest data in flight, beyond window and pacer (RFC 9002 section 6.2.4).
    /// Nothing is declared lost.
    fn send_probe(&mut self, now: u64, downlink: &mut Link, counters: &mut Counters) {
        self.probes += 1;
        let oldest = (self.first_outstanding..self.next_number)
            .filter_map(|number| self.packet(number))
            .find(|packet| packet.state == State::Outstanding && packet.length > 0);
        let (offset, length) = oldest.map_or((0, 0), |packet| {
            (packet.offset, packet.length.min(self.config.initial_mtu - self.config.overhead))
        });
        if self.mtu.current > self.config.initial_mtu {
            self.set_mtu(now, self.config.initial_mtu, MtuChange::BlackHole);
        }
        let bytes = if length == 0 { self.config.ack_size } else { length + self.config.overhead };
        self.transmit(now, bytes, offset, length, downlink, counters);
        self.changed = Some(SampleKind::Timeout);
    }

    fn send_data(&mut self, now: u64, downlink: &mut Link, counters: &mut Counters) {
        self.pacing_until = None;
        loop {
            let Some((offset, length, repeated)) = self.next_chunk() else {
                self.on_nothing_to_send(now);
                return;
            };
            let in_flight = self.path.bytes_in_flight();
            let cwnd = self.path.controller().cwnd();
            let bytes = length + self.config.overhead;
            let blocked = if self.config.may_overshoot { in_flight > cwnd } else { in_flight + bytes > cwnd };
            if blocked && !self.path.controller().may_send_beyond_cwnd() {
                self.path.note_limit(SendLimit::Cwnd);
                return;
            }
            if let Some(at) = self.paced_until(now) {
                self.path.note_limit(SendLimit::Pacer);
                self.pacing_until = Some(at);
                return;
            }
            if repeated {
                self.take_repeated(length);
            } else {
                self.stream.next_offset += length;
            }
            self.transmit(now, bytes, offset, length, downlink, counters);
            self.changed = self.changed.or(Some(SampleKind::Sent));
            if self.is_overloaded {
                return;
            }
        }
    }

    /// When the pacer allows a full packet; `None` for now. The clock ticks in microseconds.
    fn paced_until(&mut self, now: u64) -> Option<u64> {
        if !self.config.pacing {
            return None;
        }
        let departure = self.path.departure(instant(now), self.mtu.current);
        let at = departure.as_nanos().div_ceil(1_000);
        (at > now).then_some(at)
    }

    /// The next piece of stream data: what was lost first, then new data as flow control allows.
    fn next_chunk(&mut self) -> Option<(u64, u64, bool)> {
        let room = self.mtu.current - self.config.overhead;
        while let Some(&(offset, length)) = self.stream.retransmit.front() {
            // A late ACK may have made it needless.
            match self.stream.acked.first_gap(offset, offset + length - 1) {
                None => {
                    self.stream.retransmit.pop_front();
                }
                Some(_) => return Some((offset, length.min(room), true)),
            }
        }
        let limit =
            self.stream.limits.max_data.min(self.stream.limits.max_stream_data).min(self.stream.bytes);
        let length = room.min(limit.saturating_sub(self.stream.next_offset));
        (length > 0).then_some((self.stream.next_offset, length, false))
    }

    fn take_repeated(&mut self, sent: u64) {
        if let Some((offset, length)) = self.stream.retransmit.pop_front()
            && length > sent
        {
            self.stream.retransmit.push_front((offset + sent, length - sent));
        }
    }

    fn on_nothing_to_send(&mut self, now: u64) {
        if self.path.bytes_in_flight() > self.path.controller().cwnd() || self.paced_until(now).is_some() {
            return;
        }
        let finished = self.stream.next_offset >= self.stream.bytes;
        self.path.on_app_limited(instant(now));
        self.path.note_limit(if finished { SendLimit::NoData } else { SendLimit::FlowControl });
    }

    fn transmit(
        &mut self,
        now: u64,
        bytes: u64,
        offset: u64,
        length: u64,
        downlink: &mut Link,
        counters: &mut Counters,
    ) {
        let number = self.record(now, bytes, offset, length);
        let ack_frequency = self.ack_frequency.take();
        counters.on_sent(bytes);
        let echo = self.echo.take();
        let content = Content::Data(Data { number, offset, length, ack_frequency, echo });
        downlink.submit(now, Packet { bytes, content });
    }

    fn index(&self, number: u64) -> Option<usize> {
        usize::try_from(number.checked_sub(self.first_number)?).ok()
    }

    fn packet(&self, number: u64) -> Option<SentPacket> {
        self.sent.get(self.index(number)?).copied()
    }

    /// Drops packets at the front that are resolved. Lost ones stay for two timers, so that late ACKs of them are
    /// noticed.
    fn forget_resolved(&mut self) {
        let keep_us = 2 * self.retransmit_timer_us();
        while let Some(front) = self.sent.front() {
            let old = self.loss.last_ack_at().saturating_sub(front.sent_at) > keep_us;
            let done = match front.state {
                State::Acked | State::Hole => true,
                State::Lost => old,
                State::Outstanding => false,
            };
            if !done || self.first_number >= self.first_outstanding {
                break;
            }
            self.sent.pop_front();
            self.first_number += 1;
        }
    }
}

/// A path on the heap. It is 2 MiB large and built by value; a build without optimisation puts it together on the stack
/// first, more than a test thread has. So a thread with a large stack builds it.
fn boxed_path(controller: AnyController, config: PathConfig) -> Box<SimPath> {
    const STACK_BYTES: usize = 16 << 20;
    std::thread::scope(|scope| {
        std::thread::Builder::new()
            .stack_size(STACK_BYTES)
            .spawn_scoped(scope, || Box::new(Path::new(controller, config)))
            .expect("the system starts a thread")
            .join()
            .expect("building a path does not panic")
    })
}

pub(super) fn instant(us: u64) -> Instant {
    Instant::from_micros(us)
}
