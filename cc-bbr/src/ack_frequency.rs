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

#[cfg(test)]
mod tests {
    use crate::tests::{cruising, ms, path, probing};
    use crate::{Bbr, Config, State};
    use cc_core::{CongestionController, PathState};

    fn wanted(bbr: &Bbr) -> Option<(u64, u64)> {
        bbr.wanted_ack_policy().map(|policy| (policy.packets, policy.max_ack_delay.as_micros()))
    }

    #[test]
    fn probes_want_four_acks_per_round_trip_and_cruising_two() {
        assert_eq!(wanted(&Bbr::new(&Config::default())), None);
        // BDP 400 000: 333 packets, of which a quarter are 83; the window is twice as large.
        let mut bbr = probing(10_000_000, 40);
        assert_eq!(wanted(&bbr), Some((83, 10_000)));
        bbr.state = State::Startup;
        assert_eq!(wanted(&bbr), Some((83, 10_000)));
        let mut bbr = cruising(10_000_000, 40);
        assert_eq!(wanted(&bbr), Some((166, 20_000)));
        // It ran out of window.
        bbr.note_cwnd_use(&PathState { bytes_in_flight: bbr.cwnd(), ..path() });
        assert_eq!(wanted(&bbr), Some((83, 10_000)));
        bbr.state = State::ProbeRtt { done_at: None, round_done: false };
        assert_eq!(wanted(&bbr), Some((1, 1_000)));
        let mut tiny = cruising(8_000, 10);
        assert_eq!(wanted(&tiny), Some((1, 5_000)));
        tiny.cwnd = 4_800;
        assert_eq!(wanted(&tiny), Some((1, ms(5).as_micros())));
    }
}
