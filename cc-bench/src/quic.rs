//! Configurations of quinn: a certificate for the run, windows that do not limit, a controller.

use quinn::congestion::ControllerFactory;
use quinn::{ClientConfig, ServerConfig, TransportConfig, VarInt};
use rustls::RootCertStore;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::error::Error;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Name in the certificate.
pub const SERVER_NAME: &str = "localhost";

/// Flow-control windows and send buffer in bytes: more than a second of 200 Mbit/s, so that they limit nothing.
const WINDOW_BYTES: u32 = 32 << 20;

/// A self-signed certificate and its key.
#[derive(Debug)]
pub struct Identity {
    certificate: CertificateDer<'static>,
    key: PrivateKeyDer<'static>,
}

/// A certificate that a client trusts, and no other.
#[derive(Clone, Debug)]
pub struct Trust(CertificateDer<'static>);

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
        config.transport_config(Arc::new(transport()));
        Ok(config)
    }

    /// What a client has to know of it.
    #[must_use]
    pub fn trust(&self) -> Trust {
        Trust(self.certificate.clone())
    }
}

impl Trust {
    /// Writes the certificate into a file (DER), for a client elsewhere.
    ///
    /// # Errors
    ///
    /// Those of the system.
    pub fn save(&self, file: &Path) -> io::Result<()> {
        std::fs::write(file, &self.0)
    }

    /// Reads what [`Trust::save`] has written.
    ///
    /// # Errors
    ///
    /// Those of the system. What is no certificate is refused by [`Trust::client`].
    pub fn load(file: &Path) -> io::Result<Self> {
        std::fs::read(file).map(|der| Self(der.into()))
    }

    /// Of a client that sends with this controller.
    ///
    /// # Errors
    ///
    /// Those of TLS.
    pub fn client(
        &self,
        controller: Arc<dyn ControllerFactory + Send + Sync>,
    ) -> Result<ClientConfig, Box<dyn Error + Send + Sync>> {
        let mut roots = RootCertStore::empty();
        roots.add(self.0.clone())?;
        let mut config = ClientConfig::with_root_certificates(Arc::new(roots))?;
        let mut transport = transport();
        transport.congestion_controller_factory(controller);
        config.transport_config(Arc::new(transport));
        Ok(config)
    }
}

fn transport() -> TransportConfig {
    let mut config = TransportConfig::default();
    let window = VarInt::from_u32(WINDOW_BYTES);
    config
        .stream_receive_window(window)
        .receive_window(window)
        .send_window(WINDOW_BYTES.into())
        .keep_alive_interval(Some(Duration::from_secs(5)));
    config
}
