//! Handing one frame to the controller in the order of the contract.

use super::entry::{Entry, State};
use super::frame::Acked;
use super::loss::SPACES;
use super::{FrameEnd, FrameReport, Path};
use crate::delivery_rate::{FrameSums, Newest};
use crate::{
    AckEvent, AckedPacket, CongestionController, EcnEvent, Instant, LossCause, LossEvent, LostPacket,
    PacketSpace, PathState, PersistentCongestion, RateSample, RttEvent, SpuriousLoss,
};
use heapless::Vec;
use std::ops::Range;

/// Packets per call of `on_ack` and `on_loss`.
const CHUNK: usize = 8;

/// Sums over the marks of a frame.
#[derive(Clone, Copy, Default)]
struct Tally {
    sums: FrameSums,
    /// Packets acked, late ones included.
    packets: u64,
    /// Lowest and highest number lost.
    lost_span: Option<(u64, u64)>,
}

/// How far a walk over the marks of a frame has come. It borrows nothing, so that the walk may change the path.
#[derive(Clone, Debug, Default)]
struct Walk {
    range: usize,
    indexes: Range<usize>,
}

/// The highest-numbered packet newly acked by a frame and never declared lost.
#[derive(Clone, Copy)]
struct NewestAcked {
    number: u64,
    space: PacketSpace,
    sent_at: Instant,
}

impl<C: CongestionController, const N: usize> Path<C, N> {
    /// The frame is complete: settles its packets and tells the controller, in the order `on_ecn`, `on_rtt`,
    /// `on_loss`, `on_spurious_loss`, `on_ack`. A frame that acked nothing new gives no `on_ecn`, `on_rtt` or
    /// `on_ack`; one that acked late packets only gives no `on_ecn` or `on_rtt`.
    ///
    /// With loss detection by the path, a frame that newly acked something also declares losses, in the spaces of the
    /// packets that it acked.
    pub fn finish(&mut self, now: Instant, end: FrameEnd) -> FrameReport {
        if self.frame.marks.is_empty() {
            self.note_ecn_acked(end.untracked_acked);
            self.frame.clear();
            return FrameReport::default();
        }
        let mut tally = Tally::default();
        let prior_bytes_in_flight = self.bytes_in_flight;
        let prior_lost = self.rate.lost();

        let newest = self.newest_acked();
        let rtt = newest.map(|newest| self.take_rtt(now, &newest, &end));
        // RFC 9002 appendix A.7: losses of the spaces in which something was newly acked.
        for space in SPACES {
            let acked_end = self.frame.acked_end(space);
            if acked_end > 0 {
                self.loss.on_acked(space, acked_end);
                self.detect_losses(now, space);
            }
        }
        let rate_sample = self.tally(now, &mut tally);
        let mut persistent_congestion = false;
        if let Some(lost) = tally.lost_span {
            let check = PersistentCongestion::new(&self.rtt, self.first_sample_at);
            if self.persistence.on_lost(&self.ring, check, lost) {
                persistent_congestion = true;
                self.rtt.restart_min(rtt.is_some_and(|rtt| rtt.is_sample));
            }
        }
        let FrameSums { newly_acked, newly_lost, late_acked } = tally.sums;
        self.bytes_in_flight = prior_bytes_in_flight.saturating_sub(newly_acked.saturating_add(newly_lost));
        self.note_idle(now);

        // Everything but `lost` is the same in all calls: the state after the whole frame.
        let mut state = self.state_after(now, prior_bytes_in_flight);
        state.lost = prior_lost;
        self.note_ecn_acked(tally.packets.saturating_add(end.untracked_acked));
        if let Some(newest) = newest {
            self.deliver_ecn(&state, &newest);
        }
        if let Some(rtt) = &rtt {
            self.told().on_rtt(&state, rtt);
        }
        if let Some((_, highest)) = tally.lost_span {
            self.deliver_losses(&mut state, highest, end.cause, persistent_congestion);
        }
        if tally.packets > self.frame.acked.packets {
            self.deliver_spurious(&state);
        }
        if tally.packets > 0 {
            self.deliver_acks(&state, tally.packets, rate_sample.as_ref());
            self.max_bytes_in_flight = self.bytes_in_flight;
        }

        if self.controller.marks_app_limited() {
            self.rate.on_app_limited(self.bytes_in_flight);
        }
        self.frame.clear();
        self.ring.settle();
        self.trim(now);
        FrameReport {
            newly_acked,
            newly_lost,
            late_acked,
            lost_span: tally.lost_span,
            rtt_sample: rtt.filter(|rtt| rtt.is_sample).map(|rtt| rtt.latest),
            rate_sample: rate_sample.as_ref().map(copied),
            persistent_congestion,
        }
    }

    fn newest_acked(&self) -> Option<NewestAcked> {
        let Acked { end, highest: (sent_at, space), .. } = self.frame.acked;
        (end > 0).then_some(NewestAcked { number: end.wrapping_sub(1), space, sent_at })
    }

    /// Measures the RTT of the frame, and updates the estimator if it is a sample.
    fn take_rtt(&mut self, now: Instant, newest: &NewestAcked, end: &FrameEnd) -> RttEvent {
        let space = newest.space;
        let ack_delay = end.ack_delay.map(|delay| self.rtt.usable_ack_delay(delay, self.handshake_ready));
        // RFC 9002 section 5.1: the largest acknowledged is newly acked, and at least one newly acked packet is
        // ack-eliciting. The largest may be an ACK-only packet, which only the stack knows.
        let untracked = end.largest_untracked.filter(|sent_at| *sent_at >= newest.sent_at);
        let sent_at = untracked.unwrap_or(newest.sent_at);
        // A frame whose newest packet is below what was acked before either has a larger one in it or was overtaken
        // by another; neither is a sample.
        let is_largest = untracked.is_some()
            || self.frame.named_end == newest.number.wrapping_add(1)
                && newest.number >= self.loss.acked_end(space);
        let is_sample = is_largest && sent_at <= now && self.frame.acked.any_ack_eliciting;
        let latest = now.since(sent_at);
        if is_sample {
            self.rtt.update(latest, ack_delay.unwrap_or_default(), self.handshake_ready);
            self.first_sample_at = self.first_sample_at.or(Some(now));
        }
        let is_first = !std::mem::replace(&mut self.rtt_seen, true);
        RttEvent { space, latest, ack_delay, is_sample, is_first }
    }

    /// The index of the entry behind those that the walk has seen, of the numbers that the frame has marked; ascending. It may be one
    /// that was not marked: see [`Marks`](super::marks::Marks).
    #[cfg_attr(target_pointer_width = "32", inline(never))]
    fn next_marked(&self, walk: &mut Walk) -> Option<usize> {
        loop {
            if let Some(index) = walk.indexes.next() {
                return Some(index);
            }
            let (first, end) = self.frame.marks.range(walk.range)?;
            walk.range = walk.range.wrapping_add(1);
            walk.indexes = self.ring.indexes(first, end);
        }
    }

    /// Adds up the frame and takes its rate sample, which is large and stays where it is made.
    #[inline(always)]
    fn tally(&mut self, now: Instant, tally: &mut Tally) -> Option<RateSample> {
        let Acked { packets, bytes, newest: (sent_at, number), .. } = self.frame.acked;
        let mut newest = (false, sent_at, number);
        tally.packets = packets;
        tally.sums.newly_acked = bytes;
        if self.frame.has_others {
            self.tally_others(tally, &mut newest);
        }
        if self.persistence.overlaps(self.frame.marks.span()) {
            self.tell_persistence_of_acks();
        }
        let (was_lost, sent_at, number) = newest;
        let snapshot = self
            .ring
            .get(number)
            .filter(|_| tally.packets > 0)
            .map(|entry| entry.snapshot(self.rate.delivered(), self.rate.lost()));
        let newest =
            snapshot.as_ref().map(|snapshot| Newest { number: Some(number), sent_at, snapshot, was_lost });
        self.rate.finish_summed(now, tally.sums, newest)
    }

    /// Adds up what is not acked for the first time: losses and late acks. `newest` is the newest of the packets that are.
    #[inline(never)]
    fn tally_others(&mut self, tally: &mut Tally, newest: &mut (bool, Instant, u64)) {
        let mut newly_lost: u64 = 0;
        let (mut first_lost, mut last_lost) = (u64::MAX, 0);
        let mut walk = Walk::default();
        while let Some(index) = self.next_marked(&mut walk) {
            let Some(entry) = self.ring.at(index) else { continue };
            let (number, bytes) = (self.ring.number(index), entry.bytes());
            match entry.state() {
                State::MarkedLost => {
                    newly_lost = newly_lost.saturating_add(bytes);
                    first_lost = first_lost.min(number);
                    last_lost = number;
                }
                State::MarkedLate => {
                    let this = (true, entry.sent_at(), number);
                    if tally.packets == 0 || self.rate.is_newer(this, *newest) {
                        *newest = this;
                    }
                    tally.packets = tally.packets.wrapping_add(1);
                    tally.sums.late_acked = tally.sums.late_acked.saturating_add(bytes);
                    if entry.carries_data() && number >= self.newest_data_end {
                        self.newest_data_end = number.wrapping_add(1);
                        self.newest_data_sent_at = entry.sent_at();
                    }
                    self.loss.on_acked(entry.space(), number.wrapping_add(1));
                }
                _ => {}
            }
        }
        if first_lost <= last_lost {
            tally.lost_span = Some((first_lost, last_lost));
        }
        tally.sums.newly_lost = newly_lost;
        self.rate.add_lost(newly_lost);
    }

    /// Acks among losses cut what may become persistent congestion.
    #[inline(never)]
    fn tell_persistence_of_acks(&mut self) {
        let check = PersistentCongestion::new(&self.rtt, self.first_sample_at);
        let mut walk = Walk::default();
        while let Some(index) = self.next_marked(&mut walk) {
            let state = self.ring.at(index).map(Entry::state);
            if matches!(state, Some(State::MarkedAcked | State::MarkedLate)) {
                self.persistence.on_acked(&self.ring, &check, self.ring.number(index));
            }
        }
    }

    /// The marks that came with the frame may be on any packet that it newly acked, late and ACK-only ones too.
    fn note_ecn_acked(&mut self, packets: u64) {
        if self.frame.ecn.is_some() {
            self.frame.ecn_acked = self.frame.ecn_acked.saturating_add(packets);
        }
    }

    fn deliver_ecn(&mut self, state: &PathState, newest: &NewestAcked) {
        let Some(counts) = self.frame.ecn.take() else { return };
        let event = EcnEvent {
            space: newest.space,
            ce: Some(counts.ce),
            ect0: Some(counts.ect0),
            ect1: Some(counts.ect1),
            newly_acked: Some(std::mem::take(&mut self.frame.ecn_acked)),
            largest_acked: Some(newest.number),
            largest_acked_sent_at: newest.sent_at,
        };
        self.told().on_ecn(state, &event);
    }

    /// Hands over the lost packets and adds their bytes to `state.lost`.
    #[inline(never)]
    fn deliver_losses(
        &mut self,
        state: &mut PathState,
        highest: u64,
        cause: LossCause,
        persistent_congestion: bool,
    ) {
        let mut chunk: Vec<LostPacket, CHUNK> = Vec::new();
        let mut walk = Walk::default();
        while let Some(index) = self.next_marked(&mut walk) {
            // Looked up before the states change, in ascending order: a packet lost just now counts as lost.
            let starts_run = self.ring.lost_before(index).map(|lost| !lost);
            let number = self.ring.number(index);
            let Some(entry) = self.ring.at_mut(index) else { continue };
            if entry.state() != State::MarkedLost {
                continue;
            }
            entry.set_state(State::Lost);
            let packet = LostPacket {
                number: Some(number),
                space: entry.space(),
                sent_at: entry.sent_at(),
                bytes: entry.bytes(),
                snapshot: Some(entry.snapshot(self.rate.delivered(), self.rate.lost())),
                starts_run,
            };
            // The chunk was emptied when it became full.
            let _ = chunk.push(packet);
            let last = number == highest;
            if last || chunk.is_full() {
                let loss = LossEvent { packets: &chunk, last, persistent_congestion, cause: Some(cause) };
                self.told().on_loss(state, &loss);
                for packet in &chunk {
                    state.lost = state.lost.saturating_add(packet.bytes);
                }
                chunk.clear();
            }
        }
    }

    #[inline(never)]
    fn deliver_spurious(&mut self, state: &PathState) {
        let mut walk = Walk::default();
        while let Some(index) = self.next_marked(&mut walk) {
            let number = self.ring.number(index);
            let Some(entry) = self.ring.at(index) else { continue };
            if entry.state() == State::MarkedLate {
                let spurious = SpuriousLoss::Packet {
                    number: Some(number),
                    sent_at: entry.sent_at(),
                    bytes: entry.bytes(),
                };
                self.told().on_spurious_loss(state, &spurious);
            }
        }
    }

    /// Hands over the packets acked, of which there is at least one.
    fn deliver_acks(&mut self, state: &PathState, packets: u64, rate_sample: Option<&RateSample>) {
        let mut left = packets;
        let mut chunk: Vec<AckedPacket, CHUNK> = Vec::new();
        let mut walk = Walk::default();
        while let Some(index) = self.next_marked(&mut walk) {
            let number = self.ring.number(index);
            let Some(entry) = self.ring.at_mut(index) else { continue };
            let was_lost = match entry.state() {
                State::MarkedAcked => false,
                State::MarkedLate => true,
                _ => continue,
            };
            entry.set_state(State::Acked);
            let packet = AckedPacket {
                number: Some(number),
                space: entry.space(),
                sent_at: entry.sent_at(),
                bytes: entry.bytes(),
                packets: Some(1),
                received_at: self.frame.received.get(number),
                snapshot: Some(entry.snapshot(self.rate.delivered(), self.rate.lost())),
                was_lost,
            };
            // The chunk was emptied when it became full.
            let _ = chunk.push(packet);
            left = left.wrapping_sub(1);
            if left == 0 || chunk.is_full() {
                let ack = AckEvent {
                    packets: &chunk,
                    last: left == 0,
                    rate_sample: rate_sample.map(copied),
                    limited_by: self.limited_by,
                    max_bytes_in_flight: self.max_bytes_in_flight,
                    app_limited_at: self.app_limited_at,
                    newest_data_sent_at: (self.newest_data_end > 0).then_some(self.newest_data_sent_at),
                };
                self.told().on_ack(state, &ack);
                chunk.clear();
            }
        }
    }
}

/// A copy, field by field. Where a compiler optimises for size it calls a function for a struct as large as this, which copies
/// word by word: four times as many instructions.
#[inline(always)]
fn copied(sample: &RateSample) -> RateSample {
    let &RateSample {
        number,
        sent_at,
        snapshot,
        delivered,
        send_interval,
        ack_interval,
        lost_since_sent,
        newly_acked,
        newly_lost,
        late_acked,
        app_limited,
        moved_reference,
    } = sample;
    RateSample {
        number,
        sent_at,
        snapshot,
        delivered,
        send_interval,
        ack_interval,
        lost_since_sent,
        newly_acked,
        newly_lost,
        late_acked,
        app_limited,
        moved_reference,
    }
}
