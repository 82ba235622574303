//! Algorithms side by side: one line a scenario, ratios to the first algorithm.

use super::table::{new_table, ratio, seconds};
use super::{Format, RenderError, Row, Settings, finish_csv, json_text, rounded};
use serde::Serialize;

/// `rows` side by side: those of a scenario follow each other, with the same algorithms in the same order for each.
///
/// # Errors
///
/// The writer of the format refuses a value.
pub fn render_comparison(rows: &[Row], settings: Settings, format: Format) -> Result<String, RenderError> {
    #[derive(Serialize)]
    struct Comparison<'a> {
        #[serde(flatten)]
        settings: Settings,
        scenarios: Vec<Line<'a>>,
    }
    let lines = lines(rows);
    match format {
        Format::Table => Ok(text_table(&lines, settings)),
        Format::Csv => csv_lines(&lines, settings),
        Format::Json => json_text(&Comparison { settings, scenarios: lines }),
    }
}

/// One scenario.
#[derive(Serialize)]
struct Line<'a> {
    scenario: &'a str,
    limit_us: Option<u64>,
    algorithms: Vec<Column>,
}

/// One algorithm in it. The first of a line has the ratios 1.
#[derive(Serialize)]
struct Column {
    algorithm: &'static str,
    mean_us: f64,
    p90_us: f64,
    /// Over the first algorithm's.
    ratio_mean: f64,
    ratio_p90: f64,
}

fn lines(rows: &[Row]) -> Vec<Line<'_>> {
    rows.chunk_by(|a, b| a.scenario == b.scenario)
        .filter_map(|rows| {
            let first = rows.first()?;
            let algorithms = rows
                .iter()
                .map(|row| Column {
                    algorithm: row.algorithm,
                    mean_us: row.mean_us,
                    p90_us: row.p90_us,
                    // No run completes at time 0: the handshake alone takes microseconds.
                    ratio_mean: rounded(row.mean_us / first.mean_us, 10_000.0),
                    ratio_p90: rounded(row.p90_us / first.p90_us, 10_000.0),
                })
                .collect();
            Some(Line { scenario: &first.scenario, limit_us: first.limit_us, algorithms })
        })
        .collect()
}

fn text_table(lines: &[Line<'_>], settings: Settings) -> String {
    let mut header = Vec::new();
    if let Some(line) = lines.first() {
        for (i, column) in line.algorithms.iter().enumerate() {
            header.extend([format!("{} mean", column.algorithm), format!("{} p90", column.algorithm)]);
            if i > 0 {
                header.extend(["/mean".to_owned(), "/p90".to_owned()]);
            }
        }
    }
    header.push("limit".to_owned());
    let mut table = new_table(&["scenario".to_owned()], &header);
    for line in lines {
        let mut cells = vec![line.scenario.to_owned()];
        for (i, column) in line.algorithms.iter().enumerate() {
            cells.extend([seconds(Some(column.mean_us)), seconds(Some(column.p90_us))]);
            if i > 0 {
                cells.extend([ratio(Some(column.ratio_mean)), ratio(Some(column.ratio_p90))]);
            }
        }
        cells.push(seconds(line.limit_us.map(|us| us as f64)));
        table.add_row(cells);
    }
    let first = lines.first().and_then(|line| line.algorithms.first()).map_or("", |column| column.algorithm);
    let Settings { runs, seed } = settings;
    format!(
        "{table}\n\
         Completion times in seconds of virtual time; {runs} runs a cell, seed {seed}. /mean, /p90: over those of \
         {first}.\nlimit: a sender that knew the path.\n"
    )
}

/// A column for each figure of each algorithm, `c4_mean_us` and so on.
fn csv_lines(lines: &[Line<'_>], settings: Settings) -> Result<String, RenderError> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    if let Some(line) = lines.first() {
        let mut header = ["scenario", "runs", "seed", "limit_us"].map(str::to_owned).to_vec();
        for column in &line.algorithms {
            let name = column.algorithm;
            header.extend(["mean_us", "p90_us", "ratio_mean", "ratio_p90"].map(|f| format!("{name}_{f}")));
        }
        writer.write_record(&header)?;
    }
    for line in lines {
        let limit_us = line.limit_us.map_or_else(String::new, |us| us.to_string());
        let mut record =
            vec![line.scenario.to_owned(), settings.runs.to_string(), settings.seed.to_string(), limit_us];
        for column in &line.algorithms {
            let figures = [column.mean_us, column.p90_us, column.ratio_mean, column.ratio_p90];
            record.extend(figures.map(|figure| figure.to_string()));
        }
        writer.write_record(&record)?;
    }
    finish_csv(writer)
}
