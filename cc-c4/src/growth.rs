//! The growth test: whether the last test of a higher rate paid off.

use crate::C4;
use crate::arithmetic::part_of;
use crate::constants::ALPHA_PROBING;

/// What the growth test compares with, since it was last reset.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Growth {
    /// A congestion signal came.
    pub(crate) congestion_notified: bool,
    /// The network, not the application, limited delivery at some time.
    pub(crate) push_was_not_limited: bool,
    /// Nominal rate at the reset (`push_rate_old`).
    pub(crate) rate_before: u64,
    /// Gain of the test (`push_alpha`).
    pub(crate) alpha: u32,
}

/// Result of the growth test; a later variant is more.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Growing {
    No,
    Slow,
    Fast,
}

impl Growth {
    /// `c4_growth_evaluate`.
    pub(crate) const fn test(&self, nominal_rate: u64) -> Growing {
        if self.alpha <= ALPHA_PROBING {
            // The gain is too small to see its effect in the rate: any growth counts, unless there was congestion.
            return if nominal_rate > self.rate_before && !self.congestion_notified {
                Growing::Fast
            } else {
                Growing::No
            };
        }
        // A quarter, and three quarters, of the way from the old rate to the pushed one.
        // floor((3 * old + pushed) / 4) = old + floor(way / 4), floor((old + 3 * pushed) / 4) = pushed - ceil(way / 4)
        let pushed = part_of(self.alpha, self.rate_before);
        let way = pushed.saturating_sub(self.rate_before);
        if nominal_rate < self.rate_before.saturating_add(way >> 2) {
            Growing::No
        } else if nominal_rate > pushed.saturating_sub(way.saturating_add(3) >> 2) {
            Growing::Fast
        } else {
            Growing::Slow
        }
    }
}

impl C4 {
    /// Growth since the last reset.
    pub(crate) const fn growing(&self) -> Growing {
        self.growth.test(self.nominal_rate)
    }

    /// Begins a new comparison with the present rate and gain (`c4_growth_reset`).
    pub(crate) const fn reset_growth(&mut self) {
        self.growth = Growth {
            congestion_notified: false,
            push_was_not_limited: false,
            rate_before: self.nominal_rate,
            alpha: self.alpha,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::{Growing, Growth};
    use crate::tests::Rig;

    fn test(alpha: u32, rate_before: u64, nominal_rate: u64, congestion_notified: bool) -> Growing {
        Growth { alpha, rate_before, congestion_notified, push_was_not_limited: false }.test(nominal_rate)
    }

    #[test]
    fn a_large_gain_must_move_the_rate_by_a_quarter_of_it() {
        // pushed = 1 000 * 1256/1024 = 1 226; (3 000 + 1 226)/4 = 1 056.5; (1 000 + 3 678)/4 = 1 169.5
        assert_eq!(test(1_256, 1_000, 1_055, false), Growing::No);
        assert_eq!(test(1_256, 1_000, 1_056, false), Growing::Slow);
        assert_eq!(test(1_256, 1_000, 1_169, false), Growing::Slow);
        assert_eq!(test(1_256, 1_000, 1_170, false), Growing::Fast);
        // Congestion does not matter here.
        assert_eq!(test(1_256, 1_000, 1_170, true), Growing::Fast);
    }

    #[test]
    fn a_large_gain_is_one_above_1088() {
        // pushed = 1 000 * 1089/1024 = 1 063; (3 000 + 1 063)/4 = 1 015.75
        assert_eq!(test(1_089, 1_000, 1_014, false), Growing::No);
        assert_eq!(test(1_088, 1_000, 1_014, false), Growing::Fast);
    }

    #[test]
    fn a_small_gain_counts_any_growth_without_congestion() {
        assert_eq!(test(1_088, 1_000, 1_001, false), Growing::Fast);
        assert_eq!(test(1_088, 1_000, 1_001, true), Growing::No);
        assert_eq!(test(1_088, 1_000, 1_000, false), Growing::No);
    }

    #[test]
    fn from_a_rate_of_zero_any_large_gain_grows() {
        // pushed = 0: any rate reaches the first limit and any above 0 passes the second
        assert_eq!(test(2_048, 0, 0, false), Growing::Slow);
        assert_eq!(test(2_048, 0, 1, false), Growing::Fast);
    }

    #[test]
    fn reset_takes_the_present_rate_and_gain() {
        let mut rig = Rig::cruising(1_000_000, 40_000);
        rig.c4.growth =
            Growth { congestion_notified: true, push_was_not_limited: true, rate_before: 7, alpha: 7 };
        rig.c4.reset_growth();
        assert_eq!(
            rig.c4.growth,
            Growth {
                congestion_notified: false,
                push_was_not_limited: false,
                rate_before: 1_000_000,
                alpha: 1_024,
            }
        );
    }
}
