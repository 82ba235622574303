//! For processors that divide 64-bit numbers themselves.

use std::num::NonZeroU64;

#[inline]
#[expect(clippy::arithmetic_side_effects, reason = "the divisor is not zero")]
pub(super) const fn divide(numerator: u64, divisor: NonZeroU64) -> u64 {
    numerator / divisor.get()
}

#[inline]
#[expect(clippy::arithmetic_side_effects, reason = "the divisor is not zero")]
pub(super) const fn by<const DIVISOR: u64>(numerator: u64) -> u64 {
    const { assert!(DIVISOR > 0, "a divisor is not zero") };
    numerator / DIVISOR
}
