//! The delivery-rate sampler (draft-ietf-ccwg-bbr, "Delivery Rate Samples") and the variant of C4.

use crate::{Duration, Instant, PacketSnapshot, RateSample, SamplingRule};

/// Counts delivered and lost bytes, stores a [`PacketSnapshot`] with every packet, and turns the snapshot of
/// the newest packet of each frame into a raw [`RateSample`].
///
/// Per frame: [`on_acked`](Self::on_acked) for each newly acked packet, ascending, and
/// [`on_lost`](Self::on_lost) for the lost ones, in any order; then [`finish_frame`](Self::finish_frame). Where no sample is wanted: [`on_lost`](Self::on_lost), and
/// [`count_frame`](Self::count_frame) once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DeliveryRate {
    rule: SamplingRule,
    /// `C.delivered`.
    delivered: u64,
    /// `C.lost`.
    lost: u64,
    reference: Reference,
    /// `C.app_limited`: an application-limited phase has left the pipe once more than this is delivered.
    bubble: Option<u64>,
    frame: Frame,
}

/// What packets remember when they are sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Reference {
    /// Delivered total at the last accepted sample; not used under [`SamplingRule::LastAck`].
    delivered: u64,
    /// `C.delivered_time`, or the time of the last accepted sample.
    at: Option<Instant>,
    /// `C.first_send_time`, or the send time of the packet of the last accepted sample.
    sent_at: Instant,
}

/// Sums of the frame being processed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Frame {
    newest: Option<Newest>,
    newly_acked: u64,
    newly_lost: u64,
    late_acked: u64,
}

/// Bytes of a whole frame.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FrameSums {
    pub(crate) newly_acked: u64,
    pub(crate) newly_lost: u64,
    pub(crate) late_acked: u64,
}

/// The most recently sent packet of a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Newest<S = PacketSnapshot> {
    pub(crate) number: Option<u64>,
    pub(crate) sent_at: Instant,
    pub(crate) snapshot: S,
    pub(crate) was_lost: bool,
}

impl DeliveryRate {
    /// A sampler that has seen nothing and follows `rule`
    /// ([`CongestionController::sampling_rule`](crate::CongestionController::sampling_rule)).
    #[must_use]
    pub fn new(rule: SamplingRule) -> Self {
        Self {
            rule,
            delivered: 0,
            lost: 0,
            reference: Reference::default(),
            bubble: None,
            frame: Frame::default(),
        }
    }

    #[cfg(fuzzing)]
    pub(crate) fn set_totals(&mut self, delivered: u64, lost: u64) {
        (self.delivered, self.lost) = (delivered, lost);
    }

    /// A packet that counts in flight is sent; the answer is to be stored with it. Bytes in flight are those
    /// before it, and with it.
    #[inline]
    pub fn on_sent(
        &mut self,
        sent_at: Instant,
        bytes_in_flight_before: u64,
        bytes_in_flight_after: u64,
    ) -> PacketSnapshot {
        if bytes_in_flight_before == 0 && self.rule == SamplingRule::LastAck {
            // The interval starts at this send.
            self.reference.at = Some(sent_at);
            self.reference.sent_at = sent_at;
        }
        // "Transmitting a data packet" of the draft; c4.md, "Delivery-rate estimate used by C4".
        let (delivered, delivered_at, first_sent_at) = match self.rule {
            SamplingRule::LastAck => (self.delivered, self.reference.at, self.reference.sent_at),
            SamplingRule::LastAcceptedSample { .. } => {
                (self.reference.delivered, self.reference.at, self.reference.sent_at)
            }
        };
        PacketSnapshot {
            delivered,
            delivered_at,
            first_sent_at,
            lost: self.lost,
            bytes_in_flight: bytes_in_flight_after,
            app_limited: self.is_app_limited(),
        }
    }

    /// A packet was newly acked. `was_lost`: it had been declared lost before; its bytes then count as
    /// delivered under [`SamplingRule::LastAck`] only.
    #[inline]
    pub fn on_acked(
        &mut self,
        now: Instant,
        number: Option<u64>,
        sent_at: Instant,
        bytes: u64,
        snapshot: &PacketSnapshot,
        was_lost: bool,
    ) {
        let packet = Newest { number, sent_at, snapshot: *snapshot, was_lost };
        if was_lost {
            self.frame.late_acked = self.frame.late_acked.saturating_add(bytes);
            self.count(0, bytes);
        } else {
            self.frame.newly_acked = self.frame.newly_acked.saturating_add(bytes);
            self.count(bytes, 0);
        }
        match self.rule {
            SamplingRule::LastAck => {
                self.reference.at = Some(now);
                if self.frame.newest.is_none_or(|newest| packet.is_newer_than(&newest)) {
                    self.frame.newest = Some(packet);
                    self.reference.sent_at = sent_at;
                }
            }
            SamplingRule::LastAcceptedSample { .. } => {
                // A late packet stands for the frame only if nothing else was acked.
                if self.frame.newest.is_none_or(|newest| {
                    (newest.was_lost && !was_lost)
                        || (newest.was_lost == was_lost && packet.is_newer_than(&newest))
                }) {
                    self.frame.newest = Some(packet);
                }
            }
        }
    }

    /// Whether the sample of a frame with both packets is that of the first. Packets are given by whether they had been declared
    /// lost, send time and number.
    #[inline]
    pub(crate) fn is_newer(&self, this: (bool, Instant, u64), that: (bool, Instant, u64)) -> bool {
        let by_time = this.1 > that.1 || this.1 == that.1 && this.2 > that.2;
        match self.rule {
            SamplingRule::LastAck => by_time,
            // A late packet stands for the frame only if nothing else was acked.
            SamplingRule::LastAcceptedSample { .. } if this.0 == that.0 => by_time,
            SamplingRule::LastAcceptedSample { .. } => that.0,
        }
    }

    /// `bytes` were declared lost.
    pub fn on_lost(&mut self, bytes: u64) {
        self.frame.newly_lost = self.frame.newly_lost.saturating_add(bytes);
        self.add_lost(bytes);
    }

    /// The same without a sum for the frame, which is given to [`finish_summed`](Self::finish_summed).
    pub(crate) fn add_lost(&mut self, bytes: u64) {
        self.lost = self.lost.saturating_add(bytes);
        self.shorten_bubble(bytes);
    }

    /// `bytes` left the network without being acked or lost.
    pub fn on_discarded(&mut self, bytes: u64) {
        self.shorten_bubble(bytes);
    }

    /// All packets of the frame were given: the raw sample; `None` if none was acked.
    pub fn finish_frame(&mut self, now: Instant) -> Option<RateSample> {
        let frame = std::mem::take(&mut self.frame);
        self.end_bubble();
        let Frame { newest, newly_acked, newly_lost, late_acked } = frame;
        let Newest { number, sent_at, ref snapshot, was_lost } = newest?;
        let newest = Newest { number, sent_at, snapshot, was_lost };
        Some(self.sample(now, newest, FrameSums { newly_acked, newly_lost, late_acked }))
    }

    /// All acks of a frame, where no sample is wanted
    /// ([`uses_rate_samples`](crate::CongestionController::uses_rate_samples)): the totals and the application-limited phase.
    /// `late_acked` is of packets that had been declared lost before, `newly_acked` of all others, in bytes. A sampler is used in one of
    /// both ways: sums of a frame are left for the next sample.
    #[inline]
    pub fn count_frame(&mut self, newly_acked: u64, late_acked: u64) {
        self.count(newly_acked, late_acked);
        self.end_bubble();
    }

    /// Adds to the totals what was acked; late bytes count under [`SamplingRule::LastAck`] only.
    #[inline]
    fn count(&mut self, newly_acked: u64, late_acked: u64) {
        self.delivered = self.delivered.saturating_add(newly_acked);
        if self.rule == SamplingRule::LastAck {
            // The loss had shortened the bubble; the bytes are delivered after all.
            self.lengthen_bubble(late_acked);
            self.delivered = self.delivered.saturating_add(late_acked);
        }
    }

    /// All of a frame at once, but for [`add_lost`](Self::add_lost): what [`on_acked`](Self::on_acked) does for each packet, and
    /// [`finish_frame`](Self::finish_frame). Late packets had been declared lost before; `newest` is the one that
    /// [`is_newer`](Self::is_newer) than the others; without it nothing was acked.
    ///
    /// Put into its caller, so that the sample is written where the caller wants it.
    #[inline(always)]
    pub(crate) fn finish_summed(
        &mut self,
        now: Instant,
        sums: FrameSums,
        newest: Option<Newest<&PacketSnapshot>>,
    ) -> Option<RateSample> {
        self.count_frame(sums.newly_acked, sums.late_acked);
        if self.rule == SamplingRule::LastAck
            && let Some(newest) = &newest
        {
            self.reference.at = Some(now);
            self.reference.sent_at = newest.sent_at;
        }
        Some(self.sample(now, newest?, sums))
    }

    /// "Upon receiving an ACK" of the draft: a bubble that was acked is gone.
    fn end_bubble(&mut self) {
        if self.bubble.is_some_and(|end| self.delivered > end) {
            self.bubble = None;
        }
    }

    #[inline(always)]
    fn sample(&mut self, now: Instant, newest: Newest<&PacketSnapshot>, sums: FrameSums) -> RateSample {
        let Newest { number, sent_at, snapshot, was_lost } = newest;
        let (ack_interval, send_interval) = match snapshot.delivered_at {
            Some(at) => (now.since(at), sent_at.since(snapshot.first_sent_at)),
            None => (Duration::ZERO, Duration::ZERO),
        };
        let moved_reference = match self.rule {
            SamplingRule::LastAck => true,
            SamplingRule::LastAcceptedSample { min_ack_interval } => {
                !was_lost && self.accept(now, sent_at, snapshot.delivered_at, min_ack_interval)
            }
        };
        RateSample {
            number,
            sent_at,
            snapshot: *snapshot,
            delivered: self.delivered,
            send_interval,
            ack_interval,
            lost_since_sent: self.lost.saturating_sub(snapshot.lost),
            newly_acked: sums.newly_acked,
            newly_lost: sums.newly_lost,
            late_acked: sums.late_acked,
            app_limited: snapshot.app_limited,
            moved_reference,
        }
    }

    /// Window and pacer allow sending, and no data is left (`MarkConnectionAppLimited` of the draft). A packet
    /// sent from now on is marked, until more than what is in flight now has been delivered.
    pub fn on_app_limited(&mut self, bytes_in_flight: u64) {
        self.bubble = Some(self.delivered.saturating_add(bytes_in_flight).max(1));
    }

    /// The path changed: packets sent from now on start from a new reference point. Totals go on.
    pub fn reset_reference(&mut self) {
        self.reference = Reference::default();
        self.bubble = None;
        self.frame = Frame::default();
    }

    /// `C.delivered`: total bytes delivered.
    #[must_use]
    pub const fn delivered(&self) -> u64 {
        self.delivered
    }

    /// `C.lost`: total bytes declared lost.
    #[must_use]
    pub const fn lost(&self) -> u64 {
        self.lost
    }

    /// Whether a packet sent now would be marked application-limited.
    #[must_use]
    pub const fn is_app_limited(&self) -> bool {
        self.bubble.is_some()
    }

    /// Applies C4's rule to the frame's newest packet, which was not lost before; true if the sample was accepted.
    ///
    /// C4 counts in whole microseconds, each time truncated once, before differences are taken.
    fn accept(
        &mut self,
        now: Instant,
        sent_at: Instant,
        delivered_at: Option<Instant>,
        min_ack_interval: Duration,
    ) -> bool {
        let reference = &mut self.reference;
        if sent_at < reference.sent_at && sent_at.as_micros() < reference.sent_at.as_micros() {
            return false;
        }
        // The first call only stores the point.
        let is_first = reference.at.is_none();
        // Truncation takes less than a microsecond from each time: where two are left, nothing need be divided.
        let is_long_enough = delivered_at.is_some_and(|at| {
            now.since(at) > min_ack_interval.plus(Duration::from_micros(2))
                || now.as_micros().saturating_sub(at.as_micros()) > min_ack_interval.as_micros()
        });
        if is_first || is_long_enough {
            *reference = Reference { delivered: self.delivered, at: Some(now), sent_at };
        }
        is_long_enough && !is_first
    }

    fn shorten_bubble(&mut self, bytes: u64) {
        if let Some(end) = &mut self.bubble {
            *end = end.saturating_sub(bytes).max(1);
        }
    }

    fn lengthen_bubble(&mut self, bytes: u64) {
        if let Some(end) = &mut self.bubble {
            *end = end.saturating_add(bytes);
        }
    }
}

impl Newest {
    /// `IsNewestPacket` of the draft.
    fn is_newer_than(&self, other: &Self) -> bool {
        (self.sent_at, self.number) > (other.sent_at, other.number)
    }
}

#[cfg(test)]
mod tests;
