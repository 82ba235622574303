//! Persistent congestion (RFC 9002 section 7.6) over the ring, loss event by loss event.

use super::entry::State;
use super::ring::Ring;
use crate::{Instant, PersistentCongestion};

/// How many packets before a frame's first loss and behind its last are looked at for losses that belong to the same
/// stretch, where the one kept from the frames before does not reach that far. Losses are declared in sending order, so
/// that it normally does; the limit bounds the work per frame.
const MAX_WALK: u32 = 32;

/// Numbers in a row of which none was acked, and the losses among them.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    first: u64,
    /// The number behind the last.
    end: u64,
    ends: Option<Ends>,
}

/// Oldest and newest loss, by number, that may be an end of a period.
#[derive(Clone, Copy, Debug)]
struct Ends {
    oldest: (u64, Instant),
    newest: (u64, Instant),
}

/// The losses so far, for periods that several loss events make up.
///
/// Two stretches are kept, those of the newest loss events; an ack cuts one in two. Losses that come back to an older
/// one see what is in the ring within 32 packets of them, so that a period may then be missed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Persistence {
    /// The newest first. They do not overlap.
    stretches: [Option<Stretch>; 2],
    /// Losses below this number have been used to establish persistent congestion.
    used_below: u64,
}

impl Stretch {
    const fn starting_at(number: u64) -> Self {
        Self { first: number, end: number, ends: None }
    }

    const fn contains(&self, number: u64) -> bool {
        self.first <= number && number < self.end
    }

    /// The part below an acked packet; `find` finds its newest loss, as far as the ring still has it.
    fn below(self, number: u64, find: impl FnOnce() -> Option<(u64, Instant)>) -> Self {
        let ends = self.ends.filter(|ends| ends.oldest.0 < number).map(|ends| {
            let newest = if ends.newest.0 < number { ends.newest } else { find().unwrap_or(ends.oldest) };
            Ends { newest, ..ends }
        });
        Self { end: number, ends, ..self }
    }

    /// The part above an acked packet; `find` finds its oldest loss.
    fn above(self, number: u64, find: impl FnOnce() -> Option<(u64, Instant)>) -> Self {
        let ends = self.ends.filter(|ends| ends.newest.0 > number).and_then(|ends| {
            let oldest = if ends.oldest.0 > number { ends.oldest } else { find()? };
            Some(Ends { oldest, ..ends })
        });
        Self { first: number.saturating_add(1), ends, ..self }
    }

    const fn touches(&self, other: &Self) -> bool {
        self.first <= other.end && other.first <= self.end
    }

    fn note(&mut self, number: u64, sent_at: Instant) {
        let this = (number, sent_at);
        self.ends = Some(match self.ends {
            None => Ends { oldest: this, newest: this },
            Some(Ends { oldest, newest }) => Ends {
                oldest: if number < oldest.0 { this } else { oldest },
                newest: if number > newest.0 { this } else { newest },
            },
        });
    }
}

impl Persistence {
    /// Whether there is nothing that an ack could cut.
    pub(super) const fn is_empty(&self) -> bool {
        let [newer, older] = &self.stretches;
        newer.is_none() && older.is_none()
    }

    /// A packet of any space was acked: what was lost before it and what after it are no one period (RFC 9002 section
    /// 7.6.2), whether the ack came before, with or after the losses.
    ///
    /// Each packet is passed once: what lies between the ack and the end found is in no stretch afterwards, or is behind
    /// the oldest loss of one.
    pub(super) fn on_acked<const N: usize>(
        &mut self,
        ring: &Ring<N>,
        check: &PersistentCongestion,
        number: u64,
    ) {
        let [newer, older] = self.stretches;
        let (cut, other) = match (newer, older) {
            (Some(cut), other) | (other, Some(cut)) if cut.contains(number) => (cut, other),
            _ => return,
        };
        let end_of_period = |number| {
            let entry = ring.get(number).filter(|entry| entry.state() == State::Lost)?;
            check.is_end(entry.sent_at(), entry.ack_eliciting()).then_some((number, entry.sent_at()))
        };
        let lower = cut.below(number, || (cut.first..number).rev().find_map(end_of_period));
        let upper = cut.above(number, || (number.saturating_add(1)..cut.end).find_map(end_of_period));
        let mut kept = [upper, lower].into_iter().filter(|part| part.ends.is_some()).chain(other);
        self.stretches = [kept.next(), kept.next()];
    }

    /// Packets were discarded, which may leave the ring now. Behind a stretch they belong to it: none of them was acked.
    pub(super) fn on_discarded<const N: usize>(&mut self, ring: &Ring<N>) {
        for stretch in self.stretches.iter_mut().flatten() {
            while ring.state(stretch.end) == Some(State::Discarded) {
                stretch.end = stretch.end.saturating_add(1);
            }
        }
    }

    /// Whether the losses that the ring has marked from `low` to `high` establish persistent congestion. The acks of
    /// the frame were given before. `check` has seen nothing.
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
        let mut passed = None;
        let mut check = check.resumed_from(stretch.ends.map(|ends| ends.oldest.1));
        // Losses above this frame's are normally not declared before them; the walk ends as soon as it can.
        let walk_to = high.saturating_add(u64::from(MAX_WALK));
        for number in from..=walk_to {
            if number > high
                && let Some(above) = self.find(|above| above.contains(number))
            {
                if let Some(ends) = above.ends {
                    stretch.note(ends.oldest.0, ends.oldest.1);
                    stretch.note(ends.newest.0, ends.newest.1);
                    check.lost(ends.newest.1, true);
                }
                stretch.end = above.end;
                break;
            }
            // Nothing was acked in the stretch below: what is not in the ring any more was lost or discarded.
            let Some(entry) = ring.get(number) else {
                if number > high {
                    break;
                }
                continue;
            };
            match entry.state() {
                State::Lost | State::MarkedLost => {
                    check.lost(entry.sent_at(), entry.ack_eliciting());
                    if check.is_end(entry.sent_at(), entry.ack_eliciting()) {
                        stretch.note(number, entry.sent_at());
                    }
                }
                State::Acked | State::MarkedAcked | State::MarkedLate if number > high => break,
                State::Acked | State::MarkedAcked | State::MarkedLate => {
                    passed = Some(stretch).filter(|stretch| stretch.ends.is_some()).or(passed);
                    stretch = Stretch::starting_at(number.saturating_add(1));
                    check.acked();
                }
                State::Outstanding | State::Discarded => {}
            }
            stretch.end = number.saturating_add(1);
        }
        if check.established() {
            self.used_below = stretch.end;
            self.stretches = [self.find(|known| known.first >= stretch.end), None];
        } else {
            self.stretches = [Some(stretch), passed.or_else(|| self.find(|known| !known.touches(&stretch)))];
        }
        check.established()
    }

    fn find(&self, is_it: impl Fn(&Stretch) -> bool) -> Option<Stretch> {
        self.stretches.into_iter().flatten().find(is_it)
    }

    /// The stretch that a loss of `low` continues, and the number from which losses are to be added to it.
    fn continued<const N: usize>(&self, ring: &Ring<N>, low: u64) -> (Stretch, u64) {
        let mut from = low;
        for _ in 0..MAX_WALK {
            if let Some(known) = self.find(|known| known.contains(from) || known.end == from) {
                // Where the loss is older than the oldest so far, the period starts with it.
                let ends = known.ends.filter(|ends| ends.oldest.0 < from);
                return (Stretch { ends, ..known }, from);
            }
            let Some(previous) = from.checked_sub(1).filter(|number| *number >= self.used_below) else {
                break;
            };
            match ring.state(previous) {
                Some(State::Lost | State::MarkedLost | State::Outstanding | State::Discarded) => {
                    from = previous;
                }
                _ => break,
            }
        }
        (Stretch::starting_at(from), from)
    }
}
