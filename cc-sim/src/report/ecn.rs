//! The table of the ECN tests: one line a flow, with marks, shares and the delay of each queue.

use super::share::decimals;
use super::table::{new_table, seconds};
use super::{Format, RenderError, Settings, csv_text, json_text, rounded};
use crate::MediaOutcome;
use crate::measure::{AqmFigures, RunFigures};
use crate::scenario::Direction;
use crate::share::ShareCell;
use serde::Serialize;

/// One flow of one cell; means of its runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EcnRow {
    /// Name of the scenario.
    pub scenario: String,
    /// Algorithm of the main flow.
    pub main: &'static str,
    /// Number of the flow: 0 for the main one.
    pub flow: usize,
    /// Algorithm of the flow.
    pub algorithm: &'static str,
    /// When its connection was closed, in microseconds of virtual time; `None` if that was after the end of some run.
    pub completion_us: Option<f64>,
    /// Average delay of its audio datagrams and video frames, in microseconds; `None` if it carries none.
    pub frame_delay_us: Option<f64>,
    /// The largest of them; mean of the runs.
    pub frame_delay_max_us: Option<f64>,
    /// Its share of what the forward flows get while all of them transfer; `None` for a reverse flow, or if there is no
    /// such time in some run.
    pub share: Option<f64>,
    /// Data that its client got, in Mbit/s, from its request to its last byte or the end of the run.
    pub goodput_mbps: f64,
    /// Datagrams that its sender sent.
    pub packets_sent: f64,
    /// Datagrams that an AQM marked CE on the way to its client.
    pub marked: f64,
    /// CE marks that its sender was told of.
    pub ce_reported: f64,
    /// Datagrams that an AQM dropped although there was room.
    pub dropped_early: f64,
    /// Datagrams that found no room.
    pub dropped_full: f64,
    /// Runs in which ECN failed validation.
    pub ecn_failed: usize,
    /// Jain's index of the forward flows' shares.
    pub jain: Option<f64>,
    /// Part of the capacity of the forward link that was used.
    pub utilisation: f64,
    /// Time that the datagrams of the forward link spent in the L queue, mean in milliseconds; `None` if none was in it.
    pub l4s_mean_ms: Option<f64>,
    /// The same, 99th percentile.
    pub l4s_p99_ms: Option<f64>,
    /// The same of the classic queue; without an AQM the waiting time in front of the link over time.
    pub classic_mean_ms: Option<f64>,
    /// The same, 99th percentile.
    pub classic_p99_ms: Option<f64>,
    /// Number of runs.
    pub runs: usize,
    /// Base seed.
    pub seed: u64,
}

/// The rows of `cells`, which were measured with the base seed `seed`.
#[must_use]
pub fn ecn_rows(cells: &[ShareCell], seed: u64) -> Vec<EcnRow> {
    cells
        .iter()
        .flat_map(|cell| {
            let flows = cell.runs.first().map_or(0, |run| run.flows.len());
            (0..flows).map(move |flow| row(cell, flow, seed))
        })
        .collect()
}

fn row(cell: &ShareCell, flow: usize, seed: u64) -> EcnRow {
    let count = cell.runs.len().max(1) as f64;
    let mean = |value: &dyn Fn(&RunFigures) -> f64| cell.runs.iter().map(value).sum::<f64>() / count;
    let mean_of = |value: &dyn Fn(&RunFigures) -> Option<f64>| {
        let values: Option<Vec<f64>> = cell.runs.iter().map(value).collect();
        values.map(|values| values.iter().sum::<f64>() / count)
    };
    let number = |value: &dyn Fn(&RunFigures) -> u64| rounded(mean(&|run| value(run) as f64), 10.0);
    let ms = |value: &dyn Fn(&RunFigures) -> Option<f64>| mean_of(value).map(|us| rounded(us / 1e3, 1e3));
    let l4s = |run: &RunFigures| run.aqm.map(|AqmFigures { l4s, .. }| l4s.sojourn);
    let classic = |run: &RunFigures| run.aqm.map_or(run.queue, |AqmFigures { classic, .. }| classic.sojourn);
    let outcome = |run: &RunFigures| run.outcome.flows[flow];
    // Only the main flow carries audio and video.
    let media = |figure: fn(&MediaOutcome) -> u64| {
        let of_run = |run: &RunFigures| run.outcome.main.media.as_ref().map(|media| figure(media) as f64);
        mean_of(&of_run).filter(|_| flow == 0).map(|us| rounded(us, 10.0))
    };
    let share = |run: &RunFigures| {
        let flows = &run.outcome.flows;
        let is_forward = |flow: usize| flows[flow].direction == Direction::Forward;
        let place = (0..flow).filter(|&other| is_forward(other)).count();
        run.common.as_ref().filter(|_| is_forward(flow))?.shares.get(place).copied()
    };
    EcnRow {
        scenario: cell.scenario.name.clone(),
        main: cell.main.name(),
        flow,
        algorithm: cell.runs.first().map_or("", |run| outcome(run).algorithm.name()),
        completion_us: mean_of(&|run| outcome(run).completion_us.map(|us| us as f64))
            .map(|us| rounded(us, 10.0)),
        frame_delay_us: media(|media| media.average_us),
        frame_delay_max_us: media(|media| media.max_us),
        share: mean_of(&share).map(|share| rounded(share, 1e4)),
        goodput_mbps: rounded(mean(&|run| run.flows[flow].goodput_bps) / 1e6, 1e4),
        packets_sent: number(&|run| outcome(run).counters.packets_sent),
        marked: number(&|run| outcome(run).counters.marked),
        ce_reported: number(&|run| outcome(run).counters.ce_reported),
        dropped_early: number(&|run| outcome(run).counters.dropped_early),
        dropped_full: number(&|run| {
            let counters = outcome(run).counters;
            counters.dropped - counters.dropped_early
        }),
        ecn_failed: cell.runs.iter().filter(|run| outcome(run).counters.ecn_failed).count(),
        jain: mean_of(&|run| Some(run.common.as_ref()?.jain)).map(|jain| rounded(jain, 1e4)),
        utilisation: rounded(mean(&|run| run.utilisation), 1e4),
        l4s_mean_ms: ms(&|run| l4s(run)?.mean),
        l4s_p99_ms: ms(&|run| l4s(run)?.p99),
        classic_mean_ms: ms(&|run| classic(run).mean),
        classic_p99_ms: ms(&|run| classic(run).p99),
        runs: cell.runs.len(),
        seed,
    }
}

/// `rows` in `format`, with a line break at the end.
///
/// # Errors
///
/// The writer of the format refuses a value.
pub fn render_ecn(rows: &[EcnRow], settings: Settings, format: Format) -> Result<String, RenderError> {
    #[derive(Serialize)]
    struct Ecn<'a> {
        #[serde(flatten)]
        settings: Settings,
        rows: &'a [EcnRow],
    }
    match format {
        Format::Table => Ok(text_table(rows, settings)),
        Format::Csv => csv_text(rows),
        Format::Json => json_text(&Ecn { settings, rows }),
    }
}

fn text_table(rows: &[EcnRow], settings: Settings) -> String {
    let mut table = new_table(
        &["scenario", "flow"],
        &["completion", "share", "sent", "CE", "early", "full", "used", "L mean", "L p99", "C mean", "C p99"],
    );
    let mut frames = String::new();
    for row in rows {
        if let (Some(mean_us), Some(max_us)) = (row.frame_delay_us, row.frame_delay_max_us) {
            frames += &format!(
                "{} with {}: average frame delay {:.1} ms, largest {:.1} ms.\n",
                row.scenario,
                row.main,
                mean_us / 1e3,
                max_us / 1e3
            );
        }
        // What the flows have in common stands in the line of the main flow.
        let first = |cell: String| if row.flow == 0 { cell } else { String::new() };
        table.add_row([
            first(row.scenario.clone()),
            row.algorithm.to_owned(),
            seconds(row.completion_us),
            decimals(row.share, 3),
            decimals(Some(row.packets_sent), 0),
            decimals(Some(row.marked), 0),
            decimals(Some(row.dropped_early), 0),
            decimals(Some(row.dropped_full), 0),
            first(decimals(Some(row.utilisation), 3)),
            first(decimals(row.l4s_mean_ms, 2)),
            first(decimals(row.l4s_p99_ms, 2)),
            first(decimals(row.classic_mean_ms, 2)),
            first(decimals(row.classic_p99_ms, 2)),
        ]);
    }
    let Settings { runs, seed } = settings;
    format!(
        "{table}\n{frames}\
         Means of {runs} runs, seed {seed}. completion: in seconds of virtual time; share: of the data that the forward flows \
         get while all of them transfer.\n\
         sent: datagrams; CE: of them marked; early, full: dropped by an AQM, and for want of room; used: part of the capacity \
         of the forward link.\n\
         L, C: milliseconds that datagrams spent in the L queue and in the classic queue, mean and 99th percentile; without an \
         AQM C is the waiting time in front of the link over time.\n"
    )
}
