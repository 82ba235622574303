//! The relay of the host in the middle: for as long as somebody wants it, or again and again for sweeps of other machines.

use crate::child::{Complaint, answer, write};
use crate::now;
use crate::protocol::micros;
use crate::sweep::Ready;
use crate::usage::cpu_time;
use cc_relay::cli::PathArgs;
use cc_relay::{PathConfig, Relay, RelayConfig, RelayError, RelayStats};
use serde::{Deserialize, Serialize};
use socket2::{SockRef, TcpKeepalive};
use std::io::{self, BufRead, BufReader, Read};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::{Duration, Instant};

/// A path, the same each way. What is `None` or 0 is not limited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Random loss, of a million.
    pub loss_ppm: u32,
    /// Delay in microseconds.
    pub delay_us: u64,
    /// Mean jitter in microseconds.
    pub jitter_us: u64,
    /// Datagrams that come late and are overtaken, of a million.
    pub reorder_ppm: u32,
    /// Rate in kbit/s.
    pub rate_kbps: Option<u64>,
    /// Room of the queue in microseconds at the rate.
    pub queue_us: Option<u64>,
    /// DualPI2 in the place of tail drop.
    pub dualpi2: bool,
    /// Of all randomness.
    pub seed: u64,
}

impl Limits {
    /// As arguments of `router`.
    #[must_use]
    pub fn arguments(&self) -> Vec<String> {
        let mut arguments = Vec::new();
        let PathArgs { rate_mbps, delay_ms, queue_ms, jitter_ms, loss_percent, reorder_percent, .. } =
            self.path();
        for (name, value) in [
            ("--rate-mbps", rate_mbps),
            ("--queue-ms", queue_ms),
            ("--delay-ms", Some(delay_ms)),
            ("--jitter-ms", Some(jitter_ms)),
            ("--loss-percent", Some(loss_percent)),
            ("--reorder-percent", Some(reorder_percent)),
        ] {
            arguments.extend(value.into_iter().flat_map(|value| [name.to_owned(), value.to_string()]));
        }
        arguments.extend(self.dualpi2.then(|| "--dualpi2".to_owned()));
        arguments.extend(["--seed".to_owned(), self.seed.to_string()]);
        arguments
    }

    fn path(&self) -> PathArgs {
        /// What the argument of the relay's own program is if it is not given.
        const REORDER_MS: f64 = 5.0;
        const ANY_SIZE: usize = 65_527;
        let ms = |us: u64| us as f64 / 1e3;
        PathArgs {
            rate_mbps: self.rate_kbps.map(|kbps| kbps as f64 / 1e3),
            delay_ms: ms(self.delay_us),
            queue_ms: self.queue_us.map(ms),
            jitter_ms: ms(self.jitter_us),
            loss_percent: f64::from(self.loss_ppm) / 1e4,
            reorder_percent: f64::from(self.reorder_ppm) / 1e4,
            reorder_ms: REORDER_MS,
            dualpi2: self.dualpi2,
            mtu_bytes: ANY_SIZE,
            ..PathArgs::default()
        }
    }
}

/// What a router says of itself.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RouterReport {
    /// Counters of the relay.
    pub stats: RelayStats,
    /// CPU time since the relay was started, in microseconds.
    pub cpu_us: u64,
    /// Time since then, in microseconds.
    pub elapsed_us: u64,
}

/// A relay that runs.
#[derive(Debug)]
pub struct Router {
    relay: Relay,
    began: Instant,
    cpu: Duration,
}

impl Router {
    /// Starts it.
    ///
    /// # Errors
    ///
    /// Those of the relay.
    pub fn start(
        listen: SocketAddr,
        server: SocketAddr,
        path: &PathConfig,
        seed: u64,
    ) -> Result<Self, RelayError> {
        const MOST_CLIENTS: usize = 4_096;
        let (began, cpu) = (now(), cpu_time());
        let mut config = RelayConfig::new(server).with_path(path);
        (config.listen, config.seed, config.max_clients) = (listen, seed, MOST_CLIENTS);
        Ok(Self { relay: Relay::start(&config)?, began, cpu })
    }

    /// What clients send to.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.relay.local_addr()
    }

    /// What it has done so far.
    #[must_use]
    pub fn report(&self) -> RouterReport {
        RouterReport {
            stats: self.relay.stats(),
            cpu_us: micros(cpu_time().saturating_sub(self.cpu)),
            elapsed_us: micros(self.began.elapsed()),
        }
    }

    /// What has ended it, if something has.
    #[must_use]
    pub fn failure(&self) -> Option<String> {
        self.relay.failure()
    }
}

/// Runs relays for others: one connection after the other, each of which sends [`Limits`] in its first line and gets a relay for as
/// long as it stays. Whoever can reach the port can have one, so that it belongs into a network of one's own.
///
/// # Errors
///
/// The listener fails.
pub fn serve(listener: &TcpListener, listen: SocketAddr, server: SocketAddr) -> io::Result<()> {
    loop {
        let (stream, peer) = listener.accept()?;
        if let Err(error) = serve_one(stream, listen, server) {
            eprintln!("{peer}: {error}");
        }
    }
}

fn serve_one(stream: TcpStream, listen: SocketAddr, server: SocketAddr) -> io::Result<()> {
    /// For the first line. After that a connection may stay as long as the other end is there.
    const PATIENCE: Duration = Duration::from_secs(10);
    const MOST_BYTES: u64 = 4_096;
    SockRef::from(&stream).set_tcp_keepalive(&TcpKeepalive::new().with_time(Duration::from_secs(30)))?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let mut output = stream.try_clone()?;
    let (mut input, mut line) = (BufReader::new(&stream), String::new());
    input.by_ref().take(MOST_BYTES).read_line(&mut line)?;
    let started =
        serde_json::from_str::<Limits>(&line).map_err(|error| error.to_string()).and_then(|limits| {
            let path = limits.path().path()?;
            Router::start(listen, server, &path, limits.seed).map_err(|error| error.to_string())
        });
    let router = match started {
        Ok(router) => router,
        Err(error) => return write(&mut output, &Complaint { error }),
    };
    write(&mut output, &Ready { address: router.address(), fingerprint: None })?;
    stream.set_read_timeout(None)?;
    answer(input, &mut output, || router.report())?;
    match router.failure() {
        Some(error) => write(&mut output, &Complaint { error }),
        None => write(&mut output, &router.report()),
    }
}

#[cfg(test)]
mod tests {
    use super::{Limits, RouterReport, serve};
    use crate::child::Child;
    use crate::sweep::Ready;
    use std::net::TcpListener;

    #[test]
    fn limits_are_arguments_of_the_program() {
        let limits = Limits {
            loss_ppm: 5_000,
            delay_us: 10_000,
            rate_kbps: Some(1_500),
            queue_us: Some(50_000),
            dualpi2: true,
            seed: 7,
            ..Limits::default()
        };
        let text = limits.arguments().join(" ");
        let expected = "--rate-mbps 1.5 --queue-ms 50 --delay-ms 10 --jitter-ms 0 --loss-percent 0.5 --reorder-percent 0 \
                        --dualpi2 --seed 7";
        assert_eq!(text, expected);
    }

    #[test]
    fn a_router_has_a_relay_for_each_that_asks_and_says_what_is_wrong() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (listen, server) = ("127.0.0.1:0".parse().unwrap(), "127.0.0.1:9".parse().unwrap());
        std::thread::spawn(move || serve(&listener, listen, server));
        for _ in 0..2 {
            let (mut router, ready) = Child::connect::<Ready>("router", address, &Limits::default()).unwrap();
            assert_ne!(ready.address.port(), 0);
            let socket = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
            socket.send_to(b"hello", ready.address).unwrap();
            let received = (0..1_000).any(|_| {
                std::thread::sleep(std::time::Duration::from_millis(5));
                router.ask::<RouterReport>().unwrap().stats.to_server.received.packets == 1
            });
            assert!(received);
            assert_eq!(router.stop::<RouterReport>().unwrap().stats.to_server.received.packets, 1);
        }
        let impossible = Limits { loss_ppm: 2_000_000, ..Limits::default() };
        let error = Child::connect::<Ready>("router", address, &impossible).unwrap_err();
        assert!(error.starts_with("router: ") && error.contains("loss"), "{error}");
        let error = Child::connect::<Ready>("router", address, &"nonsense").unwrap_err();
        assert!(error.starts_with("router: invalid type"), "{error}");
    }
}
