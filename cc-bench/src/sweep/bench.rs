//! The programs of a sweep: a server, and for each run a relay and the clients.

use super::SweepError;
use crate::child::Child;
use crate::controllers::Controller;
use crate::hosts::{Host, Hosts};
use crate::workload::{Blast, BulkFlow, Report};
use cc_relay::{EcnCounts, RelayStats};
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Port of the server, and of the relay in front of it: every host has its own.
const PORT: u16 = 4_433;

/// What a program that is started on a host says when it is ready.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Ready {
    /// Where it listens.
    pub address: SocketAddr,
    /// SHA-256 of its certificate, if it is a server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<String>,
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

/// The hosts with a server that runs.
#[derive(Debug)]
pub(super) struct Bench {
    hosts: Hosts,
    program: PathBuf,
    certificate: PathBuf,
    cpus: Option<[usize; 3]>,
    pub(super) server: Option<Child>,
}

/// The path of a relay; `None` where nothing limits.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Limits {
    pub(super) loss_ppm: Option<u32>,
    pub(super) delay_us: Option<u64>,
    pub(super) rate_kbps: Option<u64>,
    pub(super) queue_us: Option<u64>,
    pub(super) dualpi2: bool,
    pub(super) seed: u64,
}

/// What the clients do.
#[derive(Clone, Debug)]
pub(super) struct Load {
    pub(super) controllers: Vec<Controller>,
    pub(super) clients: u32,
    pub(super) messages: u32,
    pub(super) bulk: Duration,
    pub(super) handshake_limit: Duration,
}

impl Bench {
    pub(super) fn new(folder: &Path, cpus: Option<[usize; 3]>) -> Result<Self, SweepError> {
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
    pub(super) fn run(&self, limits: &Limits, load: &Load) -> Result<(Report, RouterReport), String> {
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

    pub(super) fn raw_path(&self) -> Result<RawPath, String> {
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
