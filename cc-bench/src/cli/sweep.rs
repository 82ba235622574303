//! `sweep`.

use super::{
    Failure, delay, failed, interruption, loss, publish, queue, rate, refuse_debug, seconds, seconds_or_0,
};
use crate::controllers::Controller;
use crate::metadata::Metadata;
use crate::record::Record;
use crate::sweep::{Sweep, SweepError, markdown};
use clap::Args;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

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
