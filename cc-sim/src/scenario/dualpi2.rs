//! The coupled dual-queue AQM: what can be set.

/// Parameters of DualPI2 (RFC 9332 appendix A). The defaults are those of the RFC.
///
/// The total of both queues is limited by the queue of the link's state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DualPi2 {
    /// Queue delay that the classic queue is held at, in microseconds (15 000; `target`).
    pub target_us: u64,
    /// Largest RTT that the controller is to be stable at, in microseconds (100 000; `RTT_max`). The gains follow from it:
    /// alpha = 0.1 * `update_us` / `rtt_max_us`^2 and beta = 0.3 / `rtt_max_us`.
    pub rtt_max_us: u64,
    /// Time between two updates of the base probability, in microseconds (15 000; `Tupdate`, the smaller of `target_us` and
    /// a third of `rtt_max_us`).
    pub update_us: u64,
    /// How often as likely as the base probability a mark is in the L queue (2; `k`).
    pub coupling: u64,
    /// Queue delay above which the L queue's own ramp marks, in microseconds (800; `minTh`).
    pub l4s_min_us: u64,
    /// Length of the ramp from no to every packet, in microseconds (400; `range`); 0 makes it a step.
    pub l4s_range_us: u64,
    /// Packets that must be left in the L queue for its own ramp to mark (1; `Th_len`): the packet that is alone is not marked
    /// however long the link takes for it.
    pub l4s_min_packets: u64,
    /// Which queue is next if both have packets.
    pub scheduler: Scheduler,
}

/// How the link is shared by the two queues (RFC 9332 section 4.2.2 and appendix A.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheduler {
    /// Weighted round robin in bytes: the classic queue gets one part, the L queue this many (15).
    RoundRobin {
        /// Parts of the L queue.
        l4s_weight: u64,
    },
    /// Time-shifted FIFO: the packet that came first, those of the L queue counted as if they had come this much earlier.
    ShiftedFifo {
        /// The shift in microseconds (50 000; `tshift`).
        shift_us: u64,
    },
}

impl DualPi2 {
    /// `target` of the RFC.
    pub(crate) const TARGET_US: u64 = 15_000;
    /// `RTT_max` of the RFC.
    pub(crate) const RTT_MAX_US: u64 = 100_000;
    /// Weight of the L queue if the classic queue's is 1: the classic queue gets a sixteenth at least.
    pub(crate) const L4S_WEIGHT: u64 = 15;
    /// `tshift` of the RFC for the Internet.
    pub(crate) const SHIFT_US: u64 = 50_000;

    /// `Tupdate` as the RFC derives it.
    pub(crate) fn update_us(target_us: u64, rtt_max_us: u64) -> u64 {
        target_us.min(rtt_max_us / 3)
    }
}

impl Default for DualPi2 {
    fn default() -> Self {
        Self {
            target_us: Self::TARGET_US,
            rtt_max_us: Self::RTT_MAX_US,
            update_us: Self::update_us(Self::TARGET_US, Self::RTT_MAX_US),
            coupling: 2,
            l4s_min_us: 800,
            l4s_range_us: 400,
            l4s_min_packets: 1,
            scheduler: Scheduler::RoundRobin { l4s_weight: Self::L4S_WEIGHT },
        }
    }
}
