//! Pushing: a larger gain for as long as the rate follows it fast.

use crate::constants::ALPHA_PUSHING;
use crate::growth::Growing;
use crate::{C4, Phase};
use cc_core::PathState;

impl C4 {
    /// `c4_enter_pushing`. The gain changes before the era starts.
    pub(crate) fn enter_pushing(&mut self, path: &PathState) {
        self.alpha = ALPHA_PUSHING;
        self.phase = Phase::Pushing;
        self.reset_growth();
        self.start_era(path);
    }

    /// An ACK that does not end the era (`c4_on_pushing_rate_measurement`): fast growth is followed at once.
    pub(crate) fn pushing_on_ack(&mut self, path: &PathState) {
        if self.growing() == Growing::Fast {
            self.reset_growth();
            self.start_era(path);
        }
    }

    /// `c4_on_pushing_era_end`. The comparison of gains always holds with the order of [`C4::enter_pushing`]; the
    /// authors want one round trip at the new gain to have been measured.
    pub(crate) fn pushing_on_era_end(&mut self, path: &PathState) {
        if self.growing() == Growing::Fast {
            self.reset_growth();
            self.start_era(path);
        } else if self.alpha_previous >= ALPHA_PUSHING {
            self.enter_recovery(path, false);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::Phase;
    use crate::tests::{Rig, phases};

    fn pushing() -> Rig {
        let mut rig = Rig::cruising(1_000_000, 40_000);
        rig.c4.growth.rate_before = 1;
        rig.c4.growth.push_was_not_limited = true;
        rig.c4.enter_pushing(&rig.path);
        rig
    }

    #[test]
    fn entering_sets_the_gain_first_and_resets_growth() {
        let rig = pushing();
        assert_eq!((rig.c4.alpha, rig.c4.alpha_previous), (1_256, 1_256));
        assert_eq!((rig.c4.growth.alpha, rig.c4.growth.rate_before), (1_256, 1_000_000));
        assert!(!rig.c4.growth.push_was_not_limited);
        assert_eq!(rig.c4.era.sequence(), rig.path.next_number);
    }

    #[test]
    fn fast_growth_inside_an_era_starts_a_new_one() {
        let mut rig = pushing();
        rig.path.next_number += 20;
        // pushed = 1 226 562; (10^6 + 3 * 1 226 562)/4 = 1 169 921.5: only more is fast
        rig.c4.nominal_rate = 1_169_921;
        rig.ack(1_200);
        assert_ne!(rig.c4.era.sequence(), rig.path.next_number);
        rig.c4.nominal_rate = 1_169_922;
        rig.ack(1_200);
        assert_eq!(rig.c4.era.sequence(), rig.path.next_number);
        assert_eq!((rig.c4.phase, rig.c4.growth.rate_before), (Phase::Pushing, 1_169_922));
    }

    #[test]
    fn fast_growth_at_the_end_of_an_era_goes_on() {
        let mut rig = pushing();
        rig.c4.nominal_rate = 1_169_922;
        rig.end_era();
        assert_eq!((rig.c4.phase, rig.c4.growth.rate_before), (Phase::Pushing, 1_169_922));
        assert_eq!(rig.c4.era.sequence(), rig.path.next_number);
    }

    #[test]
    fn slow_or_no_growth_at_the_end_of_an_era_leads_to_recovery() {
        for rate in [1_000_000, 1_100_000] {
            let mut rig = pushing();
            rig.c4.nominal_rate = rate;
            rig.end_era();
            assert_eq!((rig.c4.phase, rig.c4.alpha_previous), (phases::RECOVERY, 1_256));
            // Growth is not reset: Recovery judges the push.
            assert_eq!((rig.c4.growth.alpha, rig.c4.growth.rate_before), (1_256, 1_000_000));
        }
    }

    #[test]
    fn era_at_a_lower_gain_does_not_end_the_push() {
        let mut rig = pushing();
        rig.c4.alpha_previous = 960;
        rig.end_era();
        assert_eq!(rig.c4.phase, Phase::Pushing);
    }
}
