//! What lies between client and server.

use cc_relay::{DualPi2, EcnPolicy, LinkConfig, PathConfig, QueueLimit, RelayConfig};
use clap::ValueEnum;
use std::net::SocketAddr;

/// The three scenarios of the comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, ValueEnum)]
pub enum Proxy {
    /// Client and server talk directly.
    None,
    /// Through a relay with tail drop that clears ECN fields.
    Basic,
    /// Through a relay with DualPI2 that passes and marks them.
    Ecn,
}

/// A bottleneck. Rate and delay hold for both directions, loss and queue for the way of the data; ACKs wait in a queue without
/// limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Path {
    /// Rate in kbit/s of UDP payload.
    pub rate_kbps: u64,
    /// Propagation delay each way in microseconds.
    pub delay_us: u64,
    /// Datagrams lost at random, of a million.
    pub loss_ppm: u32,
    /// What the queue holds, in microseconds at the rate.
    pub queue_us: u64,
}

impl Proxy {
    /// Its name in tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "None",
            Self::Basic => "Basic",
            Self::Ecn => "ECN",
        }
    }

    /// The relay that it needs; `None` for none.
    #[must_use]
    pub fn relay(self, path: &Path, server: SocketAddr, seed: u64) -> Option<RelayConfig> {
        let Path { rate_kbps, delay_us, loss_ppm, queue_us } = *path;
        let back = LinkConfig { rate_bps: rate_kbps * 1_000, latency_us: delay_us, ..LinkConfig::default() };
        let dualpi2 = match self {
            Self::None => return None,
            Self::Basic => None,
            Self::Ecn => Some(DualPi2::default()),
        };
        let forth = LinkConfig { loss_ppm, queue: QueueLimit::DelayUs(queue_us), dualpi2, ..back.clone() };
        let ecn = if self == Self::Ecn { EcnPolicy::Forward } else { EcnPolicy::Clear };
        let mut config = RelayConfig::new(server);
        config.to_server = PathConfig { ecn, ..PathConfig::new(forth) };
        config.to_client = PathConfig { ecn, ..PathConfig::new(back) };
        config.seed = seed;
        Some(config)
    }
}
