//! Configurations of quinn: a certificate for the run, windows that do not limit, a controller.

mod fingerprint;

pub use fingerprint::{Fingerprint, FingerprintError};

use quinn::congestion::ControllerFactory;
use quinn::crypto::rustls::QuicClientConfig;
use quinn::{ClientConfig, ServerConfig, TransportConfig, VarInt};
use rustls::RootCertStore;
use rustls::crypto::ring::default_provider;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::error::Error;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Name in the certificate.
pub const SERVER_NAME: &str = "localhost";

/// Flow-control windows, and send buffer of a single client, in bytes: more than a second of 200 Mbit/s, so that they limit nothing.
const WINDOW_BYTES: u32 = 32 << 20;

/// Send buffer of each of some clients of one process, in bytes. They fill it as soon as they may, which takes the CPU of all: 64
/// times 32 MiB is a second, in which nothing else is done.
#[must_use]
pub fn send_buffer(clients: u32) -> u32 {
    const ALL: u32 = 64 << 20;
    const LEAST: u32 = 2 << 20;
    (ALL / clients.max(1)).clamp(LEAST, WINDOW_BYTES)
}

/// A connection that has nothing to say says so this often.
const KEEP_ALIVE: Duration = Duration::from_secs(5);

/// A self-signed certificate and its key.
#[derive(Debug)]
pub struct Identity {
    certificate: CertificateDer<'static>,
    key: PrivateKeyDer<'static>,
}

/// The certificate that a client trusts, and no other.
#[derive(Clone, Debug)]
pub enum Trust {
    /// As a whole.
    Certificate(CertificateDer<'static>),
    /// By its SHA-256.
    Fingerprint(Fingerprint),
}

impl Identity {
    /// A new one.
    ///
    /// # Errors
    ///
    /// Those of the library that makes it.
    pub fn generate() -> Result<Self, Box<dyn Error + Send + Sync>> {
        let pair = rcgen::generate_simple_self_signed([SERVER_NAME.to_owned()])?;
        let key = PrivateKeyDer::try_from(pair.signing_key.serialize_der())?;
        Ok(Self { certificate: pair.cert.into(), key })
    }

    /// Of the server.
    ///
    /// # Errors
    ///
    /// Those of TLS.
    pub fn server(&self) -> Result<ServerConfig, Box<dyn Error + Send + Sync>> {
        let mut config =
            ServerConfig::with_single_cert(vec![self.certificate.clone()], self.key.clone_key())?;
        config.transport_config(Arc::new(transport(WINDOW_BYTES)));
        Ok(config)
    }

    /// What a client has to know of it.
    #[must_use]
    pub fn trust(&self) -> Trust {
        Trust::Certificate(self.certificate.clone())
    }

    /// The same, short enough to be typed.
    #[must_use]
    pub fn fingerprint(&self) -> Fingerprint {
        Fingerprint::of(&self.certificate)
    }

    /// Writes the certificate into a file (DER), for a client elsewhere.
    ///
    /// # Errors
    ///
    /// Those of the system.
    pub fn save(&self, file: &Path) -> io::Result<()> {
        std::fs::write(file, &self.certificate)
    }
}

impl Trust {
    /// Reads what [`Identity::save`] has written.
    ///
    /// # Errors
    ///
    /// Those of the system. What is no certificate is refused by [`Trust::client`].
    pub fn load(file: &Path) -> io::Result<Self> {
        std::fs::read(file).map(|der| Self::Certificate(der.into()))
    }

    /// SHA-256 of the certificate.
    #[must_use]
    pub fn fingerprint(&self) -> Fingerprint {
        match self {
            Self::Certificate(certificate) => Fingerprint::of(certificate),
            Self::Fingerprint(fingerprint) => *fingerprint,
        }
    }

    /// Of a client that sends with this controller and has a buffer of so many bytes.
    ///
    /// # Errors
    ///
    /// Those of TLS.
    pub fn client(
        &self,
        controller: Arc<dyn ControllerFactory + Send + Sync>,
        send_buffer: u32,
    ) -> Result<ClientConfig, Box<dyn Error + Send + Sync>> {
        let mut config = ClientConfig::new(Arc::new(QuicClientConfig::try_from(self.tls()?)?));
        let mut transport = transport(send_buffer);
        transport.congestion_controller_factory(controller);
        config.transport_config(Arc::new(transport));
        Ok(config)
    }
}

impl Trust {
    /// The same for noq.
    ///
    /// # Errors
    ///
    /// Those of TLS.
    pub fn noq_client(
        &self,
        controller: Arc<dyn noq::congestion::ControllerFactory + Send + Sync>,
        send_buffer: u32,
    ) -> Result<noq::ClientConfig, Box<dyn Error + Send + Sync>> {
        let tls = noq::crypto::rustls::QuicClientConfig::try_from(self.tls()?)?;
        let mut transport = noq::TransportConfig::default();
        let window = noq::VarInt::from_u32(WINDOW_BYTES);
        transport
            .stream_receive_window(window)
            .receive_window(window)
            .send_window(send_buffer.into())
            .keep_alive_interval(Some(KEEP_ALIVE))
            .congestion_controller_factory(controller);
        let mut config = noq::ClientConfig::new(Arc::new(tls));
        config.transport_config(Arc::new(transport));
        Ok(config)
    }

    fn tls(&self) -> Result<rustls::ClientConfig, Box<dyn Error + Send + Sync>> {
        match self {
            Self::Certificate(certificate) => {
                let mut roots = RootCertStore::empty();
                roots.add(certificate.clone())?;
                let config = rustls::ClientConfig::builder_with_provider(Arc::new(default_provider()))
                    .with_protocol_versions(&[&rustls::version::TLS13])?
                    .with_root_certificates(roots)
                    .with_no_client_auth();
                Ok(config)
            }
            Self::Fingerprint(fingerprint) => Ok(fingerprint.client()?),
        }
    }
}

fn transport(send_buffer: u32) -> TransportConfig {
    let mut config = TransportConfig::default();
    let window = VarInt::from_u32(WINDOW_BYTES);
    config
        .stream_receive_window(window)
        .receive_window(window)
        .send_window(send_buffer.into())
        .keep_alive_interval(Some(KEEP_ALIVE));
    config
}

#[cfg(test)]
mod tests {
    use super::send_buffer;

    #[test]
    fn clients_share_a_send_buffer_but_each_has_some() {
        // 64 MiB over 1, 8 and 64, between 2 and 32.
        assert_eq!([1, 8, 64, 1_024].map(send_buffer), [32 << 20, 8 << 20, 2 << 20, 2 << 20]);
        assert_eq!(send_buffer(0), 32 << 20);
    }
}
