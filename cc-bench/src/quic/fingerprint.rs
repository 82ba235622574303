//! A certificate that is known by its SHA-256 alone.

use ring::digest::{SHA256, SHA256_OUTPUT_LEN, digest};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring as provider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, OtherError, SignatureScheme};
use std::str::FromStr;
use std::sync::Arc;
use std::{error, fmt};

/// SHA-256 of a certificate in DER.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fingerprint([u8; SHA256_OUTPUT_LEN]);

/// What is no fingerprint, or not the one that was expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FingerprintError {
    /// Not 64 hexadecimal digits.
    Malformed,
    /// The certificate of the server is another one.
    Wrong {
        /// What the client was told.
        expected: Fingerprint,
        /// What the server has.
        found: Fingerprint,
    },
}

impl fmt::Display for FingerprintError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed => {
                f.write_str("no fingerprint (allowed: 64 hexadecimal digits, with or without colons)")
            }
            Self::Wrong { expected, found } => {
                write!(f, "fingerprint of the server is {found}, not {expected}")
            }
        }
    }
}

impl error::Error for FingerprintError {}

impl Fingerprint {
    /// That of a certificate.
    #[must_use]
    pub fn of(certificate: &CertificateDer<'_>) -> Self {
        let mut bytes = [0; SHA256_OUTPUT_LEN];
        // Both are of the same length.
        bytes.iter_mut().zip(digest(&SHA256, certificate).as_ref()).for_each(|(to, &from)| *to = from);
        Self(bytes)
    }

    /// TLS of a client that accepts this certificate whatever it says, and no other.
    pub(super) fn client(self) -> Result<ClientConfig, rustls::Error> {
        let provider = Arc::new(provider::default_provider());
        let verifier = Arc::new(Verifier { expected: self, provider: Arc::clone(&provider) });
        let config = ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&rustls::version::TLS13])?
            .dangerous()
            .with_custom_certificate_verifier(verifier)
            .with_no_client_auth();
        Ok(config)
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl FromStr for Fingerprint {
    type Err = FingerprintError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let digits: Option<Vec<u8>> = text
            .chars()
            .filter(|&c| c != ':')
            .map(|c| c.to_digit(16).and_then(|digit| u8::try_from(digit).ok()))
            .collect();
        let digits = digits.filter(|digits| digits.len() == 2 * SHA256_OUTPUT_LEN);
        let digits = digits.ok_or(FingerprintError::Malformed)?;
        let mut bytes = [0; SHA256_OUTPUT_LEN];
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            *byte = pair.iter().fold(0, |byte, digit| byte << 4 | digit);
        }
        Ok(Self(bytes))
    }
}

/// Accepts one certificate. That the server has its key too is verified as for any other.
#[derive(Debug)]
struct Verifier {
    expected: Fingerprint,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let found = Fingerprint::of(end_entity);
        if found == self.expected {
            return Ok(ServerCertVerified::assertion());
        }
        let error = FingerprintError::Wrong { expected: self.expected, found };
        // As this kind of error it is shown by its text.
        Err(rustls::Error::Other(OtherError(Arc::new(error))))
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, cert, dss, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, cert, dss, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::{Fingerprint, FingerprintError, Verifier};
    use crate::quic::Identity;
    use rustls::client::danger::ServerCertVerifier;
    use rustls::crypto::ring::default_provider;
    use rustls::crypto::ring::sign::any_supported_type;
    use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
    use rustls::server::{ClientHello, ResolvesServerCert};
    use rustls::sign::CertifiedKey;
    use rustls::version::TLS13;
    use rustls::{CertificateError, ClientConnection, ServerConfig, ServerConnection};
    use std::sync::Arc;

    #[test]
    fn a_fingerprint_is_the_sha_256_in_hexadecimal_digits() {
        // FIPS 180-4, the example "abc" of its companion document.
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        let fingerprint = Fingerprint::of(&CertificateDer::from(b"abc".to_vec()));
        assert_eq!(fingerprint.to_string(), abc);
        assert_eq!(abc.parse(), Ok(fingerprint));
        let with_colons = abc
            .to_uppercase()
            .as_bytes()
            .chunks(2)
            .map(|pair| String::from_utf8(pair.to_vec()).unwrap())
            .collect::<Vec<_>>()
            .join(":");
        assert_eq!(with_colons.parse(), Ok(fingerprint));
        for wrong in ["", "ba", &abc[1..], &abc.replace('b', "g"), &format!("{abc}00")] {
            assert_eq!(wrong.parse::<Fingerprint>(), Err(FingerprintError::Malformed), "{wrong}");
        }
    }

    #[test]
    fn any_other_certificate_is_refused_and_both_fingerprints_are_named() {
        let (one, other) = (Identity::generate().unwrap(), Identity::generate().unwrap());
        let verifier = Verifier { expected: one.fingerprint(), provider: Arc::new(default_provider()) };
        let name = ServerName::try_from("localhost").unwrap();
        let verify = |identity: &Identity| {
            verifier.verify_server_cert(&identity.certificate, &[], &name, &[], UnixTime::now()).map(drop)
        };
        verify(&one).unwrap();
        let error = verify(&other).unwrap_err().to_string();
        for part in [one.fingerprint(), other.fingerprint()].map(|fingerprint| fingerprint.to_string()) {
            assert!(error.contains(&part), "{error}");
        }
    }

    /// Whoever has the certificate, which is public, but not its key.
    #[derive(Debug)]
    struct Impostor(Arc<CertifiedKey>);

    impl ResolvesServerCert for Impostor {
        fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
            Some(Arc::clone(&self.0))
        }
    }

    #[test]
    fn the_certificate_without_its_key_is_not_enough() {
        let (one, other) = (Identity::generate().unwrap(), Identity::generate().unwrap());
        let handshake = |key: &Identity| {
            let key = any_supported_type(&key.key).unwrap();
            let certified = Arc::new(CertifiedKey::new(vec![one.certificate.clone()], key));
            let config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
                .with_protocol_versions(&[&TLS13])
                .unwrap()
                .with_no_client_auth()
                .with_cert_resolver(Arc::new(Impostor(certified)));
            let mut server = ServerConnection::new(Arc::new(config)).unwrap();
            let name = ServerName::try_from("localhost").unwrap();
            let config = Arc::new(one.fingerprint().client().unwrap());
            let mut client = ClientConnection::new(config, name).unwrap();
            let mut wire = Vec::new();
            client.write_tls(&mut wire).unwrap();
            server.read_tls(&mut &wire[..]).unwrap();
            server.process_new_packets().unwrap();
            let mut wire = Vec::new();
            server.write_tls(&mut wire).unwrap();
            client.read_tls(&mut &wire[..]).unwrap();
            client.process_new_packets().map(drop)
        };
        handshake(&one).unwrap();
        assert_eq!(handshake(&other), Err(CertificateError::BadSignature.into()));
    }
}
