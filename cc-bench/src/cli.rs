//! Command line: arguments, their ranges, exit codes.

mod network;
mod programs;
mod sweep;

use crate::controllers::Controller;
use crate::metadata::Metadata;
use crate::pairs::{self, Pairs};
use crate::path::Proxy;
use crate::record::{self, Record};
use crate::stack::Stack;
use crate::table::{Matrix, markdown};
use crate::{child, window};
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::fmt::Display;
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Congestion controllers compared on real QUIC connections
#[derive(Debug, Parser)]
#[command(version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Every controller with no proxy, a basic proxy and an ECN proxy
    Table(TableArgs),
    /// Our CUBIC against quinn's and C4 against its BBR over loopback, in pairs of runs
    Pairs(PairsArgs),
    /// A window that does not change, held against window / round trip
    Window(WindowArgs),
    /// Clients, router and server in network namespaces of their own, over losses, delays, rates and numbers of clients
    Sweep(Box<sweep::SweepArgs>),
    /// Records of sweeps side by side: a table on standard output, and plots
    Report(network::ReportArgs),
    /// The namespaces: make, remove, list
    #[command(subcommand)]
    Hosts(network::HostsCommand),
    /// The server of another host; ends when its standard input is closed
    Server(programs::ServerArgs),
    /// The relay of another host; ends when its standard input is closed
    Router(programs::RouterArgs),
    /// Clients: connect, echo, send in bulk; the figures as a line of JSON
    Client(programs::ClientArgs),
}

#[derive(Args, Debug)]
struct TableArgs {
    /// Controllers, with commas between them
    #[arg(long, value_enum, value_delimiter = ',', default_values_t = [
        Controller::Cubic, Controller::Quicdc, Controller::C4, Controller::Bbr, Controller::Reno, Controller::Westwood,
        Controller::QuinnCubic, Controller::QuinnBbr,
    ])]
    cc: Vec<Controller>,
    /// What is between client and server
    #[arg(long, value_enum, value_delimiter = ',', default_values_t = Proxy::value_variants().to_vec())]
    proxy: Vec<Proxy>,
    /// Sizes of the transfers, such as 1MiB or 500kB; 1 B to 16 GiB
    #[arg(long, value_delimiter = ',', value_parser = size, default_values = ["1MiB", "100MiB"])]
    size: Vec<u64>,
    /// Rates of the proxies in Mbit/s of UDP payload, 0.1 to 10000
    #[arg(long, value_name = "MBPS", value_delimiter = ',', value_parser = rate, default_values = ["20", "200"])]
    rate_mbps: Vec<u64>,
    /// Delays of the proxies each way in ms, 0 to 1000
    #[arg(long, value_name = "MS", value_delimiter = ',', value_parser = delay, default_values = ["1", "20"])]
    delay_ms: Vec<u64>,
    /// Random losses of the proxies towards the server in percent, 0 to 50
    #[arg(long, value_name = "PERCENT", value_delimiter = ',', value_parser = loss, default_values = ["0", "1"])]
    loss_percent: Vec<u64>,
    /// Queue of the proxies towards the server in ms at their rate, 1 to 10000
    #[arg(long, value_name = "MS", value_parser = queue, default_value = "100")]
    queue_ms: u64,
    /// Runs of each row, 1 to 1000
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1_000), default_value_t = 5)]
    runs: u32,
    /// Of the relays' randomness
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// How long a transfer may take in seconds, 1 to 3600
    #[arg(long, value_name = "S", value_parser = clap::value_parser!(u64).range(1..=3_600), default_value_t = 60)]
    time_limit_s: u64,
    /// Leave out data that take longer than this at the full rate, in seconds, 1 to 3600
    #[arg(long, value_name = "S", value_parser = clap::value_parser!(u64).range(1..=3_600), default_value_t = 10)]
    patience_s: u64,
    /// Leave out data larger than this where there is random loss
    #[arg(long, value_name = "SIZE", value_parser = size, default_value = "10MiB")]
    lossy_size: u64,
    /// Folder for the record, which must not be there yet; bench_results/DATE_COMMIT if not given
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
    /// Write the table into this Markdown page too, between the lines that begin with <!-- table begin and <!-- table end
    #[arg(long, value_name = "FILE")]
    into: Option<PathBuf>,
    /// Measure with a debug build all the same
    #[arg(long)]
    debug_build: bool,
}

#[derive(Args, Debug)]
struct PairsArgs {
    /// Size of a transfer; 1 B to 16 GiB
    #[arg(long, value_parser = size, default_value = "100MiB")]
    size: u64,
    /// How many pairs of runs, 1 to 1000
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1_000), default_value_t = 20)]
    pairs: u32,
    /// How long a transfer may take in seconds, 1 to 3600
    #[arg(long, value_name = "S", value_parser = clap::value_parser!(u64).range(1..=3_600), default_value_t = 60)]
    time_limit_s: u64,
    /// Folder for the record, which must not be there yet; bench_results/DATE_COMMIT if not given
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
    /// Write the table into this Markdown page too, between the lines that begin with <!-- pairs begin and <!-- pairs end
    #[arg(long, value_name = "FILE")]
    into: Option<PathBuf>,
    /// Measure with a debug build all the same
    #[arg(long)]
    debug_build: bool,
}

#[derive(Args, Debug)]
struct WindowArgs {
    /// The window in bytes, 10000 to 10000000
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u64).range(10_000..=10_000_000), default_value_t = 120_000)]
    window_bytes: u64,
    /// Delay each way in ms, 1 to 1000
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(1..=1_000), default_value_t = 50)]
    delay_ms: u64,
    /// Rate each way in Mbit/s, 0.1 to 10000
    #[arg(long, value_name = "MBPS", value_parser = rate, default_value = "1000")]
    rate_mbps: u64,
    /// How long to measure, after two seconds that are left out; 0.01 to 3600 seconds
    #[arg(long, value_name = "S", value_parser = seconds, default_value = "8")]
    duration_s: Duration,
    /// How far off the measured value may be, in percent of the computed one, 0.1 to 50; further is exit code 1
    #[arg(long, value_name = "PERCENT", value_parser = tolerance, default_value = "5")]
    tolerance_percent: u64,
    /// As a line of JSON
    #[arg(long)]
    json: bool,
    /// Measure with a debug build all the same
    #[arg(long)]
    debug_build: bool,
}

/// What the program does. Exit codes: 0, 1 if something fails, 2 for impossible settings, 130 after an interruption.
#[must_use]
pub fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let result = match &arguments.command {
        Command::Table(arguments) => table(arguments),
        Command::Pairs(arguments) => pairs(arguments),
        Command::Window(arguments) => window(arguments),
        Command::Sweep(arguments) => sweep::sweep(arguments),
        Command::Report(arguments) => network::report(arguments),
        Command::Hosts(command) => network::hosts(command),
        Command::Server(arguments) => programs::server(arguments),
        Command::Router(arguments) => programs::router(arguments),
        Command::Client(arguments) => programs::client(arguments),
    };
    result.unwrap_or_else(|(message, code)| {
        eprintln!("error: {message}");
        ExitCode::from(code)
    })
}

type Failure = (String, u8);

fn failed(error: &dyn Display) -> Failure {
    (error.to_string(), 1)
}

fn table(arguments: &TableArgs) -> Result<ExitCode, Failure> {
    refuse_debug(arguments.debug_build)?;
    let matrix = arguments.matrix();
    if let Some(controller) = matrix.controllers.iter().find(|controller| !controller.is_for(Stack::Quinn)) {
        let name = controller.name();
        return Err((
            format!("--cc: {name} is not there for quinn (allowed: those of this project and quinn's own)"),
            2,
        ));
    }
    if matrix.cells().is_empty() {
        let most = arguments.patience_s;
        return Err((format!("--size: nothing is left that takes at most --patience-s {most} s"), 2));
    }
    let metadata = Metadata::collect();
    let folder = metadata.folder(arguments.out.as_deref());
    let mut record = Record::create(&folder, &metadata).map_err(|error| failed(&error))?;
    let stop = interruption()?;
    let rows = matrix.measure(Some(&mut record), &stop).map_err(|error| failed(&error))?;
    let text = format!("{}\n{}", metadata.paragraph(), markdown(&matrix, &rows));
    publish(&record, &folder, &text, arguments.into.as_deref().map(|page| (page, "table")), &stop)
}

fn pairs(arguments: &PairsArgs) -> Result<ExitCode, Failure> {
    refuse_debug(arguments.debug_build)?;
    let pairs = Pairs {
        controllers: vec![
            (Controller::Cubic, Controller::QuinnCubic),
            (Controller::C4, Controller::QuinnBbr),
            (Controller::Bbr, Controller::QuinnBbr),
            (Controller::Reno, Controller::QuinnReno),
        ],
        bytes: arguments.size,
        count: arguments.pairs,
        time_limit: Duration::from_secs(arguments.time_limit_s),
    };
    let metadata = Metadata::collect();
    let folder = metadata.folder(arguments.out.as_deref());
    let mut record = Record::create(&folder, &metadata).map_err(|error| failed(&error))?;
    let stop = interruption()?;
    let runs = pairs.measure(&mut record, &stop).map_err(|error| failed(&error))?;
    let text = format!("{}\n{}", metadata.paragraph(), pairs::markdown(&pairs, &runs));
    publish(&record, &folder, &text, arguments.into.as_deref().map(|page| (page, "pairs")), &stop)
}

fn window(arguments: &WindowArgs) -> Result<ExitCode, Failure> {
    refuse_debug(arguments.debug_build)?;
    let case = window::Case {
        window: arguments.window_bytes,
        delay: Duration::from_millis(arguments.delay_ms),
        rate_bps: arguments.rate_mbps * 1_000,
        warm_up: Duration::from_secs(2),
        duration: arguments.duration_s,
    };
    let outcome = window::measure(&case).map_err(|error| failed(&error))?;
    if arguments.json {
        child::say(&outcome).map_err(|error| failed(&error))?;
    } else {
        println!("{outcome}");
    }
    let tolerance = arguments.tolerance_percent as f64 / 1e6;
    if (outcome.ratio() - 1.0).abs() > tolerance {
        let message = format!(
            "measured is {:.1} % of computed (allowed: within {} %)",
            100.0 * outcome.ratio(),
            100.0 * tolerance
        );
        return Err((message, 1));
    }
    Ok(ExitCode::SUCCESS)
}

/// Puts the text where it belongs.
fn publish(
    record: &Record,
    folder: &Path,
    text: &str,
    into: Option<(&Path, &str)>,
    stop: &AtomicBool,
) -> Result<ExitCode, Failure> {
    record.file("summary.md", text).map_err(|error| failed(&error))?;
    println!("{text}");
    eprintln!("record: {}", folder.display());
    if stop.load(Ordering::Relaxed) {
        return Ok(ExitCode::from(130));
    }
    if let Some((page, name)) = into {
        record::insert(page, name, text).map_err(|error| failed(&error))?;
    }
    Ok(ExitCode::SUCCESS)
}

impl TableArgs {
    fn matrix(&self) -> Matrix {
        Matrix {
            controllers: self.cc.clone(),
            proxies: self.proxy.clone(),
            sizes: self.size.clone(),
            rates_kbps: self.rate_mbps.clone(),
            delays_us: self.delay_ms.clone(),
            // Half a million at most.
            losses_ppm: self.loss_percent.iter().map(|&ppm| ppm as u32).collect(),
            queue_us: self.queue_ms,
            runs: self.runs,
            seed: self.seed,
            time_limit: Duration::from_secs(self.time_limit_s),
            patience: Duration::from_secs(self.patience_s),
            lossy_bytes: self.lossy_size,
        }
    }
}

/// A build without optimisation measures the compiler.
fn refuse_debug(is_allowed: bool) -> Result<(), Failure> {
    if cfg!(debug_assertions) && !is_allowed {
        return Err((
            "this is a debug build (allowed: --release, or --debug-build to measure it all the same)"
                .to_owned(),
            2,
        ));
    }
    Ok(())
}

/// Becomes true with Ctrl-C or SIGTERM.
fn interruption() -> Result<Arc<AtomicBool>, Failure> {
    let stop = Arc::<AtomicBool>::default();
    let theirs = Arc::clone(&stop);
    ctrlc::set_handler(move || theirs.store(true, Ordering::Relaxed)).map_err(|error| failed(&error))?;
    Ok(stop)
}

/// A number of bytes with a unit.
fn size(text: &str) -> Result<u64, String> {
    const MOST: u64 = 16 << 30;
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let unit = match unit.trim_start() {
        "" | "B" => Some(1),
        "kB" => Some(1_000),
        "KiB" => Some(1 << 10),
        "MB" => Some(1_000_000),
        "MiB" => Some(1 << 20),
        "GB" => Some(1_000_000_000),
        "GiB" => Some(1 << 30),
        _ => None,
    };
    let bytes = unit.and_then(|unit: u64| number.parse::<u64>().ok()?.checked_mul(unit));
    bytes
        .filter(|bytes| (1..=MOST).contains(bytes))
        .ok_or_else(|| "out of range (allowed: 1 B..=16 GiB; units B, kB, KiB, MB, MiB, GB, GiB)".to_owned())
}

/// Mbit/s in kbit/s.
fn rate(text: &str) -> Result<u64, String> {
    scaled(text, 1e3, (100, 10_000_000), "0.1..=10000 Mbit/s")
}

/// Milliseconds in microseconds.
fn delay(text: &str) -> Result<u64, String> {
    scaled(text, 1e3, (0, 1_000_000), "0..=1000 ms")
}

/// Milliseconds in microseconds.
fn queue(text: &str) -> Result<u64, String> {
    scaled(text, 1e3, (1_000, 10_000_000), "1..=10000 ms")
}

/// Milliseconds in microseconds.
fn deadline(text: &str) -> Result<u64, String> {
    scaled(text, 1e3, (0, 10_000_000), "0..=10000 ms")
}

/// Percent in millionths.
fn tolerance(text: &str) -> Result<u64, String> {
    scaled(text, 1e4, (1_000, 500_000), "0.1..=50 %")
}

/// Percent in millionths.
fn loss(text: &str) -> Result<u64, String> {
    scaled(text, 1e4, (0, 500_000), "0..=50 %")
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

/// An address, or the first one of a host's.
fn address(text: &str) -> Result<SocketAddr, String> {
    let mut addresses = text.to_socket_addrs().map_err(|error| error.to_string())?;
    addresses.next().ok_or_else(|| "this host has no address".to_owned())
}

/// A decimal number in units of the program, of which there are `per_unit` in one, in a range of these.
fn scaled(text: &str, per_unit: f64, (least, most): (u64, u64), allowed: &str) -> Result<u64, String> {
    let scaled = text.parse::<f64>().ok().map(|value| (value * per_unit).round());
    scaled
        .filter(|scaled| (least as f64..=most as f64).contains(scaled))
        // Whole, and in a range of small numbers.
        .map(|scaled| scaled as u64)
        .ok_or_else(|| format!("out of range (allowed: {allowed})"))
}

#[cfg(test)]
mod tests {
    use super::{Arguments, loss, rate, size};
    use clap::CommandFactory;

    #[test]
    fn the_arguments_do_not_contradict_each_other() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn units_are_understood_and_ranges_kept() {
        assert_eq!((size("1MiB"), size("500kB"), size("7")), (Ok(1 << 20), Ok(500_000), Ok(7)));
        assert_eq!((rate("0.1"), rate("20"), loss("0.5")), (Ok(100), Ok(20_000), Ok(5_000)));
        for wrong in ["", "0", "-1", "17GiB", "1 parsec", "99999999999999999999GiB", "1.5MiB"] {
            assert!(size(wrong).is_err(), "{wrong}");
        }
        for wrong in ["0.09", "10001", "NaN", "inf", "-1", "x"] {
            assert!(rate(wrong).is_err(), "{wrong}");
        }
    }
}
