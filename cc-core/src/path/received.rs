//! Receive times of the packets of one frame (draft-ietf-quic-receive-ts).

use super::shift;
use crate::PeerInstant;
use heapless::Vec;

/// How many receive times are kept per frame. A ring entry has no room for one.
const CAPACITY: usize = 32;

/// Receive times of the packets with the highest numbers of the frame, ascending.
///
/// Which ones are kept does not depend on the order in which they come.
#[derive(Clone, Debug, Default)]
pub(super) struct ReceiveTimes {
    times: Vec<(u64, PeerInstant), CAPACITY>,
}

impl ReceiveTimes {
    pub(super) const fn new() -> Self {
        Self { times: Vec::new() }
    }

    pub(super) fn clear(&mut self) {
        self.times.clear();
    }

    pub(super) fn get(&self, number: u64) -> Option<PeerInstant> {
        if self.times.is_empty() {
            return None;
        }
        let index = self.times.binary_search_by_key(&number, |(number, _)| *number).ok()?;
        self.times.get(index).map(|(_, at)| *at)
    }

    /// Remembers a receive time; of several for one packet, the earliest.
    pub(super) fn insert(&mut self, number: u64, at: PeerInstant) {
        match self.times.binary_search_by_key(&number, |(number, _)| *number) {
            Ok(index) => {
                if let Some((_, known)) = self.times.get_mut(index) {
                    *known = at.min(*known);
                }
            }
            // The lowest number makes room for a higher one.
            Err(index) if self.times.is_full() => {
                let _lowest = shift::insert_and_drop_first(&mut self.times, index, (number, at));
            }
            // There is room.
            Err(index) => drop(shift::insert(&mut self.times, index, (number, at))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{CAPACITY, ReceiveTimes};
    use crate::PeerInstant;

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
}
