//! The QUIC stack that sends. The other end is quinn in any case: on the wire both speak the same.
//!
//! noq is a fork of quinn, so that most of this says the same twice; what differs is named where it does.

use crate::controllers::Controller;
use crate::quic::{SERVER_NAME, Trust};
use crate::socket::{any_port, bind};
use crate::tap::{NoqTap, RttSamples, Tap};
use clap::ValueEnum;
use std::error::Error;
use std::net::SocketAddr;
use std::sync::Arc;

type AnyError = Box<dyn Error + Send + Sync>;

/// Which one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Stack {
    /// quinn.
    #[default]
    Quinn,
    /// noq.
    Noq,
}

impl Stack {
    /// Its name in arguments and tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Quinn => "quinn",
            Self::Noq => "noq",
        }
    }
}

/// The socket of a client.
#[derive(Debug)]
pub enum Endpoint {
    /// quinn's.
    Quinn(quinn::Endpoint),
    /// noq's.
    Noq(noq::Endpoint),
}

/// A connection of a client.
#[derive(Clone, Debug)]
pub enum Connection {
    /// quinn's.
    Quinn(quinn::Connection),
    /// noq's.
    Noq(noq::Connection),
}

/// The half of a stream that is written to.
#[derive(Debug)]
pub enum Sending {
    /// quinn's.
    Quinn(quinn::SendStream),
    /// noq's.
    Noq(noq::SendStream),
}

/// The half of a stream that is read from.
#[derive(Debug)]
pub enum Receiving {
    /// quinn's.
    Quinn(quinn::RecvStream),
    /// noq's.
    Noq(noq::RecvStream),
}

/// What a stack has counted of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// Packets sent.
    pub sent_packets: u64,
    /// Packets declared lost.
    pub lost_packets: u64,
}

impl Endpoint {
    /// A socket of its own for a connection to `server`, whose sender has this controller and a buffer of so many bytes;
    /// with its RTT samples.
    ///
    /// # Errors
    ///
    /// Those of the system and of TLS; that the stack does not have the controller.
    pub fn new(
        stack: Stack,
        controller: Controller,
        server: SocketAddr,
        trust: &Trust,
        send_buffer: u32,
    ) -> Result<(Self, RttSamples), AnyError> {
        let missing = || format!("{} is not there for {}", controller.name(), stack.name());
        let socket = bind(any_port(server))?;
        match stack {
            Stack::Quinn => {
                let (tap, samples) = Tap::new(controller.factory().ok_or_else(missing)?);
                let config = trust.client(Arc::new(tap), send_buffer)?;
                let runtime = Arc::new(quinn::TokioRuntime);
                let mut endpoint =
                    quinn::Endpoint::new(quinn::EndpointConfig::default(), None, socket, runtime)?;
                endpoint.set_default_client_config(config);
                Ok((Self::Quinn(endpoint), samples))
            }
            Stack::Noq => {
                let (tap, samples) = NoqTap::new(controller.noq_factory().ok_or_else(missing)?);
                let config = trust.noq_client(Arc::new(tap), send_buffer)?;
                let runtime = Arc::new(noq::TokioRuntime);
                let endpoint = noq::Endpoint::new(noq::EndpointConfig::default(), None, socket, runtime)?;
                endpoint.set_default_client_config(config);
                Ok((Self::Noq(endpoint), samples))
            }
        }
    }

    /// Connects to it.
    ///
    /// # Errors
    ///
    /// The handshake fails.
    pub async fn connect(&self, server: SocketAddr) -> Result<Connection, AnyError> {
        Ok(match self {
            Self::Quinn(endpoint) => Connection::Quinn(endpoint.connect(server, SERVER_NAME)?.await?),
            Self::Noq(endpoint) => Connection::Noq(endpoint.connect(server, SERVER_NAME)?.await?),
        })
    }

    /// Closes all of its connections.
    pub fn close(&self) {
        match self {
            Self::Quinn(endpoint) => endpoint.close(0_u32.into(), b""),
            Self::Noq(endpoint) => endpoint.close(0_u32.into(), b""),
        }
    }
}

impl From<quinn::Connection> for Connection {
    fn from(connection: quinn::Connection) -> Self {
        Self::Quinn(connection)
    }
}

impl Connection {
    pub(crate) async fn open_bi(&self) -> Result<(Sending, Receiving), AnyError> {
        Ok(match self {
            Self::Quinn(connection) => {
                let (to, from) = connection.open_bi().await?;
                (Sending::Quinn(to), Receiving::Quinn(from))
            }
            Self::Noq(connection) => {
                let (to, from) = connection.open_bi().await?;
                (Sending::Noq(to), Receiving::Noq(from))
            }
        })
    }

    pub(crate) fn send_datagram(&self, data: Vec<u8>) -> Result<(), AnyError> {
        match self {
            Self::Quinn(connection) => connection.send_datagram(data.into())?,
            Self::Noq(connection) => connection.send_datagram(data.into())?,
        }
        Ok(())
    }

    pub(crate) fn max_datagram_size(&self) -> Option<usize> {
        match self {
            Self::Quinn(connection) => connection.max_datagram_size(),
            Self::Noq(connection) => connection.max_datagram_size(),
        }
    }

    pub(crate) fn counted(&self) -> Counted {
        match self {
            Self::Quinn(connection) => {
                let path = connection.stats().path;
                Counted { sent_packets: path.sent_packets, lost_packets: path.lost_packets }
            }
            Self::Noq(connection) => {
                let path = connection.path_stats(noq::PathId::ZERO).unwrap_or_default();
                Counted { sent_packets: path.sent_packets, lost_packets: path.lost_packets }
            }
        }
    }
}

impl Sending {
    pub(crate) async fn write_all(&mut self, data: &[u8]) -> Result<(), AnyError> {
        match self {
            Self::Quinn(stream) => stream.write_all(data).await?,
            Self::Noq(stream) => stream.write_all(data).await?,
        }
        Ok(())
    }

    pub(crate) fn finish(&mut self) -> Result<(), AnyError> {
        match self {
            Self::Quinn(stream) => stream.finish()?,
            Self::Noq(stream) => stream.finish()?,
        }
        Ok(())
    }

    pub(crate) fn reset(&mut self) -> Result<(), AnyError> {
        match self {
            Self::Quinn(stream) => stream.reset(0_u32.into())?,
            Self::Noq(stream) => stream.reset(0_u32.into())?,
        }
        Ok(())
    }
}

impl Receiving {
    pub(crate) async fn read_exact(&mut self, data: &mut [u8]) -> Result<(), AnyError> {
        match self {
            Self::Quinn(stream) => stream.read_exact(data).await?,
            Self::Noq(stream) => stream.read_exact(data).await?,
        }
        Ok(())
    }

    pub(crate) async fn read_to_end(&mut self, most: usize) -> Result<Vec<u8>, AnyError> {
        Ok(match self {
            Self::Quinn(stream) => stream.read_to_end(most).await?,
            Self::Noq(stream) => stream.read_to_end(most).await?,
        })
    }
}
