//! Probing: one era slightly above the nominal rate.

use crate::constants::{ALPHA_PROBING, ALPHA_PROBING_LOW};
use crate::{C4, Phase};
use cc_core::PathState;

impl C4 {
    /// `c4_enter_probing`. The gain changes before the era starts, so that delays count from the first ACK on. Growth
    /// is not reset: it goes on from the end of the last Recovery.
    pub(crate) fn enter_probing(&mut self, path: &PathState) {
        self.alpha = if self.probe_level == 0 { ALPHA_PROBING_LOW } else { ALPHA_PROBING };
        self.growth.alpha = self.alpha;
        self.start_era(path);
        self.phase = Phase::Probing;
    }

    pub(crate) fn probing_on_era_end(&mut self, path: &PathState) {
        self.enter_recovery(path, false);
    }
}

#[cfg(test)]
mod tests {
    use crate::Phase;
    use crate::tests::{Rig, phases};

    fn probing(level: u8) -> Rig {
        let mut rig = Rig::cruising(1_000_000, 40_000);
        rig.c4.probe_level = level;
        rig.c4.growth.rate_before = 900_000;
        rig.c4.enter_probing(&rig.path);
        rig
    }

    #[test]
    fn gain_depends_on_the_probe_level_and_is_set_before_the_era() {
        for (level, alpha) in [(0, 1_056), (1, 1_088)] {
            let rig = probing(level);
            assert_eq!((rig.c4.alpha, rig.c4.alpha_previous, rig.c4.growth.alpha), (alpha, alpha, alpha));
            assert_eq!((rig.c4.phase, rig.c4.growth.rate_before), (Phase::Probing, 900_000));
        }
    }

    #[test]
    fn ends_in_recovery_whose_first_era_still_counts_delays() {
        let mut rig = probing(1);
        rig.ack(1_200);
        assert_eq!(rig.c4.phase, Phase::Probing);
        rig.end_era();
        assert_eq!((rig.c4.phase, rig.c4.alpha, rig.c4.alpha_previous), (phases::RECOVERY, 960, 1_088));
        assert_eq!(rig.c4.growth.alpha, 1_088);
    }
}
