//! Sets of numbers as sorted, disjoint, inclusive ranges.

/// A set of `u64`. Adding at the end, the usual case, costs nothing; the vector keeps its capacity.
#[derive(Clone, Debug, Default)]
pub(super) struct Ranges(Vec<(u64, u64)>);

impl Ranges {
    /// Adds `first..=last` and returns how many of its numbers are new.
    #[inline]
    pub(super) fn insert(&mut self, first: u64, last: u64) -> u64 {
        match self.0.last_mut() {
            Some(end) if first == end.1 + 1 && first <= last => {
                end.1 = last;
                last - first + 1
            }
            _ => self.insert_anywhere(first, last),
        }
    }

    fn insert_anywhere(&mut self, first: u64, last: u64) -> u64 {
        if first > last {
            return 0;
        }
        match self.0.last() {
            Some(end) if first <= end.1 => return self.insert_inside(first, last),
            _ => self.0.push((first, last)),
        }
        last - first + 1
    }

    fn insert_inside(&mut self, first: u64, last: u64) -> u64 {
        // Ranges from `from` on end at or after `first - 1`; those before `to` start at or before `last + 1`.
        let from = self.0.partition_point(|range| range.1.saturating_add(1) < first);
        let to = self.0.partition_point(|range| range.0 <= last.saturating_add(1));
        let mut covered = 0;
        let mut merged = (first, last);
        for &(start, end) in &self.0[from..to] {
            let (low, high) = (start.max(first), end.min(last));
            if low <= high {
                covered += high - low + 1;
            }
            merged = (merged.0.min(start), merged.1.max(end));
        }
        self.0.splice(from..to, [merged]);
        last - first + 1 - covered
    }

    /// The first part of `first..=last` that the set does not hold.
    pub(super) fn first_gap(&self, first: u64, last: u64) -> Option<(u64, u64)> {
        let mut from = first;
        let mut at = self.0.partition_point(|range| range.1 < first);
        while from <= last {
            match self.0.get(at) {
                Some(&(start, end)) if start <= from => {
                    from = end.checked_add(1)?;
                    at += 1;
                }
                Some(&(start, _)) if start <= last => return Some((from, start - 1)),
                _ => return Some((from, last)),
            }
        }
        None
    }

    /// The largest member.
    pub(super) fn max(&self) -> Option<u64> {
        self.0.last().map(|range| range.1)
    }

    /// The ranges, ascending.
    pub(super) fn as_slice(&self) -> &[(u64, u64)] {
        &self.0
    }

    /// Forgets the numbers below `number`.
    pub(super) fn forget_below(&mut self, number: u64) {
        let gone = self.0.partition_point(|range| range.1 < number);
        self.0.drain(..gone);
        if let Some(range) = self.0.first_mut() {
            range.0 = range.0.max(number);
        }
    }

    /// Forgets all but the `count` highest ranges.
    #[inline]
    pub(super) fn keep_highest(&mut self, count: usize) {
        if self.0.len() > count {
            self.0.drain(..self.0.len() - count);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Ranges;
    use std::collections::BTreeSet;

    #[test]
    fn agrees_with_a_set_of_numbers() {
        let mut rng = crate::engine::rng::SplitMix64::new(42);
        for _ in 0..200 {
            let mut ranges = Ranges::default();
            let mut model = BTreeSet::new();
            for _ in 0..40 {
                let first = rng.below(60);
                let last = first + rng.below(8);
                let new = (first..=last).filter(|number| model.insert(*number)).count() as u64;
                assert_eq!(ranges.insert(first, last), new);
                let listed: Vec<u64> = ranges.as_slice().iter().flat_map(|&(a, b)| a..=b).collect();
                assert_eq!(listed, model.iter().copied().collect::<Vec<_>>());
                assert!(ranges.as_slice().windows(2).all(|pair| pair[0].1 + 1 < pair[1].0));
                let gap = (first..first + 20).find(|number| !model.contains(number));
                assert_eq!(ranges.first_gap(first, first + 19).map(|(start, _)| start), gap);
                assert_eq!(ranges.max(), model.last().copied());
            }
            let bound = rng.below(70);
            ranges.forget_below(bound);
            let listed: Vec<u64> = ranges.as_slice().iter().flat_map(|&(a, b)| a..=b).collect();
            assert_eq!(listed, model.range(bound..).copied().collect::<Vec<_>>());
        }
    }
}
