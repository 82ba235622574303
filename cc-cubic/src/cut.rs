//! Which packets the last reduction covers, and what can still become of it.

use crate::config::Settings;
use crate::state::State;
use cc_core::{Duration, Instant, PathState, SendMark, SentPacket};

/// The last reduction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Cut {
    /// Packets sent before it do not cause another one, and do not grow the window.
    mark: SendMark,
    rescue: Rescue,
    /// The reduction before it: packets sent before that one, or as if before it, do not belong to this period.
    earlier: Option<Earlier>,
    /// When the network path changed: packets sent before that say nothing about this one.
    path_change: Option<SendMark>,
    pub(crate) cause: Cause,
}

/// The reduction before the last one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Earlier {
    mark: SendMark,
    kind: EarlierKind,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum EarlierKind {
    /// For marks alone so far: a loss of its period deepens it.
    ByMarks,
    /// Persistent congestion.
    Persistent,
    Other,
}

/// The one packet that may be sent beyond the window on entering recovery (RFC 9002 section 7.3.2).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Rescue {
    /// It may be sent. Nothing was sent since the reduction, so the frame that told it may not be over.
    Allowed {
        /// Packets sent before this do not belong to the period before the last one either.
        older: Option<SendMark>,
    },
    /// It was sent at this time, as the first packet after the mark: its loss does not cause another reduction either.
    Sent(Instant),
    /// It was not sent, and may not be any more.
    Over,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Cause {
    /// Losses, marks or both, and still open: the reduction is that of a loss while `lost_bytes` is not zero, else that
    /// of a mark, each measured from `before`; with neither left it is undone.
    Open {
        /// The state before the period.
        before: State,
        /// Bytes declared lost that have not turned out delivered.
        lost_bytes: u64,
        /// Whether a CE mark belongs to the period: its reduction is never undone.
        marked: bool,
    },
    /// Persistent congestion: final.
    Persistent,
    /// Nothing can change it any more.
    Final,
}

/// How a packet lies to the last reduction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Membership {
    /// Sent on another network path.
    Elsewhere,
    /// Sent before an earlier reduction.
    Old,
    /// Sent in the window that the last reduction answers.
    InPeriod,
    /// Sent after it: a new congestion event.
    New,
}

impl Cut {
    /// A reduction at `mark`.
    pub(crate) fn new(mark: SendMark, previous: Option<Self>, cause: Cause) -> Self {
        let earlier = previous.map(|cut| {
            let kind = match cut.cause {
                Cause::Open { lost_bytes: 0, .. } => EarlierKind::ByMarks,
                Cause::Persistent => EarlierKind::Persistent,
                Cause::Open { .. } | Cause::Final => EarlierKind::Other,
            };
            Earlier { mark: cut.border(), kind }
        });
        let older = previous.and_then(|cut| cut.earlier).map(|earlier| earlier.mark);
        let path_change = previous.and_then(|cut| cut.path_change);
        Self { mark, rescue: Rescue::Allowed { older }, earlier, path_change, cause }
    }

    /// When the window was reduced.
    pub(crate) const fn at(&self) -> Instant {
        self.mark.at()
    }

    /// The mark beyond the packet that was sent beyond the window, if it was: nothing else was sent between the two, so
    /// all that it covers belongs to the period, once another one follows.
    fn border(&self) -> SendMark {
        let Rescue::Sent(at) = self.rescue else { return self.mark };
        let next_number = if self.mark.has_number() { self.mark.number().saturating_add(1) } else { 0 };
        SendMark::new(&PathState { now: at, next_number, ..PathState::default() })
    }

    /// The network path changed: what was sent before is of no account.
    pub(crate) fn path_change(mark: SendMark) -> Self {
        Self { mark, rescue: Rescue::Over, earlier: None, path_change: Some(mark), cause: Cause::Final }
    }

    /// The mark of the reduction before, as one that is settled.
    pub(crate) fn before(&self) -> Option<Self> {
        let settled = |Earlier { mark, .. }| Self {
            mark,
            rescue: Rescue::Over,
            earlier: None,
            cause: Cause::Final,
            ..*self
        };
        self.earlier.map(settled)
    }

    /// Whether an [`Old`](Membership::Old) packet belongs to the period before, and is told of in the frame that opened
    /// this one: it may as well have been told of before that.
    pub(crate) fn is_told_late(&self, path: &PathState, number: Option<u64>, sent_at: Instant) -> bool {
        match self.rescue {
            Rescue::Allowed { older } => {
                self.mark == SendMark::new(path) && older.is_none_or(|older| !older.covers(number, sent_at))
            }
            Rescue::Sent(_) | Rescue::Over => false,
        }
    }

    /// Packets of the period before were lost: the state before this period, if that changes it.
    pub(crate) fn lose_in_earlier(&mut self) -> Option<State> {
        let earlier = self.earlier.as_mut()?;
        match self.cause {
            Cause::Open { before, .. } if earlier.kind == EarlierKind::ByMarks => {
                earlier.kind = EarlierKind::Other;
                Some(before)
            }
            Cause::Open { .. } | Cause::Persistent | Cause::Final => None,
        }
    }

    /// Whether the window has collapsed for losses that are all as old as the last reduction, or older than the one that the
    /// frame tells too.
    pub(crate) fn has_collapsed(&self, path: &PathState, all_are_old: bool) -> bool {
        let before_frame = all_are_old && self.mark == SendMark::new(path);
        self.cause == Cause::Persistent
            || before_frame && self.earlier.is_some_and(|earlier| earlier.kind == EarlierKind::Persistent)
    }

    /// Whether one packet may be sent beyond the window.
    pub(crate) const fn allows_rescue(&self) -> bool {
        matches!(self.rescue, Rescue::Allowed { .. })
    }

    /// A packet in flight was sent; `beyond` the window or not. RFC 9002 section 7.3.2 allows the first one as sent
    /// *prior to* the reduction, so its loss (likely, with a full queue) is no new congestion event.
    pub(crate) fn on_packet_sent(&mut self, packet: &SentPacket, beyond: bool) {
        if self.allows_rescue() {
            let is_first = !self.mark.has_number() || packet.number == self.mark.number();
            self.rescue = if beyond && is_first { Rescue::Sent(packet.sent_at) } else { Rescue::Over };
        }
    }

    /// An ACK came. Once recovery has begun its acks clock out packets: one later than the reduction ends the permission,
    /// which would otherwise stay for a round trip where sends are not reported.
    pub(crate) fn on_ack(&mut self, now: Instant) {
        if now > self.mark.at() {
            self.end_rescue();
        }
    }

    /// Nothing more may be sent beyond the window.
    pub(crate) fn end_rescue(&mut self) {
        if self.allows_rescue() {
            self.rescue = Rescue::Over;
        }
    }

    /// Whether it is the packet sent beyond the window: by number where known, else by send time.
    fn is_rescue(&self, number: Option<u64>, sent_at: Instant) -> bool {
        match (self.rescue, number) {
            (Rescue::Sent(_), Some(number)) if self.mark.has_number() => number == self.mark.number(),
            (Rescue::Sent(at), _) => sent_at == at,
            (Rescue::Allowed { .. } | Rescue::Over, _) => false,
        }
    }

    pub(crate) fn covers(&self, number: Option<u64>, sent_at: Instant) -> bool {
        self.mark.covers(number, sent_at)
    }

    pub(crate) fn membership(&self, number: Option<u64>, sent_at: Instant) -> Membership {
        if self.path_change.is_some_and(|change| change.covers(number, sent_at)) {
            Membership::Elsewhere
        } else if !self.is_rescue(number, sent_at) && !self.mark.covers(number, sent_at) {
            Membership::New
        } else if self.earlier.is_some_and(|earlier| earlier.mark.covers(number, sent_at)) {
            Membership::Old
        } else {
            Membership::InPeriod
        }
    }

    /// The datagram size changed: the stage that an undo would restore has another unit too, and in the handshake another
    /// initial window than with the settings that were in force.
    pub(crate) fn change_unit(&mut self, now: Instant, in_handshake: Option<&Settings>, settings: &Settings) {
        if let Cause::Open { before, .. } = &mut self.cause {
            if let Some(old) = in_handshake {
                before.change_initial_window(old, settings);
            }
            before.change_unit(now, settings);
        }
    }

    /// Time that does not count for a running stage does not count for the one that an undo would restore either.
    pub(crate) fn skip_time(&mut self, span: Duration, now: Instant) {
        if let Cause::Open { before, .. } = &mut self.cause {
            before.skip_time(span, now);
        }
    }
}
