//! HyStart++ (RFC 9406): leave slow start when the round-trip time rises.

use super::{SendRound, SlowStart, SlowStartStep};
use crate::{AckEvent, Duration, MAX_DATAGRAM_SIZE, PathState, RttEvent};

/// `MIN_RTT_THRESH`: a smaller rise is noise (RFC 9406 section 4.3).
const MIN_RTT_THRESH: Duration = Duration::from_millis(4);
/// `MAX_RTT_THRESH`: a larger rise is a queue on any path (RFC 9406 section 4.3).
const MAX_RTT_THRESH: Duration = Duration::from_millis(16);
/// `MIN_RTT_DIVISOR`: between both, the rise that counts is this fraction of the RTT (RFC 9406 section 4.3).
const MIN_RTT_DIVISOR: u64 = 8;
/// `N_RTT_SAMPLE`: samples of a round before its minimum says anything (RFC 9406 section 4.3).
const N_RTT_SAMPLE: u8 = 8;
/// `CSS_GROWTH_DIVISOR`: how much slower conservative slow start grows (RFC 9406 section 4.3).
const CSS_GROWTH_DIVISOR: u64 = 4;
/// `CSS_ROUNDS`: rounds of conservative slow start, the partial first one included (RFC 9406 section 4.3).
const CSS_ROUNDS: u8 = 5;
/// `L` of an unpaced sender: datagrams that one ACK may add to the window (RFC 9406 section 4.3).
const UNPACED_LIMIT: u64 = 8;

/// HyStart++: slow start that turns into *conservative slow start* (CSS) when the smallest RTT of a round lies
/// clearly above that of the round before, and ends after five rounds of it; if the RTT falls below the value
/// that started CSS, the rise was no queue, and slow start goes on (RFC 9406 section 4.2).
///
/// RTT samples are the raw ones of every ACK: a peer that lies about its ack delay can not keep a sender in
/// slow start. Rounds follow [`SendRound`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HyStartPlusPlus {
    paced: bool,
    state: State,
    /// `lastRoundMinRTT`; [`Duration::MAX`] is the document's infinity.
    last_round_min: Duration,
    /// `currentRoundMinRTT`.
    current_round_min: Duration,
    /// `rttSampleCount`.
    samples: u8,
    round: SendRound,
    /// Bytes of the current frame that were already used up against `L`.
    used_of_frame: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    SlowStart,
    Conservative {
        /// `cssBaselineMinRtt`.
        baseline: Duration,
        /// Rounds completed in CSS.
        rounds: u8,
        /// Bytes acked that are too few for a byte of growth yet: less than the growth divisor.
        remainder: u8,
    },
}

impl HyStartPlusPlus {
    /// HyStart++ for a stack that paces (`L` is infinite) or not (`L` is 8; RFC 9406 section 4.3).
    #[must_use]
    pub const fn new(paced: bool) -> Self {
        Self {
            paced,
            state: State::SlowStart,
            last_round_min: Duration::MAX,
            current_round_min: Duration::MAX,
            samples: 0,
            round: SendRound::new(),
            used_of_frame: 0,
        }
    }

    /// Whether conservative slow start is running.
    #[must_use]
    pub const fn is_conservative(&self) -> bool {
        matches!(self.state, State::Conservative { .. })
    }

    /// `min(N, L * SMSS)`: the part of `bytes` that counts, `L` being per frame.
    fn countable(&mut self, path: &PathState, bytes: u64) -> u64 {
        if self.paced {
            return bytes;
        }
        let limit = UNPACED_LIMIT.saturating_mul(path.max_datagram_size.min(MAX_DATAGRAM_SIZE));
        let countable = bytes.min(limit.saturating_sub(self.used_of_frame.into()));
        self.used_of_frame = self.used_of_frame.saturating_add(u32::try_from(countable).unwrap_or(u32::MAX));
        countable
    }

    /// The test for a rise (or, in CSS, a fall) of the RTT, on the samples of the current round so far.
    fn judge_rtt(&mut self) {
        if self.samples < N_RTT_SAMPLE {
            return;
        }
        match self.state {
            State::SlowStart => {
                if self.last_round_min == Duration::MAX || self.current_round_min == Duration::MAX {
                    return;
                }
                let threshold =
                    self.last_round_min.divided_by(MIN_RTT_DIVISOR).clamp(MIN_RTT_THRESH, MAX_RTT_THRESH);
                if self.current_round_min >= self.last_round_min.plus(threshold) {
                    self.state =
                        State::Conservative { baseline: self.current_round_min, rounds: 0, remainder: 0 };
                }
            }
            State::Conservative { baseline, .. } => {
                if self.current_round_min < baseline {
                    self.state = State::SlowStart;
                }
            }
        }
    }

    /// Starts a new round; returns whether the last round of CSS ended.
    fn end_round(&mut self) -> bool {
        self.last_round_min = self.current_round_min;
        self.current_round_min = Duration::MAX;
        self.samples = 0;
        match &mut self.state {
            State::SlowStart => false,
            State::Conservative { rounds, .. } => {
                *rounds = rounds.saturating_add(1);
                *rounds >= CSS_ROUNDS
            }
        }
    }
}

impl Default for HyStartPlusPlus {
    /// For a stack that paces.
    fn default() -> Self {
        Self::new(true)
    }
}

impl SlowStart for HyStartPlusPlus {
    fn on_rtt(&mut self, _path: &PathState, rtt: &RttEvent) {
        if rtt.is_sample {
            self.current_round_min = self.current_round_min.min(rtt.latest);
            self.samples = self.samples.saturating_add(1);
        }
    }

    fn on_ack(&mut self, path: &PathState, ack: &AckEvent<'_>, bytes: u64) -> SlowStartStep {
        // RFC 9406 section 4.2: first the window, then the RTT, then the round.
        let bytes = self.countable(path, bytes);
        let growth = match &mut self.state {
            State::SlowStart => bytes,
            State::Conservative { remainder, .. } => {
                let total = bytes.saturating_add(u64::from(*remainder));
                *remainder = u8::try_from(total % CSS_GROWTH_DIVISOR).unwrap_or(0);
                total / CSS_GROWTH_DIVISOR
            }
        };
        self.judge_rtt();
        if self.round.on_ack(path, ack) && self.end_round() {
            return SlowStartStep::Exit(growth);
        }
        SlowStartStep::Grow(growth)
    }

    fn on_frame_end(&mut self) {
        self.used_of_frame = 0;
    }

    fn phase(&self) -> &'static str {
        if self.is_conservative() { "conservative_slow_start" } else { "slow_start" }
    }

    fn reset(&mut self) {
        *self = Self::new(self.paced);
    }
}

#[cfg(test)]
mod tests;
