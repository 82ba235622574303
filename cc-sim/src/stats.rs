//! Statistics of the completion times of one cell of the table.

/// What a list of whole numbers looks like.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// How many there are; at least 1.
    pub count: u64,
    /// Arithmetic mean.
    pub mean: f64,
    /// Standard deviation of the sample (divisor n - 1); 0 for a single value.
    pub sd: f64,
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
        Some(Self {
            count: sorted.len() as u64,
            mean,
            sd: if sorted.len() > 1 { (squares / (n - 1.0)).sqrt() } else { 0.0 },
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

#[cfg(test)]
mod tests {
    use super::Summary;

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
    fn eleven_values_have_their_tenth_as_percentile() {
        // Position 10 * 0.9 = 9 exactly.
        let values: Vec<u64> = (0..11).map(|i| i * i).collect();
        assert_eq!(Summary::of(&values).unwrap().p90, 81.0);
    }

    #[test]
    fn one_value_is_all_of_its_statistics_and_none_has_no_summary() {
        let one = Summary::of(&[7]).unwrap();
        assert_eq!((one.mean, one.sd, one.p90, one.median), (7.0, 0.0, 7.0, 7.0));
        assert_eq!(Summary::of(&[]), None);
    }
}
