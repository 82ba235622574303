//! The table of a sweep.

use super::{RawPath, Run, Sweep};
use cc_sim::stats::Summary;
use comfy_table::{CellAlignment, Table, presets};
use std::collections::BTreeMap;

/// The table in Markdown: a row for each cell.
#[must_use]
pub fn markdown(sweep: &Sweep, raw: &RawPath, runs: &[Run]) -> String {
    let texts = ["CC"];
    let numbers = [
        "Rate (Mbit/s)",
        "Delay (ms)",
        "Loss (%)",
        "Clients",
        "Connected",
        "Connect p50 (ms)",
        "Connect p99 (ms)",
        "Echo p50 (ms)",
        "Echo p99 (ms)",
        "Throughput (Mbit/s)",
        "of raw (%)",
        "Jain",
        "RTT mean (ms)",
        "Lost (%)",
        "CE",
        "CPU client",
        "CPU relay",
        "Bound by",
    ];
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN);
    table.set_header(texts.iter().chain(&numbers));
    for column in table.column_iter_mut().skip(texts.len()) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    for cell in sweep.cells() {
        let key = |run: &Run| (run.cc.clone(), run.loss_ppm, run.delay_us, run.rate_kbps, run.clients);
        let this = key(&Run::of(&cell, 0));
        let of_cell: Vec<&Run> = runs.iter().filter(|run| key(run) == this).collect();
        if of_cell.is_empty() {
            continue;
        }
        let of = |value: &dyn Fn(&Run) -> Option<f64>, unit: f64, decimals: usize| {
            // In thousandths, which the summary takes whole.
            let values: Vec<u64> = of_cell
                .iter()
                .filter_map(|run| value(run))
                .map(|value| (value / unit * 1e3).round() as u64)
                .collect();
            match Summary::of(&values) {
                None => "-".to_owned(),
                Some(Summary { count: 1, mean, .. }) => format!("{:.decimals$}", mean / 1e3),
                Some(Summary { mean, sd, .. }) => {
                    format!("{:.decimals$} ± {:.decimals$}", mean / 1e3, sd / 1e3)
                }
            }
        };
        let connected: u32 = of_cell.iter().map(|run| run.connected).sum();
        let mut bounds: Vec<&str> = of_cell.iter().flat_map(|run| run.bound_by.split_whitespace()).collect();
        bounds.sort_unstable();
        bounds.dedup();
        let whole = |value: Option<u64>| value.map(|value| value as f64);
        table.add_row([
            cell.name(),
            format!("{}", cell.rate_kbps as f64 / 1e3),
            format!("{}", cell.delay_us as f64 / 1e3),
            format!("{}", f64::from(cell.loss_ppm) / 1e4),
            cell.clients.to_string(),
            format!("{connected}/{}", cell.clients * of_cell.len() as u32),
            of(&|run| whole(run.connect_p50_us), 1e3, 1),
            of(&|run| whole(run.connect_p99_us), 1e3, 1),
            of(&|run| whole(run.echo_p50_us), 1e3, 1),
            of(&|run| whole(run.echo_p99_us), 1e3, 1),
            of(&|run| run.throughput_kbps, 1e3, 2),
            of(&|run| run.throughput_kbps.map(|kbps| 100.0 * kbps / raw.throughput_kbps), 1.0, 1),
            format!("{} {}", of(&|run| run.jain, 1.0, 2), mean_shares(&of_cell)).trim_end().to_owned(),
            of(&|run| run.rtt_mean_us, 1e3, 1),
            of(&|run| Some(100.0 * run.lost_packets? as f64 / (run.sent_packets?.max(1)) as f64), 1.0, 2),
            of(&|run| whole(run.relay_marked_ce), 1.0, 0),
            of(&|run| run.cpu_client, 1.0, 2),
            of(&|run| run.cpu_relay, 1.0, 2),
            bounds.join(" "),
        ]);
    }
    format!(
        "{table}\n\n\
         Three network namespaces; rate, delay and loss each way in the router's relay, queue of {} ms each way, {}. Means over the \
         runs and standard deviations. Raw path, through a relay that limits nothing: {:.0} Mbit/s with one flow of quinn's CUBIC \
         ({} of {} packets lost), echo {:.2} ms; of a UDP blast the relay forwarded {:.0} Mbit/s ({:.1} % lost). Bound by: what had no CPU time left (client, relay), or late: more than 1 % of the \
         relay's departures later than 1 ms.\n",
        sweep.queue_us as f64 / 1e3,
        if sweep.dualpi2 { "DualPI2" } else { "tail drop" },
        raw.throughput_kbps / 1e3,
        raw.lost_packets,
        raw.sent_packets,
        raw.echo_p50_us as f64 / 1e3,
        raw.blast_kbps / 1e3,
        100.0 * raw.blast_lost,
    )
}

/// The shares of several runs, averaged; empty if there are none.
pub(super) fn mean_shares(runs: &[&Run]) -> String {
    let mut sums: BTreeMap<&str, f64> = BTreeMap::new();
    for run in runs {
        let words: Vec<&str> = run.shares.split_whitespace().collect();
        for pair in words.chunks_exact(2) {
            if let [cc, share] = *pair {
                *sums.entry(cc).or_default() += share.parse().unwrap_or(0.0);
            }
        }
    }
    let shares = sums.iter().map(|(cc, sum)| format!("{cc} {:.2}", sum / runs.len() as f64));
    let shares: Vec<String> = shares.collect();
    if shares.is_empty() { String::new() } else { format!("({})", shares.join(", ")) }
}
