//! Connections to servers, and the trust in their certificates.

#[cfg(feature = "tls")]
pub(crate) use https::{Connector, connector, of_pem, untrusted};
#[cfg(not(feature = "tls"))]
pub(crate) use plain::{Connector, connector, untrusted};

/// The innermost reason of a failed connection.
pub(crate) fn reason(error: &(dyn std::error::Error + 'static)) -> String {
    let mut inner = error;
    while let Some(source) = inner.source() {
        inner = source;
    }
    inner.to_string()
}

#[cfg(feature = "tls")]
mod https {
    use std::error::Error;
    use std::io;
    use std::sync::Arc;

    use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
    use hyper_util::client::legacy::connect::HttpConnector;
    use rustls::crypto::ring;
    use rustls::pki_types::CertificateDer;
    use rustls::pki_types::pem::PemObject;
    use rustls::{ClientConfig, RootCertStore};

    pub(crate) type Connector = HttpsConnector<HttpConnector>;

    /// Creates a connector that trusts the roots of the crate, and `more`.
    ///
    /// # Errors
    /// TLS cannot be configured.
    pub(crate) fn connector(more: &RootCertStore) -> Result<Connector, rustls::Error> {
        let mut roots = more.clone();
        roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
        let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()?
            .with_root_certificates(roots)
            .with_no_client_auth();
        Ok(HttpsConnectorBuilder::new().with_tls_config(config).https_or_http().enable_http1().build())
    }

    /// Reads the certificates of a PEM file, as roots.
    ///
    /// # Errors
    /// The problem of the file, or the lack of a certificate.
    pub(crate) fn of_pem(pem: &[u8]) -> Result<RootCertStore, String> {
        let mut roots = RootCertStore::empty();
        for certificate in CertificateDer::pem_slice_iter(pem) {
            let certificate = certificate.map_err(|error| error.to_string())?;
            roots.add(certificate).map_err(|error| error.to_string())?;
        }
        if roots.is_empty() { Err("there is none in it".to_owned()) } else { Ok(roots) }
    }

    /// Returns the reason if the server's certificate is not trusted.
    pub(crate) fn untrusted(error: &(dyn Error + 'static)) -> Option<String> {
        let mut next = Some(error);
        while let Some(error) = next {
            // An `io::Error` reports the source of its inner error, and not the inner error.
            let inner = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
            let inner = inner.map(|inner| inner as &(dyn Error + 'static));
            if let Some(rustls::Error::InvalidCertificate(why)) = inner.unwrap_or(error).downcast_ref() {
                return Some(why.to_string());
            }
            next = inner.or_else(|| error.source());
        }
        None
    }
}

#[cfg(not(feature = "tls"))]
mod plain {
    use std::convert::Infallible;
    use std::error::Error;

    use hyper_util::client::legacy::connect::HttpConnector;

    pub(crate) type Connector = HttpConnector;

    pub(crate) fn connector() -> Result<Connector, Infallible> {
        Ok(HttpConnector::new())
    }

    /// Without TLS there are no certificates.
    pub(crate) fn untrusted(_: &(dyn Error + 'static)) -> Option<String> {
        None
    }
}
