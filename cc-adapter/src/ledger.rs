//! A controller and the books that its stack does not hand over.

use crate::frame::{Acked, Frame};
use crate::recent_min::RecentMin;
use cc_core::{
    AckEvent, AckPolicy, AckedPacket, CongestionController, DeliveryRate, DiscardReason, Duration, EcnEvent,
    INITIAL_RTT, Instant, LossCause, LossEvent, LostPacket, MtuChange, PacketSnapshot, PacketSpace,
    PathChange, PathRtt, PathState, RateSample, RttEstimator, RttEvent, SendLimit, SentPacket, SpuriousLoss,
};

/// The least that pacing is taken to let through in one RTT, in datagrams: what every controller's window holds.
const MIN_WINDOW_DATAGRAMS: u64 = 2;

/// What of an RTT above the minimum passes for variation in [`Ledger::window_for_rate`], in RTT variations: what a probe timeout allows for
/// (RFC 9002 section 6.2.1).
const VARIATIONS: u64 = 4;
/// What is taken from the rest of it, a queue: one in so many. A minimum that is too low then costs an eighth of the rate at
/// most, which is less than the gains with which BBR and C4 search.
const QUEUE_SHARE: u64 = 8;

/// A controller, and what it must be told that the stack does not say.
///
/// The calls of one ACK frame are collected ([`on_acked`](Self::on_acked), [`on_lost`](Self::on_lost), [`on_ecn`](Self::on_ecn),
/// [`on_rtt`](Self::on_rtt), in any order, all with the same time) and delivered by [`commit`](Self::commit) in the order of the
/// contract. Every call that is not a part of a frame commits what was collected first; so does a part with another time.
/// An adapter commits before it reads an output.
///
/// Nothing here panics, whatever is called: counters saturate, acks and losses of packets never seen are taken as they come.
#[derive(Clone, Debug)]
pub struct Ledger<C> {
    controller: C,
    /// Whether the controller uses rate samples.
    samples: bool,
    sampler: DeliveryRate,
    rtt: RttEstimator,
    /// The stack's own statistics, for a stack that says all of them.
    given_rtt: Option<PathRtt>,
    recent_min_rtt: RecentMin,
    rtt_seen: bool,
    /// Send time of the newest packet acked so far, not later than its ack. No stack says whether it carried data; that it was
    /// ack-eliciting is as near as it gets (an algorithm that never saw any would take itself for application-limited for ever).
    newest_acked_sent_at: Option<Instant>,
    /// Time of the newest call.
    now: Instant,
    max_datagram_size: u64,
    next_number: u64,
    bytes_in_flight: u64,
    /// Largest flight since the last ack.
    max_bytes_in_flight: u64,
    /// When the flight became empty, if something had been acked before.
    idle_since: Option<Instant>,
    app_limited_at: Option<Instant>,
    handshake_ready: bool,
    frame: Frame,
}

/// What became of a packet that was sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sent {
    /// Its number in the path's sequence.
    pub number: u64,
    /// Delivery state with it, to come back with its ack or loss; `None` for a controller that uses none
    /// ([`uses_rate_samples`](CongestionController::uses_rate_samples)).
    pub snapshot: Option<PacketSnapshot>,
}

impl<C: CongestionController> Ledger<C> {
    /// Nothing was sent yet. The controller must have been made for that datagram size.
    #[must_use]
    pub fn new(controller: C, now: Instant, max_datagram_size: u64) -> Self {
        Self {
            samples: controller.uses_rate_samples(),
            sampler: DeliveryRate::new(controller.sampling_rule()),
            rtt: RttEstimator::new(INITIAL_RTT, Duration::ZERO),
            given_rtt: None,
            recent_min_rtt: RecentMin::default(),
            rtt_seen: false,
            newest_acked_sent_at: None,
            now,
            max_datagram_size,
            next_number: 0,
            bytes_in_flight: 0,
            max_bytes_in_flight: 0,
            idle_since: None,
            app_limited_at: None,
            handshake_ready: true,
            frame: Frame::default(),
            controller,
        }
    }

    /// The controller. Parts of a frame that are not committed are not in it.
    #[must_use]
    pub const fn controller(&self) -> &C {
        &self.controller
    }

    /// Time of the newest call.
    #[must_use]
    pub const fn now(&self) -> Instant {
        self.now
    }

    /// Bytes in flight, as far as the stack lets one know.
    #[must_use]
    pub const fn bytes_in_flight(&self) -> u64 {
        self.bytes_in_flight
    }

    /// Current maximum datagram size in bytes.
    #[must_use]
    pub const fn max_datagram_size(&self) -> u64 {
        self.max_datagram_size
    }

    /// The path's RTT; `None` before the first sample.
    #[must_use]
    pub fn path_rtt(&self) -> Option<PathRtt> {
        self.given_rtt.or_else(|| self.rtt.as_path_rtt())
    }

    /// `smoothed_rtt`; the initial RTT of RFC 9002 before the first sample.
    #[must_use]
    pub fn smoothed_rtt(&self) -> Duration {
        self.path_rtt().map_or(INITIAL_RTT, |rtt| rtt.smoothed)
    }

    /// A packet, or several that left together, was handed to the network at `now` to leave at `sent_at`. `bytes` count in flight.
    pub fn on_sent(&mut self, now: Instant, sent_at: Instant, bytes: u64, space: PacketSpace) -> Sent {
        self.commit();
        self.now = now;
        if self.bytes_in_flight == 0
            && let Some(since) = self.idle_since.take()
        {
            let state = self.state();
            self.controller.on_idle_restart(&state, now.since(since));
        }
        let prior_bytes_in_flight = self.bytes_in_flight;
        let bytes_in_flight = prior_bytes_in_flight.saturating_add(bytes);
        if self.controller.marks_app_limited() {
            self.sampler.on_app_limited(prior_bytes_in_flight);
        }
        let snapshot =
            self.samples.then(|| self.sampler.on_sent(sent_at, prior_bytes_in_flight, bytes_in_flight));
        let number = self.next_number;
        self.next_number = number.saturating_add(1);
        self.bytes_in_flight = bytes_in_flight;
        self.max_bytes_in_flight = self.max_bytes_in_flight.max(bytes_in_flight);
        let state = PathState { prior_bytes_in_flight, ..self.state() };
        let packet = SentPacket { number, space, bytes, in_flight: true, sent_at, carries_data: true };
        self.controller.on_packet_sent(&state, &packet);
        Sent { number, snapshot }
    }

    /// An ACK frame begins, or goes on. `limit` is asked once, at its beginning, what stopped the last attempt to send before it.
    pub fn on_acks_begin(&mut self, now: Instant, limit: impl FnOnce(&Self) -> SendLimit) {
        if self.frame.acks_complete {
            self.commit();
        }
        self.open(now, Some(LossCause::Ack));
        if self.frame.limited_by.is_none() {
            self.frame.limited_by = Some(limit(self));
        }
    }

    /// A part of a frame: packets were newly acked.
    ///
    /// Packets that left together may be one entry: it is added to the entry before if that has the same send time and no number.
    #[inline]
    pub fn on_acked(&mut self, now: Instant, packet: &AckedPacket) {
        if self.frame.acks_complete {
            self.commit();
        }
        self.open(now, Some(LossCause::Ack));
        match self.frame.acked.last_mut() {
            Some(last)
                if last.sent_at == packet.sent_at && last.number.is_none() && packet.number.is_none() =>
            {
                last.bytes = last.bytes.saturating_add(packet.bytes);
                last.packets = last.packets.zip(packet.packets).map(|(a, b)| a.saturating_add(b));
                last.snapshot = packet.snapshot.or(last.snapshot);
            }
            _ => self.frame.acked.push(*packet),
        }
    }

    /// A part of a frame: its acks are complete, and `bytes_in_flight` is what is left of the flight before any losses. From
    /// here on the flight is what the stack says.
    pub fn on_acks_complete(&mut self, now: Instant, bytes_in_flight: u64) {
        if self.frame.acks_complete {
            self.commit();
        }
        self.open(now, Some(LossCause::Ack));
        self.frame.acks_complete = true;
        self.frame.in_flight_after_acks = Some(bytes_in_flight);
    }

    /// A part of a frame: the stack's RTT statistics changed with the ack of the packet sent at `sent_at`. A stack that calls it for
    /// every sample is believed; for others the RTT is measured here.
    pub fn on_rtt(&mut self, now: Instant, sent_at: Instant, rtt: &PathRtt) {
        self.open(now, Some(LossCause::Ack));
        self.frame.sampled_at = Some(sent_at);
        self.given_rtt = Some(*rtt);
        self.recent_min_rtt.add(now, rtt.latest);
    }

    /// A part of a frame: packets were declared lost. `alone` is what that comes from if no part of an ACK frame came before.
    pub fn on_lost(&mut self, now: Instant, packet: &LostPacket, alone: Option<LossCause>) {
        self.open(now, alone);
        self.frame.lost.push(*packet);
    }

    /// The losses told last establish persistent congestion.
    pub fn on_persistent_congestion(&mut self, now: Instant) {
        self.open(now, None);
        self.frame.persistent_congestion = true;
    }

    /// A part of a frame: CE marks.
    pub fn on_ecn(&mut self, now: Instant, ecn: &EcnEvent) {
        self.open(now, Some(LossCause::Ack));
        self.frame.ecn = Some(*ecn);
    }

    /// Delivers the frame that was collected, if there is one.
    #[inline]
    pub fn commit(&mut self) {
        if self.frame.open {
            self.deliver();
        }
    }

    /// A packet declared lost was acked after all, or all of the last losses were.
    pub fn on_spurious_loss(&mut self, spurious: &SpuriousLoss) {
        self.commit();
        let state = self.state();
        self.controller.on_spurious_loss(&state, spurious);
    }

    /// `bytes` left the network without being acked or lost.
    pub fn on_discarded(&mut self, bytes: u64, reason: DiscardReason) {
        self.commit();
        let prior_bytes_in_flight = self.bytes_in_flight;
        self.bytes_in_flight = prior_bytes_in_flight.saturating_sub(bytes);
        self.sampler.on_discarded(bytes);
        self.note_idle(self.now);
        let state = PathState { prior_bytes_in_flight, ..self.state() };
        self.controller.on_discarded(&state, bytes, reason);
    }

    /// No data was left when the last packet was sent, for a stack that says so then.
    pub fn on_app_limited(&mut self, now: Instant) {
        self.commit();
        self.now = now;
        self.note_app_limited();
    }

    /// Packets sent now are to count as application-limited, without anybody having said so: those of the handshake, whose
    /// flights are small.
    pub fn hold_back(&mut self) {
        self.sampler.on_app_limited(self.bytes_in_flight);
    }

    /// Whether the handshake has finished. It counts as finished until this says otherwise.
    pub const fn set_handshake_ready(&mut self, ready: bool) {
        self.handshake_ready = ready;
    }

    /// Whether the handshake has finished, as far as anybody said.
    #[must_use]
    pub const fn is_handshake_ready(&self) -> bool {
        self.handshake_ready
    }

    /// Whether a part of a frame was collected and is not delivered yet.
    #[must_use]
    pub const fn is_frame_open(&self) -> bool {
        self.frame.open
    }

    /// The maximum datagram size changed.
    pub fn on_mtu_update(&mut self, bytes: u64) {
        // A frame may be open: the stack reports what it learnt from it in the middle of it. The size is in force for all of it.
        let change =
            if bytes < self.max_datagram_size { MtuChange::BlackHole } else { MtuChange::Discovered };
        self.max_datagram_size = bytes;
        let state = self.state();
        self.controller.on_mtu_update(&state, change);
    }

    /// The peer's ACK policy changed.
    pub fn on_ack_policy(&mut self, policy: &AckPolicy) {
        self.commit();
        let state = self.state();
        self.controller.on_ack_policy(&state, policy);
    }

    /// Only the peer's port changed, and the stack starts to count a new flight.
    pub fn on_rebinding(&mut self, now: Instant) {
        self.commit();
        self.now = now;
        let prior_bytes_in_flight = std::mem::take(&mut self.bytes_in_flight);
        self.max_bytes_in_flight = 0;
        self.note_idle(now);
        let state = PathState { prior_bytes_in_flight, ..self.state() };
        self.controller.on_path_change(&state, PathChange::Rebinding);
    }

    /// What stopped the last attempt to send, for a stack that says no more than whether data was left, and which tests
    /// the flight against `window` bytes.
    #[must_use]
    pub fn limit(&self, app_limited: bool, window: u64) -> SendLimit {
        if app_limited {
            SendLimit::NoData
        } else if self.bytes_in_flight.saturating_add(self.max_datagram_size) > window {
            if window < self.controller.cwnd() { SendLimit::Pacer } else { SendLimit::Cwnd }
        } else {
            SendLimit::Unknown
        }
    }

    /// A window in bytes that stands for both window and pacing rate, for a stack that does not pace at a rate it is told: the rate
    /// acts on the bytes in flight, `min(cwnd, rate * rtt)`, the product rounded up to whole datagrams. A pacer sends two and
    /// a half datagrams in a round trip if that is the rate; in a window only two would fit, and a gain of a quarter be lost.
    ///
    /// The RTT is the smoothed one, less an eighth of what exceeds the least of the last 5 to 10 s by more than four RTT variations. That
    /// is taken for a queue: a window that granted all of it would keep whatever queue there is, for ever if the rate is that of
    /// the bottleneck. The crate's documentation says what was measured.
    ///
    /// The rate lets one send quantum through in any case, as a pacer does, and two datagrams at least. Where the controller
    /// allows one packet beyond its window (RFC 9002 section 7.3.2), there is room for that.
    #[must_use]
    pub fn window_for_rate(&self) -> u64 {
        let cwnd = self.controller.cwnd();
        let window = match (self.controller.pacing_rate(), self.path_rtt()) {
            (Some(rate), Some(rtt)) => {
                let datagram = self.max_datagram_size.max(1);
                let burst = MIN_WINDOW_DATAGRAMS.saturating_mul(datagram);
                let burst = self.controller.send_quantum().max(burst);
                let paced = rate.bytes_in(self.rtt_for_rate(&rtt)).max(burst);
                if paced >= cwnd { cwnd } else { cwnd.min(paced.div_ceil(datagram).saturating_mul(datagram)) }
            }
            _ => cwnd,
        };
        self.with_permission(window)
    }

    /// The time for which a rate is granted in a window.
    fn rtt_for_rate(&self, rtt: &PathRtt) -> Duration {
        let least = self.recent_min_rtt.get().unwrap_or(rtt.min);
        let without_queue = least.plus(rtt.var.times(VARIATIONS));
        let queue = rtt.smoothed.minus(without_queue);
        rtt.smoothed.minus(queue.divided_by(QUEUE_SHARE))
    }

    /// The window in bytes, for a stack that paces at the controller's rate. Where the controller allows one packet beyond it
    /// (RFC 9002 section 7.3.2), there is room for that.
    #[must_use]
    pub fn window(&self) -> u64 {
        self.with_permission(self.controller.cwnd())
    }

    fn with_permission(&self, window: u64) -> u64 {
        if self.controller.may_send_beyond_cwnd() {
            window.max(self.bytes_in_flight.saturating_add(self.max_datagram_size))
        } else {
            window
        }
    }

    fn open(&mut self, now: Instant, cause: Option<LossCause>) {
        if self.frame.open && self.frame.now != now {
            self.commit();
        }
        if !self.frame.open {
            self.frame.start(now, cause);
        }
        self.now = now;
    }

    #[inline(never)]
    fn deliver(&mut self) {
        // First, so that a controller that panics is not told the frame again.
        self.frame.open = false;
        let now = self.frame.now;
        self.now = now;
        let Acked { newly_acked, late_acked, newest } = self.frame.acked();
        let acked = newly_acked.saturating_add(late_acked);
        let after_acks =
            self.frame.in_flight_after_acks.unwrap_or_else(|| self.bytes_in_flight.saturating_sub(acked));
        self.correct_flight(after_acks.saturating_add(acked));
        let limited_by = self.frame.limited_by.unwrap_or_default();
        if limited_by == SendLimit::NoData {
            self.note_app_limited();
        }

        let prior_bytes_in_flight = self.bytes_in_flight;
        let prior_lost = self.sampler.lost();
        let rtt = self.take_rtt(newest);
        let newest = newest.map(|(sent_at, _)| sent_at.min(now));
        self.newest_acked_sent_at = self.newest_acked_sent_at.max(newest);
        let mut lost: u64 = 0;
        for packet in &self.frame.lost {
            lost = lost.saturating_add(packet.bytes);
            self.sampler.on_lost(packet.bytes);
        }
        if self.frame.persistent_congestion {
            self.restart_min_rtt(rtt.is_some_and(|rtt| rtt.is_sample));
        }
        let rate_sample = if self.samples {
            self.sample(now)
        } else {
            self.sampler.count_frame(newly_acked, late_acked);
            None
        };
        self.bytes_in_flight = after_acks.saturating_sub(lost);
        self.note_idle(now);

        let mut state = PathState { prior_bytes_in_flight, lost: prior_lost, ..self.state() };
        if let Some(ecn) = &self.frame.ecn {
            self.controller.on_ecn(&state, ecn);
        }
        if let Some(rtt) = &rtt {
            self.controller.on_rtt(&state, rtt);
        }
        if !self.frame.lost.is_empty() {
            let loss = LossEvent {
                packets: &self.frame.lost,
                last: true,
                persistent_congestion: self.frame.persistent_congestion,
                cause: self.frame.cause,
            };
            self.controller.on_loss(&state, &loss);
            state.lost = state.lost.saturating_add(lost);
        }
        if !self.frame.acked.is_empty() {
            let ack = AckEvent {
                packets: &self.frame.acked,
                last: true,
                rate_sample,
                limited_by,
                max_bytes_in_flight: self.max_bytes_in_flight,
                app_limited_at: self.app_limited_at,
                newest_data_sent_at: self.newest_acked_sent_at,
            };
            self.controller.on_ack(&state, &ack);
            self.max_bytes_in_flight = self.bytes_in_flight;
        }
        if self.controller.marks_app_limited() {
            self.sampler.on_app_limited(self.bytes_in_flight);
        }
    }

    /// The rate sample of the frame.
    fn sample(&mut self, now: Instant) -> Option<RateSample> {
        for packet in &self.frame.acked {
            let snapshot = packet.snapshot.unwrap_or_default();
            self.sampler.on_acked(
                now,
                packet.number,
                packet.sent_at,
                packet.bytes,
                &snapshot,
                packet.was_lost,
            );
        }
        self.sampler.finish_frame(now)
    }

    /// The flight before the frame was really `bytes`: what was counted too much (ACK-only packets) was in the largest flight too.
    fn correct_flight(&mut self, bytes: u64) {
        let excess = self.bytes_in_flight.saturating_sub(bytes);
        self.bytes_in_flight = bytes;
        self.max_bytes_in_flight = self.max_bytes_in_flight.saturating_sub(excess).max(bytes);
    }

    /// Before the frame, no data was left to send. Ignored if the window was full then, which is the limit
    /// (draft-ietf-ccwg-bbr, "Detecting application-limited phases").
    fn note_app_limited(&mut self) {
        if self.bytes_in_flight >= self.controller.cwnd() {
            return;
        }
        self.app_limited_at = Some(self.now);
        self.sampler.on_app_limited(self.bytes_in_flight);
        let state = self.state();
        self.controller.on_app_limited(&state);
    }

    /// Now less the send time of the newest packet newly acked. A sample only if that was sent later than any acked before: it is the
    /// largest then (RFC 9002 section 5.1).
    fn take_rtt(&mut self, newest: Option<(Instant, PacketSpace)>) -> Option<RttEvent> {
        if self.given_rtt.is_some() {
            return self.take_given_rtt(newest);
        }
        let (sent_at, space) = newest?;
        let now = self.frame.now;
        let is_newer = self.newest_acked_sent_at.is_none_or(|before| sent_at > before);
        let is_sample = is_newer && sent_at <= now;
        let latest = now.since(sent_at);
        if is_sample {
            self.rtt.update(latest, Duration::ZERO, true);
            self.recent_min_rtt.add(now, latest);
        }
        let is_first = !std::mem::replace(&mut self.rtt_seen, true);
        Some(RttEvent { space, latest, ack_delay: None, is_sample, is_first })
    }

    /// Persistent congestion: the minimum starts again with the newest sample (RFC 9002 section 5.2), which is that of the frame, if
    /// it has one.
    fn restart_min_rtt(&mut self, has_sample: bool) {
        self.rtt.restart_min(has_sample);
        let newest = self.path_rtt().filter(|_| has_sample).map(|rtt| rtt.latest);
        self.recent_min_rtt.restart(self.frame.now, newest);
    }

    fn take_given_rtt(&mut self, newest: Option<(Instant, PacketSpace)>) -> Option<RttEvent> {
        let sent_at = self.frame.sampled_at.or(newest.map(|(sent_at, _)| sent_at))?;
        let is_first = !std::mem::replace(&mut self.rtt_seen, true);
        Some(RttEvent {
            space: newest.map_or(PacketSpace::default(), |(_, space)| space),
            latest: self.frame.now.since(sent_at),
            ack_delay: None,
            is_sample: self.frame.sampled_at.is_some(),
            is_first,
        })
    }

    fn note_idle(&mut self, now: Instant) {
        if self.bytes_in_flight == 0 && self.sampler.delivered() > 0 {
            self.idle_since = self.idle_since.or(Some(now));
        }
    }

    fn state(&self) -> PathState {
        PathState {
            now: self.now,
            bytes_in_flight: self.bytes_in_flight,
            prior_bytes_in_flight: self.bytes_in_flight,
            delivered: self.sampler.delivered(),
            lost: self.sampler.lost(),
            next_number: self.next_number,
            oldest_outstanding: None,
            rtt: self.path_rtt(),
            max_datagram_size: self.max_datagram_size,
            app_limited: self.sampler.is_app_limited(),
            handshake_ready: self.handshake_ready,
        }
    }
}

#[cfg(test)]
mod tests;
