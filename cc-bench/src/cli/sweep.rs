//! `sweep`.

use super::programs::{MediaArgs, TrustArgs, may_use, no_trust};
use super::{
    Failure, address, delay, failed, interruption, loss, publish, queue, rate, refuse_debug, seconds,
    seconds_or_0,
};
use crate::controllers::Controller;
use crate::metadata::Metadata;
use crate::quic::Trust;
use crate::record::{self, Record};
use crate::stack::Stack;
use crate::sweep::{Place, Sweep, markdown};
use clap::Args;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::time::Duration;

#[derive(Args, Debug)]
pub(super) struct SweepArgs {
    /// The stack of the clients; the server is quinn in any case
    #[arg(long, value_enum, default_value_t = Stack::Quinn)]
    stack: Stack,
    /// Controllers, with commas between them; cubic, c4, bbr, quicdc and the stack's own cubic if not given
    #[arg(long, value_enum, value_delimiter = ',')]
    cc: Vec<Controller>,
    /// Without namespaces: client, relay and server on the loopback interface
    #[arg(long, conflicts_with_all = ["connect", "router"])]
    loopback: bool,
    /// A server on another machine, over the path as it is
    #[arg(long, value_name = "HOST:PORT", value_parser = address, requires = "TrustArgs", conflicts_with_all = [
        "router", "loss_percent", "delay_ms", "rate_mbps", "queue_ms", "jitter_ms", "reorder_percent", "dualpi2",
    ])]
    connect: Option<SocketAddr>,
    /// A router on another machine that takes orders here (`router --control`), with a server behind it
    #[arg(long, value_name = "HOST:PORT", value_parser = address, requires = "TrustArgs")]
    router: Option<SocketAddr>,
    #[command(flatten)]
    trust: TrustArgs,
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
    /// Mean jitter each way in ms, 0 to 1000
    #[arg(long, value_name = "MS", value_parser = delay, default_value = "0")]
    jitter_ms: u64,
    /// Datagrams each way that come late and are overtaken, in percent, 0 to 50
    #[arg(long, value_name = "PERCENT", value_parser = loss, default_value = "0")]
    reorder_percent: u64,
    /// DualPI2 in the place of tail drop
    #[arg(long)]
    dualpi2: bool,
    /// All controllers in the same cells, clients in turn, instead of cells for each
    #[arg(long)]
    mix: bool,
    /// CPUs of client, router and server, such as 0,1,0; any if not given
    #[arg(long, visible_alias = "pin", value_name = "CLIENT,ROUTER,SERVER", value_delimiter = ',')]
    cpus: Option<Vec<usize>>,
    /// Messages of each client in the echo phase, 0 to 10000
    #[arg(long, value_parser = clap::value_parser!(u32).range(0..=10_000), default_value_t = 20)]
    messages: u32,
    #[command(flatten)]
    media: MediaArgs,
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
    /// Folder of a record to go on with; what is not varied must be as it was begun, and so should the rest
    #[arg(long, value_name = "FOLDER")]
    resume: Option<PathBuf>,
    /// Write the tables into this Markdown page too, between the lines that begin with <!-- NAME begin and <!-- NAME end
    #[arg(long, value_name = "FILE")]
    into: Option<PathBuf>,
    /// That name
    #[arg(long, value_name = "NAME", default_value = "sweep", requires = "into")]
    section: String,
    /// Measure with a debug build all the same
    #[arg(long)]
    debug_build: bool,
}

/// File of a record for what is not varied.
const SETTINGS: &str = "settings.txt";

pub(super) fn sweep(arguments: &SweepArgs) -> Result<ExitCode, Failure> {
    refuse_debug(arguments.debug_build)?;
    let sweep = arguments.sweep()?;
    sweep.check().map_err(|message| (message, 2))?;
    if let Some(page) = &arguments.into {
        // Before an hour of measuring, not after it.
        record::has_section(page, &arguments.section).map_err(|error| failed(&error))?;
    }
    let metadata = Metadata::collect();
    let (folder, mut record, done) = match &arguments.resume {
        Some(folder) => {
            let (record, done) = Record::resume(folder).map_err(|error| failed(&error))?;
            match record.read(SETTINGS) {
                Some(begun) if begun != sweep.settings() => {
                    let now = sweep.settings();
                    return Err((format!("--resume: other settings: {now} (allowed: {begun})"), 2));
                }
                _ => (folder.clone(), record, done),
            }
        }
        None => {
            let folder = metadata.folder(arguments.out.as_deref());
            let record = Record::create(&folder, &metadata).map_err(|error| failed(&error))?;
            record.file(SETTINGS, &sweep.settings()).map_err(|error| failed(&error))?;
            (folder, record, Vec::new())
        }
    };
    let stop = interruption()?;
    let minutes = sweep.estimate().as_secs_f64() / 60.0;
    eprintln!("{} cells, {} runs of each, about {minutes:.1} minutes", sweep.cells().len(), sweep.runs);
    let (raw, runs) = sweep.measure(&mut record, done, &stop).map_err(|error| {
        // A program of the raw path that the same Ctrl-C has ended.
        if stop.load(Ordering::Relaxed) { (format!("interrupted: {error}"), 130) } else { failed(&error) }
    })?;
    let text = format!("{}\n{}", metadata.paragraph(), markdown(&sweep, &raw, &runs));
    let into = arguments.into.as_deref().map(|page| (page, arguments.section.as_str()));
    publish(&record, &folder, &text, into, &stop)
}

impl SweepArgs {
    fn sweep(&self) -> Result<Sweep, Failure> {
        let cpus = match self.cpus.as_deref() {
            None => None,
            Some(&[client, router, server]) => Some([client, router, server]),
            Some(_) => return Err(("--cpus: not three CPUs (allowed: CLIENT,ROUTER,SERVER)".to_owned(), 2)),
        };
        for cpu in cpus.into_iter().flatten() {
            may_use(cpu).map_err(|message| (format!("--cpus: {message}"), 2))?;
        }
        let place = self.place()?;
        // Of a path that no relay makes, nothing is varied.
        let has_relay = !matches!(place, Place::Server { .. });
        let each = |values: &[u64]| if has_relay { values.to_vec() } else { Vec::new() };
        Ok(Sweep {
            stack: self.stack,
            mixes: if self.mix {
                vec![self.controllers()]
            } else {
                self.controllers().into_iter().map(|one| vec![one]).collect()
            },
            place,
            cpus,
            // Half a million at most.
            losses_ppm: each(&self.loss_percent).into_iter().map(|ppm| ppm as u32).collect(),
            delays_us: each(&self.delay_ms),
            rates_kbps: each(&self.rate_mbps),
            clients: self.clients.clone(),
            queue_us: self.queue_ms,
            jitter_us: self.jitter_ms,
            reorder_ppm: self.reorder_percent as u32,
            dualpi2: self.dualpi2,
            messages: self.messages,
            media: self.media.media(),
            bulk: self.bulk_s,
            handshake_limit: self.handshake_limit_s,
            runs: self.runs,
            seed: self.seed,
        })
    }

    fn controllers(&self) -> Vec<Controller> {
        if !self.cc.is_empty() {
            return self.cc.clone();
        }
        let own = match self.stack {
            Stack::Quinn => Controller::QuinnCubic,
            Stack::Noq => Controller::NoqCubic,
        };
        vec![Controller::Cubic, Controller::C4, Controller::Bbr, Controller::Quicdc, own]
    }

    fn place(&self) -> Result<Place, Failure> {
        let trust = self.trust.trust()?;
        let fingerprint = || trust.as_ref().map(Trust::fingerprint).ok_or_else(no_trust);
        match (self.connect, self.router) {
            (Some(address), _) => Ok(Place::Server { address, fingerprint: fingerprint()? }),
            (None, Some(control)) => Ok(Place::Router { control, fingerprint: fingerprint()? }),
            (None, None) if trust.is_some() => {
                let message = "--certificate and --fingerprint: whose? (allowed: with --connect or --router)";
                Err((message.to_owned(), 2))
            }
            (None, None) if self.loopback => Ok(Place::Loopback),
            (None, None) => Ok(Place::Namespaces),
        }
    }
}
