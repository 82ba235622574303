//! The tables of shares: one line a flow, or one line an interval.

use super::table::new_table;
use super::{Format, RenderError, Settings, csv_text, json_text, rounded};
use crate::measure::{RunFigures, SHARE_INTERVAL_US};
use crate::scenario::Direction;
use crate::share::ShareCell;
use crate::stats::jain_index;
use serde::Serialize;

/// One flow of one cell; means of its runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ShareRow {
    /// Name of the scenario.
    pub scenario: String,
    /// Algorithm of the main flow.
    pub main: &'static str,
    /// Number of the flow: 0 for the main one.
    pub flow: usize,
    /// Algorithm of the flow.
    pub algorithm: &'static str,
    /// Which way its data goes: `forward` or `reverse`.
    pub direction: &'static str,
    /// Its share of what the forward flows get while all of them transfer; `None` for a reverse flow, or if there is no
    /// such time in some run.
    pub share: Option<f64>,
    /// Data that its client got, in Mbit/s, from its request to its last byte or the end of the run.
    pub goodput_mbps: f64,
    /// RTT without the receiver's ACK delay, mean over time, in milliseconds.
    pub rtt_mean_ms: Option<f64>,
    /// The same, 95th percentile.
    pub rtt_p95_ms: Option<f64>,
    /// Datagrams lost on the way to the receiver, in percent of those sent.
    pub loss_percent: f64,
    /// Jain's index of the forward flows' shares.
    pub jain: Option<f64>,
    /// Part of the capacity of the forward link that was used.
    pub utilisation: f64,
    /// Waiting time in front of the forward link, mean over time, in milliseconds.
    pub queue_mean_ms: Option<f64>,
    /// The same, 95th percentile.
    pub queue_p95_ms: Option<f64>,
    /// Number of runs.
    pub runs: usize,
    /// Base seed.
    pub seed: u64,
}

/// The rows of `cells`, which were measured with the base seed `seed`.
#[must_use]
pub fn share_rows(cells: &[ShareCell], seed: u64) -> Vec<ShareRow> {
    cells
        .iter()
        .flat_map(|cell| {
            let flows = 0..=cell.scenario.flows.len();
            flows.map(move |flow| row(cell, flow, seed))
        })
        .collect()
}

fn row(cell: &ShareCell, flow: usize, seed: u64) -> ShareRow {
    let (algorithm, direction) = match flow.checked_sub(1).and_then(|other| cell.scenario.flows.get(other)) {
        Some(other) => (other.algorithm.with(cell.main), other.direction),
        None => (cell.main, Direction::Forward),
    };
    let mean = |value: &dyn Fn(&RunFigures) -> f64| {
        cell.runs.iter().map(value).sum::<f64>() / cell.runs.len().max(1) as f64
    };
    let mean_of = |value: &dyn Fn(&RunFigures) -> Option<f64>| {
        let values: Option<Vec<f64>> = cell.runs.iter().map(value).collect();
        values.map(|values| values.iter().sum::<f64>() / values.len().max(1) as f64)
    };
    let ms = |value: &dyn Fn(&RunFigures) -> Option<f64>| mean_of(value).map(|us| rounded(us / 1e3, 1e3));
    // Shares are in the order of the forward flows.
    let others = cell.scenario.flows.iter().take(flow.saturating_sub(1));
    let forward_before = others.filter(|other| other.direction == Direction::Forward).count();
    let place = usize::from(flow > 0) + forward_before;
    let share = (direction == Direction::Forward)
        .then(|| mean_of(&|run| run.common.as_ref()?.shares.get(place).copied()))
        .flatten();
    ShareRow {
        scenario: cell.scenario.name.clone(),
        main: cell.main.name(),
        flow,
        algorithm: algorithm.name(),
        direction: match direction {
            Direction::Forward => "forward",
            Direction::Reverse => "reverse",
        },
        share: share.map(|share| rounded(share, 1e4)),
        goodput_mbps: rounded(mean(&|run| run.flows[flow].goodput_bps) / 1e6, 1e4),
        rtt_mean_ms: ms(&|run| run.flows[flow].rtt.mean),
        rtt_p95_ms: ms(&|run| run.flows[flow].rtt.p95),
        loss_percent: rounded(mean(&|run| run.flows[flow].loss) * 100.0, 1e4),
        jain: mean_of(&|run| Some(run.common.as_ref()?.jain)).map(|jain| rounded(jain, 1e4)),
        utilisation: rounded(mean(&|run| run.utilisation), 1e4),
        queue_mean_ms: ms(&|run| run.queue.mean),
        queue_p95_ms: ms(&|run| run.queue.p95),
        runs: cell.runs.len(),
        seed,
    }
}

/// `rows` in `format`, with a line break at the end.
///
/// # Errors
///
/// The writer of the format refuses a value.
pub fn render_shares(rows: &[ShareRow], settings: Settings, format: Format) -> Result<String, RenderError> {
    #[derive(Serialize)]
    struct Shares<'a> {
        #[serde(flatten)]
        settings: Settings,
        rows: &'a [ShareRow],
    }
    match format {
        Format::Table => Ok(text_table(rows, settings)),
        Format::Csv => csv_text(rows),
        Format::Json => json_text(&Shares { settings, rows }),
    }
}

fn text_table(rows: &[ShareRow], settings: Settings) -> String {
    let mut table = new_table(
        &["scenario", "flow"],
        &["share", "Mbit/s", "RTT", "p95", "loss %", "Jain", "used", "queue", "p95"],
    );
    for row in rows {
        // What the flows have in common stands in the line of the main flow.
        let first = |cell: String| if row.flow == 0 { cell } else { String::new() };
        table.add_row([
            first(row.scenario.clone()),
            row.algorithm.to_owned() + if row.direction == "reverse" { " (reverse)" } else { "" },
            decimals(row.share, 3),
            decimals(Some(row.goodput_mbps), 2),
            decimals(row.rtt_mean_ms, 1),
            decimals(row.rtt_p95_ms, 1),
            decimals(Some(row.loss_percent), 2),
            first(decimals(row.jain, 3)),
            first(decimals(Some(row.utilisation), 3)),
            first(decimals(row.queue_mean_ms, 1)),
            first(decimals(row.queue_p95_ms, 1)),
        ]);
    }
    let Settings { runs, seed } = settings;
    format!(
        "{table}\n\
         Means of {runs} runs, seed {seed}; times in milliseconds, means and 95th percentiles over time.\n\
         share: of the data that the forward flows get while all of them transfer; Jain: index of these shares.\n\
         used: part of the capacity of the forward link; queue: waiting time in front of it.\n"
    )
}

/// `value` with this many decimals, or `-`.
pub(super) fn decimals(value: Option<f64>, decimals: usize) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.decimals$}"))
}

/// What the flows got in one interval of one run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ShareLine {
    /// Name of the scenario.
    pub scenario: String,
    /// Algorithms of the flows, the main one first, with `+` between them.
    pub flows: String,
    /// End of the interval, in seconds of virtual time.
    pub until_s: f64,
    /// Data that each client got, in Mbit/s, in the same order, with blanks between them.
    pub goodput_mbps: String,
    /// Share of each of the sum, in the same order, with blanks between them; empty if nobody got anything.
    pub shares: String,
    /// Jain's index of the shares.
    pub jain: Option<f64>,
}

/// The first run of each of `cells`, cut into intervals of `interval_us`, which is rounded up to tenths of a second.
#[must_use]
pub fn share_lines(cells: &[ShareCell], interval_us: u64) -> Vec<ShareLine> {
    cells.iter().flat_map(|cell| lines(cell, interval_us)).collect()
}

fn lines(cell: &ShareCell, interval_us: u64) -> Vec<ShareLine> {
    let Some(run) = cell.runs.first() else { return Vec::new() };
    let notes = usize::try_from(interval_us.div_ceil(SHARE_INTERVAL_US)).unwrap_or(usize::MAX).max(1);
    let algorithms: Vec<&str> = run.outcome.flows.iter().map(|flow| flow.algorithm.name()).collect();
    let mut before = vec![0; algorithms.len()];
    let mut lines = Vec::new();
    for (index, received) in run.received.iter().enumerate() {
        if !(index + 1).is_multiple_of(notes) {
            continue;
        }
        let got: Vec<f64> =
            received.iter().zip(&before).map(|(after, before)| (after - before) as f64).collect();
        before.clone_from(received);
        let interval_s = (notes as u64 * SHARE_INTERVAL_US) as f64 / 1e6;
        let sum: f64 = got.iter().sum();
        let listed = |value: &dyn Fn(f64) -> String| {
            got.iter().map(|&bytes| value(bytes)).collect::<Vec<_>>().join(" ")
        };
        lines.push(ShareLine {
            scenario: cell.scenario.name.clone(),
            flows: algorithms.join("+"),
            until_s: rounded((index + 1) as f64 * SHARE_INTERVAL_US as f64 / 1e6, 10.0),
            goodput_mbps: listed(&|bytes| format!("{:.3}", bytes * 8.0 / 1e6 / interval_s)),
            shares: if sum > 0.0 { listed(&|bytes| format!("{:.3}", bytes / sum)) } else { String::new() },
            jain: jain_index(&got).map(|jain| rounded(jain, 1e4)),
        });
    }
    lines
}

/// `lines` in `format`, with a line break at the end.
///
/// # Errors
///
/// The writer of the format refuses a value.
pub fn render_share_lines(lines: &[ShareLine], format: Format) -> Result<String, RenderError> {
    match format {
        Format::Csv => csv_text(lines),
        Format::Json => json_text(&lines),
        Format::Table => {
            let mut table = new_table(&["scenario", "flows"], &["until s", "Mbit/s", "shares", "Jain"]);
            for line in lines {
                table.add_row([
                    line.scenario.clone(),
                    line.flows.clone(),
                    format!("{:.1}", line.until_s),
                    line.goodput_mbps.clone(),
                    line.shares.clone(),
                    decimals(line.jain, 3),
                ]);
            }
            Ok(format!("{table}\nWhat the clients got in each interval of the first run.\n"))
        }
    }
}
