//! For processors that divide 64-bit numbers themselves.

use std::num::NonZeroU64;

#[inline]
#[expect(clippy::arithmetic_side_effects, reason = "the divisor is not zero")]
pub(super) const fn divide(numerator: u64, divisor: NonZeroU64) -> u64 {
    numerator / divisor.get()
}

#[inline]
pub(super) const fn by_hundred(numerator: u64) -> u64 {
    numerator / 100
}

#[inline]
pub(super) const fn by_thousand(numerator: u64) -> u64 {
    numerator / 1_000
}

#[inline]
pub(super) const fn by_million(numerator: u64) -> u64 {
    numerator / 1_000_000
}

#[inline]
pub(super) const fn by_billion(numerator: u64) -> u64 {
    numerator / 1_000_000_000
}
