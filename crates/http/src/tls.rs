//! TLS of connections.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::ServerConfig;
use rustls::crypto::ring::default_provider;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::TlsAcceptor;

/// The certificate of a server, with its key. TLS 1.2 and 1.3. A certificate that is renewed is read at the next start.
///
/// ```
/// use runstate_http::{Connections, Tls};
///
/// # let folder = tempfile::tempdir()?;
/// # let (cert, key) = (folder.path().join("cert.pem"), folder.path().join("key.pem"));
/// # let made = rcgen::generate_simple_self_signed(["localhost".to_owned()])?;
/// # std::fs::write(&cert, made.cert.pem())?;
/// # std::fs::write(&key, made.signing_key.serialize_pem())?;
/// let mut connections = Connections::default();
/// connections.tls = Some(Tls::from_pem_files(&cert, &key)?);
///
/// // The two files in the other order.
/// let refused = Tls::from_pem_files(&key, &cert).unwrap_err();
/// assert!(refused.to_string().ends_with("it has no certificate"), "{refused}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Tls(TlsAcceptor);

/// The error of a certificate or of its key.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TlsError {
    /// A file cannot be read, or is no PEM.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: pem::Error,
    },
    /// The file has no certificate.
    #[error("{}: it has no certificate", path.display())]
    NoCertificate {
        /// The file.
        path: PathBuf,
    },
    /// The certificate and the key do not belong together, or one of them is of an unknown kind.
    #[error("the certificate with its key: {0}")]
    Pair(#[from] rustls::Error),
}

impl Tls {
    /// Reads the certificate, followed by its issuers, and the key, both as PEM.
    ///
    /// # Errors
    /// [`TlsError::File`] for a file that cannot be read, or without a key. [`TlsError::NoCertificate`] for a file without
    /// a certificate. [`TlsError::Pair`] if the two do not belong together.
    pub fn from_pem_files(cert: &Path, key: &Path) -> Result<Tls, TlsError> {
        let of = |path: &Path| {
            let path = path.to_owned();
            move |source| TlsError::File { path, source }
        };
        let chain = CertificateDer::pem_file_iter(cert).map_err(of(cert))?;
        let chain = chain.collect::<Result<Vec<_>, _>>().map_err(of(cert))?;
        if chain.is_empty() {
            return Err(TlsError::NoCertificate { path: cert.to_owned() });
        }
        let key = PrivateKeyDer::from_pem_file(key).map_err(of(key))?;
        let config = ServerConfig::builder_with_provider(Arc::new(default_provider()));
        let config = config.with_safe_default_protocol_versions()?.with_no_client_auth();
        let mut config = config.with_single_cert(chain, key)?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Tls(TlsAcceptor::from(Arc::new(config))))
    }

    pub(crate) fn acceptor(&self) -> &TlsAcceptor {
        &self.0
    }
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tls").finish_non_exhaustive()
    }
}
