//! The relay as a program.

#[cfg(target_os = "linux")]
fn main() -> std::process::ExitCode {
    program::main()
}

#[cfg(not(target_os = "linux"))]
fn main() {
    eprintln!("error: the relay needs Linux");
    std::process::exit(1);
}

#[cfg(target_os = "linux")]
mod program {
    use cc_relay::cli::{PathArgs, summary};
    use cc_relay::{Relay, RelayConfig, RelayError};
    use clap::Parser;
    use std::net::SocketAddr;
    use std::process::ExitCode;
    use std::sync::mpsc;
    use std::time::Duration;

    /// A UDP relay that treats datagrams as the simulator's bottleneck does
    ///
    /// The path holds for both directions, each with a queue of its own. Counters go to standard error when it ends (Ctrl-C), and
    /// every so often if asked for.
    #[derive(Debug, Parser)]
    #[command(version)]
    struct Arguments {
        /// Where datagrams of the clients go
        #[arg(long, value_name = "ADDRESS:PORT")]
        server: SocketAddr,
        /// Where clients send to; a free port of the loopback address if not given
        #[arg(long, value_name = "ADDRESS:PORT")]
        listen: Option<SocketAddr>,
        #[command(flatten)]
        path: PathArgs,
        /// Rate from the server to the clients in Mbit/s, if it is another one
        #[arg(long, value_name = "MBPS")]
        back_rate_mbps: Option<f64>,
        /// Datagrams from the server to the clients lost at random, if it is another part; 0 to 100 %
        #[arg(long, value_name = "PERCENT")]
        back_loss_percent: Option<f64>,
        /// Of all randomness
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// Clients at a time, 1 to 4096
        #[arg(long, value_name = "N", default_value_t = 256)]
        max_clients: usize,
        /// After how many seconds a silent client is forgotten, 0.01 to 86400
        #[arg(long, value_name = "S", default_value_t = 60.0)]
        idle_timeout_s: f64,
        /// How often to print the counters, in seconds; only at the end if not given
        #[arg(long, value_name = "S")]
        every_s: Option<f64>,
    }

    pub(super) fn main() -> ExitCode {
        match run(&Arguments::parse()) {
            Ok(()) => ExitCode::SUCCESS,
            Err((message, code)) => {
                eprintln!("error: {message}");
                code
            }
        }
    }

    /// Exit code 2 is for arguments, 1 for what the system refuses.
    fn run(arguments: &Arguments) -> Result<(), (String, ExitCode)> {
        let usage = |message: String| (message, ExitCode::from(2));
        let failed = |error: &dyn std::fmt::Display| (error.to_string(), ExitCode::FAILURE);
        let config = config(arguments).map_err(usage)?;
        let every = arguments.every_s.map(|s| seconds("every-s", s)).transpose().map_err(usage)?;
        let relay = Relay::start(&config).map_err(|error| match error {
            RelayError::Config { .. } => usage(error.to_string()),
            RelayError::Bind { .. } | RelayError::Io { .. } => failed(&error),
        })?;
        let (end, ended) = mpsc::channel();
        let on_signal = move || {
            // Nobody listens any more once it is ending.
            let _ = end.send(());
        };
        ctrlc::set_handler(on_signal).map_err(|error| failed(&error))?;
        eprintln!("relay: {} -> {}", relay.local_addr(), config.server);
        // The thread is looked after even if nothing is to be printed.
        let tick = every.unwrap_or(Duration::from_secs(1));
        while let Err(mpsc::RecvTimeoutError::Timeout) = ended.recv_timeout(tick) {
            if let Some(failure) = relay.failure() {
                return Err(failed(&failure));
            }
            if every.is_some() {
                eprintln!("{}", summary(&relay.stats()));
            }
        }
        eprintln!("{}", summary(&relay.stop()));
        Ok(())
    }

    fn config(arguments: &Arguments) -> Result<RelayConfig, String> {
        let path = arguments.path.path()?;
        let mut config = RelayConfig::new(arguments.server).with_path(&path);
        if let Some(listen) = arguments.listen {
            config.listen = listen;
        }
        let mut back = arguments.path.clone();
        back.rate_mbps = arguments.back_rate_mbps.or(back.rate_mbps);
        back.loss_percent = arguments.back_loss_percent.unwrap_or(back.loss_percent);
        config.to_client = back.path()?;
        config.seed = arguments.seed;
        config.max_clients = arguments.max_clients;
        config.idle_timeout = seconds("idle-timeout-s", arguments.idle_timeout_s)?;
        Ok(config)
    }

    fn seconds(name: &str, s: f64) -> Result<Duration, String> {
        Duration::try_from_secs_f64(s)
            .ok()
            .filter(|&duration| (Duration::from_millis(10)..=Duration::from_secs(86_400)).contains(&duration))
            .ok_or_else(|| format!("--{name}: {s} is out of range (allowed: 0.01..=86400)"))
    }
}
