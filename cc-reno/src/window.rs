//! Window and threshold, and how acks and signals move them (RFC 9002 section 7.3).

use crate::config::Settings;
use cc_core::AdditiveIncrease;

/// "Infinite" slow-start threshold (RFC 9002 appendix B.4).
pub(crate) const INFINITE: u64 = u64::MAX;

/// What congestion events and acks move.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Window {
    /// `congestion_window` in bytes.
    pub(crate) cwnd: u64,
    /// `ssthresh` in bytes, or [`INFINITE`].
    pub(crate) ssthresh: u64,
    /// Growth in congestion avoidance.
    pub(crate) increase: AdditiveIncrease,
}

impl Window {
    pub(crate) fn initial(settings: &Settings) -> Self {
        Self { cwnd: settings.initial_window(), ssthresh: INFINITE, increase: AdditiveIncrease::new() }
    }

    /// Whether no congestion signal came yet.
    pub(crate) const fn in_initial_slow_start(&self) -> bool {
        self.ssthresh == INFINITE
    }

    /// RFC 9002 section 7.3.2 and appendix B.6: half of the window (`kLossReductionFactor`), at once.
    pub(crate) fn reduce(&mut self, settings: &Settings) {
        self.ssthresh = (self.cwnd / 2).max(settings.min_window());
        self.cwnd = self.ssthresh;
        self.increase.restart();
    }

    /// RFC 9002 section 7.6.2: persistent congestion.
    pub(crate) fn collapse(&mut self, settings: &Settings) {
        self.cwnd = settings.min_window();
        self.increase.restart();
    }

    /// RFC 9002 section 7.3.1: slow start, by `growth` bytes of `bytes` acked, up to the threshold and up to `limit`. Returns the
    /// bytes that are left for congestion avoidance.
    pub(crate) fn slow_start(&mut self, bytes: u64, growth: u64, limit: u64) -> u64 {
        let grown = growth.min(limit.min(self.ssthresh).saturating_sub(self.cwnd));
        self.cwnd = self.cwnd.saturating_add(grown);
        if self.cwnd < self.ssthresh { 0 } else { bytes.saturating_sub(grown) }
    }

    /// RFC 9002 section 7.3.3: one datagram for each window acked, up to `limit`.
    pub(crate) fn avoid_congestion(&mut self, bytes: u64, datagram: u64, limit: u64) {
        self.cwnd = self.increase.grow(self.cwnd, bytes, datagram, limit);
    }

    /// The datagram size changed in the handshake (RFC 9002 section 7.2): a smaller one, found in order to finish it, takes
    /// the window down to the new initial window; a larger one raises a window that is still the initial one. Returns
    /// whether the window is the initial one now.
    pub(crate) fn change_initial_window(&mut self, old: &Settings, new: &Settings) -> bool {
        let follows = if new.datagram() < old.datagram() {
            self.cwnd > new.initial_window()
        } else {
            self.in_initial_slow_start() && self.cwnd == old.initial_window()
        };
        if follows {
            self.cwnd = new.initial_window();
        }
        follows
    }
}

#[cfg(test)]
mod tests {
    use super::Window;
    use crate::config::{Config, MAX_WINDOW, Settings};

    fn window(cwnd: u64, ssthresh: u64) -> (Window, Settings) {
        let settings = Settings::new(&Config::default());
        (Window { cwnd, ssthresh, ..Window::initial(&settings) }, settings)
    }

    #[test]
    fn a_reduction_halves_the_window_down_to_two_datagrams() {
        for (cwnd, reduced) in
            [(12_000, 6_000), (12_001, 6_000), (4_800, 2_400), (4_799, 2_400), (2_400, 2_400)]
        {
            let (mut window, settings) = window(cwnd, u64::MAX);
            window.reduce(&settings);
            assert_eq!((window.cwnd, window.ssthresh), (reduced, reduced));
        }
    }

    #[test]
    fn slow_start_ends_at_the_threshold_and_hands_on_the_rest() {
        // bugs.md B8: 3000 up to 10000, 9000 are left.
        let (mut window, _) = window(7_000, 10_000);
        assert_eq!(window.slow_start(12_000, 12_000, MAX_WINDOW), 9_000);
        assert_eq!(window.cwnd, 10_000);
        let (mut window, _) = self::window(7_000, 10_000);
        assert_eq!(window.slow_start(2_999, 2_999, MAX_WINDOW), 0);
        assert_eq!(window.cwnd, 9_999);
    }

    #[test]
    fn a_limit_stops_slow_start() {
        let (mut window, _) = window(12_000, u64::MAX);
        assert_eq!(window.slow_start(12_000, 12_000, 11_000), 0);
        assert_eq!(window.cwnd, 12_000);
    }
}
