//! Sources of cross traffic.

use super::rng::SplitMix64;
use crate::scenario::{CrossTraffic, Pattern};

#[derive(Debug)]
pub(super) struct Source {
    config: CrossTraffic,
    rng: SplitMix64,
    /// When the current on period started and when it ends; the next one, if it has not started.
    on: (u64, u64),
    /// Datagrams of that period that have left.
    sent: u64,
    /// When the next datagram leaves; `None` if none does.
    next: Option<u64>,
}

impl Source {
    pub(super) fn new(config: &CrossTraffic, seed: u64) -> Self {
        let mut source = Self {
            config: *config,
            rng: SplitMix64::new(seed),
            on: (config.start_us, u64::MAX),
            sent: 0,
            next: None,
        };
        source.on.1 = source.end_of_period();
        source.schedule();
        source
    }

    pub(super) fn config(&self) -> &CrossTraffic {
        &self.config
    }

    /// When [`Source::on_sent`] is to be called, after a datagram has been handed to the link.
    pub(super) fn next_wake(&self) -> Option<u64> {
        self.next
    }

    pub(super) fn on_sent(&mut self) {
        self.sent += 1;
        self.schedule();
    }

    /// Datagram `n` of a period leaves `n` datagram times after its start, rounded down to whole microseconds, so that
    /// the rounding does not add up.
    fn schedule(&mut self) {
        if self.config.rate_bps == 0 {
            self.next = None;
            return;
        }
        let mut at = self.on.0.saturating_add(self.after(self.sent));
        if at >= self.on.1 {
            let off_us = match self.config.pattern {
                Pattern::Constant => u64::MAX,
                Pattern::OnOff { off_us, random, .. } => self.period(off_us, random),
            };
            self.on.0 = self.on.1.saturating_add(off_us);
            self.on.1 = self.end_of_period();
            self.sent = 0;
            at = self.on.0;
        }
        self.next = Some(at).filter(|&at| at < self.config.stop_us.unwrap_or(u64::MAX));
    }

    fn end_of_period(&mut self) -> u64 {
        match self.config.pattern {
            Pattern::Constant => u64::MAX,
            Pattern::OnOff { on_us, random, .. } => self.on.0.saturating_add(self.period(on_us, random)),
        }
    }

    /// Time of `datagrams` of them, in microseconds.
    fn after(&self, datagrams: u64) -> u64 {
        let bits = u128::from(self.config.packet_bytes) * 8;
        let rate_bps = u128::from(self.config.rate_bps).min(bits * 1_000_000).max(1);
        u64::try_from(u128::from(datagrams) * bits * 1_000_000 / rate_bps).unwrap_or(u64::MAX)
    }

    /// A period of `mean_us`, or of that mean; at least a microsecond, so that time goes on.
    fn period(&mut self, mean_us: u64, random: bool) -> u64 {
        if !random {
            return mean_us.max(1);
        }
        // libm is the same on every machine, which the logarithm of the standard library need not be.
        let uniform = (self.rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
        let period = mean_us as f64 * -libm::log1p(-uniform);
        // The largest uniform is 1 - 2^-53, so the factor is below 37.
        (period as u64).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::Source;
    use crate::scenario::{CrossTraffic, Direction, Pattern};

    /// 8 Mbit/s in datagrams of 1000 bytes: one every 1000 us.
    const CONSTANT: CrossTraffic = CrossTraffic {
        direction: Direction::Reverse,
        rate_bps: 8_000_000,
        packet_bytes: 1_000,
        start_us: 500,
        stop_us: None,
        pattern: Pattern::Constant,
    };

    fn times(config: &CrossTraffic, seed: u64, count: usize) -> Vec<u64> {
        let mut source = Source::new(config, seed);
        let next = || {
            let at = source.next_wake()?;
            source.on_sent();
            Some(at)
        };
        std::iter::from_fn(next).take(count).collect()
    }

    #[test]
    fn a_constant_rate_is_kept_without_adding_up_rounding_errors() {
        assert_eq!(times(&CONSTANT, 1, 4), [500, 1_500, 2_500, 3_500]);
        // 3 Mbit/s: 2666.67 us each.
        let third = CrossTraffic { rate_bps: 3_000_000, start_us: 0, ..CONSTANT };
        assert_eq!(times(&third, 1, 5), [0, 2_666, 5_333, 8_000, 10_666]);
    }

    #[test]
    fn nothing_leaves_at_the_stop_or_after_it() {
        assert_eq!(times(&CrossTraffic { stop_us: Some(2_500), ..CONSTANT }, 1, 9), [500, 1_500]);
        assert_eq!(times(&CrossTraffic { stop_us: Some(500), ..CONSTANT }, 1, 9), [0; 0]);
        assert_eq!(times(&CrossTraffic { rate_bps: 0, ..CONSTANT }, 1, 9), [0; 0]);
    }

    #[test]
    fn on_and_off_take_turns_and_each_on_period_starts_with_a_datagram() {
        let pattern = Pattern::OnOff { on_us: 2_001, off_us: 10_000, random: false };
        // On from 500 to 2501, off until 12 501, on until 14 502, off until 24 502.
        let expected = [500, 1_500, 2_500, 12_501, 13_501, 14_501, 24_502];
        assert_eq!(times(&CrossTraffic { pattern, ..CONSTANT }, 1, 7), expected);
    }

    #[test]
    fn random_periods_have_the_stated_means() {
        let pattern = Pattern::OnOff { on_us: 50_000, off_us: 150_000, random: true };
        let source = CrossTraffic { pattern, start_us: 0, ..CONSTANT };
        // An on period of length X has ceil(X / 1000) datagrams: for exponential X of mean 50 ms, 1 / (1 - exp(-1/50)) =
        // 50.5 on average.
        let times = times(&source, 7, 500_000);
        let gaps: Vec<u64> =
            times.windows(2).map(|pair| pair[1] - pair[0]).filter(|&gap| gap != 1_000).collect();
        let periods = gaps.len() as f64;
        let per_period = times.len() as f64 / periods;
        // 9900 periods: standard deviation of the mean 50 / sqrt(9900) = 0.5.
        assert!((per_period - 50.5).abs() < 2.0, "{per_period}");
        // A gap is an off period and what was left of the on period after its last datagram, 0.5 ms on average.
        let gap = gaps.iter().sum::<u64>() as f64 / periods;
        assert!((gap - 150_500.0).abs() < 6_000.0, "{gap}");
        // For an exponential distribution the standard deviation is the mean.
        let variance = gaps.iter().map(|&us| (us as f64 - gap).powi(2)).sum::<f64>() / periods;
        assert!((variance.sqrt() - 150_000.0).abs() < 8_000.0, "{}", variance.sqrt());
        assert_ne!(times[..1_000], self::times(&source, 8, 1_000));
    }

    #[test]
    fn not_more_than_a_datagram_a_microsecond_leaves() {
        let fast = CrossTraffic { rate_bps: u64::MAX, start_us: 0, ..CONSTANT };
        assert_eq!(times(&fast, 1, 4), [0, 1, 2, 3]);
    }
}
