//! Startup (section 5.3.1).

use crate::constants::STARTUP_FULL_LOSS_COUNT;
use crate::sample::Sample;
use crate::undo::UndoState;
use crate::{Bbr, State};

impl Bbr {
    /// `EnterStartup()`.
    pub(crate) const fn enter_startup(&mut self) {
        self.state = State::Startup;
    }

    /// `CheckStartupDone()`.
    pub(crate) fn check_startup_done(&mut self, rs: &Sample) {
        if self.state != State::Startup {
            return;
        }
        self.check_startup_high_loss(rs);
        if self.state == State::Startup && self.full_bw.reached {
            self.enter_drain();
        }
    }

    /// `CheckStartupHighLoss()` (section 5.3.1.3), at the end of a round of losses: then recovery has lasted for a round, and the
    /// packet that was just acked tells the losses of that round.
    fn check_startup_high_loss(&mut self, rs: &Sample) {
        let enough = rs.loss_round_start
            && self.in_loss_recovery()
            && self.signals.lost_ranges >= STARTUP_FULL_LOSS_COUNT;
        if enough && rs.is_inflight_too_high() {
            self.leave_startup();
        }
    }

    /// Congestion showed that the pipe is full.
    pub(crate) fn leave_startup(&mut self) {
        self.set_undo_state(UndoState::Startup);
        self.full_bw.set_full();
        self.bounds.inflight_longterm = self.bdp().max(self.signals.inflight_latest);
        self.enter_drain();
    }
}

#[cfg(test)]
mod tests {
    use crate::sample::Sample;
    use crate::tests::{path, sample, starting};
    use crate::{Bbr, State};
    use cc_core::LostPacket;

    /// In recovery, at the end of a round in which so many ranges were lost.
    fn losing(ranges: u8) -> Bbr {
        let mut bbr = starting(1_000_000, 40);
        let lost = LostPacket { number: Some(1), bytes: 1_200, ..LostPacket::default() };
        bbr.enter_recovery(&path(), &lost);
        bbr.signals.lost_ranges = ranges;
        bbr.signals.inflight_latest = 30_000;
        bbr
    }

    fn round_of_losses(lost: u64) -> Sample {
        Sample { loss_round_start: true, lost, tx_in_flight: 50_000, ..sample(1_000_000) }
    }

    #[test]
    fn six_ranges_and_more_than_two_per_cent_end_startup() {
        // 2 % of 50 000 are 1000.
        let mut bbr = losing(6);
        bbr.check_startup_done(&round_of_losses(1_001));
        assert!(matches!(bbr.state, State::Drain { .. }));
        assert!(bbr.full_bw.now && bbr.full_bw.reached);
        // max(BDP = 1 MB/s * 40 ms, inflight_latest = 30 000)
        assert_eq!(bbr.bounds.inflight_longterm, 40_000);
    }

    #[test]
    fn inflight_longterm_is_what_was_delivered_if_that_is_more_than_the_bdp() {
        let mut bbr = losing(6);
        bbr.signals.inflight_latest = 45_000;
        bbr.check_startup_done(&round_of_losses(2_000));
        assert_eq!(bbr.bounds.inflight_longterm, 45_000);
    }

    #[test]
    fn less_does_not() {
        for (mut bbr, rs) in [
            (losing(5), round_of_losses(10_000)),
            (losing(6), round_of_losses(1_000)),
            (losing(6), Sample { loss_round_start: false, ..round_of_losses(10_000) }),
        ] {
            bbr.check_startup_done(&rs);
            assert_eq!(bbr.state, State::Startup, "{rs:?}");
        }
        let mut bbr = losing(6);
        bbr.end_recovery();
        bbr.check_startup_done(&round_of_losses(10_000));
        assert_eq!(bbr.state, State::Startup);
    }

    #[test]
    fn a_full_pipe_ends_startup() {
        let mut bbr = starting(1_000_000, 40);
        bbr.full_bw.set_full();
        bbr.check_startup_done(&sample(1_000_000));
        assert!(matches!(bbr.state, State::Drain { .. }));
    }
}
