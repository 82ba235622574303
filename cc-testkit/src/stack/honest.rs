//! The kit's own bookkeeping: a table of all packets ever sent, and nothing clever.

use super::frame::{Delivery, Part};
use super::{Incoming, Outcome, Outgoing, Stack, Unsupported};
use crate::invariants::Checks;
use crate::subject::Family;
use cc_core::{
    AckPolicy, AckedPacket, CongestionController, DeliveryRate, DiscardReason, EcnCodepoint, EcnCounts,
    EcnEvent, INITIAL_RTT, Instant, LostPacket, MAX_DATAGRAM_SIZE, MtuChange, PacketSnapshot, PacketSpace,
    PathChange, PathRtt, PathState, PeerInstant, PersistentCongestion, ResumeHint, RttEstimator, RttEvent,
    SendLimit, SentPacket, Setup, SpuriousLoss,
};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Outstanding,
    Acked,
    Lost,
    Discarded,
    /// Not in flight, or of another path.
    Ignored,
}

#[derive(Clone, Copy, Debug)]
struct Packet {
    number: u64,
    sent_at: Instant,
    bytes: u64,
    space: PacketSpace,
    ack_eliciting: bool,
    carries_data: bool,
    snapshot: PacketSnapshot,
    state: State,
}

/// A stack that keeps every packet.
#[derive(Clone, Debug)]
pub(crate) struct Honest<C> {
    controller: C,
    packets: Vec<Packet>,
    /// All packets before are settled.
    settled: usize,
    next_number: u64,
    rtt: RttEstimator,
    first_sample_at: Option<Instant>,
    rtt_seen: bool,
    rate: DeliveryRate,
    in_flight: u64,
    max_in_flight: u64,
    idle_since: Option<Instant>,
    limited_by: SendLimit,
    app_limited_at: Option<Instant>,
    /// Last time that neither window nor pacer stopped the sender, as an ACK or the application told.
    starved_at: Option<Instant>,
    newest_data: Option<(u64, Instant)>,
    largest_acked: [Option<u64>; 3],
    /// ECN counts that came with frames that newly acked nothing, and packets acked since.
    pending_ecn: Option<(EcnCounts, u64)>,
    /// Losses of packets before this place established persistent congestion.
    period_used: usize,
    mss: u64,
    handshake_done: bool,
}

/// The packets of a frame, ascending.
#[derive(Clone, Debug, Default)]
struct Sorted {
    /// Newly acked, and whether they were lost before.
    acked: Vec<(Packet, bool)>,
    /// When each of those was received.
    received: Vec<Option<PeerInstant>>,
    lost: Vec<Packet>,
    repeated_acks: Vec<(Packet, Option<PeerInstant>)>,
    repeated_losses: Vec<Packet>,
}

const fn index(space: PacketSpace) -> usize {
    match space {
        PacketSpace::Initial => 0,
        PacketSpace::Handshake => 1,
        PacketSpace::Application => 2,
    }
}

impl<C: CongestionController + Clone> Honest<C> {
    pub(crate) fn new(controller: C, setup: &Setup, max_ack_delay: cc_core::Duration) -> Self {
        Self {
            packets: Vec::new(),
            settled: 0,
            next_number: 0,
            rtt: RttEstimator::new(setup.initial_rtt.unwrap_or(INITIAL_RTT), max_ack_delay),
            first_sample_at: None,
            rtt_seen: false,
            rate: DeliveryRate::new(controller.sampling_rule()),
            in_flight: 0,
            max_in_flight: 0,
            idle_since: None,
            limited_by: SendLimit::Unknown,
            app_limited_at: None,
            starved_at: None,
            newest_data: None,
            largest_acked: [None; 3],
            pending_ecn: None,
            period_used: 0,
            mss: setup.max_datagram_size.clamp(1, MAX_DATAGRAM_SIZE),
            handshake_done: true,
            controller,
        }
    }

    /// The controller, to be replaced by a copy that went through the same.
    pub(crate) fn controller_mut(&mut self) -> &mut C {
        &mut self.controller
    }

    /// Whether something other than window and pacer stopped the sender, as far as told, since then.
    pub(crate) fn starved_since(&self, then: Instant) -> bool {
        self.starved_at.is_some_and(|at| at >= then)
    }

    pub(crate) fn state(&self, now: Instant) -> PathState {
        PathState {
            now,
            bytes_in_flight: self.in_flight,
            prior_bytes_in_flight: self.in_flight,
            delivered: self.rate.delivered(),
            lost: self.rate.lost(),
            next_number: self.next_number,
            oldest_outstanding: self.oldest_outstanding(),
            rtt: self.rtt.as_path_rtt(),
            max_datagram_size: self.mss,
            app_limited: self.rate.is_app_limited(),
            handshake_ready: self.handshake_done,
        }
    }

    fn oldest_outstanding(&self) -> Option<u64> {
        let open = self.packets.get(self.settled..).unwrap_or(&[]);
        open.iter().find(|packet| packet.state == State::Outstanding).map(|packet| packet.number)
    }

    fn advance_settled(&mut self) {
        while self.packets.get(self.settled).is_some_and(|packet| packet.state != State::Outstanding) {
            self.settled = self.settled.saturating_add(1);
        }
    }

    /// Settles the packets of a frame and says what the controller must be told.
    pub(crate) fn prepare(&mut self, frame: &Incoming<'_>) -> Delivery {
        let now = frame.now;
        let (prior, prior_lost) = (self.in_flight, self.rate.lost());
        let Sorted { acked, received, lost, repeated_acks, repeated_losses } = self.sort_out(frame);
        let fresh: Vec<Packet> = acked.iter().filter(|(_, late)| !late).map(|(packet, _)| *packet).collect();
        let newest = fresh.last().copied();
        let rtt = newest.map(|newest| self.measure(frame, &newest, &fresh));

        // Acks and losses go to the sampler in sending order.
        let (mut acked_bytes, mut lost_bytes) = (0_u64, 0_u64);
        let mut events: Vec<(Packet, Option<bool>)> =
            acked.iter().map(|(p, late)| (*p, Some(*late))).collect();
        events.extend(lost.iter().map(|packet| (*packet, None)));
        events.sort_by_key(|(packet, _)| packet.number);
        for (packet, ack) in &events {
            let Some(late) = *ack else {
                lost_bytes = lost_bytes.saturating_add(packet.bytes);
                self.rate.on_lost(packet.bytes);
                continue;
            };
            if !late {
                acked_bytes = acked_bytes.saturating_add(packet.bytes);
            }
            let number = Some(packet.number);
            self.rate.on_acked(now, number, packet.sent_at, packet.bytes, &packet.snapshot, late);
            if packet.carries_data && self.newest_data.is_none_or(|(newest, _)| packet.number > newest) {
                self.newest_data = Some((packet.number, packet.sent_at));
            }
            if let Some(largest) = self.largest_acked.get_mut(index(packet.space)) {
                *largest = (*largest).max(number);
            }
        }
        let rate_sample = self.rate.finish_frame(now);
        self.in_flight = prior.saturating_sub(acked_bytes.saturating_add(lost_bytes));
        self.note_idle(now);
        self.advance_settled();

        let persistent = frame.persistent || self.is_persistent(&lost);
        if persistent && !lost.is_empty() {
            // RFC 9002 section 5.2.
            self.rtt.restart_min(rtt.is_some_and(|rtt| rtt.is_sample));
        }
        self.collect_ecn(frame.ecn, u64::try_from(acked.len()).unwrap_or(u64::MAX));
        let counts = if newest.is_some() { self.pending_ecn.take() } else { None };
        let ecn = newest.zip(counts).map(|(newest, (counts, newly_acked))| EcnEvent {
            space: newest.space,
            ce: Some(counts.ce),
            ect0: Some(counts.ect0),
            ect1: Some(counts.ect1),
            newly_acked: Some(newly_acked),
            largest_acked: Some(newest.number),
            largest_acked_sent_at: newest.sent_at,
        });
        let mut delivery = Delivery {
            state: PathState { prior_bytes_in_flight: prior, lost: prior_lost, ..self.state(now) },
            newly_lost: lost_bytes,
            ecn,
            rtt,
            losses: lost.iter().map(|packet| self.lost_entry(packet)).collect(),
            cause: frame.cause,
            persistent: persistent && !lost.is_empty(),
            spurious: acked.iter().filter(|(_, late)| *late).map(|(p, _)| spurious(p)).collect(),
            acks: acked
                .iter()
                .zip(&received)
                .map(|((packet, late), received)| acked_entry(packet, *received, *late, self.mss))
                .collect(),
            rate_sample,
            limited_by: self.limited_by,
            max_bytes_in_flight: self.max_in_flight,
            app_limited_at: self.app_limited_at,
            newest_data_sent_at: self.newest_data.map(|(_, sent_at)| sent_at),
            force_ack: false,
        };
        if !delivery.acks.is_empty() {
            self.max_in_flight = self.in_flight;
            if !matches!(self.limited_by, SendLimit::Cwnd | SendLimit::Pacer | SendLimit::Unknown) {
                self.starved_at = Some(now);
            }
        }
        // What is forced on the controller is no part of the bookkeeping.
        delivery.acks.extend(
            repeated_acks.iter().map(|(packet, received)| acked_entry(packet, *received, false, self.mss)),
        );
        delivery.losses.extend(repeated_losses.iter().map(|packet| self.lost_entry(packet)));
        delivery.acks.sort_by_key(|packet| packet.number);
        delivery.losses.sort_by_key(|packet| packet.number);
        delivery.force_ack = frame.forced && delivery.losses.is_empty();
        delivery
    }

    /// After the controller was told of a frame.
    pub(crate) fn conclude(&mut self) {
        if self.controller.marks_app_limited() {
            self.rate.on_app_limited(self.in_flight);
        }
    }

    /// What the frame says that is new, and what is only repeated.
    fn sort_out(&mut self, frame: &Incoming<'_>) -> Sorted {
        let mut sorted = Sorted::default();
        for id in frame.acked {
            let received = frame.received_at(*id);
            match self.packets.get_mut(*id) {
                Some(packet) if matches!(packet.state, State::Outstanding | State::Lost) => {
                    sorted.acked.push((*packet, packet.state == State::Lost));
                    sorted.received.push(received);
                    packet.state = State::Acked;
                }
                Some(packet) => sorted.repeated_acks.push((*packet, received)),
                None => sorted.repeated_acks.push((self.never_sent(*id, frame.now), received)),
            }
        }
        for id in frame.lost {
            match self.packets.get_mut(*id) {
                Some(packet) if packet.state == State::Outstanding => {
                    packet.state = State::Lost;
                    sorted.lost.push(*packet);
                }
                Some(packet) => sorted.repeated_losses.push(*packet),
                None => sorted.repeated_losses.push(self.never_sent(*id, frame.now)),
            }
        }
        if !frame.forced {
            sorted.repeated_acks.clear();
            sorted.repeated_losses.clear();
        }
        sorted
    }

    /// Marks of a frame that newly acks nothing come with the next one that does.
    fn collect_ecn(&mut self, counts: Option<EcnCounts>, acked: u64) {
        if let Some(more) = counts {
            let (sum, _) = self.pending_ecn.get_or_insert_default();
            sum.ce = sum.ce.saturating_add(more.ce);
            sum.ect0 = sum.ect0.saturating_add(more.ect0);
            sum.ect1 = sum.ect1.saturating_add(more.ect1);
        }
        if let Some((_, packets)) = &mut self.pending_ecn {
            *packets = packets.saturating_add(acked);
        }
    }

    fn measure(&mut self, frame: &Incoming<'_>, newest: &Packet, fresh: &[Packet]) -> RttEvent {
        let now = frame.now;
        let delay = frame.delay.map(|delay| self.rtt.usable_ack_delay(delay, self.handshake_done));
        let named =
            frame.acked.iter().filter_map(|id| self.packets.get(*id)).map(|packet| packet.number).max();
        let largest = self.largest_acked.get(index(newest.space)).copied().flatten();
        // RFC 9002 section 5.1.
        let is_largest = named.is_none_or(|named| named == newest.number)
            && largest.is_none_or(|largest| newest.number > largest);
        let is_sample =
            is_largest && newest.sent_at <= now && fresh.iter().any(|packet| packet.ack_eliciting);
        let latest = now.since(newest.sent_at);
        if is_sample {
            self.rtt.update(latest, delay.unwrap_or_default(), self.handshake_done);
            self.first_sample_at = self.first_sample_at.or(Some(now));
        }
        let is_first = !std::mem::replace(&mut self.rtt_seen, true);
        RttEvent { space: newest.space, latest, ack_delay: delay, is_sample, is_first }
    }

    /// RFC 9002 section 7.6, over all packets from the first loss since the last ack before this frame's losses to the
    /// last one lost by the frame. A period is used once.
    fn is_persistent(&mut self, lost: &[Packet]) -> bool {
        let (Some(first), Some(last)) = (lost.first(), lost.last()) else { return false };
        let mut check = PersistentCongestion::new(&self.rtt, self.first_sample_at);
        let mut from = self.packets.partition_point(|packet| packet.number < first.number);
        while let Some(before) = from.checked_sub(1).filter(|before| *before >= self.period_used)
            && self.packets.get(before).is_some_and(|packet| packet.state != State::Acked)
        {
            from = before;
        }
        for packet in self.packets.iter().skip(from).take_while(|packet| packet.number <= last.number) {
            match packet.state {
                State::Lost => check.lost(packet.sent_at, packet.ack_eliciting),
                State::Acked => check.acked(),
                State::Outstanding | State::Discarded | State::Ignored => {}
            }
        }
        if check.established() {
            self.period_used = self.packets.partition_point(|packet| packet.number <= last.number);
        }
        check.established()
    }

    fn lost_entry(&self, packet: &Packet) -> LostPacket {
        let before = self
            .packets
            .get(..self.packets.partition_point(|other| other.number < packet.number))
            .and_then(|before| before.iter().rev().find(|other| other.state != State::Ignored));
        LostPacket {
            number: Some(packet.number),
            space: packet.space,
            sent_at: packet.sent_at,
            bytes: packet.bytes,
            snapshot: Some(packet.snapshot),
            starts_run: Some(before.is_none_or(|before| before.state != State::Lost)),
        }
    }

    /// A packet of a full datagram, with the number that it will get if all before it are in flight.
    fn never_sent(&self, id: usize, now: Instant) -> Packet {
        let ahead = u64::try_from(id.saturating_sub(self.packets.len())).unwrap_or(u64::MAX);
        Packet {
            number: self.next_number.saturating_add(ahead),
            sent_at: now,
            bytes: self.mss,
            space: PacketSpace::Application,
            ack_eliciting: true,
            carries_data: true,
            snapshot: PacketSnapshot::default(),
            state: State::Ignored,
        }
    }

    fn note_idle(&mut self, now: Instant) {
        if self.in_flight == 0 && self.rate.delivered() > 0 {
            self.idle_since = self.idle_since.or(Some(now));
        }
    }
}

/// A sum that does not wrap, whatever sizes a script has.
pub(crate) fn sum(bytes: impl Iterator<Item = u64>) -> u64 {
    bytes.fold(0, u64::saturating_add)
}

fn spurious(packet: &Packet) -> SpuriousLoss {
    SpuriousLoss::Packet { number: Some(packet.number), sent_at: packet.sent_at, bytes: packet.bytes }
}

fn acked_entry(packet: &Packet, received_at: Option<PeerInstant>, late: bool, mss: u64) -> AckedPacket {
    let packets = packet.bytes.checked_div(mss).unwrap_or(1).max(1);
    AckedPacket {
        number: Some(packet.number),
        space: packet.space,
        sent_at: packet.sent_at,
        bytes: packet.bytes,
        // More than a datagram: the entry stands for several.
        packets: Some(u32::try_from(packets).unwrap_or(u32::MAX)),
        received_at,
        snapshot: Some(packet.snapshot),
        was_lost: late,
    }
}

impl<C: CongestionController + Clone> Stack for Honest<C> {
    type Controller = C;

    fn controller(&self) -> &C {
        &self.controller
    }
    fn in_flight(&self) -> u64 {
        self.in_flight
    }
    fn delivered(&self) -> u64 {
        self.rate.delivered()
    }
    fn lost(&self) -> u64 {
        self.rate.lost()
    }
    fn next_number(&self) -> u64 {
        self.next_number
    }
    fn rtt(&self) -> Option<PathRtt> {
        self.rtt.as_path_rtt()
    }

    fn send(&mut self, now: Instant, out: &Outgoing) -> Result<(), Unsupported> {
        let mut packet = Packet {
            number: self.next_number,
            sent_at: now,
            bytes: out.bytes,
            space: out.space,
            ack_eliciting: out.ack_eliciting,
            carries_data: out.carries_data,
            snapshot: PacketSnapshot::default(),
            state: State::Ignored,
        };
        let prior = self.in_flight;
        if out.in_flight {
            if prior == 0
                && let Some(since) = self.idle_since.take()
            {
                let state = self.state(now);
                self.controller.on_idle_restart(&state, now.since(since));
            }
            let unknown = self.limited_by == SendLimit::Unknown && out.space != PacketSpace::Application;
            if unknown || self.controller.marks_app_limited() {
                self.rate.on_app_limited(prior);
            }
            self.in_flight = prior.saturating_add(out.bytes);
            self.max_in_flight = self.max_in_flight.max(self.in_flight);
            packet.snapshot = self.rate.on_sent(now, prior, self.in_flight);
            packet.state = State::Outstanding;
            self.next_number = self.next_number.saturating_add(1);
        }
        self.packets.push(packet);
        let event = SentPacket {
            number: packet.number,
            space: packet.space,
            bytes: packet.bytes,
            in_flight: out.in_flight,
            sent_at: now,
            carries_data: packet.carries_data,
        };
        let state = PathState { prior_bytes_in_flight: prior, ..self.state(now) };
        self.controller.on_packet_sent(&state, &event);
        Ok(())
    }

    fn receive(&mut self, frame: &Incoming<'_>) -> Result<Outcome, Unsupported> {
        let delivery = self.prepare(frame);
        let calls = delivery.deliver(&mut self.controller, Part::CANONICAL);
        self.conclude();
        Ok(Outcome {
            acked: sum(delivery.acks.iter().filter(|packet| !packet.was_lost).map(|packet| packet.bytes)),
            lost: sum(delivery.losses.iter().map(|packet| packet.bytes)),
            late: sum(delivery.acks.iter().filter(|packet| packet.was_lost).map(|packet| packet.bytes)),
            persistent: delivery.persistent,
            oldest_lost: delivery.losses.first().and_then(|packet| packet.number),
            newest_lost: delivery.losses.last().and_then(|packet| packet.number),
            newest_acked: delivery.ecn.and_then(|ecn| ecn.largest_acked),
            marks: delivery.ecn.map_or(0, |ecn| ecn.marks()),
            calls,
        })
    }

    fn discard(&mut self, now: Instant, packets: &[usize], reason: DiscardReason) {
        let prior = self.in_flight;
        let mut bytes = 0_u64;
        for id in packets {
            if let Some(packet) = self.packets.get_mut(*id)
                && packet.state == State::Outstanding
            {
                packet.state = State::Discarded;
                bytes = bytes.saturating_add(packet.bytes);
            }
        }
        if bytes == 0 {
            return;
        }
        self.in_flight = prior.saturating_sub(bytes);
        self.rate.on_discarded(bytes);
        self.note_idle(now);
        self.advance_settled();
        let state = PathState { prior_bytes_in_flight: prior, ..self.state(now) };
        self.controller.on_discarded(&state, bytes, reason);
    }

    fn all_spurious(&mut self, now: Instant) -> Result<(), Unsupported> {
        let state = self.state(now);
        self.controller.on_spurious_loss(&state, &SpuriousLoss::All);
        Ok(())
    }

    fn set_mtu(&mut self, now: Instant, bytes: u64, change: MtuChange) {
        self.mss = bytes.clamp(1, MAX_DATAGRAM_SIZE);
        let state = self.state(now);
        self.controller.on_mtu_update(&state, change);
    }

    fn change_path(&mut self, now: Instant, change: PathChange) {
        let prior = self.in_flight;
        if change == PathChange::New {
            for packet in &mut self.packets {
                packet.state = State::Ignored;
            }
            self.settled = self.packets.len();
            self.rtt = RttEstimator::new(INITIAL_RTT, self.rtt.max_ack_delay());
            self.first_sample_at = None;
            self.rtt_seen = false;
            self.rate.reset_reference();
            self.in_flight = 0;
            self.max_in_flight = 0;
            self.idle_since = None;
            self.limited_by = SendLimit::Unknown;
            self.app_limited_at = None;
            self.starved_at = None;
            self.newest_data = None;
            self.largest_acked = [None; 3];
            self.pending_ecn = None;
        }
        let state = PathState { prior_bytes_in_flight: prior, ..self.state(now) };
        self.controller.on_path_change(&state, change);
    }

    fn resume(&mut self, now: Instant, hint: &ResumeHint) {
        let state = self.state(now);
        self.controller.on_resume_hint(&state, hint);
    }

    fn app_limited(&mut self, now: Instant) {
        // The window is the limit then.
        if self.in_flight >= self.controller.cwnd() {
            return;
        }
        self.limited_by = SendLimit::NoData;
        self.app_limited_at = Some(now);
        self.starved_at = Some(now);
        self.rate.on_app_limited(self.in_flight);
        let state = self.state(now);
        self.controller.on_app_limited(&state);
    }

    fn set_policy(&mut self, now: Instant, policy: &AckPolicy) {
        self.rtt.set_max_ack_delay(policy.max_ack_delay);
        let state = self.state(now);
        self.controller.on_ack_policy(&state, policy);
    }

    fn set_ecn(&mut self, now: Instant, codepoint: EcnCodepoint) {
        let state = self.state(now);
        self.controller.on_ecn_state(&state, codepoint);
    }

    fn set_handshake(&mut self, done: bool) {
        self.handshake_done = done;
    }

    fn set_limit(&mut self, limit: SendLimit) {
        self.limited_by = limit;
    }

    fn examine(&self, frame: &Incoming<'_>, family: Family, checks: Checks) -> Result<(), String> {
        self.examine_frame(frame, family, checks)
    }
}
