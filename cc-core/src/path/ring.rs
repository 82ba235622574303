//! The ring of packets: entries by number, in constant time and fixed memory.

use super::entry::{Entry, State};
use super::send::RingFull;
use crate::{Instant, PacketSpace};
use heapless::Vec;
use std::fmt;
use std::ops::Range;

/// Up to `N` packets with consecutive numbers. All but the last bookkeeping step of a frame leave the entries
/// in place; entries leave at the front only, and never while their packet is in flight.
///
/// What walks over entries does so by their index, counted from the front: indexes fit a register on every CPU.
#[derive(Clone)]
#[repr(C)]
pub(super) struct Ring<const N: usize> {
    /// Slot of the front entry; below `N`.
    head: usize,
    /// Entries; at most `N`.
    len: usize,
    /// How many entries at the front were settled when last looked at: acked, lost or discarded. At most `len`.
    settled: usize,
    /// Number of the front entry; the next number to be given if there is none.
    front: u64,
    /// Whether the packet before the front entry was lost.
    lost_before_front: bool,
    /// Entry number `i` from the front is in slot `head + i`, less `N` if there is no such slot. A slot is made when it is first
    /// needed, so that memory which the flight never takes is never touched.
    slots: Vec<Entry, N>,
}

impl<const N: usize> Ring<N> {
    pub(super) const fn new() -> Self {
        const { assert!(N > 0, "a ring without entries takes no packet") };
        Self { slots: Vec::new(), head: 0, len: 0, settled: 0, front: 0, lost_before_front: false }
    }

    /// As [`Ring::new`], in place.
    pub(super) fn reset(&mut self) {
        let Self { slots: _, head, len, settled, front, lost_before_front } = self;
        (*head, *len, *settled) = (0, 0, 0);
        (*front, *lost_before_front) = (0, false);
    }

    #[cfg(fuzzing)]
    pub(super) fn start_at(&mut self, number: u64) {
        self.front = number;
    }

    pub(super) fn next_number(&self) -> u64 {
        self.number(self.len)
    }

    /// Lowest number that may still be in flight; [`next_number`](Self::next_number) if none is.
    pub(super) fn unsettled(&self) -> u64 {
        self.number(self.settled)
    }

    /// Indexes of the entries of which some may still be in flight.
    pub(super) fn unsettled_indexes(&self) -> Range<usize> {
        self.settled..self.len
    }

    /// How many more packets can be sent.
    pub(super) fn free(&self) -> usize {
        // Settled entries at the front make room when it is needed.
        N.wrapping_sub(self.len).wrapping_add(self.settled)
    }

    pub(super) fn get(&self, number: u64) -> Option<&Entry> {
        self.at(self.index(number)?)
    }

    pub(super) fn get_mut(&mut self, number: u64) -> Option<&mut Entry> {
        self.at_mut(self.index(number)?)
    }

    /// The entry with an index.
    #[inline(always)]
    pub(super) fn at(&self, index: usize) -> Option<&Entry> {
        self.slots.get(self.wrapped(index))
    }

    #[inline(always)]
    pub(super) fn at_mut(&mut self, index: usize) -> Option<&mut Entry> {
        let slot = self.wrapped(index);
        self.slots.get_mut(slot)
    }

    /// The number of the entry with an index.
    #[inline(always)]
    pub(super) fn number(&self, index: usize) -> u64 {
        // As many numbers are given as packets are sent: less than 2^64.
        self.front.wrapping_add(as_u64(index))
    }

    /// Indexes of the numbers from `first` on and before `end` that have an entry.
    #[cfg_attr(target_pointer_width = "32", inline(never))]
    pub(super) fn indexes(&self, first: u64, end: u64) -> Range<usize> {
        self.clipped(first)..self.clipped(end)
    }

    fn clipped(&self, number: u64) -> usize {
        let index = number.saturating_sub(self.front);
        usize::try_from(index).unwrap_or(usize::MAX).min(self.len)
    }

    pub(super) fn state(&self, number: u64) -> Option<State> {
        self.get(number).map(Entry::state)
    }

    /// Whether the packet just before the entry with this index was lost; `None` if there was none.
    pub(super) fn lost_before(&self, index: usize) -> Option<bool> {
        match index.checked_sub(1) {
            Some(previous) => Some(matches!(self.at(previous)?.state(), State::Lost | State::MarkedLost)),
            None => (self.front > 0).then_some(self.lost_before_front),
        }
    }

    /// Takes the next number. Entries that are settled make room.
    pub(super) fn push(&mut self, entry: Entry) -> Result<u64, RingFull> {
        if self.len >= N {
            if self.settled == 0 {
                return Err(RingFull);
            }
            self.drop_front(1, self.at(0).is_some_and(|entry| entry.state() == State::Lost));
        }
        let number = self.next_number();
        let slot = self.wrapped(self.len);
        match self.slots.get_mut(slot) {
            Some(place) => *place = entry,
            // The slots are used in order, so that it is the one behind the last.
            None => self.slots.push(entry).map_err(|_| RingFull)?,
        }
        self.len = self.len.wrapping_add(1);
        Ok(number)
    }

    /// Moves the mark of unsettled packets up. What an open frame has marked is not settled.
    pub(super) fn settle(&mut self) {
        for index in self.unsettled_indexes() {
            let state = self.at(index).map(Entry::state);
            if !matches!(state, Some(State::Acked | State::Lost | State::MarkedLate | State::Discarded)) {
                break;
            }
            self.settled = index.wrapping_add(1);
        }
    }

    /// Lets settled entries at the front go; lost ones only if sent before `lost_sent_before`.
    pub(super) fn trim(&mut self, lost_sent_before: impl Fn() -> Instant) {
        let (mut count, mut last_was_lost) = (0, self.lost_before_front);
        for index in 0..self.settled {
            let Some(entry) = self.at(index) else { break };
            let state = entry.state();
            if state == State::MarkedLate || state == State::Lost && entry.sent_at() >= lost_sent_before() {
                break;
            }
            (count, last_was_lost) = (index.wrapping_add(1), state == State::Lost);
        }
        self.drop_front(count, last_was_lost);
    }

    /// Takes a packet out of the flight; its size, or `None` if it was not in flight.
    pub(super) fn discard(&mut self, number: u64) -> Option<u64> {
        let entry = self.get_mut(number)?;
        if !matches!(entry.state(), State::Outstanding | State::MarkedLost) {
            return None;
        }
        entry.set_state(State::Discarded);
        let bytes = entry.bytes();
        self.settle();
        Some(bytes)
    }

    /// Takes all packets of a space out of the flight; the sum of their sizes.
    pub(super) fn discard_space(&mut self, space: PacketSpace) -> u64 {
        let mut bytes: u64 = 0;
        for number in self.unsettled()..self.next_number() {
            if self.get(number).is_some_and(|entry| entry.space() == space) {
                bytes = bytes.saturating_add(self.discard(number).unwrap_or(0));
            }
        }
        bytes
    }

    /// Forgets all packets; numbers go on.
    pub(super) fn clear(&mut self) {
        self.front = self.next_number();
        self.lost_before_front = false;
        (self.head, self.len, self.settled) = (0, 0, 0);
    }

    /// Lets entries at the front go, which are settled.
    #[cfg_attr(target_pointer_width = "32", inline(never))]
    fn drop_front(&mut self, count: usize, last_was_lost: bool) {
        self.lost_before_front = last_was_lost;
        self.front = self.number(count);
        self.settled = self.settled.wrapping_sub(count);
        self.len = self.len.wrapping_sub(count);
        // A ring that runs empty starts again in the slots that it has touched.
        self.head = if self.len == 0 { 0 } else { self.wrapped(count) };
    }

    fn index(&self, number: u64) -> Option<usize> {
        // A number below the front wraps to one that no ring is long enough for.
        let index = usize::try_from(number.wrapping_sub(self.front)).ok()?;
        (index < self.len).then_some(index)
    }

    /// Slot of the entry at `index`, which is at most `N`.
    fn wrapped(&self, index: usize) -> usize {
        // No overflow where entries take 32 bytes: `N` is at most a 32nd of what a `usize` counts.
        let slot = self.head.wrapping_add(index);
        slot.checked_sub(N).unwrap_or(slot)
    }
}

impl<const N: usize> fmt::Debug for Ring<N> {
    /// The entries themselves would be up to a megabyte of text.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Ring")
            .field("capacity", &N)
            .field("front", &self.front)
            .field("unsettled", &self.unsettled())
            .field("next_number", &self.next_number())
            .finish_non_exhaustive()
    }
}

fn as_u64(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}
