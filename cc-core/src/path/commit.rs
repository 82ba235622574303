//! Handing one frame to the controller in the order of the contract.

use super::entry::{Entry, State};
use super::loss::SPACES;
use super::marks::Cursor;
use super::{FrameEnd, FrameReport, Path};
use crate::{
    AckEvent, AckedPacket, CongestionController, EcnEvent, Instant, LossEvent, LostPacket, PathState,
    PersistentCongestion, RateSample, RttEvent, SpuriousLoss,
};
use heapless::Vec;

/// Packets per call of `on_ack` and `on_loss`.
const CHUNK: usize = 8;

/// Sums over the marks of a frame.
#[derive(Clone, Copy, Default)]
struct Tally {
    acked_packets: u64,
    acked_bytes: u64,
    late_packets: u64,
    late_bytes: u64,
    lost_bytes: u64,
    lost_span: Option<(u64, u64)>,
}

/// The highest-numbered packet newly acked by a frame and never declared lost.
#[derive(Clone, Copy)]
struct NewestAcked {
    number: u64,
    entry: Entry,
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
        let prior_bytes_in_flight = self.bytes_in_flight;
        let prior_lost = self.rate.lost();

        let newest = self.newest_acked();
        let rtt = newest.map(|newest| self.take_rtt(now, &newest, &end));
        // RFC 9002 appendix A.7: losses of the spaces in which something was newly acked.
        for (space, largest) in SPACES.into_iter().zip(self.frame.largest_acked) {
            if let Some(largest) = largest {
                self.loss.on_acked(space, largest);
                self.detect_losses(now, space);
            }
        }
        let tally = self.tally(now);
        let persistent_congestion = tally.lost_span.is_some_and(|lost| {
            let check = PersistentCongestion::new(&self.rtt, self.first_sample_at);
            self.persistence.on_lost(&self.ring, check, lost)
        });
        if persistent_congestion {
            self.rtt.restart_min(rtt.is_some_and(|rtt| rtt.is_sample));
        }
        let rate_sample = self.rate.finish_frame(now);
        self.bytes_in_flight =
            prior_bytes_in_flight.saturating_sub(tally.acked_bytes.saturating_add(tally.lost_bytes));
        self.note_idle(now);

        // Everything but `lost` is the same in all calls: the state after the whole frame.
        let mut state = PathState { lost: prior_lost, ..self.state_after(now, prior_bytes_in_flight) };
        self.note_ecn_acked(
            tally.acked_packets.saturating_add(tally.late_packets).saturating_add(end.untracked_acked),
        );
        if let Some(newest) = newest {
            self.deliver_ecn(&state, &newest);
        }
        if let Some(rtt) = &rtt {
            self.told().on_rtt(&state, rtt);
        }
        self.deliver_losses(&mut state, &tally, &end, persistent_congestion);
        if tally.late_packets > 0 {
            self.deliver_spurious(&state);
        }
        if tally.acked_packets.saturating_add(tally.late_packets) > 0 {
            self.deliver_acks(&state, &tally, rate_sample);
            self.max_bytes_in_flight = self.bytes_in_flight;
        }

        if self.controller.marks_app_limited() {
            self.rate.on_app_limited(self.bytes_in_flight);
        }
        self.frame.clear();
        self.ring.settle();
        self.trim(now);
        FrameReport {
            newly_acked: tally.acked_bytes,
            newly_lost: tally.lost_bytes,
            late_acked: tally.late_bytes,
            lost_span: tally.lost_span,
            rtt_sample: rtt.filter(|rtt| rtt.is_sample).map(|rtt| rtt.latest),
            rate_sample,
            persistent_congestion,
        }
    }

    fn newest_acked(&self) -> Option<NewestAcked> {
        let number = self.frame.largest_acked.into_iter().flatten().max()?;
        Some(NewestAcked { number, entry: *self.ring.get(number)? })
    }

    /// Measures the RTT of the frame, and updates the estimator if it is a sample.
    fn take_rtt(&mut self, now: Instant, newest: &NewestAcked, end: &FrameEnd) -> RttEvent {
        let space = newest.entry.space();
        let ack_delay = end.ack_delay.map(|delay| self.rtt.usable_ack_delay(delay, self.handshake_ready));
        // RFC 9002 section 5.1: the largest acknowledged is newly acked, and at least one newly acked packet is
        // ack-eliciting. The largest may be an ACK-only packet, which only the stack knows.
        let untracked = end.largest_untracked.filter(|sent_at| *sent_at >= newest.entry.sent_at());
        let sent_at = untracked.unwrap_or(newest.entry.sent_at());
        // A frame whose newest packet is below what was acked before either has a larger one in it or was overtaken
        // by another; neither is a sample.
        let is_largest = untracked.is_some()
            || self.frame.largest_named == Some(newest.number)
                && self.loss.largest_acked(space).is_none_or(|largest| newest.number > largest);
        let is_sample = is_largest && sent_at <= now && self.frame.any_ack_eliciting;
        let latest = now.since(sent_at);
        if is_sample {
            self.rtt.update(latest, ack_delay.unwrap_or_default(), self.handshake_ready);
            self.first_sample_at = self.first_sample_at.or(Some(now));
        }
        let is_first = !std::mem::replace(&mut self.rtt_seen, true);
        RttEvent { space, latest, ack_delay, is_sample, is_first }
    }

    /// Adds up the marks and feeds the rate sampler.
    fn tally(&mut self, now: Instant) -> Tally {
        let mut tally = Tally::default();
        let mut newest: Option<(bool, Instant, u64)> = None;
        let mut cursor = Cursor::default();
        while let Some(number) = self.frame.marks.next(&mut cursor) {
            let Some(entry) = self.ring.get(number) else { continue };
            let bytes = entry.bytes();
            let was_lost = match entry.state() {
                State::MarkedAcked => {
                    tally.acked_packets = tally.acked_packets.saturating_add(1);
                    tally.acked_bytes = tally.acked_bytes.saturating_add(bytes);
                    false
                }
                State::MarkedLate => {
                    tally.late_packets = tally.late_packets.saturating_add(1);
                    tally.late_bytes = tally.late_bytes.saturating_add(bytes);
                    true
                }
                State::MarkedLost => {
                    tally.lost_bytes = tally.lost_bytes.saturating_add(bytes);
                    let first = tally.lost_span.map_or(number, |(first, _)| first);
                    tally.lost_span = Some((first, number));
                    self.rate.on_lost(bytes);
                    continue;
                }
                State::Outstanding | State::Acked | State::Lost | State::Discarded => continue,
            };
            let this = (was_lost, entry.sent_at(), number);
            if newest.is_none_or(|newest| self.rate.is_newer(this, newest)) {
                newest = Some(this);
            }
            if entry.carries_data() && self.newest_data.is_none_or(|(newest, _)| number > newest) {
                self.newest_data = Some((number, entry.sent_at()));
            }
            if was_lost {
                self.loss.on_acked(entry.space(), number);
            }
            if self.persistence.contains(number) {
                let check = PersistentCongestion::new(&self.rtt, self.first_sample_at);
                self.persistence.on_acked(&self.ring, &check, number);
            }
        }
        let newest = newest.and_then(|(was_lost, sent_at, number)| {
            let snapshot = self.ring.get(number)?.snapshot(self.rate.delivered(), self.rate.lost());
            Some(crate::delivery_rate::Newest { number: Some(number), sent_at, snapshot, was_lost })
        });
        self.rate.on_frame_acked(now, tally.acked_bytes, tally.late_bytes, newest);
        tally
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
            space: newest.entry.space(),
            ce: Some(counts.ce),
            ect0: Some(counts.ect0),
            ect1: Some(counts.ect1),
            newly_acked: Some(std::mem::take(&mut self.frame.ecn_acked)),
            largest_acked: Some(newest.number),
            largest_acked_sent_at: newest.entry.sent_at(),
        };
        self.told().on_ecn(state, &event);
    }

    /// Hands over the lost packets and adds their bytes to `state.lost`.
    fn deliver_losses(
        &mut self,
        state: &mut PathState,
        tally: &Tally,
        end: &FrameEnd,
        persistent_congestion: bool,
    ) {
        let Some((_, highest)) = tally.lost_span else { return };
        let mut chunk: Vec<LostPacket, CHUNK> = Vec::new();
        let mut cursor = Cursor::default();
        while let Some(number) = self.frame.marks.next(&mut cursor) {
            // Looked up before the states change, in ascending order: a packet lost just now counts as lost.
            let starts_run = self.ring.lost_before(number).map(|lost| !lost);
            let Some(entry) = self.ring.get_mut(number) else { continue };
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
                let loss = LossEvent { packets: &chunk, last, persistent_congestion, cause: Some(end.cause) };
                self.told().on_loss(state, &loss);
                for packet in &chunk {
                    state.lost = state.lost.saturating_add(packet.bytes);
                }
                chunk.clear();
            }
        }
    }

    fn deliver_spurious(&mut self, state: &PathState) {
        let mut cursor = Cursor::default();
        while let Some(number) = self.frame.marks.next(&mut cursor) {
            let Some(entry) = self.ring.get(number) else { continue };
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

    fn deliver_acks(&mut self, state: &PathState, tally: &Tally, rate_sample: Option<RateSample>) {
        let mut left = tally.acked_packets.saturating_add(tally.late_packets);
        let mut chunk: Vec<AckedPacket, CHUNK> = Vec::new();
        let mut cursor = Cursor::default();
        while let Some(number) = self.frame.marks.next(&mut cursor) {
            let Some(entry) = self.ring.get_mut(number) else { continue };
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
            left = left.saturating_sub(1);
            if left == 0 || chunk.is_full() {
                let ack = AckEvent {
                    packets: &chunk,
                    last: left == 0,
                    rate_sample,
                    limited_by: self.limited_by,
                    max_bytes_in_flight: self.max_bytes_in_flight,
                    app_limited_at: self.app_limited_at,
                    newest_data_sent_at: self.newest_data.map(|(_, sent_at)| sent_at),
                };
                self.told().on_ack(state, &ack);
                chunk.clear();
            }
        }
    }
}
