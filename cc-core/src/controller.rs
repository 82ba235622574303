//! The contract between a stack and a congestion controller.

use crate::event::{
    AckEvent, AckPolicy, DiscardReason, EcnCodepoint, EcnEvent, LossEvent, MtuChange, PathChange, PathState,
    ResumeHint, RttEvent, SamplingRule, SentPacket, SpuriousLoss,
};
use crate::{Duration, Rate, Snapshot};
use std::fmt::Debug;

/// A congestion controller: events in; window, pacing rate and a few hints out.
///
/// Sans-IO: no clock, no timer, no socket, no packets. Outputs may change on any event, `on_packet_sent`
/// included; stacks re-read them for every burst. Usable as a type parameter and as `dyn`.
///
/// **Order of one ACK frame: `on_ecn`, `on_rtt`, `on_loss`, `on_ack`.** [`Path`](crate::Path) delivers it so;
/// an adapter that calls the trait itself buffers a frame where its stack's order is another. Acks and losses
/// of packets never seen, duplicates, times that go backwards and absurd sizes are tolerated: no panic.
///
/// Every implementation is also `Clone` (not required here, so that the trait stays usable as `dyn`).
pub trait CongestionController: Debug + Send + Sync + 'static {
    /// A packet was handed to the network. `path` is the state after it. Stacks that never call it lose
    /// precision, not correctness.
    fn on_packet_sent(&mut self, path: &PathState, packet: &SentPacket);

    /// Packets were newly acknowledged.
    fn on_ack(&mut self, path: &PathState, ack: &AckEvent<'_>);

    /// Packets were declared lost by packet or time threshold (RFC 9002 section 6.1).
    fn on_loss(&mut self, path: &PathState, loss: &LossEvent<'_>);

    /// Validated ECN counts arrived, also when none of them is CE.
    fn on_ecn(&mut self, path: &PathState, ecn: &EcnEvent);

    /// Rate to pace at: `None` for "do not pace", else greater than zero.
    ///
    /// RFC 9002 section 7.7 wants bursts paced, or limited to the initial window. An algorithm therefore answers `None` only
    /// while its window is the initial one, before it knows an RTT; one that never paces is for stacks that limit bursts
    /// themselves.
    fn pacing_rate(&self) -> Option<Rate>;

    /// Congestion window in bytes: at least two datagrams, whatever happened.
    fn cwnd(&self) -> u64;

    /// An RTT was measured (once per frame that acked something new).
    fn on_rtt(&mut self, _path: &PathState, _rtt: &RttEvent) {}

    /// Window and pacer allow sending, and no data is left.
    fn on_app_limited(&mut self, _path: &PathState) {}

    /// A packet in flight is about to be sent after the flight had been empty for `idle`. Called before the packet is
    /// counted; not before the first packet of all. Each algorithm has its own idea of how long is idle.
    fn on_idle_restart(&mut self, _path: &PathState, _idle: Duration) {}

    /// A packet declared lost was acked after all.
    fn on_spurious_loss(&mut self, _path: &PathState, _spurious: &SpuriousLoss) {}

    /// `bytes` left the network without being acked or lost.
    fn on_discarded(&mut self, _path: &PathState, _bytes: u64, _reason: DiscardReason) {}

    /// `path.max_datagram_size` changed, or may have: [`Path`](crate::Path) says so when it is built around a controller.
    fn on_mtu_update(&mut self, _path: &PathState, _change: MtuChange) {}

    /// The network path changed.
    fn on_path_change(&mut self, _path: &PathState, _change: PathChange) {}

    /// State of an earlier connection became known. May come after construction; the controller itself
    /// checks it against the first RTT sample (RFC 9959).
    fn on_resume_hint(&mut self, _path: &PathState, _hint: &ResumeHint) {}

    /// The peer's ACK policy changed.
    fn on_ack_policy(&mut self, _path: &PathState, _policy: &AckPolicy) {}

    /// The codepoint really in use changed; `NotEct` after failed validation (RFC 9000 section 13.4.2).
    fn on_ecn_state(&mut self, _path: &PathState, _codepoint: EcnCodepoint) {}

    /// Largest burst to hand to the network at once, in bytes: at most 64 KiB; less than one datagram counts as one.
    ///
    /// The default is ten datagrams of 1200 bytes. It knows no datagram size: an algorithm for larger ones has its own.
    fn send_quantum(&self) -> u64 {
        10 * 1_200
    }

    /// Whether one packet may be sent now although the window is full (RFC 9002 section 7.3.2). Only for stacks that
    /// report every send: the send is what takes the permission back.
    fn may_send_beyond_cwnd(&self) -> bool {
        false
    }

    /// The codepoint that the algorithm wants on outgoing packets.
    fn wanted_ecn(&self) -> EcnCodepoint {
        EcnCodepoint::NotEct
    }

    /// The ACK policy that the algorithm would like the peer to follow; `None` for "no wish".
    fn wanted_ack_policy(&self) -> Option<AckPolicy> {
        None
    }

    /// Which reference point the delivery-rate sampler is to use. Constant: [`Path`](crate::Path) asks once, when it is
    /// built.
    fn sampling_rule(&self) -> SamplingRule {
        SamplingRule::LastAck
    }

    /// Whether the algorithm reads rate samples, or the delivery states that packets remember. Constant.
    ///
    /// Where it is `false`, [`AckEvent::rate_sample`](crate::AckEvent::rate_sample) and the snapshots of acked and lost packets may be
    /// `None`: a stack that would keep them for the algorithm alone can save them. [`PathState`](crate::PathState) is complete in any case.
    fn uses_rate_samples(&self) -> bool {
        true
    }

    /// Whether the algorithm itself holds back sending now, so that samples count as application-limited
    /// (BBR in ProbeRTT).
    fn marks_app_limited(&self) -> bool {
        false
    }

    /// State for logs.
    fn snapshot(&self) -> Snapshot;
}
