//! Everything that a stack reads, in one place.

use crate::config::{MAX_WINDOW, Settings};
use cc_core::{Duration, Rate, division};

/// Pacing rate in windows per smoothed RTT, in quarters: 125 %.
const PACING_QUARTERS: u64 = 5;

/// The same in slow start, where the window doubles ahead of the flight: 200 %.
const SLOW_START_PACING_QUARTERS: u64 = 8;

/// Largest send quantum in bytes: what one UDP segmentation offload call takes.
const MAX_QUANTUM: u64 = 65_536;

/// The quantum is what the pacing rate sends in this time (as in the BBR draft). A burst is a queue for as long as it takes to leave
/// the bottleneck, on top of the one that the delay signal looks for: a quarter of the window would be up to 12 ms of it on a path
/// of 50 ms, as much as the threshold.
const QUANTUM_TIME: Duration = Duration::from_millis(1);

/// And at most this part of the window: four bursts per round trip (picoquic's choice).
const QUANTUM_DIVISOR: u64 = 4;

/// The outputs for a window. They follow from it monotonically: a smaller window means no output that is larger.
///
/// Each is worked out when it is read: there is no room for them in the controllers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Outputs<'a> {
    settings: &'a Settings,
    /// Within its bounds.
    cwnd: u64,
    doubling: bool,
    smoothed_rtt: Duration,
}

impl<'a> Outputs<'a> {
    pub(crate) fn new(settings: &'a Settings, cwnd: u64, doubling: bool, smoothed_rtt: Duration) -> Self {
        Self { settings, cwnd: cwnd.clamp(settings.min_window(), MAX_WINDOW), doubling, smoothed_rtt }
    }

    pub(crate) const fn cwnd(&self) -> u64 {
        self.cwnd
    }

    /// Bytes per smoothed RTT to pace at: at most 2^41.
    const fn paced(&self) -> u64 {
        let quarters = if self.doubling { SLOW_START_PACING_QUARTERS } else { PACING_QUARTERS };
        self.cwnd.wrapping_mul(quarters) / 4
    }

    /// `None` before an RTT is known. One 64-bit division.
    pub(crate) fn pacing_rate(&self) -> Option<Rate> {
        let rate = Rate::from_delivery(self.paced(), self.smoothed_rtt);
        rate.map(|rate| rate.max(Rate::from_bytes_per_sec(1)))
    }

    /// At least two datagrams. It is divided only where the quotient is between the bounds, which it is not at some ten Mbit/s.
    pub(crate) fn send_quantum(&self) -> u64 {
        let least = self.settings.min_window().min(MAX_QUANTUM);
        // RFC 9002 section 7.7: no burst above the initial window.
        let most =
            (self.cwnd / QUANTUM_DIVISOR).min(self.settings.initial_window()).max(least).min(MAX_QUANTUM);
        // What the rate, rounded down, sends in the time, rounded down: `paced * time / smoothed_rtt`, rounded down once.
        // 2^41 * 10^6 fits; a product with the RTT that does not is larger.
        let dividend = self.paced().wrapping_mul(QUANTUM_TIME.as_nanos());
        let divisor = self.smoothed_rtt.as_nanos();
        if dividend < divisor.saturating_mul(least) {
            least
        } else if dividend >= divisor.saturating_mul(most) {
            most
        } else {
            division::checked(dividend, divisor).unwrap_or(most)
        }
    }
}
