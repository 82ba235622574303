//! N clients against one server on three hosts, over every combination of loss, delay, rate, clients and controller.

use crate::child::Child;
use crate::controllers::Controller;
use crate::hosts::{Host, Hosts, HostsError};
use crate::record::{Record, RecordError};
use crate::workload::{Blast, BulkFlow, Report};
use cc_relay::{EcnCounts, RelayStats};
use cc_sim::stats::Summary;
use comfy_table::{CellAlignment, Table, presets};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashSet};
use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use std::{error, fmt, io};

/// Port of the server, and of the relay in front of it: every host has its own.
const PORT: u16 = 4_433;

/// What a program that is started on a host says when it is ready.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Ready {
    /// Where it listens.
    pub address: SocketAddr,
}

/// The last line of the router.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RouterReport {
    /// Counters of the relay.
    pub stats: RelayStats,
    /// CPU time over time, while it ran.
    pub cpu_share: f64,
}

/// The last line of the server.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ServerReport {
    /// Datagrams that arrived, by codepoint.
    pub received: EcnCounts,
    /// CPU time over time, while it ran.
    pub cpu_share: f64,
}

/// What to vary, and what to do in each cell.
#[derive(Clone, Debug, PartialEq)]
pub struct Sweep {
    /// Controllers of the clients of a cell, in turn; each mix has its own cells.
    pub mixes: Vec<Vec<Controller>>,
    /// CPUs that client, router and server run on; any if not given.
    pub cpus: Option<[usize; 3]>,
    /// Random losses each way, of a million.
    pub losses_ppm: Vec<u32>,
    /// Delays each way in microseconds.
    pub delays_us: Vec<u64>,
    /// Rates each way in kbit/s.
    pub rates_kbps: Vec<u64>,
    /// Numbers of clients.
    pub clients: Vec<u32>,
    /// Queue each way in microseconds at the rate.
    pub queue_us: u64,
    /// DualPI2 in the place of tail drop.
    pub dualpi2: bool,
    /// Messages of each client in the echo phase.
    pub messages: u32,
    /// How long the bulk phase takes.
    pub bulk: Duration,
    /// How long a client may take for its handshake.
    pub handshake_limit: Duration,
    /// Runs of each cell.
    pub runs: u32,
    /// Of the relays' randomness.
    pub seed: u64,
}

/// A path and who is on it.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// Whose senders, in turn.
    pub controllers: Vec<Controller>,
    /// Random loss each way, of a million.
    pub loss_ppm: u32,
    /// Delay each way in microseconds.
    pub delay_us: u64,
    /// Rate each way in kbit/s.
    pub rate_kbps: u64,
    /// How many clients.
    pub clients: u32,
}

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

/// What the hosts do without a path: the measure for everything else.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RawPath {
    /// One flow of quinn's own CUBIC through a relay that limits nothing, in kbit/s.
    pub throughput_kbps: f64,
    /// Echo of one byte through it, median in microseconds.
    pub echo_p50_us: u64,
    /// Packets that this flow lost, of those it sent.
    pub lost_packets: u64,
    /// How many it sent.
    pub sent_packets: u64,
    /// Datagrams of 1200 bytes that the relay forwarded while a client sent as fast as it could, in kbit/s of payload.
    pub blast_kbps: f64,
    /// Part of these datagrams that the relay did not get to see, for want of room in its buffer.
    pub blast_lost: f64,
}

/// Why a sweep ends.
#[derive(Debug)]
pub enum SweepError {
    /// No hosts.
    Hosts(HostsError),
    /// The record cannot be written.
    Record(RecordError),
    /// A program of a host does not start, or the system refuses something.
    Other(String),
}

impl fmt::Display for SweepError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Hosts(error) => error.fmt(f),
            Self::Record(error) => error.fmt(f),
            Self::Other(error) => f.write_str(error),
        }
    }
}

impl error::Error for SweepError {}

impl From<HostsError> for SweepError {
    fn from(error: HostsError) -> Self {
        Self::Hosts(error)
    }
}

impl From<RecordError> for SweepError {
    fn from(error: RecordError) -> Self {
        Self::Record(error)
    }
}

/// The hosts with a server that runs.
#[derive(Debug)]
struct Bench {
    hosts: Hosts,
    program: PathBuf,
    certificate: PathBuf,
    cpus: Option<[usize; 3]>,
    server: Option<Child>,
}

/// The path of a relay; `None` where nothing limits.
#[derive(Clone, Copy, Debug, Default)]
struct Limits {
    loss_ppm: Option<u32>,
    delay_us: Option<u64>,
    rate_kbps: Option<u64>,
    queue_us: Option<u64>,
    dualpi2: bool,
    seed: u64,
}

/// What the clients do.
#[derive(Clone, Debug)]
struct Load {
    controllers: Vec<Controller>,
    clients: u32,
    messages: u32,
    bulk: Duration,
    handshake_limit: Duration,
}

impl Bench {
    fn new(folder: &Path, cpus: Option<[usize; 3]>) -> Result<Self, SweepError> {
        let other = |error: io::Error| SweepError::Other(error.to_string());
        let program = std::env::current_exe().map_err(other)?;
        // The programs of the hosts find it from any working directory.
        let folder = std::path::absolute(folder).map_err(other)?;
        let (hosts, certificate) = (Hosts::for_this_process()?, folder.join("certificate.der"));
        let mut bench = Self { hosts, program, certificate, cpus, server: None };
        let mut command = bench.program(Host::Server);
        let address = SocketAddr::new(Hosts::SERVER, PORT);
        command.arg("--listen").arg(address.to_string()).arg("--certificate").arg(&bench.certificate);
        let (server, _) = Child::start::<Ready>("server", command).map_err(SweepError::Other)?;
        bench.server = Some(server);
        Ok(bench)
    }

    /// The program of a host.
    fn program(&self, host: Host) -> Command {
        let mut command = self.hosts.command(host, &self.program);
        let (name, index) = match host {
            Host::Client => ("client", 0),
            Host::Router => ("router", 1),
            Host::Server => ("server", 2),
        };
        command.arg(name);
        if let Some(cpu) = self.cpus.and_then(|cpus| cpus.get(index).copied()) {
            command.args(["--cpu", &cpu.to_string()]);
        }
        command
    }

    /// Runs the clients through a relay.
    fn run(&self, limits: &Limits, load: &Load) -> Result<(Report, RouterReport), String> {
        let (router, ready) = Child::start::<Ready>("router", self.router(limits))?;
        let names: Vec<&str> = load.controllers.iter().map(|controller| controller.name()).collect();
        let mut command = self.program(Host::Client);
        let arguments: [(&str, OsString); 8] = [
            ("--connect", ready.address.to_string().into()),
            ("--certificate", self.certificate.clone().into()),
            ("--cc", names.join(",").into()),
            ("--clients", load.clients.to_string().into()),
            ("--messages", load.messages.to_string().into()),
            ("--bulk-s", load.bulk.as_secs_f64().to_string().into()),
            ("--handshake-limit-s", load.handshake_limit.as_secs_f64().to_string().into()),
            ("--echo-limit-s", ECHO_LIMIT.as_secs().to_string().into()),
        ];
        command.arg("--tied").args(arguments.into_iter().flat_map(|(name, value)| [name.into(), value]));
        let started = Child::start::<serde_json::Value>("client", command);
        let report = started.and_then(|(mut client, _)| {
            let patience = load.handshake_limit + ECHO_LIMIT + load.bulk + Duration::from_secs(20);
            client.line::<Report>(patience)
        });
        let router = router.stop::<RouterReport>()?;
        Ok((report?, router))
    }

    fn router(&self, limits: &Limits) -> Command {
        let Limits { loss_ppm, delay_us, rate_kbps, queue_us, dualpi2, seed } = *limits;
        let mut command = self.program(Host::Router);
        let address = |ip| SocketAddr::new(ip, PORT).to_string();
        command.args(["--listen", &address(Hosts::ROUTER), "--server", &address(Hosts::SERVER)]);
        command.args(["--seed", &seed.to_string()]);
        for (name, value) in [
            ("--loss-percent", loss_ppm.map(|ppm| f64::from(ppm) / 1e4)),
            ("--delay-ms", delay_us.map(|us| us as f64 / 1e3)),
            ("--rate-mbps", rate_kbps.map(|kbps| kbps as f64 / 1e3)),
            ("--queue-ms", queue_us.map(|us| us as f64 / 1e3)),
        ] {
            if let Some(value) = value {
                command.args([name, &value.to_string()]);
            }
        }
        if dualpi2 {
            command.arg("--dualpi2");
        }
        command
    }

    fn raw_path(&self) -> Result<RawPath, String> {
        let load = Load {
            controllers: vec![Controller::QuinnCubic],
            clients: 1,
            messages: 200,
            bulk: Duration::from_secs(2),
            handshake_limit: Duration::from_secs(10),
        };
        let (report, _) = self.run(&Limits::default(), &load)?;
        let (Some(echo), Some(bulk)) = (report.echo, report.bulk) else {
            return Err(format!("raw path: {}", report.errors.join("; ")));
        };
        let (blast_kbps, blast_lost) = self.blast(Duration::from_secs(1))?;
        let sum = |of: fn(&BulkFlow) -> u64| bulk.flows.iter().map(of).sum();
        Ok(RawPath {
            throughput_kbps: bulk.throughput_kbps,
            echo_p50_us: echo.p50_us,
            lost_packets: sum(|flow| flow.lost_packets),
            sent_packets: sum(|flow| flow.sent_packets),
            blast_kbps,
            blast_lost,
        })
    }

    /// What the relay forwards of a client that sends as fast as it can, in kbit/s, and what part it does not see.
    fn blast(&self, duration: Duration) -> Result<(f64, f64), String> {
        let (router, ready) = Child::start::<Ready>("router", self.router(&Limits::default()))?;
        let mut command = self.program(Host::Client);
        command
            .args(["--tied", "--connect", &ready.address.to_string(), "--certificate"])
            .arg(&self.certificate);
        command.args(["--blast-s", &duration.as_secs_f64().to_string()]);
        let started = Child::start::<serde_json::Value>("client", command);
        let blast =
            started.and_then(|(mut client, _)| client.line::<Blast>(duration + Duration::from_secs(10)))?;
        let forwarded = router.stop::<RouterReport>()?.stats.to_server.forwarded;
        let lost = 1.0 - forwarded.packets as f64 / blast.packets.max(1) as f64;
        Ok((forwarded.bytes as f64 * 8e-3 / duration.as_secs_f64(), lost))
    }
}

/// How long a client may take for all of its messages.
const ECHO_LIMIT: Duration = Duration::from_secs(60);

impl Sweep {
    /// The cells, in the order of the table.
    #[must_use]
    pub fn cells(&self) -> Vec<Cell> {
        let mut cells = Vec::new();
        for &rate_kbps in &self.rates_kbps {
            for &delay_us in &self.delays_us {
                for &loss_ppm in &self.losses_ppm {
                    for &clients in &self.clients {
                        let cell = |controllers: &Vec<Controller>| Cell {
                            controllers: controllers.clone(),
                            loss_ppm,
                            delay_us,
                            rate_kbps,
                            clients,
                        };
                        cells.extend(self.mixes.iter().map(cell));
                    }
                }
            }
        }
        cells
    }

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

impl Cell {
    /// Its controllers, with a plus sign between them.
    fn name(&self) -> String {
        self.controllers.iter().map(|controller| controller.name()).collect::<Vec<_>>().join("+")
    }
}

impl Run {
    fn of(cell: &Cell, run: u32) -> Self {
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
fn shares(flows: &[BulkFlow]) -> String {
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

/// The shares of several runs, averaged; empty if there are none.
fn mean_shares(runs: &[&Run]) -> String {
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

#[cfg(test)]
mod tests {
    use super::{RawPath, Run, Sweep, markdown, mean_shares, shares};
    use crate::controllers::Controller;
    use crate::workload::BulkFlow;
    use std::time::Duration;

    fn sweep() -> Sweep {
        Sweep {
            mixes: vec![vec![Controller::C4], vec![Controller::QuinnCubic]],
            cpus: None,
            losses_ppm: vec![0, 10_000],
            delays_us: vec![10_000],
            rates_kbps: vec![20_000],
            clients: vec![1, 8],
            queue_us: 50_000,
            dualpi2: false,
            messages: 10,
            bulk: Duration::from_secs(1),
            handshake_limit: Duration::from_secs(5),
            runs: 2,
            seed: 1,
        }
    }

    #[test]
    fn every_combination_is_a_cell() {
        assert_eq!(sweep().cells().len(), 2 * 2 * 2);
    }

    #[test]
    fn a_mix_is_one_cell_and_has_shares() {
        let mut mixed = sweep();
        mixed.mixes = vec![vec![Controller::C4, Controller::Cubic]];
        assert_eq!(mixed.cells().len(), 2 * 2);
        assert_eq!(mixed.cells()[0].name(), "c4+cubic");
        let flow = |cc: &str, throughput_kbps| BulkFlow {
            cc: cc.to_owned(),
            bytes: 1,
            duration_us: 1,
            throughput_kbps,
            sent_packets: 1,
            lost_packets: 0,
        };
        assert_eq!(shares(&[flow("c4", 3.0), flow("cubic", 5.0), flow("c4", 2.0)]), "c4 0.50 cubic 0.50");
        assert_eq!(shares(&[flow("c4", 3.0), flow("c4", 2.0)]), "");
        let run = |shares: &str| Run { shares: shares.to_owned(), ..Run::default() };
        let (first, second) = (run("c4 0.50 cubic 0.50"), run("c4 0.70 cubic 0.30"));
        assert_eq!(mean_shares(&[&first, &second]), "(c4 0.60, cubic 0.40)");
        assert_eq!(mean_shares(&[&run("")]), "");
    }

    #[test]
    fn a_row_has_the_means_of_its_runs() {
        let cell = sweep().cells()[0].clone();
        let run = |number, kbps: f64| Run {
            connected: 1,
            throughput_kbps: Some(kbps),
            lost_packets: Some(3),
            sent_packets: Some(200),
            bound_by: "relay".to_owned(),
            ..Run::of(&cell, number)
        };
        let raw = RawPath {
            throughput_kbps: 100_000.0,
            echo_p50_us: 90,
            lost_packets: 0,
            sent_packets: 9,
            blast_kbps: 1e6,
            blast_lost: 0.25,
        };
        let text = markdown(&sweep(), &raw, &[run(1, 10_000.0), run(2, 14_000.0)]);
        let row: Vec<&str> =
            text.lines().nth(2).unwrap().trim_matches('|').split('|').map(str::trim).collect();
        assert_eq!(row[..6], ["c4", "20", "10", "0", "1", "2/2"]);
        // 12 with a deviation of 4 / sqrt(2); 12 % of the raw path; 3 of 200.
        assert_eq!(row[10..12], ["12.00 ± 2.83", "12.0 ± 2.8"]);
        assert_eq!((row[14], row[18]), ("1.50 ± 0.00", "relay"));
        assert_eq!(text.lines().filter(|line| line.starts_with('|')).count(), 3);
    }
}
