//! Persistent congestion (RFC 9002 section 7.6) over the ring, loss event by loss event.

use super::entry::State;
use super::ring::Ring;
use crate::{Instant, PersistentCongestion};
use std::ops::Range;

/// How many packets before a frame's first loss and behind its last are looked at for losses that belong to the same
/// stretch, where the one kept from the frames before does not reach that far. Losses are declared in sending order, so
/// that it normally does; the limit bounds the work per frame.
const MAX_WALK: u32 = 32;

/// Numbers in a row of which none was acked, and the losses among them. Never without a number where it is kept.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    first: u64,
    /// The number behind the last; zero stands for no stretch.
    end: u64,
    /// Whether there are the next two.
    has_ends: bool,
    /// Oldest loss that may be an end of a period.
    oldest: Loss,
    /// Newest loss that may be one.
    newest: Loss,
}

/// A loss that may be an end of a period.
#[derive(Clone, Copy, Debug)]
struct Loss {
    number: u64,
    sent_at: Instant,
}

/// The losses so far, for periods that several loss events make up.
///
/// Two stretches are kept, those of the newest loss events; an ack cuts one in two. Losses that come back to an older
/// one see what is in the ring within 32 packets of them, so that a period may then be missed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Persistence {
    /// The newest first. They do not overlap.
    stretches: [Stretch; 2],
    /// Losses below this number have been used to establish persistent congestion.
    used_below: u64,
}

impl Stretch {
    const NONE: Self = Self::starting_at(0);

    const fn starting_at(number: u64) -> Self {
        let none = Loss { number: 0, sent_at: Instant::ZERO };
        Self { first: number, end: number, has_ends: false, oldest: none, newest: none }
    }

    const fn contains(&self, number: u64) -> bool {
        self.first <= number && number < self.end
    }

    const fn touches(&self, other: &Self) -> bool {
        self.first <= other.end && other.first <= self.end
    }

    fn keep_below(&mut self, number: u64, newest: Loss) {
        (self.end, self.newest) = (number, newest);
    }

    fn keep_above(&mut self, number: u64, oldest: Loss) {
        (self.first, self.oldest) = (number.saturating_add(1), oldest);
    }

    #[inline(never)]
    fn note(&mut self, loss: &Loss) {
        if !self.has_ends || loss.number < self.oldest.number {
            self.oldest = *loss;
        }
        if !self.has_ends || loss.number > self.newest.number {
            self.newest = *loss;
        }
        self.has_ends = true;
    }
}

impl Persistence {
    pub(super) const fn new() -> Self {
        Self { stretches: [Stretch::NONE; 2], used_below: 0 }
    }

    /// Whether an ack of a number from `first` on and before `end` may cut a stretch.
    pub(super) const fn overlaps(&self, (first, end): (u64, u64)) -> bool {
        let [newer, older] = &self.stretches;
        first < newer.end && newer.first < end || first < older.end && older.first < end
    }

    /// A packet of any space was acked: what was lost before it and what after it are no one period (RFC 9002 section
    /// 7.6.2), whether the ack came before, with or after the losses.
    ///
    /// Each packet is passed once: what lies between the ack and the end found is in no stretch afterwards, or is behind
    /// the oldest loss of one.
    #[inline(never)]
    pub(super) fn on_acked<const N: usize>(
        &mut self,
        ring: &Ring<N>,
        check: &PersistentCongestion,
        number: u64,
    ) {
        let [newer, older] = &mut self.stretches;
        if older.contains(number) {
            std::mem::swap(newer, older);
        } else if !newer.contains(number) {
            return;
        }
        let (cut, other) = (newer, older);
        // The newest loss below the acked packet, as far as the ring still has it, and the oldest above it.
        let newest_below = match cut.has_ends && cut.oldest.number < number {
            true if cut.newest.number < number => Some(cut.newest),
            true => find_end(ring, check, ring.indexes(cut.first, number), true).or(Some(cut.oldest)),
            false => None,
        };
        let oldest_above = match cut.has_ends && cut.newest.number > number {
            true if cut.oldest.number > number => Some(cut.oldest),
            true => find_end(ring, check, ring.indexes(number.saturating_add(1), cut.end), false),
            false => None,
        };
        // A part without such a loss is of no more use. The part above is the newer one.
        match (oldest_above, newest_below) {
            (None, None) => {
                *cut = *other;
                *other = Stretch::NONE;
            }
            (None, Some(newest)) => cut.keep_below(number, newest),
            (Some(oldest), None) => cut.keep_above(number, oldest),
            (Some(oldest), Some(newest)) => {
                *other = *cut;
                other.keep_below(number, newest);
                cut.keep_above(number, oldest);
            }
        }
    }

    /// Packets were discarded, which may leave the ring now. Behind a stretch they belong to it: none of them was acked.
    pub(super) fn on_discarded<const N: usize>(&mut self, ring: &Ring<N>) {
        for stretch in &mut self.stretches {
            while stretch.end > 0 && ring.state(stretch.end) == Some(State::Discarded) {
                stretch.end = stretch.end.saturating_add(1);
            }
        }
    }

    /// Whether the losses that the ring has marked from `low` to `high` establish persistent congestion. The acks of
    /// the frame were given before. `check` has seen nothing.
    #[inline(never)]
    pub(super) fn on_lost<const N: usize>(
        &mut self,
        ring: &Ring<N>,
        check: PersistentCongestion,
        (low, high): (u64, u64),
    ) -> bool {
        // A period is used once: its losses must not collapse the window again.
        let low = low.max(self.used_below);
        if low > high {
            return false;
        }
        let (mut stretch, from) = self.continued(ring, low);
        let mut passed = Stretch::NONE;
        let mut check = check.resumed_from(stretch.has_ends.then_some(stretch.oldest.sent_at));
        // Losses above this frame's are normally not declared before them; the walk ends as soon as it can.
        let walk_end = high.saturating_add(u64::from(MAX_WALK)).saturating_add(1);
        // Nothing was acked in the stretch below: what is not in the ring any more was lost or discarded.
        for index in ring.indexes(from, walk_end) {
            let number = ring.number(index);
            let Some(entry) = ring.at(index) else { break };
            if number > high {
                let above = self.find(|above| above.contains(number));
                if above.end > 0 {
                    if above.has_ends {
                        stretch.note(&above.oldest);
                        stretch.note(&above.newest);
                        // In a stretch around this frame's losses the newest may be below them.
                        if above.newest.number > high {
                            check.lost(above.newest.sent_at, true);
                        }
                    }
                    stretch.end = above.end;
                    break;
                }
            }
            match entry.state() {
                State::Lost | State::MarkedLost => {
                    let (sent_at, ack_eliciting) = (entry.sent_at(), entry.ack_eliciting());
                    // Losses below this frame's were judged when they were declared: two of them alone are no news,
                    // whether their stretch was kept or is walked over again (RFC 9002 appendix B.8 looks at what a
                    // loss event declares lost).
                    let may_be_end = if number < low {
                        check.took_lost_earlier(sent_at, ack_eliciting)
                    } else {
                        check.took_lost(sent_at, ack_eliciting)
                    };
                    if may_be_end {
                        stretch.note(&Loss { number, sent_at });
                    }
                }
                State::Acked | State::MarkedAcked | State::MarkedLate if number > high => break,
                State::Acked | State::MarkedAcked | State::MarkedLate => {
                    if stretch.has_ends {
                        passed = stretch;
                    }
                    stretch = Stretch::starting_at(number.saturating_add(1));
                    check.acked();
                }
                State::Outstanding | State::Discarded => {}
            }
            stretch.end = number.saturating_add(1);
        }
        let [newer, older] = &mut self.stretches;
        if check.established() {
            self.used_below = stretch.end;
            if newer.first < stretch.end {
                *newer = *older;
            }
            if newer.first < stretch.end {
                *newer = Stretch::NONE;
            }
            *older = Stretch::NONE;
        } else {
            if passed.end > 0 {
                *older = passed;
            } else if !newer.touches(&stretch) {
                *older = *newer;
            } else if older.touches(&stretch) {
                *older = Stretch::NONE;
            }
            *newer = stretch;
        }
        check.established()
    }

    /// The stretch that it is, or else [`Stretch::NONE`].
    fn find(&self, is_it: impl Fn(&Stretch) -> bool) -> &Stretch {
        let [newer, older] = &self.stretches;
        if is_it(newer) {
            newer
        } else if is_it(older) {
            older
        } else {
            &Stretch::NONE
        }
    }

    /// The stretch that a loss of `low` continues, and the number from which losses are to be added to it.
    #[inline(never)]
    fn continued<const N: usize>(&self, ring: &Ring<N>, low: u64) -> (Stretch, u64) {
        let mut from = low;
        for _ in 0..MAX_WALK {
            let known = self.find(|known| known.end > 0 && known.first <= from && from <= known.end);
            if known.end > 0 {
                let mut known = *known;
                // Where the loss is older than the oldest so far, the period starts with it.
                known.has_ends &= known.oldest.number < from;
                return (known, from);
            }
            let previous = from.wrapping_sub(1);
            if from <= self.used_below
                || !matches!(
                    ring.state(previous),
                    Some(State::Lost | State::MarkedLost | State::Outstanding | State::Discarded)
                )
            {
                break;
            }
            from = previous;
        }
        (Stretch::starting_at(from), from)
    }
}

/// The first packet of some, or the last, that is lost and may be an end of a period.
#[inline(never)]
fn find_end<const N: usize>(
    ring: &Ring<N>,
    check: &PersistentCongestion,
    mut indexes: Range<usize>,
    last: bool,
) -> Option<Loss> {
    loop {
        let index = if last { indexes.next_back() } else { indexes.next() }?;
        let entry = ring.at(index)?;
        if entry.state() == State::Lost && check.is_end(entry.sent_at(), entry.ack_eliciting()) {
            return Some(Loss { number: ring.number(index), sent_at: entry.sent_at() });
        }
    }
}
