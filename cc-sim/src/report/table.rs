//! The table of the main job: one line a scenario and algorithm.

use super::{Format, RenderError, Row, Settings, csv_text, json_text};
use comfy_table::{CellAlignment, Table, presets};
use serde::Serialize;

/// `rows` in `format`, with a line break at the end.
///
/// # Errors
///
/// The writer of the format refuses a value.
pub fn render_results(rows: &[Row], settings: Settings, format: Format) -> Result<String, RenderError> {
    #[derive(Serialize)]
    struct Results<'a> {
        #[serde(flatten)]
        settings: Settings,
        rows: &'a [Row],
    }
    match format {
        Format::Table => Ok(text_table(rows, settings)),
        Format::Csv => csv_text(rows),
        Format::Json => json_text(&Results { settings, rows }),
    }
}

fn text_table(rows: &[Row], settings: Settings) -> String {
    let mut table = new_table(
        &["scenario", "cc"],
        &["mean", "p90", "draft mean", "draft p90", "ref mean", "ref p90", "limit"],
    );
    for row in rows {
        table.add_row([
            row.scenario.clone(),
            row.algorithm.to_owned(),
            seconds(Some(row.mean_us)),
            seconds(Some(row.p90_us)),
            with_ratio(row.draft_mean_us, row.ratio_draft_mean),
            with_ratio(row.draft_p90_us, row.ratio_draft_p90),
            with_ratio(row.reference_mean_us, row.ratio_reference_mean),
            with_ratio(row.reference_p90_us, row.ratio_reference_p90),
            with_ratio(row.limit_us.map(|us| us as f64), row.ratio_limit),
        ]);
    }
    let Settings { runs, seed } = settings;
    format!(
        "{table}\n\
         Completion times in seconds of virtual time; {runs} runs a line, seed {seed}. After each figure of others: ours over \
         it.\n\
         draft: tables of draft-huitema-ccwg-c4-test. ref: the simulator behind them, at its newest version.\n\
         limit: a sender that knew the path, to hold the mean against.\n\
         With audio and video: mean of the average frame delay, and p90 of the largest.\n"
    )
}

/// An empty table with a header: columns of text, then columns of numbers.
pub(super) fn new_table<T: ToString>(text: &[T], numbers: &[T]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN);
    table.set_header(text.iter().chain(numbers).map(ToString::to_string));
    for column in table.column_iter_mut().skip(text.len()) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

/// Seconds with three decimals, with five below one second, or `-`.
pub(super) fn seconds(us: Option<f64>) -> String {
    let decimals = |us: f64| if us < 1e6 { 5 } else { 3 };
    us.map_or_else(|| "-".to_owned(), |us| format!("{:.*}", decimals(us), us / 1e6))
}

/// A figure of others and our ratio to it, or `-`.
fn with_ratio(us: Option<f64>, value: Option<f64>) -> String {
    us.map_or_else(|| "-".to_owned(), |_| format!("{} {}", seconds(us), ratio(value)))
}

/// A ratio with three decimals, or `-`.
pub(super) fn ratio(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.3}"))
}
