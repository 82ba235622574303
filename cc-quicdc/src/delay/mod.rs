//! The delay signal: when a queue is one, whose queue it is, and the limit that it sets to the window.

mod learned;
mod mode;

pub(crate) use mode::{Mode, Threshold, burst, burst_bytes};

use crate::config::DelayMode;
use crate::measures::older;
use cc_core::{AdditiveIncrease, Duration, Instant, OneWayDelay};

/// Consecutive samples whose minimum is the signal, at least: a single one may be a spike.
const MIN_SAMPLES: u8 = 3;

/// Reactions through which a queue may stand before it counts as foreign.
const FOREIGN_AFTER: u8 = 3;

/// How long a foreign queue is let alone before one more reaction is tried: "every few seconds" at first, and twice as long each
/// time that it was in vain, since each try costs the sender a part of its window.
const RETRY_AFTER_MS: u16 = 5_000;

/// Doublings of it: up to 40 s.
const MAX_DOUBLINGS: u8 = 3;

/// No limit.
const UNLIMITED: u64 = u64::MAX;

/// What delay makes of the window. It never raises a window: the limit is applied as a minimum.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Delay {
    /// Largest window in bytes that delay allows, or [`UNLIMITED`].
    limit: u64,
    increase: AdditiveIncrease,
    /// The last reaction, to delay, loss or mark, if there was one. Packets sent until then say nothing new.
    reacted_at: Instant,
    has_reacted: bool,
    pub(crate) estimator: OneWayDelay,
    mode: Mode,
    /// Bytes acked by the running row of samples above the threshold.
    run_bytes: u32,
    reactions: u32,
    run_samples: u8,
    queue: Queue,
    /// Whether the queue was not seen drained since the last reaction.
    awaits_drain: bool,
}

/// Whose queue it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Queue {
    /// Ours, as far as can be told. It stood through so many reactions.
    Ours { undrained: u8 },
    /// It stood through three reactions: somebody else's.
    Foreign {
        /// Since it was found out, or since the last try.
        age_ms: u16,
        tries: u8,
    },
}

/// What a signal calls for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Reaction {
    /// As to loss: all that the path was not measured to hold.
    Full,
    /// The same, but no more than half of the window: the queue did not drain after the last reaction, so that it may be somebody
    /// else's. What is measured while it stands falls with the window, and would take it to its floor.
    AtMostHalf,
}

/// A sample of the queueing delay.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    pub(crate) sent_at: Instant,
    /// Bytes that it stands for.
    pub(crate) bytes: u64,
    pub(crate) queue: Duration,
}

impl Delay {
    pub(crate) const fn new(mode: DelayMode) -> Self {
        Self {
            limit: UNLIMITED,
            increase: AdditiveIncrease::new(),
            reacted_at: Instant::ZERO,
            has_reacted: false,
            estimator: OneWayDelay::new(),
            mode: Mode::new(mode),
            run_bytes: 0,
            reactions: 0,
            run_samples: 0,
            queue: Queue::Ours { undrained: 0 },
            awaits_drain: false,
        }
    }

    /// The window that is left of one of `cwnd` bytes.
    pub(crate) fn limited(&self, cwnd: u64) -> u64 {
        cwnd.min(self.limit)
    }

    /// Whether there is a limit.
    pub(crate) const fn is_limiting(&self) -> bool {
        self.limit != UNLIMITED
    }

    /// Reactions to delay so far.
    pub(crate) const fn reactions(&self) -> u32 {
        self.reactions
    }

    /// Whether the queue is somebody else's, so that delay is let alone.
    pub(crate) const fn is_foreign(&self) -> bool {
        matches!(self.queue, Queue::Foreign { .. })
    }

    pub(crate) const fn mode(&self) -> &Mode {
        &self.mode
    }

    /// An RTT sample.
    pub(crate) fn on_rtt(&mut self, rtt: Duration) {
        self.mode.on_rtt(rtt);
    }

    /// The minimum RTT, perhaps a new one.
    pub(crate) fn on_min_rtt(&mut self, min_rtt: Duration) {
        self.mode.on_min_rtt(min_rtt);
    }

    /// A sample. Samples that stand for `least_run` bytes, all above the threshold, are a signal. Returns how the sender is to react,
    /// if it is.
    pub(crate) fn on_sample(
        &mut self,
        now: Instant,
        sample: Sample,
        threshold: Option<Threshold>,
        least_run: u64,
    ) -> Option<Reaction> {
        self.mode.on_queue(sample.queue);
        let threshold = threshold.filter(|_| self.is_news(sample.sent_at))?;
        if sample.queue < threshold.drained {
            self.queue = Queue::Ours { undrained: 0 };
            if core::mem::replace(&mut self.awaits_drain, false) {
                self.estimator.on_drained(now);
            }
        }
        if sample.queue <= threshold.signal {
            self.end_run();
            return None;
        }
        self.run_samples = self.run_samples.saturating_add(1);
        let bytes = u32::try_from(sample.bytes).unwrap_or(u32::MAX);
        self.run_bytes = self.run_bytes.saturating_add(bytes);
        let least_run = u32::try_from(least_run).unwrap_or(u32::MAX);
        let is_signal =
            self.mode.takes_one_sample() || self.run_samples >= MIN_SAMPLES && self.run_bytes >= least_run;
        if is_signal { self.take_blame() } else { None }
    }

    /// The queue stands above the threshold: reacts if it may be ours.
    fn take_blame(&mut self) -> Option<Reaction> {
        match self.queue {
            Queue::Ours { undrained } if undrained < FOREIGN_AFTER => {
                self.queue = Queue::Ours { undrained: undrained.saturating_add(1) };
                Some(if undrained == 0 { Reaction::Full } else { Reaction::AtMostHalf })
            }
            Queue::Ours { .. } => {
                self.queue = Queue::Foreign { age_ms: 0, tries: 0 };
                None
            }
            Queue::Foreign { age_ms, tries } if age_ms >= retry_after(tries) => {
                self.queue = Queue::Foreign { age_ms: 0, tries: tries.saturating_add(1) };
                Some(Reaction::AtMostHalf)
            }
            Queue::Foreign { .. } => None,
        }
    }

    /// The reaction to delay: the window is at most `target` bytes now.
    pub(crate) fn react(&mut self, now: Instant, target: u64) {
        self.limit = self.limit.min(target);
        self.reactions = self.reactions.saturating_add(1);
        self.note_reaction(now);
    }

    /// Packets were lost or marked, of which the newest was sent at `sent_at`; `target` is what they reduce the
    /// window to. Those sent before the last reaction are ignored.
    pub(crate) fn on_congestion(&mut self, now: Instant, sent_at: Instant, target: u64, burst: Duration) {
        if !self.is_news(sent_at) {
            return;
        }
        self.mode.on_congestion(burst);
        if self.is_limiting() {
            self.limit = self.limit.min(target);
        }
        self.note_reaction(now);
    }

    fn note_reaction(&mut self, now: Instant) {
        self.increase.restart();
        self.reacted_at = now;
        self.has_reacted = true;
        self.awaits_drain = true;
        self.end_run();
    }

    fn end_run(&mut self) {
        self.run_samples = 0;
        self.run_bytes = 0;
    }

    /// Whether a packet was sent after the last reaction.
    pub(crate) fn is_news(&self, sent_at: Instant) -> bool {
        !self.has_reacted || sent_at > self.reacted_at
    }

    /// `bytes` of packets sent after the last reaction were acked, and the window was used: one datagram for each
    /// window, up to `limit`.
    pub(crate) fn grow(&mut self, bytes: u64, datagram: u64, limit: u64) {
        if self.is_limiting() {
            self.limit = self.increase.grow(self.limit, bytes, datagram, limit);
        }
    }

    /// An interval of the bandwidth estimate ended: a round trip, and at least 50 ms.
    pub(crate) fn on_interval(&mut self, elapsed: Duration) {
        self.mode.on_interval(elapsed);
        if let Queue::Foreign { age_ms, .. } = &mut self.queue {
            *age_ms = older(*age_ms, elapsed);
        }
    }

    /// A limit that the window does not reach any more is none.
    pub(crate) fn drop_idle_limit(&mut self, cwnd: u64) {
        if self.limit >= cwnd {
            self.limit = UNLIMITED;
        }
    }

    /// A new network path: everything starts again, and packets sent so far say nothing.
    pub(crate) fn on_new_path(&mut self, now: Instant) {
        *self = Self {
            reacted_at: now,
            has_reacted: true,
            mode: self.mode.restarted(),
            reactions: self.reactions,
            ..Self::new(DelayMode::Threshold)
        };
    }
}

/// How long to wait after so many tries.
fn retry_after(tries: u8) -> u16 {
    RETRY_AFTER_MS.saturating_mul(1_u16.checked_shl(u32::from(tries.min(MAX_DOUBLINGS))).unwrap_or(1))
}

#[cfg(test)]
mod tests {
    use super::{Delay, DelayMode};
    use cc_core::Instant;

    #[test]
    fn a_new_path_keeps_the_mode_and_takes_no_packet_of_the_old_one_for_news() {
        for mode in [
            DelayMode::default(),
            DelayMode::PaperFraction { percent: 80 },
            DelayMode::PaperProbe { percent: 80 },
        ] {
            let mut delay = Delay::new(mode);
            assert!(delay.is_news(Instant::ZERO));
            delay.on_new_path(Instant::from_millis(700));
            assert_eq!(delay.mode(), Delay::new(mode).mode());
            assert!(!delay.is_news(Instant::from_millis(700)) && delay.is_news(Instant::from_millis(701)));
        }
    }
}
