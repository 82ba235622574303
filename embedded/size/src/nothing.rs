//! A controller that does nothing.

use cc_core::{AckEvent, CongestionController, EcnEvent, LossEvent, PathState, Rate, SentPacket, Snapshot};
use core::hint::black_box;

/// Its window is never full.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Nothing;

impl CongestionController for Nothing {
    fn on_packet_sent(&mut self, _: &PathState, _: &SentPacket) {}
    fn on_ack(&mut self, _: &PathState, _: &AckEvent<'_>) {}
    fn on_loss(&mut self, _: &PathState, _: &LossEvent<'_>) {}
    fn on_ecn(&mut self, _: &PathState, _: &EcnEvent) {}
    fn pacing_rate(&self) -> Option<Rate> {
        black_box(None)
    }
    fn cwnd(&self) -> u64 {
        black_box(u64::MAX)
    }
    fn snapshot(&self) -> Snapshot {
        Snapshot::default()
    }
}
