//! Division of 64-bit numbers that is cheap on 32-bit processors too.
//!
//! A processor of 32 bits has no instruction for it: `/` calls a library function, which takes 100 to 300 instructions on a
//! Cortex-M4 and some hundred bytes of flash, for constant divisors too. Here constants are multiplied with their
//! reciprocal, and other divisors are divided in 32-bit steps, for which a Cortex-M4 has an instruction. 64-bit
//! targets, and WebAssembly, divide by `/`, which the compiler knows best. All of it is exact for all arguments, so that
//! the results are the same everywhere.

#[cfg(any(test, not(any(target_pointer_width = "64", target_family = "wasm"))))]
mod narrow;
#[cfg(any(test, target_pointer_width = "64", target_family = "wasm"))]
mod wide;

#[cfg(not(any(target_pointer_width = "64", target_family = "wasm")))]
use narrow as native;
#[cfg(any(target_pointer_width = "64", target_family = "wasm"))]
use wide as native;

use std::num::NonZeroU64;

/// `numerator / divisor`, rounded down.
#[must_use]
#[inline]
pub const fn divide(numerator: u64, divisor: NonZeroU64) -> u64 {
    native::divide(numerator, divisor)
}

/// `numerator / divisor`, rounded down; `None` if the divisor is zero.
#[must_use]
#[inline(always)]
pub const fn checked(numerator: u64, divisor: u64) -> Option<u64> {
    match NonZeroU64::new(divisor) {
        Some(divisor) => Some(divide(numerator, divisor)),
        None => None,
    }
}

/// `numerator / divisor`, rounded up.
#[must_use]
#[inline]
pub const fn divide_up(numerator: u64, divisor: NonZeroU64) -> u64 {
    let quotient = divide(numerator, divisor);
    // A quotient of which something is left over is below the largest number.
    if quotient.wrapping_mul(divisor.get()) == numerator { quotient } else { quotient.wrapping_add(1) }
}

/// `numerator / DIVISOR`, rounded down.
///
/// Where no exact reciprocal has 64 bits it does not compile on 32-bit targets (7 is such a divisor): then there is [`divide`].
#[must_use]
#[inline]
pub const fn by<const DIVISOR: u64>(numerator: u64) -> u64 {
    native::by::<DIVISOR>(numerator)
}

/// `numerator / 100`, rounded down.
#[must_use]
#[inline]
pub const fn by_hundred(numerator: u64) -> u64 {
    by::<100>(numerator)
}

/// `numerator / 1000`, rounded down.
#[must_use]
#[inline]
pub const fn by_thousand(numerator: u64) -> u64 {
    by::<1_000>(numerator)
}

/// `numerator / 10^6`, rounded down.
#[must_use]
#[inline]
pub const fn by_million(numerator: u64) -> u64 {
    by::<1_000_000>(numerator)
}

/// `numerator / 10^9`, rounded down.
#[must_use]
#[inline]
pub const fn by_billion(numerator: u64) -> u64 {
    by::<1_000_000_000>(numerator)
}

#[cfg(test)]
mod tests;
