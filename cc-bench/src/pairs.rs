//! Our controllers against the stack's own over loopback, in pairs of runs that follow each other.
//!
//! What a transfer over loopback takes depends on the machine's other work far more than on the controller; of two that follow each
//! other, the ratio does not.

use crate::controllers::Controller;
use crate::path::{Path, Proxy};
use crate::record::{Record, RecordError};
use crate::table::progress_bar;
use crate::transfer::{self, Transfer};
use cc_sim::stats::Summary;
use comfy_table::{CellAlignment, Table, presets};
use serde::Serialize;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// What to compare.
#[derive(Clone, Debug, PartialEq)]
pub struct Pairs {
    /// Ours and the stack's.
    pub controllers: Vec<(Controller, Controller)>,
    /// Bytes of each transfer.
    pub bytes: u64,
    /// How many pairs of runs.
    pub count: u32,
    /// How long a transfer may take.
    pub time_limit: Duration,
}

/// Two runs, as they are in `runs.csv`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Pair {
    ours: &'static str,
    theirs: &'static str,
    bytes: u64,
    pair: u32,
    /// Whether ours was first.
    ours_first: bool,
    ours_us: Option<u64>,
    theirs_us: Option<u64>,
    /// Why there is a figure missing.
    error: Option<String>,
}

impl Pairs {
    /// Measures; ours first and theirs first in turn. Stops early if `stop` becomes true.
    ///
    /// # Errors
    ///
    /// The record cannot be written. A run that fails is one without a figure.
    pub fn measure(&self, record: &mut Record, stop: &AtomicBool) -> Result<Vec<Pair>, RecordError> {
        let progress = progress_bar(self.controllers.len() as u64 * u64::from(self.count));
        let mut pairs = Vec::new();
        for number in 1..=self.count {
            for &(ours, theirs) in &self.controllers {
                if stop.load(Ordering::Relaxed) {
                    progress.abandon_with_message("interrupted");
                    return Ok(pairs);
                }
                progress.set_message(format!("{} and {}", ours.name(), theirs.name()));
                let pair = self.pair(ours, theirs, number);
                if let Some(error) = &pair.error {
                    progress.suspend(|| eprintln!("{} and {}: {error}", pair.ours, pair.theirs));
                }
                record.run(&pair)?;
                pairs.push(pair);
                progress.inc(1);
            }
        }
        progress.finish_with_message("done");
        Ok(pairs)
    }

    fn pair(&self, ours: Controller, theirs: Controller, number: u32) -> Pair {
        let ours_first = number % 2 == 1;
        let (first, second) = if ours_first { (ours, theirs) } else { (theirs, ours) };
        let (first, second) = (self.run(first), self.run(second));
        let error = [&first, &second].into_iter().find_map(|result| result.as_ref().err().cloned());
        let (ours_us, theirs_us) =
            if ours_first { (first.ok(), second.ok()) } else { (second.ok(), first.ok()) };
        let (ours, theirs) = (ours.name(), theirs.name());
        Pair { ours, theirs, bytes: self.bytes, pair: number, ours_first, ours_us, theirs_us, error }
    }

    /// How long a transfer took, in microseconds.
    fn run(&self, controller: Controller) -> Result<u64, String> {
        // Nothing is on the way.
        let path = Path { rate_kbps: 0, delay_us: 0, loss_ppm: 0, queue_us: 0 };
        let Self { bytes, time_limit, .. } = *self;
        let transfer = Transfer { controller, bytes, proxy: Proxy::None, path, seed: 0, time_limit };
        let measured = transfer::run(&transfer).map_err(|error| error.to_string())?;
        Ok(u64::try_from(measured.duration.as_micros()).unwrap_or(u64::MAX))
    }
}

/// The table in Markdown.
#[must_use]
pub fn markdown(pairs: &Pairs, runs: &[Pair]) -> String {
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN);
    table.set_header(["Ours", "quinn's", "Ours (Mbit/s)", "quinn's (Mbit/s)", "Ratio", "95 %", "Pairs"]);
    for column in table.column_iter_mut().skip(2) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    for &(ours, theirs) in &pairs.controllers {
        let both: Vec<(u64, u64)> = runs
            .iter()
            .filter(|pair| (pair.ours, pair.theirs) == (ours.name(), theirs.name()))
            .filter_map(|pair| Some((pair.ours_us?.max(1), pair.theirs_us?.max(1))))
            .collect();
        let mbps = |us: Vec<u64>| {
            let rates: Vec<u64> = us.into_iter().map(|us| pairs.bytes * 8_000 / us).collect();
            Summary::of(&rates).map_or_else(|| "-".to_owned(), |rate| format!("{:.0}", rate.median / 1e3))
        };
        let (ratio, interval) = ratio(&both).map_or_else(
            || ("-".to_owned(), "-".to_owned()),
            |(ratio, interval)| {
                let interval =
                    interval.map_or_else(|| "-".to_owned(), |(low, high)| format!("{low:.3} to {high:.3}"));
                (format!("{ratio:.3}"), interval)
            },
        );
        table.add_row([
            ours.name().to_owned(),
            theirs.name().to_owned(),
            mbps(both.iter().map(|&(ours, _)| ours).collect()),
            mbps(both.iter().map(|&(_, theirs)| theirs).collect()),
            ratio,
            interval,
            both.len().to_string(),
        ]);
    }
    format!(
        "{table}\n\n\
         Transfers of {} bytes over loopback; throughput is the median, the ratio the geometric mean of ours over quinn's in each pair, with \
         the 95 % confidence interval of that mean (Student's t on the logarithms).\n",
        pairs.bytes
    )
}

/// Geometric mean of theirs over ours, which are durations, and its 95 % confidence interval.
fn ratio(pairs: &[(u64, u64)]) -> Option<(f64, Option<(f64, f64)>)> {
    /// The summary takes whole numbers that are not negative: millionths, moved up by more than any logarithm of such a ratio, which
    /// is below 45.
    const UNIT: f64 = 1e-6;
    const SHIFT: f64 = 100.0;
    let logarithms: Vec<u64> = pairs
        .iter()
        .map(|&(ours, theirs)| (((theirs as f64 / ours as f64).ln() + SHIFT) / UNIT).round() as u64)
        .collect();
    let Summary { mean, mean_ci95, .. } = Summary::of(&logarithms)?;
    let back = |value: f64| (value * UNIT - SHIFT).exp();
    Some((back(mean), mean_ci95.map(|half| (back(mean - half), back(mean + half)))))
}

#[cfg(test)]
mod tests {
    use super::{Pair, Pairs, markdown, ratio};
    use crate::controllers::Controller;
    use std::time::Duration;

    #[test]
    fn the_mean_of_ratios_is_geometric() {
        // Twice as fast and half as fast is as fast.
        let (mean, interval) = ratio(&[(100, 200), (200, 100)]).unwrap();
        assert!((mean - 1.0).abs() < 1e-5, "{mean}");
        // Logarithms of +-0.6931, deviation 0.9803, t of one degree of freedom 12.706: +-8.807.
        let (low, high) = interval.unwrap();
        assert!((low.ln() + 8.807).abs() < 0.01 && (high.ln() - 8.807).abs() < 0.01, "{low} {high}");
        assert_eq!(
            ratio(&[(50, 100)]).map(|(mean, interval)| ((mean * 1e4).round(), interval)),
            Some((2e4, None))
        );
        assert_eq!(ratio(&[]), None);
    }

    #[test]
    fn a_row_leaves_out_pairs_with_a_failed_run() {
        let pairs = Pairs {
            controllers: vec![(Controller::Cubic, Controller::QuinnCubic)],
            bytes: 1_000_000,
            count: 3,
            time_limit: Duration::from_secs(1),
        };
        let pair = |ours_us, theirs_us| Pair {
            ours: "cubic",
            theirs: "quinn-cubic",
            bytes: 1_000_000,
            pair: 1,
            ours_first: true,
            ours_us,
            theirs_us,
            error: None,
        };
        let text = markdown(
            &pairs,
            &[pair(Some(10_000), Some(12_000)), pair(Some(10_000), Some(12_000)), pair(None, Some(1))],
        );
        let row: Vec<&str> =
            text.lines().nth(2).unwrap().trim_matches('|').split('|').map(str::trim).collect();
        // 8 Mbit in 10 and 12 ms.
        assert_eq!(row, ["cubic", "quinn-cubic", "800", "667", "1.200", "1.200 to 1.200", "2"]);
    }
}
