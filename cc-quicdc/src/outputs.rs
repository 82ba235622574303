//! Everything that a stack reads, in one place.

use crate::config::{MAX_WINDOW, Settings};
use cc_core::{Duration, Rate};

/// Pacing rate in windows per smoothed RTT, in percent.
const PACING_PERCENT: u64 = 125;

/// The same in slow start, where the window doubles ahead of the flight.
const SLOW_START_PACING_PERCENT: u64 = 200;

/// Largest send quantum in bytes: what one UDP segmentation offload call takes.
const MAX_QUANTUM: u64 = 65_536;

/// The quantum is what the pacing rate sends in this time (as in the BBR draft). A burst is a queue for as long as it takes to leave
/// the bottleneck, on top of the one that the delay signal looks for: a quarter of the window would be up to 12 ms of it on a path
/// of 50 ms, as much as the threshold.
const QUANTUM_TIME: Duration = Duration::from_millis(1);

/// And at most this part of the window: four bursts per round trip (picoquic's choice).
const QUANTUM_DIVISOR: u64 = 4;

/// The outputs for a window. They follow from it monotonically: a smaller window means no output that is larger.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Outputs {
    cwnd: u64,
    /// Bytes per smoothed RTT to pace at.
    paced: u64,
    smoothed_rtt: Duration,
    /// Limits of the quantum.
    min_quantum: u64,
    max_quantum: u64,
}

impl Outputs {
    pub(crate) fn new(settings: &Settings, cwnd: u64, doubling: bool, smoothed_rtt: Duration) -> Self {
        let cwnd = cwnd.clamp(settings.min_window(), MAX_WINDOW);
        let percent = if doubling { SLOW_START_PACING_PERCENT } else { PACING_PERCENT };
        Self {
            cwnd,
            paced: cwnd.saturating_mul(percent) / 100,
            smoothed_rtt,
            min_quantum: settings.min_window(),
            // RFC 9002 section 7.7: no burst above the initial window.
            max_quantum: (cwnd / QUANTUM_DIVISOR).min(settings.initial_window()),
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

    /// At least two datagrams.
    pub(crate) fn send_quantum(&self) -> u64 {
        let paced = self.pacing_rate().map_or(u64::MAX, |rate| rate.bytes_in(QUANTUM_TIME));
        paced.min(self.max_quantum).max(self.min_quantum).min(MAX_QUANTUM)
    }
}
