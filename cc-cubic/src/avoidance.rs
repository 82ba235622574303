//! Growth of the window in congestion avoidance (RFC 9438 sections 4.2 to 4.5).

use crate::bytes::{FineBytes, Slope};
use crate::state::{Stage, State};
use cc_core::{Duration, Instant, division};

/// The window is acked in this many parts, each at the rate of growth that holds at its start.
///
/// A fixed grid makes the result independent of how ACKs are cut; 32 parts follow the differential equation behind
/// `(target - cwnd) / cwnd` closely enough, at two 64-bit divisions each.
const SEGMENTS_PER_WINDOW: u64 = 32;

/// Parts of one ACK event that count: about two windows. More can not have been in flight.
const MAX_SEGMENTS: u32 = 64;

/// A part of the window that is being acked.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Segment {
    /// Bytes left of it.
    left: u64,
    /// `(target - cwnd) / cwnd`; zero if it began in the Reno-friendly region, where the window follows `W_est` alone.
    cubic: Slope,
    /// `alpha_cubic * datagram / cwnd`.
    reno: Slope,
}

/// What an ACK is applied with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Growth {
    pub(crate) now: Instant,
    /// Smoothed RTT; zero before the first sample.
    pub(crate) rtt: Duration,
    /// Bytes acked.
    pub(crate) bytes: u64,
    /// The window may grow up to here, in bytes.
    pub(crate) limit: u64,
    pub(crate) datagram: u64,
}

impl Growth {
    /// Grows the window of `state`, whose running stage is `stage`. Returns whether the limit stopped it.
    pub(crate) fn apply(self, state: &mut State, stage: &mut Stage, segment: &mut Segment) -> bool {
        if self.bytes == 0 {
            return false;
        }
        let limit = FineBytes::new(self.limit);
        let t = self.now.since(stage.epoch);
        let w_cubic = state.w_cubic(stage, t, self.datagram);
        let target = state.w_cubic(stage, t.plus(self.rtt), self.datagram);
        let mut bytes = self.bytes;
        for _ in 0..MAX_SEGMENTS {
            if bytes == 0 {
                break;
            }
            if segment.left == 0 {
                *segment = self.next_segment(state, stage, w_cubic, target);
            }
            let part = bytes.min(segment.left);
            bytes = bytes.saturating_sub(part);
            segment.left = segment.left.saturating_sub(part);
            // RFC 9438 section 4.3, equation 4.
            stage.w_est = stage.w_est.plus(segment.reno.times(part));
            // Sections 4.4 and 4.5, or the Reno-friendly region; of the two windows the larger one (section 4.2).
            let wanted = state.cwnd.plus(segment.cubic.times(part)).max(stage.w_est);
            if wanted > limit {
                state.cwnd = state.cwnd.max(limit);
                stage.w_est = stage.w_est.min(state.cwnd);
                return true;
            }
            state.cwnd = wanted;
        }
        false
    }

    fn next_segment(&self, state: &State, stage: &Stage, w_cubic: FineBytes, target: FineBytes) -> Segment {
        let cwnd = state.cwnd;
        // Section 4.2: cwnd <= target <= 1.5 * cwnd. Not `clamp`, which panics where its bounds cross: that they do not, the
        // compiler cannot know.
        let half = FineBytes::from_raw(cwnd.raw() / 2);
        let target = target.min(cwnd.plus(half)).max(cwnd);
        // Section 4.3: alpha_cubic = 3 * (1 - 0.7) / (1 + 0.7) = 9/17, and 1 once W_est has reached cwnd_prior.
        let datagram = FineBytes::new(self.datagram);
        let increase = if stage.w_est >= FineBytes::new(state.cwnd_prior) {
            datagram
        } else {
            FineBytes::from_raw(division::by::<17>(datagram.raw().saturating_mul(9)))
        };
        Segment {
            left: (cwnd.whole() / SEGMENTS_PER_WINDOW).max(1),
            cubic: if w_cubic < stage.w_est {
                Slope::default()
            } else {
                Slope::new(target.minus(cwnd), cwnd)
            },
            reno: Slope::new(increase, cwnd),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Growth, Segment};
    use crate::bytes::FineBytes;
    use crate::config::{Config, Settings};
    use crate::state::{Phase, Stage, State};
    use cc_core::{Duration, Instant};

    /// The window in whole bytes and `W_est` after one ACK of 1200 bytes, the RTT being 2 s; the stage has just begun.
    fn grown(cwnd: u64, w_max: u64, w_est: u64) -> (u64, u64) {
        let settings = Settings::new(&Config::default());
        let mut stage = Stage {
            epoch: Instant::ZERO,
            k: Duration::ZERO,
            w_est: FineBytes::new(w_est),
            after_slow_start: false,
        };
        let mut state = State {
            cwnd: FineBytes::new(cwnd),
            w_max,
            phase: Phase::Avoidance(stage),
            ..State::initial(&settings)
        };
        let growth = Growth {
            now: Instant::ZERO,
            rtt: Duration::from_secs(2),
            bytes: 1_200,
            limit: u64::MAX,
            datagram: 1_200,
        };
        assert!(!growth.apply(&mut state, &mut stage, &mut Segment::default()));
        (state.cwnd.whole(), stage.w_est.whole())
    }

    #[test]
    fn in_the_reno_friendly_region_the_window_is_w_est() {
        // W_cubic(0) = W_max = 119000 < W_est = 120000: the window becomes W_est = 120000 + 1200 * 1200 / 120000 (alpha is
        // 1: there is no cwnd_prior to reach), although W_cubic(RTT) = 119000 + 480 * 2^3 = 122840 lies above.
        let (cwnd, w_est) = grown(120_000, 119_000, 120_000);
        assert!((120_011..=120_012).contains(&cwnd), "{cwnd}");
        assert_eq!(cwnd, w_est);
    }

    #[test]
    fn outside_of_it_the_window_moves_towards_the_target() {
        // W_cubic(0) = 120000 is not below W_est = 120000: target 123840, (3840 / 120000) * 1200 = 38.4.
        let (cwnd, _) = grown(120_000, 120_000, 120_000);
        assert!((120_037..=120_038).contains(&cwnd), "{cwnd}");
    }

    #[test]
    fn the_target_is_at_least_the_window() {
        // Convex region far below the window: W_cubic(RTT) = 100000 + 3840. W_est is lower still.
        let (cwnd, _) = grown(120_000, 100_000, 90_000);
        assert_eq!(cwnd, 120_000);
    }
}
