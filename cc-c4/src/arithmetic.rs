//! Products and quotients of C4's units (microseconds, bytes, bytes per second, parts of 1024), floored; exact
//! where the result fits `u64`, saturating otherwise, and without 128-bit numbers.

use cc_core::{Duration, Rate};

pub(crate) const MILLION: u64 = 1_000_000;

/// `floor(part * x / 1024)`.
pub(crate) const fn part_of(part: u64, x: u64) -> u64 {
    if let Some(product) = part.checked_mul(x) {
        return product >> 10;
    }
    // x = high * 1024 + low, so part * x / 1024 = part * high + part * low / 1024.
    let (high, low) = (x >> 10, x & 1023);
    part.saturating_mul(high).saturating_add(part.saturating_mul(low) >> 10)
}

/// Bytes that go by in `micros` at `rate`: `floor(micros * rate / 1 000 000)`. More than 584 years count as so many.
pub(crate) const fn bytes_in(micros: u64, rate: u64) -> u64 {
    Rate::from_bytes_per_sec(rate).bytes_in(Duration::from_micros(micros))
}

/// `floor(dividend * 1 000 000 / divisor)`: a rate from bytes and microseconds, or microseconds from bytes and a
/// rate. A divisor of zero counts as one. Beyond a divisor of 1.8 * 10^13 (213 days) the result may be low by one
/// millionth.
pub(crate) fn millions_per(dividend: u64, divisor: u64) -> u64 {
    let divisor = divisor.max(1);
    if let Some(product) = dividend.checked_mul(MILLION) {
        return product.checked_div(divisor).unwrap_or(u64::MAX);
    }
    let whole = dividend.checked_div(divisor).unwrap_or(u64::MAX);
    let rest = dividend.checked_rem(divisor).unwrap_or(0);
    let fraction = match rest.checked_mul(MILLION) {
        Some(product) => product.checked_div(divisor).unwrap_or(0),
        // rest < divisor, so that divisor > 1.8 * 10^13 here and the divisor below is far from zero.
        None => rest.checked_div((divisor / MILLION).saturating_add(1)).unwrap_or(0),
    };
    whole.saturating_mul(MILLION).saturating_add(fraction)
}

/// `floor((7 * old + new) / 8)`: the slow average of C4's RTT model.
pub(crate) const fn seven_eighths(old: u64, new: u64) -> u64 {
    old.saturating_mul(7).saturating_add(new) / 8
}

#[cfg(test)]
mod tests {
    use super::{MILLION, bytes_in, millions_per, part_of, seven_eighths};
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
        assert_eq!(bytes_in(u64::MAX, u64::MAX), u64::MAX);
    }

    #[test]
    fn rates_floor_and_an_empty_span_is_a_microsecond() {
        // 1000 B / 3 us = 333 333 333.3 B/s
        assert_eq!(millions_per(1_000, 3), 333_333_333);
        assert_eq!(millions_per(7, 0), 7_000_000);
    }

    #[test]
    fn slow_average_floors() {
        // (7 * 100 + 99) / 8 = 99.875
        assert_eq!(seven_eighths(100, 99), 99);
    }

    proptest! {
        #[test]
        fn all_agree_with_128_bit_arithmetic(a in any::<u64>(), b in any::<u64>(), part in 0..4_096_u64) {
            let clamp = |wide: u128| u64::try_from(wide).unwrap_or(u64::MAX);
            let (wa, wb, million) = (u128::from(a), u128::from(b), u128::from(MILLION));
            prop_assert_eq!(part_of(part, a), clamp(u128::from(part) * wa / 1_024));
            let micros = a / 1_000; // what a Duration holds
            prop_assert_eq!(bytes_in(micros, b), clamp(u128::from(micros) * wb / million));
            let exact = clamp(wa * million / wb.max(1));
            let got = millions_per(a, b);
            prop_assert!(got <= exact && exact - got <= exact / 1_000_000 + 1, "{got} for {exact}");
            let shorter = b >> 24; // below the span from which the quotient is rounded
            prop_assert_eq!(millions_per(a, shorter), clamp(wa * million / u128::from(shorter.max(1))));
        }
    }
}
