//! N clients against one server on three hosts, over every combination of loss, delay, rate, clients and controller.

mod bench;
mod plan;
mod print;
mod run;

pub use bench::{RawPath, Ready, Said, ServerReport};
pub use plan::{Cell, Place, Sweep};
pub use print::markdown;
pub use run::Run;

use crate::hosts::HostsError;
use crate::record::RecordError;
use std::{error, fmt};

/// Why a sweep ends.
#[derive(Debug)]
pub enum SweepError {
    /// No hosts.
    Hosts(HostsError),
    /// The record cannot be written.
    Record(RecordError),
    /// A program of a host does not start, or the system refuses something.
    Other(String),
}

impl fmt::Display for SweepError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Hosts(error) => error.fmt(f),
            Self::Record(error) => error.fmt(f),
            Self::Other(error) => f.write_str(error),
        }
    }
}

impl error::Error for SweepError {}

impl From<HostsError> for SweepError {
    fn from(error: HostsError) -> Self {
        Self::Hosts(error)
    }
}

impl From<RecordError> for SweepError {
    fn from(error: RecordError) -> Self {
        Self::Record(error)
    }
}

#[cfg(test)]
mod tests;
