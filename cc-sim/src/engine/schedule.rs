//! Which part of the network acts next.

/// "Never", for a part that waits for another one.
pub(super) const NEVER: u64 = u64::MAX;

/// Parts that have a minimum in common.
const BLOCK: usize = 8;

/// Blocks that are looked through as long as there are no more: a scenario of a few flows.
const FEW: usize = 4;

/// The next time of each part, and the earliest of them; on a tie the part with the lowest index.
///
/// A tree of blocks of eight, each with the minimum of the blocks below it: a change costs the logarithm of the number of parts. Up to 32 of
/// them are simply looked through, and that only when the earliest has acted.
#[derive(Debug)]
pub(super) struct Schedule {
    /// Low bits of a key that are the part; the time is above them, so that the order of keys decides ties too.
    shift: u32,
    keys: Vec<[u64; BLOCK]>,
    /// Minima of the blocks of the level below, level by level; none if there are few blocks of keys.
    minima: Vec<Vec<[u64; BLOCK]>>,
    earliest: u64,
}

impl Schedule {
    /// `parts` of them, none with anything to do. There are at most 2^26, whose times are told apart up to 76 hours; a run
    /// takes a day at most.
    pub(super) fn new(parts: usize) -> Self {
        let mut blocks = parts.div_ceil(BLOCK).max(1);
        let keys = vec![[NEVER; BLOCK]; blocks];
        let mut minima = Vec::new();
        while blocks > if minima.is_empty() { FEW } else { 1 } {
            blocks = blocks.div_ceil(BLOCK);
            minima.push(vec![[NEVER; BLOCK]; blocks]);
        }
        Self { shift: parts.next_power_of_two().trailing_zeros(), keys, minima, earliest: NEVER }
    }

    /// Sets the time of a part; `None` for never.
    #[inline]
    pub(super) fn set(&mut self, part: usize, at: Option<u64>) {
        let key = match at {
            Some(at) if at < NEVER >> self.shift => at << self.shift | part as u64,
            _ => NEVER,
        };
        let block = &mut self.keys[part / BLOCK];
        let old = std::mem::replace(&mut block[part % BLOCK], key);
        if old == key {
            return;
        }
        if !self.minima.is_empty() {
            let least = least(block);
            self.update_minima(part / BLOCK, least);
        } else if old == self.earliest {
            self.earliest = self.keys.iter().map(least).fold(NEVER, u64::min);
        } else {
            self.earliest = self.earliest.min(key);
        }
    }

    /// The minimum of block number `index` of the keys is now `key`.
    fn update_minima(&mut self, mut index: usize, mut key: u64) {
        for level in &mut self.minima {
            let block = &mut level[index / BLOCK];
            block[index % BLOCK] = key;
            key = least(block);
            index /= BLOCK;
        }
        self.earliest = key;
    }

    /// The earliest time and its part; the time is [`NEVER`] if no part has anything to do.
    #[inline]
    pub(super) fn earliest(&self) -> (u64, usize) {
        if self.earliest == NEVER {
            return (NEVER, 0);
        }
        let part = self.earliest & !(NEVER << self.shift);
        (self.earliest >> self.shift, part as usize)
    }
}

fn least(block: &[u64; BLOCK]) -> u64 {
    block.iter().fold(NEVER, |least, &key| least.min(key))
}

#[cfg(test)]
mod tests {
    use super::{NEVER, Schedule};
    use crate::engine::rng::SplitMix64;

    #[test]
    fn the_earliest_part_is_next_and_of_those_at_the_same_time_the_first() {
        let mut schedule = Schedule::new(5);
        assert_eq!(schedule.earliest().0, NEVER);
        schedule.set(4, Some(30));
        schedule.set(1, Some(30));
        schedule.set(3, Some(40));
        assert_eq!(schedule.earliest(), (30, 1));
        schedule.set(1, Some(31));
        assert_eq!(schedule.earliest(), (30, 4));
        schedule.set(4, None);
        assert_eq!(schedule.earliest(), (31, 1));
    }

    #[test]
    fn agrees_with_a_search_through_all_parts() {
        let mut rng = SplitMix64::new(9);
        for parts in (1..20).chain([64, 65, 600]) {
            let mut schedule = Schedule::new(parts);
            let mut times = vec![NEVER; parts];
            for _ in 0..300 {
                let part = rng.below(parts as u64) as usize;
                let at = Some(rng.below(12)).filter(|&at| at > 1);
                schedule.set(part, at);
                times[part] = at.unwrap_or(NEVER);
                let expected = (0..parts).min_by_key(|&part| times[part]).unwrap();
                let (at, part) = schedule.earliest();
                assert_eq!(at, times[expected]);
                assert!(at == NEVER || part == expected, "{times:?}: {part}");
            }
        }
    }
}
