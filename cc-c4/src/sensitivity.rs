//! Sensitivity: how early a flow reacts to congestion, by its nominal rate, and the thresholds that follow.
//!
//! Fast flows react earlier than slow ones, which drives flows that share a bottleneck to equal shares.

use crate::arithmetic::fraction_of;
use crate::constants::{DELAY_THRESHOLD_MAX, ONE};
use crate::loss_rate::LossFraction;

/// Below this rate (bytes per second) a flow is not sensitive at all.
const RATE_LOW: u32 = 50_000;
/// Rate of the bend of the curve.
const RATE_MIDDLE: u32 = 1_000_000;
/// Above this rate a flow is fully sensitive.
const RATE_HIGH: u32 = 10_000_000;
/// Sensitivity (of 1024) at the bend: there the loss threshold is about 5 %.
const AT_MIDDLE: u32 = 963;

/// Sensitivity of 1024 at `nominal_rate` (bytes per second): two straight lines (`c4_sensitivity_1024`).
#[inline(never)]
pub(crate) const fn sensitivity(nominal_rate: u64) -> u32 {
    // Up to RATE_HIGH all products have 32 bits.
    let rate = if nominal_rate <= RATE_HIGH as u64 { (nominal_rate & 0xffff_ffff) as u32 } else { RATE_HIGH };
    if rate < RATE_MIDDLE {
        rate.saturating_sub(RATE_LOW).saturating_mul(AT_MIDDLE) / (RATE_MIDDLE - RATE_LOW)
    } else {
        let above = rate.saturating_sub(RATE_MIDDLE).saturating_mul(ONE - AT_MIDDLE);
        AT_MIDDLE.saturating_add(above / (RATE_HIGH - RATE_MIDDLE))
    }
}

/// Excess of the RTT over the nominal max RTT from which it is a queue, us (`c4_delay_threshold`).
pub(crate) fn delay_threshold(nominal_rate: u64, nominal_max_rtt: u32) -> u32 {
    let fraction = fraction_of(ONE.saturating_sub(sensitivity(nominal_rate)), 196).saturating_add(64);
    fraction_of(fraction, nominal_max_rtt).min(DELAY_THRESHOLD_MAX)
}

/// Average CE fraction (of 1024) above which it is congestion (`c4_ecn_threshold`): 192 to 96.
pub(crate) const fn ecn_threshold(nominal_rate: u64) -> u32 {
    192_u32.saturating_sub(fraction_of(sensitivity(nominal_rate), 96))
}

/// Loss rate above which it is congestion (`c4_loss_threshold`): 52 % to 2 %.
pub(crate) const fn loss_threshold(nominal_rate: u64) -> LossFraction {
    // 0.02 + (1024 - s) / 2048
    let half_of = LossFraction::ratio(ONE.saturating_sub(sensitivity(nominal_rate)) as u64, 2_048);
    LossFraction::ratio(2, 100).plus(half_of)
}

#[cfg(test)]
mod tests {
    use super::{delay_threshold, ecn_threshold, loss_threshold, sensitivity};
    use crate::loss_rate::LossFraction;
    use approx::assert_relative_eq;

    #[test]
    fn sensitivity_is_0_below_50_000_and_rises_to_963_at_1_000_000() {
        assert_eq!(sensitivity(0), 0);
        assert_eq!(sensitivity(49_999), 0);
        assert_eq!(sensitivity(50_000), 0);
        // 950 * 963 / 950 000 = 0.963
        assert_eq!(sensitivity(50_950), 0);
        // 986 * 963 / 950 000 = 0.9995; 987 * 963 / 950 000 = 1.0005
        assert_eq!(sensitivity(50_986), 0);
        assert_eq!(sensitivity(50_987), 1);
        // 475 000 * 963 / 950 000 = 481.5
        assert_eq!(sensitivity(525_000), 481);
        // 949 999 * 963 / 950 000 = 962.998
        assert_eq!(sensitivity(999_999), 962);
    }

    #[test]
    fn sensitivity_rises_from_963_to_1024_at_10_000_000_and_stays() {
        assert_eq!(sensitivity(1_000_000), 963);
        // 4 500 000 * 61 / 9 000 000 = 30.5
        assert_eq!(sensitivity(5_500_000), 993);
        // 8 999 999 * 61 / 9 000 000 = 60.99
        assert_eq!(sensitivity(9_999_999), 1_023);
        assert_eq!(sensitivity(10_000_000), 1_024);
        assert_eq!(sensitivity(10_000_001), 1_024);
        assert_eq!(sensitivity(u64::MAX), 1_024);
    }

    #[test]
    fn delay_threshold_is_a_sixteenth_to_a_quarter_of_the_nominal_max_rtt() {
        // s = 1024: 40 000 * 64/1024 = 2 500
        assert_eq!(delay_threshold(20_000_000, 40_000), 2_500);
        // s = 0: 40 000 * (64 + 196)/1024 = 10 156.25
        assert_eq!(delay_threshold(0, 40_000), 10_156);
        // s = 963: 61 * 196/1024 = 11.67 -> 11; 40 000 * 75/1024 = 2 929.69
        assert_eq!(delay_threshold(1_000_000, 40_000), 2_929);
    }

    #[test]
    fn delay_threshold_is_at_most_25_ms() {
        // s = 0: 98 461 * 260/1024 = 24 999.86; 98 462 * 260/1024 = 25 000.1
        assert_eq!(delay_threshold(0, 98_461), 24_999);
        assert_eq!(delay_threshold(0, 98_462), 25_000);
        assert_eq!(delay_threshold(0, u32::MAX), 25_000);
    }

    #[test]
    fn ecn_threshold_falls_from_192_to_96() {
        assert_eq!(ecn_threshold(0), 192);
        // 963 * 96/1024 = 90.28
        assert_eq!(ecn_threshold(1_000_000), 102);
        assert_eq!(ecn_threshold(20_000_000), 96);
    }

    #[test]
    fn loss_threshold_falls_from_52_to_2_percent() {
        assert_relative_eq!(loss_threshold(0).to_f64(), 0.52, epsilon = 1e-9);
        // 0.02 + 61/2048 = 0.049785
        assert_relative_eq!(loss_threshold(1_000_000).to_f64(), 0.049_785_156_25, epsilon = 1e-9);
        assert_relative_eq!(loss_threshold(20_000_000).to_f64(), 0.02, epsilon = 1e-9);
        assert!(loss_threshold(20_000_000) < LossFraction::ratio(1, 16));
    }
}
