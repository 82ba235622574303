//! Growth of the window in congestion avoidance (RFC 9438 sections 4.2 to 4.5).

use crate::bytes::{FineBytes, Slope};
use crate::state::{Stage, State};
use cc_core::{Duration, Instant};

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
    /// `(target - cwnd) / cwnd`.
    cubic: Slope,
    /// `alpha_cubic * datagram / cwnd`.
    reno: Slope,
    /// Whether it began in the Reno-friendly region.
    reno_friendly: bool,
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
            let cubic =
                if segment.reno_friendly { state.cwnd } else { state.cwnd.plus(segment.cubic.times(part)) };
            let wanted = cubic.max(stage.w_est);
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
        // Section 4.2: cwnd <= target <= 1.5 * cwnd.
        let half = FineBytes::from_raw(cwnd.raw() / 2);
        let target = target.clamp(cwnd, cwnd.plus(half));
        // Section 4.3: alpha_cubic = 3 * (1 - 0.7) / (1 + 0.7) = 9/17, and 1 once W_est has reached cwnd_prior.
        let datagram = FineBytes::new(self.datagram);
        let increase = if stage.w_est >= FineBytes::new(state.cwnd_prior) {
            datagram
        } else {
            FineBytes::from_raw(datagram.raw().saturating_mul(9) / 17)
        };
        Segment {
            left: (cwnd.whole() / SEGMENTS_PER_WINDOW).max(1),
            cubic: Slope::new(target.minus(cwnd), cwnd),
            reno: Slope::new(increase, cwnd),
            reno_friendly: w_cubic < stage.w_est,
        }
    }
}
