//! The state that a reduction replaces and an undo restores (RFC 9438 sections 4.6, 4.7 and 4.9.2).

use crate::bytes::FineBytes;
use crate::config::Settings;
use crate::curve::{time_to_plateau, w_cubic};
use cc_core::{Duration, Instant, division};

/// "Arbitrarily high" slow-start threshold (RFC 9002 appendix B.3).
pub(crate) const INFINITE: u64 = u64::MAX;

/// `beta_cubic` = 0.7 (RFC 9438 section 4.6), in thousandths.
const BETA_LOSS: u64 = 700;
/// `beta_ecn` = 0.85 for CUBIC (RFC 8511 section 3), in thousandths.
const BETA_ECN: u64 = 850;
/// One, in thousandths.
const ONE: u64 = 1_000;

/// What made the sender reduce its window.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Signal {
    Loss,
    Ce,
}

/// Everything that one congestion event changes: undo is a copy of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct State {
    /// `cwnd`.
    pub(crate) cwnd: FineBytes,
    /// `ssthresh` in bytes, or [`INFINITE`].
    pub(crate) ssthresh: u64,
    /// `W_max` in bytes: the plateau of the running stage or of the next; 0 in the initial slow start.
    pub(crate) w_max: u64,
    /// `cwnd_prior` in bytes: the window when the threshold was last set.
    pub(crate) cwnd_prior: u64,
    pub(crate) phase: Phase,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Phase {
    SlowStart,
    /// From a reduction until a packet sent after it is acked (RFC 9002 section 7.3.2).
    Recovery,
    Avoidance(Stage),
}

/// A congestion avoidance stage.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Stage {
    /// `t_epoch`, moved later by the time that does not count.
    pub(crate) epoch: Instant,
    /// `K`.
    pub(crate) k: Duration,
    /// `W_est`.
    pub(crate) w_est: FineBytes,
    /// Whether slow start ended when the stage began, and `epoch` was not moved since.
    pub(crate) after_slow_start: bool,
}

impl State {
    pub(crate) fn initial(settings: &Settings) -> Self {
        Self {
            cwnd: FineBytes::new(settings.initial_window()),
            ssthresh: INFINITE,
            w_max: 0,
            cwnd_prior: 0,
            phase: Phase::SlowStart,
        }
    }

    /// Whether slow start is the first one, with no threshold yet.
    pub(crate) fn in_initial_slow_start(&self) -> bool {
        self.phase == Phase::SlowStart && self.ssthresh == INFINITE
    }

    /// Whether the window is that of a slow start: also if acks of the frame that arrives `now` ended it.
    fn is_of_slow_start(&self, now: Instant) -> bool {
        match self.phase {
            Phase::SlowStart => true,
            Phase::Recovery => false,
            Phase::Avoidance(stage) => stage.after_slow_start && stage.epoch == now,
        }
    }

    /// Multiplicative decrease; a recovery period begins.
    pub(crate) fn reduce(&mut self, signal: Signal, now: Instant, settings: &Settings) {
        let beta = match signal {
            // RFC 8511 is about congestion avoidance: in slow start the window may be twice what the path carries.
            Signal::Ce if settings.abe && !self.is_of_slow_start(now) => BETA_ECN,
            Signal::Ce | Signal::Loss => BETA_LOSS,
        };
        let cwnd = self.cwnd.whole();
        // RFC 9438 section 4.7, before the reduction; the window itself is not reduced further.
        self.w_max = if settings.fast_convergence && cwnd < self.w_max {
            share(cwnd, beta.saturating_add(ONE) / 2)
        } else {
            cwnd
        };
        // RFC 9438 section 4.6.
        self.cwnd_prior = cwnd;
        self.ssthresh = share(cwnd, beta).max(settings.min_window());
        self.cwnd = FineBytes::new(self.ssthresh);
        self.phase = Phase::Recovery;
    }

    /// Takes a window that was just reduced, with its threshold, down to `most`.
    pub(crate) fn limit_reduced(&mut self, most: FineBytes) {
        if self.cwnd > most {
            self.cwnd = most;
            self.ssthresh = most.whole();
        }
    }

    /// Starts the stage that follows a recovery period.
    pub(crate) fn start_stage(&mut self, now: Instant, settings: &Settings) {
        // A plateau below the window (at the minimum window) would give a negative K: the curve starts on it.
        self.w_max = self.w_max.max(self.cwnd.whole());
        let k = time_to_plateau(self.w_max, self.cwnd.whole(), settings.datagram());
        self.phase = Phase::Avoidance(Stage { epoch: now, k, w_est: self.cwnd, after_slow_start: false });
    }

    /// Starts a stage that no reduction precedes: after slow start (RFC 9438 sections 4.8 and 4.10).
    pub(crate) fn start_flat_stage(&mut self, now: Instant, settings: &Settings) {
        self.w_max = self.cwnd.whole();
        self.start_stage(now, settings);
        if let Phase::Avoidance(stage) = &mut self.phase {
            stage.after_slow_start = true;
        }
    }

    /// Leaves the initial slow start without congestion (RFC 9438 section 4.10, RFC 9406 section 4.2).
    pub(crate) fn exit_slow_start(&mut self, now: Instant, settings: &Settings) {
        self.ssthresh = self.cwnd.whole();
        self.cwnd_prior = self.cwnd.whole();
        self.start_flat_stage(now, settings);
    }

    /// Persistent congestion: the minimum window, and slow start up to the threshold that the reduction set
    /// (RFC 9002 section 7.6.2, RFC 9438 section 4.8).
    pub(crate) fn collapse(&mut self, settings: &Settings) {
        self.cwnd = FineBytes::new(settings.min_window());
        self.phase = Phase::SlowStart;
    }

    /// `W_cubic(t)` of a running stage.
    pub(crate) fn w_cubic(&self, stage: &Stage, t: Duration, datagram: u64) -> FineBytes {
        w_cubic(self.w_max, stage.k, datagram, t)
    }

    /// Makes a span that ends `now` not count for the running stage.
    pub(crate) fn skip_time(&mut self, span: Duration, now: Instant) {
        if let Phase::Avoidance(stage) = &mut self.phase {
            let epoch = stage.epoch.after(span).min(now.max(stage.epoch));
            stage.after_slow_start &= epoch == stage.epoch;
            stage.epoch = epoch;
        }
    }

    /// The datagram size changed in the handshake (RFC 9002 section 7.2): a smaller one, found in order to finish it, takes
    /// the window down to the new initial window, in every phase; a larger one raises a window that is still the
    /// initial one. Returns whether the window changed.
    pub(crate) fn change_initial_window(&mut self, old: &Settings, new: &Settings) -> bool {
        let initial = FineBytes::new(new.initial_window());
        let follows = if new.datagram() < old.datagram() {
            self.cwnd > initial
        } else {
            self.in_initial_slow_start() && self.cwnd == FineBytes::new(old.initial_window())
        };
        if follows {
            self.cwnd = initial;
        }
        follows
    }

    /// The unit of the curve changed: a running stage goes on from the current window.
    pub(crate) fn change_unit(&mut self, now: Instant, settings: &Settings) {
        self.cwnd = FineBytes::new(self.cwnd.whole().max(settings.min_window())).max(self.cwnd);
        if let Phase::Avoidance(Stage { w_est, .. }) = self.phase {
            self.start_stage(now, settings);
            if let Phase::Avoidance(stage) = &mut self.phase {
                stage.w_est = w_est.min(self.cwnd);
            }
        }
    }
}

/// `bytes * thousandths / 1000`, rounded down. `bytes` is at most 2^40.
const fn share(bytes: u64, thousandths: u64) -> u64 {
    division::by_thousand(bytes.saturating_mul(thousandths))
}

#[cfg(test)]
mod tests {
    use super::{Phase, Signal, Stage, State};
    use crate::bytes::FineBytes;
    use crate::config::{Config, MAX_WINDOW, Settings};
    use cc_core::{Duration, Instant};

    fn state(cwnd: u64, w_max: u64) -> (State, Settings) {
        let settings = Settings::new(&Config::default());
        (State { cwnd: FineBytes::new(cwnd), w_max, ..State::initial(&settings) }, settings)
    }

    #[test]
    fn fast_convergence_touches_w_max_only() {
        // bugs.md C19: W_max = 9600 * 0.85 = 8160; cwnd = ssthresh = 9600 * 0.7 = 6720; cwnd_prior = 9600.
        let (mut state, settings) = state(9_600, 14_400);
        state.reduce(Signal::Loss, Instant::ZERO, &settings);
        assert_eq!((state.w_max, state.cwnd.whole(), state.ssthresh), (8_160, 6_720, 6_720));
        assert_eq!(state.cwnd_prior, 9_600);
        assert_eq!(state.phase, Phase::Recovery);
    }

    #[test]
    fn a_mark_uses_its_own_factor_in_fast_convergence() {
        // 9600 * (1 + 0.85) / 2 = 8880; 9600 * 0.85 = 8160.
        let (mut state, settings) = state(9_600, 14_400);
        state.start_stage(Instant::ZERO, &settings);
        state.reduce(Signal::Ce, Instant::ZERO, &settings);
        assert_eq!((state.w_max, state.cwnd.whole()), (8_880, 8_160));
    }

    #[test]
    fn a_mark_in_slow_start_uses_the_factor_of_a_loss() {
        // 9600 * (1 + 0.7) / 2 = 8160; 9600 * 0.7 = 6720.
        let (mut state, settings) = state(9_600, 14_400);
        state.reduce(Signal::Ce, Instant::ZERO, &settings);
        assert_eq!((state.w_max, state.cwnd.whole()), (8_160, 6_720));
    }

    #[test]
    fn a_window_at_w_max_remembers_itself() {
        // RFC 9438 section 4.7: only cwnd < W_max is lowered.
        let (mut state, settings) = state(9_600, 9_600);
        state.reduce(Signal::Loss, Instant::ZERO, &settings);
        assert_eq!(state.w_max, 9_600);
    }

    #[test]
    fn a_plateau_below_the_window_is_raised_to_it() {
        // 2700 below W_max 3000: W_max = 2700 * 0.85 = 2295, but the window stays at the minimum of 2400.
        let (mut state, settings) = state(2_700, 3_000);
        state.reduce(Signal::Loss, Instant::ZERO, &settings);
        assert_eq!((state.w_max, state.cwnd.whole()), (2_295, 2_400));
        state.start_stage(Instant::ZERO, &settings);
        assert_eq!(state.w_max, 2_400);
        let stage =
            Stage { epoch: Instant::ZERO, k: Duration::ZERO, w_est: state.cwnd, after_slow_start: false };
        assert_eq!(state.phase, Phase::Avoidance(stage));
    }

    #[test]
    fn large_windows_are_reduced_exactly() {
        // bugs.md A6: the products pass 2^32 on the way.
        for cwnd in [252_645_136, 613_566_757, 1 << 32, MAX_WINDOW] {
            let (mut state, settings) = state(cwnd, 0);
            state.reduce(Signal::Loss, Instant::ZERO, &settings);
            assert_eq!(state.cwnd.whole(), cwnd / 10 * 7 + cwnd % 10 * 7 / 10);
        }
    }
}
