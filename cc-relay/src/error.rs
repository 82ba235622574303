//! What can go wrong at the start.

use cc_sim::link::LinkConfigError;
use std::net::SocketAddr;
use std::{error, fmt, io};

/// Why a relay does not start, or refuses a change.
#[derive(Debug)]
pub enum RelayError {
    /// A setting is impossible.
    Config {
        /// Which one, such as `to_server.link.loss_ppm`.
        field: String,
        /// What is wrong with it and what is allowed.
        problem: String,
    },
    /// The address to listen on cannot be had; its port may be in use.
    Bind {
        /// The address.
        address: SocketAddr,
        /// What the system says.
        source: io::Error,
    },
    /// Something else that the relay wanted of the system failed.
    Io {
        /// What it was.
        what: &'static str,
        /// What the system says.
        source: io::Error,
    },
}

impl RelayError {
    pub(crate) fn config(field: &str, problem: String) -> Self {
        Self::Config { field: field.to_owned(), problem }
    }

    pub(crate) fn link(direction: &str, error: &LinkConfigError) -> Self {
        let text = error.to_string();
        let problem =
            text.strip_prefix(error.field).and_then(|rest| rest.strip_prefix(": ")).unwrap_or(&text);
        Self::Config { field: format!("{direction}.link.{}", error.field), problem: problem.to_owned() }
    }

    pub(crate) fn io(what: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { what, source }
    }
}

/// One line.
impl fmt::Display for RelayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Config { field, problem } => write!(f, "{field}: {problem}"),
            Self::Bind { address, source } if source.kind() == io::ErrorKind::AddrInUse => {
                write!(f, "listen: {address} is in use")
            }
            Self::Bind { address, source } => write!(f, "listen: cannot bind {address}: {source}"),
            Self::Io { what, source } => write!(f, "{what}: {source}"),
        }
    }
}

impl error::Error for RelayError {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        match self {
            Self::Config { .. } => None,
            Self::Bind { source, .. } | Self::Io { source, .. } => Some(source),
        }
    }
}
