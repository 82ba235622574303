//! What to vary, and the cells that it makes.

use crate::controllers::Controller;
use crate::media::Media;
use crate::quic::Fingerprint;
use crate::stack::Stack;
use std::net::SocketAddr;
use std::time::Duration;

/// What to vary, and what to do in each cell.
#[derive(Clone, Debug, PartialEq)]
pub struct Sweep {
    /// The stack of the clients; the server is quinn in any case.
    pub stack: Stack,
    /// Controllers of the clients of a cell, in turn; each mix has its own cells.
    pub mixes: Vec<Vec<Controller>>,
    /// Where the programs run.
    pub place: Place,
    /// CPUs that client, router and server run on; any if not given.
    pub cpus: Option<[usize; 3]>,
    /// Random losses each way, of a million. Where there is no relay, this and the two after it are empty.
    pub losses_ppm: Vec<u32>,
    /// Delays each way in microseconds.
    pub delays_us: Vec<u64>,
    /// Rates each way in kbit/s.
    pub rates_kbps: Vec<u64>,
    /// Numbers of clients.
    pub clients: Vec<u32>,
    /// Queue each way in microseconds at the rate.
    pub queue_us: u64,
    /// Mean jitter each way in microseconds.
    pub jitter_us: u64,
    /// Datagrams each way that are overtaken, of a million.
    pub reorder_ppm: u32,
    /// DualPI2 in the place of tail drop.
    pub dualpi2: bool,
    /// Messages of each client in the echo phase.
    pub messages: u32,
    /// Frames of each client; none for no such phase.
    pub media: Option<Media>,
    /// How long the bulk phase takes.
    pub bulk: Duration,
    /// How long a client may take for its handshake.
    pub handshake_limit: Duration,
    /// Runs of each cell.
    pub runs: u32,
    /// Of the relays' randomness.
    pub seed: u64,
}

/// Where the programs of a sweep run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Place {
    /// Each in a network namespace of its own.
    Namespaces,
    /// All on the loopback interface.
    Loopback,
    /// The server somewhere else, the path as it is.
    Server {
        /// Where.
        address: SocketAddr,
        /// What it is known by.
        fingerprint: Fingerprint,
    },
    /// A router somewhere else, with the server behind it.
    Router {
        /// Where it takes its orders (see [`crate::router::serve`]).
        control: SocketAddr,
        /// What the server is known by.
        fingerprint: Fingerprint,
    },
}

/// A path and who is on it. Of a path that no relay makes, nothing is known.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// Whose senders, in turn.
    pub controllers: Vec<Controller>,
    /// Random loss each way, of a million.
    pub loss_ppm: Option<u32>,
    /// Delay each way in microseconds.
    pub delay_us: Option<u64>,
    /// Rate each way in kbit/s.
    pub rate_kbps: Option<u64>,
    /// How many clients.
    pub clients: u32,
}

impl Sweep {
    /// The cells, in the order of the table.
    #[must_use]
    pub fn cells(&self) -> Vec<Cell> {
        let mut cells = Vec::new();
        for rate_kbps in each(&self.rates_kbps) {
            for delay_us in each(&self.delays_us) {
                for loss_ppm in each(&self.losses_ppm) {
                    for &clients in &self.clients {
                        let cell = |controllers: &Vec<Controller>| Cell {
                            controllers: controllers.clone(),
                            loss_ppm,
                            delay_us,
                            rate_kbps,
                            clients,
                        };
                        cells.extend(self.mixes.iter().map(cell));
                    }
                }
            }
        }
        cells
    }

    /// What is impossible about it.
    ///
    /// # Errors
    ///
    /// One line that names the argument.
    pub fn check(&self) -> Result<(), String> {
        if self.messages == 0 && self.media.is_none() && self.bulk.is_zero() {
            return Err("nothing to measure (allowed: --messages, --media-s or --bulk-s above 0)".to_owned());
        }
        if let Some(controller) =
            self.mixes.iter().flatten().find(|controller| !controller.is_for(self.stack))
        {
            let (name, stack) = (controller.name(), self.stack.name());
            return Err(format!(
                "--cc: {name} is not there for {stack} (allowed: those of this project and {stack}'s own)"
            ));
        }
        let largest = self.mixes.iter().map(Vec::len).max().unwrap_or(0);
        if let Some(clients) = self.clients.iter().find(|&&clients| (clients as usize) < largest) {
            return Err(format!(
                "--clients: {clients} is fewer than the {largest} controllers of --mix (allowed: {largest} or more)"
            ));
        }
        let names = self.mixes.iter().map(|mix| name(mix)).collect::<Vec<_>>();
        for (argument, twice) in [
            ("--cc", twice(&names)),
            ("--loss-percent", twice(&self.losses_ppm).map(|ppm| (f64::from(ppm) / 1e4).to_string())),
            ("--delay-ms", twice(&self.delays_us).map(|us| (us as f64 / 1e3).to_string())),
            ("--rate-mbps", twice(&self.rates_kbps).map(|kbps| (kbps as f64 / 1e3).to_string())),
            ("--clients", twice(&self.clients).map(|clients| clients.to_string())),
        ] {
            if let Some(value) = twice {
                return Err(format!("{argument}: {value} is there twice (allowed: each value once)"));
            }
        }
        Ok(())
    }

    /// All that is the same in every cell and not told by a run: two records with different settings are not one.
    #[must_use]
    pub fn settings(&self) -> String {
        let Self { stack, place, cpus, queue_us, jitter_us, reorder_ppm, dualpi2, messages, media, .. } =
            self;
        let Self { bulk, handshake_limit, seed, .. } = self;
        format!(
            "{place:?}, {}, CPUs {cpus:?}, queue {queue_us} us, jitter {jitter_us} us, reordered {reorder_ppm} ppm, DualPI2 {dualpi2}, \
             {messages} messages, {media:?}, bulk {bulk:?}, handshake {handshake_limit:?}, seed {seed}",
            stack.name()
        )
    }

    /// About how long it takes if no client is held up.
    #[must_use]
    pub fn estimate(&self) -> Duration {
        /// Of a run: to start and end the programs.
        const START: Duration = Duration::from_millis(400);
        let media = self.media.as_ref().map_or(Duration::ZERO, Media::time);
        let cells = self.cells();
        let of = |cell: &Cell| {
            // Handshake, messages, questions to the server before and after each phase, the answer.
            let round_trips = self.messages + 10;
            START + media + self.bulk + 2 * round_trips * Duration::from_micros(cell.delay_us.unwrap_or(0))
        };
        cells.iter().map(of).sum::<Duration>() * self.runs
    }
}

impl Cell {
    /// Its controllers, with a plus sign between them.
    pub(super) fn name(&self) -> String {
        name(&self.controllers)
    }
}

fn name(mix: &[Controller]) -> String {
    mix.iter().map(|controller| controller.name()).collect::<Vec<_>>().join("+")
}

/// Each of some values; nothing if there are none.
fn each<T: Copy>(values: &[T]) -> Vec<Option<T>> {
    if values.is_empty() { vec![None] } else { values.iter().copied().map(Some).collect() }
}

/// A value that is there twice.
fn twice<T: PartialEq + Clone>(values: &[T]) -> Option<T> {
    let again = |(index, value): (usize, &T)| values.iter().take(index).any(|earlier| earlier == value);
    values.iter().enumerate().find(|&one| again(one)).map(|(_, value)| value.clone())
}
