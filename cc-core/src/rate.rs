//! Rates in bytes per second, and their exact products and quotients with time and bytes.

use crate::{Duration, division};
use std::num::{NonZeroU32, NonZeroU64};

const NANOS_PER_SEC: u64 = 1_000_000_000;

/// A rate in bytes per second. Range: the whole of `u64`.
///
/// Products with time are exact (rounded down to a whole byte) or saturate; there is no 128-bit division on
/// the paths that run per packet or per ACK (on a Cortex-M4 one costs more than a thousand instructions).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Rate(u64);

impl Rate {
    /// No bytes at all.
    pub const ZERO: Self = Self(0);
    /// The highest rate; used as "unlimited".
    pub const MAX: Self = Self(u64::MAX);

    /// A rate of `bytes` bytes per second.
    #[must_use]
    pub const fn from_bytes_per_sec(bytes: u64) -> Self {
        Self(bytes)
    }

    /// A rate of `bits` bits per second, truncated to whole bytes.
    #[must_use]
    pub const fn from_bits_per_sec(bits: u64) -> Self {
        Self(bits / 8)
    }

    /// The rate in bytes per second.
    #[must_use]
    pub const fn as_bytes_per_sec(self) -> u64 {
        self.0
    }

    /// Whether nothing is sent at this rate.
    #[must_use]
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// The rate at which `bytes` go by in `span`, rounded down; saturates, and is `None` if `span` is empty.
    #[must_use]
    pub fn from_delivery(bytes: u64, span: Duration) -> Option<Self> {
        let nanos = NonZeroU64::new(span.as_nanos())?;
        let rate = match bytes.checked_mul(NANOS_PER_SEC) {
            Some(product) => division::divide(product, nanos),
            // More than 18.4 GB in one span: rare enough for one wide division.
            None => {
                let wide = u128::from(bytes)
                    .saturating_mul(u128::from(NANOS_PER_SEC))
                    .checked_div(u128::from(nanos.get()))?;
                u64::try_from(wide).unwrap_or(u64::MAX)
            }
        };
        Some(Self(rate))
    }

    /// Bytes that go by in `span` at this rate: `rate * span`, rounded down; saturates.
    #[must_use]
    pub const fn bytes_in(self, span: Duration) -> u64 {
        let nanos = span.as_nanos();
        if (self.0 | nanos) >> 32 == 0 {
            // The rule: 4.29 GB/s and 4.29 s at most. No overflow, and one instruction on 32-bit processors.
            return division::by_billion(self.0.wrapping_mul(nanos));
        }
        // rate = high * 10^9 + low and span = secs * 10^9 + rest, so that
        // rate * span / 10^9 = rate * secs + high * rest + low * rest / 10^9, all exact: low * rest < 10^18.
        let (secs, rest) = whole_and_rest(nanos);
        let (high, low) = whole_and_rest(self.0);
        self.0
            .saturating_mul(secs)
            .saturating_add(high.saturating_mul(rest))
            .saturating_add(division::by_billion(low.saturating_mul(rest)))
    }

    /// Time that `bytes` take at this rate, rounded up to a whole nanosecond; [`Duration::MAX`] at rate zero.
    #[must_use]
    pub fn time_to_send(self, bytes: u64) -> Duration {
        if bytes == 0 {
            return Duration::ZERO;
        }
        let Some(rate) = NonZeroU64::new(self.0) else { return Duration::MAX };
        let nanos = match bytes.checked_mul(NANOS_PER_SEC) {
            Some(product) => division::divide_up(product, rate),
            None => {
                let wide =
                    u128::from(bytes).saturating_mul(u128::from(NANOS_PER_SEC)).div_ceil(u128::from(self.0));
                u64::try_from(wide).unwrap_or(u64::MAX)
            }
        };
        Duration::from_nanos(nanos)
    }

    /// The rate times `numerator / denominator`, rounded down; saturates. A denominator of zero counts as one.
    #[must_use]
    pub fn scaled(self, numerator: u32, denominator: u32) -> Self {
        let (numerator, denominator) =
            (u64::from(numerator), NonZeroU64::from(NonZeroU32::new(denominator).unwrap_or(NonZeroU32::MIN)));
        // rate = quotient * denominator + rest: both products are exact, rest * numerator < 2^64.
        let quotient = division::divide(self.0, denominator);
        let rest = self.0.wrapping_sub(quotient.wrapping_mul(denominator.get()));
        let low = division::divide(rest.saturating_mul(numerator), denominator);
        Self(quotient.saturating_mul(numerator).saturating_add(low))
    }
}

/// Whole billions, and what is left over.
const fn whole_and_rest(number: u64) -> (u64, u64) {
    let whole = division::by_billion(number);
    (whole, number.wrapping_sub(whole.wrapping_mul(NANOS_PER_SEC)))
}

#[cfg(test)]
mod tests {
    use super::{NANOS_PER_SEC, Rate};
    use crate::Duration;
    use proptest::prelude::*;

    #[test]
    fn ten_gigabit_over_two_seconds_and_a_terabit_over_a_minute_are_exact() {
        // interface.md, "Types": both products must be exact.
        assert_eq!(Rate::from_bits_per_sec(10_000_000_000).bytes_in(Duration::from_secs(2)), 2_500_000_000);
        assert_eq!(
            Rate::from_bits_per_sec(1_000_000_000_000).bytes_in(Duration::from_secs(60)),
            7_500_000_000_000
        );
    }

    #[test]
    fn a_megabyte_per_second_gives_ten_thousand_bytes_in_ten_milliseconds() {
        // bugs.md A14: the allowance is per byte, in the right unit.
        assert_eq!(Rate::from_bytes_per_sec(1_000_000).bytes_in(Duration::from_millis(10)), 10_000);
    }

    #[test]
    fn an_empty_span_gives_no_rate_and_rate_zero_never_sends() {
        assert_eq!(Rate::from_delivery(1_000, Duration::ZERO), None);
        assert_eq!(Rate::ZERO.time_to_send(1), Duration::MAX);
        assert_eq!(Rate::ZERO.time_to_send(0), Duration::ZERO);
        assert_eq!(Rate::MAX.bytes_in(Duration::MAX), u64::MAX);
    }

    proptest! {
        #[test]
        fn products_and_quotients_agree_with_128_bit_arithmetic(
            rate in any::<u64>(), nanos in any::<u64>(), n in any::<u32>(), d in 1..u32::MAX,
        ) {
            let clamp = |wide: u128| u64::try_from(wide).unwrap_or(u64::MAX);
            let billion = u128::from(NANOS_PER_SEC);
            let (r, t) = (u128::from(rate), u128::from(nanos));
            prop_assert_eq!(Rate(rate).bytes_in(Duration::from_nanos(nanos)), clamp(r * t / billion));
            prop_assert_eq!(
                Rate::from_delivery(rate, Duration::from_nanos(nanos)),
                (nanos != 0).then(|| Rate(clamp(r * billion / t)))
            );
            if rate != 0 {
                prop_assert_eq!(
                    Rate(rate).time_to_send(nanos).as_nanos(),
                    clamp((t * billion).div_ceil(r))
                );
            }
            prop_assert_eq!(Rate(rate).scaled(n, d).0, clamp(r * u128::from(n) / u128::from(d)));
        }
    }
}
