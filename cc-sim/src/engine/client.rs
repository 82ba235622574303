//! The data receiver: handshake, ACK policy, flow-control windows that grow, close.
//!
//! A plain receiver: its ACKs leave when they are due and are not paced.

use super::ecn::{Counts, Ecn};
use super::link::Port;
use super::media::{self, Control, Piece, Sink};
use super::packet::{AckFrequency, AckStore, Content, Data, Limits, Packet, size};
use super::ranges::Ranges;
use super::receive_ts::Arrivals;
use super::rng::SplitMix64;
use super::schedule::NEVER;
use crate::scenario::{Endpoint, Media, Transfer};

/// Packets per ACK at the start, and until the sender asks for another number (sim_model section 5.6).
const QUICK_ACK_GAP: u64 = 2;

#[derive(Debug)]
pub(super) struct Client {
    config: Endpoint,
    bytes: u64,
    start_us: u64,
    phase: Phase,
    /// When the handshake or close message is sent again, and how often it was.
    retry_at: Option<u64>,
    retries: u32,
    /// Numbers of the Handshake packets that brought the two parts of the server's flight.
    handshake_packets: [u64; 2],
    /// Smallest round-trip time, from the handshake and from ACKs of what it sent later.
    min_rtt_us: Option<u64>,
    /// Whether datagrams are due that an arrival has triggered.
    due: Due,
    acks: AckState,
    /// Arrival times to be reported, if that was negotiated.
    arrivals: Option<Arrivals>,
    rng: SplitMix64,
    stream: Ranges,
    received: u64,
    limits: Limits,
    media: Option<Sink>,
    /// What the sender was asked for, and when that is done again.
    asked: Asked,
}

/// What of [`Control`] is sent, as packets after the handshake have it.
#[derive(Debug, Default)]
struct Asked {
    control: Control,
    sent_at: u64,
    /// `None` if the sender has acknowledged it.
    retry_at: Option<u64>,
    retries: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Not started.
    Idle,
    /// The client hello is out.
    Hello,
    /// The whole server flight is here, no data yet.
    Requested,
    /// Data arrives.
    Receiving,
    /// All data is here, CONNECTION_CLOSE is out.
    Closing,
    Closed,
}

#[derive(Clone, Copy, Debug, Default)]
struct Due {
    handshake_ack: bool,
    finished: bool,
    close: bool,
    limits: bool,
    control: bool,
}

#[derive(Debug)]
struct AckState {
    received: Ranges,
    /// Packets of all spaces, for the quick-ACK phase.
    packets: u64,
    gap: u64,
    delay_us: u64,
    /// Largest number acknowledged so far. Starts at 0 as in the model, so that the first ACK waits for the delay.
    largest_acked: u64,
    largest_arrived_at: u64,
    oldest_pending_at: Option<u64>,
    immediate: bool,
    /// ECN counts of the 1-RTT packets, and the ECN field of the newest of them.
    ecn: Counts,
    last_ecn: Ecn,
}

impl Client {
    pub(super) fn new(config: &Endpoint, transfer: &Transfer, seed: u64) -> Self {
        let arrivals = config.receive_timestamps.map(|field| Arrivals::new(field, config.receiver_clock));
        Self {
            config: *config,
            bytes: transfer.bytes,
            start_us: transfer.start_us,
            phase: Phase::Idle,
            retry_at: None,
            retries: 0,
            handshake_packets: [0; 2],
            min_rtt_us: None,
            due: Due::default(),
            acks: AckState {
                received: Ranges::default(),
                packets: 0,
                gap: QUICK_ACK_GAP,
                delay_us: config.min_ack_delay_us,
                largest_acked: 0,
                largest_arrived_at: 0,
                oldest_pending_at: None,
                immediate: false,
                ecn: Counts::default(),
                last_ecn: Ecn::NotEct,
            },
            arrivals,
            rng: SplitMix64::new(seed),
            stream: Ranges::default(),
            received: 0,
            limits: Limits {
                max_data: config.initial_max_data,
                max_stream_data: config.initial_max_stream_data,
            },
            media: None,
            asked: Asked::default(),
        }
    }

    /// The same with audio and video to ask for, if there is any, in the place of the bulk transfer.
    pub(super) fn with_media(mut self, media: Option<&Media>) -> Self {
        self.media = media.map(Sink::new);
        self
    }

    pub(super) fn media(&self) -> Option<&Sink> {
        self.media.as_ref()
    }

    pub(super) fn is_closed(&self) -> bool {
        self.phase == Phase::Closed
    }

    /// Whether all data has arrived.
    pub(super) fn is_complete(&self) -> bool {
        self.media.as_ref().map_or(self.received >= self.bytes, Sink::is_complete)
    }

    /// Bytes of stream data that have arrived.
    pub(super) fn received(&self) -> u64 {
        self.received
    }

    /// When [`Client::wake`] is to be called; `None` for "when something arrives".
    pub(super) fn next_wake(&self) -> Option<u64> {
        if self.phase == Phase::Idle {
            return Some(self.start_us);
        }
        let due = self.due;
        if due.handshake_ack || due.finished || due.close || due.limits || due.control || self.acks.immediate
        {
            return Some(0);
        }
        let mut at = self.ack_deadline().unwrap_or(NEVER).min(self.retry_at.unwrap_or(NEVER));
        if let Some(media) = self.media.as_ref().filter(|_| self.is_asking()) {
            let ask_again = self.asked.retry_at.unwrap_or(NEVER);
            at = at.min(media.next_wake().unwrap_or(NEVER)).min(ask_again);
        }
        (at != NEVER).then_some(at)
    }

    /// A datagram arrived.
    pub(super) fn on_arrival(&mut self, now: u64, packet: &Packet) {
        match packet.content {
            Content::ServerHello { hello_sent_at, packet } => {
                self.acks.packets += 2;
                self.min_rtt_us.get_or_insert(now - hello_sent_at);
                // A copy is acknowledged too while the second part is not here: the server then repeats that.
                if self.phase == Phase::Hello {
                    self.handshake_packets[0] = packet;
                    self.due.handshake_ack = true;
                }
            }
            Content::ServerFinished { packet: handshake_packet, number } => {
                self.acks.packets += 1 + u64::from(number.is_some());
                // Without the first part of the flight it can not be read.
                if self.min_rtt_us.is_some() {
                    if self.phase == Phase::Hello {
                        self.phase = Phase::Requested;
                        self.handshake_packets[1] = handshake_packet;
                        self.due.finished = true;
                        if let Some(media) = &mut self.media {
                            media.start(now);
                            self.asked.control = media.control();
                        }
                    }
                    if let Some(number) = number {
                        self.on_number(now, number, packet.ecn);
                    }
                }
            }
            Content::Data(data) => {
                if self.phase == Phase::Hello || self.phase == Phase::Idle {
                    return; // no keys yet
                }
                self.acks.packets += 1;
                if let (Some(min), Some(sent_at)) = (self.min_rtt_us.as_mut(), data.echo) {
                    *min = (*min).min(now - sent_at);
                    if sent_at >= self.asked.sent_at {
                        self.asked.retry_at = None;
                    }
                }
                self.on_number(now, data.number, packet.ecn);
                self.on_data(&data);
            }
            Content::CloseReply => self.phase = Phase::Closed,
            _ => {}
        }
    }

    fn on_number(&mut self, now: u64, number: u64, ecn: Ecn) {
        let acks = &mut self.acks;
        if acks.received.insert(number, number) == 0 {
            return;
        }
        acks.ecn.add(ecn);
        // RFC 9000 section 13.2.1; the first of several in a row is enough (draft-ietf-quic-ack-frequency, "Expediting Explicit
        // Congestion Notification (ECN) Signals").
        acks.immediate |= ecn == Ecn::Ce && acks.last_ecn != Ecn::Ce;
        acks.last_ecn = ecn;
        // The ranges of four frames are remembered; older ones are never acknowledged again.
        let remembered = usize::try_from(self.config.max_ack_ranges.saturating_mul(4)).unwrap_or(usize::MAX);
        acks.received.keep_highest(remembered);
        if acks.received.max() == Some(number) {
            acks.largest_arrived_at = now;
        }
        acks.oldest_pending_at.get_or_insert(now);
        let gap = if acks.packets < self.config.quick_ack_packets { QUICK_ACK_GAP } else { acks.gap };
        acks.immediate |= number >= acks.largest_acked + gap;
        if let (Some(arrivals), Some(config)) = (&mut self.arrivals, self.config.receive_timestamps)
            && !self.rng.chance(config.missing_ppm)
        {
            arrivals.push(now, number);
        }
    }

    fn on_data(&mut self, data: &Data) {
        if let Some(AckFrequency { gap, delay_us }) = data.ack_frequency {
            self.acks.gap = gap;
            self.acks.delay_us = delay_us;
        }
        if data.length == 0 {
            return;
        }
        if self.phase == Phase::Requested {
            self.phase = Phase::Receiving;
            self.retry_at = None;
        }
        if self.media.is_some() {
            return; // what the pieces of the packet say
        }
        self.received += self.stream.insert(data.offset, data.offset + data.length - 1);
        self.note_data();
    }

    /// More stream data of the packet that just arrived.
    pub(super) fn on_second_piece(&mut self, offset: u64, length: u64) {
        if matches!(self.phase, Phase::Receiving | Phase::Closing) {
            self.received += self.stream.insert(offset, offset + length - 1);
            self.note_data();
        }
    }

    /// The pieces of the packet that just arrived.
    pub(super) fn on_pieces(&mut self, now: u64, pieces: impl Iterator<Item = Piece>) {
        let Some(media) = &mut self.media else { return };
        let stops = media.control().stops;
        pieces.for_each(|piece| media.on_piece(now, &piece));
        self.received = media.received();
        self.due.control |= media.control().stops > stops;
        self.note_data();
    }

    fn note_data(&mut self) {
        if self.is_complete() && self.phase == Phase::Receiving {
            self.phase = Phase::Closing;
            self.acks.immediate = true;
            self.due.close = true;
        }
        self.grow_limits();
    }

    /// sim_model section 5.9: a limit grows once more than half of it is used.
    fn grow_limits(&mut self) {
        let used = self.received.saturating_mul(2);
        if used <= self.limits.max_data.min(self.limits.max_stream_data) {
            return;
        }
        let rtt_us = self.min_rtt_us.unwrap_or(0);
        // In parts of 100 000 of the limit: two limits, or one per 100 ms (100 000 us) of RTT.
        let increase = if rtt_us <= 100_000 { 200_000 } else { rtt_us.min(self.config.max_growth_rtt_us) };
        for limit in [&mut self.limits.max_data, &mut self.limits.max_stream_data] {
            if used > *limit {
                *limit = limit.saturating_add(limit.saturating_mul(increase) / 100_000);
            }
        }
        self.due.limits |= !self.is_complete();
    }

    /// Whether there may be something to ask for, or to ask for again.
    fn is_asking(&self) -> bool {
        matches!(self.phase, Phase::Requested | Phase::Receiving)
    }

    fn ack_deadline(&self) -> Option<u64> {
        self.acks.oldest_pending_at.map(|oldest| oldest.saturating_add(self.acks.delay_us))
    }

    /// Sends what is due at `now`.
    pub(super) fn wake(&mut self, now: u64, uplink: &mut Port<'_>, store: &mut AckStore) {
        if let Some(media) = &mut self.media
            && matches!(self.phase, Phase::Requested | Phase::Receiving)
        {
            self.due.control |= media.ask(now) || self.asked.retry_at.is_some_and(|at| at <= now);
        }
        let due = std::mem::take(&mut self.due);
        if self.phase == Phase::Idle {
            self.phase = Phase::Hello;
            uplink.submit(now, size::CLIENT_HELLO, Content::ClientHello { sent_at: now });
            self.arm_retry(now);
        }
        if due.finished {
            self.send_finished(now, uplink);
            if self.config.mtu > self.config.initial_mtu {
                uplink.submit(now, self.config.mtu, Content::ClientProbe);
            }
            self.retries = 0;
            self.arm_retry(now);
        } else if due.handshake_ack {
            let content = Content::HandshakeAck { packet: self.handshake_packets[0] };
            uplink.submit(now, size::HANDSHAKE_ACK, content);
        }
        let pending = self.ack_deadline().is_some_and(|deadline| deadline <= now);
        if self.acks.immediate || pending || due.limits || due.control {
            let asks = if due.control { self.ask(now) } else { 0 };
            self.send_ack(now, asks, due.limits || due.control, uplink, store);
        }
        if due.close {
            uplink.submit(now, size::CLOSE, Content::Close);
            self.retries = 0;
            self.arm_retry(now);
        }
        if self.retry_at.is_some_and(|at| at <= now) {
            self.retry(now, uplink);
        }
    }

    /// Sends what is asked for with the packet that follows: its bytes.
    fn ask(&mut self, now: u64) -> u64 {
        let control = self.media.as_ref().map(Sink::control).unwrap_or_default();
        let before = self.asked.control;
        self.asked.retries = if control == before { self.asked.retries + 1 } else { 0 };
        let wait_us = self.config.initial_pto_us << self.asked.retries.min(6);
        self.asked.retry_at = Some(now.saturating_add(wait_us));
        (self.asked.control, self.asked.sent_at) = (control, now);
        // Asked for again, it is the newest request, say.
        let requests = u64::from(control.requests - before.requests);
        let stops = u64::from(control.stops - before.stops);
        (requests * media::REQUEST + stops * media::STOP_SENDING).max(media::STOP_SENDING)
    }

    fn send_finished(&self, now: u64, uplink: &mut Port<'_>) {
        let content = Content::ClientFinished { packets: self.handshake_packets };
        uplink.submit(now, self.finished_bytes(), content);
    }

    /// Bytes of the end of the TLS flight with the requests for all streams, or that for the bulk transfer.
    fn finished_bytes(&self) -> u64 {
        match &self.media {
            None => size::CLIENT_FINISHED,
            Some(media) => {
                size::CLIENT_FINISHED - size::BULK_REQUEST
                    + u64::from(media.first_requests()) * media::REQUEST
            }
        }
    }

    fn send_ack(
        &mut self,
        now: u64,
        asks: u64,
        is_eliciting: bool,
        uplink: &mut Port<'_>,
        store: &mut AckStore,
    ) {
        let acks = &mut self.acks;
        acks.immediate = false;
        acks.oldest_pending_at = None;
        let Some(largest) = acks.received.max() else { return };
        acks.largest_acked = largest;
        let slot = store.put(acks.received.as_slice(), now - acks.largest_arrived_at);
        if self.config.report_ecn && acks.ecn.any() {
            store.set_ecn(slot, acks.ecn);
        }
        let mut bytes = self.config.ack_size + asks;
        if let Some(arrivals) = &self.arrivals {
            let field = store.timestamps(slot);
            arrivals.encode(largest, self.config.initial_mtu.saturating_sub(bytes), field);
            bytes += field.bytes();
        }
        let (limits, control) = (self.limits, self.asked.control);
        let content = Content::Ack { slot, limits, control, sent_at: is_eliciting.then_some(now) };
        if !uplink.submit(now, bytes, content) {
            store.release(slot);
        }
    }

    fn arm_retry(&mut self, now: u64) {
        let base = match (self.phase, self.min_rtt_us) {
            // A lost close is given up after three probe timeouts.
            (Phase::Closing, Some(rtt)) => 3 * (2 * rtt + self.config.max_ack_delay_us),
            (_, Some(rtt)) => self.config.initial_pto_us.max(2 * rtt),
            (_, None) => self.config.initial_pto_us,
        };
        let backoff = base << self.retries.min(6);
        self.retry_at = Some(now + backoff);
    }

    fn retry(&mut self, now: u64, uplink: &mut Port<'_>) {
        self.retries += 1;
        match self.phase {
            Phase::Hello => {
                uplink.submit(now, size::CLIENT_HELLO, Content::ClientHello { sent_at: now });
            }
            Phase::Requested => self.send_finished(now, uplink),
            Phase::Closing => self.phase = Phase::Closed,
            _ => {}
        }
        self.arm_retry(now);
    }
}

#[cfg(test)]
mod tests;
