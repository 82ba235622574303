//! What losses teach about the threshold: a buffer that is shorter (quicdc: "Delay signal, default").

use crate::measures::older;
use cc_core::Duration;

/// Part of the peak before a loss that becomes the threshold, in percent.
const SHARE_PERCENT: u64 = 80;

/// What was learnt is forgotten after this.
const FORGET_AFTER_MS: u16 = 30_000;

/// A threshold that two losses agree on. It only ever lowers the default one, so that spans above 65 ms, where it saturates, are
/// of no interest. All spans in microseconds, 0 for "none".
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Learned {
    threshold_us: u16,
    /// What the last loss would give.
    candidate_us: u16,
    /// Largest queueing delay of the running round, and of the one before.
    peak_us: u16,
    peak_before_us: u16,
    /// Since the last loss that taught something.
    age_ms: u16,
}

impl Learned {
    pub(crate) const fn new() -> Self {
        Self { threshold_us: 0, candidate_us: 0, peak_us: 0, peak_before_us: 0, age_ms: 0 }
    }

    pub(crate) fn get(&self) -> Option<Duration> {
        (self.threshold_us > 0).then(|| Duration::from_micros(u64::from(self.threshold_us)))
    }

    pub(crate) fn on_queue(&mut self, queue: Duration) {
        self.peak_us = self.peak_us.max(saturated(queue));
    }

    /// A round went by.
    pub(crate) fn on_interval(&mut self, elapsed: Duration) {
        self.peak_before_us = core::mem::replace(&mut self.peak_us, 0);
        self.age_ms = older(self.age_ms, elapsed);
        if self.age_ms > FORGET_AFTER_MS {
            self.threshold_us = 0;
            self.candidate_us = 0;
        }
    }

    /// A loss. One without a queue, or with no more than a burst, says nothing about a buffer.
    pub(crate) fn on_congestion(&mut self, burst: Duration) {
        let peak = Duration::from_micros(u64::from(self.peak_us.max(self.peak_before_us)));
        let candidate = saturated(peak.times(SHARE_PERCENT).divided_by(100));
        if peak <= burst || candidate == 0 {
            return;
        }
        // Only after repetition: what both losses allow.
        if self.candidate_us > 0 {
            let agreed = candidate.max(self.candidate_us);
            self.threshold_us = if self.threshold_us > 0 { self.threshold_us.min(agreed) } else { agreed };
        }
        self.candidate_us = candidate;
        self.age_ms = 0;
    }
}

fn saturated(span: Duration) -> u16 {
    u16::try_from(span.as_micros()).unwrap_or(u16::MAX)
}

#[cfg(test)]
mod tests {
    use super::Learned;
    use cc_core::Duration;

    const BURST: Duration = Duration::from_millis(1);

    fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    /// A round of 100 ms with this peak.
    fn round(learned: &mut Learned, peak: u64) {
        learned.on_queue(ms(1));
        learned.on_queue(ms(peak));
        learned.on_queue(ms(2));
        learned.on_interval(ms(100));
    }

    #[test]
    fn two_losses_lower_the_threshold_to_what_both_allow() {
        let mut learned = Learned::new();
        round(&mut learned, 10);
        learned.on_congestion(BURST);
        assert_eq!(learned.get(), None, "once is not enough");
        round(&mut learned, 3);
        round(&mut learned, 9);
        learned.on_congestion(BURST);
        // max(0.8 * 10, 0.8 * 9).
        assert_eq!(learned.get(), Some(ms(8)));
        round(&mut learned, 9);
        learned.on_congestion(BURST);
        // max(0.8 * 9, 0.8 * 9): only downwards.
        assert_eq!(learned.get(), Some(Duration::from_micros(7_200)));
        round(&mut learned, 20);
        learned.on_congestion(BURST);
        assert_eq!(learned.get(), Some(Duration::from_micros(7_200)));
    }

    #[test]
    fn the_peak_is_that_of_the_round_before_the_loss_and_of_the_running_one() {
        let mut learned = Learned::new();
        for _ in 0..2 {
            round(&mut learned, 20);
            round(&mut learned, 5);
            learned.on_queue(ms(10));
            learned.on_congestion(BURST);
        }
        assert_eq!(learned.get(), Some(ms(8)));
    }

    #[test]
    fn a_loss_without_a_queue_teaches_nothing() {
        // Else losses at random would take the threshold to zero.
        let mut learned = Learned::new();
        for _ in 0..10 {
            learned.on_queue(ms(1));
            learned.on_congestion(BURST);
            learned.on_interval(ms(100));
        }
        assert_eq!(learned.get(), None);
    }

    #[test]
    fn it_is_forgotten_after_30_seconds() {
        let mut learned = Learned::new();
        for _ in 0..2 {
            round(&mut learned, 10);
            learned.on_congestion(BURST);
        }
        learned.on_interval(ms(30_000));
        assert_eq!(learned.get(), Some(ms(8)));
        learned.on_interval(ms(1));
        assert_eq!(learned.get(), None);
        // And so is the loss that has to be repeated.
        round(&mut learned, 10);
        learned.on_congestion(BURST);
        assert_eq!(learned.get(), None);
    }
}
