//! Results as tables for people, CSV and JSON for programs. Nothing here depends on clocks or threads.

mod compare;
mod delay;
mod ecn;
mod list;
mod published;
mod share;
mod table;

pub use compare::render_comparison;
pub use delay::{DelayRow, Expectation, delay_rows, expectations, render_delays};
pub use ecn::{EcnRow, ecn_rows, render_ecn};
pub use list::render_list;
pub use published::{Published, PublishedFigures};
pub use share::{ShareLine, ShareRow, render_share_lines, render_shares, share_lines, share_rows};
pub use table::render_results;

use crate::experiment::Cell;
use crate::ideal::physical_limit;
use serde::Serialize;
use std::fmt;

/// How a result is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// Aligned columns.
    #[default]
    Table,
    /// Comma-separated values with a header (RFC 4180).
    Csv,
    /// JSON; one object, or for a trace one object a line.
    Json,
}

/// What the runs of a table had in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Settings {
    /// Runs of each cell.
    pub runs: u32,
    /// Base seed.
    pub seed: u64,
}

/// One cell of the table. Times are microseconds of virtual time, kept to a tenth; ratios are kept to four decimals.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// Name of the scenario.
    pub scenario: String,
    /// Name of the algorithm.
    pub algorithm: &'static str,
    /// Number of runs.
    pub runs: u64,
    /// Base seed.
    pub seed: u64,
    /// Mean completion time. With audio and video, as the draft has it: mean of the average delay of each run.
    pub mean_us: f64,
    /// 90th percentile of the completion time. With audio and video, of the largest delay of each run.
    pub p90_us: f64,
    /// Median completion time, or median of the average delay.
    pub median_us: f64,
    /// Shortest completion time, or smallest average delay.
    pub min_us: u64,
    /// Longest completion time, or largest delay.
    pub max_us: u64,
    /// Standard deviation of the completion time, or of the average delay.
    pub sd_us: f64,
    /// Half of the width of the 95 % confidence interval of the mean; `None` for a single run.
    pub mean_ci95_us: Option<f64>,
    /// The draft's mean.
    pub draft_mean_us: Option<f64>,
    /// The draft's 90th percentile.
    pub draft_p90_us: Option<f64>,
    /// Our mean over the draft's.
    pub ratio_draft_mean: Option<f64>,
    /// Our 90th percentile over the draft's.
    pub ratio_draft_p90: Option<f64>,
    /// The reference simulator's mean.
    pub reference_mean_us: Option<f64>,
    /// The reference simulator's 90th percentile.
    pub reference_p90_us: Option<f64>,
    /// Our mean over the reference simulator's.
    pub ratio_reference_mean: Option<f64>,
    /// Our 90th percentile over the reference simulator's.
    pub ratio_reference_p90: Option<f64>,
    /// The physical limit.
    pub limit_us: Option<u64>,
    /// Our mean over the physical limit, both counted from the start of the transfer.
    pub ratio_limit: Option<f64>,
    /// Packets that the sender sent, mean of the runs.
    pub packets_sent: f64,
    /// Packets that the sender declared lost, mean of the runs.
    pub packets_lost: f64,
    /// Packets declared lost that had arrived, mean of the runs.
    pub spurious_losses: f64,
    /// Packets that the queue dropped, mean of the runs.
    pub packets_dropped: f64,
}

/// The rows of a table, in the order of `cells`, which were measured with the base seed `seed`.
#[must_use]
pub fn rows(cells: &[Cell<'_>], seed: u64, figures: &PublishedFigures) -> Vec<Row> {
    cells.iter().map(|cell| row(cell, seed, figures)).collect()
}

fn row(cell: &Cell<'_>, seed: u64, figures: &PublishedFigures) -> Row {
    let (completion, largest) = match &cell.media {
        None => (&cell.completion, &cell.completion),
        Some(media) => (&media.average, &media.max),
    };
    let published = figures.of(cell.scenario, cell.algorithm.name());
    let limit_us = physical_limit(cell.scenario).map(|limit| limit.completion_us);
    let start_us = cell.scenario.transfer.start_us as f64;
    let over = |ours: f64, theirs: f64| (theirs > 0.0).then(|| rounded(ours / theirs, 10_000.0));
    let mean_of = |count: fn(&crate::Outcome) -> u64| {
        let sum: u128 = cell.outcomes.iter().map(|outcome| u128::from(count(outcome))).sum();
        rounded(sum as f64 / cell.outcomes.len().max(1) as f64, 10.0)
    };
    Row {
        scenario: cell.scenario.name.clone(),
        algorithm: cell.algorithm.name(),
        runs: completion.count,
        seed,
        mean_us: rounded(completion.mean, 10.0),
        p90_us: rounded(largest.p90, 10.0),
        median_us: rounded(completion.median, 10.0),
        min_us: completion.min,
        max_us: largest.max,
        sd_us: rounded(completion.sd, 10.0),
        mean_ci95_us: completion.mean_ci95.map(|half| rounded(half, 10.0)),
        draft_mean_us: published.map(|p| p.draft_mean_us),
        draft_p90_us: published.map(|p| p.draft_p90_us),
        ratio_draft_mean: published.and_then(|p| over(completion.mean, p.draft_mean_us)),
        ratio_draft_p90: published.and_then(|p| over(largest.p90, p.draft_p90_us)),
        reference_mean_us: published.map(|p| p.reference_mean_us),
        reference_p90_us: published.map(|p| p.reference_p90_us),
        ratio_reference_mean: published.and_then(|p| over(completion.mean, p.reference_mean_us)),
        ratio_reference_p90: published.and_then(|p| over(largest.p90, p.reference_p90_us)),
        limit_us,
        ratio_limit: limit_us.and_then(|limit| over(completion.mean - start_us, limit as f64 - start_us)),
        packets_sent: mean_of(|outcome| outcome.packets_sent),
        packets_lost: mean_of(|outcome| outcome.packets_lost),
        spurious_losses: mean_of(|outcome| outcome.spurious_losses),
        packets_dropped: mean_of(|outcome| outcome.dropped),
    }
}

/// `value` to the nearest multiple of 1/`per_unit`.
fn rounded(value: f64, per_unit: f64) -> f64 {
    (value * per_unit).round() / per_unit
}

/// A result could not be written in the format asked for.
#[derive(Debug)]
pub struct RenderError(String);

impl fmt::Display for RenderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot write the result: {}", self.0)
    }
}

impl std::error::Error for RenderError {}

impl From<csv::Error> for RenderError {
    fn from(error: csv::Error) -> Self {
        Self(error.to_string())
    }
}

impl From<serde_json::Error> for RenderError {
    fn from(error: serde_json::Error) -> Self {
        Self(error.to_string())
    }
}

/// `rows` as CSV with a header.
pub(crate) fn csv_text<T: Serialize>(rows: &[T]) -> Result<String, RenderError> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for row in rows {
        writer.serialize(row)?;
    }
    finish_csv(writer)
}

fn finish_csv(writer: csv::Writer<Vec<u8>>) -> Result<String, RenderError> {
    let bytes = writer.into_inner().map_err(|e| RenderError(e.to_string()))?;
    String::from_utf8(bytes).map_err(|e| RenderError(e.to_string()))
}

/// `value` as JSON with a line break at its end.
pub(crate) fn json_text<T: Serialize>(value: &T) -> Result<String, RenderError> {
    Ok(serde_json::to_string_pretty(value)? + "\n")
}
