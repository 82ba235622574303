//! What a frame must come to.

use super::model::{Fate, Mark, Model, SPACES, index};
use super::spy::{Call, Spy};
use super::{N, Settable};
use cc_core::{
    CongestionController, FrameEnd, FrameReport, Instant, PacketSpace, Path, PathState, PersistentCongestion,
    SamplingRule, SpuriousLoss,
};
use std::mem::take;

/// Packets per call.
const CHUNK: usize = 8;

/// A path just before a frame is finished.
pub(super) struct Before {
    bytes_in_flight: u64,
    delivered: u64,
    lost: u64,
    has_rtt: bool,
}

impl Before {
    pub(super) fn of<C: CongestionController, const M: usize>(path: &Path<C, M>) -> Self {
        Self {
            bytes_in_flight: path.bytes_in_flight(),
            delivered: path.delivered(),
            lost: path.lost_bytes(),
            has_rtt: path.rtt().has_sample(),
        }
    }
}

/// What the calls of a frame said.
#[derive(Default)]
struct Told {
    acked: Vec<u64>,
    late: Vec<u64>,
    spurious: Vec<u64>,
    lost: Vec<u64>,
    ecn: Option<cc_core::EcnEvent>,
    rtt: Option<cc_core::RttEvent>,
}

impl Model {
    /// A frame was finished: settles its packets, and checks the report and the calls.
    pub(super) fn finish<C: CongestionController + Clone + Settable>(
        &mut self,
        now: Instant,
        end: FrameEnd,
        before: &Before,
        report: &FrameReport,
        calls: &[Call],
        path: &Path<Spy<C>, N>,
    ) {
        let acked = self.marked(Mark::Acked);
        let largest_before = self.largest_acked;
        for (place, space) in SPACES.into_iter().enumerate() {
            let largest = acked.iter().copied().filter(|number| self.packets[number].space == space).max();
            if largest.is_some() {
                self.largest_acked[place] = self.largest_acked[place].max(largest);
                self.detect(now, space, path.rtt());
            }
        }
        let lost = self.marked(Mark::Lost);
        let told = self.listen(now, calls, before, report, path, end);
        assert_eq!(told.acked, acked);
        assert_eq!(told.lost, lost);
        assert_eq!(told.spurious, told.late, "every late ack is a spurious loss");

        let bytes = |numbers: &[u64]| numbers.iter().map(|number| self.packets[number].bytes).sum::<u64>();
        assert_eq!(report.newly_acked, bytes(&acked));
        assert_eq!(report.newly_lost, bytes(&lost));
        assert_eq!(report.late_acked, bytes(&told.late));
        assert_eq!(report.lost_span, lost.first().copied().zip(lost.last().copied()));
        assert_eq!(path.lost_bytes(), before.lost.saturating_add(report.newly_lost));
        let late = match path.controller().sampling_rule() {
            SamplingRule::LastAck => report.late_acked,
            SamplingRule::LastAcceptedSample { .. } => 0,
        };
        assert_eq!(
            path.delivered(),
            before.delivered.saturating_add(report.newly_acked).saturating_add(late)
        );
        self.sample(report, path, &told);
        self.rtt(now, end, before, report, &told, largest_before);
        self.marks(end, &told);
        if report.persistent_congestion {
            let apart = self.may_be_persistent(&lost, &told.late, path);
            assert!(apart, "no two losses are that far apart");
        }

        for number in &told.late {
            let space = index(self.packets[number].space);
            self.largest_acked[space] = self.largest_acked[space].max(Some(*number));
        }
        for (number, packet) in &mut self.packets {
            match packet.mark.take() {
                Some(Mark::Acked) => packet.fate = Fate::Acked,
                Some(Mark::Lost) => packet.fate = Fate::Lost,
                Some(Mark::Late) if told.late.contains(number) => packet.fate = Fate::Acked,
                // One that the path has forgotten stays lost to it.
                Some(Mark::Late) | None => {}
            }
        }
        self.largest_named = None;
    }

    /// The calls come in the order of the contract, with the state after the frame, packets ascending, the last part
    /// marked as such, and every packet was in the state that its call implies.
    fn listen<C: CongestionController>(
        &self,
        now: Instant,
        calls: &[Call],
        before: &Before,
        report: &FrameReport,
        path: &Path<Spy<C>, N>,
        end: FrameEnd,
    ) -> Told {
        let mut told = Told::default();
        let (mut stage, mut parts_left) = (0, false);
        let mut lost_bytes = before.lost;
        let after = before.bytes_in_flight - report.newly_acked - report.newly_lost;
        for call in calls {
            let (rank, state) = match call {
                Call::Ecn(state, event) => {
                    assert!(told.ecn.replace(*event).is_none());
                    (1, state)
                }
                Call::Rtt(state, event) => {
                    assert!(told.rtt.replace(*event).is_none());
                    (2, state)
                }
                Call::Loss { path: state, packets, last, persistent, cause } => {
                    assert!((1..=CHUNK).contains(&packets.len()));
                    assert_eq!((*persistent, *cause), (report.persistent_congestion, Some(end.cause)));
                    assert_eq!(state.lost, lost_bytes, "bytes lost before this call");
                    for packet in packets {
                        let number = packet.number.expect("a path knows its numbers");
                        self.is(number, Fate::InFlight, (packet.bytes, packet.space, packet.sent_at));
                        lost_bytes = lost_bytes.saturating_add(packet.bytes);
                        told.lost.push(number);
                    }
                    parts_left = !last;
                    (3, state)
                }
                Call::Spurious(state, SpuriousLoss::Packet { number, sent_at, bytes }) => {
                    let number = number.expect("a path knows its numbers");
                    let packet = &self.packets[&number];
                    assert_eq!((*sent_at, *bytes), (packet.sent_at, packet.bytes));
                    told.spurious.push(number);
                    (4, state)
                }
                Call::Ack { path: state, packets, last, sample } => {
                    assert!((1..=CHUNK).contains(&packets.len()));
                    assert_eq!(*sample, report.rate_sample);
                    for packet in packets {
                        let number = packet.number.expect("a path knows its numbers");
                        let fate = if packet.was_lost { Fate::Lost } else { Fate::InFlight };
                        self.is(number, fate, (packet.bytes, packet.space, packet.sent_at));
                        if packet.was_lost { &mut told.late } else { &mut told.acked }.push(number);
                    }
                    parts_left = !last;
                    (5, state)
                }
                other => panic!("{other:?} in a frame"),
            };
            assert!(rank >= stage, "{calls:?}");
            assert!(!parts_left || matches!(call, Call::Loss { .. } | Call::Ack { .. }));
            stage = rank;
            assert_eq!((state.bytes_in_flight, state.prior_bytes_in_flight), (after, before.bytes_in_flight));
            assert_eq!(
                *state,
                PathState {
                    lost: state.lost,
                    prior_bytes_in_flight: before.bytes_in_flight,
                    // The controller may hold back sending only after it was told.
                    app_limited: state.app_limited,
                    ..path.state(now)
                }
            );
        }
        assert!(!parts_left, "the last part is missing");
        for numbers in [&told.lost, &told.spurious, &told.acked, &told.late] {
            assert!(numbers.windows(2).all(|pair| pair[0] < pair[1]), "not ascending");
        }
        told
    }

    fn is(&self, number: u64, fate: Fate, told: (u64, PacketSpace, Instant)) {
        let packet = &self.packets[&number];
        assert_eq!(packet.fate, fate, "packet {number}");
        assert_eq!((packet.bytes, packet.space, packet.sent_at), told, "packet {number}");
    }

    fn sample<C: CongestionController>(&self, report: &FrameReport, path: &Path<Spy<C>, N>, told: &Told) {
        let any = !told.acked.is_empty() || !told.late.is_empty();
        assert_eq!(report.rate_sample.is_some(), any);
        let Some(sample) = report.rate_sample else { return };
        assert_eq!(sample.delivered, path.delivered());
        assert_eq!(
            (sample.newly_acked, sample.newly_lost, sample.late_acked),
            (report.newly_acked, report.newly_lost, report.late_acked)
        );
        assert!(sample.snapshot.delivered <= sample.delivered);
        assert!(sample.lost_since_sent <= path.lost_bytes());
    }

    /// RFC 9002 section 5.1.
    fn rtt(
        &self,
        now: Instant,
        end: FrameEnd,
        before: &Before,
        report: &FrameReport,
        told: &Told,
        largest_before: [Option<u64>; 3],
    ) {
        let Some(newest) = told.acked.last().copied() else {
            assert!(told.rtt.is_none() && report.rtt_sample.is_none(), "nothing was newly acked");
            return;
        };
        let packet = &self.packets[&newest];
        let untracked = end.largest_untracked.filter(|at| *at >= packet.sent_at);
        let sent_at = untracked.unwrap_or(packet.sent_at);
        let is_largest = untracked.is_some()
            || self.largest_named == Some(newest)
                && largest_before[index(packet.space)].is_none_or(|largest| largest < newest);
        let eliciting = told.acked.iter().any(|number| self.packets[number].ack_eliciting);
        let is_sample = is_largest && eliciting && sent_at <= now;
        assert_eq!(report.rtt_sample, is_sample.then(|| now.since(sent_at)));
        let event = told.rtt.expect("something was newly acked");
        assert_eq!((event.latest, event.is_sample), (now.since(sent_at), is_sample));
        assert_eq!(event.space, packet.space);
        assert!(!(event.is_first && before.has_rtt));
    }

    /// ECN counts wait for a frame that newly acks something.
    fn marks(&mut self, end: FrameEnd, told: &Told) {
        if self.ecn.is_some() {
            let packets = told.acked.len() as u64 + told.late.len() as u64 + end.untracked_acked;
            self.ecn_acked = self.ecn_acked.saturating_add(packets);
        }
        let due = if told.acked.is_empty() { None } else { self.ecn.take() };
        assert_eq!(told.ecn.is_some(), due.is_some());
        let Some((event, counts)) = told.ecn.zip(due) else { return };
        assert_eq!(
            (event.ce, event.ect0, event.ect1),
            (Some(counts.ce), Some(counts.ect0), Some(counts.ect1))
        );
        assert_eq!(event.newly_acked, Some(take(&mut self.ecn_acked)));
        assert_eq!(event.largest_acked, told.acked.last().copied());
    }

    /// RFC 9002 section 7.6.2, but for what a path leaves out: two ack-eliciting losses, one of them of this frame or both
    /// about it, are further apart than the duration, and nothing between them was acked.
    fn may_be_persistent<C: CongestionController>(
        &self,
        lost: &[u64],
        late: &[u64],
        path: &Path<Spy<C>, N>,
    ) -> bool {
        let duration = PersistentCongestion::duration(path.rtt());
        let mut since_ack: Vec<Instant> = Vec::new();
        for (number, packet) in &self.packets {
            match (packet.fate, packet.mark) {
                (Fate::Acked, _) | (_, Some(Mark::Acked)) => since_ack.clear(),
                // One that the path has forgotten is as good as lost to it.
                (_, Some(Mark::Late)) if late.contains(number) => since_ack.clear(),
                (Fate::Lost, _) | (_, Some(Mark::Lost)) if packet.ack_eliciting => {
                    let far = |at: &Instant| packet.sent_at.since(*at) > duration;
                    if lost.first().is_some_and(|first| number >= first) && since_ack.iter().any(far) {
                        return true;
                    }
                    since_ack.push(packet.sent_at);
                }
                _ => {}
            }
        }
        false
    }
}
