//! The required proof of the server's identity, as a configuration of rustls.

use std::sync::Arc;

use runstate_store::StoreError;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::options::{PostgresOptions, SslMode};

/// Creates the connector for TLS, and sets the TLS mode of the client.
pub(crate) fn connector(options: &mut PostgresOptions) -> Result<MakeRustlsConnect, StoreError> {
    use tokio_postgres::config::SslMode as Asked;
    let asked = match options.ssl {
        SslMode::Disable => Asked::Disable,
        SslMode::Prefer => Asked::Prefer,
        SslMode::Require | SslMode::VerifyCa | SslMode::VerifyFull => Asked::Require,
    };
    options.config.ssl_mode(asked);
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider));
    let builder = builder.with_safe_default_protocol_versions().map_err(StoreError::failed)?;
    let verifier: Arc<dyn ServerCertVerifier> = match (options.ssl, &options.root) {
        (SslMode::VerifyFull, _) => by_authority(options, provider)?,
        (SslMode::VerifyCa, _) | (SslMode::Require, Some(_)) => {
            Arc::new(AnyName(by_authority(options, provider)?))
        }
        (SslMode::Require | SslMode::Prefer | SslMode::Disable, _) => Arc::new(Anybody(provider)),
    };
    let config = builder.dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth();
    Ok(MakeRustlsConnect::new(config))
}

fn by_authority(
    options: &PostgresOptions,
    provider: Arc<CryptoProvider>,
) -> Result<Arc<WebPkiServerVerifier>, StoreError> {
    let mut roots = RootCertStore::empty();
    if let Some(file) = &options.root {
        let at =
            |what: String| StoreError::failed(format!("the root certificates of {}: {what}", file.display()));
        let read = CertificateDer::pem_file_iter(file).map_err(|error| at(error.to_string()))?;
        for certificate in read {
            let certificate = certificate.map_err(|error| at(error.to_string()))?;
            roots.add(certificate).map_err(|error| at(error.to_string()))?;
        }
        if roots.is_empty() {
            return Err(at("there are none; expected certificates in PEM".to_owned()));
        }
    } else {
        roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    }
    WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider).build().map_err(StoreError::failed)
}

/// A verifier that accepts a certificate of a known authority for any name.
#[derive(Debug)]
struct AnyName(Arc<WebPkiServerVerifier>);

impl ServerCertVerifier for AnyName {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        between: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        match self.0.verify_server_cert(certificate, between, name, ocsp, now) {
            // The name is checked last.
            Err(rustls::Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) => Ok(ServerCertVerified::assertion()),
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.0.verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.0.verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.supported_verify_schemes()
    }
}

/// A verifier that accepts any certificate, if the server has its key, as `require` does in libpq.
#[derive(Debug)]
struct Anybody(Arc<CryptoProvider>);

impl ServerCertVerifier for Anybody {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signed, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signed, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
