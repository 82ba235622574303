//! Use of a window saved from an earlier connection (a subset of RFC 9959, see [`Config::resume`](crate::Config)).

use crate::Cubic;
use crate::bytes::FineBytes;
use crate::config::ResumeJump;
use crate::state::{Phase, State};
use cc_core::{AckEvent, AckedPacket, Duration, PathState, ResumeHint, SendMark, SlowStart};

/// Largest difference between the first RTT sample and the saved RTT: this part of the sample (picoquic's rule;
/// stricter than RFC 9959, "Reconnaissance Phase").
const RTT_TOLERANCE_DIVISOR: u64 = 4;

/// Share of what the path carried that becomes the threshold after a safe retreat: `beta_cubic`, in tenths
/// (RFC 9959, "Safe Retreat Phase").
const RETREAT_BETA_TENTHS: u64 = 7;

/// Phases of RFC 9959.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Resume {
    /// "Normal": no saved window, or done with it.
    Off {
        /// The first RTT sample, to check a window against that is announced later.
        first_rtt: Option<Duration>,
    },
    /// "Reconnaissance": before the first RTT sample.
    Waiting(ResumeHint),
    /// Packets are sent that only the jump allows; none of them is acked.
    Unvalidated {
        /// They are sent after this.
        first: SendMark,
        /// `PipeSize` in bytes: flight at the jump, and all acked since.
        pipe: u64,
    },
    /// The first of them was acked.
    Validating {
        /// The last of them was sent before this.
        last: SendMark,
        /// `PipeSize` in bytes.
        pipe: u64,
    },
    /// "Normal" again: all of them were acked. Congestion that the same frame tells still counts as before that.
    Validated {
        /// When the last ACK came.
        at: SendMark,
        /// `PipeSize` in bytes.
        pipe: u64,
    },
    /// "Safe retreat": congestion before all were acked. Lasts as long as the recovery period.
    Retreat {
        /// `PipeSize` in bytes.
        pipe: u64,
    },
}

impl Resume {
    /// No saved window, and no RTT sample yet.
    pub(crate) const OFF: Self = Self::Off { first_rtt: None };

    /// Whether the saved path is the current one.
    pub(crate) fn confirms(hint: &ResumeHint, first_rtt: Duration) -> bool {
        let difference = hint.rtt.minus(first_rtt).plus(first_rtt.minus(hint.rtt));
        difference <= first_rtt.divided_by(RTT_TOLERANCE_DIVISOR)
    }

    /// The window to jump to, in bytes.
    pub(crate) const fn jump(hint: &ResumeHint, part: ResumeJump) -> u64 {
        match part {
            ResumeJump::Whole => hint.cwnd,
            ResumeJump::Half => hint.cwnd / 2,
        }
    }

    pub(crate) const fn begin(path: &PathState) -> Self {
        Self::Unvalidated { first: SendMark::new(path), pipe: path.bytes_in_flight }
    }

    /// Whether the packet was sent before the jump: its ack tells nothing about the jump, which is not validated yet.
    pub(crate) fn precedes_jump(&self, packet: &AckedPacket) -> bool {
        matches!(self, Self::Unvalidated { first, .. } if first.covers(packet.number, packet.sent_at))
    }

    /// Counts acked bytes and moves on to the next phase, through all of them if the ACK is for all of the flight: how it is
    /// cut makes no difference.
    pub(crate) fn on_ack(&mut self, path: &PathState, ack: &AckEvent<'_>, bytes: u64) {
        match self {
            Self::Off { .. } | Self::Waiting(_) | Self::Validated { .. } => return,
            Self::Unvalidated { pipe, .. } | Self::Validating { pipe, .. } | Self::Retreat { pipe } => {
                *pipe = pipe.saturating_add(bytes);
            }
        }
        if let Self::Unvalidated { first, pipe, .. } = *self
            && ack.packets.iter().any(|packet| !first.covers(packet.number, packet.sent_at))
        {
            *self = Self::Validating { last: SendMark::new(path), pipe };
        }
        if let Self::Validating { last, pipe } = *self
            && last.is_passed(path, ack)
        {
            *self = Self::Validated { at: SendMark::new(path), pipe };
        }
    }

    /// `PipeSize` in bytes if congestion now calls for a safe retreat.
    pub(crate) fn unvalidated_pipe(&self, path: &PathState) -> Option<u64> {
        match self {
            Self::Unvalidated { pipe, .. } | Self::Validating { pipe, .. } => Some(*pipe),
            Self::Validated { at, pipe } => (*at == SendMark::new(path)).then_some(*pipe),
            Self::Off { .. } | Self::Waiting(_) | Self::Retreat { .. } => None,
        }
    }

    pub(crate) const fn phase(&self) -> Option<&'static str> {
        match self {
            Self::Unvalidated { .. } => Some("unvalidated"),
            Self::Validating { .. } => Some("validating"),
            Self::Retreat { .. } => Some("safe_retreat"),
            Self::Off { .. } | Self::Waiting(_) | Self::Validated { .. } => None,
        }
    }
}

impl<S: SlowStart> Cubic<S> {
    /// An RTT sample of the path; only the first is used.
    pub(crate) fn take_first_rtt(&mut self, path: &PathState, rtt: Duration) {
        match self.resume {
            Resume::Off { first_rtt: None } => self.resume = Resume::Off { first_rtt: Some(rtt) },
            Resume::Waiting(hint) => self.try_resume(path, &hint, rtt),
            _ => {}
        }
    }

    /// A saved window became known. It is used once, and not after congestion (RFC 9959, "Reconnaissance Phase").
    pub(crate) fn take_hint(&mut self, path: &PathState, hint: &ResumeHint) {
        match self.resume {
            Resume::Off { first_rtt: Some(rtt) } => self.try_resume(path, hint, rtt),
            Resume::Off { first_rtt: None } | Resume::Waiting(_) => self.resume = Resume::Waiting(*hint),
            Resume::Unvalidated { .. }
            | Resume::Validating { .. }
            | Resume::Validated { .. }
            | Resume::Retreat { .. } => {}
        }
    }

    /// Uses the saved window if the first RTT sample confirms it (RFC 9959).
    fn try_resume(&mut self, path: &PathState, hint: &ResumeHint, first_rtt: Duration) {
        self.resume = Resume::Off { first_rtt: Some(first_rtt) };
        let jump = Resume::jump(hint, self.settings.resume_jump).min(self.settings.max_window());
        let usable = self.state.in_initial_slow_start()
            && Resume::confirms(hint, first_rtt)
            && jump > self.state.cwnd.whole();
        if !usable {
            return;
        }
        self.resume = Resume::begin(path);
        self.state.cwnd_prior = self.state.cwnd.whole();
        self.state.ssthresh = hint.cwnd.min(self.settings.max_window());
        self.state.cwnd = FineBytes::new(jump);
        if jump >= self.state.ssthresh {
            self.state.start_flat_stage(path.now, &self.settings);
        }
        self.start_segments();
        self.settled_at = path.now;
    }

    /// Congestion that the frame of the first RTT sample tells too came before the jump, whichever was told first: the saved
    /// window is not used (RFC 9959, "Reconnaissance Phase").
    pub(crate) fn take_back_jump(&mut self, path: &PathState) {
        if let Resume::Unvalidated { first, .. } = self.resume
            && first == SendMark::new(path)
        {
            let window = FineBytes::new(self.state.cwnd_prior);
            self.state = State { cwnd: window, ..State::initial(&self.settings) };
            self.resume = Resume::OFF;
        }
    }

    /// Safe retreat of RFC 9959: half of what the path is known to have carried.
    pub(crate) fn retreat(&mut self, pipe: u64) {
        let cwnd = (pipe / 2).min(self.state.cwnd.whole()).max(self.settings.min_window());
        self.state.cwnd = FineBytes::new(cwnd);
        self.state.ssthresh = cwnd;
        self.state.cwnd_prior = cwnd;
        self.state.w_max = cwnd;
        self.state.phase = Phase::Recovery;
        self.resume = Resume::Retreat { pipe };
    }

    /// The recovery period is over: the threshold is what the path turned out to carry, times beta.
    pub(crate) fn end_retreat(&mut self) {
        if let Resume::Retreat { pipe } = self.resume {
            self.resume = Resume::OFF;
            let carried = pipe.min(self.settings.max_window()).saturating_mul(RETREAT_BETA_TENTHS) / 10;
            self.state.ssthresh = carried.max(self.state.cwnd.whole());
            if self.state.cwnd.whole() < self.state.ssthresh {
                self.state.phase = Phase::SlowStart;
            }
        }
    }
}
