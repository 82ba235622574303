//! Loss detection (RFC 9002 section 6.1) over the ring.

use super::entry::{Entry, State};
use super::ring::Ring;
use super::{FrameEnd, FrameReport, LossDetection, Path};
use crate::{CongestionController, Duration, GRANULARITY, Instant, LossCause, PacketSpace, RttEstimator};

pub(super) const SPACES: [PacketSpace; 3] =
    [PacketSpace::Initial, PacketSpace::Handshake, PacketSpace::Application];

/// State of loss detection, beside the ring.
#[derive(Clone, Copy, Debug)]
pub(super) struct LossDetector {
    thresholds: Option<LossDetection>,
    initial: SpaceState,
    handshake: SpaceState,
    application: SpaceState,
    /// The earliest deadline of a space.
    deadline: Instant,
}

/// Stands for no deadline, and for one that the clock does not reach.
const NEVER: Instant = Instant::MAX;

/// `largest_acked_packet` and `loss_time` of one space (RFC 9002 appendix A.3).
#[derive(Clone, Copy, Debug)]
struct SpaceState {
    /// Behind the largest acked; zero if none was.
    acked_end: u64,
    deadline: Instant,
    /// No packet of the space below this number is in flight.
    lowest: u64,
}

impl SpaceState {
    const NEW: Self = Self { acked_end: 0, deadline: NEVER, lowest: 0 };
}

impl LossDetector {
    pub(super) fn new(thresholds: Option<LossDetection>) -> Self {
        Self {
            thresholds,
            initial: SpaceState::NEW,
            handshake: SpaceState::NEW,
            application: SpaceState::NEW,
            deadline: NEVER,
        }
    }

    /// The number behind the largest acked one of a space; zero if none was.
    pub(super) fn acked_end(&self, space: PacketSpace) -> u64 {
        self.space(space).acked_end
    }

    /// Packets were newly acked, the last of them before the number `end`.
    pub(super) fn on_acked(&mut self, space: PacketSpace, end: u64) {
        let state = self.space_mut(space);
        state.acked_end = state.acked_end.max(end);
    }

    pub(super) fn forget(&mut self, space: PacketSpace) {
        *self.space_mut(space) = SpaceState::NEW;
        self.note_deadline();
    }

    fn note_deadline(&mut self) {
        self.deadline = self.initial.deadline.min(self.handshake.deadline).min(self.application.deadline);
    }

    /// `DetectAndRemoveLostPackets` (RFC 9002 appendix A.10): calls `lost` with each packet of the space that
    /// is lost now, and sets the deadline for those that are not yet.
    ///
    /// Looks at the packets, of all spaces, between the oldest of the space that is in flight and its largest acked. With
    /// the packet threshold of RFC 9002 no more than two of the space stay in flight below the largest acked, so that
    /// each packet is looked at a few times.
    pub(super) fn detect<const N: usize>(
        &mut self,
        ring: &mut Ring<N>,
        rtt: &RttEstimator,
        now: Instant,
        space: PacketSpace,
        mut lost: impl FnMut(u64),
    ) {
        let Some(thresholds) = self.thresholds else { return };
        let state = self.space_mut(space);
        // What was never acked has no largest acked, and no packet before it.
        let largest = state.acked_end.saturating_sub(1);
        // Known once it is needed: as a rule nothing is in flight below the largest acked.
        let mut delay = None;
        let mut deadline = NEVER;
        let mut sent_after: u32 = 0;
        let lowest = state.lowest.max(ring.unsettled());
        state.lowest = largest.max(lowest);
        // Downwards, counting packets of the space between each packet and the largest acked.
        for index in ring.indexes(lowest, largest).rev() {
            let number = ring.number(index);
            let Some(entry) = ring.at_mut(index) else { break };
            if entry.space() != space {
                continue;
            }
            sent_after = sent_after.saturating_add(1);
            if entry.state() != State::Outstanding {
                continue;
            }
            let due = entry.sent_at().after(*delay.get_or_insert_with(|| thresholds.delay(rtt)));
            if sent_after >= thresholds.packet_threshold || due <= now {
                entry.set_state(State::MarkedLost);
                lost(number);
            } else {
                state.lowest = number;
                deadline = deadline.min(due);
            }
        }
        if state.deadline != deadline {
            state.deadline = deadline;
            self.note_deadline();
        }
    }

    const fn space(&self, space: PacketSpace) -> &SpaceState {
        match space {
            PacketSpace::Initial => &self.initial,
            PacketSpace::Handshake => &self.handshake,
            PacketSpace::Application => &self.application,
        }
    }

    fn space_mut(&mut self, space: PacketSpace) -> &mut SpaceState {
        match space {
            PacketSpace::Initial => &mut self.initial,
            PacketSpace::Handshake => &mut self.handshake,
            PacketSpace::Application => &mut self.application,
        }
    }
}

impl LossDetection {
    /// `max(kTimeThreshold * max(smoothed_rtt, latest_rtt), kGranularity)` (RFC 9002 section 6.1.2).
    fn delay(self, rtt: &RttEstimator) -> Duration {
        rtt.smoothed()
            .max(rtt.latest())
            .times(u64::from(self.time_numerator))
            .divided_by(u64::from(self.time_denominator))
            .max(GRANULARITY)
    }
}

impl<C: CongestionController, const N: usize> Path<C, N> {
    /// When [`Path::on_loss_timeout`] is to be called; `None` without loss detection by the path, or if no
    /// packet waits for its time threshold, or only to the end of the clock ([`Instant::MAX`]). A deadline in the past is
    /// due at once.
    #[must_use]
    pub fn loss_deadline(&self) -> Option<Instant> {
        (self.loss.deadline < NEVER).then_some(self.loss.deadline)
    }

    /// The loss deadline has passed: declares lost what has become so. Harmless at any other time between
    /// frames; a frame whose parts have been given is finished with it.
    pub fn on_loss_timeout(&mut self, now: Instant) -> FrameReport {
        for space in SPACES {
            self.detect_losses(now, space);
        }
        self.finish(now, FrameEnd { cause: LossCause::Timer, ..FrameEnd::default() })
    }

    pub(super) fn detect_losses(&mut self, now: Instant, space: PacketSpace) {
        let Self { loss, ring, rtt, frame, .. } = self;
        loss.detect(ring, rtt, now, space, |number| {
            frame.has_others = true;
            // Numbers come descending.
            frame.marks.insert_anywhere(number);
        });
    }

    /// A packet in flight that is neither acked nor lost nor marked by the frame that is being collected.
    pub(super) fn outstanding_entry(&self, number: u64) -> Option<&Entry> {
        self.ring.get(number).filter(|entry| entry.state() == State::Outstanding)
    }
}
