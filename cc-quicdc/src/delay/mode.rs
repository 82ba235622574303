//! The three thresholds (quicdc: "Delay signal").

use super::learned::Learned;
use crate::config::DelayMode;
use crate::measures::older;
use cc_core::{Duration, Rate};

/// The default threshold is this part of the minimum RTT.
const MIN_RTT_DIVISOR: u64 = 4;
/// And at least this: less is noise.
const MIN_THRESHOLD: Duration = Duration::from_millis(5);
/// And at most this: more is a queue on any path.
const MAX_THRESHOLD: Duration = Duration::from_millis(25);
/// Datagrams of a burst, which is no queue.
const BURST_DATAGRAMS: u64 = 8;

/// Length of the probe phase, without the signal.
const PROBE_MS: u16 = 3_000;
/// Length of the cruise phase, with it.
const CRUISE_MS: u16 = 10_000;

/// State of the threshold.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Mode {
    Threshold {
        learned: Learned,
        /// Smallest default threshold on this path, in microseconds: what its smallest RTT makes of it. 0 before the first.
        smallest_us: u16,
    },
    Fraction {
        percent: u8,
        /// Largest RTT since the last loss, in microseconds.
        running_max_us: u32,
        /// The same when that loss came, for the time before it; 0 before the first.
        max_us: u32,
    },
    Probe {
        percent: u8,
        is_cruising: bool,
        /// Age of the phase.
        age_ms: u16,
        /// Largest queueing delay of the last probe phase, in microseconds.
        largest_us: u32,
    },
}

/// When a queue is a signal, and when it is none of anybody.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Threshold {
    /// `T`: a queue above it is a signal.
    pub(crate) signal: Duration,
    /// `T/2`, without the time of a burst: a queue below it has drained. Where the sender has little left of the bandwidth, a
    /// burst of its own takes so long that a queue that stands would look drained.
    pub(crate) drained: Duration,
}

impl Threshold {
    /// Half of a threshold is the other one.
    fn of(signal: Duration) -> Self {
        Self { signal, drained: signal.divided_by(2) }
    }
}

impl Mode {
    pub(crate) const fn new(mode: DelayMode) -> Self {
        match mode {
            DelayMode::Threshold => Self::Threshold { learned: Learned::new(), smallest_us: 0 },
            DelayMode::PaperFraction { percent } => Self::Fraction { percent, running_max_us: 0, max_us: 0 },
            DelayMode::PaperProbe { percent } => {
                Self::Probe { percent, is_cruising: false, age_ms: 0, largest_us: 0 }
            }
        }
    }

    /// The same mode on a new path.
    pub(crate) const fn restarted(&self) -> Self {
        Self::new(match *self {
            Self::Threshold { .. } => DelayMode::Threshold,
            Self::Fraction { percent, .. } => DelayMode::PaperFraction { percent },
            Self::Probe { percent, .. } => DelayMode::PaperProbe { percent },
        })
    }

    /// The threshold; `None` while there is no signal.
    pub(crate) fn threshold(
        &self,
        min_rtt: Option<Duration>,
        bandwidth: Option<Rate>,
        datagram: u64,
    ) -> Option<Threshold> {
        match *self {
            Self::Threshold { learned, smallest_us } => {
                let threshold = default_threshold(min_rtt?);
                let threshold = if smallest_us > 0 {
                    threshold.min(Duration::from_micros(u64::from(smallest_us)))
                } else {
                    threshold
                };
                let threshold = learned.get().map_or(threshold, |learned| threshold.min(learned));
                let burst = burst(bandwidth?, datagram);
                Some(Threshold { signal: threshold.max(burst), ..Threshold::of(threshold) })
            }
            Self::Fraction { percent, max_us, .. } => {
                let queue = Duration::from_micros(u64::from(max_us)).minus(min_rtt?);
                (!queue.is_zero()).then(|| Threshold::of(share(queue, percent)))
            }
            Self::Probe { percent, is_cruising: true, largest_us, .. } if largest_us > 0 => {
                Some(Threshold::of(share(Duration::from_micros(u64::from(largest_us)), percent)))
            }
            Self::Probe { .. } => None,
        }
    }

    /// Whether one sample above the threshold is a signal, as in the paper.
    pub(crate) const fn takes_one_sample(&self) -> bool {
        matches!(self, Self::Fraction { .. } | Self::Probe { .. })
    }

    /// The minimum RTT, which is measured again from time to time. The threshold does not follow it upwards: a queue on the way back
    /// raises it, and is no reason for a longer one on the way there.
    pub(crate) fn on_min_rtt(&mut self, min_rtt: Duration) {
        if let Self::Threshold { smallest_us, .. } = self {
            let micros = u16::try_from(default_threshold(min_rtt).as_micros()).unwrap_or(u16::MAX);
            *smallest_us = if *smallest_us > 0 { micros.min(*smallest_us) } else { micros };
        }
    }

    pub(crate) fn on_rtt(&mut self, rtt: Duration) {
        if let Self::Fraction { running_max_us, .. } = self {
            *running_max_us = (*running_max_us).max(micros(rtt));
        }
    }

    pub(crate) fn on_queue(&mut self, queue: Duration) {
        match self {
            Self::Threshold { learned, .. } => learned.on_queue(queue),
            Self::Probe { is_cruising: false, largest_us, .. } => {
                *largest_us = (*largest_us).max(micros(queue));
            }
            Self::Fraction { .. } | Self::Probe { .. } => {}
        }
    }

    /// A loss or a mark that no earlier reaction covers. `burst` is the time of a burst at the estimated bandwidth.
    pub(crate) fn on_congestion(&mut self, burst: Duration) {
        match self {
            Self::Threshold { learned, .. } => learned.on_congestion(burst),
            Self::Fraction { running_max_us, max_us, .. } => {
                *max_us = core::mem::replace(running_max_us, 0);
            }
            Self::Probe { .. } => {}
        }
    }

    pub(crate) fn on_interval(&mut self, elapsed: Duration) {
        match self {
            Self::Threshold { learned, .. } => learned.on_interval(elapsed),
            Self::Fraction { .. } => {}
            Self::Probe { is_cruising, age_ms, largest_us, .. } => {
                *age_ms = older(*age_ms, elapsed);
                if *age_ms >= if *is_cruising { CRUISE_MS } else { PROBE_MS } {
                    *age_ms = 0;
                    *is_cruising = !*is_cruising;
                    if !*is_cruising {
                        *largest_us = 0;
                    }
                }
            }
        }
    }
}

/// A quarter of the minimum RTT within its limits.
fn default_threshold(min_rtt: Duration) -> Duration {
    min_rtt.divided_by(MIN_RTT_DIVISOR).clamp(MIN_THRESHOLD, MAX_THRESHOLD)
}

/// The time of a burst at `bandwidth`.
pub(crate) fn burst(bandwidth: Rate, datagram: u64) -> Duration {
    bandwidth.time_to_send(burst_bytes(datagram))
}

/// The bytes of a burst.
pub(crate) const fn burst_bytes(datagram: u64) -> u64 {
    datagram.saturating_mul(BURST_DATAGRAMS)
}

fn share(span: Duration, percent: u8) -> Duration {
    span.times(u64::from(percent)).divided_by(100)
}

fn micros(span: Duration) -> u32 {
    u32::try_from(span.as_micros()).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::Mode;
    use crate::config::DelayMode;
    use cc_core::{Duration, Rate};

    fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    /// The default threshold on a path with this minimum RTT and this bandwidth in Mbit/s, 1200-byte datagrams.
    fn threshold(min_rtt: Duration, megabits: u64) -> Duration {
        let bandwidth = Rate::from_bits_per_sec(megabits * 1_000_000);
        Mode::new(DelayMode::Threshold).threshold(Some(min_rtt), Some(bandwidth), 1_200).unwrap().signal
    }

    #[test]
    fn the_threshold_is_a_quarter_of_the_minimum_rtt_from_5_to_25_milliseconds() {
        // 8 datagrams take 76.8 us at 1 Gbit/s: no matter here.
        for (rtt, expected) in [(1, 5), (20, 5), (50, 12), (100, 25), (600, 25)] {
            let expected = if rtt == 50 { Duration::from_micros(12_500) } else { ms(expected) };
            assert_eq!(threshold(ms(rtt), 1_000), expected, "{rtt} ms");
        }
    }

    #[test]
    fn the_threshold_follows_the_minimum_rtt_downwards_only() {
        // 50 ms, then 150 ms when it is measured again with a queue on the way back: 12.5 ms, and not 25. 40 ms: 10 ms.
        let mut mode = Mode::new(DelayMode::Threshold);
        let mut after = |min_rtt| {
            mode.on_min_rtt(ms(min_rtt));
            mode.threshold(Some(ms(min_rtt)), Some(Rate::MAX), 1_200).unwrap().signal
        };
        assert_eq!(after(50), Duration::from_micros(12_500));
        assert_eq!(after(150), Duration::from_micros(12_500));
        assert_eq!(after(40), ms(10));
        assert_eq!(mode.restarted(), Mode::new(DelayMode::Threshold), "another path");
    }

    #[test]
    fn a_burst_is_not_a_queue() {
        // 8 * 1200 * 8 bit at 1 Mbit/s: 76.8 ms; at 10 Mbit/s 7.68 ms, more than 5 and less than 12.5.
        assert_eq!(threshold(ms(50), 1), Duration::from_micros(76_800));
        assert_eq!(threshold(ms(20), 10), Duration::from_micros(7_680));
        assert_eq!(threshold(ms(50), 10), Duration::from_micros(12_500));
    }

    #[test]
    fn a_drained_queue_is_one_below_half_of_the_threshold_without_the_burst() {
        // 12.5 ms at 50 ms, and 6.25 ms also at 1 Mbit/s, where a burst takes 76.8 ms.
        for megabits in [1, 1_000] {
            let bandwidth = Rate::from_bits_per_sec(megabits * 1_000_000);
            let mode = Mode::new(DelayMode::Threshold);
            let threshold = mode.threshold(Some(ms(50)), Some(bandwidth), 1_200).unwrap();
            assert_eq!(threshold.drained, Duration::from_micros(6_250));
        }
    }

    #[test]
    fn before_bandwidth_and_minimum_rtt_are_known_there_is_no_signal() {
        let mode = Mode::new(DelayMode::Threshold);
        assert_eq!(mode.threshold(None, Some(Rate::MAX), 1_200), None);
        assert_eq!(mode.threshold(Some(ms(50)), None, 1_200), None);
    }

    #[test]
    fn the_paper_takes_a_fraction_of_the_largest_queue_between_two_losses() {
        let mut mode = Mode::new(DelayMode::PaperFraction { percent: 80 });
        let threshold =
            |mode: &Mode| mode.threshold(Some(ms(50)), None, 1_200).map(|threshold| threshold.signal);
        mode.on_rtt(ms(110));
        mode.on_rtt(ms(150));
        mode.on_rtt(ms(90));
        assert_eq!(threshold(&mode), None, "no loss yet");
        mode.on_congestion(ms(1));
        // 0.8 * (150 - 50).
        assert_eq!(threshold(&mode), Some(ms(80)));
        // A loss after which the RTT was at most 100 ms: 0.8 * 50.
        mode.on_rtt(ms(100));
        mode.on_congestion(ms(1));
        assert_eq!(threshold(&mode), Some(ms(40)));
        // A loss without a queue: there is no threshold, rather than one of zero.
        mode.on_rtt(ms(50));
        mode.on_congestion(ms(1));
        assert_eq!(threshold(&mode), None);
    }

    #[test]
    fn probe_and_cruise_takes_turns() {
        let mut mode = Mode::new(DelayMode::PaperProbe { percent: 80 });
        let threshold =
            |mode: &Mode| mode.threshold(Some(ms(50)), None, 1_200).map(|threshold| threshold.signal);
        mode.on_queue(ms(100));
        mode.on_queue(ms(60));
        mode.on_interval(ms(2_999));
        assert_eq!(threshold(&mode), None);
        mode.on_interval(ms(1));
        assert_eq!(threshold(&mode), Some(ms(80)));
        // What comes in the cruise phase does not count.
        mode.on_queue(ms(500));
        mode.on_interval(ms(9_999));
        assert_eq!(threshold(&mode), Some(ms(80)));
        mode.on_interval(ms(1));
        assert_eq!(threshold(&mode), None);
        mode.on_queue(ms(20));
        mode.on_interval(ms(3_000));
        assert_eq!(threshold(&mode), Some(ms(16)));
    }

    #[test]
    fn absurd_values_saturate() {
        for mode in [
            DelayMode::PaperFraction { percent: 255 },
            DelayMode::PaperProbe { percent: 255 },
            DelayMode::Threshold,
        ] {
            let mut mode = Mode::new(mode);
            mode.on_rtt(Duration::MAX);
            mode.on_queue(Duration::MAX);
            mode.on_congestion(Duration::MAX);
            mode.on_interval(Duration::MAX);
            mode.threshold(Some(Duration::MAX), Some(Rate::ZERO), u64::MAX);
            mode.threshold(Some(Duration::ZERO), Some(Rate::MAX), 0);
        }
    }
}
