//! What comes out of a controller.

use super::{FfiSamplingRule, Raw, bit_if};
use cc_core::{CongestionController, Rate, SamplingRule, Snapshot};
use core::ffi::c_char;

/// `pacing_rate` is a rate; without it the stack is not to pace, and the field is `CCFFI_UNPACED`.
pub const CCFFI_OUTPUTS_HAS_PACING_RATE: u32 = 1;
/// `wanted_ack_packets` and `wanted_max_ack_delay` are set.
pub const CCFFI_OUTPUTS_HAS_WANTED_ACK_POLICY: u32 = 2;
/// `pacing_rate` is a rate.
pub const CCFFI_SNAPSHOT_HAS_PACING_RATE: u32 = 1;
/// `ssthresh` is set.
pub const CCFFI_SNAPSHOT_HAS_SSTHRESH: u32 = 2;
/// `bandwidth` is set.
pub const CCFFI_SNAPSHOT_HAS_BANDWIDTH: u32 = 4;
/// `model_rtt` is set.
pub const CCFFI_SNAPSHOT_HAS_MODEL_RTT: u32 = 8;
/// The pacing rate of a controller that does not pace: as good as infinite, so that whoever forgets to ask sends unpaced, not
/// never.
pub const CCFFI_UNPACED: u64 = u64::MAX;
/// Bytes of the name of a phase, its terminating zero included; a longer name is cut.
pub const CCFFI_PHASE_SIZE: usize = 24;

/// What a controller asks for now. It may change on any event, a send included.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FfiOutputs {
    /// Congestion window in bytes: at least two datagrams.
    pub cwnd: u64,
    /// Rate to pace at, bytes per second: never 0. `CCFFI_UNPACED` for "do not pace".
    pub pacing_rate: u64,
    /// Largest burst to hand to the network at once, bytes; less than one datagram counts as one.
    pub send_quantum: u64,
    /// Ack-eliciting packets per ACK that the peer is wanted to wait for (draft-ietf-quic-ack-frequency). Optional.
    pub wanted_ack_packets: u64,
    /// Maximum ack delay that the peer is wanted to have, nanoseconds. Optional, with `wanted_ack_packets`.
    pub wanted_max_ack_delay: u64,
    /// With `CCFFI_SAMPLING_RULE_LAST_ACCEPTED_SAMPLE`: the ack interval of an accepted sample is longer than this, nanoseconds.
    pub min_ack_interval: u64,
    /// The rule that a delivery-rate sampler is to follow (`ccffi_sampling_rule`). Constant.
    pub sampling_rule: u32,
    /// The codepoint wanted on outgoing packets (`ccffi_ecn`).
    pub wanted_ecn: u32,
    /// Which optional fields are set: `CCFFI_OUTPUTS_HAS_...`.
    pub has: u32,
    /// Whether one packet may be sent now although the window is full (RFC 9002 section 7.3.2). Only for stacks that report every
    /// send.
    pub may_send_beyond_cwnd: u8,
    /// Whether the algorithm holds back sending now, so that rate samples count as application-limited.
    pub marks_app_limited: u8,
    /// Whether the algorithm reads rate samples and the snapshots of packets; if not, a stack need not keep them for it. Constant.
    pub uses_rate_samples: u8,
}

/// State for logs.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FfiSnapshot {
    /// Congestion window in bytes.
    pub cwnd: u64,
    /// Pacing rate, bytes per second; `CCFFI_UNPACED` if unpaced.
    pub pacing_rate: u64,
    /// Slow-start threshold in bytes. Optional.
    pub ssthresh: u64,
    /// The algorithm's estimate of what the path delivers, bytes per second. Optional.
    pub bandwidth: u64,
    /// The RTT that the window is computed from, nanoseconds. Optional.
    pub model_rtt: u64,
    /// Congestion events so far.
    pub congestion_events: u64,
    /// Which optional fields are set: `CCFFI_SNAPSHOT_HAS_...`.
    pub has: u32,
    /// Whether the algorithm is still in its first search for the capacity of the path.
    pub startup: u8,
    /// Name of the current phase, terminated by a zero.
    pub phase: [c_char; CCFFI_PHASE_SIZE],
}

plain!(FfiOutputs FfiSnapshot);

/// A pacing rate as C sees it.
pub(crate) fn raw_pacing_rate(rate: Option<Rate>) -> u64 {
    rate.map_or(CCFFI_UNPACED, Rate::as_bytes_per_sec)
}

impl FfiOutputs {
    pub(crate) fn of(controller: &impl CongestionController) -> Self {
        let pacing_rate = controller.pacing_rate();
        let policy = controller.wanted_ack_policy();
        let (sampling_rule, min_ack_interval) = match controller.sampling_rule() {
            SamplingRule::LastAck => (FfiSamplingRule::LastAck, 0),
            SamplingRule::LastAcceptedSample { min_ack_interval } => {
                (FfiSamplingRule::LastAcceptedSample, min_ack_interval.as_nanos())
            }
        };
        Self {
            cwnd: controller.cwnd(),
            pacing_rate: raw_pacing_rate(pacing_rate),
            send_quantum: controller.send_quantum(),
            wanted_ack_packets: policy.map_or(0, |policy| policy.packets),
            wanted_max_ack_delay: policy.map_or(0, |policy| policy.max_ack_delay.as_nanos()),
            min_ack_interval,
            sampling_rule: sampling_rule as u32,
            wanted_ecn: controller.wanted_ecn().to_raw(),
            has: bit_if(pacing_rate, CCFFI_OUTPUTS_HAS_PACING_RATE)
                | bit_if(policy, CCFFI_OUTPUTS_HAS_WANTED_ACK_POLICY),
            may_send_beyond_cwnd: controller.may_send_beyond_cwnd().into(),
            marks_app_limited: controller.marks_app_limited().into(),
            uses_rate_samples: controller.uses_rate_samples().into(),
        }
    }
}

impl FfiSnapshot {
    pub(crate) fn from_core(snapshot: &Snapshot) -> Self {
        let mut phase: [c_char; CCFFI_PHASE_SIZE] = [0; CCFFI_PHASE_SIZE];
        // The last byte stays zero.
        for (to, from) in
            phase.iter_mut().take(CCFFI_PHASE_SIZE.saturating_sub(1)).zip(snapshot.phase.bytes())
        {
            *to = c_char::from_ne_bytes([from]);
        }
        Self {
            cwnd: snapshot.cwnd,
            pacing_rate: raw_pacing_rate(snapshot.pacing_rate),
            ssthresh: snapshot.ssthresh.unwrap_or_default(),
            bandwidth: snapshot.bandwidth.unwrap_or_default().as_bytes_per_sec(),
            model_rtt: snapshot.model_rtt.unwrap_or_default().as_nanos(),
            congestion_events: snapshot.congestion_events,
            has: bit_if(snapshot.pacing_rate, CCFFI_SNAPSHOT_HAS_PACING_RATE)
                | bit_if(snapshot.ssthresh, CCFFI_SNAPSHOT_HAS_SSTHRESH)
                | bit_if(snapshot.bandwidth, CCFFI_SNAPSHOT_HAS_BANDWIDTH)
                | bit_if(snapshot.model_rtt, CCFFI_SNAPSHOT_HAS_MODEL_RTT),
            startup: snapshot.startup.into(),
            phase,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{CCFFI_PHASE_SIZE, FfiSnapshot};
    use cc_core::Snapshot;

    #[test]
    fn the_name_of_a_phase_ends_with_a_zero_however_long_it_is() {
        for (name, length) in [("", 0), ("cruising", 8), ("a phase with a very long name indeed", 23)] {
            let snapshot = FfiSnapshot::from_core(&Snapshot { phase: name, ..Snapshot::default() });
            assert_eq!(snapshot.phase.iter().position(|byte| *byte == 0), Some(length), "{name}");
            assert_eq!(snapshot.phase[CCFFI_PHASE_SIZE - 1], 0);
        }
    }
}
