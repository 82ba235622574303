//! The ACK frequency that the sender asks for (sim_model section 5.6).

use super::packet::AckFrequency;
use crate::scenario::Endpoint;

/// What the sender knows when it computes the policy. Times in microseconds, sizes in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Inputs {
    pub(super) cwnd: u64,
    pub(super) mtu: u64,
    pub(super) min_rtt_us: u64,
    pub(super) smoothed_rtt_us: u64,
    /// Delivery rate in bytes per second.
    pub(super) rate: u64,
    /// Rate at which the peer's packets arrive, in bytes per second; 0 if unknown.
    pub(super) return_rate: u64,
    /// Whether no slow-start threshold is set and no congestion was seen yet.
    pub(super) startup: bool,
}

/// Size of an ACK packet on the wire below UDP: layer 2, IPv6, UDP and 55 bytes.
const ACK_WIRE_SIZE: u64 = 115;
const MEDIUM_RATE: u64 = 2_000_000;
const LONG_RTT_US: u64 = 100_000;

/// Packets per ACK and delay that suit the path now, before the rules of [`Requested`].
pub(super) fn suited(config: &Endpoint, inputs: &Inputs) -> AckFrequency {
    let window = (inputs.cwnd / inputs.mtu.max(1)).max(2);
    let mut delay_us = (inputs.min_rtt_us / 4).min(config.max_ack_delay_us).max(config.min_ack_delay_us);
    let mut gap = gap_for(config, inputs, window);
    if 2 * inputs.smoothed_rtt_us > 3 * inputs.min_rtt_us && inputs.return_rate > 0 {
        let ack_time_us = ACK_WIRE_SIZE * 1_000_000 / inputs.return_rate;
        if ack_time_us > delay_us {
            delay_us = ack_time_us.min(config.max_ack_delay_us);
        }
        let target_us = (inputs.smoothed_rtt_us + inputs.min_rtt_us) / 2;
        let packets = if inputs.startup { window / 2 } else { window };
        if packets.div_ceil(gap) * delay_us > target_us {
            let acks = inputs.smoothed_rtt_us / delay_us.max(1);
            gap = if acks <= 1 { packets } else { gap.max(packets.div_ceil(acks)) };
        }
    }
    if inputs.min_rtt_us < delay_us * 4 {
        gap = gap.min(32);
    }
    AckFrequency { gap: gap.max(1), delay_us }
}

fn gap_for(config: &Endpoint, inputs: &Inputs, window: u64) -> u64 {
    let mut packets = if inputs.startup { window / 2 } else { window };
    let short_us = 4 * config.min_ack_delay_us;
    if inputs.min_rtt_us < short_us {
        packets *= if inputs.min_rtt_us > config.min_ack_delay_us { short_us / inputs.min_rtt_us } else { 4 };
    }
    let least = match (inputs.rate > MEDIUM_RATE, inputs.min_rtt_us > LONG_RTT_US) {
        (true, true) => 10,
        (true, false) => 4,
        (false, _) => 2,
    };
    let gap = packets.div_ceil(4);
    if gap > 32 { (32 + packets.saturating_sub(128) / 8).min(64) } else { gap.max(least) }
}

/// What the peer was asked for last: the gap never falls, small changes of the delay are not sent.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Requested {
    last: Option<AckFrequency>,
}

impl Requested {
    /// The frame to send if `suited` differs enough from what was asked for last.
    pub(super) fn update(&mut self, suited: AckFrequency) -> Option<AckFrequency> {
        let next = match self.last {
            None => suited,
            Some(last) => {
                let same_delay = (7 * last.delay_us / 8..=9 * last.delay_us / 8).contains(&suited.delay_us);
                if suited.gap <= last.gap && same_delay {
                    return None;
                }
                AckFrequency { gap: suited.gap.max(last.gap), delay_us: suited.delay_us }
            }
        };
        self.last = Some(next);
        Some(next)
    }
}

#[cfg(test)]
mod tests {
    use super::{Inputs, Requested, suited};
    use crate::engine::packet::AckFrequency;
    use crate::scenario::Endpoint;

    const BASE: Inputs = Inputs {
        cwnd: 144_000,
        mtu: 1_440,
        min_rtt_us: 80_000,
        smoothed_rtt_us: 80_000,
        rate: 1_000_000,
        return_rate: 0,
        startup: false,
    };

    fn policy(inputs: Inputs) -> (u64, u64) {
        let AckFrequency { gap, delay_us } = suited(&Endpoint::default(), &inputs);
        (gap, delay_us)
    }

    #[test]
    fn the_gap_is_a_quarter_of_the_window_and_the_delay_a_quarter_of_the_rtt() {
        // 100 packets: 25 per ACK; 80 ms / 4 = 20 ms, capped at 10 ms.
        assert_eq!(policy(BASE), (25, 10_000));
        // Half as many while starting up: ceil(50 / 4).
        assert_eq!(policy(Inputs { startup: true, ..BASE }), (13, 10_000));
        assert_eq!(policy(Inputs { min_rtt_us: 30_000, smoothed_rtt_us: 30_000, ..BASE }), (25, 7_500));
    }

    #[test]
    fn large_windows_get_at_most_64_and_small_ones_at_least_2_4_or_10() {
        // 200 packets: 50 > 32, so 32 + 72 / 8 = 41; 1000 packets: capped.
        assert_eq!(policy(Inputs { cwnd: 288_000, ..BASE }).0, 41);
        assert_eq!(policy(Inputs { cwnd: 1_440_000, ..BASE }).0, 64);
        let small = Inputs { cwnd: 2_880, ..BASE };
        assert_eq!(policy(small).0, 2);
        assert_eq!(policy(Inputs { rate: 2_000_001, ..small }).0, 4);
        let long = Inputs { rate: 2_000_001, min_rtt_us: 100_001, smoothed_rtt_us: 100_001, ..small };
        assert_eq!(policy(long).0, 10);
    }

    #[test]
    fn short_paths_get_larger_gaps_and_never_more_than_32() {
        // min_rtt 2 ms: 100 packets times 4 ms / 2 ms = 200: 41, but 2 ms < 4 * 1 ms caps at 32.
        assert_eq!(policy(Inputs { min_rtt_us: 2_000, smoothed_rtt_us: 2_000, ..BASE }), (32, 1_000));
    }

    #[test]
    fn the_gap_never_falls_and_small_changes_of_the_delay_are_not_sent() {
        let mut requested = Requested::default();
        let frame = |gap, delay_us| AckFrequency { gap, delay_us };
        assert_eq!(requested.update(frame(2, 8_000)), Some(frame(2, 8_000)));
        assert_eq!(requested.update(frame(2, 9_000)), None, "9/8 is not more than an eighth");
        assert_eq!(requested.update(frame(5, 8_000)), Some(frame(5, 8_000)));
        assert_eq!(requested.update(frame(3, 9_001)), Some(frame(5, 9_001)));
    }
}
