//! Eras: packet-timed round trips.

use crate::C4;
use cc_core::{PathState, SendMark};

/// The current era and the RTTs seen in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Era {
    /// When it began. It ends when all packets up to and including the first one sent since are acked or declared
    /// lost.
    pub(crate) start: SendMark,
    /// Largest RTT, us; 0 before the first.
    pub(crate) max_rtt: u32,
    /// Smallest RTT, us; `u32::MAX` before the first.
    pub(crate) min_rtt: u32,
}

impl Era {
    pub(crate) const fn new(path: &PathState) -> Self {
        Self { start: SendMark::new(path), max_rtt: 0, min_rtt: u32::MAX }
    }

    /// Lets the era end later, with the next packet sent; what it saw stays.
    pub(crate) const fn postpone(&mut self, path: &PathState) {
        self.start = SendMark::new(path);
    }

    pub(crate) fn widen(&mut self, micros: u32) {
        self.max_rtt = self.max_rtt.max(micros);
        self.min_rtt = self.min_rtt.min(micros);
    }

    /// `era_sequence`: number of the next packet when it began.
    pub(crate) const fn sequence(&self) -> u64 {
        self.start.number()
    }
}

impl C4 {
    /// Begins an era (`c4_era_reset`). Whether the caller has already set the new gain decides what
    /// `alpha_previous` means during the phase, and with it whether delays count as congestion.
    #[inline(never)]
    pub(crate) fn start_era(&mut self, path: &PathState) {
        self.era = Era::new(path);
        self.alpha_previous = self.alpha;
        self.ecn.update();
    }

    /// Whether the era is over (`c4_era_check`): never before the handshake is finished.
    #[cfg_attr(target_pointer_width = "32", inline(never))]
    pub(crate) fn era_ended(&self, path: &PathState) -> bool {
        if !path.handshake_ready {
            return false;
        }
        match (path.oldest_outstanding, self.acked_end) {
            (None, 0) => !self.era.start.covers(None, self.newest_acked_sent_at),
            // Where nothing is outstanding: "highest acked + 1 > sequence".
            (lowest, acked_end) => lowest.unwrap_or(acked_end) > self.era.sequence(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Era;
    use crate::tests::Rig;
    use cc_core::{EcnEvent, Instant, PathState};

    /// In Cruising, in an era that began with a number or at a time.
    fn cruising_since(start: PathState) -> Rig {
        let mut rig = Rig::cruising(1_000_000, 40_000);
        rig.c4.era = Era::new(&start);
        rig
    }

    #[test]
    fn starting_an_era_takes_the_next_number_the_gain_and_the_ecn_marks() {
        let mut rig = Rig::cruising(1_000_000, 40_000);
        rig.rtt(30_000);
        rig.c4.alpha = 1_072;
        // 1 of 4 marked, no CE event step: 256/16 = 16 when the era starts
        rig.c4.ecn.add(&EcnEvent { ce: Some(1), ect1: Some(3), ..EcnEvent::default() });
        rig.path.next_number = 77;
        rig.c4.start_era(&rig.path);
        assert_eq!((rig.c4.era.sequence(), rig.c4.era.max_rtt, rig.c4.era.min_rtt), (77, 0, u32::MAX));
        assert_eq!((rig.c4.alpha_previous, rig.c4.ecn.alpha()), (1_072, 16));
    }

    #[test]
    fn era_ends_when_the_lowest_outstanding_number_is_above_its_sequence() {
        let mut rig = cruising_since(PathState { next_number: 50, ..PathState::default() });
        for (lowest, ended) in [(49, false), (50, false), (51, true)] {
            rig.path.oldest_outstanding = Some(lowest);
            assert_eq!(rig.c4.era_ended(&rig.path), ended, "{lowest}");
        }
    }

    #[test]
    fn with_nothing_outstanding_it_ends_when_its_own_number_was_acked() {
        let mut rig = cruising_since(PathState { next_number: 50, ..PathState::default() });
        rig.path.oldest_outstanding = None;
        for (highest, ended) in [(49, false), (50, true)] {
            rig.c4.acked_end = highest + 1;
            assert_eq!(rig.c4.era_ended(&rig.path), ended, "{highest}");
        }
    }

    #[test]
    fn without_numbers_it_ends_with_a_packet_sent_after_its_start() {
        let mut rig = cruising_since(PathState { now: Instant::from_micros(1_000), ..PathState::default() });
        rig.c4.acked_end = 0;
        rig.path.oldest_outstanding = None;
        assert!(!rig.c4.era_ended(&rig.path), "nothing was acked");
        for (sent_at, ended) in [(999, false), (1_000, false), (1_001, true)] {
            rig.c4.newest_acked_sent_at = Instant::from_micros(sent_at);
            assert_eq!(rig.c4.era_ended(&rig.path), ended, "{sent_at}");
        }
    }

    #[test]
    fn no_era_ends_before_the_handshake_is_finished() {
        let mut rig = Rig::cruising(1_000_000, 40_000);
        rig.path.oldest_outstanding = Some(rig.c4.era.sequence() + 1);
        assert!(rig.c4.era_ended(&rig.path));
        rig.path.handshake_ready = false;
        assert!(!rig.c4.era_ended(&rig.path));
    }
}
