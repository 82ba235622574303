//! What to vary, and the cells that it makes.

use crate::controllers::Controller;
use std::time::Duration;

/// What to vary, and what to do in each cell.
#[derive(Clone, Debug, PartialEq)]
pub struct Sweep {
    /// Controllers of the clients of a cell, in turn; each mix has its own cells.
    pub mixes: Vec<Vec<Controller>>,
    /// CPUs that client, router and server run on; any if not given.
    pub cpus: Option<[usize; 3]>,
    /// Random losses each way, of a million.
    pub losses_ppm: Vec<u32>,
    /// Delays each way in microseconds.
    pub delays_us: Vec<u64>,
    /// Rates each way in kbit/s.
    pub rates_kbps: Vec<u64>,
    /// Numbers of clients.
    pub clients: Vec<u32>,
    /// Queue each way in microseconds at the rate.
    pub queue_us: u64,
    /// DualPI2 in the place of tail drop.
    pub dualpi2: bool,
    /// Messages of each client in the echo phase.
    pub messages: u32,
    /// How long the bulk phase takes.
    pub bulk: Duration,
    /// How long a client may take for its handshake.
    pub handshake_limit: Duration,
    /// Runs of each cell.
    pub runs: u32,
    /// Of the relays' randomness.
    pub seed: u64,
}

/// A path and who is on it.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// Whose senders, in turn.
    pub controllers: Vec<Controller>,
    /// Random loss each way, of a million.
    pub loss_ppm: u32,
    /// Delay each way in microseconds.
    pub delay_us: u64,
    /// Rate each way in kbit/s.
    pub rate_kbps: u64,
    /// How many clients.
    pub clients: u32,
}

impl Sweep {
    /// The cells, in the order of the table.
    #[must_use]
    pub fn cells(&self) -> Vec<Cell> {
        let mut cells = Vec::new();
        for &rate_kbps in &self.rates_kbps {
            for &delay_us in &self.delays_us {
                for &loss_ppm in &self.losses_ppm {
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
}

impl Cell {
    /// Its controllers, with a plus sign between them.
    pub(super) fn name(&self) -> String {
        self.controllers.iter().map(|controller| controller.name()).collect::<Vec<_>>().join("+")
    }
}
