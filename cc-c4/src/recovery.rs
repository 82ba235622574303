//! Recovery: one round trip below the nominal rate, at whose end the test before it is judged.

use crate::constants::{
    ALPHA_RECOVERY, ALPHA_RECOVERY_DEEP, CONGESTIONS_BEFORE_CUT, PROBE_LEVEL_DEFAULT, PROBE_LEVEL_MAX,
};
use crate::growth::Growing;
use crate::{C4, Phase};
use cc_core::PathState;

impl C4 {
    /// `c4_enter_recovery`. The era starts before the gain changes, so that delays of packets sent in the phase
    /// before still count by that phase's gain.
    pub(crate) fn enter_recovery(&mut self, path: &PathState, excess_ce: bool) {
        match self.phase {
            Phase::Recovery { .. } => return,
            Phase::Initial { .. } => self.reset_growth(),
            _ => {}
        }
        self.phase = Phase::Recovery { excess_ce };
        self.start_era(path);
        self.alpha = ALPHA_RECOVERY;
    }

    /// A congestion signal inside Recovery: queues still build up. The rate stays; the first one lowers the gain and
    /// lets Recovery last longer.
    pub(crate) fn recovery_on_congestion(&mut self, path: &PathState, is_ecn: bool) {
        if self.alpha == ALPHA_RECOVERY {
            self.alpha = ALPHA_RECOVERY_DEEP;
            self.era.postpone(path);
        }
        if is_ecn {
            self.phase = Phase::Recovery { excess_ce: true };
        }
    }

    /// `c4_exit_recovery`.
    pub(crate) fn recovery_on_era_end(&mut self, path: &PathState) {
        let excess_ce = matches!(self.phase, Phase::Recovery { excess_ce: true });
        if self.growing() > Growing::No {
            if !excess_ce && self.eras_resuming == 0 {
                self.probe_level = self.probe_level.saturating_add(1);
            }
            self.recent_congestions = 0;
        } else {
            self.judge_no_growth(excess_ce);
        }
        self.eras_resuming = 0;
        self.recent_maximum_rate = 0;
        self.reset_growth();
        self.rtt.excess = 0;
        self.loss_rate.clear_average();
        self.ecn.clear_average();

        if self.probe_level > PROBE_LEVEL_MAX {
            self.enter_initial(path);
        } else if self.probe_level > PROBE_LEVEL_DEFAULT {
            self.enter_pushing(path);
        } else {
            self.enter_cruising(path);
        }
    }

    /// Two rules that do not depend on each other: the probe level, and the cut to the rate that was really seen.
    fn judge_no_growth(&mut self, excess_ce: bool) {
        if self.growth.push_was_not_limited {
            self.probe_level = if excess_ce { 0 } else { PROBE_LEVEL_DEFAULT };
        }
        if self.growth.congestion_notified {
            self.recent_congestions = self.recent_congestions.saturating_add(1);
            if self.recent_congestions >= CONGESTIONS_BEFORE_CUT && self.recent_maximum_rate > 0 {
                self.nominal_rate = self.nominal_rate.min(self.recent_maximum_rate);
            }
        } else {
            self.recent_congestions = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::Phase;
    use crate::growth::Growth;
    use crate::tests::{Rig, phases};
    use approx::assert_relative_eq;

    /// In Recovery at 1 MB/s after a test with gain `alpha` from `rate_before`.
    fn recovering(alpha: u32, rate_before: u64) -> Rig {
        let mut rig = Rig::cruising(1_000_000, 40_000);
        rig.c4.enter_recovery(&rig.path, false);
        rig.c4.growth = Growth { alpha, rate_before, ..Growth::default() };
        rig
    }

    #[test]
    fn entering_starts_the_era_before_the_gain_changes() {
        let mut rig = Rig::cruising(1_000_000, 40_000);
        rig.c4.alpha = 1_256;
        rig.c4.growth.alpha = 1_256;
        rig.path.next_number = 300;
        rig.c4.enter_recovery(&rig.path, false);
        assert_eq!((rig.c4.alpha, rig.c4.alpha_previous, rig.c4.era.sequence()), (960, 1_256, 300));
        assert_eq!(rig.c4.phase, phases::RECOVERY);
        assert_eq!(rig.c4.growth.alpha, 1_256, "growth is reset only when coming from Initial");
    }

    #[test]
    fn entering_again_does_nothing() {
        let mut rig = recovering(1_088, 1_000_000);
        let before = rig.c4.clone();
        rig.path.next_number += 50;
        rig.c4.enter_recovery(&rig.path, true);
        assert_eq!(rig.c4, before);
    }

    #[test]
    fn a_signal_inside_lowers_the_gain_once_and_prolongs_the_era() {
        let mut rig = recovering(1_088, 1_000_000);
        rig.rtt(30_000);
        let (min, max) = (rig.c4.era.min_rtt, rig.c4.era.max_rtt);
        rig.c4.alpha_previous = 1_088;
        rig.path.next_number += 50;
        let sequence = rig.path.next_number;
        rig.rtt(90_000); // a delay signal, since the packets were sent with a gain above one
        assert_eq!((rig.c4.alpha, rig.c4.era.sequence(), rig.c4.alpha_previous), (896, sequence, 1_088));
        assert_eq!((rig.c4.era.min_rtt, rig.c4.era.max_rtt), (min, max.max(90_000)));
        assert_eq!(rig.c4.nominal_rate, 1_000_000, "the rate is never cut");
        rig.path.next_number += 50;
        rig.rtt(90_000);
        assert_eq!((rig.c4.alpha, rig.c4.era.sequence()), (896, sequence), "only the first prolongs");
    }

    #[test]
    fn outputs_follow_a_signal_inside_at_once() {
        let mut rig = recovering(1_088, 1_000_000);
        rig.c4.alpha_previous = 1_088;
        rig.rtt(90_000);
        // pacing 1 000 000 * 896/1024
        assert_eq!(rig.c4.outputs.pacing, 875_000);
    }

    #[test]
    fn only_an_ecn_signal_inside_says_excess_ce_first_or_not() {
        let mut rig = recovering(1_088, 1_000_000);
        rig.c4.alpha_previous = 1_088;
        rig.rtt(90_000);
        assert_eq!(rig.c4.phase, Phase::Recovery { excess_ce: false });
        rig.ecn(1, 1);
        assert_eq!(rig.c4.phase, Phase::Recovery { excess_ce: true });
    }

    #[test]
    fn growth_raises_the_probe_level_and_leads_to_pushing() {
        let mut rig = recovering(1_088, 900_000);
        rig.c4.recent_congestions = 1;
        rig.end_era();
        assert_eq!((rig.c4.probe_level, rig.c4.recent_congestions), (2, 0));
        assert_eq!(rig.c4.phase, Phase::Pushing);
    }

    #[test]
    fn growth_beyond_level_3_leads_to_initial() {
        let mut rig = recovering(1_088, 900_000);
        rig.c4.probe_level = 3;
        rig.end_era();
        assert!(matches!(rig.c4.phase, Phase::Initial { .. }));
        assert_eq!(rig.c4.probe_level, 1);
    }

    #[test]
    fn growth_with_excess_ce_or_after_resuming_leaves_the_level() {
        let mut rig = recovering(1_088, 900_000);
        rig.c4.phase = Phase::Recovery { excess_ce: true };
        rig.end_era();
        assert_eq!((rig.c4.probe_level, rig.c4.phase), (1, Phase::Cruising));
        let mut rig = recovering(1_088, 900_000);
        rig.c4.eras_resuming = 1;
        rig.end_era();
        assert_eq!((rig.c4.probe_level, rig.c4.eras_resuming, rig.c4.phase), (1, 0, Phase::Cruising));
    }

    #[test]
    fn no_growth_sets_the_level_only_if_the_application_was_not_the_limit() {
        let level = |not_limited, excess_ce| {
            let mut rig = recovering(1_088, 1_000_000);
            rig.c4.probe_level = 3;
            rig.c4.growth.push_was_not_limited = not_limited;
            rig.c4.phase = Phase::Recovery { excess_ce };
            rig.end_era();
            (rig.c4.probe_level, rig.c4.phase)
        };
        assert_eq!(level(true, false), (1, Phase::Cruising));
        assert_eq!(level(true, true), (0, Phase::Cruising));
        assert_eq!(level(false, false), (3, Phase::Pushing));
        assert_eq!(level(false, true), (3, Phase::Pushing));
    }

    #[test]
    fn second_congestion_without_growth_cuts_the_rate_to_what_was_seen() {
        let after = |congestions, seen| {
            let mut rig = recovering(1_088, 1_000_000);
            rig.c4.growth.congestion_notified = true;
            rig.c4.recent_congestions = congestions;
            rig.c4.recent_maximum_rate = seen;
            rig.end_era();
            (rig.c4.nominal_rate, rig.c4.recent_congestions)
        };
        assert_eq!(after(0, 700_000), (1_000_000, 1));
        assert_eq!(after(1, 700_000), (700_000, 2));
        assert_eq!(after(2, 700_000), (700_000, 3));
        assert_eq!(after(1, 1_200_000), (1_000_000, 2));
        assert_eq!(after(1, 0), (1_000_000, 2));
    }

    #[test]
    fn the_two_rules_are_independent() {
        let mut rig = recovering(1_088, 1_000_000);
        rig.c4.probe_level = 2;
        rig.c4.growth.push_was_not_limited = false;
        rig.c4.growth.congestion_notified = true;
        rig.c4.recent_congestions = 1;
        rig.c4.recent_maximum_rate = 700_000;
        rig.end_era();
        assert_eq!((rig.c4.probe_level, rig.c4.nominal_rate), (2, 700_000));
    }

    #[test]
    fn no_growth_without_congestion_forgets_earlier_congestions() {
        let mut rig = recovering(1_088, 1_000_000);
        rig.c4.recent_congestions = 5;
        rig.end_era();
        assert_eq!(rig.c4.recent_congestions, 0);
    }

    #[test]
    fn leaving_forgets_what_led_to_it() {
        let mut rig = recovering(1_088, 1_000_000);
        rig.lose(rig.c4.era.sequence() + 1);
        assert!(rig.c4.loss_rate.average().to_f64() > 0.06);
        rig.c4.recent_maximum_rate = 99;
        rig.ecn(1, 1); // clears the delay excess too
        rig.c4.rtt.excess = 99;
        assert_eq!(rig.c4.ecn.alpha(), 512);
        rig.end_era();
        assert_relative_eq!(rig.c4.loss_rate.average().to_f64(), 0.0);
        assert_eq!((rig.c4.rtt.excess, rig.c4.recent_maximum_rate, rig.c4.ecn.alpha()), (0, 0, 0));
        assert!(!rig.c4.growth.congestion_notified);
        // Reset before the next phase sets its gain, by that of Recovery (lowered by the CE signal above).
        assert_eq!((rig.c4.growth.alpha, rig.c4.growth.rate_before), (896, 1_000_000));
    }
}
