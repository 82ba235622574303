//! Windows with a fraction of a byte, and exact shares of them.

use crate::config::MAX_WINDOW;
use cc_core::division;
use core::num::NonZero;

/// Bits of the fraction: 1/65536 byte, so that the growth for one small packet in a window of 1 TiB is not
/// rounded away for good (it is carried), while the whole still fits `u64` with room for doubling.
pub(crate) const FRACTION_BITS: u32 = 16;

/// A number of bytes, 0 to [`MAX_WINDOW`], with a 16-bit fraction.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(crate) struct FineBytes(u64);

impl FineBytes {
    /// `bytes`, at most [`MAX_WINDOW`].
    pub(crate) fn new(bytes: u64) -> Self {
        Self(bytes.min(MAX_WINDOW) << FRACTION_BITS)
    }

    /// A number of 1/65536 bytes, at most [`MAX_WINDOW`].
    pub(crate) fn from_raw(raw: u64) -> Self {
        Self(raw.min(MAX_WINDOW << FRACTION_BITS))
    }

    pub(crate) const fn raw(self) -> u64 {
        self.0
    }

    /// Whole bytes.
    pub(crate) const fn whole(self) -> u64 {
        self.0 >> FRACTION_BITS
    }

    pub(crate) fn plus(self, other: Self) -> Self {
        Self::from_raw(self.0.saturating_add(other.0))
    }

    pub(crate) const fn minus(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

/// Growth for each byte acked: a ratio of two byte counts with at least 24 significant bits.
///
/// Made with one 64-bit division, applied with none. Ratios of 2^48 and more do not occur and saturate.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Slope {
    /// The ratio times `2^shift`, in 1/65536 bytes per byte.
    mantissa: u32,
    shift: u8,
}

impl Slope {
    /// `numerator / denominator`, the denominator rounded up to a whole byte; zero if it is zero.
    pub(crate) fn new(numerator: FineBytes, denominator: FineBytes) -> Self {
        let Some(denominator) = NonZero::new(denominator.0.div_ceil(1 << FRACTION_BITS)) else {
            return Self::default();
        };
        if numerator.0 == 0 {
            return Self::default();
        }
        // As many bits as fit: the numerator is not zero, so the shift is below 64.
        let scale = numerator.0.leading_zeros();
        let ratio = division::divide(numerator.0.checked_shl(scale).unwrap_or(0), denominator);
        // The highest 32 of them are kept.
        let excess = u64::BITS.saturating_sub(ratio.leading_zeros()).saturating_sub(u32::BITS);
        let mantissa = u32::try_from(ratio.checked_shr(excess).unwrap_or(0)).unwrap_or(u32::MAX);
        Self { mantissa, shift: u8::try_from(scale.saturating_sub(excess)).unwrap_or(0) }
    }

    /// Growth for `bytes` acked, rounded down to 1/65536 byte.
    pub(crate) fn times(self, bytes: u64) -> FineBytes {
        let product = u128::from(self.mantissa).saturating_mul(u128::from(bytes)) >> self.shift;
        FineBytes::from_raw(u64::try_from(product).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::{FineBytes, Slope};
    use crate::config::MAX_WINDOW;
    use proptest::prelude::*;

    #[test]
    fn a_datagram_per_window_comes_out_to_the_byte() {
        // 1200 / 12000 * 12000 = 1200, less rounding of the ratio.
        let slope = Slope::new(FineBytes::new(1_200), FineBytes::new(12_000));
        let grown = slope.times(12_000);
        assert!(grown <= FineBytes::new(1_200));
        assert!(FineBytes::new(1_200).minus(grown).raw() <= 1);
    }

    #[test]
    fn windows_saturate_at_the_largest() {
        assert_eq!(FineBytes::new(u64::MAX).whole(), MAX_WINDOW);
        assert_eq!(FineBytes::new(MAX_WINDOW).plus(FineBytes::new(1)).whole(), MAX_WINDOW);
        assert_eq!(FineBytes::new(1).minus(FineBytes::new(2)).whole(), 0);
        assert_eq!(Slope::new(FineBytes::new(1), FineBytes::new(0)).times(9).raw(), 0);
    }

    proptest! {
        #[test]
        fn a_slope_is_exact_to_a_millionth(
            numerator in 1..MAX_WINDOW, denominator in 1..MAX_WINDOW, bytes in 1..MAX_WINDOW,
        ) {
            let slope = Slope::new(FineBytes::new(numerator), FineBytes::new(denominator));
            let exact = (u128::from(numerator) << 16) * u128::from(bytes) / u128::from(denominator);
            let exact = exact.min(u128::from(MAX_WINDOW) << 16);
            let got = u128::from(slope.times(bytes).raw());
            prop_assert!(got <= exact);
            prop_assert!(exact - got <= exact / 1_000_000 + 1);
        }
    }
}
