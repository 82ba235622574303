//! Resuming: careful resume (RFC 9959) from a saved window.

use crate::arithmetic::{micros, millions_per};
use crate::constants::{ALPHA_RESUMING, MAX_SAVED_WINDOW, RESUMING_ERAS};
use crate::{C4, Phase};
use cc_core::{CongestionController, PathState, ResumeHint};

impl C4 {
    /// Saved state became known: used at the first RTT sample, or at once if there was one.
    pub(crate) fn take_hint(&mut self, path: &PathState, hint: &ResumeHint) {
        if self.seeded {
            return;
        }
        match path.rtt {
            None => self.hint = Some(*hint),
            Some(rtt) => self.try_resume(path, hint, micros(rtt.min)),
        }
    }

    /// Compares the saved RTT with a sample and resumes if it is within a quarter of the sample, and C4 still in
    /// Initial (picoquic_validate_bdp_seed, `c4_seed_cwin`; RFC 9959 section on Reconnaissance).
    pub(crate) fn try_resume(&mut self, path: &PathState, hint: &ResumeHint, sample: u32) {
        let saved = micros(hint.rtt);
        let is_same_path = sample.abs_diff(saved) <= sample / 4;
        if !is_same_path || !matches!(self.phase, Phase::Initial { .. }) {
            return;
        }
        let window = hint.cwnd.min(MAX_SAVED_WINDOW);
        if window <= self.cwnd() {
            // RFC 9959 jumps up only. A smaller window would also be left upwards, by the first loss.
            return;
        }
        self.seeded = true;
        let smoothed = path.rtt.map_or(sample, |rtt| micros(rtt.smoothed));
        if self.rtt.nominal_max < smoothed {
            self.rtt.set_nominal_max(smoothed, self.nominal_rate);
        }
        self.enter_resuming(path, window, millions_per(window, u64::from(smoothed)));
        self.update_outputs(path);
    }

    /// `c4_enter_resuming`. The gain changes before the era starts: delays count, the RTT model is frozen.
    fn enter_resuming(&mut self, path: &PathState, window: u64, rate: u64) {
        self.alpha = ALPHA_RESUMING;
        self.eras_resuming = 0;
        self.phase = Phase::Resuming { window, rate };
        self.reset_growth();
        self.start_era(path);
    }

    /// `c4_on_resuming_ack`: the era counts only once the pipe is full.
    pub(crate) const fn resuming_on_ack(&mut self, path: &PathState) {
        if let Phase::Resuming { window, .. } = self.phase {
            let in_flight = path.bytes_in_flight.saturating_add(path.bytes_in_flight / 16);
            if in_flight < window {
                self.era.postpone(path);
            }
        }
    }

    /// `c4_on_resuming_era_end`.
    pub(crate) fn resuming_on_era_end(&mut self, path: &PathState) {
        self.eras_resuming = self.eras_resuming.saturating_add(1);
        if self.eras_resuming >= RESUMING_ERAS {
            self.enter_recovery(path, false);
        } else {
            self.start_era(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::tests::{Rig, phases};
    use crate::{C4, Config, Phase};
    use cc_core::{CongestionController, Duration, PacketSpace, ResumeHint, RttEvent};

    fn hint(cwnd: u64, rtt_us: u64) -> ResumeHint {
        ResumeHint { cwnd, rtt: Duration::from_micros(rtt_us) }
    }

    fn first_rtt(rig: &mut Rig, micros: u64, space: PacketSpace) {
        rig.smoothed(micros);
        let event = RttEvent {
            space,
            latest: Duration::from_micros(micros),
            is_sample: true,
            is_first: true,
            ..RttEvent::default()
        };
        rig.c4.on_rtt(&rig.path, &event);
    }

    /// Resumed from 600 000 B at an RTT of 100 ms.
    fn resumed() -> Rig {
        let mut rig = Rig::new();
        rig.path.rtt = None;
        rig.c4.eras_resuming = 1;
        rig.c4.on_resume_hint(&rig.path, &hint(600_000, 100_000));
        first_rtt(&mut rig, 100_000, PacketSpace::Application);
        rig
    }

    #[test]
    fn saved_rtt_must_be_within_a_quarter_of_the_first_sample() {
        // sample 100 000: 75 000 to 125 000
        for (saved, accepted) in [(74_999, false), (75_000, true), (125_000, true), (125_001, false)] {
            let mut rig = Rig::new();
            rig.path.rtt = None;
            rig.c4.on_resume_hint(&rig.path, &hint(600_000, saved));
            assert!(matches!(rig.c4.phase, Phase::Initial { .. }));
            first_rtt(&mut rig, 100_000, PacketSpace::Application);
            assert_eq!(matches!(rig.c4.phase, Phase::Resuming { .. }), accepted, "{saved}");
        }
    }

    #[test]
    fn entering_sets_window_rate_gain_and_model() {
        let rig = resumed();
        // 600 000 B / 0.1 s
        assert_eq!(rig.c4.phase, Phase::Resuming { window: 600_000, rate: 6_000_000 });
        assert_eq!((rig.c4.alpha, rig.c4.alpha_previous), (3_072, 3_072));
        assert_eq!((rig.c4.growth.alpha, rig.c4.eras_resuming), (3_072, 0));
        assert_eq!((rig.c4.rtt.nominal_max, rig.c4.era.sequence()), (100_000, rig.path.next_number));
        assert_eq!((rig.c4.cwnd(), rig.c4.outputs.pacing), (600_000, 6_000_000));
    }

    #[test]
    fn hint_of_the_configuration_is_used_too() {
        let mut rig = Rig::new();
        rig.c4 = C4::new(&Config { resume: Some(hint(600_000, 100_000)), ..Config::default() });
        first_rtt(&mut rig, 100_000, PacketSpace::Application);
        assert_eq!(rig.c4.cwnd(), 600_000);
    }

    #[test]
    fn first_sample_may_be_of_the_handshake() {
        let mut rig = Rig::new();
        rig.path.rtt = None;
        rig.path.handshake_ready = false;
        rig.c4.on_resume_hint(&rig.path, &hint(600_000, 100_000));
        first_rtt(&mut rig, 100_000, PacketSpace::Initial);
        assert_eq!(rig.c4.cwnd(), 600_000);
        // The sample itself was ignored, but the model is raised to the smoothed RTT; s = 0: 260/1024 of it is
        // 25 390, capped
        assert_eq!((rig.c4.rtt.running_min, rig.c4.rtt.nominal_max), (u32::MAX, 100_000));
        assert_eq!(rig.c4.rtt.delay_threshold, 25_000);
    }

    #[test]
    fn later_hint_is_compared_with_the_minimum_rtt_while_in_initial() {
        let late = |min, phase: Option<Phase>| {
            let mut rig = Rig::new();
            rig.smoothed(200_000);
            rig.min_rtt(min);
            if let Some(phase) = phase {
                rig.c4.phase = phase;
            }
            rig.c4.on_resume_hint(&rig.path, &hint(600_000, 100_000));
            rig.c4.phase
        };
        // The rate is that of the smoothed RTT.
        assert_eq!(late(100_000, None), Phase::Resuming { window: 600_000, rate: 3_000_000 });
        assert!(matches!(late(50_000, None), Phase::Initial { .. }));
        assert_eq!(late(100_000, Some(Phase::Cruising)), Phase::Cruising);
    }

    #[test]
    fn a_hint_is_used_once() {
        let mut rig = resumed();
        rig.min_rtt(100_000);
        rig.c4.enter_initial(&rig.path);
        rig.c4.on_resume_hint(&rig.path, &hint(900_000, 100_000));
        assert!(matches!(rig.c4.phase, Phase::Initial { .. }));
    }

    #[test]
    fn absurd_hints_are_clamped_or_ignored() {
        let window = |cwnd, rtt| {
            let mut rig = Rig::new();
            rig.path.rtt = None;
            rig.c4.on_resume_hint(&rig.path, &ResumeHint { cwnd, rtt });
            first_rtt(&mut rig, 100_000, PacketSpace::Application);
            let window = match rig.c4.phase {
                Phase::Resuming { window, .. } => window,
                _ => 0,
            };
            (rig.c4.cwnd(), window)
        };
        let rtt = Duration::from_millis(100);
        assert_eq!(window(0, rtt), (15_360, 0));
        // Not above the window in force: nothing to jump to.
        assert_eq!(window(1, rtt), (15_360, 0));
        assert_eq!(window(15_360, rtt), (15_360, 0));
        assert_eq!(window(15_361, rtt), (15_361, 15_361));
        assert_eq!(window(u64::MAX, rtt), (1 << 32, 1 << 32));
        assert_eq!(window(600_000, Duration::MAX), (15_360, 0));
        assert_eq!(window(600_000, Duration::ZERO), (15_360, 0));
    }

    #[test]
    fn era_counts_only_once_the_pipe_is_full() {
        let mut rig = resumed();
        // 564 705 + 564 705/16 = 564 705 + 35 294 = 599 999 < 600 000
        rig.path.bytes_in_flight = 564_705;
        rig.path.next_number += 100;
        rig.path.oldest_outstanding = Some(rig.path.next_number - 1);
        rig.ack(1_200);
        assert_eq!((rig.c4.era.sequence(), rig.c4.eras_resuming), (rig.path.next_number, 0));
        // 564 706 + 35 294 = 600 000: full
        let sequence = rig.c4.era.sequence();
        rig.path.bytes_in_flight = 564_706;
        rig.path.next_number += 100;
        rig.ack(1_200);
        assert_eq!((rig.c4.era.sequence(), rig.c4.eras_resuming), (sequence, 0));
    }

    #[test]
    fn second_era_with_a_full_pipe_leads_to_recovery_where_delays_still_count() {
        let mut rig = resumed();
        rig.path.bytes_in_flight = 600_000;
        rig.end_era();
        assert_eq!((rig.c4.eras_resuming, rig.c4.era.sequence()), (1, rig.path.next_number));
        assert!(matches!(rig.c4.phase, Phase::Resuming { .. }));
        rig.end_era();
        assert_eq!((rig.c4.phase, rig.c4.eras_resuming), (phases::RECOVERY, 2));
        assert_eq!((rig.c4.alpha, rig.c4.alpha_previous, rig.c4.growth.alpha), (960, 3_072, 3_072));
        let nominal_max = rig.c4.rtt.nominal_max;
        rig.end_era();
        assert_eq!(rig.c4.rtt.nominal_max, nominal_max, "the model is frozen in that Recovery too");
        assert_eq!(rig.c4.eras_resuming, 0);
    }

    #[test]
    fn congestion_in_resuming_reduces_and_leads_to_recovery() {
        let mut rig = resumed();
        rig.c4.nominal_rate = 1_000_000;
        rig.lose(10); // 0.0625 > 0.0498
        // s = 963: beta = (256 + 963 * 256/1024)/2 = (256 + 240)/2 = 248; 10^6 * 248/1024 = 242 187.5
        assert_eq!((rig.c4.phase, rig.c4.nominal_rate), (phases::RECOVERY, 757_813));
    }

    #[test]
    fn a_mark_before_the_first_rate_sample_falls_back_to_the_initial_window_and_keeps_the_rate_until_an_ack()
    {
        let mut rig = resumed();
        rig.ecn(1, 0);
        assert_eq!((rig.c4.phase, rig.c4.nominal_rate), (Phase::Recovery { excess_ce: true }, 0));
        assert_eq!((rig.c4.cwnd(), rig.c4.outputs.pacing), (15_360, 6_000_000));
        rig.ack(1_200);
        assert_eq!((rig.c4.cwnd(), rig.c4.pacing_rate()), (15_360, None));
    }
}
