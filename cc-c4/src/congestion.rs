//! The reaction to congestion outside Initial (`c4_notify_congestion`).

use crate::arithmetic::{fraction_of, part_of};
use crate::constants::{BETA_MAX, ONE};
use crate::sensitivity::sensitivity;
use crate::{C4, Phase};
use cc_core::PathState;

/// A congestion signal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Congestion {
    /// The RTT exceeds what jitter explains.
    Delay,
    /// The loss rate is above its threshold.
    Loss,
    /// The CE fraction is above `threshold` (of 1024).
    Ecn { threshold: u32 },
}

impl C4 {
    /// Reduces the rate where C4's own load can not be the cause, enters Recovery and recomputes the outputs.
    pub(crate) fn on_congestion(&mut self, path: &PathState, kind: Congestion) {
        let beta = self.beta(kind);
        let is_ecn = matches!(kind, Congestion::Ecn { .. });
        self.growth.congestion_notified = true;
        self.was_congested = true;
        if kind != Congestion::Delay {
            self.rtt.excess = 0;
        }
        if matches!(self.phase, Phase::Recovery { .. }) {
            self.recovery_on_congestion(path, is_ecn);
        } else {
            self.congestion_events = self.congestion_events.saturating_add(1);
            // In a test the load was C4's own: ending the test is enough.
            if !matches!(self.phase, Phase::Probing | Phase::Pushing) {
                self.reduce(beta, kind);
            }
            self.enter_recovery(path, is_ecn);
        }
        self.update_outputs(path);
    }

    /// The fraction of 1024 to reduce by: at most a quarter.
    fn beta(&self, kind: Congestion) -> u32 {
        // A product that saturates is above the cap: no threshold exceeds 25 000.
        let proportion = |excess: u32, threshold: u32| {
            excess.saturating_mul(ONE).checked_div(threshold).unwrap_or(BETA_MAX).min(BETA_MAX)
        };
        match kind {
            Congestion::Loss => {
                BETA_MAX.saturating_add(fraction_of(sensitivity(self.nominal_rate), BETA_MAX)) / 2
            }
            Congestion::Ecn { threshold } => {
                proportion(self.ecn.alpha().saturating_sub(threshold), threshold)
            }
            Congestion::Delay => proportion(self.rtt.excess, self.rtt.delay_threshold),
        }
    }

    fn reduce(&mut self, beta: u32, kind: Congestion) {
        self.nominal_rate = self.nominal_rate.saturating_sub(part_of(beta, self.nominal_rate));
        if kind == Congestion::Loss {
            let nominal_max = self.rtt.nominal_max.saturating_sub(fraction_of(beta, self.rtt.nominal_max));
            self.rtt.set_nominal_max(nominal_max, self.nominal_rate);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Congestion;
    use crate::Phase;
    use crate::tests::{Rig, phases};
    use cc_core::CongestionController;

    fn after(kind: Congestion, prepare: impl FnOnce(&mut Rig)) -> Rig {
        let mut rig = Rig::cruising(1_000_000, 40_000);
        prepare(&mut rig);
        rig.c4.on_congestion(&rig.path, kind);
        rig
    }

    #[test]
    fn loss_reduces_rate_and_nominal_max_rtt_by_sensitivity() {
        let rig = after(Congestion::Loss, |_| {});
        // s = 963: 963 * 256/1024 = 240.75; (256 + 240)/2 = 248
        // rate: 1 000 000 - 242 187 (of .5); RTT: 40 000 - 9 687 (of .5)
        assert_eq!((rig.c4.nominal_rate, rig.c4.rtt.nominal_max), (757_813, 30_313));
        // threshold for the new values: s = 707 813 * 963/950 000 = 717.5; 307 * 196/1024 = 58.8; + 64 = 122;
        // 30 313 * 122/1024 = 3 611.5
        assert_eq!(rig.c4.rtt.delay_threshold, 3_611);
        assert_eq!((rig.c4.phase, rig.c4.alpha), (phases::RECOVERY, 960));
        assert!(rig.c4.growth.congestion_notified);
    }

    #[test]
    fn loss_reduces_by_an_eighth_to_a_quarter() {
        let rate = |rate| {
            let mut rig = Rig::cruising(rate, 40_000);
            rig.c4.on_congestion(&rig.path, Congestion::Loss);
            rig.c4.nominal_rate
        };
        // s = 0: beta 128; s = 1024: beta 256
        assert_eq!(rate(40_000), 35_000);
        assert_eq!(rate(20_000_000), 15_000_000);
    }

    #[test]
    fn nominal_max_rtt_is_not_reduced_below_a_millisecond() {
        let rig = after(Congestion::Loss, |rig| rig.c4.rtt.nominal_max = 1_000);
        assert_eq!(rig.c4.rtt.nominal_max, 1_000);
    }

    #[test]
    fn delay_reduces_by_the_excess_over_the_threshold_at_most_a_quarter() {
        let rate = |excess| {
            let rig = after(Congestion::Delay, |rig| rig.c4.rtt.excess = excess);
            assert_eq!(rig.c4.rtt.nominal_max, 40_000, "only loss reduces it");
            assert_eq!(rig.c4.rtt.excess, excess, "kept");
            rig.c4.nominal_rate
        };
        // threshold 2 929; 100 * 1024/2 929 = 34.96 -> 34; 10^6 * 34/1024 = 33 203.1
        assert_eq!(rate(100), 966_797);
        // 732 * 1024/2 929 = 255.9 -> 255; 10^6 * 255/1024 = 249 023.4
        assert_eq!(rate(732), 750_977);
        assert_eq!(rate(733), 750_000);
        assert_eq!(rate(u32::MAX), 750_000);
    }

    #[test]
    fn ecn_reduces_by_the_excess_over_the_threshold_at_most_a_quarter() {
        let rate = |marked, unmarked| {
            let mut rig = Rig::cruising(1_000_000, 40_000);
            rig.ecn(marked, unmarked);
            (rig.c4.nominal_rate, rig.c4.phase)
        };
        // threshold 102; alpha: 1024 of one, capped: 750 000
        assert_eq!(rate(1, 0), (750_000, Phase::Recovery { excess_ce: true }));
        // 1 of 4: 16, not above 102
        assert_eq!(rate(1, 3), (1_000_000, Phase::Cruising));
        let mut rig = Rig::cruising(1_000_000, 40_000);
        for _ in 0..11 {
            rig.ecn(1, 3);
        }
        // (15 a + 256)/16 floored from 0: 16 31 45 58 70 81 91 101 110; at the ninth 110 > 102 signals:
        // 8 * 1024/102 = 80; 10^6 * 80/1024 = 78 125. The tenth and the eleventh come in Recovery.
        assert_eq!(rig.c4.nominal_rate, 921_875);
    }

    #[test]
    fn loss_and_ecn_clear_the_delay_excess() {
        for kind in [Congestion::Loss, Congestion::Ecn { threshold: 100 }] {
            assert_eq!(after(kind, |rig| rig.c4.rtt.excess = 50).c4.rtt.excess, 0);
        }
    }

    #[test]
    fn a_test_ends_without_a_reduction() {
        for phase in [Phase::Probing, Phase::Pushing] {
            let rig = after(Congestion::Loss, |rig| rig.c4.phase = phase);
            assert_eq!((rig.c4.nominal_rate, rig.c4.rtt.nominal_max), (1_000_000, 40_000));
            assert_eq!(rig.c4.phase, phases::RECOVERY);
        }
    }

    #[test]
    fn only_ecn_marks_the_recovery_that_it_causes() {
        assert_eq!(after(Congestion::Delay, |_| {}).c4.phase, phases::RECOVERY);
        let ecn = after(Congestion::Ecn { threshold: 100 }, |_| {});
        assert_eq!(ecn.c4.phase, Phase::Recovery { excess_ce: true });
    }

    #[test]
    fn outputs_follow_at_once() {
        let rig = after(Congestion::Loss, |_| {});
        // 757 813 * 960/1024 = 710 449.7
        assert_eq!(rig.c4.outputs.pacing, 710_449);
        // 30 313 us: 21 535.8; 7 578 us: 5 383.8
        assert_eq!(rig.c4.cwnd(), 21_535 + 5_383);
    }

    #[test]
    fn events_are_counted_outside_recovery() {
        let mut rig = after(Congestion::Loss, |_| {});
        rig.c4.on_congestion(&rig.path, Congestion::Loss);
        assert_eq!(rig.c4.congestion_events, 1);
        assert_eq!(rig.c4.snapshot().congestion_events, 1);
    }

    #[test]
    fn a_delay_threshold_of_zero_is_no_division() {
        let rig = after(Congestion::Delay, |rig| {
            rig.c4.rtt.delay_threshold = 0;
            rig.c4.rtt.excess = 1;
        });
        assert_eq!(rig.c4.nominal_rate, 750_000);
    }
}
