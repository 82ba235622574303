//! Which part of the network acts next.

/// "Never", for a part that waits for another one.
pub(super) const NEVER: u64 = u64::MAX;

/// The next time of each part, and the earliest of them; on a tie the part with the lowest index.
///
/// A tournament tree: a change costs the logarithm of the number of parts.
#[derive(Debug)]
pub(super) struct Schedule {
    /// Node `i` is the minimum of nodes `2 * i` and `2 * i + 1`; the parts start at [`Schedule::leaves`].
    nodes: Vec<u64>,
}

impl Schedule {
    /// `parts` of them, none with anything to do.
    pub(super) fn new(parts: usize) -> Self {
        Self { nodes: vec![NEVER; 2 * parts.next_power_of_two()] }
    }

    fn leaves(&self) -> usize {
        self.nodes.len() / 2
    }

    /// Sets the time of a part; `None` for never.
    pub(super) fn set(&mut self, part: usize, at: Option<u64>) {
        let mut node = self.leaves() + part;
        let at = at.unwrap_or(NEVER);
        if self.nodes[node] == at {
            return;
        }
        self.nodes[node] = at;
        while node > 1 {
            let minimum = self.nodes[node].min(self.nodes[node ^ 1]);
            node /= 2;
            if self.nodes[node] == minimum {
                return;
            }
            self.nodes[node] = minimum;
        }
    }

    /// The earliest time and its part; the time is [`NEVER`] if no part has anything to do.
    pub(super) fn earliest(&self) -> (u64, usize) {
        let at = self.nodes[1];
        let mut node = 1;
        while node < self.leaves() {
            node *= 2;
            if self.nodes[node] != at {
                node += 1;
            }
        }
        (at, node - self.leaves())
    }
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
        for parts in 1..20 {
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
