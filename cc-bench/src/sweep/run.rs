//! The runs: what is measured in each, and in which order.

use super::bench::{Bench, Load, RawPath, Seen};
use super::{Cell, Sweep, SweepError};
use crate::media::{Deadline, MediaReport};
use crate::record::Record;
use crate::router::Limits;
use crate::workload::{BulkFlow, PhaseCpu, Report, Samples};
use cc_relay::RelayStats;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};

/// A run, as it is in `runs.csv`. Empty is what there was not.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Run {
    pub(crate) cc: String,
    pub(crate) loss_ppm: Option<u32>,
    pub(crate) delay_us: Option<u64>,
    pub(crate) rate_kbps: Option<u64>,
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
    /// CPU time over time of each program, in the phase in which that was most.
    pub(crate) cpu_client: Option<f64>,
    pub(crate) cpu_server: Option<f64>,
    pub(crate) cpu_relay: Option<f64>,
    /// Part of all CPUs of the clients' machine that was in use, by whatever process, in the phase in which that was most.
    pub(crate) cpu_machine: Option<f64>,
    /// What limited this run besides the path: `client`, `server` or `relay` if it had no CPU time left, `machine` if no CPU had,
    /// `late` if more than 1 % of the relay's departures were later than 1 ms, `raw` if it did what the hosts do without a path.
    pub(crate) bound_by: String,
    pub(crate) media_frames: Option<u64>,
    pub(crate) media_complete: Option<u64>,
    pub(crate) media_datagrams: Option<u64>,
    pub(crate) media_arrived: Option<u64>,
    pub(crate) media_delay_p50_us: Option<u64>,
    pub(crate) media_delay_p99_us: Option<u64>,
    pub(crate) media_sender_late_max_us: Option<u64>,
    /// For each deadline, with semicolons between them: deadline in microseconds, frames in time, lateness p50 and p99 in microseconds.
    pub(crate) media_deadlines: String,
}

/// What `samples.jsonl` has of a run.
#[derive(Debug, Serialize)]
struct Line<'a> {
    cc: &'a str,
    loss_ppm: Option<u32>,
    delay_us: Option<u64>,
    rate_kbps: Option<u64>,
    clients: u32,
    run: u32,
    flows: &'a [BulkFlow],
    cpu: &'a [PhaseCpu],
    samples: Option<&'a Samples>,
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
        record: &mut Record,
        mut done: Vec<Run>,
        stop: &AtomicBool,
    ) -> Result<(RawPath, Vec<Run>), SweepError> {
        let bench = Bench::new(self)?;
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
                    let (outcome, report) = self.run(&bench, &raw, cell, run);
                    // Interrupted in the middle: not a run. A terminal has interrupted the programs, too.
                    if stop.load(Ordering::Relaxed) {
                        progress.abandon_with_message("interrupted");
                        return Ok((raw, done));
                    }
                    if let Some(error) = &outcome.error {
                        progress.suspend(|| eprintln!("{} {} clients: {error}", outcome.cc, outcome.clients));
                    }
                    record.append("samples.jsonl", &outcome.line(report.as_ref()))?;
                    record.run(&outcome)?;
                    done.push(outcome);
                }
                progress.inc(1);
            }
        }
        progress.finish_with_message("done");
        if let Some(report) = bench.end().map_err(SweepError::Other)? {
            let text = serde_json::to_string_pretty(&report);
            record.file("server.json", &text.map_err(|error| SweepError::Other(error.to_string()))?)?;
        }
        Ok((raw, done))
    }

    fn run(&self, bench: &Bench, raw: &RawPath, cell: &Cell, run: u32) -> (Run, Option<Report>) {
        let limits = Limits {
            loss_ppm: cell.loss_ppm.unwrap_or(0),
            delay_us: cell.delay_us.unwrap_or(0),
            jitter_us: self.jitter_us,
            reorder_ppm: self.reorder_ppm,
            rate_kbps: cell.rate_kbps,
            queue_us: Some(self.queue_us),
            dualpi2: self.dualpi2,
            seed: self.seed.wrapping_add(u64::from(run)),
        };
        let load = Load {
            stack: self.stack,
            controllers: cell.controllers.clone(),
            clients: cell.clients,
            messages: self.messages,
            media: self.media.clone(),
            bulk: self.bulk,
            handshake_limit: self.handshake_limit,
        };
        let mut outcome = Run::of(cell, run);
        match bench.run(&limits, &load) {
            Ok(seen) => {
                outcome.fill(&seen, raw);
                (outcome, Some(seen.report))
            }
            Err(error) => {
                outcome.error = Some(error);
                (outcome, None)
            }
        }
    }
}

impl Run {
    pub(super) fn of(cell: &Cell, run: u32) -> Self {
        let Cell { loss_ppm, delay_us, rate_kbps, clients, .. } = *cell;
        Self { cc: cell.name(), loss_ppm, delay_us, rate_kbps, clients, run, ..Self::default() }
    }

    /// What makes it this run and no other.
    fn key(&self) -> (String, Option<u32>, Option<u64>, Option<u64>, u32, u32) {
        (self.cc.clone(), self.loss_ppm, self.delay_us, self.rate_kbps, self.clients, self.run)
    }

    fn line<'a>(&'a self, report: Option<&'a Report>) -> Line<'a> {
        let Self { loss_ppm, delay_us, rate_kbps, clients, run, .. } = *self;
        Line {
            cc: &self.cc,
            loss_ppm,
            delay_us,
            rate_kbps,
            clients,
            run,
            flows: report.and_then(|report| report.bulk.as_ref()).map_or(&[], |bulk| &bulk.flows),
            cpu: report.map_or(&[], |report| &report.cpu),
            samples: report.and_then(|report| report.samples.as_ref()),
        }
    }

    pub(super) fn fill(&mut self, seen: &Seen, raw: &RawPath) {
        let Seen { report, router, cpu_relay } = seen;
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
        if let Some(media) = &report.media {
            self.fill_media(media);
        }
        if let Some(router) = router {
            let RelayStats { to_server, timing, .. } = &router.stats;
            self.relay_received = Some(to_server.received.packets);
            self.relay_dropped_queue = Some(to_server.dropped.queue_full);
            self.relay_dropped_aqm = Some(to_server.dropped.aqm);
            self.relay_dropped_random = Some(to_server.dropped.random_loss);
            self.relay_marked_ce = Some(to_server.marked_ce);
            self.relay_late_mean_us = Some(timing.late_mean_us());
            let late = (timing.later_than_1ms * 1_000_000).checked_div(timing.departures).unwrap_or(0);
            self.relay_late_1ms_of_million = Some(late);
        }
        let most = |of: fn(&PhaseCpu) -> Option<f64>| report.cpu.iter().filter_map(of).max_by(f64::total_cmp);
        self.cpu_client = most(|phase| Some(phase.client));
        self.cpu_server = most(|phase| phase.server);
        self.cpu_machine = most(|phase| phase.machine);
        self.cpu_relay = *cpu_relay;
        self.bound_by = self.bounds(raw);
        self.error = report.errors.first().cloned();
    }

    fn fill_media(&mut self, media: &MediaReport) {
        self.media_frames = Some(media.frames);
        self.media_complete = Some(media.complete);
        self.media_datagrams = Some(media.datagrams);
        self.media_arrived = Some(media.arrived);
        self.media_delay_p50_us = media.delay_p50_us;
        self.media_delay_p99_us = media.delay_p99_us;
        self.media_sender_late_max_us = Some(media.sender_late_max_us);
        let deadlines = media.deadlines.iter().map(|deadline| {
            let Deadline { deadline_us, in_time, lateness_p50_us, lateness_p99_us } = deadline;
            format!("{deadline_us} {in_time} {lateness_p50_us} {lateness_p99_us}")
        });
        self.media_deadlines = deadlines.collect::<Vec<_>>().join("; ");
    }

    /// The deadlines that [`Run::media_deadlines`] has.
    pub(super) fn deadlines(&self) -> Vec<Deadline> {
        let numbers =
            |text: &str| text.split_whitespace().map_while(|word| word.parse().ok()).collect::<Vec<_>>();
        let deadline = |text| match *numbers(text) {
            [deadline_us, in_time, lateness_p50_us, lateness_p99_us] => {
                Some(Deadline { deadline_us, in_time, lateness_p50_us, lateness_p99_us })
            }
            _ => None,
        };
        self.media_deadlines.split(';').filter_map(deadline).collect()
    }

    fn bounds(&self, raw: &RawPath) -> String {
        /// Of a CPU, from which on a program had none left; it may have had to share it.
        const BUSY: f64 = 0.9;
        /// Of all CPUs, from which on none was free.
        const FULL: f64 = 0.95;
        /// Of departures, of a million, from which on the path was not what it should be.
        const LATE_PPM: u64 = 10_000;
        /// Of what the hosts do without a path.
        const RAW: f64 = 0.9;
        let above = |value: Option<f64>, limit| value.is_some_and(|value| value > limit);
        let part = self.throughput_kbps.map(|kbps| kbps / raw.throughput_kbps.max(1.0));
        let bounds = [
            ("client", above(self.cpu_client, BUSY)),
            ("server", above(self.cpu_server, BUSY)),
            ("relay", above(self.cpu_relay, BUSY)),
            ("machine", above(self.cpu_machine, FULL)),
            ("late", self.relay_late_1ms_of_million.is_some_and(|late| late > LATE_PPM)),
            ("raw", above(part, RAW)),
        ];
        let names: Vec<&str> = bounds.into_iter().filter(|&(_, is)| is).map(|(name, _)| name).collect();
        names.join(" ")
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
