//! How often the peer is asked to acknowledge, by state (section 4.1.3.3).

use crate::{Bbr, State};
use cc_core::{AckPolicy, Duration};

/// Acks per round trip while bandwidth is probed.
const PROBING_ACKS: u64 = 4;
/// Part of the window, and of two round trips, after which an ACK is wanted otherwise: a quarter.
const STEADY_DIVISOR: u64 = 4;
/// Delay in ProbeRTT, where each RTT sample counts.
const PROMPT: Duration = Duration::from_millis(1);

impl Bbr {
    /// `None` before the first RTT sample. The minimum RTT takes the place of the smoothed one, which is no less.
    pub(crate) fn ack_policy(&self) -> Option<AckPolicy> {
        let rtt = self.min_rtt.get()?;
        let datagrams = |bytes: u64| bytes.checked_div(self.settings.datagram()).unwrap_or(1).max(1);
        // At least four per round trip.
        let frequent = AckPolicy {
            packets: datagrams(self.target_inflight() / PROBING_ACKS),
            max_ack_delay: rtt.divided_by(PROBING_ACKS),
        };
        Some(match self.state {
            State::ProbeRtt { .. } => {
                AckPolicy { packets: 1, max_ack_delay: PROMPT.min(frequent.max_ack_delay) }
            }
            // A sender that runs out of window between acks asks for more of them.
            State::ProbeBwDown(_) | State::ProbeBwCruise(_) if !self.cwnd_limited.get() => {
                AckPolicy { packets: datagrams(self.cwnd / STEADY_DIVISOR), max_ack_delay: rtt.divided_by(2) }
            }
            _ => frequent,
        })
    }
}
