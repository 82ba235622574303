//! Algorithms side by side: one line a scenario, ratios to the first algorithm and to the figures of others.

mod standing;

use super::table::{new_table, ratio, seconds};
use super::{Format, RenderError, Row, Settings, finish_csv, json_text, rounded};
use crate::Algorithm;
use crate::scenario::builtin;
use comfy_table::Table;
use serde::Serialize;
use standing::Standing;

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
        counts: Counts,
        standing: Standing,
        scenarios: Vec<Line<'a>>,
    }
    let lines = lines(rows);
    match format {
        Format::Table => Ok(text_table(&lines, &Standing::of(rows)?, settings)),
        Format::Csv => csv_lines(&lines, settings),
        Format::Json => {
            let (counts, standing) = (Counts::of(&lines), Standing::of(rows)?);
            json_text(&Comparison { settings, counts, standing, scenarios: lines })
        }
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
    /// Half of the width of the 95 % confidence interval of the mean.
    mean_ci95_us: Option<f64>,
    median_us: f64,
    p90_us: f64,
    /// Over the first algorithm's.
    ratio_mean: f64,
    ratio_p90: f64,
    /// Over the draft's figures of the same cell.
    ratio_draft_mean: Option<f64>,
    ratio_draft_p90: Option<f64>,
    /// Over those of the reference simulator.
    ratio_reference_mean: Option<f64>,
    ratio_reference_p90: Option<f64>,
}

/// How the cells of a comparison stand to the figures of others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
struct Counts {
    /// Cells for which there are figures.
    cells: usize,
    /// Of these, the cells whose mean is at most 5 % above or below that of the draft.
    draft_within_5_percent: usize,
    /// At most 10 %.
    draft_within_10_percent: usize,
    /// The same with the reference simulator.
    reference_within_5_percent: usize,
    reference_within_10_percent: usize,
    /// Cells of C4 for which there are figures.
    c4_cells: usize,
    /// Of these, the cells whose mean is no longer than the draft's of C4.
    c4_beats_draft: usize,
    /// Of these, the cells whose mean is the shortest of its scenario.
    c4_fastest: usize,
}

impl Counts {
    fn of(lines: &[Line<'_>]) -> Self {
        let mut counts = Self::default();
        for (line, column) in lines.iter().flat_map(|line| line.algorithms.iter().map(move |c| (line, c))) {
            let (Some(draft), Some(reference)) = (column.ratio_draft_mean, column.ratio_reference_mean)
            else {
                continue;
            };
            counts.cells += 1;
            let within = |ratio: f64, part: f64| usize::from((ratio - 1.0).abs() <= part);
            counts.draft_within_5_percent += within(draft, 0.05);
            counts.draft_within_10_percent += within(draft, 0.10);
            counts.reference_within_5_percent += within(reference, 0.05);
            counts.reference_within_10_percent += within(reference, 0.10);
            if column.algorithm == Algorithm::C4.name() {
                counts.c4_cells += 1;
                counts.c4_beats_draft += usize::from(draft <= 1.0);
                let is_fastest = line.algorithms.iter().all(|other| other.mean_us >= column.mean_us);
                counts.c4_fastest += usize::from(is_fastest);
            }
        }
        counts
    }
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
                    mean_ci95_us: row.mean_ci95_us,
                    median_us: row.median_us,
                    p90_us: row.p90_us,
                    // No run completes at time 0: the handshake alone takes microseconds.
                    ratio_mean: rounded(row.mean_us / first.mean_us, 10_000.0),
                    ratio_p90: rounded(row.p90_us / first.p90_us, 10_000.0),
                    ratio_draft_mean: row.ratio_draft_mean,
                    ratio_draft_p90: row.ratio_draft_p90,
                    ratio_reference_mean: row.ratio_reference_mean,
                    ratio_reference_p90: row.ratio_reference_p90,
                })
                .collect();
            Some(Line { scenario: &first.scenario, limit_us: first.limit_us, algorithms })
        })
        .collect()
}

/// A line for each scenario and algorithm would not be side by side, and all figures in one line too wide: a table of means
/// and one of 90th percentiles. Audio and video have tables of their own.
fn text_table(lines: &[Line<'_>], standing: &Standing, settings: Settings) -> String {
    let is_media = |line: &&Line<'_>| builtin(line.scenario).is_ok_and(|scenario| scenario.media.is_some());
    let (media, transfers): (Vec<_>, Vec<_>) = lines.iter().partition(is_media);
    let mut text = String::new();
    for (lines, name, time) in
        [(transfers, "", seconds as fn(Option<f64>) -> String), (media, " ms", milliseconds)]
    {
        if lines.is_empty() {
            continue;
        }
        let means = one_table(&lines, &format!("mean{name}"), time, |column| {
            (column.mean_us, column.ratio_mean, column.ratio_draft_mean, column.ratio_reference_mean)
        });
        let p90s = one_table(&lines, &format!("p90{name}"), time, |column| {
            (column.p90_us, column.ratio_p90, column.ratio_draft_p90, column.ratio_reference_p90)
        });
        text += &format!("{means}\n{p90s}\n");
    }
    let first = lines.first().and_then(|line| line.algorithms.first()).map_or("", |column| column.algorithm);
    let Settings { runs, seed } = settings;
    text += &format!(
        "Completion times in seconds of virtual time, means and 90th percentiles; {runs} runs a cell, seed {seed}.\n\
         /{first}: over those of {first}; /draft: over the draft's; /ref: over those of the simulator behind the draft, at its \
         newest version.\nlimit: a sender that knew the path. ms, with audio and video: mean of the average frame delay, and p90 of \
         the largest.\n"
    );
    let counts = Counts::of(lines);
    if counts.cells > 0 {
        let Counts { cells, c4_cells, c4_beats_draft, c4_fastest, .. } = counts;
        text += &format!(
            "Means within 5 % of the draft's: {} of {cells} cells, within 10 %: {}; of the reference simulator's: {} and {}.\n",
            counts.draft_within_5_percent,
            counts.draft_within_10_percent,
            counts.reference_within_5_percent,
            counts.reference_within_10_percent,
        );
        if c4_cells > 0 {
            text += &format!(
                "C4 is no slower than in the draft in {c4_beats_draft} of {c4_cells} scenarios, and the fastest in {c4_fastest}.\n"
            );
        }
        text += &standing.text();
    }
    text
}

/// Milliseconds with two decimals, or `-`.
fn milliseconds(us: Option<f64>) -> String {
    us.map_or_else(|| "-".to_owned(), |us| format!("{:.2}", us / 1e3))
}

/// The figure of each algorithm, and its ratios to the first algorithm, to the draft and to the reference.
fn one_table(
    lines: &[&Line<'_>],
    name: &str,
    time: fn(Option<f64>) -> String,
    figures: impl Fn(&Column) -> (f64, f64, Option<f64>, Option<f64>),
) -> Table {
    let published = lines.iter().flat_map(|line| &line.algorithms).any(|c| c.ratio_draft_mean.is_some());
    let mut header = Vec::new();
    let columns = lines.first().map_or(&[][..], |line| &line.algorithms);
    for (i, column) in columns.iter().enumerate() {
        header.push(format!("{} {name}", column.algorithm));
        if i > 0 {
            header.push(format!("/{}", columns.first().map_or("", |first| first.algorithm)));
        }
        if published {
            header.extend(["/draft".to_owned(), "/ref".to_owned()]);
        }
    }
    header.push("limit".to_owned());
    let mut table = new_table(&["scenario".to_owned()], &header);
    for line in lines {
        let mut cells = vec![line.scenario.to_owned()];
        for (i, column) in line.algorithms.iter().enumerate() {
            let (us, to_first, to_draft, to_reference) = figures(column);
            cells.push(time(Some(us)));
            if i > 0 {
                cells.push(ratio(Some(to_first)));
            }
            if published {
                cells.extend([ratio(to_draft), ratio(to_reference)]);
            }
        }
        cells.push(time(line.limit_us.map(|us| us as f64)));
        table.add_row(cells);
    }
    table
}

/// Figures of an algorithm in CSV.
const CSV_FIGURES: [&str; 10] = [
    "mean_us",
    "mean_ci95_us",
    "median_us",
    "p90_us",
    "ratio_mean",
    "ratio_p90",
    "ratio_draft_mean",
    "ratio_draft_p90",
    "ratio_reference_mean",
    "ratio_reference_p90",
];

/// A column for each figure of each algorithm, `c4_mean_us` and so on.
fn csv_lines(lines: &[Line<'_>], settings: Settings) -> Result<String, RenderError> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    if let Some(line) = lines.first() {
        let mut header = ["scenario", "runs", "seed", "limit_us"].map(str::to_owned).to_vec();
        for column in &line.algorithms {
            let name = column.algorithm;
            header.extend(CSV_FIGURES.map(|figure| format!("{name}_{figure}")));
        }
        writer.write_record(&header)?;
    }
    for line in lines {
        let limit_us = line.limit_us.map_or_else(String::new, |us| us.to_string());
        let mut record =
            vec![line.scenario.to_owned(), settings.runs.to_string(), settings.seed.to_string(), limit_us];
        for column in &line.algorithms {
            let Column { mean_us, mean_ci95_us, median_us, p90_us, ratio_mean, ratio_p90, .. } = *column;
            let median_us = Some(median_us);
            let ours =
                [Some(mean_us), mean_ci95_us, median_us, Some(p90_us), Some(ratio_mean), Some(ratio_p90)];
            let others = [
                column.ratio_draft_mean,
                column.ratio_draft_p90,
                column.ratio_reference_mean,
                column.ratio_reference_p90,
            ];
            let figures = ours.into_iter().chain(others);
            record.extend(figures.map(|figure| figure.map_or_else(String::new, |figure| figure.to_string())));
        }
        writer.write_record(&record)?;
    }
    finish_csv(writer)
}
