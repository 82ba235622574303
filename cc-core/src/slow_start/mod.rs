//! Slow start as a part of its own, so that every loss-based controller can use each variant.
//!
//! * [`StandardSlowStart`]: the window grows by the bytes acked (RFC 9002 section 7.3.1).
//! * [`HyStartPlusPlus`]: the same, left early when the round-trip time rises (RFC 9406).
//!
//! The controller owns the window and the slow-start threshold. It asks a [`SlowStart`] only in the *initial*
//! slow start, while the threshold is infinite; later ones end at the threshold that is known by then
//! (RFC 9406 section 4.3).

mod hystart;
mod round;
mod standard;

pub use hystart::HyStartPlusPlus;
pub use round::{SendMark, SendRound};
pub use standard::StandardSlowStart;

use crate::{AckEvent, PathState, RttEvent, SentPacket};
use std::fmt::Debug;

/// How the window grows before a first congestion signal.
///
/// Order of one ACK frame: [`on_rtt`](Self::on_rtt), then [`on_ack`](Self::on_ack) for each part with newly acked
/// packets, then [`on_frame_end`](Self::on_frame_end).
pub trait SlowStart: Clone + Debug + Send + Sync + 'static {
    /// A packet was handed to the network. Optional: every implementation works when it never comes.
    fn on_packet_sent(&mut self, _path: &PathState, _packet: &SentPacket) {}

    /// An RTT was measured.
    fn on_rtt(&mut self, _path: &PathState, _rtt: &RttEvent) {}

    /// Packets were acked. `bytes` of them may make the window grow: zero if the window was underutilised
    /// (the ACK still counts for rounds). There may be no rate sample, whatever was acked: CUBIC and NewReno do not ask for any.
    fn on_ack(&mut self, path: &PathState, ack: &AckEvent<'_>, bytes: u64) -> SlowStartStep;

    /// The frame is complete, whether or not its last part reached [`on_ack`](Self::on_ack).
    fn on_frame_end(&mut self) {}

    /// Name of the current phase for logs.
    fn phase(&self) -> &'static str {
        "slow_start"
    }

    /// Back to the state before the first packet (the network path changed).
    fn reset(&mut self);
}

/// What slow start says to one ACK.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SlowStartStep {
    /// The window grows by so many bytes.
    Grow(u64),
    /// The window grows by so many bytes, and then slow start is over without a loss: the threshold becomes the window
    /// (RFC 9406 section 4.2 updates the window before it looks at the round).
    Exit(u64),
}

/// Byte limit of the initial window (RFC 9002 section 7.2).
const INITIAL_WINDOW_BYTES: u64 = 14_720;

/// Initial window in bytes for datagrams of `max_datagram_size` bytes: ten of them, but no more than the larger
/// of 14720 bytes and two of them (RFC 9002 section 7.2).
#[must_use]
pub fn initial_window(max_datagram_size: u64) -> u64 {
    let two = max_datagram_size.saturating_mul(2);
    max_datagram_size.saturating_mul(10).min(two.max(INITIAL_WINDOW_BYTES))
}

#[cfg(test)]
mod tests {
    use super::initial_window;

    #[test]
    fn the_initial_window_obeys_the_byte_cap() {
        // bugs.md B12, RFC 9002 section 7.2: 10 * 1200; min(15000, 14720); min(90000, max(18000, 14720)).
        assert_eq!(initial_window(1_200), 12_000);
        assert_eq!(initial_window(1_450), 14_500);
        assert_eq!(initial_window(1_500), 14_720);
        assert_eq!(initial_window(9_000), 18_000);
        assert_eq!(initial_window(u64::MAX), u64::MAX);
    }
}
