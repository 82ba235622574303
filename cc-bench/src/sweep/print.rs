//! The tables of a sweep.

use super::{Cell, Place, RawPath, Run, Sweep};
use cc_sim::stats::Summary;
use comfy_table::{CellAlignment, Table, presets};
use std::collections::{BTreeMap, BTreeSet};

/// What each row begins with.
const PATH: [&str; 5] = ["CC", "Rate (Mbit/s)", "Delay (ms)", "Loss (%)", "Clients"];

const FIGURES: [&str; 20] = [
    "Connected",
    "Connect mean (ms)",
    "Connect p50 (ms)",
    "Connect p99 (ms)",
    "Echo p50 (ms)",
    "Echo p99 (ms)",
    "Echo p99.9 (ms)",
    "Throughput (Mbit/s)",
    "of raw (%)",
    "Jain",
    "RTT mean (ms)",
    "Lost (%)",
    "CE",
    "CPU client",
    "CPU relay",
    "CPU server",
    "CPU all",
    "Bound by",
    "Runs",
    "Failed",
];

const MEDIA_FIGURES: [&str; 9] = [
    "Deadline (ms)",
    "Frames whole (%)",
    "in time (%)",
    "Lateness p50 (ms)",
    "Lateness p99 (ms)",
    "Delay p50 (ms)",
    "Delay p99 (ms)",
    "Datagrams lost (%)",
    "Sender late (ms)",
];

/// The tables in Markdown, a row for each cell; what their reader has to know stands below them.
#[must_use]
pub fn markdown(sweep: &Sweep, raw: &RawPath, runs: &[Run]) -> String {
    let cells = sweep.cells();
    let rows: Vec<(&Cell, Vec<&Run>)> = cells
        .iter()
        .map(|cell| (cell, runs.iter().filter(|run| is_of(run, cell)).collect::<Vec<_>>()))
        .filter(|(_, runs)| !runs.is_empty())
        .collect();
    let mut text = format!("{}\n\n{}", main_table(&rows, raw), notes(sweep, raw));
    if sweep.media.is_some() {
        text += &format!("\n{}\n\n{}", media_table(&rows), media_notes(sweep));
    }
    text
}

fn main_table(rows: &[(&Cell, Vec<&Run>)], raw: &RawPath) -> Table {
    let mut table = new_table(&FIGURES);
    for (cell, runs) in rows {
        let of = |value: &dyn Fn(&Run) -> Option<f64>, unit, decimals| spread(runs, value, unit, decimals);
        let connected: u32 = runs.iter().map(|run| run.connected).sum();
        let bounds: BTreeSet<&str> = runs.iter().flat_map(|run| run.bound_by.split_whitespace()).collect();
        let failed = runs.iter().filter(|run| run.error.is_some()).count();
        let mut row = path(cell);
        row.extend([
            format!("{connected}/{}", cell.clients as usize * runs.len()),
            of(&|run| run.connect_mean_us, 1e3, 1),
            of(&|run| whole(run.connect_p50_us), 1e3, 1),
            of(&|run| whole(run.connect_p99_us), 1e3, 1),
            of(&|run| whole(run.echo_p50_us), 1e3, 1),
            of(&|run| whole(run.echo_p99_us), 1e3, 1),
            of(&|run| whole(run.echo_p999_us), 1e3, 1),
            of(&|run| run.throughput_kbps, 1e3, 2),
            of(&|run| run.throughput_kbps.map(|kbps| 100.0 * kbps / raw.throughput_kbps.max(1.0)), 1.0, 1),
            format!("{} {}", of(&|run| run.jain, 1.0, 2), mean_shares(runs)).trim_end().to_owned(),
            of(&|run| run.rtt_mean_us, 1e3, 1),
            of(&|run| percent(run.lost_packets?, run.sent_packets?), 1.0, 2),
            of(&|run| whole(run.relay_marked_ce), 1.0, 0),
            of(&|run| run.cpu_client, 1.0, 2),
            of(&|run| run.cpu_relay, 1.0, 2),
            of(&|run| run.cpu_server, 1.0, 2),
            of(&|run| run.cpu_machine, 1.0, 2),
            bounds.into_iter().collect::<Vec<_>>().join(" "),
            runs.len().to_string(),
            failed.to_string(),
        ]);
        table.add_row(row);
    }
    table
}

fn media_table(rows: &[(&Cell, Vec<&Run>)]) -> Table {
    let mut table = new_table(&MEDIA_FIGURES);
    for (cell, runs) in rows {
        let of = |value: &dyn Fn(&Run) -> Option<f64>, unit, decimals| spread(runs, value, unit, decimals);
        let deadlines: BTreeSet<u64> =
            runs.iter().flat_map(|run| run.deadlines()).map(|deadline| deadline.deadline_us).collect();
        for deadline_us in deadlines {
            let this = |run: &Run| run.deadlines().into_iter().find(|one| one.deadline_us == deadline_us);
            let mut row = path(cell);
            row.extend([
                format!("{}", deadline_us as f64 / 1e3),
                of(&|run| percent(run.media_complete?, run.media_frames?), 1.0, 1),
                of(&|run| percent(this(run)?.in_time, run.media_frames?), 1.0, 1),
                of(&|run| whole(Some(this(run)?.lateness_p50_us)), 1e3, 1),
                of(&|run| whole(Some(this(run)?.lateness_p99_us)), 1e3, 1),
                of(&|run| whole(run.media_delay_p50_us), 1e3, 1),
                of(&|run| whole(run.media_delay_p99_us), 1e3, 1),
                of(
                    &|run| {
                        let sent = run.media_datagrams?;
                        percent(sent.saturating_sub(run.media_arrived?), sent)
                    },
                    1.0,
                    2,
                ),
                of(&|run| whole(run.media_sender_late_max_us), 1e3, 1),
            ]);
            table.add_row(row);
        }
    }
    table
}

fn notes(sweep: &Sweep, raw: &RawPath) -> String {
    let place = match sweep.place {
        Place::Namespaces => "Three network namespaces",
        Place::Loopback => "Client, relay and server on the loopback interface",
        Place::Server { .. } => "Separate machines, the path as it is",
        Place::Router { .. } => "Separate machines, a relay between them",
    };
    let path = if matches!(sweep.place, Place::Server { .. }) {
        String::new()
    } else {
        let jitter = if sweep.jitter_us > 0 {
            format!(", mean jitter of {} ms", sweep.jitter_us as f64 / 1e3)
        } else {
            String::new()
        };
        let reordering = if sweep.reorder_ppm > 0 {
            format!(", {} % of the datagrams late and overtaken", f64::from(sweep.reorder_ppm) / 1e4)
        } else {
            String::new()
        };
        format!(
            "; rate, delay and loss each way in the relay, queue of {} ms each way, {}{jitter}{reordering}",
            sweep.queue_us as f64 / 1e3,
            if sweep.dualpi2 { "DualPI2" } else { "tail drop" },
        )
    };
    let RawPath { probed, throughput_kbps, echo_p50_us, lost_packets, sent_packets } = raw;
    format!(
        "Clients: {}. {place}{path}. Means over the runs and standard deviations. Raw path{}: UDP blast {:.0} Mbit/s ({:.1} % lost), UDP round trip \
         {:.2} ms ({:.1} % lost), one flow of quinn's CUBIC {:.0} Mbit/s ({lost_packets} of {sent_packets} packets lost), echo {:.2} ms; \
         `of raw` is of that flow. CPU: of one CPU, in the busiest phase; all: part of all CPUs in use, by whatever process. Bound by: \
         what had no CPU time left (client, server, relay, machine), late: more than 1 % of the relay's departures later than 1 ms, \
         raw: nine tenths of what the hosts do without a path.\n",
        sweep.stack.name(),
        if matches!(sweep.place, Place::Server { .. }) {
            ""
        } else {
            ", through a relay that limits nothing"
        },
        probed.blast_kbps / 1e3,
        100.0 * probed.blast_lost,
        probed.ping.p50_us as f64 / 1e3,
        100.0 * probed.ping_lost,
        throughput_kbps / 1e3,
        *echo_p50_us as f64 / 1e3,
    )
}

fn media_notes(sweep: &Sweep) -> String {
    sweep.media.as_ref().map_or_else(String::new, |media| {
        format!(
            "Frames of {} bytes, {} in a second from each client for {:?}, as QUIC datagrams. Delay: from the hand-over of a frame to the stack until \
             the last of its datagrams was there, of frames that arrived whole. In time: of all frames. Lateness: what the delay is above \
             the deadline. Sender late: the longest that a frame was handed over after it was due.\n",
            media.frame_bytes, media.frames_per_s, media.duration
        )
    })
}

fn new_table(figures: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN);
    table.set_header(PATH.iter().chain(figures));
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

fn path(cell: &Cell) -> Vec<String> {
    let number = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| value.to_string());
    vec![
        cell.name(),
        number(cell.rate_kbps.map(|kbps| kbps as f64 / 1e3)),
        number(cell.delay_us.map(|us| us as f64 / 1e3)),
        number(cell.loss_ppm.map(|ppm| f64::from(ppm) / 1e4)),
        cell.clients.to_string(),
    ]
}

fn is_of(run: &Run, cell: &Cell) -> bool {
    run.cc == cell.name()
        && (run.loss_ppm, run.delay_us, run.rate_kbps, run.clients)
            == (cell.loss_ppm, cell.delay_us, cell.rate_kbps, cell.clients)
}

/// Mean and standard deviation of the runs that have a value.
fn spread(runs: &[&Run], value: &dyn Fn(&Run) -> Option<f64>, unit: f64, decimals: usize) -> String {
    // In thousandths, which the summary takes whole.
    let values: Vec<u64> =
        runs.iter().filter_map(|run| value(run)).map(|value| (value / unit * 1e3).round() as u64).collect();
    match Summary::of(&values) {
        None => "-".to_owned(),
        Some(Summary { count: 1, mean, .. }) => format!("{:.decimals$}", mean / 1e3),
        Some(Summary { mean, sd, .. }) => format!("{:.decimals$} ± {:.decimals$}", mean / 1e3, sd / 1e3),
    }
}

fn whole(value: Option<u64>) -> Option<f64> {
    value.map(|value| value as f64)
}

/// `None` of nothing.
fn percent(part: u64, of: u64) -> Option<f64> {
    (of > 0).then(|| 100.0 * part as f64 / of as f64)
}

/// The shares of several runs, averaged; empty if there are none.
pub(super) fn mean_shares(runs: &[&Run]) -> String {
    let mut sums: BTreeMap<&str, f64> = BTreeMap::new();
    // Those that failed have none.
    let shared = runs.iter().filter(|run| !run.shares.is_empty());
    let count = shared.clone().count();
    for run in shared {
        let words: Vec<&str> = run.shares.split_whitespace().collect();
        for pair in words.chunks_exact(2) {
            if let [cc, share] = *pair {
                *sums.entry(cc).or_default() += share.parse().unwrap_or(0.0);
            }
        }
    }
    let shares = sums.iter().map(|(cc, sum)| format!("{cc} {:.2}", sum / count as f64));
    let shares: Vec<String> = shares.collect();
    if shares.is_empty() { String::new() } else { format!("({})", shares.join(", ")) }
}
