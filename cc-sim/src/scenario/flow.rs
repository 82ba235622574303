//! Who sends what, and when.

use crate::Algorithm;
use serde::{Deserialize, Serialize};

/// Which way the data of a flow goes, and which of the two links that is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// As that of the main flow: over the link whose rate is `down_bps`. ACKs go over the other one.
    Forward,
    /// Against that of the main flow: over the link whose rate is `up_bps`, together with the main flow's ACKs.
    Reverse,
}

impl Direction {
    /// The direction of the ACKs.
    #[must_use]
    pub fn opposite(self) -> Self {
        match self {
            Self::Forward => Self::Reverse,
            Self::Reverse => Self::Forward,
        }
    }
}

/// A flow beside the main one: a connection of its own over the same links, with endpoints of the same kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flow {
    /// Its algorithm.
    pub algorithm: FlowAlgorithm,
    /// Its transfer.
    pub transfer: Transfer,
    /// Which way its data goes.
    pub direction: Direction,
}

/// The algorithm of a flow beside the main one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowAlgorithm {
    /// That of the main flow.
    Main,
    /// This one, whatever the main flow's.
    Fixed(Algorithm),
}

impl FlowAlgorithm {
    /// The algorithm, if the main flow has `main`.
    #[must_use]
    pub fn with(self, main: Algorithm) -> Algorithm {
        match self {
            Self::Main => main,
            Self::Fixed(algorithm) => algorithm,
        }
    }
}

/// What ends a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RunEnd {
    /// The client of the main flow has closed its connection (sim_model section 1).
    #[default]
    MainFlow,
    /// The clients of all flows have.
    AllFlows,
    /// This virtual time, in microseconds, or earlier if the clients of all flows have.
    At(u64),
}

/// A bulk transfer requested by the client right after its handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// Bytes of the answer.
    pub bytes: u64,
    /// When the client starts its handshake, in microseconds.
    pub start_us: u64,
    /// Propagation delay that its packets have after the link, each way, in microseconds: what its path is longer than
    /// that of other flows.
    pub access_us: u64,
}

impl Transfer {
    /// A transfer that starts at time 0 on the path of the link.
    #[must_use]
    pub fn of(bytes: u64) -> Self {
        Self { bytes, start_us: 0, access_us: 0 }
    }
}

/// Saved state for careful resume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resume {
    /// Saved congestion window in bytes.
    pub cwnd_bytes: u64,
    /// Saved RTT in microseconds.
    pub rtt_us: u64,
}
