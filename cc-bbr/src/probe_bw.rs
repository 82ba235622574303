//! ProbeBW (section 5.3.3): DOWN, CRUISE, REFILL and UP.

use crate::constants::{ONE, PROBE_WAIT, PROBE_WAIT_SPREAD, RENO_ROUNDS};
use crate::inflight_longterm::AckPhase;
use crate::sample::Sample;
use crate::{Bbr, State};
use cc_core::{AckEvent, Duration, Instant, PathState, Rate};

/// How long DOWN and CRUISE last together: a random time and a random number of rounds (section 5.3.3.8).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ProbeWait {
    /// `BBR.cycle_stamp`.
    since: Instant,
    /// `BBR.round_count` at the start, modulo 2^32, less what `BBR.rounds_since_probe_up` was then: 0 or 1.
    round: u32,
    /// `BBR.bw_probe_wait`, ns: 2 to 3 s.
    wait_nanos: u32,
}

impl ProbeWait {
    /// `BBR.cycle_stamp`: when the cycle began.
    #[must_use]
    pub const fn since(&self) -> Instant {
        self.since
    }

    /// `BBR.bw_probe_wait`: the time after which bandwidth is probed.
    #[must_use]
    pub const fn wait(&self) -> Duration {
        Duration::from_nanos(self.wait_nanos as u64)
    }

    /// `HasElapsedInPhase(BBR.bw_probe_wait)`.
    fn has_elapsed(&self, now: Instant) -> bool {
        now > self.since.after(self.wait())
    }

    /// `BBR.rounds_since_probe_up`.
    fn rounds(&self, round_count: u64) -> u64 {
        u64::from(low_bits(round_count).wrapping_sub(self.round))
    }
}

/// A count modulo 2^32: differences of less than that stay what they are.
fn low_bits(count: u64) -> u32 {
    u32::try_from(count & u64::from(u32::MAX)).unwrap_or(0)
}

impl Bbr {
    /// `EnterProbeBW()`.
    pub(crate) fn enter_probe_bw(&mut self, path: &PathState) {
        self.start_probe_bw_down(path);
    }

    /// `StartProbeBW_DOWN()`.
    pub(crate) fn start_probe_bw_down(&mut self, path: &PathState) {
        self.signals.reset();
        let wait = self.pick_probe_wait(path);
        self.long_term.ack_phase = AckPhase::ProbeStopping;
        self.start_round(path);
        self.state = State::ProbeBwDown(wait);
    }

    /// `StartProbeBW_CRUISE()`; the wait goes on.
    pub(crate) const fn start_probe_bw_cruise(&mut self, wait: ProbeWait) {
        self.state = State::ProbeBwCruise(wait);
    }

    /// `StartProbeBW_REFILL()`.
    pub(crate) const fn start_probe_bw_refill(&mut self, path: &PathState) {
        self.bounds.reset_short_term();
        self.long_term.prev_probe_precautionary = false;
        self.long_term.ack_phase = AckPhase::Refilling;
        self.start_round(path);
        self.state = State::ProbeBwRefill;
    }

    /// `StartProbeBW_UP()`.
    fn start_probe_bw_up(&mut self, path: &PathState, rate: Rate) {
        self.long_term.ack_phase = AckPhase::ProbeStarting;
        self.start_round(path);
        self.full_bw.reset(rate);
        self.state = State::ProbeBwUp { rounds: 0, acked: 0, acked_per_increase: 0 };
        self.raise_inflight_longterm_slope();
    }

    /// `UpdateProbeBWCyclePhase()`.
    pub(crate) fn update_probe_bw_cycle_phase(&mut self, path: &PathState, ack: &AckEvent<'_>, rs: &Sample) {
        if !self.full_bw.reached || self.adapt_long_term_model(path, rs) {
            return;
        }
        match self.state {
            State::ProbeBwDown(wait) => {
                if self.is_time_to_probe_bw(path, &wait) {
                    self.start_probe_bw_refill(path);
                } else if self.is_time_to_cruise(path) {
                    self.start_probe_bw_cruise(wait);
                }
            }
            State::ProbeBwCruise(wait) => {
                if self.is_time_to_probe_bw(path, &wait) {
                    self.start_probe_bw_refill(path);
                }
            }
            State::ProbeBwRefill => {
                if rs.round_start {
                    self.long_term.is_bw_probe_sample = true;
                    self.start_probe_bw_up(path, rs.delivery_rate);
                }
            }
            State::ProbeBwUp { .. } => {
                if self.is_time_to_go_down(path, ack, rs) {
                    self.long_term.prev_probe_too_high = false;
                    self.start_probe_bw_down(path);
                }
            }
            State::Startup | State::Drain { .. } | State::ProbeRtt { .. } => {}
        }
    }

    /// `IsTimeToProbeBW()`.
    fn is_time_to_probe_bw(&self, path: &PathState, wait: &ProbeWait) -> bool {
        wait.has_elapsed(path.now) || self.is_reno_coexistence_probe_time(wait)
    }

    /// `IsRenoCoexistenceProbeTime()`: as many rounds as Reno would need to grow by what is in flight. The flight is counted
    /// in datagrams, and at least the minimal one is wanted in it.
    fn is_reno_coexistence_probe_time(&self, wait: &ProbeWait) -> bool {
        let wanted = self.target_inflight().max(self.settings.min_pipe_cwnd());
        let reno_rounds = wanted.checked_div(self.settings.datagram()).unwrap_or(RENO_ROUNDS);
        wait.rounds(self.round.count) >= reno_rounds.min(RENO_ROUNDS)
    }

    /// `PickProbeWait()`.
    fn pick_probe_wait(&mut self, path: &PathState) -> ProbeWait {
        let head_start = self.random.bit();
        let wait = PROBE_WAIT.plus(self.random.below(PROBE_WAIT_SPREAD));
        let wait_nanos = u32::try_from(wait.as_nanos()).unwrap_or(u32::MAX);
        ProbeWait { since: path.now, round: low_bits(self.round.count.wrapping_sub(head_start)), wait_nanos }
    }

    /// `TargetInflight()`: the estimated BDP, unless congestion cut the window.
    pub(crate) fn target_inflight(&self) -> u64 {
        self.bdp().min(self.cwnd)
    }

    /// `IsTimeToCruise()`.
    fn is_time_to_cruise(&self, path: &PathState) -> bool {
        path.bytes_in_flight <= self.inflight_with_headroom()
            && path.bytes_in_flight <= self.inflight(self.max_bw.get(), ONE)
    }

    /// `IsTimeToGoDown()`.
    fn is_time_to_go_down(&mut self, path: &PathState, ack: &AckEvent<'_>, rs: &Sample) -> bool {
        // Section 5.3.3.6, deceleration.
        if self.long_term.prev_probe_too_high && self.has_reached_inflight_longterm(path, ack) {
            self.long_term.prev_probe_precautionary = true;
            return true;
        }
        if self.cwnd_limited.get() && self.cwnd >= self.bounds.inflight_longterm {
            // The bound, not the path, limits the bandwidth.
            self.full_bw.reset(rs.delivery_rate);
            return false;
        }
        self.full_bw.now
    }
}

#[cfg(test)]
mod tests {
    use crate::sample::Sample;
    use crate::tests::{cruising, later, ms, path, probing, rate, sample};
    use crate::{Bbr, State};
    use cc_core::{AckEvent, Duration, PathState, SendLimit};

    const ACK: AckEvent<'static> = AckEvent {
        packets: &[],
        last: true,
        rate_sample: None,
        limited_by: SendLimit::Unknown,
        max_bytes_in_flight: 0,
        app_limited_at: None,
        newest_data_sent_at: None,
    };

    fn update(bbr: &mut Bbr, path: &PathState, rs: &Sample) {
        bbr.update_probe_bw_cycle_phase(path, &ACK, rs);
    }

    fn wait(bbr: &Bbr) -> super::ProbeWait {
        match bbr.state {
            State::ProbeBwDown(wait) | State::ProbeBwCruise(wait) => wait,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn bandwidth_is_probed_after_two_to_three_seconds() {
        // 100 packets of BDP and more: no Reno flow would be faster.
        let mut bbr = cruising(10_000_000, 40);
        let span = wait(&bbr).wait();
        assert!((ms(2_000)..ms(3_000)).contains(&span), "{span:?}");
        let rs = Sample { round_start: false, ..sample(10_000_000) };
        update(&mut bbr, &later(&path(), span), &rs);
        assert!(matches!(bbr.state, State::ProbeBwCruise(_)));
        update(&mut bbr, &later(&path(), span.plus(Duration::from_nanos(1))), &rs);
        assert_eq!(bbr.state, State::ProbeBwRefill);
    }

    #[test]
    fn waits_differ_from_probe_to_probe() {
        let mut bbr = cruising(10_000_000, 40);
        let mut waits = std::collections::BTreeSet::new();
        let mut head_starts = 0;
        for _ in 0..100 {
            bbr.start_probe_bw_down(&path());
            waits.insert(wait(&bbr).wait());
            head_starts += wait(&bbr).rounds(bbr.round.count);
        }
        assert_eq!(waits.len(), 100);
        assert!((30..70).contains(&head_starts), "{head_starts}");
    }

    #[test]
    fn reno_coexistence_counts_rounds_by_the_packets_of_the_bdp() {
        // BDP in bytes, window, rounds: 12 000 B are 10 packets; a cut window counts instead; 63 at most; 4 at least.
        for (bdp, cwnd, rounds) in
            [(12_000, 24_000, 10), (12_000, 7_200, 6), (1_200_000, 2_400_000, 63), (80, 4_800, 4)]
        {
            let mut bbr = cruising(bdp * 25, 40);
            assert_eq!(bbr.bdp(), bdp);
            bbr.cwnd = cwnd;
            let wait = wait(&bbr);
            bbr.round.count += rounds - wait.rounds(bbr.round.count) - 1;
            assert!(!bbr.is_reno_coexistence_probe_time(&wait), "{bdp}");
            bbr.round.count += 1;
            assert!(bbr.is_reno_coexistence_probe_time(&wait), "{bdp}");
        }
    }

    #[test]
    fn cruise_begins_with_headroom_and_without_a_queue() {
        // BDP 400 000; 0.85 * inflight_longterm = 382 500
        let mut bbr = cruising(10_000_000, 40);
        bbr.start_probe_bw_down(&path());
        bbr.bounds.inflight_longterm = 450_000;
        let rs = Sample { round_start: false, ..sample(10_000_000) };
        update(&mut bbr, &PathState { bytes_in_flight: 382_501, ..path() }, &rs);
        assert!(matches!(bbr.state, State::ProbeBwDown(_)));
        update(&mut bbr, &PathState { bytes_in_flight: 382_500, ..path() }, &rs);
        assert!(matches!(bbr.state, State::ProbeBwCruise(_)));

        // The BDP of max_bw, whatever the short-term bound makes of it.
        bbr.start_probe_bw_down(&path());
        bbr.bounds.inflight_longterm = 4_000_000;
        bbr.bounds.bw_shortterm = rate(1_000_000);
        bbr.bound_bw_for_model();
        update(&mut bbr, &PathState { bytes_in_flight: 400_001, ..path() }, &rs);
        assert!(matches!(bbr.state, State::ProbeBwDown(_)));
        update(&mut bbr, &PathState { bytes_in_flight: 400_000, ..path() }, &rs);
        assert!(matches!(bbr.state, State::ProbeBwCruise(_)));
    }

    #[test]
    fn refill_forgets_the_short_term_and_lasts_a_round() {
        let mut bbr = cruising(10_000_000, 40);
        bbr.bounds.bw_shortterm = rate(5);
        bbr.bounds.inflight_shortterm = 5;
        bbr.start_probe_bw_refill(&path());
        assert_eq!((bbr.bw_shortterm(), bbr.inflight_shortterm()), (None, None));
        update(&mut bbr, &path(), &Sample { round_start: false, ..sample(9_000_000) });
        assert_eq!(bbr.state, State::ProbeBwRefill);
        update(&mut bbr, &path(), &sample(9_000_000));
        assert!(matches!(bbr.state, State::ProbeBwUp { rounds: 1, acked: 0, .. }));
        assert_eq!(bbr.full_bw.bw, rate(9_000_000));
        assert!(bbr.long_term.is_bw_probe_sample);
    }

    #[test]
    fn limited_samples_of_refill_lower_no_estimate() {
        // Step 3 of "Handling Application-Limited Sending During PROBE_REFILL", with a filter that has lost all it saw.
        let mut bbr = cruising(10_000_000, 40);
        bbr.start_probe_bw_refill(&path());
        bbr.max_bw.advance();
        bbr.max_bw.advance();
        for round_start in [false, true] {
            let limited = Sample { is_app_limited: true, round_start, ..sample(2_500_000) };
            bbr.update_max_bw(&path(), &mut limited.clone());
            update(&mut bbr, &path(), &limited);
            assert_eq!(bbr.max_bw(), rate(10_000_000));
        }
        assert!(matches!(bbr.state, State::ProbeBwUp { .. }));
    }

    #[test]
    fn refill_up_and_down_begin_a_round_each() {
        let start: [fn(&mut Bbr, &PathState); 3] = [
            |bbr, path| bbr.start_probe_bw_refill(path),
            |bbr, path| bbr.start_probe_bw_up(path, rate(1)),
            |bbr, path| bbr.start_probe_bw_down(path),
        ];
        for start in start {
            let mut bbr = cruising(10_000_000, 40);
            start(&mut bbr, &PathState { delivered: 1_050_000, ..path() });
            let rounds = bbr.round_count();
            // What was sent before does not end it, what was sent with all of that delivered does.
            for (prior, ended) in [(1_049_999, 0), (1_050_000, 1)] {
                let mut rs = Sample { prior_delivered: Some(prior), round_start: false, ..sample(1) };
                bbr.update_round(&PathState { delivered: 1_100_000, ..path() }, &mut rs);
                assert_eq!((rs.round_start, bbr.round_count()), (ended == 1, rounds + ended));
            }
        }
    }

    #[test]
    fn down_begins_with_no_signals_of_congestion() {
        let mut bbr = cruising(10_000_000, 40);
        bbr.signals.is_loss_in_round = true;
        bbr.signals.bw_latest = rate(9_000_000);
        bbr.signals.inflight_latest = 300_000;
        bbr.start_probe_bw_down(&path());
        // The round of losses ends in DOWN: those of the probe lower no bound.
        let mut rs = Sample { loss_round_start: true, ..sample(1) };
        bbr.update_congestion_signals(&path(), &mut rs);
        assert_eq!((bbr.bw_shortterm(), bbr.inflight_shortterm()), (None, None));
        assert_eq!((bbr.signals.bw_latest, bbr.signals.inflight_latest), (rate(0), 0));
    }

    #[test]
    fn a_probe_ends_with_a_full_pipe() {
        let mut bbr = probing(10_000_000, 40);
        let rs = Sample { round_start: false, ..sample(10_000_000) };
        update(&mut bbr, &path(), &rs);
        assert!(matches!(bbr.state, State::ProbeBwUp { .. }));
        bbr.full_bw.set_full();
        update(&mut bbr, &path(), &rs);
        assert!(matches!(bbr.state, State::ProbeBwDown(_)));
        assert!(!bbr.long_term.prev_probe_too_high);
    }

    #[test]
    fn the_estimator_starts_again_where_inflight_longterm_is_the_limit() {
        let mut bbr = probing(10_000_000, 40);
        bbr.bounds.inflight_longterm = bbr.cwnd;
        bbr.full_bw.set_full();
        let full = PathState { bytes_in_flight: bbr.cwnd, ..path() };
        bbr.note_cwnd_use(&full);
        update(&mut bbr, &path(), &Sample { round_start: false, ..sample(8_000_000) });
        assert!(matches!(bbr.state, State::ProbeBwUp { .. }));
        assert_eq!((bbr.full_bw.now, bbr.full_bw.bw), (false, rate(8_000_000)));
    }

    #[test]
    fn a_probe_after_one_that_was_too_high_stops_at_its_level_and_is_followed_by_another() {
        let mut bbr = probing(10_000_000, 40);
        bbr.bounds.inflight_longterm = 500_000;
        bbr.long_term.prev_probe_too_high = true;
        let rs = Sample { round_start: false, ..sample(10_000_000) };
        // One more datagram fits.
        update(&mut bbr, &PathState { prior_bytes_in_flight: 498_800, ..path() }, &rs);
        assert!(matches!(bbr.state, State::ProbeBwUp { .. }));
        update(&mut bbr, &PathState { prior_bytes_in_flight: 498_801, ..path() }, &rs);
        assert!(matches!(bbr.state, State::ProbeBwDown(_)));
        assert!(bbr.long_term.prev_probe_precautionary && !bbr.long_term.prev_probe_too_high);
        // A round of feedback without too many losses: refill and probe at once.
        update(&mut bbr, &path(), &sample(10_000_000));
        assert_eq!(bbr.state, State::ProbeBwRefill);
        assert!(!bbr.long_term.prev_probe_precautionary);
    }

    #[test]
    fn a_precautionary_probe_that_loses_too_much_is_not_followed_by_another() {
        let mut bbr = probing(10_000_000, 40);
        bbr.bounds.inflight_longterm = 500_000;
        bbr.long_term.prev_probe_too_high = true;
        let rs = Sample { round_start: false, ..sample(10_000_000) };
        update(
            &mut bbr,
            &PathState { prior_bytes_in_flight: 500_000, bytes_in_flight: 450_000, ..path() },
            &rs,
        );
        bbr.handle_inflight_too_high(&path(), 450_000, false);
        let queued = PathState { bytes_in_flight: 450_000, ..path() };
        update(&mut bbr, &queued, &sample(10_000_000));
        assert!(matches!(bbr.state, State::ProbeBwDown(_)));
    }

    #[test]
    fn the_filter_advances_once_a_cycle_unless_limited() {
        for (limited, expected) in [(false, 9_000_000), (true, 10_000_000)] {
            let mut bbr = cruising(10_000_000, 40);
            bbr.start_probe_bw_down(&path());
            let rs = Sample { is_app_limited: limited, ..sample(10_000_000) };
            update(&mut bbr, &path(), &rs);
            bbr.start_probe_bw_down(&path());
            update(&mut bbr, &path(), &rs);
            // Two cycles are over, if they count: the next sample is the largest.
            bbr.update_max_bw(&path(), &mut sample(9_000_000));
            assert_eq!(bbr.max_bw(), rate(expected));
        }
    }
}
