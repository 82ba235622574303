//! The controller's state: what survives a change of phase, and read access for logs.

use crate::constants::{ALPHA_INITIAL, PROBE_LEVEL_DEFAULT};
use crate::delivery::Delivery;
use crate::ecn::EcnAverage;
use crate::era::Era;
use crate::growth::Growth;
use crate::loss_rate::LossRate;
use crate::outputs::{Outputs, datagram_of};
use crate::rtt::RttModel;
use crate::sensitivity::sensitivity;
use crate::{Config, Phase};
use cc_core::{Duration, EcnCodepoint, Instant, PathState, Rate, ResumeHint};

/// A C4 congestion controller for one network path.
///
/// The crate documentation names the sources, what a stack must give, and every deviation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct C4 {
    /// As configured.
    pub(crate) initial_window: u64,
    /// As configured, then that last in use: for a start on a new path.
    pub(crate) codepoint: EcnCodepoint,
    /// Maximum datagram size, bytes: 1 to 65 527.
    pub(crate) datagram: u16,
    pub(crate) phase: Phase,
    /// How fast the path delivers, bytes per second; 0 before the first sample.
    pub(crate) nominal_rate: u64,
    pub(crate) rtt: RttModel,
    /// Gain of the phase, of 1024.
    pub(crate) alpha: u32,
    /// Gain that the packets acked in this era were sent with, of 1024.
    pub(crate) alpha_previous: u32,
    pub(crate) era: Era,
    pub(crate) growth: Growth,
    pub(crate) loss_rate: LossRate,
    pub(crate) ecn: EcnAverage,
    pub(crate) delivery: Delivery,
    /// Largest rate sample since the last Recovery ended.
    pub(crate) recent_maximum_rate: u64,
    /// Successive Recoveries without growth and with congestion.
    pub(crate) recent_congestions: u8,
    /// How the last tests went: 0 after excessive CE marks, 1 by default, more after growth.
    pub(crate) probe_level: u8,
    /// Eras left before Cruising probes; kept if congestion interrupts Cruising.
    pub(crate) cruise_eras_left: u8,
    /// Eras that Resuming lasted; kept until the Recovery after it ends.
    pub(crate) eras_resuming: u8,
    /// Whether Initial was entered again because of jitter: once per path.
    pub(crate) initial_after_jitter: bool,
    /// Saved state not yet compared with an RTT sample.
    pub(crate) hint: Option<ResumeHint>,
    /// Whether a saved state was used: once per path.
    pub(crate) seeded: bool,
    /// Sums over the parts of one ACK frame.
    pub(crate) frame: Frame,
    /// The number after the highest one acked; 0 before the first.
    pub(crate) acked_end: u64,
    /// Send time of the newest packet acked; zero before the first.
    pub(crate) newest_acked_sent_at: Instant,
    /// Start of the present path, zero for the first: packets sent before belong to another.
    pub(crate) path_since: Instant,
    pub(crate) outputs: Outputs,
    /// Congestion signals that led to Recovery or out of Initial.
    pub(crate) congestion_events: u32,
    /// Whether there ever was a congestion signal outside Initial.
    pub(crate) was_congested: bool,
}

/// What the parts of one ACK frame acked so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Frame {
    /// Bytes of the application space, late acks included.
    pub(crate) bytes: u64,
    /// Whether any packet of the application space was acked.
    pub(crate) application: bool,
    /// Whether any packet was acked.
    pub(crate) any: bool,
}

impl C4 {
    /// A controller at the start of a connection.
    #[must_use]
    pub fn new(config: &Config) -> Self {
        Self::start(config, &PathState { now: config.now, ..PathState::default() })
    }

    /// A controller whose first era begins now.
    #[inline(never)]
    fn start(config: &Config, path: &PathState) -> Self {
        let datagram = datagram_of(config.max_datagram_size);
        Self {
            initial_window: config.initial_window,
            codepoint: config.ecn,
            datagram,
            phase: Phase::Initial {
                window: config.initial_window,
                packets_seen: 0,
                eras_without_increase: 0,
            },
            nominal_rate: 0,
            rtt: RttModel::new(),
            alpha: ALPHA_INITIAL,
            alpha_previous: ALPHA_INITIAL,
            era: Era::new(path),
            growth: Growth { alpha: ALPHA_INITIAL, ..Growth::default() },
            loss_rate: LossRate::default(),
            ecn: EcnAverage::new(config.ecn),
            delivery: Delivery::default(),
            recent_maximum_rate: 0,
            recent_congestions: 0,
            probe_level: PROBE_LEVEL_DEFAULT,
            cruise_eras_left: 0,
            eras_resuming: 0,
            initial_after_jitter: false,
            hint: config.resume,
            seeded: false,
            frame: Frame::default(),
            acked_end: 0,
            newest_acked_sent_at: Instant::ZERO,
            path_since: Instant::ZERO,
            outputs: Outputs::new(config.initial_window, datagram),
            congestion_events: 0,
            was_congested: false,
        }
    }

    /// Starts afresh on another path: nothing measured on the old one holds. Counters for logs go on, and so does the
    /// codepoint: it was a choice. That ECN failed validation was a finding, so the new path validates again.
    pub(crate) fn restart(&mut self, path: &PathState) {
        let config = Config {
            now: path.now,
            max_datagram_size: path.max_datagram_size,
            initial_window: self.initial_window,
            resume: None, // what was saved belongs to the first path
            ecn: self.codepoint,
        };
        let (congestion_events, was_congested) = (self.congestion_events, self.was_congested);
        *self = Self::start(&config, path);
        (self.congestion_events, self.was_congested) = (congestion_events, was_congested);
        self.path_since = path.now;
    }

    /// The phase and the data that exists only in it.
    #[must_use]
    pub const fn phase(&self) -> &Phase {
        &self.phase
    }

    /// How fast the path delivers, as far as known; [`Rate::ZERO`] before the first sample.
    #[must_use]
    pub const fn nominal_rate(&self) -> Rate {
        Rate::from_bytes_per_sec(self.nominal_rate)
    }

    /// The largest RTT of the path without a queue of C4's own; [`Duration::ZERO`] before the first sample.
    #[must_use]
    pub const fn nominal_max_rtt(&self) -> Duration {
        Duration::from_micros(self.rtt.nominal_max as u64)
    }

    /// The slowly rising minimum of the RTT; `None` before the first sample.
    #[must_use]
    pub const fn running_min_rtt(&self) -> Option<Duration> {
        match self.rtt.running_min {
            u32::MAX => None,
            micros => Some(Duration::from_micros(micros as u64)),
        }
    }

    /// By how much the RTT may exceed [`C4::nominal_max_rtt`] before it is a queue: up to 25 ms.
    #[must_use]
    pub const fn delay_threshold(&self) -> Duration {
        Duration::from_micros(self.rtt.delay_threshold as u64)
    }

    /// How readily the flow reacts to congestion, 0 to 1024, by its nominal rate.
    #[must_use]
    pub const fn sensitivity(&self) -> u64 {
        sensitivity(self.nominal_rate) as u64
    }

    /// The present gain on the nominal rate, of 1024.
    #[must_use]
    pub const fn alpha(&self) -> u64 {
        self.alpha as u64
    }

    /// 0 after a test with excessive CE marks, 1 by default, 2 and 3 after successive growth.
    #[must_use]
    pub const fn probe_level(&self) -> u8 {
        self.probe_level
    }

    /// The average CE fraction, of 1024.
    #[must_use]
    pub const fn ecn_alpha(&self) -> u64 {
        self.ecn.alpha() as u64
    }

    /// The last accepted delivery-rate sample; [`Rate::ZERO`] before the first.
    #[must_use]
    pub const fn delivery_rate(&self) -> Rate {
        Rate::from_bytes_per_sec(self.delivery.estimate)
    }

    /// The largest rate ever measured between two ACKs; [`Rate::ZERO`] before the first.
    #[must_use]
    pub const fn peak_rate(&self) -> Rate {
        Rate::from_bytes_per_sec(self.delivery.peak)
    }
}

#[cfg(test)]
mod tests {
    use crate::{C4, Config, Phase};
    use cc_core::{Duration, Rate};

    #[test]
    fn starts_in_initial_with_a_gain_of_two_and_nothing_known() {
        let c4 = C4::new(&Config::default());
        assert_eq!(*c4.phase(), Phase::Initial { window: 15_360, packets_seen: 0, eras_without_increase: 0 });
        assert_eq!((c4.alpha(), c4.probe_level(), c4.sensitivity()), (2_048, 1, 0));
        assert_eq!((c4.nominal_rate(), c4.nominal_max_rtt()), (Rate::ZERO, Duration::ZERO));
        assert_eq!((c4.running_min_rtt(), c4.delay_threshold()), (None, Duration::ZERO));
        assert_eq!((c4.rtt.excess, c4.rtt.latest), (0, 0));
        assert_eq!((c4.growth.alpha, c4.growth.rate_before), (2_048, 0));
    }

    #[test]
    fn state_is_small() {
        assert!(size_of::<C4>() <= 320, "{}", size_of::<C4>());
    }

    #[test]
    fn can_be_shared_between_threads() {
        const fn check<T: Clone + Send + Sync + core::fmt::Debug + 'static>() {}
        check::<C4>();
    }
}
