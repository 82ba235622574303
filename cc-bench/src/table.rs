//! The comparison: every controller on every path, several times, and the table of it.

use crate::controllers::Controller;
use crate::path::{Path, Proxy};
use crate::record::{Record, RecordError};
use crate::transfer::{self, Measured, Transfer};
use cc_sim::stats::Summary;
use comfy_table::{CellAlignment, Table, presets};
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// What to compare.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrix {
    /// Whose senders.
    pub controllers: Vec<Controller>,
    /// What is between client and server.
    pub proxies: Vec<Proxy>,
    /// Sizes of the transfers in bytes.
    pub sizes: Vec<u64>,
    /// Rates in kbit/s.
    pub rates_kbps: Vec<u64>,
    /// Delays each way in microseconds.
    pub delays_us: Vec<u64>,
    /// Random losses, of a million.
    pub losses_ppm: Vec<u32>,
    /// Room of the queue in microseconds.
    pub queue_us: u64,
    /// Runs of each cell.
    pub runs: u32,
    /// Of the relays' randomness.
    pub seed: u64,
    /// How long a transfer may take.
    pub time_limit: Duration,
    /// A cell is left out if its data would take longer than this at the full rate.
    pub patience: Duration,
    /// A cell with random loss is left out if its data are more than this: a window that is held down by losses takes minutes.
    pub lossy_bytes: u64,
}

/// A row of the table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cell {
    /// Whose sender.
    pub controller: Controller,
    /// What is between client and server.
    pub proxy: Proxy,
    /// The path, if there is a relay.
    pub path: Path,
    /// Bytes of data.
    pub bytes: u64,
}

/// A run, as it is in `runs.csv`. Empty is what there was not.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Run {
    cc: &'static str,
    proxy: &'static str,
    bytes: u64,
    rate_kbps: Option<u64>,
    delay_us: Option<u64>,
    loss_ppm: Option<u32>,
    queue_us: Option<u64>,
    run: u32,
    seed: u64,
    /// Why there is nothing to see.
    error: Option<String>,
    handshake_us: Option<u64>,
    duration_us: Option<u64>,
    throughput_kbps: Option<u64>,
    rtt_samples: Option<u64>,
    rtt_mean_us: Option<u64>,
    rtt_p95_us: Option<u64>,
    rtt_end_us: Option<u64>,
    sent_packets: Option<u64>,
    lost_packets: Option<u64>,
    lost_of_million: Option<u64>,
    congestion_events: Option<u64>,
    relay_received: Option<u64>,
    relay_forwarded: Option<u64>,
    relay_dropped_queue: Option<u64>,
    relay_dropped_aqm: Option<u64>,
    relay_dropped_random: Option<u64>,
    relay_marked_ce: Option<u64>,
    receiver_not_ect: Option<u64>,
    receiver_ect0: Option<u64>,
    receiver_ce: Option<u64>,
    unaccounted: Option<u64>,
    relay_late_mean_us: Option<u64>,
    relay_late_max_us: Option<u64>,
    relay_late_1ms_of_million: Option<u64>,
}

impl Matrix {
    /// The cells, in the order of the table.
    #[must_use]
    pub fn cells(&self) -> Vec<Cell> {
        let mut cells = Vec::new();
        for &bytes in &self.sizes {
            for path in self.paths() {
                for &proxy in self.proxies.iter().filter(|&&proxy| self.has(proxy, &path, bytes)) {
                    let cell = |&controller| Cell { controller, proxy, path, bytes };
                    cells.extend(self.controllers.iter().map(cell));
                }
            }
        }
        cells
    }

    /// How many cells there would be if none were left out for the time that they take.
    #[must_use]
    pub fn all(&self) -> usize {
        let unlimited = Self { patience: Duration::MAX, lossy_bytes: u64::MAX, ..self.clone() };
        unlimited.cells().len()
    }

    fn paths(&self) -> Vec<Path> {
        let mut paths = Vec::new();
        for &rate_kbps in &self.rates_kbps {
            for &delay_us in &self.delays_us {
                for &loss_ppm in &self.losses_ppm {
                    paths.push(Path { rate_kbps, delay_us, loss_ppm, queue_us: self.queue_us });
                }
            }
        }
        paths
    }

    fn has(&self, proxy: Proxy, path: &Path, bytes: u64) -> bool {
        if proxy == Proxy::None {
            // The path means nothing to it: once is enough.
            return self.paths().first() == Some(path);
        }
        let least = Duration::from_secs_f64(bytes as f64 * 8.0 / (path.rate_kbps as f64 * 1e3));
        least <= self.patience && (path.loss_ppm == 0 || bytes <= self.lossy_bytes)
    }

    /// Measures every cell, all of them once before any of them for the second time, so that what else the machine does
    /// falls on all alike. Stops early if `stop` becomes true.
    ///
    /// # Errors
    ///
    /// The record cannot be written. A run that fails is a run with an error.
    pub fn measure(
        &self,
        record: Option<&mut Record>,
        stop: &AtomicBool,
    ) -> Result<Vec<(Cell, Vec<Run>)>, RecordError> {
        let mut record = record;
        let mut rows: Vec<(Cell, Vec<Run>)> =
            self.cells().into_iter().map(|cell| (cell, Vec::new())).collect();
        let progress = progress_bar(rows.len() as u64 * u64::from(self.runs));
        for run in 1..=self.runs {
            for (cell, runs) in &mut rows {
                if stop.load(Ordering::Relaxed) {
                    progress.abandon_with_message("interrupted");
                    return Ok(rows);
                }
                progress.set_message(format!(
                    "{} {} {} bytes",
                    cell.controller.name(),
                    cell.proxy.name(),
                    cell.bytes
                ));
                let outcome = self.run(cell, run);
                if let Some(error) = &outcome.error {
                    progress.suspend(|| {
                        eprintln!("{} {} {} bytes: {error}", outcome.cc, outcome.proxy, outcome.bytes);
                    });
                }
                if let Some(record) = record.as_deref_mut() {
                    record.run(&outcome)?;
                }
                runs.push(outcome);
                progress.inc(1);
            }
        }
        progress.finish_with_message("done");
        Ok(rows)
    }

    fn run(&self, cell: &Cell, run: u32) -> Run {
        let seed = self.seed.wrapping_add(u64::from(run));
        let Cell { controller, proxy, path, bytes } = *cell;
        let transfer = Transfer { controller, bytes, proxy, path, seed, time_limit: self.time_limit };
        let result = transfer::run(&transfer);
        Run::new(cell, run, seed, &result.map_err(|error| error.to_string()))
    }
}

impl Run {
    fn new(cell: &Cell, run: u32, seed: u64, result: &Result<Measured, String>) -> Self {
        let path = (cell.proxy != Proxy::None).then_some(cell.path);
        let measured = result.as_ref().ok();
        let relay = measured.and_then(|measured| measured.relay.as_ref());
        let forth = relay.map(|relay| relay.to_server);
        let timing = relay.map(|relay| relay.timing);
        let of = |value: fn(&Measured) -> u64| measured.map(value);
        Self {
            cc: cell.controller.name(),
            proxy: cell.proxy.name(),
            bytes: cell.bytes,
            rate_kbps: path.map(|path| path.rate_kbps),
            delay_us: path.map(|path| path.delay_us),
            loss_ppm: path.map(|path| path.loss_ppm),
            queue_us: path.map(|path| path.queue_us),
            run,
            seed,
            error: result.as_ref().err().cloned(),
            handshake_us: of(|measured| micros(measured.handshake)),
            duration_us: of(|measured| micros(measured.duration)),
            throughput_kbps: measured.map(|measured| ratio(cell.bytes * 8_000, micros(measured.duration))),
            rtt_samples: of(|measured| measured.rtt_us.len() as u64),
            rtt_mean_us: measured.and_then(|measured| mean(&measured.rtt_us)),
            rtt_p95_us: measured.and_then(|measured| quantile(&measured.rtt_us, 95)),
            rtt_end_us: of(|measured| micros(measured.rtt_end)),
            sent_packets: of(|measured| measured.sent_packets),
            lost_packets: of(|measured| measured.lost_packets),
            lost_of_million: of(|measured| ratio(measured.lost_packets * 1_000_000, measured.sent_packets)),
            congestion_events: of(|measured| measured.congestion_events),
            relay_received: forth.map(|forth| forth.received.packets),
            relay_forwarded: forth.map(|forth| forth.forwarded.packets),
            relay_dropped_queue: forth.map(|forth| forth.dropped.queue_full),
            relay_dropped_aqm: forth.map(|forth| forth.dropped.aqm),
            relay_dropped_random: forth.map(|forth| forth.dropped.random_loss),
            relay_marked_ce: forth.map(|forth| forth.marked_ce),
            receiver_not_ect: of(|measured| measured.receiver.not_ect),
            receiver_ect0: of(|measured| measured.receiver.ect0),
            receiver_ce: of(|measured| measured.receiver.ce),
            unaccounted: of(Measured::unaccounted),
            relay_late_mean_us: timing.map(|timing| timing.late_mean_us().round() as u64),
            relay_late_max_us: timing.map(|timing| timing.late_max_us),
            relay_late_1ms_of_million: timing
                .map(|timing| ratio(timing.later_than_1ms * 1_000_000, timing.departures)),
        }
    }
}

/// The table in Markdown, with what its reader has to know below it.
#[must_use]
pub fn markdown(matrix: &Matrix, rows: &[(Cell, Vec<Run>)]) -> String {
    let texts = ["CC", "Proxy", "ECN"];
    let numbers = [
        "Rate (Mbit/s)",
        "Delay (ms)",
        "Loss (%)",
        "Data Transferred",
        "Loss Ratio",
        "RTT mean (ms)",
        "RTT p95 (ms)",
        "RTT at the end (ms)",
        "Throughput (Mbit/s)",
        "CE relay",
        "CE receiver",
        "Transfer Duration (ms)",
        "Runs",
    ];
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN);
    table.set_header(texts.iter().chain(&numbers));
    for column in table.column_iter_mut().skip(texts.len()) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    for (cell, runs) in rows.iter().filter(|(_, runs)| !runs.is_empty()) {
        let path = (cell.proxy != Proxy::None).then_some(cell.path);
        let of = |value: fn(&Run) -> Option<u64>, unit: f64, decimals: usize| {
            let values: Vec<u64> = runs.iter().filter_map(value).collect();
            spread(Summary::of(&values), unit, decimals)
        };
        let failed = runs.iter().filter(|run| run.error.is_some()).count();
        let good = runs.len() - failed;
        table.add_row([
            cell.controller.name().to_owned(),
            cell.proxy.name().to_owned(),
            if cell.proxy == Proxy::Basic { "No" } else { "Yes" }.to_owned(),
            path.map_or_else(|| "-".to_owned(), |path| short(path.rate_kbps as f64 / 1e3)),
            path.map_or_else(|| "0".to_owned(), |path| short(path.delay_us as f64 / 1e3)),
            path.map_or_else(|| "0".to_owned(), |path| short(f64::from(path.loss_ppm) / 1e4)),
            cell.bytes.to_string(),
            of(|run| run.lost_of_million, 1e6, 4),
            of(|run| run.rtt_mean_us, 1e3, 2),
            of(|run| run.rtt_p95_us, 1e3, 2),
            of(|run| run.rtt_end_us, 1e3, 2),
            of(|run| run.throughput_kbps, 1e3, 2),
            of(|run| run.relay_marked_ce, 1.0, 1),
            of(|run| run.receiver_ce, 1.0, 1),
            of(|run| run.duration_us, 1e3, 1),
            if failed == 0 { good.to_string() } else { format!("{good} ({failed} failed)") },
        ]);
    }
    let left_out = matrix.all() - rows.len();
    let runs = || rows.iter().flat_map(|(_, runs)| runs);
    let unequal =
        runs().filter(|run| run.relay_marked_ce.is_some_and(|relay| Some(relay) != run.receiver_ce)).count();
    let dropped = runs().filter(|run| run.unaccounted.is_some_and(|packets| packets > 0)).count();
    let late = runs().filter(|run| run.relay_late_1ms_of_million.is_some_and(|late| late > 10_000)).count();
    format!(
        "{table}\n\n\
         Means and standard deviations over the runs. Queue of {} ms towards the server, tail drop (Basic) or DualPI2 (ECN). \
         {left_out} cells left out: data that take longer than {:?} at the full rate, or more than {} bytes with random loss. Of \
         {} runs, {unequal} in which relay and receiver counted different marks, {dropped} in which the kernel dropped datagrams \
         behind the relay, {late} in which more than 1 % of the departures were later than 1 ms.\n",
        short(matrix.queue_us as f64 / 1e3),
        matrix.patience,
        matrix.lossy_bytes,
        runs().count(),
    )
}

/// A mean with its standard deviation.
fn spread(summary: Option<Summary>, unit: f64, decimals: usize) -> String {
    summary.map_or_else(
        || "-".to_owned(),
        |Summary { mean, sd, count, .. }| match count {
            1 => format!("{:.decimals$}", mean / unit),
            _ => format!("{:.decimals$} ± {:.decimals$}", mean / unit, sd / unit),
        },
    )
}

/// As few decimals as it needs.
fn short(value: f64) -> String {
    format!("{value}")
}

fn mean(ascending: &[u32]) -> Option<u64> {
    let sum: u64 = ascending.iter().map(|&value| u64::from(value)).sum();
    sum.checked_div(ascending.len() as u64)
}

/// The smallest value that `percent` of all are not above (nearest rank).
fn quantile(ascending: &[u32], percent: usize) -> Option<u64> {
    let rank = (ascending.len() * percent).div_ceil(100);
    ascending.get(rank.checked_sub(1)?).map(|&value| value.into())
}

/// Rounded to the nearest; 0 if there is nothing to divide by.
fn ratio(part: u64, whole: u64) -> u64 {
    (part + whole / 2).checked_div(whole).unwrap_or(0)
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

pub(crate) fn progress_bar(runs: u64) -> ProgressBar {
    let bar = ProgressBar::new(runs);
    let template = "{pos}/{len} runs, {elapsed} so far, {eta} to go, {wide_msg}";
    // A template that does not parse would be a bar with the default style.
    bar.set_style(ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar
}

#[cfg(test)]
mod tests;
