//! Reno's congestion avoidance with bytes counted (RFC 9002 section 7.3.3, RFC 3465 section 2.1).

/// Windows of one ACK event that count: more cannot have been in flight.
const MAX_WINDOWS_PER_ACK: u64 = 2;

/// One datagram for each window acked.
///
/// Bytes acked are kept as a credit until they make a window, so that none is lost to rounding and the window does not
/// depend on how ACKs are cut. Of one call at most two windows count.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct AdditiveIncrease {
    /// Bytes acked since the window last grew: less than a window.
    credit: u64,
}

impl AdditiveIncrease {
    /// With nothing acked yet.
    #[must_use]
    pub const fn new() -> Self {
        Self { credit: 0 }
    }

    /// The window of `cwnd` bytes after `bytes` more were acked: larger by a `datagram` for each window acked, but by growth no
    /// larger than `limit`. At the limit nothing is saved up. A window of zero bytes counts as one byte.
    #[must_use]
    pub fn grow(&mut self, cwnd: u64, bytes: u64, datagram: u64, limit: u64) -> u64 {
        let mut cwnd = cwnd.max(1);
        let bytes = bytes.min(cwnd.saturating_mul(MAX_WINDOWS_PER_ACK));
        // The window may have been reduced without `restart`.
        self.credit = self.credit.min(cwnd).saturating_add(bytes);
        // At most three times: the credit is of at most three windows.
        while self.credit >= cwnd && cwnd < limit {
            // The old window is taken off before it grows.
            self.credit = self.credit.saturating_sub(cwnd);
            cwnd = cwnd.saturating_add(datagram).min(limit);
        }
        if self.credit >= cwnd {
            self.credit = 0;
        }
        cwnd
    }

    /// The window was reduced: what was acked before does not count.
    pub const fn restart(&mut self) {
        self.credit = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::AdditiveIncrease;
    use proptest::prelude::*;

    #[test]
    fn a_window_acked_adds_a_datagram_and_the_credit_starts_again() {
        // bugs.md A15: 12000 bytes acked at 12000: 13200, credit 0. Then 13199 of 13200, and the last byte.
        let mut increase = AdditiveIncrease::new();
        assert_eq!(increase.grow(12_000, 12_000, 1_200, u64::MAX), 13_200);
        assert_eq!(increase.credit, 0);
        assert_eq!(increase.grow(13_200, 13_199, 1_200, u64::MAX), 13_200);
        assert_eq!(increase.grow(13_200, 1, 1_200, u64::MAX), 14_400);
        assert_eq!(increase.credit, 0);
    }

    #[test]
    fn of_one_ack_two_windows_count() {
        // 24000 of u64::MAX: 12000 at 12000, then 12000 of 13200.
        let mut increase = AdditiveIncrease::new();
        assert_eq!(increase.grow(12_000, u64::MAX, 1_200, u64::MAX), 13_200);
        assert_eq!(increase.credit, 12_000);
    }

    #[test]
    fn a_limit_stops_growth_and_saves_nothing_up() {
        // 12000 at 12000: 12600, the limit. At 12600, 12600 and more are given away.
        let mut increase = AdditiveIncrease::new();
        let mut cwnd = 12_000;
        for _ in 0..10 {
            cwnd = increase.grow(cwnd, 12_000, 1_200, 12_600);
            assert!(cwnd == 12_600 && increase.credit < 12_600);
        }
        // A window above the limit stays.
        assert_eq!(increase.grow(20_000, 40_000, 1_200, 12_600), 20_000);
    }

    proptest! {
        #[test]
        fn how_acks_are_cut_makes_no_difference(
            parts in prop::collection::vec(0..5_000_u64, 1..60), datagram in 1..5_000_u64, cwnd in 10_000..100_000_u64,
        ) {
            // As long as one ACK is for less than two windows.
            let (mut one, mut other) = (AdditiveIncrease::new(), AdditiveIncrease::new());
            let (mut whole, mut cut) = (cwnd, cwnd);
            for chunk in parts.chunks(4) {
                whole = one.grow(whole, chunk.iter().sum(), datagram, u64::MAX);
                cut = chunk.iter().fold(cut, |cwnd, bytes| other.grow(cwnd, *bytes, datagram, u64::MAX));
                prop_assert_eq!((whole, one), (cut, other));
            }
        }

        #[test]
        fn a_window_never_grows_by_more_than_a_datagram_for_each_window_acked(
            bytes in any::<u64>(), datagram in 1..65_528_u64, cwnd in 2..1_u64 << 41,
        ) {
            let grown = AdditiveIncrease::new().grow(cwnd, bytes, datagram, u64::MAX);
            prop_assert!(grown >= cwnd && grown - cwnd <= datagram * (bytes / cwnd).min(2));
        }
    }
}
