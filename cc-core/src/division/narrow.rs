//! For processors that multiply and divide 32-bit numbers.
//!
//! Nothing here is put into its callers: a call is what makes them small.

use std::num::{NonZeroU32, NonZeroU64};

#[inline(never)]
pub(super) const fn divide(numerator: u64, divisor: NonZeroU64) -> u64 {
    if high(divisor.get()) != 0 {
        return join(0, by_64_bits(numerator, divisor));
    }
    // Not zero, since the whole is not.
    let Some(divisor) = NonZeroU32::new(low(divisor.get())) else { return 0 };
    let (upper, rest) = divide_32(high(numerator), divisor);
    let lower = if rest == 0 {
        divide_32(low(numerator), divisor).0
    } else {
        by_32_bits(join(rest, low(numerator)), divisor)
    };
    join(upper, lower)
}

#[inline(never)]
pub(super) const fn by<const DIVISOR: u64>(numerator: u64) -> u64 {
    let Reciprocal { before, multiplier, after } = const { Reciprocal::new(DIVISOR) };
    multiply_high(numerator.wrapping_shr(before), multiplier).wrapping_shr(after)
}

/// `numerator / divisor`, the upper half of the numerator being less than the divisor: long division with two digits of 16 bits
/// (Knuth, The Art of Computer Programming, volume 2, section 4.3.1, algorithm D).
const fn by_32_bits(numerator: u64, divisor: NonZeroU32) -> u32 {
    let shift = divisor.leading_zeros();
    let (numerator, divisor) = (numerator.wrapping_shl(shift), divisor.get().wrapping_shl(shift));
    let (first, rest) = digit(high(numerator), low(numerator) >> 16, divisor);
    let (second, _) = digit(rest, low(numerator) & 0xffff, divisor);
    (first << 16) | second
}

/// One digit of long division: `rest * 2^16 + next` divided by `divisor`, and what is left over. The divisor has its highest bit
/// set, `rest` is less than it, and `next` has 16 bits.
const fn digit(rest: u32, next: u32, divisor: u32) -> (u32, u32) {
    // Its highest bit is set anyhow: this is for the compiler.
    let Some(upper) = NonZeroU32::new((divisor >> 16) | 0x8000) else { return (0, 0) };
    let lower = divisor & 0xffff;
    // Two too large at most.
    let (mut quotient, mut left) = divide_32(rest, upper);
    while quotient > 0xffff || quotient.wrapping_mul(lower) > ((left << 16) | next) {
        quotient = quotient.wrapping_sub(1);
        left = left.wrapping_add(upper.get());
        if left > 0xffff {
            break;
        }
    }
    // What is cut off above 32 bits is zero in the difference.
    (quotient, ((rest << 16) | next).wrapping_sub(quotient.wrapping_mul(divisor)))
}

/// `numerator / divisor`, the upper half of the divisor not being zero. Of the divisor the highest 32 bits are used, which
/// gives a quotient that is right or one too large (Warren, Hacker's Delight, section 9-5).
const fn by_64_bits(numerator: u64, divisor: NonZeroU64) -> u32 {
    let shift = divisor.leading_zeros();
    // The highest bit is set anyhow: this is for the compiler.
    let Some(upper) = NonZeroU32::new(high(divisor.get().wrapping_shl(shift)) | (1 << 31)) else { return 0 };
    let estimate = join(0, by_32_bits(numerator >> 1, upper)).wrapping_shl(shift) >> 31;
    let quotient = estimate.saturating_sub(1);
    let rest = numerator.wrapping_sub(quotient.wrapping_mul(divisor.get()));
    low(if rest >= divisor.get() { quotient.wrapping_add(1) } else { quotient })
}

const fn divide_32(numerator: u32, divisor: NonZeroU32) -> (u32, u32) {
    let quotient = match numerator.checked_div(divisor.get()) {
        Some(quotient) => quotient,
        None => 0,
    };
    (quotient, numerator.wrapping_sub(quotient.wrapping_mul(divisor.get())))
}

/// What a constant divisor is multiplied by: a quotient is `(numerator >> before) * multiplier >> (64 + after)`.
struct Reciprocal {
    before: u32,
    multiplier: u64,
    after: u32,
}

impl Reciprocal {
    /// For use in constants: does not compile for a divisor that needs a multiplier of 65 bits.
    ///
    /// With the odd part `d` of the divisor, `k` bits of numerator left, and `m = ceil(2^(64+s) / d)`, the quotient is exact
    /// if `m * d - 2^(64+s) <= 2^(64+s-k)` (Granlund and Montgomery, Division by Invariant Integers using Multiplication,
    /// theorem 4.2).
    #[expect(
        clippy::arithmetic_side_effects,
        clippy::cast_possible_truncation,
        reason = "the compiler computes it, and fails where it overflows"
    )]
    const fn new(divisor: u64) -> Self {
        assert!(divisor > 0, "a divisor is not zero");
        let before = divisor.trailing_zeros();
        let odd = (divisor >> before) as u128;
        let mut after = 0;
        loop {
            let power = 1_u128 << (64 + after);
            let multiplier = power.div_ceil(odd);
            if multiplier * odd - power <= 1 << (after + before) {
                assert!(multiplier <= u64::MAX as u128, "the reciprocal has 64 bits");
                return Self { before, multiplier: multiplier as u64, after };
            }
            after += 1;
        }
    }
}

/// The upper 64 bits of a product.
const fn multiply_high(this: u64, that: u64) -> u64 {
    // Of 32 bits times 32 bits, to which two more numbers of 32 bits can be added.
    let lowest = multiply(low(this), low(that));
    let middle = multiply(high(this), low(that)).wrapping_add(join(0, high(lowest)));
    let other = multiply(low(this), high(that)).wrapping_add(join(0, low(middle)));
    multiply(high(this), high(that)).wrapping_add(join(0, high(middle))).wrapping_add(join(0, high(other)))
}

const fn multiply(this: u32, that: u32) -> u64 {
    join(0, this).wrapping_mul(join(0, that))
}

const fn join(high: u32, low: u32) -> u64 {
    ((high as u64) << 32) | low as u64
}

const fn high(number: u64) -> u32 {
    low(number >> 32)
}

#[expect(clippy::cast_possible_truncation, reason = "the lower half is meant")]
const fn low(number: u64) -> u32 {
    number as u32
}
