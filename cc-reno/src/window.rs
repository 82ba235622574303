//! Window and threshold, and how acks and signals move them (RFC 9002 section 7.3).

use crate::config::Settings;

/// "Infinite" slow-start threshold (RFC 9002 appendix B.4).
pub(crate) const INFINITE: u64 = u64::MAX;

/// Windows of one ACK event that count in congestion avoidance: more cannot have been in flight.
const MAX_WINDOWS_PER_ACK: u64 = 2;

/// What congestion events and acks move.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Window {
    /// `congestion_window` in bytes.
    pub(crate) cwnd: u64,
    /// `ssthresh` in bytes, or [`INFINITE`].
    pub(crate) ssthresh: u64,
    /// Bytes acked in congestion avoidance since the window last grew, less than a window (RFC 3465 section 2.1).
    pub(crate) credit: u64,
    /// From a reduction until a packet sent after it is acked (RFC 9002 section 7.3.2).
    pub(crate) in_recovery: bool,
}

/// The states of RFC 9002 section 7.3.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Phase {
    SlowStart,
    Recovery,
    CongestionAvoidance,
}

impl Window {
    pub(crate) fn initial(settings: &Settings) -> Self {
        Self { cwnd: settings.initial_window(), ssthresh: INFINITE, credit: 0, in_recovery: false }
    }

    pub(crate) const fn phase(&self) -> Phase {
        if self.in_recovery {
            Phase::Recovery
        } else if self.cwnd < self.ssthresh {
            Phase::SlowStart
        } else {
            Phase::CongestionAvoidance
        }
    }

    /// Whether no congestion signal came yet.
    pub(crate) const fn in_initial_slow_start(&self) -> bool {
        self.ssthresh == INFINITE
    }

    /// RFC 9002 section 7.3.2 and appendix B.6: half of the window (`kLossReductionFactor`), at once.
    pub(crate) fn reduce(&mut self, settings: &Settings) {
        self.ssthresh = (self.cwnd / 2).max(settings.min_window());
        self.cwnd = self.ssthresh;
        self.credit = 0;
        self.in_recovery = true;
    }

    /// RFC 9002 section 7.6.2: persistent congestion.
    pub(crate) fn collapse(&mut self, settings: &Settings) {
        self.cwnd = settings.min_window();
        self.credit = 0;
        self.in_recovery = false;
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
        let bytes = bytes.min(self.cwnd.saturating_mul(MAX_WINDOWS_PER_ACK));
        self.credit = self.credit.saturating_add(bytes);
        // At most three times: the credit is below one window and two of them.
        while self.credit >= self.cwnd && self.cwnd < limit {
            self.credit = self.credit.saturating_sub(self.cwnd);
            self.cwnd = self.cwnd.saturating_add(datagram).min(limit);
        }
        // At a limit nothing is saved up.
        if self.credit >= self.cwnd {
            self.credit = 0;
        }
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
    use super::{Phase, Window};
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
            assert_eq!((window.cwnd, window.ssthresh, window.phase()), (reduced, reduced, Phase::Recovery));
        }
    }

    #[test]
    fn a_window_acked_adds_a_datagram_and_the_credit_starts_again() {
        // bugs.md A15: 12000 bytes acked at 12000: 13200, credit 0. Then 13199 of 13200, and the last byte.
        let (mut window, _) = window(12_000, 6_000);
        window.avoid_congestion(12_000, 1_200, MAX_WINDOW);
        assert_eq!((window.cwnd, window.credit), (13_200, 0));
        window.avoid_congestion(13_199, 1_200, MAX_WINDOW);
        assert_eq!((window.cwnd, window.credit), (13_200, 13_199));
        window.avoid_congestion(1, 1_200, MAX_WINDOW);
        assert_eq!((window.cwnd, window.credit), (14_400, 0));
    }

    #[test]
    fn of_one_ack_two_windows_count() {
        // 24000 of u64::MAX: 12000 at 12000, then 12000 of 13200.
        let (mut window, _) = window(12_000, 6_000);
        window.avoid_congestion(u64::MAX, 1_200, MAX_WINDOW);
        assert_eq!((window.cwnd, window.credit), (13_200, 12_000));
    }

    #[test]
    fn slow_start_ends_at_the_threshold_and_hands_on_the_rest() {
        // bugs.md B8: 3000 up to 10000, 9000 are left.
        let (mut window, _) = window(7_000, 10_000);
        assert_eq!(window.slow_start(12_000, 12_000, MAX_WINDOW), 9_000);
        assert_eq!((window.cwnd, window.phase()), (10_000, Phase::CongestionAvoidance));
        let (mut window, _) = self::window(7_000, 10_000);
        assert_eq!(window.slow_start(2_999, 2_999, MAX_WINDOW), 0);
        assert_eq!((window.cwnd, window.phase()), (9_999, Phase::SlowStart));
    }

    #[test]
    fn a_limit_stops_growth_and_saves_nothing_up() {
        let (mut window, _) = window(12_000, 6_000);
        for _ in 0..10 {
            window.avoid_congestion(12_000, 1_200, 12_600);
        }
        // 12000 of 12000: 12600, the limit; then 12000 of 12600, and with 11400 more a window, of which nothing is kept.
        assert!(window.cwnd == 12_600 && window.credit < 12_600);
        let (mut window, _) = self::window(12_000, u64::MAX);
        assert_eq!(window.slow_start(12_000, 12_000, 11_000), 0);
        assert_eq!(window.cwnd, 12_000);
    }
}
