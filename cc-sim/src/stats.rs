//! Statistics of completion times, of shares, and of quantities that change over time.

use hdrhistogram::Histogram;
use statrs::distribution::{ContinuousCDF, StudentsT};

/// What a list of whole numbers looks like.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// How many there are; at least 1.
    pub count: u64,
    /// Arithmetic mean.
    pub mean: f64,
    /// Standard deviation of the sample (divisor n - 1); 0 for a single value.
    pub sd: f64,
    /// Half of the width of the 95 % confidence interval of the mean (Student's t); `None` for a single value.
    pub mean_ci95: Option<f64>,
    /// Smallest.
    pub min: u64,
    /// Median.
    pub median: f64,
    /// 90th percentile.
    pub p90: f64,
    /// Largest.
    pub max: u64,
}

impl Summary {
    /// Summarises `values`; `None` if there are none. The order of `values` does not matter.
    #[must_use]
    pub fn of(values: &[u64]) -> Option<Self> {
        let mut sorted = values.to_vec();
        sorted.sort_unstable();
        let (&min, &max) = (sorted.first()?, sorted.last()?);
        let n = sorted.len() as f64;
        // The sum is exact, so that the mean does not depend on the order of the values.
        let sum: u128 = sorted.iter().map(|&value| u128::from(value)).sum();
        let mean = sum as f64 / n;
        let squares: f64 = sorted.iter().map(|&value| (value as f64 - mean).powi(2)).sum();
        let sd = if sorted.len() > 1 { (squares / (n - 1.0)).sqrt() } else { 0.0 };
        Some(Self {
            count: sorted.len() as u64,
            mean,
            sd,
            mean_ci95: StudentsT::new(0.0, 1.0, n - 1.0).ok().map(|t| t.inverse_cdf(0.975) * sd / n.sqrt()),
            min,
            median: tenths_quantile(&sorted, 5)?,
            p90: tenths_quantile(&sorted, 9)?,
            max,
        })
    }
}

/// The quantile of `tenths`/10 of a sorted list, by linear interpolation between the two values around position
/// (n - 1) * tenths / 10: that of pandas (`quantile(0.9)`), which the draft's tables were made with.
fn tenths_quantile(sorted: &[u64], tenths: usize) -> Option<f64> {
    let position = sorted.len().checked_sub(1)? * tenths;
    let below = *sorted.get(position / 10)?;
    let above = sorted.get(position / 10 + 1).copied().unwrap_or(below);
    Some(below as f64 + (above - below) as f64 * (position % 10) as f64 / 10.0)
}

/// Jain's fairness index: (sum x)^2 / (n * sum x^2), from 1/n (one has all) to 1 (all have the same); `None` for none, or
/// for nothing but zeros.
#[must_use]
pub fn jain_index(values: &[f64]) -> Option<f64> {
    let sum: f64 = values.iter().sum();
    let squares: f64 = values.iter().map(|value| value * value).sum();
    (squares > 0.0).then(|| sum * sum / (values.len() as f64 * squares))
}

/// The distribution of a quantity over time: each value with the time for which it stood.
///
/// Quantiles are those of a histogram whose bins are a thousandth wide; mean and maximum are exact.
#[derive(Clone, Debug)]
pub struct Weighted {
    histogram: Histogram<u64>,
    sum: u128,
    weight: u64,
    max: u64,
}

impl Default for Weighted {
    fn default() -> Self {
        // Three significant digits are supported.
        let histogram = Histogram::new(3).unwrap_or_else(|_| unreachable!("3 is between 0 and 5"));
        Self { histogram, sum: 0, weight: 0, max: 0 }
    }
}

impl Weighted {
    /// `value` stood for `weight`.
    pub fn add(&mut self, value: u64, weight: u64) {
        if weight == 0 {
            return;
        }
        // The histogram grows with its values.
        let _ = self.histogram.record_n(value, weight);
        self.sum += u128::from(value) * u128::from(weight);
        self.weight += weight;
        self.max = self.max.max(value);
    }

    /// The mean; `None` without values.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        (self.weight > 0).then(|| self.sum as f64 / self.weight as f64)
    }

    /// The value that is not exceeded during this part (0 to 1) of the weight; `None` without values.
    #[must_use]
    pub fn quantile(&self, part: f64) -> Option<f64> {
        (self.weight > 0).then(|| self.histogram.value_at_quantile(part).min(self.max) as f64)
    }

    /// The largest value; `None` without values.
    #[must_use]
    pub fn max(&self) -> Option<u64> {
        (self.weight > 0).then_some(self.max)
    }
}

#[cfg(test)]
mod tests {
    use super::{Summary, Weighted, jain_index};

    #[test]
    fn jain_s_index_is_one_for_equal_shares_and_a_part_for_one_of_many() {
        assert_eq!(jain_index(&[3.0; 4]), Some(1.0));
        assert_eq!(jain_index(&[7.0, 0.0, 0.0, 0.0]), Some(0.25));
        // (1 + 3)^2 / (2 * (1 + 9)).
        assert_eq!(jain_index(&[1.0, 3.0]), Some(0.8));
        assert_eq!((jain_index(&[]), jain_index(&[0.0])), (None, None));
    }

    #[test]
    fn a_value_counts_as_long_as_it_stands() {
        let mut weighted = Weighted::default();
        assert_eq!((weighted.mean(), weighted.quantile(0.5), weighted.max()), (None, None, None));
        weighted.add(50_000, 900);
        weighted.add(100_000, 50);
        weighted.add(200_000, 50);
        weighted.add(900_000, 0);
        // (50 000 * 900 + 100 000 * 50 + 200 000 * 50) / 1000.
        assert_eq!((weighted.mean(), weighted.max()), (Some(60_000.0), Some(200_000)));
        for (part, value) in [(0.5, 50_000.0), (0.9, 50_000.0), (0.95, 100_000.0), (0.951, 200_000.0)] {
            let quantile = weighted.quantile(part).unwrap();
            assert!((quantile - value).abs() <= value / 1_000.0, "{part}: {quantile}");
        }
        weighted.add(u64::MAX, u64::MAX / 4);
        assert_eq!(weighted.max(), Some(u64::MAX));
    }

    #[test]
    fn quantiles_interpolate_between_order_statistics() {
        // Ten values: position of the 0.9 quantile 9 * 0.9 = 8.1, so 90 + 0.1 * (100 - 90); median at 4.5.
        let values = [100, 20, 30, 10, 50, 60, 40, 80, 70, 90];
        let summary = Summary::of(&values).unwrap();
        assert_eq!((summary.p90, summary.median), (91.0, 55.0));
        assert_eq!((summary.min, summary.max, summary.count), (10, 100, 10));
        assert_eq!(summary.mean, 55.0);
        // Squares of 45, 35, 25, 15, 5, each twice: 2 * (2025 + 1225 + 625 + 225 + 25) = 8250; 8250 / 9.
        assert!((summary.sd - (8_250.0_f64 / 9.0).sqrt()).abs() < 1e-9);
    }

    #[test]
    fn the_confidence_interval_is_student_s() {
        // Two values, mean 6, deviation sqrt(2): 12.706205 (one degree of freedom) * sqrt(2) / sqrt(2).
        let two = Summary::of(&[5, 7]).unwrap().mean_ci95.unwrap();
        assert!((two - 12.706_205).abs() < 1e-5, "{two}");
        // Deviation sqrt(8250 / 9) of the ten values above, over sqrt(10): 9.574271. Times 2.262157 (nine degrees).
        let values: Vec<u64> = (1..=10).map(|i| 10 * i).collect();
        let ten = Summary::of(&values).unwrap().mean_ci95.unwrap();
        assert!((ten - 9.574_271 * 2.262_157).abs() < 1e-4, "{ten}");
        assert_eq!(Summary::of(&[7; 5]).unwrap().mean_ci95, Some(0.0));
    }

    #[test]
    fn eleven_values_have_their_tenth_as_percentile() {
        // Position 10 * 0.9 = 9 exactly.
        let values: Vec<u64> = (0..11).map(|i| i * i).collect();
        assert_eq!(Summary::of(&values).unwrap().p90, 81.0);
    }

    #[test]
    fn one_value_is_all_of_its_statistics_and_none_has_no_summary() {
        let one = Summary::of(&[7]).unwrap();
        assert_eq!((one.mean, one.sd, one.p90, one.median), (7.0, 0.0, 7.0, 7.0));
        assert_eq!(one.mean_ci95, None);
        assert_eq!(Summary::of(&[]), None);
    }
}
