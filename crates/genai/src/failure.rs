//! Failures of genai, with their kinds.

use std::error::Error;

use runstate_stream::for_adapters::{Secrets, of_status};
use runstate_stream::{ErrorKind, SourceError};

/// Builds the failure of an attempt. The error itself is not kept, because it has the body of the response.
pub(crate) fn of_genai(error: &genai::Error, secrets: &Secrets) -> SourceError {
    let inner = match error {
        genai::Error::WebStream { error, .. } => error.downcast_ref::<genai::Error>(),
        _ => None,
    };
    let error = inner.unwrap_or(error);
    match error {
        genai::Error::HttpError { status, body, headers, .. } => {
            of_status(*status, headers, Ok(body.clone().into_bytes()), secrets)
        }
        genai::Error::WebStream { error, .. } => of_transport(&**error, secrets),
        // A piece that genai cannot read.
        error => {
            let message = secrets.withheld(&error.to_string()).into_owned();
            SourceError::new(ErrorKind::Model, format!("the answer cannot be read: {message}"))
        }
    }
}

fn of_transport(error: &(dyn Error + Send + Sync + 'static), secrets: &Secrets) -> SourceError {
    let mut causes = vec![error.to_string()];
    let (mut next, mut untrusted) = (error.source(), false);
    while let Some(cause) = next {
        // An `io::Error` reports the source of its inner error, and not the inner error.
        let inner = cause.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
        let inner = inner.map(|inner| inner as &(dyn Error + 'static));
        untrusted |= matches!(
            inner.unwrap_or(cause).downcast_ref::<rustls::Error>(),
            Some(rustls::Error::InvalidCertificate(_))
        );
        causes.push(inner.unwrap_or(cause).to_string());
        next = inner.or_else(|| cause.source());
    }
    causes.dedup();
    let why = causes.join(": ");
    let why = secrets.withheld(&why);
    if error.is::<std::string::FromUtf8Error>() {
        return SourceError::new(ErrorKind::Model, format!("the server sent a malformed answer: {why}"));
    }
    let is_request = error.downcast_ref::<reqwest::Error>();
    match is_request {
        _ if untrusted => {
            SourceError::new(ErrorKind::Fatal, format!("the certificate of the server is not trusted: {why}"))
        }
        Some(error) if error.is_builder() => {
            SourceError::new(ErrorKind::Fatal, format!("the request cannot be made: {why}"))
        }
        Some(error) if error.is_connect() => {
            SourceError::new(ErrorKind::Network, format!("the server cannot be asked: {why}"))
        }
        _ => SourceError::new(ErrorKind::Network, format!("the connection was cut: {why}")),
    }
}
