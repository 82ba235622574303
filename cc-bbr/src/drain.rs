//! Drain (section 5.3.2).

use crate::constants::{DRAIN_ROUNDS, ONE};
use crate::{Bbr, State};
use cc_core::PathState;

impl Bbr {
    /// `EnterDrain()`.
    pub(crate) const fn enter_drain(&mut self) {
        self.state = State::Drain { start_round: self.round.count };
    }

    /// `CheckDrainDone()`.
    pub(crate) fn check_drain_done(&mut self, path: &PathState) {
        let State::Drain { start_round } = self.state else { return };
        if path.bytes_in_flight <= self.inflight(self.bw, ONE)
            || self.round.count > start_round.saturating_add(DRAIN_ROUNDS)
        {
            self.enter_probe_bw(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::tests::{path, starting};
    use crate::{Bbr, State};
    use cc_core::PathState;

    fn draining() -> Bbr {
        let mut bbr = starting(1_000_000, 40);
        bbr.full_bw.set_full();
        bbr.enter_drain();
        bbr
    }

    #[test]
    fn it_ends_with_the_bdp_in_flight() {
        // 1 MB/s * 40 ms = 40 000 B
        let mut bbr = draining();
        bbr.check_drain_done(&PathState { bytes_in_flight: 40_001, ..path() });
        assert!(matches!(bbr.state, State::Drain { .. }));
        bbr.check_drain_done(&PathState { bytes_in_flight: 40_000, ..path() });
        assert!(matches!(bbr.state, State::ProbeBwDown(_)));
    }

    #[test]
    fn it_ends_after_three_rounds() {
        let mut bbr = draining();
        let full = PathState { bytes_in_flight: 80_000, ..path() };
        bbr.round.count += 3;
        bbr.check_drain_done(&full);
        assert!(matches!(bbr.state, State::Drain { .. }));
        bbr.round.count += 1;
        bbr.check_drain_done(&full);
        assert!(matches!(bbr.state, State::ProbeBwDown(_)));
    }
}
