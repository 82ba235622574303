//! Products with gains and factors in percent: exact and rounded down, saturating, without 128-bit numbers.

use crate::constants::ONE;
use cc_core::Rate;

/// `value * percent / 100`, rounded down.
pub(crate) fn percent_of(value: u64, percent: u32) -> u64 {
    Rate::from_bytes_per_sec(value).scaled(percent, ONE).as_bytes_per_sec()
}

#[cfg(test)]
mod tests {
    use super::percent_of;

    #[test]
    fn parts_are_rounded_down_and_saturate() {
        // 70 % of 101 = 70.7, 277 % of 7 = 19.39
        assert_eq!(percent_of(101, 70), 70);
        assert_eq!(percent_of(7, 277), 19);
        assert_eq!(percent_of(u64::MAX, 100), u64::MAX);
        assert_eq!(percent_of(u64::MAX, 225), u64::MAX);
    }
}
