//! The runs: what is measured in each, and in which order.

use super::bench::{Bench, Limits, Load, RawPath, RouterReport, ServerReport};
use super::{Cell, Sweep, SweepError};
use crate::child::Child;
use crate::record::Record;
use crate::workload::{BulkFlow, Report};
use cc_relay::RelayStats;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// A run, as it is in `runs.csv`. Empty is what there was not.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Run {
    pub(crate) cc: String,
    pub(crate) loss_ppm: u32,
    pub(crate) delay_us: u64,
    pub(crate) rate_kbps: u64,
    pub(crate) clients: u32,
    pub(crate) run: u32,
    /// Why there are no figures.
    pub(crate) error: Option<String>,
    pub(crate) connected: u32,
    pub(crate) echoed: u32,
    pub(crate) connect_mean_us: Option<f64>,
    pub(crate) connect_p50_us: Option<u64>,
    pub(crate) connect_p99_us: Option<u64>,
    pub(crate) echo_p50_us: Option<u64>,
    pub(crate) echo_p99_us: Option<u64>,
    pub(crate) echo_p999_us: Option<u64>,
    pub(crate) throughput_kbps: Option<f64>,
    pub(crate) jain: Option<f64>,
    /// Of a mix: the share of each controller.
    pub(crate) shares: String,
    pub(crate) rtt_mean_us: Option<f64>,
    pub(crate) rtt_p99_us: Option<u64>,
    pub(crate) sent_packets: Option<u64>,
    pub(crate) lost_packets: Option<u64>,
    pub(crate) relay_received: Option<u64>,
    pub(crate) relay_dropped_queue: Option<u64>,
    pub(crate) relay_dropped_aqm: Option<u64>,
    pub(crate) relay_dropped_random: Option<u64>,
    pub(crate) relay_marked_ce: Option<u64>,
    pub(crate) relay_late_mean_us: Option<f64>,
    pub(crate) relay_late_1ms_of_million: Option<u64>,
    pub(crate) cpu_client: Option<f64>,
    pub(crate) cpu_relay: Option<f64>,
    /// What limited this run besides the path: `client` or `relay` if it had no CPU time left, `late` if more than 1 % of the
    /// departures were later than 1 ms.
    pub(crate) bound_by: String,
}

impl Sweep {
    /// Measures every cell, all of them once before any of them for the second time. Runs that are in `done` already are not
    /// repeated. Stops early if `stop` becomes true. Hosts and programs are gone when it returns.
    ///
    /// # Errors
    ///
    /// See [`SweepError`]. A run that fails is a run with an error.
    pub fn measure(
        &self,
        folder: &Path,
        record: &mut Record,
        mut done: Vec<Run>,
        stop: &AtomicBool,
    ) -> Result<(RawPath, Vec<Run>), SweepError> {
        let bench = Bench::new(folder, self.cpus)?;
        let raw = bench.raw_path().map_err(SweepError::Other)?;
        let text =
            serde_json::to_string_pretty(&raw).map_err(|error| SweepError::Other(error.to_string()))?;
        record.file("raw_path.json", &text)?;
        let known: HashSet<_> = done.iter().map(Run::key).collect();
        let cells = self.cells();
        let progress = crate::table::progress_bar(cells.len() as u64 * u64::from(self.runs));
        for run in 1..=self.runs {
            for cell in &cells {
                if stop.load(Ordering::Relaxed) {
                    progress.abandon_with_message("interrupted");
                    return Ok((raw, done));
                }
                if !known.contains(&Run::of(cell, run).key()) {
                    progress.set_message(format!("{} {} clients", cell.name(), cell.clients));
                    let outcome = self.run(&bench, cell, run);
                    // Interrupted in the middle: not a run.
                    if stop.load(Ordering::Relaxed) {
                        continue;
                    }
                    if let Some(error) = &outcome.error {
                        progress.suspend(|| eprintln!("{} {} clients: {error}", outcome.cc, outcome.clients));
                    }
                    record.run(&outcome)?;
                    done.push(outcome);
                }
                progress.inc(1);
            }
        }
        progress.finish_with_message("done");
        if let Some(server) = bench.server.map(Child::stop::<ServerReport>) {
            let report = server.map_err(SweepError::Other)?;
            let text = serde_json::to_string_pretty(&report);
            record.file("server.json", &text.map_err(|error| SweepError::Other(error.to_string()))?)?;
        }
        Ok((raw, done))
    }

    fn run(&self, bench: &Bench, cell: &Cell, run: u32) -> Run {
        let limits = Limits {
            loss_ppm: Some(cell.loss_ppm),
            delay_us: Some(cell.delay_us),
            rate_kbps: Some(cell.rate_kbps),
            queue_us: Some(self.queue_us),
            dualpi2: self.dualpi2,
            seed: self.seed.wrapping_add(u64::from(run)),
        };
        let load = Load {
            controllers: cell.controllers.clone(),
            clients: cell.clients,
            messages: self.messages,
            bulk: self.bulk,
            handshake_limit: self.handshake_limit,
        };
        let mut outcome = Run::of(cell, run);
        match bench.run(&limits, &load) {
            Ok((report, router)) => outcome.fill(&report, &router),
            Err(error) => outcome.error = Some(error),
        }
        outcome
    }
}

impl Run {
    pub(super) fn of(cell: &Cell, run: u32) -> Self {
        let Cell { loss_ppm, delay_us, rate_kbps, clients, .. } = *cell;
        Self { cc: cell.name(), loss_ppm, delay_us, rate_kbps, clients, run, ..Self::default() }
    }

    /// What makes it this run and no other.
    fn key(&self) -> (String, u32, u64, u64, u32, u32) {
        (self.cc.clone(), self.loss_ppm, self.delay_us, self.rate_kbps, self.clients, self.run)
    }

    fn fill(&mut self, report: &Report, router: &RouterReport) {
        /// Of a CPU, from which on a process had none left.
        const BUSY: f64 = 0.9;
        (self.connected, self.echoed) = (report.connected, report.echoed);
        if let Some(connect) = &report.connect {
            self.connect_mean_us = Some(connect.mean_us);
            self.connect_p50_us = Some(connect.p50_us);
            self.connect_p99_us = Some(connect.p99_us);
        }
        if let Some(echo) = &report.echo {
            self.echo_p50_us = Some(echo.p50_us);
            self.echo_p99_us = Some(echo.p99_us);
            self.echo_p999_us = Some(echo.p999_us);
        }
        if let Some(bulk) = &report.bulk {
            self.throughput_kbps = Some(bulk.throughput_kbps);
            self.jain = Some(bulk.jain);
            self.shares = shares(&bulk.flows);
            self.rtt_mean_us = bulk.rtt.map(|rtt| rtt.mean_us);
            self.rtt_p99_us = bulk.rtt.map(|rtt| rtt.p99_us);
            self.sent_packets = Some(bulk.flows.iter().map(|flow| flow.sent_packets).sum());
            self.lost_packets = Some(bulk.flows.iter().map(|flow| flow.lost_packets).sum());
        }
        let RouterReport { stats: RelayStats { to_server, timing, .. }, cpu_share } = router;
        self.relay_received = Some(to_server.received.packets);
        self.relay_dropped_queue = Some(to_server.dropped.queue_full);
        self.relay_dropped_aqm = Some(to_server.dropped.aqm);
        self.relay_dropped_random = Some(to_server.dropped.random_loss);
        self.relay_marked_ce = Some(to_server.marked_ce);
        self.relay_late_mean_us = Some(timing.late_mean_us());
        let late = (timing.later_than_1ms * 1_000_000).checked_div(timing.departures).unwrap_or(0);
        self.relay_late_1ms_of_million = Some(late);
        (self.cpu_client, self.cpu_relay) = (Some(report.cpu_share), Some(*cpu_share));
        let bounds =
            [("client", report.cpu_share > BUSY), ("relay", *cpu_share > BUSY), ("late", late > 10_000)];
        let names: Vec<&str> = bounds.into_iter().filter(|&(_, is)| is).map(|(name, _)| name).collect();
        self.bound_by = names.join(" ");
        self.error = report.errors.first().cloned();
    }
}

/// What part of all that arrived was sent by each controller; empty if there is only one.
pub(super) fn shares(flows: &[BulkFlow]) -> String {
    let mut sums: BTreeMap<&str, f64> = BTreeMap::new();
    for flow in flows {
        *sums.entry(&flow.cc).or_default() += flow.throughput_kbps;
    }
    let all: f64 = sums.values().sum();
    if sums.len() < 2 || all <= 0.0 {
        return String::new();
    }
    sums.iter().map(|(cc, sum)| format!("{cc} {:.2}", sum / all)).collect::<Vec<_>>().join(" ")
}
