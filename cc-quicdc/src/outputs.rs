//! Everything that a stack reads, in one place.

use crate::config::{MAX_WINDOW, Settings};
use cc_core::{Duration, Rate};

/// Pacing rate in windows per smoothed RTT, in percent.
const PACING_PERCENT: u64 = 125;

/// The same in slow start, where the window doubles ahead of the flight.
const SLOW_START_PACING_PERCENT: u64 = 200;

/// Largest send quantum in bytes: what one UDP segmentation offload call takes.
const MAX_QUANTUM: u64 = 65_536;

/// The quantum is this part of the window: four bursts per round trip (picoquic's choice).
const QUANTUM_DIVISOR: u64 = 4;

/// The outputs for a window. They follow from it monotonically: a smaller window means no output that is larger.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Outputs {
    cwnd: u64,
    /// Bytes per smoothed RTT to pace at.
    paced: u64,
    smoothed_rtt: Duration,
    send_quantum: u64,
}

impl Outputs {
    pub(crate) fn new(settings: &Settings, cwnd: u64, doubling: bool, smoothed_rtt: Duration) -> Self {
        let cwnd = cwnd.clamp(settings.min_window(), MAX_WINDOW);
        let percent = if doubling { SLOW_START_PACING_PERCENT } else { PACING_PERCENT };
        // At least two datagrams, and no burst above the initial window (RFC 9002 section 7.7).
        let quantum = (cwnd / QUANTUM_DIVISOR).min(settings.initial_window()).max(settings.min_window());
        Self {
            cwnd,
            paced: cwnd.saturating_mul(percent) / 100,
            smoothed_rtt,
            send_quantum: quantum.min(MAX_QUANTUM),
        }
    }

    pub(crate) const fn cwnd(&self) -> u64 {
        self.cwnd
    }

    /// `None` before an RTT is known. One 64-bit division.
    pub(crate) fn pacing_rate(&self) -> Option<Rate> {
        let rate = Rate::from_delivery(self.paced, self.smoothed_rtt);
        rate.map(|rate| rate.max(Rate::from_bytes_per_sec(1)))
    }

    pub(crate) const fn send_quantum(&self) -> u64 {
        self.send_quantum
    }
}
