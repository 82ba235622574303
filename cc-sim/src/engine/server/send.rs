//! Sending: the handshake flight, data, probes, packet numbers.

use super::{MAX_BYTES_IN_FLIGHT, SentPacket, Server, State, instant};
use crate::engine::link::Port;
use crate::engine::packet::{Content, Data, size};
use crate::engine::{FlowCounters, PacketEvent, SampleKind};
use cc_core::{CongestionController, MtuChange, OutgoingPacket, PacketSpace, SendLimit};

/// Packets of the server's first flight, in bytes (sim_model section 5.2): Initial and Handshake share the first
/// datagram, Handshake and 1-RTT the second.
const INITIAL_PACKET: u64 = 184;
const FINISHED_1RTT: u64 = 222;
/// What a second STREAM frame takes beside its data, in bytes: its type, stream ID and offset (4), and the length of the frame
/// before it (2), which no longer ends with the packet.
const SECOND_FRAME: u64 = 1 + 1 + 4 + 2;
const FINISHED_HANDSHAKE: u64 = size::SERVER_FINISHED - FINISHED_1RTT;

impl Server {
    /// Sends the handshake flight, or again the first part of it that is not acknowledged; the timer doubles each time.
    pub(super) fn send_flight(&mut self, now: u64, downlink: &mut Port<'_>, counters: &mut FlowCounters) {
        let again = self.handshake.retry_at.is_some();
        let backoff = self.config.initial_pto_us << self.handshake.retries.min(6);
        self.handshake.flight_due = false;
        self.handshake.retry_at = Some(now + backoff);
        self.handshake.retries += 1;
        if again && self.handshake.is_first_acked {
            self.handshake.is_second_repeated = true;
            let packet = self.register_handshake(now, FINISHED_HANDSHAKE);
            let finished = Content::ServerFinished { packet, number: None };
            self.send_handshake(now, FINISHED_HANDSHAKE, finished, downlink, counters);
            return;
        }
        self.register(now, PacketSpace::Initial, INITIAL_PACKET, false);
        let first = self.register_handshake(now, size::SERVER_HELLO - INITIAL_PACKET);
        let hello = Content::ServerHello { hello_sent_at: self.handshake.hello_sent_at, packet: first };
        if again {
            self.send_handshake(now, size::SERVER_HELLO, hello, downlink, counters);
            return;
        }
        self.handshake.first_packet = first;
        let packet = self.register_handshake(now, FINISHED_HANDSHAKE);
        self.send_handshake(now, size::SERVER_HELLO, hello, downlink, counters);
        let number = Some(self.record(now, FINISHED_1RTT, 0, 0));
        let finished = Content::ServerFinished { packet, number };
        self.send_handshake(now, size::SERVER_FINISHED, finished, downlink, counters);
        if self.wants_mtu_probe() {
            self.send_mtu_probe(now, downlink, counters);
        }
    }

    fn send_handshake(
        &mut self,
        now: u64,
        bytes: u64,
        content: Content,
        downlink: &mut Port<'_>,
        counters: &mut FlowCounters,
    ) {
        counters.on_sent(bytes);
        downlink.submit(now, bytes, content);
        self.changed = Some(SampleKind::Sent);
    }

    fn register_handshake(&mut self, now: u64, bytes: u64) -> u64 {
        self.register(now, PacketSpace::Handshake, bytes, false).unwrap_or(u64::MAX)
    }

    /// What the flight's 1-RTT packet carried, in a packet of its own if that was lost.
    pub(super) fn repeat_first_packet(
        &mut self,
        now: u64,
        downlink: &mut Port<'_>,
        counters: &mut FlowCounters,
    ) {
        if std::mem::take(&mut self.handshake.is_second_repeated) {
            self.transmit(now, FINISHED_1RTT, 0, 0, downlink, counters);
            // The probe timeout counts from this packet on, not from those of the flight.
            self.set_timers();
        }
    }

    /// Tells the path of a packet; `None` if its ring is full.
    #[inline(always)]
    pub(super) fn register(
        &mut self,
        now: u64,
        space: PacketSpace,
        bytes: u64,
        carries_data: bool,
    ) -> Option<u64> {
        let at = instant(now);
        let packet = OutgoingPacket { space, bytes, carries_data, sent_at: at, ..OutgoingPacket::default() };
        self.path.on_packet_sent(at, &packet).ok()
    }

    /// Gives a 1-RTT packet its number and remembers it.
    #[inline(always)]
    pub(super) fn record(&mut self, now: u64, bytes: u64, offset: u64, length: u64) -> u64 {
        if self.config.skip_packet_numbers && self.handshake.ready && self.next_number >= self.next_hole {
            self.skip_number(now);
        }
        let registered = self.register(now, PacketSpace::Application, bytes, length > 0);
        self.is_overloaded |= registered.is_none() || self.path.bytes_in_flight() >= MAX_BYTES_IN_FLIGHT;
        let path_number = registered.unwrap_or(u64::MAX);
        let number = self.next_number;
        self.next_number += 1;
        let state = State::Outstanding;
        let ect = self.ecn.on_sent();
        self.sent.push_back(SentPacket { path_number, sent_at: now, bytes, offset, length, ect, state });
        number
    }

    /// sim_model section 7: the next hole comes 3 + U(0 .. 256 * 2^holes - 1) numbers later.
    pub(super) fn skip_number(&mut self, now: u64) {
        self.holes += 1;
        self.next_hole = self.next_number + 3 + self.rng.below(256 << self.holes.min(32));
        self.next_number += 1;
        self.sent.push_back(SentPacket {
            path_number: u64::MAX,
            sent_at: now,
            bytes: 0,
            offset: 0,
            length: 0,
            ect: false,
            state: State::Hole,
        });
    }

    /// A probe timeout: one packet with the oldest data in flight, beyond window and pacer (RFC 9002 section 6.2.4).
    /// Nothing is declared lost.
    pub(super) fn send_probe(&mut self, now: u64, downlink: &mut Port<'_>, counters: &mut FlowCounters) {
        self.probes += 1;
        let oldest = (self.first_outstanding..self.next_number)
            .filter_map(|number| self.packet(number))
            .find(|packet| packet.state == State::Outstanding && packet.length > 0)
            .copied();
        let room = self.config.initial_mtu - self.config.overhead;
        let (offset, length) = match (&mut self.media, oldest) {
            (_, None) => (0, 0),
            (None, Some(packet)) => (packet.offset, packet.length.min(room)),
            (Some(media), Some(packet)) => media.repeat(packet.offset, room).unwrap_or((0, 0)),
        };
        if self.mtu.current > self.config.initial_mtu {
            self.set_mtu(now, self.config.initial_mtu, MtuChange::BlackHole);
        }
        let bytes = if length == 0 { self.config.ack_size } else { length + self.config.overhead };
        self.transmit(now, bytes, offset, length, downlink, counters);
        self.changed = Some(SampleKind::Timeout);
    }

    pub(super) fn send_data(&mut self, now: u64, downlink: &mut Port<'_>, counters: &mut FlowCounters) {
        self.pacing_until = None;
        if let Some(media) = &mut self.media {
            media.advance(now);
        }
        loop {
            let Some((mut offset, mut length, repeated)) = self.next_chunk() else {
                self.on_nothing_to_send(now);
                return;
            };
            let in_flight = self.path.bytes_in_flight();
            let cwnd = self.path.controller().cwnd();
            // A probe goes before data that would profit from it (sim_model section 5.5: window and pacer apply).
            let probes_mtu = self.wants_mtu_probe();
            let second = if repeated && !probes_mtu { self.second_chunk(length) } else { None };
            let bytes = match second {
                _ if probes_mtu => self.config.mtu,
                None => length + self.config.overhead,
                Some((_, second, _)) => length + SECOND_FRAME + second + self.config.overhead,
            };
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
            if probes_mtu {
                self.send_mtu_probe(now, downlink, counters);
            } else if let Some(second) = second {
                self.take_repeated(length);
                let (second_offset, second_length) = self.take_second(second);
                let number = self.transmit(now, bytes, offset, length, downlink, counters);
                self.stream.second.push_back((number, second_offset, second_length));
            } else {
                if let Some(media) = &mut self.media {
                    let room = self.mtu.current - self.config.overhead;
                    let Some(packet) = media.fill(now, room, self.stream.limits.max_data) else { return };
                    (offset, length) = packet;
                } else if repeated {
                    self.take_repeated(length);
                } else {
                    self.stream.next_offset += length;
                }
                self.transmit(now, length + self.config.overhead, offset, length, downlink, counters);
            }
            self.changed = self.changed.or(Some(SampleKind::Sent));
            if self.is_overloaded {
                return;
            }
        }
    }

    pub(super) fn wants_mtu_probe(&self) -> bool {
        self.mtu.current < self.config.mtu && self.mtu.probe.is_none()
    }

    fn send_mtu_probe(&mut self, now: u64, downlink: &mut Port<'_>, counters: &mut FlowCounters) {
        let probe = self.transmit(now, self.config.mtu, 0, 0, downlink, counters);
        self.mtu.probe = Some(probe);
    }

    /// When the pacer allows a full packet; `None` for now. The clock ticks in microseconds.
    #[inline(always)]
    pub(super) fn paced_until(&mut self, now: u64) -> Option<u64> {
        if !self.config.pacing {
            return None;
        }
        let departure = self.path.departure(instant(now), self.mtu.current);
        let at = departure.as_nanos().div_ceil(1_000);
        (at > now).then_some(at)
    }

    /// The next piece of stream data: what was lost first, then new data as flow control allows.
    pub(super) fn next_chunk(&mut self) -> Option<(u64, u64, bool)> {
        let room = self.mtu.current - self.config.overhead;
        if let Some(media) = &mut self.media {
            // How much it will be is known when the packet is put together; a full one at most.
            return media.has_data(self.stream.limits.max_data).then_some((0, room, false));
        }
        while let Some(&(offset, length)) = self.stream.retransmit.front() {
            // A late ACK may have made it needless.
            match self.stream.acked.first_gap(offset, offset + length - 1) {
                None => {
                    self.stream.retransmit.pop_front();
                }
                Some(_) => return Some((offset, length.min(room), true)),
            }
        }
        let length = room.min(self.sendable().saturating_sub(self.stream.next_offset));
        (length > 0).then_some((self.stream.next_offset, length, false))
    }

    /// What fills a packet with `length` bytes of repeated data, if there is room left: what was lost next, or new data. Offset, length
    /// and whether it is repeated.
    fn second_chunk(&self, length: u64) -> Option<(u64, u64, bool)> {
        let room = (self.mtu.current - self.config.overhead).saturating_sub(length + SECOND_FRAME);
        if room == 0 || self.media.is_some() {
            return None;
        }
        let is_wanted = |&&(offset, length): &&(u64, u64)| {
            self.stream.acked.first_gap(offset, offset + length - 1).is_some()
        };
        if let Some(&(offset, length)) = self.stream.retransmit.iter().skip(1).find(is_wanted) {
            return Some((offset, length.min(room), true));
        }
        let length = room.min(self.sendable().saturating_sub(self.stream.next_offset));
        (length > 0).then_some((self.stream.next_offset, length, false))
    }

    /// Takes the second piece, `chunk`, once the first is taken; its offset and length.
    fn take_second(&mut self, (offset, length, repeated): (u64, u64, bool)) -> (u64, u64) {
        if repeated {
            while self.stream.retransmit.front().is_some_and(|&(first, _)| first != offset) {
                self.stream.retransmit.pop_front();
            }
            self.take_repeated(length);
        } else {
            self.stream.next_offset += length;
        }
        (offset, length)
    }

    /// Up to where flow control and the end of the data allow it to send.
    fn sendable(&self) -> u64 {
        let stream = &self.stream;
        stream.limits.max_data.min(stream.limits.max_stream_data).min(stream.bytes)
    }

    pub(super) fn take_repeated(&mut self, sent: u64) {
        if let Some((offset, length)) = self.stream.retransmit.pop_front()
            && length > sent
        {
            self.stream.retransmit.push_front((offset + sent, length - sent));
        }
    }

    pub(super) fn on_nothing_to_send(&mut self, now: u64) {
        if self.path.bytes_in_flight() > self.path.controller().cwnd() || self.paced_until(now).is_some() {
            return;
        }
        let finished = match &self.media {
            Some(media) => !media.is_blocked(),
            None => self.stream.next_offset >= self.stream.bytes,
        };
        self.path.on_app_limited(instant(now));
        self.path.note_limit(if finished { SendLimit::NoData } else { SendLimit::FlowControl });
    }

    /// Sends a 1-RTT packet with stream data, if `length` is not 0; its number.
    fn transmit(
        &mut self,
        now: u64,
        bytes: u64,
        offset: u64,
        length: u64,
        downlink: &mut Port<'_>,
        counters: &mut FlowCounters,
    ) -> u64 {
        let number = self.record(now, bytes, offset, length);
        self.note_packet(|server| {
            let is_mtu_probe = bytes > server.mtu.current;
            let ecn = server.ecn.codepoint();
            PacketEvent::Sent { number, bytes, offset, length, is_mtu_probe, ecn }
        });
        let ack_frequency = self.ack_frequency.take();
        counters.on_sent(bytes);
        let echo = self.echo.take();
        let content = Content::Data(Data { number, offset, length, ack_frequency, echo });
        downlink.submit(now, bytes, content);
        number
    }
}
