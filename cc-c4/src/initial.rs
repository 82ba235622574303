//! Initial: doubles until three round trips, losses, a delay or CE marks show that the capacity was reached.

use crate::arithmetic::millions_per;
use crate::constants::{ALPHA_INITIAL, ERAS_WITHOUT_INCREASE, PACKETS_BEFORE_LOSS, PROBE_LEVEL_DEFAULT};
use crate::growth::Growing;
use crate::{C4, Phase};
use cc_core::PathState;

impl C4 {
    /// `c4_enter_initial`. The gain changes before the era starts.
    pub(crate) fn enter_initial(&mut self, path: &PathState) {
        self.phase = Phase::Initial { window: self.outputs.cwnd, packets_seen: 0, eras_without_increase: 0 };
        self.probe_level = PROBE_LEVEL_DEFAULT;
        self.alpha = ALPHA_INITIAL;
        self.start_era(path);
        self.ecn.clear_average();
        self.reset_growth();
    }

    /// `c4_initial_handle_ack`.
    pub(crate) fn initial_on_ack(&mut self, path: &PathState, acked_bytes: u64) {
        let Phase::Initial { window, packets_seen, eras_without_increase } = &mut self.phase else {
            return;
        };
        *packets_seen = packets_seen.saturating_add(1);
        // Slower the more eras did not grow: the end is probably near.
        let shift = u32::from(*eras_without_increase).saturating_mul(3);
        *window = window.saturating_add(acked_bytes.checked_shr(shift).unwrap_or(0));
        if self.era_ended(path) {
            self.initial_on_era_end(path);
        }
    }

    fn initial_on_era_end(&mut self, path: &PathState) {
        let growing = self.growing() > Growing::No;
        let flat = self.growth.push_was_not_limited && self.nominal_rate > 0;
        let mut eras = self.initial_eras_without_increase();
        if growing {
            eras = 0;
        } else if flat {
            eras = eras.saturating_add(1);
        }
        if let Phase::Initial { eras_without_increase, .. } = &mut self.phase {
            *eras_without_increase = eras;
        }
        self.start_era(path);
        if eras >= ERAS_WITHOUT_INCREASE {
            self.leave_initial(path);
        } else {
            self.reset_growth();
        }
    }

    /// A loss while the loss rate is above the threshold (`c4_initial_handle_loss`).
    pub(crate) fn initial_on_loss(&mut self, path: &PathState) {
        if let Phase::Initial { packets_seen, .. } = &mut self.phase {
            *packets_seen = packets_seen.saturating_add(1);
            if *packets_seen > PACKETS_BEFORE_LOSS {
                self.leave_initial_by_congestion(path);
            }
        }
    }

    /// Leaves if a delay excess stands and the rate has stopped growing: the test of a delay sample and of CE marks
    /// above the threshold (`c4_initial_handle_rtt_excess`).
    pub(crate) fn initial_on_delay_or_ecn(&mut self, path: &PathState) {
        if self.rtt.excess > 0
            && self.initial_eras_without_increase() > 1
            && self.growth.rate_before >= self.nominal_rate
        {
            self.leave_initial_by_congestion(path);
        }
    }

    fn leave_initial_by_congestion(&mut self, path: &PathState) {
        if self.leave_initial(path) {
            self.congestion_events = self.congestion_events.saturating_add(1);
        }
    }

    /// `c4_exit_initial`: only with a rate. Half the window is what the path held when the rate stopped growing.
    fn leave_initial(&mut self, path: &PathState) -> bool {
        let Phase::Initial { window, .. } = self.phase else {
            return false;
        };
        if self.nominal_rate == 0 {
            return false;
        }
        let half = u32::try_from(millions_per(window / 2, self.nominal_rate)).unwrap_or(u32::MAX);
        self.rtt.set_nominal_max(half, self.nominal_rate);
        self.probe_level = PROBE_LEVEL_DEFAULT;
        self.enter_recovery(path, false);
        true
    }

    const fn initial_eras_without_increase(&self) -> u8 {
        match self.phase {
            Phase::Initial { eras_without_increase, .. } => eras_without_increase,
            _ => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::Phase;
    use crate::growth::Growth;
    use crate::tests::{Rig, phases};
    use cc_core::{CongestionController, EcnEvent};

    fn initial(rig: &Rig) -> (u64, u32, u8) {
        match rig.c4.phase {
            Phase::Initial { window, packets_seen, eras_without_increase } => {
                (window, packets_seen, eras_without_increase)
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn entering_takes_the_present_window_and_keeps_the_nominal_values() {
        let mut rig = Rig::cruising(1_000_000, 100_000);
        rig.c4.update_outputs(&rig.path); // 115 000
        rig.c4.probe_level = 3;
        rig.c4.cruise_eras_left = 2;
        rig.c4.recent_congestions = 1;
        rig.c4.recent_maximum_rate = 77;
        // The era that starts takes 3 of 4 marks (768), then the average is forgotten.
        rig.c4.ecn.add(&EcnEvent { ce: Some(3), ect1: Some(1), ..EcnEvent::default() });
        rig.c4.enter_initial(&rig.path);
        assert_eq!(initial(&rig), (115_000, 0, 0));
        assert_eq!((rig.c4.probe_level, rig.c4.alpha, rig.c4.alpha_previous), (1, 2_048, 2_048));
        assert_eq!((rig.c4.ecn.alpha(), rig.c4.era.sequence()), (0, rig.path.next_number));
        assert_eq!((rig.c4.growth.alpha, rig.c4.growth.rate_before), (2_048, 1_000_000));
        assert_eq!((rig.c4.nominal_rate, rig.c4.rtt.nominal_max), (1_000_000, 100_000));
        assert_eq!((rig.c4.cruise_eras_left, rig.c4.recent_congestions), (2, 1));
        assert_eq!(rig.c4.recent_maximum_rate, 77);
    }

    #[test]
    fn window_grows_by_the_acked_bytes_and_each_ack_counts_a_packet() {
        let mut rig = Rig::initial(0, 0);
        rig.ack(3_600);
        rig.ack(1_200);
        assert_eq!(initial(&rig), (15_360 + 4_800, 2, 0));
    }

    #[test]
    fn window_grows_by_an_eighth_and_a_64th_after_eras_without_increase() {
        let mut rig = Rig::initial(1, 0);
        rig.set_initial(20_000, 0, 1);
        rig.ack(3_599);
        assert_eq!(initial(&rig).0, 20_449); // 3 599/8 = 449.9
        rig.set_initial(20_000, 0, 2);
        rig.ack(3_599);
        assert_eq!(initial(&rig).0, 20_056); // 3 599/64 = 56.2
    }

    #[test]
    fn an_era_without_growth_counts_only_if_the_application_was_not_the_limit() {
        let mut rig = Rig::initial(1_000_000, 40_000);
        rig.c4.growth = Growth { rate_before: 1_000_000, ..rig.c4.growth };
        rig.end_era();
        assert_eq!(initial(&rig).2, 0);
        rig.c4.growth.push_was_not_limited = true;
        rig.end_era();
        assert_eq!(initial(&rig).2, 1);
        assert_eq!(rig.c4.era.sequence(), rig.path.next_number, "the next era has begun");
        assert!(!rig.c4.growth.push_was_not_limited, "growth is reset");
    }

    #[test]
    fn growth_sets_the_count_back() {
        let mut rig = Rig::initial(1_250_000, 40_000);
        rig.set_initial(20_000, 0, 2);
        // pushed 2 * 10^6: (3 * 10^6 + 2 * 10^6)/4 = 1 250 000 is reached
        rig.c4.growth.rate_before = 1_000_000;
        rig.c4.growth.push_was_not_limited = true;
        rig.end_era();
        assert_eq!(initial(&rig).2, 0);
        assert_eq!(rig.c4.growth.rate_before, 1_250_000);
    }

    #[test]
    fn third_era_without_growth_leaves_for_recovery() {
        let mut rig = Rig::initial(1_000_000, 40_000);
        rig.set_initial(100_000, 9, 2);
        rig.c4.probe_level = 3;
        rig.c4.growth.rate_before = 1_000_000;
        rig.c4.growth.push_was_not_limited = true;
        rig.end_era_with(0);
        assert_eq!(rig.c4.phase, phases::RECOVERY);
        // (100 000/2) * 10^6 / 10^6 us; s = 963: 75/1024 of it = 3 662.1
        assert_eq!((rig.c4.rtt.nominal_max, rig.c4.rtt.delay_threshold), (50_000, 3_662));
        assert_eq!((rig.c4.probe_level, rig.c4.alpha, rig.c4.alpha_previous), (1, 960, 2_048));
        // Growth was reset with the gain of Initial, which Recovery is judged by.
        assert_eq!((rig.c4.growth.alpha, rig.c4.growth.push_was_not_limited), (2_048, false));
        assert_eq!(rig.c4.congestion_events, 0);
    }

    #[test]
    fn nominal_max_rtt_after_initial_is_at_least_a_millisecond() {
        let mut rig = Rig::initial(1_000_000_000, 40_000);
        rig.set_initial(100_000, 20, 0);
        rig.c4.initial_on_loss(&rig.path);
        // 50 000 B at 10^9 B/s are 50 us
        assert_eq!((rig.c4.phase, rig.c4.rtt.nominal_max), (phases::RECOVERY, 1_000));
    }

    #[test]
    fn losses_leave_after_more_than_20_packets() {
        let mut rig = Rig::initial(20_000_000, 40_000);
        rig.set_initial(20_000, 19, 0);
        rig.lose(10); // average 0.0625 > 0.02
        assert_eq!(initial(&rig).1, 20);
        rig.lose(11);
        assert_eq!(rig.c4.phase, phases::RECOVERY);
        assert_eq!(rig.c4.congestion_events, 1);
    }

    #[test]
    fn losses_below_the_threshold_are_not_counted_in_initial() {
        let mut rig = Rig::initial(40_000, 40_000); // threshold 0.52
        rig.set_initial(20_000, 25, 0);
        rig.lose(10);
        assert_eq!(initial(&rig).1, 25);
    }

    #[test]
    fn without_a_rate_initial_is_not_left() {
        let mut rig = Rig::initial(0, 40_000);
        rig.set_initial(20_000, 30, 0);
        rig.c4.initial_on_loss(&rig.path);
        assert_eq!(initial(&rig), (20_000, 31, 0));
        assert_eq!(rig.c4.congestion_events, 0);
    }

    #[test]
    fn a_delay_leaves_after_two_eras_without_increase_if_the_rate_did_not_grow() {
        let delayed = |eras, rate_before| {
            let mut rig = Rig::initial(1_000_000, 40_000);
            rig.set_initial(100_000, 9, eras);
            rig.c4.growth.rate_before = rate_before;
            rig.rtt(90_000); // over 40 000 and a threshold of 2 929
            rig.c4.phase
        };
        assert_eq!(delayed(2, 1_000_000), phases::RECOVERY);
        assert!(matches!(delayed(1, 1_000_000), Phase::Initial { .. }));
        assert!(matches!(delayed(2, 999_999), Phase::Initial { .. }));
    }

    #[test]
    fn no_delay_no_leave() {
        let mut rig = Rig::initial(1_000_000, 40_000);
        rig.set_initial(100_000, 9, 2);
        rig.c4.growth.rate_before = 1_000_000;
        rig.rtt(42_929); // just not above 40 000 + 2 929
        assert!(matches!(rig.c4.phase, Phase::Initial { .. }));
    }

    #[test]
    fn outputs_follow_every_rtt_sample_in_initial_also_one_that_ends_it() {
        let mut rig = Rig::initial(1_000_000, 40_000);
        rig.rtt(30_000);
        assert_eq!(rig.c4.cwnd(), 80_000); // 40 ms * 2 000 000
        rig.set_initial(100_000, 9, 2);
        rig.c4.growth.rate_before = 1_000_000;
        rig.rtt(90_000);
        // Recovery: nominal max RTT 50 000; pacing 937 500; 46 875 + 12.5 ms 11 718
        assert_eq!(rig.c4.cwnd(), 58_593);
    }

    #[test]
    fn ecn_leaves_under_the_same_conditions_as_a_delay() {
        let marked = |excess, eras, rate_before| {
            let mut rig = Rig::initial(1_000_000, 40_000);
            rig.set_initial(100_000, 9, eras);
            rig.c4.growth.rate_before = rate_before;
            rig.c4.rtt.excess = excess;
            rig.ecn(1, 1); // 512 > 102
            rig.c4.phase
        };
        assert_eq!(marked(1, 2, 1_000_000), phases::RECOVERY);
        assert!(matches!(marked(0, 2, 1_000_000), Phase::Initial { .. }));
        assert!(matches!(marked(1, 1, 1_000_000), Phase::Initial { .. }));
        assert!(matches!(marked(1, 2, 999_999), Phase::Initial { .. }));
    }

    #[test]
    fn outputs_wait_for_the_next_event_after_a_loss_or_ecn_that_ends_initial() {
        let mut rig = Rig::initial(20_000_000, 40_000);
        rig.c4.update_outputs(&rig.path);
        let before = rig.c4.outputs;
        rig.set_initial(20_000, 20, 0);
        rig.lose(10);
        assert_eq!((rig.c4.phase, rig.c4.outputs), (phases::RECOVERY, before));
        rig.ack(0);
        assert_ne!(rig.c4.outputs, before);

        let mut rig = Rig::initial(20_000_000, 40_000);
        rig.c4.update_outputs(&rig.path);
        let before = rig.c4.outputs;
        rig.set_initial(20_000, 20, 2);
        rig.c4.rtt.excess = 1;
        rig.ecn(1, 1); // 512 > 96
        assert_eq!((rig.c4.phase, rig.c4.outputs), (phases::RECOVERY, before));
        rig.ack(0);
        assert_ne!(rig.c4.outputs, before);
    }
}
