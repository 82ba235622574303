//! The subcommands that work between hosts: `hosts`, `server`, `router`, `client`, `sweep`.

use super::{Failure, delay, failed, interruption, loss, publish, queue, rate, refuse_debug};
use crate::child::{say, wait_for_end};
use crate::controllers::Controller;
use crate::hosts::{Hosts, namespaces, remove_leftovers};
use crate::metadata::Metadata;
use crate::now;
use crate::quic::{Identity, Trust};
use crate::record::Record;
use crate::report;
use crate::server::Server;
use crate::sweep::{Ready, RouterReport, ServerReport, Sweep, SweepError, markdown};
use crate::workload::{self, Workload};
use cc_relay::cli::PathArgs;
use cc_relay::{Relay, RelayConfig, RelayError};
use clap::{Args, Subcommand};
use rustix::thread::{CpuSet, sched_setaffinity};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

#[derive(Debug, Subcommand)]
pub(super) enum HostsCommand {
    /// Make the namespaces and leave them there
    Up {
        /// Their name, 1 to 32 letters and digits
        #[arg(long, default_value = "mine")]
        name: String,
    },
    /// Remove them, and those that interrupted runs have left
    Down {
        /// Their name
        #[arg(long, default_value = "mine")]
        name: String,
    },
    /// List the namespaces of this program
    List,
}

pub(super) fn hosts(command: &HostsCommand) -> Result<ExitCode, Failure> {
    match command {
        HostsCommand::Up { name } => Hosts::up(name).map(Hosts::keep),
        HostsCommand::Down { name } => Hosts::down(name).and_then(|count| {
            let left = remove_leftovers()?;
            eprintln!("{count} removed, and {left} left by interrupted runs");
            Ok(())
        }),
        HostsCommand::List => namespaces().map(|names| names.iter().for_each(|name| println!("{name}"))),
    }
    .map_err(|error| failed(&error))?;
    Ok(ExitCode::SUCCESS)
}

#[derive(Args, Debug)]
pub(super) struct ServerArgs {
    /// Where to listen
    #[arg(long, value_name = "ADDRESS:PORT")]
    listen: SocketAddr,
    /// File that the certificate is written to, for the client
    #[arg(long, value_name = "FILE")]
    certificate: PathBuf,
    /// Run on this CPU only
    #[arg(long)]
    cpu: Option<usize>,
}

pub(super) fn server(arguments: &ServerArgs) -> Result<ExitCode, Failure> {
    pin(arguments.cpu)?;
    let (began, cpu) = (now(), workload::cpu_time());
    let identity = Identity::generate().map_err(|error| failed(&error))?;
    let file = &arguments.certificate;
    identity.trust().save(file).map_err(|error| (format!("cannot write {}: {error}", file.display()), 1))?;
    let server = Server::start(arguments.listen, &identity)
        .map_err(|error| (format!("cannot listen on {}: {error}", arguments.listen), 1))?;
    say(&Ready { address: server.address() }).map_err(|error| failed(&error))?;
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
    say(&Ready { address: relay.local_addr() }).map_err(|error| failed(&error))?;
    wait_for_end();
    if let Some(failure) = relay.failure() {
        return Err(failed(&failure));
    }
    let report = RouterReport { stats: relay.stop(), cpu_share: workload::share(cpu, began.elapsed()) };
    say(&report).map_err(|error| failed(&error))?;
    Ok(ExitCode::SUCCESS)
}

#[derive(Args, Debug)]
pub(super) struct ClientArgs {
    /// Where the server is, or the relay in front of it
    #[arg(long, value_name = "ADDRESS:PORT")]
    connect: SocketAddr,
    /// File with the certificate of the server
    #[arg(long, value_name = "FILE")]
    certificate: PathBuf,
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
    let file = &arguments.certificate;
    let trust = Trust::load(file).map_err(|error| (format!("cannot read {}: {error}", file.display()), 1))?;
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

#[derive(Args, Debug)]
pub(super) struct SweepArgs {
    /// Controllers, with commas between them
    #[arg(long, value_enum, value_delimiter = ',', default_values_t = [
        Controller::Cubic, Controller::C4, Controller::Bbr, Controller::Quicdc, Controller::QuinnCubic,
    ])]
    cc: Vec<Controller>,
    /// Random losses each way in percent, 0 to 50
    #[arg(long, value_name = "PERCENT", value_delimiter = ',', value_parser = loss, default_values = ["0", "0.5", "1", "3", "5"])]
    loss_percent: Vec<u64>,
    /// Delays each way in ms, 0 to 1000
    #[arg(long, value_name = "MS", value_delimiter = ',', value_parser = delay, default_values = ["10"])]
    delay_ms: Vec<u64>,
    /// Rates each way in Mbit/s of UDP payload, 0.1 to 10000
    #[arg(long, value_name = "MBPS", value_delimiter = ',', value_parser = rate, default_values = ["20"])]
    rate_mbps: Vec<u64>,
    /// Numbers of clients, 1 to 1024
    #[arg(long, value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=1_024), default_values_t = [1])]
    clients: Vec<u32>,
    /// Queue each way in ms at the rate, 1 to 10000
    #[arg(long, value_name = "MS", value_parser = queue, default_value = "100")]
    queue_ms: u64,
    /// DualPI2 in the place of tail drop
    #[arg(long)]
    dualpi2: bool,
    /// All controllers in the same cells, clients in turn, instead of cells for each
    #[arg(long)]
    mix: bool,
    /// CPUs of client, router and server, such as 0,1,0; any if not given
    #[arg(long, value_name = "CLIENT,ROUTER,SERVER", value_delimiter = ',', num_args = 3)]
    cpus: Option<Vec<usize>>,
    /// Messages of each client in the echo phase, 0 to 10000
    #[arg(long, value_parser = clap::value_parser!(u32).range(0..=10_000), default_value_t = 20)]
    messages: u32,
    /// How long all send in bulk, 0 to 3600 seconds
    #[arg(long, value_name = "S", value_parser = seconds_or_0, default_value = "3")]
    bulk_s: Duration,
    /// How long each client may take for its handshake, 0.01 to 3600 seconds
    #[arg(long, value_name = "S", value_parser = seconds, default_value = "10")]
    handshake_limit_s: Duration,
    /// Runs of each cell, 1 to 1000
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1_000), default_value_t = 3)]
    runs: u32,
    /// Of the relays' randomness
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Folder for the record, which must not be there yet; bench_results/DATE_COMMIT if not given
    #[arg(long, value_name = "FOLDER", conflicts_with = "resume")]
    out: Option<PathBuf>,
    /// Folder of a record to go on with; the other arguments should be those that it was begun with
    #[arg(long, value_name = "FOLDER")]
    resume: Option<PathBuf>,
    /// Write the table into this Markdown page too, between the lines that begin with <!-- sweep begin and <!-- sweep end
    #[arg(long, value_name = "FILE")]
    into: Option<PathBuf>,
    /// Measure with a debug build all the same
    #[arg(long)]
    debug_build: bool,
}

pub(super) fn sweep(arguments: &SweepArgs) -> Result<ExitCode, Failure> {
    refuse_debug(arguments.debug_build)?;
    let cpus = match arguments.cpus.as_deref() {
        None => None,
        Some(&[client, router, server]) => Some([client, router, server]),
        Some(_) => return Err(("--cpus: not three CPUs (allowed: CLIENT,ROUTER,SERVER)".to_owned(), 2)),
    };
    let sweep = Sweep {
        mixes: if arguments.mix {
            vec![arguments.cc.clone()]
        } else {
            arguments.cc.iter().map(|&controller| vec![controller]).collect()
        },
        cpus,
        // Half a million at most.
        losses_ppm: arguments.loss_percent.iter().map(|&ppm| ppm as u32).collect(),
        delays_us: arguments.delay_ms.clone(),
        rates_kbps: arguments.rate_mbps.clone(),
        clients: arguments.clients.clone(),
        queue_us: arguments.queue_ms,
        dualpi2: arguments.dualpi2,
        messages: arguments.messages,
        bulk: arguments.bulk_s,
        handshake_limit: arguments.handshake_limit_s,
        runs: arguments.runs,
        seed: arguments.seed,
    };
    let metadata = Metadata::collect();
    let (folder, mut record, done) = match &arguments.resume {
        Some(folder) => {
            let (record, done) = Record::resume(folder).map_err(|error| failed(&error))?;
            (folder.clone(), record, done)
        }
        None => {
            let folder = metadata.folder(arguments.out.as_deref());
            let record = Record::create(&folder, &metadata).map_err(|error| failed(&error))?;
            (folder, record, Vec::new())
        }
    };
    let stop = interruption()?;
    let (raw, runs) = sweep.measure(&folder, &mut record, done, &stop).map_err(|error| match error {
        SweepError::Hosts(_) | SweepError::Record(_) | SweepError::Other(_) => failed(&error),
    })?;
    let text = format!("{}\n{}", metadata.paragraph(), markdown(&sweep, &raw, &runs));
    publish(&record, &folder, &text, arguments.into.as_deref().map(|page| (page, "sweep")), &stop)
}

#[derive(Args, Debug)]
pub(super) struct ReportArgs {
    /// Folders of records
    #[arg(required = true, value_name = "FOLDER")]
    records: Vec<PathBuf>,
    /// Folder that plots are written to, as SVG; none if not given
    #[arg(long, value_name = "FOLDER")]
    plots: Option<PathBuf>,
}

pub(super) fn report(arguments: &ReportArgs) -> Result<ExitCode, Failure> {
    let sweeps = arguments.records.iter().map(|folder| report::read(folder));
    let sweeps = sweeps.collect::<Result<Vec<_>, _>>().map_err(|error| failed(&error))?;
    print!("{}", report::markdown(&sweeps));
    if let Some(folder) = &arguments.plots {
        for file in report::plots(&sweeps, folder).map_err(|error| failed(&error))? {
            eprintln!("{}", file.display());
        }
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

fn seconds(text: &str) -> Result<Duration, String> {
    within(text, Duration::from_millis(10), "0.01..=3600 s")
}

fn seconds_or_0(text: &str) -> Result<Duration, String> {
    within(text, Duration::ZERO, "0..=3600 s")
}

fn within(text: &str, least: Duration, allowed: &str) -> Result<Duration, String> {
    let duration = text.parse().ok().and_then(|s| Duration::try_from_secs_f64(s).ok());
    duration
        .filter(|duration| (least..=Duration::from_secs(3_600)).contains(duration))
        .ok_or_else(|| format!("out of range (allowed: {allowed})"))
}
