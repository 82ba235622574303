//! `BBR.offload_budget`: data that offload and delayed acks keep from being sent and acked smoothly (section 5.5.8).

use crate::Bbr;
use cc_core::{AckPolicy, Duration};

/// The ACK policy that the peer follows, as far as it was announced.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct PeerAckPolicy {
    /// Packets per ACK; 0 before a policy was announced.
    packets: u32,
    /// Most microseconds that an ACK waits.
    max_delay_us: u32,
}

impl PeerAckPolicy {
    pub(crate) fn new(policy: &AckPolicy) -> Self {
        Self {
            packets: u32::try_from(policy.packets).unwrap_or(u32::MAX),
            max_delay_us: u32::try_from(policy.max_ack_delay.as_micros()).unwrap_or(u32::MAX),
        }
    }
}

impl Bbr {
    /// `UpdateOffloadBudget()` for QUIC: one quantum, and what a peer may hold back that acks less often than RFC 9000 section
    /// 13.2 asks, `min(threshold, delay * max_bw)`. There is no pacing offload: departure times of stacks are no part of
    /// the interface.
    pub(crate) fn offload_budget(&self) -> u64 {
        let acks = self.settings.peer_acks;
        let threshold = u64::from(acks.packets).saturating_mul(self.settings.datagram());
        let held = self.max_bw.get().bytes_in(Duration::from_micros(u64::from(acks.max_delay_us)));
        self.quantum().saturating_add(threshold.min(held))
    }
}

#[cfg(test)]
mod tests {
    use crate::tests::{cruising, ms, path};
    use cc_core::{AckPolicy, CongestionController};

    #[test]
    fn it_is_a_quantum_and_what_the_peer_holds_back() {
        // 1 MB/s for 1 ms are less than two datagrams.
        let mut bbr = cruising(1_000_000, 40);
        bbr.set_pacing_rate_with_gain(100);
        assert_eq!(bbr.offload_budget(), 2_400);
        // 10 packets are less than 25 ms at 1 MB/s; 100 are more.
        for (packets, held) in [(10, 12_000), (100, 25_000), (0, 0), (u64::MAX, 25_000)] {
            bbr.on_ack_policy(&path(), &AckPolicy { packets, max_ack_delay: ms(25) });
            assert_eq!(bbr.offload_budget(), 2_400 + held);
        }
    }
}
