//! Which numbers the frame that is being collected has marked: a few ranges.

use super::shift;
use heapless::Vec;

/// Ranges kept. What is marked between two of them costs nothing; where there are more, the smallest gap is closed, and
/// the numbers in it are looked at as well.
const RANGES: usize = 16;

/// A set of numbers, as ascending ranges with a gap between each two. It may come to hold numbers that were never put
/// in, so that the state of each packet has the last word.
#[derive(Clone, Debug, Default)]
pub(super) struct Marks {
    /// At most [`RANGES`], but for a moment.
    ranges: Vec<Range, { RANGES + 1 }>,
}

/// First and last number.
type Range = (u64, u64);

impl Marks {
    pub(super) const fn new() -> Self {
        Self { ranges: Vec::new() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    pub(super) fn clear(&mut self) {
        self.ranges.clear();
    }

    /// The lowest number and the one behind the highest; zero and zero if there is none.
    pub(super) fn span(&self) -> (u64, u64) {
        match (self.ranges.first(), self.ranges.last()) {
            (Some(&(first, _)), Some(&(_, last))) => (first, last.saturating_add(1)),
            _ => (0, 0),
        }
    }

    /// First number of a range, and the number behind its last; ranges are ascending.
    pub(super) fn range(&self, index: usize) -> Option<(u64, u64)> {
        let &(first, last) = self.ranges.get(index)?;
        Some((first, last.saturating_add(1)))
    }

    /// Puts a number in.
    #[inline]
    pub(super) fn insert(&mut self, number: u64) {
        // Numbers come ascending as a rule.
        match self.ranges.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(number) => *last = number,
            // There is room.
            None => drop(self.ranges.push((number, number))),
            _ => self.insert_anywhere(number),
        }
    }

    /// The same for a number that does not come ascending.
    #[inline(never)]
    pub(super) fn insert_anywhere(&mut self, number: u64) {
        let index = self.ranges.partition_point(|&(_, last)| last < number);
        if self.ranges.get(index).is_some_and(|&(first, _)| first <= number) {
            return;
        }
        // There is room for one more than are kept.
        let _ = shift::insert(&mut self.ranges, index, (number, number));
        // The upper neighbour first, which leaves the index as it is.
        for at in [index.wrapping_add(1), index] {
            if self.gap(at) == 1 {
                self.join(at);
            }
        }
        if self.ranges.len() > RANGES {
            let (mut smallest, mut at) = (u64::MAX, 1);
            for index in 1..self.ranges.len() {
                let gap = self.gap(index);
                if gap < smallest {
                    (smallest, at) = (gap, index);
                }
            }
            self.join(at);
        }
    }

    /// Distance of the range at `index` from the one before; 1 if they touch. Very large where there are not both.
    #[cfg_attr(target_pointer_width = "32", inline(never))]
    fn gap(&self, index: usize) -> u64 {
        match (self.ranges.get(index.wrapping_sub(1)), self.ranges.get(index)) {
            (Some(&(_, last)), Some(&(first, _))) => first.wrapping_sub(last),
            _ => u64::MAX,
        }
    }

    /// Makes one range of the one at `index` and the one before.
    #[cfg_attr(target_pointer_width = "32", inline(never))]
    fn join(&mut self, index: usize) {
        if let Some((_, last)) = shift::remove(&mut self.ranges, index)
            && let Some(before) = self.ranges.get_mut(index.wrapping_sub(1))
        {
            before.1 = last;
        }
    }
}

#[cfg(test)]
mod tests {
    extern crate alloc;

    use super::{Marks, RANGES, Range};
    use alloc::vec::Vec;
    use proptest::prelude::*;

    fn marks(numbers: impl IntoIterator<Item = u64>) -> Marks {
        let mut marks = Marks::new();
        numbers.into_iter().for_each(|number| marks.insert(number));
        marks
    }

    fn numbers(marks: &Marks) -> Vec<u64> {
        marks.ranges.iter().flat_map(|&(first, last)| first..=last).collect()
    }

    fn ranges(numbers: impl IntoIterator<Item = u64>) -> Vec<Range> {
        marks(numbers).ranges.to_vec()
    }

    #[test]
    fn neighbours_make_one_range_in_whatever_order_they_come() {
        assert_eq!(ranges([3, 4, 5]), [(3, 5)]);
        assert_eq!(ranges([5, 4, 3]), [(3, 5)]);
        assert_eq!(ranges([3, 5, 4, 4]), [(3, 5)]);
        assert_eq!(ranges([0, u64::MAX]), [(0, 0), (u64::MAX, u64::MAX)]);
        assert_eq!(ranges([u64::MAX, u64::MAX - 1, 0, 1]), [(0, 1), (u64::MAX - 1, u64::MAX)]);
        assert_eq!(ranges([]), []);
    }

    #[test]
    fn the_lowest_and_the_highest_are_two_numbers_to_look_at() {
        let marks = marks([0, 32_767, 1, 32_766]);
        assert_eq!(numbers(&marks), [0, 1, 32_766, 32_767]);
        assert_eq!(numbers(&self::marks([0, u64::MAX])), [0, u64::MAX]);
    }

    #[test]
    fn where_ranges_run_out_the_smallest_gap_is_closed() {
        // 16 ranges: 0, 100, ..., 1500. One more number closes a gap of its own, or a smaller one elsewhere.
        let full = || (0..RANGES as u64).map(|n| 100 * n);
        let with = |more: &[u64]| ranges(full().chain(more.iter().copied()));
        assert_eq!(with(&[1_510]).last(), Some(&(1_500, 1_510)));
        assert_eq!(with(&[1_490]).last(), Some(&(1_490, 1_500)));
        assert_eq!(with(&[310])[3], (300, 310));
        // 2000 is 500 away from the next: the first of the gaps of 100 is closed instead.
        let far = with(&[2_000]);
        assert_eq!((far.len(), far[0], far[15]), (16, (0, 100), (2_000, 2_000)));
        // A neighbour needs no room.
        assert_eq!(with(&[1_501]).last(), Some(&(1_500, 1_501)));
    }

    proptest! {
        #[test]
        fn everything_put_in_is_found_once_ascending_and_nothing_outside(
            numbers in proptest::collection::vec(prop_oneof![9 => 0..200_u64, 1 => 0..5_000_u64], 0..80),
        ) {
            let marks = marks(numbers.iter().copied());
            let found = self::numbers(&marks);
            prop_assert!(found.windows(2).all(|pair| pair[0] < pair[1]));
            prop_assert!(numbers.iter().all(|number| found.contains(number)));
            prop_assert_eq!(found.first(), numbers.iter().min());
            prop_assert_eq!(found.last(), numbers.iter().max());
            prop_assert!(marks.ranges.windows(2).all(|pair| pair[0].1 + 1 < pair[1].0));
            // As long as there are ranges enough, nothing else is in it.
            let mut distinct = numbers;
            distinct.sort_unstable();
            distinct.dedup();
            let needed = 1 + distinct.windows(2).filter(|pair| pair[0] + 1 < pair[1]).count();
            if needed <= RANGES && found.len() != distinct.len() {
                // Ranges may have run out on the way; not if the numbers came ascending.
                let ascending = self::numbers(&self::marks(distinct.iter().copied()));
                prop_assert_eq!(ascending, distinct);
            }
        }
    }
}
