//! Jitter of the propagation delay: a sample for each packet, in integers.
//!
//! The link adds a sample to the arrival time of a packet and releases packets in order, so that what a packet sees is
//! the latest arrival of those before it: far more than the mean of the samples where packets follow each other closely.

use super::rng::SplitMix64;
use crate::scenario::{Jitter, WifiModel};

/// A sample of `jitter` in microseconds.
pub(super) fn sample_us(jitter: Jitter, rng: &mut SplitMix64) -> u64 {
    match jitter {
        Jitter::None => 0,
        Jitter::Gauss { mean_us } => gauss_us(rng, mean_us),
        Jitter::Wifi { average_us, model } => wifi_us(rng, average_us, model),
    }
}

/// The sum of twelve uniforms of 30 bits minus six, cut at -3.
fn gauss_us(rng: &mut SplitMix64, mean_us: u64) -> u64 {
    const ONE: i64 = 1 << 30;
    let sum: u64 = (0..12).map(|_| rng.next_u64() >> 34).sum();
    // Below 2^34.
    let deviation = (sum as i64 - 6 * ONE).max(-3 * ONE);
    let mean = i64::try_from(mean_us).unwrap_or(i64::MAX);
    let off = match mean.checked_mul(deviation) {
        Some(product) => product / (3 * ONE),
        // A mean of more than nine minutes.
        None => (i128::from(mean) * i128::from(deviation) / i128::from(3 * ONE)) as i64,
    };
    u64::try_from(mean.saturating_add(off)).unwrap_or(0)
}

/// An interval in which a sender waits for a free channel, in microseconds; their number has mean 1
/// (draft-huitema-ccwg-c4-test section 2.3).
const DEFERRAL_US: u64 = 1_000;
/// An interval in which it sends a packet again, in microseconds; their number has mean 12 (same place).
const RETRY_US: u64 = 7_500;
/// exp(-1) in units of 2^-64, rounded.
const EXP_MINUS_1: u64 = 6_786_177_901_268_885_275;
/// exp(-12) in units of 2^-64, rounded.
const EXP_MINUS_12: u64 = 113_340_712_816_370;

fn wifi_us(rng: &mut SplitMix64, average_us: u64, model: WifiModel) -> u64 {
    let deferrals = poisson(rng, EXP_MINUS_1);
    let mut us = deferrals * DEFERRAL_US;
    if deferrals > 0 {
        us -= rng.below(DEFERRAL_US);
    }
    // Of 90 ms, or 84, as many packets are sent again as the average is above the millisecond of the deferrals.
    let (whole_us, is_smooth) = match model {
        WifiModel::Simulated => (84_000, true),
        WifiModel::Written => (90_000, false),
    };
    let excess_us = average_us.saturating_sub(DEFERRAL_US);
    if excess_us > 0 && rng.below(whole_us) < excess_us {
        let retries = poisson(rng, EXP_MINUS_12);
        us += retries * RETRY_US;
        if is_smooth && retries > 1 {
            us -= rng.below(RETRY_US);
        }
    }
    us
}

/// A number with the Poisson distribution whose probability of 0 is `none` * 2^-64: how many uniforms can be multiplied
/// before their product is below it (Knuth). The product gets smaller with each, so that this ends.
fn poisson(rng: &mut SplitMix64, none: u64) -> u64 {
    let mut product = u64::MAX;
    let mut count = 0;
    loop {
        product = ((u128::from(product) * u128::from(rng.next_u64())) >> 64) as u64;
        if product < none {
            return count;
        }
        count += 1;
    }
}

/// The closed form of what is drawn above, for tests.
#[cfg(test)]
pub(super) mod law {
    /// Probabilities of 0, 1, 2, ... with this mean.
    pub(super) fn poisson_law(mean: f64, terms: usize) -> Vec<f64> {
        let mut p = (-mean).exp();
        let mut law = vec![p];
        for n in 1..terms {
            p *= mean / n as f64;
            law.push(p);
        }
        law
    }

    /// Probability that a sample is at most `t_us`: sums over the number of deferrals, the place in the interval and the number
    /// of retries.
    pub(in crate::engine) fn wifi_law(t_us: u64, spike: f64, is_smooth: bool) -> f64 {
        let retries = poisson_law(12.0, 40);
        let at_most = |us: u64| {
            let with: f64 = retries
                .iter()
                .zip(0_u64..)
                .map(|(p, n)| {
                    let (least, span) =
                        if is_smooth && n > 1 { (n * 7_500 - 7_499, 7_500) } else { (n * 7_500, 1) };
                    p * (us + 1).saturating_sub(least).min(span) as f64 / span as f64
                })
                .sum();
            (1.0 - spike) + spike * with
        };
        poisson_law(1.0, 12)
            .iter()
            .zip(0_u64..)
            .map(|(p, n)| match n {
                0 => p * at_most(t_us),
                _ => {
                    let places = (n * 1_000 - 999..=n * 1_000).filter(|&us| us <= t_us);
                    p * places.map(|us| at_most(t_us - us)).sum::<f64>() / 1_000.0
                }
            })
            .sum()
    }
}

#[cfg(test)]
mod tests {
    use super::law::{poisson_law, wifi_law};
    use super::{EXP_MINUS_1, EXP_MINUS_12, gauss_us, poisson, sample_us};
    use crate::engine::rng::SplitMix64;
    use crate::scenario::{Jitter, WifiModel};

    const SAMPLES: usize = 200_000;

    fn samples(average_us: u64, model: WifiModel, seed: u64) -> Vec<u64> {
        let mut rng = SplitMix64::new(seed);
        let jitter = Jitter::Wifi { average_us, model };
        (0..SAMPLES).map(|_| sample_us(jitter, &mut rng)).collect()
    }

    fn mean(samples: &[u64]) -> f64 {
        samples.iter().sum::<u64>() as f64 / samples.len() as f64
    }

    /// A fraction of `SAMPLES` that happens with probability `p` each is within five standard deviations of it.
    #[track_caller]
    fn assert_fraction(what: &str, count: usize, p: f64) {
        let fraction = count as f64 / SAMPLES as f64;
        let sd = (p * (1.0 - p) / SAMPLES as f64).sqrt();
        assert!((fraction - p).abs() <= 5.0 * sd + 1e-9, "{what}: {fraction}, expected {p} +- {sd}");
    }

    #[test]
    fn numbers_of_intervals_are_poisson() {
        for (none, mean) in [(EXP_MINUS_1, 1.0), (EXP_MINUS_12, 12.0)] {
            let mut rng = SplitMix64::new(11);
            let counts: Vec<u64> = (0..SAMPLES).map(|_| poisson(&mut rng, none)).collect();
            for (p, n) in poisson_law(mean, 31).into_iter().zip(0_u64..) {
                let count = counts.iter().filter(|&&count| count == n).count();
                // Where less than one sample is expected the normal approximation says nothing.
                if p * SAMPLES as f64 > 10.0 {
                    assert_fraction(&format!("mean {mean}, {n}"), count, p);
                }
            }
        }
    }

    #[test]
    fn wifi_jitter_has_the_mean_that_its_formula_has() {
        // Deferrals: 1000 - (1 - 1/e) * 499.5 = 684.26. A retry as simulated: 90 000 - (1 - 13 exp(-12)) * 3749.5 = 86 250.8, of a
        // fraction of 6/84 at 7 ms and 11/84 at 12 ms; as written: 90 000, of 6/90 and 11/90; from 85 and 91 ms on of all.
        // Standard deviations of a sample: at most 32 ms (a spike of 86 or 0) and so 0.07 ms of the mean.
        for (average_us, model, expected) in [
            (1, WifiModel::Simulated, 684.3),
            (1_000, WifiModel::Simulated, 684.3),
            (7_000, WifiModel::Simulated, 6_845.0),
            (12_000, WifiModel::Simulated, 11_979.0),
            (85_000, WifiModel::Simulated, 86_935.1),
            (200_000, WifiModel::Simulated, 86_935.1),
            (1_000, WifiModel::Written, 684.3),
            (7_000, WifiModel::Written, 6_684.3),
            (12_000, WifiModel::Written, 11_684.3),
            (91_000, WifiModel::Written, 90_684.3),
            (200_000, WifiModel::Written, 90_684.3),
        ] {
            let mean = mean(&samples(average_us, model, 5));
            let most = if average_us > 1_000 { 350.0 } else { 10.0 };
            assert!((mean - expected).abs() < most, "{average_us} {model:?}: {mean}, expected {expected}");
        }
    }

    #[test]
    fn wifi_jitter_has_the_quantiles_of_its_law() {
        for (average_us, model, spike, is_smooth) in [
            (1_000, WifiModel::Simulated, 0.0, true),
            (7_000, WifiModel::Simulated, 6.0 / 84.0, true),
            (12_000, WifiModel::Simulated, 11.0 / 84.0, true),
            (7_000, WifiModel::Written, 6.0 / 90.0, false),
            (12_000, WifiModel::Written, 11.0 / 90.0, false),
        ] {
            let samples = samples(average_us, model, 9);
            // In the deferrals, on the edges of intervals and between, and far out in the tail.
            for t_us in [0, 1, 500, 1_000, 2_345, 4_000, 50_000, 60_000, 75_499, 90_000, 101_234, 150_000] {
                let below = samples.iter().filter(|&&us| us <= t_us).count();
                assert_fraction(
                    &format!("{average_us} {model:?} {t_us}"),
                    below,
                    wifi_law(t_us, spike, is_smooth),
                );
            }
        }
    }

    #[test]
    fn whether_a_packet_is_late_does_not_depend_on_the_one_before() {
        let samples = samples(7_000, WifiModel::Simulated, 2);
        // No deferrals reach 20 ms (probability 4e-19), and a retry falls short of it with probability 0.0005.
        let late: Vec<bool> = samples.iter().map(|&us| us > 20_000).collect();
        let both = late.windows(2).filter(|pair| pair[0] && pair[1]).count();
        let p = 1.0 - wifi_law(20_000, 6.0 / 84.0, true);
        assert_fraction("late", late.iter().filter(|&&late| late).count(), p);
        assert_fraction("two in a row", both, p * p);
    }

    #[test]
    fn gaussian_jitter_has_the_stated_mean_and_spread() {
        let mut rng = SplitMix64::new(3);
        let samples: Vec<u64> = (0..100_000).map(|_| gauss_us(&mut rng, 2_000)).collect();
        let mean = mean(&samples);
        let variance =
            samples.iter().map(|&us| (us as f64 - mean).powi(2)).sum::<f64>() / samples.len() as f64;
        assert!((mean - 2_000.0).abs() < 10.0, "mean {mean}");
        assert!((variance.sqrt() - 2_000.0 / 3.0).abs() < 10.0, "sd {}", variance.sqrt());
        assert!(samples.iter().all(|&us| us <= 6_000));
    }
}
