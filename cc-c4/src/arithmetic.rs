//! Products and quotients of C4's units, floored. No 128-bit numbers, no library function for division.
//!
//! Bytes and bytes per second have 64 bits. Spans of time in microseconds and parts of 1024 have 32, which a
//! microcontroller multiplies and compares in one instruction. There, what has several callers is also kept out of line,
//! here and in the rest of the crate, where that makes the program smaller (embedded/README.md has the figures).

use cc_core::{Duration, division};
use core::num::NonZeroU64;

pub(crate) const MILLION: u64 = 1_000_000;

/// A span of time in whole microseconds, truncated. More than 2^32 - 1 of them (71 min 34 s) count as so many.
#[cfg_attr(target_pointer_width = "32", inline(never))]
pub(crate) fn micros(span: Duration) -> u32 {
    u32::try_from(span.as_micros()).unwrap_or(u32::MAX)
}

/// `floor(part * x / 1024)`; saturates.
#[cfg_attr(target_pointer_width = "32", inline(never))]
pub(crate) const fn part_of(part: u32, x: u64) -> u64 {
    let part = part as u64;
    // x = high * 2^32 + low. A product of 32-bit numbers and a third one are below 2^64.
    let low = part.wrapping_mul(x & 0xffff_ffff);
    let high = part.wrapping_mul(x >> 32).wrapping_add(low >> 32);
    if high >> 42 == 0 { (high << 22) | ((low & 0xffff_ffff) >> 10) } else { u64::MAX }
}

/// `floor(part * x / 1024)` of at most 1024 parts.
pub(crate) const fn fraction_of(part: u32, x: u32) -> u32 {
    let product = (part as u64).wrapping_mul(x as u64);
    ((product >> 10) & 0xffff_ffff) as u32
}

/// Bytes that go by in `micros` at `rate`: `floor(micros * rate / 1 000 000)`. From 2^64 / 10^6 of them (18.4 TB) on
/// they have no limit: `u64::MAX`.
#[cfg_attr(target_pointer_width = "32", inline(never))]
pub(crate) const fn bytes_in(micros: u32, rate: u64) -> u64 {
    match rate.checked_mul(micros as u64) {
        Some(product) => division::by_million(product),
        None => u64::MAX,
    }
}

/// `floor(bytes * 1 000 000 / divisor)`: a rate from bytes and microseconds, or microseconds from bytes and a rate.
/// A divisor of zero counts as one, more bytes than 2^64 / 10^6 (18.4 TB) as so many.
#[cfg_attr(target_pointer_width = "32", inline(never))]
pub(crate) fn millions_per(bytes: u64, divisor: u64) -> u64 {
    let divisor = NonZeroU64::new(divisor).unwrap_or(NonZeroU64::MIN);
    division::divide(bytes.saturating_mul(MILLION), divisor)
}

/// `floor((7 * old + new) / 8)`: the slow average of C4's RTT model.
pub(crate) const fn seven_eighths(old: u32, new: u32) -> u32 {
    // At most 8 * (2^32 - 1): the eighth has 32 bits.
    let sum = (old as u64).wrapping_mul(7).wrapping_add(new as u64);
    ((sum >> 3) & 0xffff_ffff) as u32
}

#[cfg(test)]
mod tests {
    use super::{MILLION, bytes_in, fraction_of, micros, millions_per, part_of, seven_eighths};
    use cc_core::Duration;
    use proptest::prelude::*;

    #[test]
    fn parts_floor() {
        // 960 * 1000 / 1024 = 937.5
        assert_eq!(part_of(960, 1_000), 937);
        assert_eq!(part_of(1_024, 77), 77);
        assert_eq!(part_of(2_048, u64::MAX), u64::MAX);
    }

    #[test]
    fn windows_floor() {
        // 33 333 us * 1 001 B/s = 33 366 333 / 10^6 = 33.366
        assert_eq!(bytes_in(33_333, 1_001), 33);
        assert_eq!(bytes_in(u32::MAX, u64::MAX), u64::MAX);
        // 2^64 - 1 = 3 * 6 148 914 691 236 517 205: the largest product, / 10^6, and the next one
        assert_eq!(bytes_in(3, 6_148_914_691_236_517_205), 18_446_744_073_709);
        assert_eq!(bytes_in(3, 6_148_914_691_236_517_206), u64::MAX);
    }

    #[test]
    fn rates_floor_and_an_empty_span_is_a_microsecond() {
        // 1000 B / 3 us = 333 333 333.3 B/s
        assert_eq!(millions_per(1_000, 3), 333_333_333);
        assert_eq!(millions_per(7, 0), 7_000_000);
        assert_eq!(millions_per(u64::MAX, 1), u64::MAX);
    }

    #[test]
    fn slow_average_floors() {
        // (7 * 100 + 99) / 8 = 99.875
        assert_eq!(seven_eighths(100, 99), 99);
    }

    #[test]
    fn spans_are_truncated_and_end_at_32_bits() {
        assert_eq!(micros(Duration::from_nanos(1_999)), 1);
        assert_eq!(micros(Duration::from_micros(4_294_967_295)), u32::MAX);
        assert_eq!(micros(Duration::from_micros(4_294_967_296)), u32::MAX);
        assert_eq!(micros(Duration::MAX), u32::MAX);
    }

    proptest! {
        #[test]
        fn all_agree_with_128_bit_arithmetic(a: u64, b: u64, x: u32, y: u32, part in 0..4_096_u32, shift in 0..64_u32) {
            let clamp = |wide: u128| u64::try_from(wide).unwrap_or(u64::MAX);
            let (a, million) = (a >> shift, u128::from(MILLION)); // of any length
            let wide = u128::from(a);
            prop_assert_eq!(part_of(part, a), clamp(u128::from(part) * wide / 1_024));
            let fraction = part % 1_025;
            prop_assert_eq!(u64::from(fraction_of(fraction, x)), u64::from(fraction) * u64::from(x) / 1_024);
            let product = u128::from(x) * wide;
            let bytes = if product > u128::from(u64::MAX) { u128::MAX } else { product / million };
            prop_assert_eq!(bytes_in(x, a), clamp(bytes));
            let product = clamp(wide * million);
            prop_assert_eq!(millions_per(a, b), product / b.max(1));
            prop_assert_eq!(millions_per(a, u64::from(x)), product / u64::from(x).max(1));
            prop_assert_eq!(u64::from(seven_eighths(x, y)), (7 * u64::from(x) + u64::from(y)) / 8);
            prop_assert_eq!(u64::from(micros(Duration::from_nanos(a))), (a / 1_000).min(u64::from(u32::MAX)));
        }
    }
}
