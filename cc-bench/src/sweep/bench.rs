//! The programs of a sweep: a server, and for each run a relay and the clients.

use super::{Place, Sweep, SweepError};
use crate::child::Child;
use crate::controllers::Controller;
use crate::hosts::{Host, Hosts};
use crate::media::Media;
use crate::probe::Probed;
use crate::protocol::micros;
use crate::quic::Fingerprint;
use crate::router::{Limits, RouterReport};
use crate::stack::Stack;
use crate::workload::{Bulk, BulkFlow, Phase, Quantiles, Report};
use cc_relay::EcnCounts;
use serde::{Deserialize, Serialize};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

/// Port of the server, and of the relay in front of it: every host has its own.
const PORT: u16 = 4_433;

/// How long a client may take for all of its messages.
const ECHO_LIMIT: Duration = Duration::from_secs(60);

/// What a program that is started on a host says when it is ready.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Ready {
    /// Where it listens.
    pub address: SocketAddr,
    /// SHA-256 of its certificate, if it is a server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<String>,
}

/// What a server says of itself.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ServerReport {
    /// Datagrams that arrived, by codepoint.
    pub received: EcnCounts,
    /// CPU time over time, while it ran.
    pub cpu_share: f64,
}

/// What the clients say: which phase begins, and at the end the figures.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Said {
    /// A phase begins.
    Phase {
        /// Which.
        phase: Phase,
    },
    /// All is done.
    Report(Box<Report>),
}

/// What the hosts do without a path: the measure for everything else.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RawPath {
    /// Datagrams that are no QUIC, through a relay that limits nothing, or without a relay where there is none.
    pub probed: Probed,
    /// One flow of quinn's own CUBIC there, in kbit/s.
    pub throughput_kbps: f64,
    /// Echo of a message of 64 bytes, median in microseconds.
    pub echo_p50_us: u64,
    /// Packets that this flow lost, of those it sent.
    pub lost_packets: u64,
    /// How many it sent.
    pub sent_packets: u64,
}

/// Where the programs run, with a server that does.
#[derive(Debug)]
pub(super) struct Bench {
    /// Dropped before the hosts: it runs there.
    server: Option<Child>,
    hosts: Option<Hosts>,
    place: Place,
    program: PathBuf,
    cpus: Option<[usize; 3]>,
    /// Where the server is, and what it is known by.
    address: SocketAddr,
    fingerprint: Fingerprint,
}

/// What the clients do.
#[derive(Clone, Debug)]
pub(super) struct Load {
    pub(super) stack: Stack,
    pub(super) controllers: Vec<Controller>,
    pub(super) clients: u32,
    pub(super) messages: u32,
    pub(super) media: Option<Media>,
    pub(super) bulk: Duration,
    pub(super) handshake_limit: Duration,
}

/// What was seen of a run.
#[derive(Debug)]
pub(super) struct Seen {
    pub(super) report: Report,
    /// If there was a router.
    pub(super) router: Option<RouterReport>,
    /// Its CPU time over time, in the phase in which that was most.
    pub(super) cpu_relay: Option<f64>,
}

impl Bench {
    pub(super) fn new(sweep: &Sweep) -> Result<Self, SweepError> {
        let program = std::env::current_exe().map_err(|error| SweepError::Other(error.to_string()))?;
        let nowhere = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);
        let (hosts, listen) = match sweep.place {
            Place::Namespaces => (Some(Hosts::for_this_process()?), SocketAddr::new(Hosts::SERVER, PORT)),
            _ => (None, nowhere),
        };
        let (place, cpus) = (sweep.place, sweep.cpus);
        let mut bench = Self {
            server: None,
            hosts,
            place,
            program,
            cpus,
            address: listen,
            fingerprint: Fingerprint::default(),
        };
        match place {
            Place::Namespaces | Place::Loopback => {
                let mut command = bench.program(Host::Server);
                command.args(["--listen", &listen.to_string()]);
                let (server, ready) = Child::start::<Ready>("server", command).map_err(SweepError::Other)?;
                let fingerprint = ready.fingerprint.unwrap_or_default().parse();
                bench.fingerprint =
                    fingerprint.map_err(|error| SweepError::Other(format!("server: {error}")))?;
                (bench.server, bench.address) = (Some(server), ready.address);
            }
            Place::Server { address, fingerprint } => {
                (bench.address, bench.fingerprint) = (address, fingerprint);
            }
            Place::Router { fingerprint, .. } => bench.fingerprint = fingerprint,
        }
        Ok(bench)
    }

    /// Ends the server, if it is ours; its last words.
    pub(super) fn end(mut self) -> Result<Option<ServerReport>, String> {
        self.server.take().map(Child::stop::<ServerReport>).transpose()
    }

    /// The program of a host.
    fn program(&self, host: Host) -> Command {
        let mut command = match &self.hosts {
            Some(hosts) => hosts.command(host, &self.program),
            None => Command::new(&self.program),
        };
        let (name, index) = match host {
            Host::Client => ("client", 0),
            Host::Router => ("router", 1),
            Host::Server => ("server", 2),
        };
        command.arg(name);
        if let Some(cpu) = self.cpus.and_then(|cpus| cpus.get(index).copied()) {
            command.args(["--cpu", &cpu.to_string()]);
        }
        if cfg!(debug_assertions) {
            // That it is one has been said by whoever asked for the sweep.
            command.arg("--debug-build");
        }
        command
    }

    /// A router, if there is one, and where the clients send to.
    fn router(&self, limits: &Limits) -> Result<(Option<Child>, SocketAddr), String> {
        let listen = match self.place {
            Place::Namespaces => SocketAddr::new(Hosts::ROUTER, PORT),
            Place::Loopback => SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0),
            Place::Server { address, .. } => return Ok((None, address)),
            Place::Router { control, .. } => {
                let (router, ready) = Child::connect::<Ready>("router", control, limits)?;
                let mut address = ready.address;
                if address.ip().is_unspecified() {
                    // It listens everywhere, and is where it takes orders.
                    address.set_ip(control.ip());
                }
                return Ok((Some(router), address));
            }
        };
        let mut command = self.program(Host::Router);
        command.args(["--listen", &listen.to_string(), "--server", &self.address.to_string()]);
        command.args(limits.arguments());
        let (router, ready) = Child::start::<Ready>("router", command)?;
        Ok((Some(router), ready.address))
    }

    /// The clients, who connect to `address`.
    fn client(&self, address: SocketAddr) -> Command {
        let mut command = self.program(Host::Client);
        command.args(["--tied", "--samples", "--connect", &address.to_string()]);
        command.args(["--fingerprint", &self.fingerprint.to_string()]);
        command
    }

    /// Runs the clients through a relay.
    pub(super) fn run(&self, limits: &Limits, load: &Load) -> Result<Seen, String> {
        let (mut router, address) = self.router(limits)?;
        let mut command = self.client(address);
        command.args(load.arguments());
        let patience = load.patience();
        // However it ends, the router is asked last: that it has failed says more than what the clients say.
        let mut marks: Vec<RouterReport> = Vec::new();
        let report = Child::start::<serde_json::Value>("client", command).and_then(|(mut client, _)| {
            loop {
                match client.line::<Said>(patience)? {
                    Said::Phase { .. } => {
                        if let Some(router) = &mut router {
                            marks.push(router.ask()?);
                        }
                    }
                    Said::Report(report) => return Ok(*report),
                }
            }
        });
        let router = router.map(Child::stop::<RouterReport>).transpose()?;
        Ok(Seen { report: report?, router, cpu_relay: busiest(&marks) })
    }

    pub(super) fn raw_path(&self) -> Result<RawPath, String> {
        /// For the blast and what comes before and after it.
        const PATIENCE: Duration = Duration::from_secs(30);
        let failed = |error| format!("raw path: {error}");
        let (router, address) = self.router(&Limits::default()).map_err(failed)?;
        let mut command = self.client(address);
        command.args(["--probe-s", "1"]);
        let probed = Child::start::<serde_json::Value>("client", command)
            .and_then(|(mut client, _)| client.line::<Probed>(PATIENCE));
        router.map(Child::stop::<RouterReport>).transpose().map_err(failed)?;
        let probed = probed.map_err(failed)?;
        let load = Load {
            stack: Stack::Quinn,
            controllers: vec![Controller::QuinnCubic],
            clients: 1,
            messages: 200,
            media: None,
            bulk: Duration::from_secs(2),
            handshake_limit: Duration::from_secs(10),
        };
        let (echo, bulk) = self.raw_flow(&load).map_err(failed)?;
        let sum = |of: fn(&BulkFlow) -> u64| bulk.flows.iter().map(of).sum();
        Ok(RawPath {
            probed,
            throughput_kbps: bulk.throughput_kbps,
            echo_p50_us: echo.p50_us,
            lost_packets: sum(|flow| flow.lost_packets),
            sent_packets: sum(|flow| flow.sent_packets),
        })
    }
}

impl Bench {
    /// A machine that stands still for as long as a connection may be idle loses it, whatever the path: that is tried again.
    fn raw_flow(&self, load: &Load) -> Result<(Quantiles, Bulk), String> {
        const TRIES: usize = 3;
        let mut last = String::new();
        for _ in 0..TRIES {
            let report = self.run(&Limits::default(), load)?.report;
            match (report.echo, report.bulk) {
                (Some(echo), Some(bulk)) if report.errors.is_empty() => return Ok((echo, bulk)),
                _ => last = report.errors.join("; "),
            }
            if report.connected == 0 {
                break;
            }
        }
        Err(last)
    }
}

impl Load {
    fn arguments(&self) -> Vec<String> {
        let names: Vec<&str> = self.controllers.iter().map(|controller| controller.name()).collect();
        let seconds = |duration: Duration| duration.as_secs_f64().to_string();
        let mut arguments = vec![
            ("--stack", self.stack.name().to_owned()),
            ("--cc", names.join(",")),
            ("--clients", self.clients.to_string()),
            ("--messages", self.messages.to_string()),
            ("--bulk-s", seconds(self.bulk)),
            ("--handshake-limit-s", seconds(self.handshake_limit)),
            ("--echo-limit-s", seconds(ECHO_LIMIT)),
        ];
        if let Some(media) = &self.media {
            let ms = |deadline: &Duration| (micros(*deadline) as f64 / 1e3).to_string();
            arguments.extend([
                ("--media-s", seconds(media.duration)),
                ("--frames-per-s", media.frames_per_s.to_string()),
                ("--frame-bytes", media.frame_bytes.to_string()),
                ("--deadline-ms", media.deadlines.iter().map(ms).collect::<Vec<_>>().join(",")),
            ]);
        }
        arguments.into_iter().flat_map(|(name, value)| [name.to_owned(), value]).collect()
    }

    /// How long the clients may say nothing.
    fn patience(&self) -> Duration {
        let media = self.media.as_ref().map_or(Duration::ZERO, Media::time);
        let longest = self.handshake_limit.max(ECHO_LIMIT).max(media).max(self.bulk);
        longest + Duration::from_secs(60)
    }
}

/// The most CPU time over time from one report to the next.
fn busiest(marks: &[RouterReport]) -> Option<f64> {
    /// Below it, a tick more or less of the clock would count.
    const LEAST_US: u64 = 20_000;
    let share = |pair: &[RouterReport]| match pair {
        [before, after] => {
            let elapsed = after.elapsed_us.saturating_sub(before.elapsed_us);
            let cpu = after.cpu_us.saturating_sub(before.cpu_us);
            (elapsed >= LEAST_US).then(|| cpu as f64 / elapsed as f64)
        }
        _ => None,
    };
    marks.windows(2).filter_map(share).max_by(f64::total_cmp)
}

#[cfg(test)]
mod tests {
    use super::busiest;
    use crate::router::RouterReport;
    use cc_relay::RelayStats;

    #[test]
    fn the_busiest_phase_counts_and_not_the_mean_of_all() {
        let mark = |elapsed_us, cpu_us| RouterReport { stats: RelayStats::default(), cpu_us, elapsed_us };
        // An idle second, then 90 of 100 ms, then what is too short to say anything.
        let marks = [mark(0, 0), mark(1_000_000, 0), mark(1_100_000, 90_000), mark(1_100_010, 95_000)];
        assert!((busiest(&marks).unwrap() - 0.9).abs() < 1e-9);
        assert_eq!(busiest(&marks[..1]), None);
    }
}
