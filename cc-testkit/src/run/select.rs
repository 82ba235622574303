//! Which packets a script means.

use super::runner::{Entry, Runner};
use crate::script::{Pick, ReceiveTime, Received, Selection};
use crate::stack::Stack;
use cc_core::PeerInstant;
use std::collections::BTreeMap;

/// Most packets that were never sent in one set of packets.
const MAX_UNKNOWN: u64 = 1_000;
/// Receive times of a frame that are handed on, those of the newest packets: what a [`cc_core::Path`] keeps. Peers too report the
/// newest arrivals first (draft-ietf-quic-receive-ts).
pub(super) const MAX_RECEIVE_TIMES: usize = 32;

impl<S: Stack> Runner<'_, S> {
    /// The packets meant, ascending. Those that were never sent are as far behind the last one sent as their numbers.
    pub(super) fn select(&self, selection: &Selection) -> Vec<usize> {
        let known = u64::try_from(self.packets.len()).unwrap_or(u64::MAX);
        let flying = || {
            let open = self.packets.iter().enumerate().skip(self.oldest);
            open.filter(|(_, entry)| entry.in_flight).map(|(id, _)| id)
        };
        let mut chosen: Vec<usize> = Vec::new();
        for pick in &selection.0 {
            match *pick {
                Pick::Range(first, last) => {
                    let end = first.saturating_add(MAX_UNKNOWN).max(known);
                    let range = first.max(1)..=last.min(end);
                    chosen.extend(range.filter_map(|number| usize::try_from(number.saturating_sub(1)).ok()));
                }
                Pick::All => chosen.extend(flying()),
                Pick::First(count) => chosen.extend(flying().take(places(count))),
                Pick::Last(count) => {
                    let all: Vec<usize> = flying().collect();
                    chosen.extend(all.iter().rev().take(places(count)));
                }
                Pick::Older(age) => chosen.extend(flying().filter(|id| self.is_older(*id, age))),
                Pick::Next(count) => {
                    let next = self.packets.len()..;
                    chosen.extend(next.take(places(count.min(MAX_UNKNOWN))));
                }
            }
        }
        chosen.sort_unstable();
        chosen.dedup();
        chosen
    }

    /// When the packets of a frame were received, as far as it says so: ascending, the newest packets only.
    pub(super) fn receive_times(&self, received: &[Received], acked: &[usize]) -> Vec<(usize, PeerInstant)> {
        let mut times = BTreeMap::new();
        for Received { packets, time } in received {
            for id in self.among(acked, packets) {
                let sent_at = self.packets.get(id).map_or(self.now, |entry: &Entry| entry.sent_at).as_nanos();
                // Clocks wrap, and only differences count.
                let nanos = match time {
                    ReceiveTime::At(at) => at.as_nanos(),
                    ReceiveTime::After(span) => sent_at.wrapping_add(span.as_nanos()),
                    ReceiveTime::Before(span) => sent_at.wrapping_sub(span.as_nanos()),
                };
                times.insert(id, PeerInstant::from_nanos(nanos));
            }
        }
        newest_times(times.into_iter().collect())
    }

    /// The packets meant of those acked.
    fn among(&self, acked: &[usize], selection: &Selection) -> Vec<usize> {
        let is_unsent = |id: &&usize| **id >= self.packets.len();
        let mut chosen: Vec<usize> = Vec::new();
        for pick in &selection.0 {
            match *pick {
                Pick::Range(first, last) => {
                    let range = places(first.saturating_sub(1))..places(last);
                    chosen.extend(acked.iter().filter(|id| range.contains(*id)));
                }
                Pick::All => chosen.extend(acked),
                Pick::First(count) => chosen.extend(acked.iter().take(places(count))),
                Pick::Last(count) => chosen.extend(acked.iter().rev().take(places(count))),
                Pick::Older(age) => chosen.extend(acked.iter().filter(|id| self.is_older(**id, age))),
                Pick::Next(count) => chosen.extend(acked.iter().filter(is_unsent).take(places(count))),
            }
        }
        chosen
    }

    fn is_older(&self, id: usize, age: cc_core::Duration) -> bool {
        self.packets.get(id).is_some_and(|entry| self.now.minus(entry.sent_at) >= age)
    }
}

/// Those of the newest packets.
pub(super) fn newest_times(mut times: Vec<(usize, PeerInstant)>) -> Vec<(usize, PeerInstant)> {
    let surplus = times.len().saturating_sub(MAX_RECEIVE_TIMES);
    times.drain(..surplus);
    times
}

fn places(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}
