//! The programs of the three hosts: `server`, `router`, `client`.

use super::{Failure, address, deadline, failed, refuse_debug, seconds, seconds_or_0};
use crate::child::{answer, say, wait_for_end};
use crate::controllers::Controller;
use crate::media::Media;
use crate::probe;
use crate::quic::{Fingerprint, Identity, Trust};
use crate::router::{self, Router};
use crate::server::Server;
use crate::stack::Stack;
use crate::sweep::{Ready, Said, ServerReport};
use crate::usage::Meter;
use crate::workload::{self, Workload};
use cc_relay::RelayError;
use cc_relay::cli::PathArgs;
use clap::Args;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use std::io;
use std::net::{SocketAddr, TcpListener};
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
    /// Run a debug build all the same
    #[arg(long)]
    debug_build: bool,
}

pub(super) fn server(arguments: &ServerArgs) -> Result<ExitCode, Failure> {
    refuse_debug(arguments.debug_build)?;
    pin(arguments.cpu)?;
    let meter = Meter::start();
    let identity = Identity::generate().map_err(|error| failed(&error))?;
    if let Some(file) = &arguments.certificate {
        identity.save(file).map_err(|error| (format!("cannot write {}: {error}", file.display()), 1))?;
    }
    let server = Server::start(arguments.listen, &identity)
        .map_err(|error| (format!("cannot listen on {}: {error}", arguments.listen), 1))?;
    let fingerprint = Some(identity.fingerprint().to_string());
    say(&Ready { address: server.address(), fingerprint }).map_err(|error| failed(&error))?;
    let report = || ServerReport { received: server.tally().counts(), cpu_share: meter.process() };
    answer(io::stdin(), &mut io::stdout(), report).map_err(|error| failed(&error))?;
    say(&report()).map_err(|error| failed(&error))?;
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
    /// Take the path from sweeps on other machines, which connect here by TCP; for a network of one's own
    #[arg(long, value_name = "ADDRESS:PORT", conflicts_with_all = [
        "rate_mbps", "delay_ms", "queue_ms", "queue_bytes", "jitter_ms", "loss_percent", "reorder_percent", "reorder_ms", "dualpi2",
        "clear_ecn", "mtu_bytes", "seed",
    ])]
    control: Option<SocketAddr>,
    /// Run on this CPU only
    #[arg(long)]
    cpu: Option<usize>,
    /// Run a debug build all the same
    #[arg(long)]
    debug_build: bool,
}

pub(super) fn router(arguments: &RouterArgs) -> Result<ExitCode, Failure> {
    refuse_debug(arguments.debug_build)?;
    pin(arguments.cpu)?;
    let RouterArgs { listen, server, seed, .. } = *arguments;
    if let Some(control) = arguments.control {
        let cannot = |error: io::Error| (format!("cannot listen on {control}: {error}"), 1);
        let listener = TcpListener::bind(control).map_err(cannot)?;
        let address = listener.local_addr().map_err(cannot)?;
        say(&Ready { address, fingerprint: None }).map_err(|error| failed(&error))?;
        // Ends with the process.
        std::thread::spawn(move || {
            if let Err(error) = router::serve(&listener, listen, server) {
                eprintln!("error: {error}");
                std::process::exit(1);
            }
        });
        wait_for_end();
        return Ok(ExitCode::SUCCESS);
    }
    let path = arguments.path.path().map_err(|message| (message, 2))?;
    let router = Router::start(listen, server, &path, seed).map_err(|error| {
        let code = if matches!(error, RelayError::Config { .. }) { 2 } else { 1 };
        (error.to_string(), code)
    })?;
    say(&Ready { address: router.address(), fingerprint: None }).map_err(|error| failed(&error))?;
    answer(io::stdin(), &mut io::stdout(), || router.report()).map_err(|error| failed(&error))?;
    if let Some(failure) = router.failure() {
        return Err(failed(&failure));
    }
    say(&router.report()).map_err(|error| failed(&error))?;
    Ok(ExitCode::SUCCESS)
}

/// Which server it must be.
#[derive(Args, Debug)]
#[group(multiple = false)]
pub(super) struct TrustArgs {
    /// File with the certificate of the server
    #[arg(long, value_name = "FILE")]
    certificate: Option<PathBuf>,
    /// SHA-256 of that certificate, as the server prints it
    #[arg(long, value_name = "HEX")]
    fingerprint: Option<Fingerprint>,
}

impl TrustArgs {
    /// `None` if nothing is said.
    pub(super) fn trust(&self) -> Result<Option<Trust>, Failure> {
        match (self.fingerprint, &self.certificate) {
            (Some(fingerprint), _) => Ok(Some(Trust::Fingerprint(fingerprint))),
            (None, Some(file)) => Trust::load(file)
                .map(Some)
                .map_err(|error| (format!("cannot read {}: {error}", file.display()), 1)),
            (None, None) => Ok(None),
        }
    }
}

/// What is said where something has to be, though the arguments require it already.
pub(super) fn no_trust() -> Failure {
    ("neither --certificate nor --fingerprint".to_owned(), 2)
}

#[derive(Args, Debug)]
pub(super) struct ClientArgs {
    /// Where the server is, or the relay in front of it
    #[arg(long, value_name = "HOST:PORT", value_parser = address, requires = "TrustArgs")]
    connect: SocketAddr,
    #[command(flatten)]
    trust: TrustArgs,
    /// The stack of the clients
    #[arg(long, value_enum, default_value_t = Stack::Quinn)]
    stack: Stack,
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
    #[command(flatten)]
    media: MediaArgs,
    /// How long all send in bulk, 0 to 3600 seconds
    #[arg(long, value_name = "S", value_parser = seconds_or_0, default_value = "3")]
    bulk_s: Duration,
    /// How long each may take for its handshake, 0.01 to 3600 seconds
    #[arg(long, value_name = "S", value_parser = seconds, default_value = "10")]
    handshake_limit_s: Duration,
    /// How long each may take for its messages, 0.01 to 3600 seconds
    #[arg(long, value_name = "S", value_parser = seconds, default_value = "60")]
    echo_limit_s: Duration,
    /// Instead of all that, measure the bare path: UDP datagrams one by one, then as fast as it goes for this long
    #[arg(long, value_name = "S", value_parser = seconds)]
    probe_s: Option<Duration>,
    /// Print every single value too
    #[arg(long)]
    samples: bool,
    /// Run on this CPU only
    #[arg(long)]
    cpu: Option<usize>,
    /// Measure with a debug build all the same
    #[arg(long)]
    debug_build: bool,
    /// End when standard input is closed
    #[arg(long, hide = true)]
    tied: bool,
}

pub(super) fn client(arguments: &ClientArgs) -> Result<ExitCode, Failure> {
    refuse_debug(arguments.debug_build)?;
    pin(arguments.cpu)?;
    let trust = arguments.trust.trust()?.ok_or_else(no_trust)?;
    let workload = Workload {
        server: arguments.connect,
        stack: arguments.stack,
        controllers: arguments.cc.clone(),
        clients: arguments.clients,
        handshake_limit: arguments.handshake_limit_s,
        messages: arguments.messages,
        message_bytes: arguments.message_bytes as usize,
        echo_limit: arguments.echo_limit_s,
        media: arguments.media.media(),
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
    if let Some(duration) = arguments.probe_s {
        let probed = probe::probe(arguments.connect, duration).map_err(|error| failed(&error))?;
        say(&probed).map_err(|error| failed(&error))?;
        return Ok(ExitCode::SUCCESS);
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let on_phase = |phase| {
        // One that cannot be told ends with the report, which cannot be told either.
        let _ = say(&Said::Phase { phase });
    };
    let mut report = runtime
        .map_err(|error| failed(&error))?
        .block_on(workload::run(&workload, &trust, on_phase))
        .map_err(|error| failed(&error))?;
    if !arguments.samples {
        report.samples = None;
    }
    let (connected, errors) = (report.connected, report.errors.clone());
    say(&Said::Report(Box::new(report))).map_err(|error| failed(&error))?;
    // A server that cannot be reached is a failure of the run.
    if connected == 0 {
        return Err((errors.first().cloned().unwrap_or_default(), 1));
    }
    Ok(ExitCode::SUCCESS)
}

/// Frames, as of a camera.
#[derive(Args, Debug)]
pub(super) struct MediaArgs {
    /// How long each sends frames as datagrams, 0 to 3600 seconds; 0 for none
    #[arg(long, value_name = "S", value_parser = seconds_or_0, default_value = "0")]
    media_s: Duration,
    /// Frames in a second, 1 to 1000
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1_000), default_value_t = 30)]
    frames_per_s: u32,
    /// Size of a frame in bytes, 1 to 1000000
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1_000_000), default_value_t = 5_000)]
    frame_bytes: u32,
    /// When a frame is too late, from its hand-over, 0 to 10000 ms; several with commas between them
    #[arg(long, value_name = "MS", value_delimiter = ',', value_parser = deadline, default_values = ["50", "100"])]
    deadline_ms: Vec<u64>,
}

impl MediaArgs {
    pub(super) fn media(&self) -> Option<Media> {
        (!self.media_s.is_zero()).then(|| Media {
            frames_per_s: self.frames_per_s,
            frame_bytes: self.frame_bytes,
            duration: self.media_s,
            deadlines: self.deadline_ms.iter().copied().map(Duration::from_micros).collect(),
        })
    }
}

/// Lets this process run on one CPU only.
fn pin(cpu: Option<usize>) -> Result<(), Failure> {
    let Some(cpu) = cpu else { return Ok(()) };
    may_use(cpu).map_err(|message| (format!("--cpu: {message}"), 2))?;
    let mut set = CpuSet::new();
    set.set(cpu);
    // Threads that are started later inherit it.
    sched_setaffinity(None, &set).map_err(|error| (format!("--cpu: {cpu}: {error}"), 2))
}

/// Whether this process may use a CPU; if not, which it may.
pub(super) fn may_use(cpu: usize) -> Result<(), String> {
    let set = sched_getaffinity(None).map_err(|error| error.to_string())?;
    let allowed: Vec<usize> = (0..CpuSet::MAX_CPU).filter(|&cpu| set.is_set(cpu)).collect();
    if allowed.contains(&cpu) {
        return Ok(());
    }
    let allowed: Vec<String> = allowed.iter().map(usize::to_string).collect();
    Err(format!("{cpu} is no CPU of this process (allowed: {})", allowed.join(", ")))
}
