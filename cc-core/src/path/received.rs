//! Receive times of the packets of one frame (draft-ietf-quic-receive-ts).

use crate::PeerInstant;

/// How many receive times are kept per frame: a power of two. A ring entry has no room for one.
const CAPACITY: usize = 32;

/// Receive times of the packets with the highest numbers of the frame, ascending.
///
/// Which ones are kept does not depend on the order in which they come. It grows at both ends, so that it costs the same
/// whether a stack names packets ascending or descending.
#[derive(Clone, Debug, Default)]
pub(super) struct ReceiveTimes {
    /// The time at an index, counted from the lowest number, is in slot `head` and so many, modulo [`CAPACITY`].
    slots: [(u64, PeerInstant); CAPACITY],
    head: usize,
    len: usize,
}

impl ReceiveTimes {
    pub(super) const fn new() -> Self {
        Self { slots: [(0, PeerInstant::from_nanos(0)); CAPACITY], head: 0, len: 0 }
    }

    pub(super) fn clear(&mut self) {
        self.len = 0;
    }

    pub(super) fn get(&self, number: u64) -> Option<PeerInstant> {
        if self.len == 0 {
            return None;
        }
        let index = self.search(number).ok()?;
        self.slots.get(self.slot(index)).map(|&(_, at)| at)
    }

    /// Remembers a receive time; of several for one packet, the earliest.
    pub(super) fn insert(&mut self, number: u64, at: PeerInstant) {
        let mut index = match self.search(number) {
            Ok(index) => {
                let slot = self.slot(index);
                if let Some((_, known)) = self.slots.get_mut(slot) {
                    *known = at.min(*known);
                }
                return;
            }
            Err(index) => index,
        };
        if self.len == CAPACITY {
            // The lowest number makes room for a higher one.
            let Some(lower) = index.checked_sub(1) else { return };
            index = lower;
            self.head = self.slot(1);
            self.len = self.len.wrapping_sub(1);
        }
        if index == 0 {
            self.head = self.slot(CAPACITY.wrapping_sub(1));
        } else {
            for above in (index..self.len).rev() {
                self.set(above.wrapping_add(1), self.slots.get(self.slot(above)).copied());
            }
        }
        self.len = self.len.wrapping_add(1);
        self.set(index, Some((number, at)));
    }

    /// The index of a number, or the one that it would get.
    fn search(&self, number: u64) -> Result<usize, usize> {
        let (mut low, mut high) = (0, self.len);
        while low < high {
            let middle = low.wrapping_add(high) / 2;
            let Some(&(known, _)) = self.slots.get(self.slot(middle)) else { break };
            if known == number {
                return Ok(middle);
            }
            if known < number {
                low = middle.wrapping_add(1);
            } else {
                high = middle;
            }
        }
        Err(low)
    }

    fn set(&mut self, index: usize, time: Option<(u64, PeerInstant)>) {
        let slot = self.slot(index);
        if let (Some(place), Some(time)) = (self.slots.get_mut(slot), time) {
            *place = time;
        }
    }

    const fn slot(&self, index: usize) -> usize {
        const { assert!(CAPACITY.is_power_of_two(), "slots are found by a mask") };
        self.head.wrapping_add(index) & CAPACITY.wrapping_sub(1)
    }
}

#[cfg(test)]
mod tests {
    extern crate alloc;

    use super::{CAPACITY, ReceiveTimes};
    use crate::PeerInstant;
    use alloc::collections::BTreeMap;
    use proptest::prelude::*;

    #[test]
    fn the_highest_numbers_are_kept_in_whatever_order_they_come() {
        let count = CAPACITY as u64 + 8;
        let (mut up, mut down) = (ReceiveTimes::new(), ReceiveTimes::new());
        for number in 0..count {
            up.insert(number, PeerInstant::from_nanos(number * 10));
            down.insert(count - 1 - number, PeerInstant::from_nanos((count - 1 - number) * 10));
        }
        for number in 0..count {
            let kept = (number >= 8).then(|| PeerInstant::from_nanos(number * 10));
            assert_eq!(up.get(number), kept);
            assert_eq!(down.get(number), kept);
        }
    }

    #[test]
    fn of_two_receive_times_of_one_packet_the_earlier_counts() {
        let mut times = ReceiveTimes::new();
        times.insert(1, PeerInstant::from_nanos(20));
        times.insert(1, PeerInstant::from_nanos(10));
        times.insert(1, PeerInstant::from_nanos(30));
        assert_eq!(times.get(1), Some(PeerInstant::from_nanos(10)));
    }

    proptest! {
        #[test]
        fn any_order_keeps_the_highest_numbers_with_their_earliest_times(
            times in proptest::collection::vec((0..100_u64, 0..1_000_u64), 0..200), cleared in 0..100_usize,
        ) {
            let mut received = ReceiveTimes::new();
            for &(number, at) in times.iter().take(cleared) {
                received.insert(number, PeerInstant::from_nanos(at));
            }
            received.clear();
            // Once its number was dropped, a time does not come back.
            let mut expected = BTreeMap::new();
            for (number, at) in times {
                received.insert(number, PeerInstant::from_nanos(at));
                let known = expected.entry(number).or_insert(at);
                *known = at.min(*known);
                if expected.len() > CAPACITY {
                    expected.pop_first();
                }
            }
            for number in 0..100 {
                prop_assert_eq!(
                    received.get(number).map(PeerInstant::as_nanos),
                    expected.get(&number).copied()
                );
            }
        }
    }
}
