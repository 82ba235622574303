//! The data sender: a QUIC-like endpoint around [`cc_core::Path`].
//!
//! It keeps what a QUIC stack keeps (packet numbers, stream data, loss detection, timers, path MTU, flow
//! control) and leaves bytes in flight, RTT, delivery rate and pacing to the path.

mod ack;
mod send;

use super::ack_policy::Requested;
use super::ecn::Validation;
use super::link::Port;
use super::loss::LossTimer;
use super::media::{Control, Sink, Source};
use super::packet::{AckFrame, AckFrequency, Content, Limits, Packet, size};
use super::ranges::Ranges;
use super::rng::SplitMix64;
use super::schedule::NEVER;
use super::{FlowCounters, PacketEvent, SampleKind};
use crate::AnyController;
use crate::scenario::{EcnUse, Endpoint, Media, Resume, Transfer};
use cc_core::{
    CongestionController, DiscardReason, Duration, EcnCounts, FrameEnd, Instant, LossCause, PacketSpace,
    Path, PathConfig, ResumeHint,
};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::ops::{Deref, DerefMut};
use std::thread::Builder;

/// Packets in flight that the path keeps track of; a run that needs more ends with an error. A path has 4 MiB for them, of which a
/// run uses what it needs.
pub(super) const MAX_IN_FLIGHT: usize = 131_072;

/// Bytes in flight up to which delivery rates are right (see [`Path`]); with packets of up to 32 KiB there cannot be more.
const MAX_BYTES_IN_FLIGHT: u64 = 1 << 32;

pub(super) type SimPath = Path<AnyController, MAX_IN_FLIGHT>;

#[derive(Debug)]
pub(super) struct Server {
    config: Endpoint,
    path: PooledPath,
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
    /// Receive timestamps of the ACK frame at hand: packet numbers, ascending, and microseconds.
    received: Vec<(u64, u64)>,
    /// Packets before this number are neither acked nor lost by now.
    first_outstanding: u64,
    loss: LossTimer,
    timers: Timers,
    stream: Stream,
    /// What is sent in the place of one stream.
    media: Option<Source>,
    mtu: Mtu,
    requested: Requested,
    ack_frequency: Option<AckFrequency>,
    /// The pacer allows the next packet at this time.
    pacing_until: Option<u64>,
    probes: u32,
    /// Whether the client's CONNECTION_CLOSE is still to be answered, and whether there ever was one.
    close_reply: bool,
    closed: bool,
    /// Whether more packets were in flight than the path keeps track of.
    is_overloaded: bool,
    /// Send time of an ack-eliciting packet of the client that is still to be acknowledged.
    echo: Option<u64>,
    changed: Option<SampleKind>,
    network_rtt_us: Option<u64>,
    return_rate: ReturnRate,
    /// For an observer who wants to know of packets.
    packet_events: Option<Vec<PacketEvent>>,
    ecn: Validation,
}

/// What the timers are set to, and what of the path they are computed from. In microseconds.
#[derive(Debug)]
struct Timers {
    /// When a packet becomes lost by time, if one waits for that, and when the probe timeout is; [`NEVER`] if not at all.
    loss_at: u64,
    probe_at: u64,
    /// sim_model section 5.3: srtt + 3 rttvar + the peer's largest ACK delay.
    retransmit_us: u64,
    smoothed_us: u64,
}

#[derive(Debug)]
struct Handshake {
    /// Whether the client hello is here.
    started: bool,
    ready: bool,
    /// When the newest client hello that is here was sent.
    hello_sent_at: u64,
    /// Path number of the Handshake packet that first carried the first part of the flight.
    first_packet: u64,
    /// Whether a packet with the first part is acknowledged.
    is_first_acked: bool,
    /// Whether the second part was sent again: the packets that first carried it, of which one is a 1-RTT packet, are lost.
    is_second_repeated: bool,
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
    /// As in [`super::packet::Data`].
    offset: u64,
    length: u64,
    /// Whether it was sent with an ECN codepoint.
    ect: bool,
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
    /// Packets that carry a second piece behind repeated data that has not filled them, ascending: number, offset and length.
    second: VecDeque<(u64, u64, u64)>,
    acked: Ranges,
    limits: Limits,
}

/// Path MTU discovery (sim_model section 5.1). A probe is wanted while `current` is below the size of the scenario;
/// at most one is in flight.
#[derive(Debug)]
struct Mtu {
    /// Size of full datagrams.
    current: u64,
    /// Number of the probe in flight.
    probe: Option<u64>,
    /// Full datagrams lost since one was acknowledged.
    full_losses: u64,
}

/// Rate at which the client's 1-RTT packets arrive: the largest over a stretch of more than a smoothed RTT.
#[derive(Debug, Default)]
struct ReturnRate {
    /// When the stretch began, with a packet that does not count.
    since: Option<u64>,
    bytes: u64,
    /// In bytes per second; 0 before the first stretch has ended.
    max: u64,
}

impl ReturnRate {
    /// No stretch is as short as this, in microseconds.
    const SHORTEST_US: u64 = 1_000;

    fn on_packet(&mut self, now: u64, bytes: u64, smoothed_rtt_us: u64) {
        let Some(since) = self.since else {
            self.since = Some(now);
            return;
        };
        self.bytes += bytes;
        let elapsed = now.saturating_sub(since);
        if elapsed > smoothed_rtt_us.max(Self::SHORTEST_US) {
            self.max = self.max.max(self.bytes.saturating_mul(1_000_000) / elapsed);
            (self.since, self.bytes) = (Some(now), 0);
        }
    }
}

impl Server {
    pub(super) fn new(
        config: &Endpoint,
        make: &(dyn Fn() -> AnyController + Sync),
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
        let mut path = PooledPath::new(make, path_config);
        let codepoint = config.ecn.codepoint(path.controller().wanted_ecn());
        if config.ecn != EcnUse::Off {
            path.set_ecn_state(instant(0), codepoint);
        }
        let timers = Timers {
            loss_at: NEVER,
            probe_at: NEVER,
            retransmit_us: config.initial_pto_us,
            smoothed_us: path.rtt().smoothed().as_micros(),
        };
        Self {
            config: *config,
            path,
            resume,
            handshake: Handshake {
                started: false,
                ready: false,
                hello_sent_at: 0,
                first_packet: u64::MAX,
                is_first_acked: false,
                is_second_repeated: false,
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
            received: Vec::new(),
            first_outstanding: 0,
            loss: LossTimer::new(config),
            timers,
            stream: Stream {
                bytes: transfer.bytes,
                next_offset: 0,
                retransmit: VecDeque::new(),
                second: VecDeque::new(),
                acked: Ranges::default(),
                limits: Limits {
                    max_data: config.initial_max_data,
                    max_stream_data: config.initial_max_stream_data,
                },
            },
            media: None,
            mtu: Mtu { current: config.initial_mtu, probe: None, full_losses: 0 },
            requested: Requested::default(),
            ack_frequency: None,
            pacing_until: None,
            probes: 0,
            close_reply: false,
            closed: false,
            is_overloaded: false,
            echo: None,
            changed: None,
            network_rtt_us: None,
            return_rate: ReturnRate::default(),
            packet_events: None,
            ecn: Validation::new(codepoint),
        }
    }

    /// The same with audio and video to send, if there is any, in the place of the bulk transfer.
    pub(super) fn with_media(mut self, media: Option<&Media>) -> Self {
        self.media = media.map(Source::new);
        self
    }

    pub(super) fn media(&self) -> Option<&Source> {
        self.media.as_ref()
    }

    /// The packet that just arrived asks `client` for audio and video, or does not want the rest.
    pub(super) fn on_control(&mut self, now: u64, packet: &Packet, client: &Sink) {
        let Some(media) = self.media.as_mut().filter(|_| self.handshake.ready) else { return };
        let control = match packet.content {
            Content::ClientFinished { .. } => Control { requests: client.first_requests(), stops: 0 },
            Content::Ack { control, .. } => control,
            _ => return,
        };
        media.on_control(now, control, client.requests(), client.stops());
        self.pacing_until = Some(now);
    }

    /// The second piece of stream data in a packet, if it has one and is not forgotten: offset and length.
    pub(super) fn second_piece(&self, number: u64) -> Option<(u64, u64)> {
        let second = &self.stream.second;
        let place = second.binary_search_by_key(&number, |&(number, ..)| number).ok()?;
        second.get(place).map(|&(_, offset, length)| (offset, length))
    }

    pub(super) fn path(&self) -> &SimPath {
        &self.path
    }

    /// Whether it sends with an ECN codepoint.
    #[cfg(test)]
    pub(super) fn uses_ecn(&self) -> bool {
        self.ecn.codepoint() != cc_core::EcnCodepoint::NotEct
    }

    /// When the request arrived, if it has.
    pub(super) fn request_at(&self) -> Option<u64> {
        self.handshake.ready.then_some(self.handshake.request_at)
    }

    /// Whether more than [`MAX_IN_FLIGHT`] packets or [`MAX_BYTES_IN_FLIGHT`] bytes were in flight: the run is void.
    pub(super) fn is_overloaded(&self) -> bool {
        self.is_overloaded
    }

    /// What changed since the last call, for observers, and the RTT of the network if an ACK frame has shown it.
    pub(super) fn take_change(&mut self) -> Option<(SampleKind, Option<u64>)> {
        let kind = self.changed.take()?;
        Some((kind, self.network_rtt_us.take()))
    }

    /// Keeps what happens to packets from now on.
    pub(super) fn watch_packets(&mut self) {
        self.packet_events = Some(Vec::new());
    }

    /// What happened to packets since the last call, if that is kept.
    pub(super) fn take_packet_events(&mut self) -> Vec<PacketEvent> {
        self.packet_events.as_mut().map(std::mem::take).unwrap_or_default()
    }

    fn note_packet(&mut self, event: impl FnOnce(&Self) -> PacketEvent) {
        if self.packet_events.is_some() {
            let event = event(self);
            self.packet_events.get_or_insert_default().push(event);
        }
    }

    /// When [`Server::wake`] is to be called; `None` for "when something arrives".
    pub(super) fn next_wake(&self) -> Option<u64> {
        if self.handshake.flight_due || self.close_reply {
            return Some(0);
        }
        if self.closed {
            return None;
        }
        if !self.handshake.ready {
            return self.handshake.retry_at;
        }
        let timers = self.timers.loss_at.min(self.timers.probe_at);
        let mut at = timers.min(self.pacing_until.unwrap_or(NEVER));
        if let Some(media) = &self.media {
            at = at.min(media.next_wake().unwrap_or(NEVER));
        }
        (at != NEVER).then_some(at)
    }

    /// A datagram arrived. ACK ranges come separately.
    pub(super) fn on_arrival(
        &mut self,
        now: u64,
        packet: &Packet,
        ack: Option<&AckFrame>,
        counters: &mut FlowCounters,
    ) {
        match packet.content {
            Content::ClientHello { sent_at } => {
                self.handshake.hello_sent_at = sent_at;
                self.handshake.flight_due |= !self.handshake.started;
                self.handshake.started = true;
            }
            Content::HandshakeAck { packet } if !self.handshake.ready => {
                self.on_handshake_ack(now, &[packet]);
                self.handshake.is_first_acked = true;
                // The client has had no use for what came with the first packet, if it has come.
                self.handshake.flight_due |= packet != self.handshake.first_packet;
            }
            Content::ClientFinished { packets } => self.on_client_finished(now, &packets),
            Content::Ack { limits, sent_at, .. } if self.handshake.ready => {
                let known = &mut self.stream.limits;
                known.max_data = known.max_data.max(limits.max_data);
                known.max_stream_data = known.max_stream_data.max(limits.max_stream_data);
                self.echo = self.echo.or(sent_at);
                if let Some(frame) = ack {
                    counters.acks_received += 1;
                    self.note_packet(|_| PacketEvent::Received {
                        bytes: packet.bytes,
                        ack_delay_us: frame.delay_us,
                        ranges: frame.ranges.clone(),
                        ecn: frame.ecn.map(EcnCounts::from),
                    });
                    self.on_ack(now, frame, counters);
                }
                self.pacing_until = Some(now);
                self.note_return_rate(now, packet.bytes);
            }
            Content::ClientProbe => self.note_return_rate(now, packet.bytes),
            Content::Close => (self.close_reply, self.closed) = (true, true),
            _ => {}
        }
        self.set_timers();
    }

    /// These Handshake packets are acknowledged. A copy has a number of its own, so that no RTT is measured from the packet that was
    /// lost (RFC 9002 section 4.3).
    fn on_handshake_ack(&mut self, now: u64, packets: &[u64]) {
        for &number in packets {
            self.path.acked(number, None);
        }
        self.finish(now, LossCause::Ack, Duration::ZERO);
        self.changed = Some(SampleKind::Ack);
    }

    fn on_client_finished(&mut self, now: u64, packets: &[u64]) {
        if self.handshake.ready || !self.handshake.started {
            return;
        }
        let at = instant(now);
        self.on_handshake_ack(now, packets);
        if self.handshake.is_second_repeated {
            self.discard_first_packet(at);
        }
        // RFC 9001 section 4.9: Initial and Handshake keys go.
        self.path.discard_space(at, PacketSpace::Initial);
        self.path.discard_space(at, PacketSpace::Handshake);
        self.path.set_handshake_ready(true);
        self.handshake.ready = true;
        self.handshake.request_at = now;
        self.pacing_until = Some(now);
        // The first packet of data carries the first ACK_FREQUENCY frame.
        self.update_ack_frequency();
        self.note_return_rate(now, size::REQUEST);
    }

    /// The 1-RTT packet of the flight is lost. Controllers ignore losses of the handshake, and are not told.
    fn discard_first_packet(&mut self, at: Instant) {
        if let Some(first) = self.sent.front_mut().filter(|packet| packet.state == State::Outstanding) {
            first.state = State::Lost;
            let number = first.path_number;
            self.path.discard(at, number, DiscardReason::KeysDiscarded);
        }
    }

    fn note_return_rate(&mut self, now: u64, bytes: u64) {
        self.return_rate.on_packet(now, bytes, self.path.rtt().smoothed().as_micros());
    }

    fn finish(&mut self, now: u64, cause: LossCause, ack_delay: Duration) {
        let first = !self.path.rtt().has_sample();
        self.path.finish(instant(now), FrameEnd { cause, ack_delay: Some(ack_delay), ..FrameEnd::default() });
        self.note_rtt();
        if first
            && self.path.rtt().has_sample()
            && let Some(resume) = self.resume.take()
        {
            let hint = ResumeHint { cwnd: resume.cwnd_bytes, rtt: Duration::from_micros(resume.rtt_us) };
            self.path.resume(instant(now), &hint);
        }
    }

    /// Runs timers and sends what may be sent at `now`.
    pub(super) fn wake(&mut self, now: u64, downlink: &mut Port<'_>, counters: &mut FlowCounters) {
        downlink.set_ecn(self.ecn.codepoint().into());
        if std::mem::take(&mut self.close_reply) {
            counters.on_sent(size::CLOSE_REPLY);
            downlink.submit(now, size::CLOSE_REPLY, Content::CloseReply);
        }
        // RFC 9000 section 10.2.2: nothing more is sent.
        if self.closed {
            return;
        }
        if !self.handshake.ready {
            if self.handshake.flight_due || self.handshake.retry_at.is_some_and(|at| at <= now) {
                self.send_flight(now, downlink, counters);
            }
            return;
        }
        self.repeat_first_packet(now, downlink, counters);
        if self.timers.loss_at <= now && self.detect_losses(now, counters) {
            self.finish(now, LossCause::Timer, Duration::ZERO);
            self.forget_resolved();
            self.changed = Some(SampleKind::Loss);
        } else if self.timers.probe_at <= now {
            self.send_probe(now, downlink, counters);
        }
        self.send_data(now, downlink, counters);
        self.set_timers();
    }

    fn index(&self, number: u64) -> Option<usize> {
        usize::try_from(number.checked_sub(self.first_number)?).ok()
    }

    fn packet(&self, number: u64) -> Option<&SentPacket> {
        self.sent.get(self.index(number)?)
    }
}

thread_local! {
    /// Paths of runs that are over. A run of a few thousand packets takes about as long as new memory for its path.
    static SPARE: RefCell<Vec<Box<SimPath>>> = const { RefCell::new(Vec::new()) };
}

/// Most paths that a thread keeps for later runs.
const MAX_SPARE: usize = 4;

/// A path whose memory is used again. Never without one but while it is dropped.
#[derive(Debug)]
struct PooledPath(Option<Box<SimPath>>);

impl PooledPath {
    fn new(make: &(dyn Fn() -> AnyController + Sync), config: PathConfig) -> Self {
        let spare = SPARE.try_with(|spare| spare.borrow_mut().pop()).ok().flatten();
        Self(Some(match spare {
            Some(mut path) => {
                path.restart(make(), config);
                path
            }
            None => boxed_path(make, config),
        }))
    }
}

impl Drop for PooledPath {
    fn drop(&mut self) {
        // At the end of a thread there may be no list any more.
        let _ = SPARE.try_with(|spare| {
            let mut spare = spare.borrow_mut();
            if spare.len() < MAX_SPARE {
                spare.extend(self.0.take());
            }
        });
    }
}

impl Deref for PooledPath {
    type Target = SimPath;

    fn deref(&self) -> &SimPath {
        self.0.as_deref().unwrap_or_else(|| unreachable!("taken when it is dropped only"))
    }
}

impl DerefMut for PooledPath {
    fn deref_mut(&mut self) -> &mut SimPath {
        self.0.as_deref_mut().unwrap_or_else(|| unreachable!("taken when it is dropped only"))
    }
}

/// A path on the heap. It is 4 MiB large and built by value; a build without optimisation puts it together on the stack
/// first, more than a test thread has. So a thread with a large stack builds it, or, if the system refuses one, the
/// caller's.
fn boxed_path(make: &(dyn Fn() -> AnyController + Sync), config: PathConfig) -> Box<SimPath> {
    const STACK_BYTES: usize = 32 << 20;
    std::thread::scope(|scope| {
        let build = || build_path(make(), config);
        match Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, build) {
            Ok(thread) => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            Err(_) => build(),
        }
    })
}

// Not in the frame of its caller, which would then need the stack whether it calls or not.
#[inline(never)]
fn build_path(controller: AnyController, config: PathConfig) -> Box<SimPath> {
    Box::write(Box::new_uninit(), Path::new(controller, config))
}

pub(super) fn instant(us: u64) -> Instant {
    Instant::from_micros(us)
}

#[cfg(test)]
mod tests;
