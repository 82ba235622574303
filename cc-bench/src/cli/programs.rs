//! The programs of the three hosts: `server`, `router`, `client`.

use super::{Failure, address, failed, seconds, seconds_or_0};
use crate::child::{say, wait_for_end};
use crate::controllers::Controller;
use crate::now;
use crate::quic::{Fingerprint, Identity, Trust};
use crate::server::Server;
use crate::sweep::{Ready, RouterReport, ServerReport};
use crate::workload::{self, Workload};
use cc_relay::cli::PathArgs;
use cc_relay::{Relay, RelayConfig, RelayError};
use clap::Args;
use rustix::thread::{CpuSet, sched_setaffinity};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

#[derive(Args, Debug)]
pub(super) struct ServerArgs {
    /// Where to listen
    #[arg(long, value_name = "ADDRESS:PORT")]
    listen: SocketAddr,
    /// File that the certificate is written to, for the client; its fingerprint is printed in any case
    #[arg(long, value_name = "FILE")]
    certificate: Option<PathBuf>,
    /// Run on this CPU only
    #[arg(long)]
    cpu: Option<usize>,
}

pub(super) fn server(arguments: &ServerArgs) -> Result<ExitCode, Failure> {
    pin(arguments.cpu)?;
    let (began, cpu) = (now(), workload::cpu_time());
    let identity = Identity::generate().map_err(|error| failed(&error))?;
    if let Some(file) = &arguments.certificate {
        identity.save(file).map_err(|error| (format!("cannot write {}: {error}", file.display()), 1))?;
    }
    let server = Server::start(arguments.listen, &identity)
        .map_err(|error| (format!("cannot listen on {}: {error}", arguments.listen), 1))?;
    let fingerprint = Some(identity.fingerprint().to_string());
    say(&Ready { address: server.address(), fingerprint }).map_err(|error| failed(&error))?;
    wait_for_end();
    let received = server.stop();
    let report = ServerReport { received, cpu_share: workload::share(cpu, began.elapsed()) };
    say(&report).map_err(|error| failed(&error))?;
    Ok(ExitCode::SUCCESS)
}

#[derive(Args, Debug)]
pub(super) struct RouterArgs {
    /// Where clients send to
    #[arg(long, value_name = "ADDRESS:PORT")]
    listen: SocketAddr,
    /// Where their datagrams go
    #[arg(long, value_name = "ADDRESS:PORT")]
    server: SocketAddr,
    #[command(flatten)]
    path: PathArgs,
    /// Of all randomness
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Run on this CPU only
    #[arg(long)]
    cpu: Option<usize>,
}

pub(super) fn router(arguments: &RouterArgs) -> Result<ExitCode, Failure> {
    pin(arguments.cpu)?;
    let (began, cpu) = (now(), workload::cpu_time());
    let path = arguments.path.path().map_err(|message| (message, 2))?;
    let mut config = RelayConfig::new(arguments.server).with_path(&path);
    (config.listen, config.seed, config.max_clients) = (arguments.listen, arguments.seed, 4_096);
    let relay = Relay::start(&config).map_err(|error| {
        let code = if matches!(error, RelayError::Config { .. }) { 2 } else { 1 };
        (error.to_string(), code)
    })?;
    say(&Ready { address: relay.local_addr(), fingerprint: None }).map_err(|error| failed(&error))?;
    wait_for_end();
    if let Some(failure) = relay.failure() {
        return Err(failed(&failure));
    }
    let report = RouterReport { stats: relay.stop(), cpu_share: workload::share(cpu, began.elapsed()) };
    say(&report).map_err(|error| failed(&error))?;
    Ok(ExitCode::SUCCESS)
}

/// Which server it must be.
#[derive(Args, Debug)]
#[group(required = true, multiple = false)]
pub(super) struct TrustArgs {
    /// File with the certificate of the server
    #[arg(long, value_name = "FILE")]
    certificate: Option<PathBuf>,
    /// SHA-256 of that certificate, as the server prints it
    #[arg(long, value_name = "HEX")]
    fingerprint: Option<Fingerprint>,
}

impl TrustArgs {
    fn trust(&self) -> Result<Trust, Failure> {
        match (self.fingerprint, &self.certificate) {
            (Some(fingerprint), _) => Ok(Trust::Fingerprint(fingerprint)),
            (None, Some(file)) => {
                Trust::load(file).map_err(|error| (format!("cannot read {}: {error}", file.display()), 1))
            }
            // Not with the group above.
            (None, None) => Err(("neither --certificate nor --fingerprint".to_owned(), 2)),
        }
    }
}

#[derive(Args, Debug)]
pub(super) struct ClientArgs {
    /// Where the server is, or the relay in front of it
    #[arg(long, value_name = "HOST:PORT", value_parser = address)]
    connect: SocketAddr,
    #[command(flatten)]
    trust: TrustArgs,
    /// Controllers of the clients, in turn, with commas between them
    #[arg(long, value_enum, value_delimiter = ',', default_values_t = [Controller::Cubic])]
    cc: Vec<Controller>,
    /// How many clients, 1 to 1024
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1_024), default_value_t = 1)]
    clients: u32,
    /// Messages of each in the echo phase, 0 to 1000000
    #[arg(long, value_parser = clap::value_parser!(u32).range(0..=1_000_000), default_value_t = 20)]
    messages: u32,
    /// Their size in bytes, 1 to 65536
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=65_536), default_value_t = 64)]
    message_bytes: u32,
    /// How long all send in bulk, 0 to 3600 seconds
    #[arg(long, value_name = "S", value_parser = seconds_or_0, default_value = "3")]
    bulk_s: Duration,
    /// How long each may take for its handshake, 0.01 to 3600 seconds
    #[arg(long, value_name = "S", value_parser = seconds, default_value = "10")]
    handshake_limit_s: Duration,
    /// How long each may take for its messages, 0.01 to 3600 seconds
    #[arg(long, value_name = "S", value_parser = seconds, default_value = "60")]
    echo_limit_s: Duration,
    /// Run on this CPU only
    #[arg(long)]
    cpu: Option<usize>,
    /// Instead of all that, send datagrams of 1200 bytes as fast as it goes for this long, which the server throws away
    #[arg(long, value_name = "S", value_parser = seconds_or_0, hide = true)]
    blast_s: Option<Duration>,
    /// End when standard input is closed
    #[arg(long, hide = true)]
    tied: bool,
}

pub(super) fn client(arguments: &ClientArgs) -> Result<ExitCode, Failure> {
    pin(arguments.cpu)?;
    let trust = arguments.trust.trust()?;
    let workload = Workload {
        server: arguments.connect,
        controllers: arguments.cc.clone(),
        clients: arguments.clients,
        handshake_limit: arguments.handshake_limit_s,
        messages: arguments.messages,
        message_bytes: arguments.message_bytes as usize,
        echo_limit: arguments.echo_limit_s,
        bulk: arguments.bulk_s,
    };
    if arguments.tied {
        // Whoever started it is gone: nobody reads the figures.
        std::thread::spawn(|| {
            wait_for_end();
            std::process::exit(1);
        });
    }
    say(&serde_json::json!({ "clients": workload.clients })).map_err(|error| failed(&error))?;
    if let Some(duration) = arguments.blast_s {
        let sent = workload::blast(arguments.connect, duration).map_err(|error| failed(&error))?;
        say(&sent).map_err(|error| failed(&error))?;
        return Ok(ExitCode::SUCCESS);
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let report = runtime
        .map_err(|error| failed(&error))?
        .block_on(workload::run(&workload, &trust))
        .map_err(|error| failed(&error))?;
    say(&report).map_err(|error| failed(&error))?;
    // A server that cannot be reached is a failure of the run.
    if report.connected == 0 {
        return Err((report.errors.first().cloned().unwrap_or_default(), 1));
    }
    Ok(ExitCode::SUCCESS)
}

/// Lets this process run on one CPU only.
fn pin(cpu: Option<usize>) -> Result<(), Failure> {
    let Some(cpu) = cpu else { return Ok(()) };
    let mut set = CpuSet::new();
    if cpu >= CpuSet::MAX_CPU {
        return Err((format!("--cpu: {cpu} is out of range (allowed: 0..={})", CpuSet::MAX_CPU - 1), 2));
    }
    set.set(cpu);
    // Threads that are started later inherit it.
    sched_setaffinity(None, &set).map_err(|error| (format!("--cpu: {cpu}: {error}"), 2))
}
