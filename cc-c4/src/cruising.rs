//! Cruising: steady sending at the nominal rate, for some eras, until there is something to probe with.

use crate::arithmetic::micros;
use crate::constants::{
    ALPHA_CRUISING, ALPHA_CRUISING_SHORT_PATH, CRUISE_ERAS, CRUISE_ERAS_LOW, MIN_NOMINAL_MAX_RTT,
};
use crate::{C4, Phase};
use cc_core::{AckEvent, PathState};

impl C4 {
    /// `c4_enter_cruise`. The era starts before the gain changes.
    pub(crate) fn enter_cruising(&mut self, path: &PathState) {
        self.start_era(path);
        if self.cruise_eras_left == 0 {
            self.cruise_eras_left = if self.probe_level == 0 { CRUISE_ERAS_LOW } else { CRUISE_ERAS };
        }
        let is_short = path.rtt.is_some_and(|rtt| micros(rtt.smoothed) < MIN_NOMINAL_MAX_RTT);
        self.alpha = if is_short { ALPHA_CRUISING_SHORT_PATH } else { ALPHA_CRUISING };
        self.phase = Phase::Cruising;
    }

    /// A probe needs data that was sent after the application was last the limit: else it would measure nothing.
    pub(crate) fn cruising_on_era_end(&mut self, path: &PathState, ack: &AckEvent<'_>) {
        self.cruise_eras_left = self.cruise_eras_left.saturating_sub(1);
        self.start_era(path);
        let busy = ack
            .newest_data_sent_at
            .is_some_and(|sent_at| ack.app_limited_at.is_none_or(|limited_at| sent_at > limited_at));
        if self.cruise_eras_left == 0 && busy {
            self.enter_probing(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::Phase;
    use crate::tests::Rig;
    use cc_core::Instant;

    #[test]
    fn entering_starts_the_era_before_the_gain_changes() {
        let mut rig = Rig::cruising(1_000_000, 40_000);
        rig.c4.alpha = 960;
        rig.c4.enter_cruising(&rig.path);
        assert_eq!((rig.c4.alpha, rig.c4.alpha_previous), (1_024, 960));
    }

    #[test]
    fn lasts_two_eras_or_one_at_probe_level_0_or_what_was_left() {
        let left = |level, left| {
            let mut rig = Rig::cruising(1_000_000, 40_000);
            rig.c4.probe_level = level;
            rig.c4.cruise_eras_left = left;
            rig.c4.enter_cruising(&rig.path);
            rig.c4.cruise_eras_left
        };
        assert_eq!(left(1, 0), 2);
        assert_eq!(left(0, 0), 1);
        assert_eq!(left(0, 2), 2);
        assert_eq!(left(1, 1), 1);
    }

    #[test]
    fn gain_is_larger_on_paths_below_a_millisecond() {
        let alpha = |smoothed| {
            let mut rig = Rig::cruising(1_000_000, 40_000);
            rig.smoothed(smoothed);
            rig.c4.enter_cruising(&rig.path);
            rig.c4.alpha
        };
        assert_eq!(alpha(999), 1_072);
        assert_eq!(alpha(1_000), 1_024);
        let mut rig = Rig::cruising(1_000_000, 40_000);
        rig.path.rtt = None;
        rig.c4.enter_cruising(&rig.path);
        assert_eq!(rig.c4.alpha, 1_024, "no RTT is no short RTT");
    }

    #[test]
    fn probes_after_its_eras() {
        let mut rig = Rig::cruising(1_000_000, 40_000);
        rig.c4.alpha_previous = 960;
        rig.ack(1_200);
        assert_eq!((rig.c4.cruise_eras_left, rig.c4.alpha_previous), (2, 960), "no era ended");
        rig.end_era();
        assert_eq!((rig.c4.cruise_eras_left, rig.c4.phase), (1, Phase::Cruising));
        assert_eq!(rig.c4.era.sequence(), rig.path.next_number);
        assert_eq!(rig.c4.alpha_previous, 1_024, "of this phase from the second era on");
        rig.end_era();
        assert_eq!((rig.c4.cruise_eras_left, rig.c4.phase), (0, Phase::Probing));
    }

    #[test]
    fn waits_for_data_sent_strictly_after_the_application_was_the_limit() {
        let at = |micros| Some(Instant::from_micros(micros));
        let mut rig = Rig::cruising(1_000_000, 40_000);
        rig.app_limited_at = at(500);
        rig.newest_data_sent_at = at(500);
        for _ in 0..5 {
            rig.end_era();
            assert_eq!(rig.c4.phase, Phase::Cruising);
        }
        assert_eq!(rig.c4.cruise_eras_left, 0);
        rig.newest_data_sent_at = None;
        rig.app_limited_at = None;
        rig.end_era();
        assert_eq!(rig.c4.phase, Phase::Cruising);
        rig.app_limited_at = at(500);
        rig.newest_data_sent_at = at(501);
        rig.end_era();
        assert_eq!(rig.c4.phase, Phase::Probing);
    }
}
