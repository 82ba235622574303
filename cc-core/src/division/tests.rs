use super::{by_billion, by_hundred, by_million, by_thousand, checked, divide_up, narrow, wide};
use proptest::prelude::*;
use std::num::NonZeroU64;

/// Around powers of two, multiples of the constant divisors, and both ends.
fn edges() -> impl Iterator<Item = u64> {
    let powers = (0..64).map(|bit| 1_u64 << bit);
    let multiples = [100, 1_000, 1_000_000, 1_000_000_000].into_iter().flat_map(|divisor| {
        [1, 2, 3, 4_294_967, u64::MAX / divisor / 2, u64::MAX / divisor].map(move |factor| divisor * factor)
    });
    let patterns = [0, u64::MAX, 0xffff_ffff_0000_0000, 0x8000_0000_ffff_ffff, 0x0000_ffff_0000_ffff];
    powers.chain(multiples).chain(patterns).flat_map(|number: u64| {
        [
            number.wrapping_sub(2),
            number.wrapping_sub(1),
            number,
            number.wrapping_add(1),
            number.wrapping_add(2),
        ]
    })
}

/// Numbers of every length.
fn numbers() -> impl Strategy<Value = u64> {
    prop_oneof![
        (any::<u64>(), 0..64_u32).prop_map(|(number, shift)| number >> shift),
        // Digits that are all ones or all zeros, where an estimate of a digit is farthest off.
        proptest::collection::vec(
            prop_oneof![
                Just(0_u16),
                Just(1),
                Just(0x7fff),
                Just(0x8000),
                Just(0xfffe),
                Just(0xffff),
                any::<u16>()
            ],
            4
        )
        .prop_map(|digits| digits.into_iter().fold(0, |number, digit| (number << 16) | u64::from(digit))),
    ]
}

#[test]
fn quotients_by_constants_are_exact_at_the_edges() {
    for number in edges() {
        assert_eq!(narrow::by::<3>(number), number / 3, "{number}");
        assert_eq!(narrow::by::<17>(number), number / 17, "{number}");
        assert_eq!(narrow::by::<100>(number), number / 100, "{number}");
        assert_eq!(narrow::by::<1_000>(number), number / 1_000, "{number}");
        assert_eq!(narrow::by::<1_000_000>(number), number / 1_000_000, "{number}");
        assert_eq!(narrow::by::<1_000_000_000>(number), number / 1_000_000_000, "{number}");
        assert_eq!(by_hundred(number), number / 100, "{number}");
        assert_eq!(by_thousand(number), number / 1_000, "{number}");
        assert_eq!(by_million(number), number / 1_000_000, "{number}");
        assert_eq!(by_billion(number), number / 1_000_000_000, "{number}");
    }
}

#[test]
fn quotients_are_exact_at_the_edges() {
    for divisor in edges().filter_map(NonZeroU64::new) {
        for number in edges() {
            assert_eq!(narrow::divide(number, divisor), number / divisor, "{number} / {divisor}");
        }
    }
}

#[test]
fn a_digit_that_is_estimated_two_too_large_is_corrected() {
    // The second: the first digit is estimated as 0x8000_fffe / 0x8000 = 0x1_0001 and is 0xffff.
    for (number, divisor) in [
        (0x7fff_8000_0000_0000_u64, 0x8000_ffff_u64),
        (0x8000_fffe_0000_0000, 0x8000_ffff),
        (0xffff_fffe_ffff_ffff, 0xffff_ffff),
        (u64::MAX, 0x8000_0000_ffff_ffff),
        (u64::MAX, 0x0001_0000_ffff_ffff),
    ] {
        let divisor = NonZeroU64::new(divisor).unwrap();
        assert_eq!(narrow::divide(number, divisor), number / divisor, "{number} / {divisor}");
    }
}

#[test]
fn rounding_up_adds_one_only_to_what_leaves_something_over() {
    let three = NonZeroU64::new(3).unwrap();
    assert_eq!([0, 1, 3, 4, 6].map(|number| divide_up(number, three)), [0, 1, 1, 2, 2]);
    // 2^64 - 1 = 3 * 6148914691236517205.
    assert_eq!(divide_up(u64::MAX, three), 6_148_914_691_236_517_205);
    assert_eq!(divide_up(u64::MAX, NonZeroU64::MIN), u64::MAX);
    assert_eq!((checked(7, 0), checked(7, 2)), (None, Some(3)));
}

proptest! {
    #[test]
    fn both_ways_of_division_give_the_same(number in numbers(), divisor in numbers()) {
        prop_assert_eq!(narrow::by::<5>(number), wide::by::<5>(number));
        prop_assert_eq!(narrow::by::<17>(number), wide::by::<17>(number));
        prop_assert_eq!(narrow::by::<100>(number), wide::by::<100>(number));
        prop_assert_eq!(narrow::by::<1_000>(number), wide::by::<1_000>(number));
        prop_assert_eq!(narrow::by::<1_000_000>(number), wide::by::<1_000_000>(number));
        prop_assert_eq!(narrow::by::<1_000_000_000>(number), wide::by::<1_000_000_000>(number));
        prop_assume!(divisor != 0);
        let divisor = NonZeroU64::new(divisor).unwrap();
        prop_assert_eq!(narrow::divide(number, divisor), wide::divide(number, divisor));
        prop_assert_eq!(divide_up(number, divisor), number.div_ceil(divisor.get()));
    }
}
