//! The connection to a server.

use std::error::Error;
use std::fmt;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::Incoming;
use hyper::header::{
    ACCEPT, ACCEPT_ENCODING, AUTHORIZATION, CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderName,
    HeaderValue,
};
use hyper::{Request, Response, Uri};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use runstate_stream::for_adapters::{Limit, Secrets, Times, of_status};
use runstate_stream::{ErrorKind, SourceError};

use crate::Chat;
use crate::connect::{self, Connector};
use crate::events::ChatStream;

/// Limit on the bytes of an answer that is not a stream of events.
const MOST_OF_A_BODY: usize = 8 << 20;

/// A server with OpenAI's protocol. Clones share their connections.
#[derive(Clone)]
pub struct OpenAi {
    http: Client<Connector, Full<Bytes>>,
    endpoint: Uri,
    key: Option<HeaderValue>,
    headers: HeaderMap,
    secrets: Secrets,
    times: Times,
}

/// Error in the configuration of a server.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The address is unusable.
    #[error("{got:?} is no address of a server: {problem}; expected one like https://api.openai.com/v1")]
    Address {
        /// The address without its query and a user's name, which may hold a key.
        got: String,
        /// The problem.
        problem: String,
    },
    /// The key has characters that a header must not have. Messages do not show the key.
    #[error("the key has characters that no header may have; is there a line break in it?")]
    Key,
    /// A header has an invalid name or value. Messages do not show the value.
    #[error("{name:?} cannot be a header: a name has letters, digits and dashes, and a value no line break")]
    Header {
        /// The name of the header.
        name: String,
    },
    /// The given certificates are unusable.
    #[error("the certificates to trust cannot be used: {problem}; expected certificates in PEM")]
    Certificates {
        /// The problem.
        problem: String,
    },
}

impl OpenAi {
    /// Creates a client for the server with `chat/completions` below `base`.
    ///
    /// ```
    /// # use runstate_openai::OpenAi;
    /// assert!(OpenAi::new("http://127.0.0.1:4010/v1").is_ok());
    /// assert!(OpenAi::new("api.openai.com").unwrap_err().to_string().contains("https://"));
    /// ```
    ///
    /// # Errors
    /// `base` is not an `http` or `https` address. Without the feature `tls`, an `https` address is refused,
    /// too.
    pub fn new(base: &str) -> Result<Self, ConfigError> {
        let wrong = |problem: String| ConfigError::Address { got: without_secrets(base), problem };
        if base.contains('#') {
            return Err(wrong("it has a fragment, which is not sent to a server".to_owned()));
        }
        let (path, query) = base.split_once('?').map_or((base, None), |(path, query)| (path, Some(query)));
        let mut endpoint = format!("{}/chat/completions", path.trim_end_matches('/'));
        endpoint.extend(query.filter(|query| !query.is_empty()).into_iter().flat_map(|query| ["?", query]));
        let endpoint: Uri = endpoint.parse().map_err(|error| wrong(format!("{error}")))?;
        match endpoint.scheme_str() {
            Some("http") => {}
            Some("https") if cfg!(feature = "tls") => {}
            Some("https") => return Err(wrong("the feature `tls` is not there".to_owned())),
            _ => return Err(wrong("it names neither http nor https".to_owned())),
        }
        if endpoint.host().is_none_or(str::is_empty) {
            return Err(wrong("it names no host".to_owned()));
        }
        #[cfg(feature = "tls")]
        let connector = connect::connector(&rustls::RootCertStore::empty());
        #[cfg(not(feature = "tls"))]
        let connector = connect::connector();
        let connector = connector.map_err(|error| wrong(error.to_string()))?;
        let http = Client::builder(TokioExecutor::new()).build(connector);
        Ok(OpenAi {
            http,
            endpoint,
            key: None,
            headers: HeaderMap::new(),
            secrets: Secrets::default(),
            times: Times::default(),
        })
    }

    /// Trusts certificates in addition to the roots of the crate, for a private server or for a proxy that
    /// decrypts https. `pem` is the content of a file with any number of certificates.
    ///
    /// ```
    /// # use runstate_openai::OpenAi;
    /// let server = OpenAi::new("https://models.internal/v1")?;
    /// assert!(server.trusting(b"not a file of certificates").is_err());
    /// # Ok::<(), runstate_openai::ConfigError>(())
    /// ```
    ///
    /// # Errors
    /// `pem` has no certificate, or an unreadable one.
    #[cfg(feature = "tls")]
    pub fn trusting(mut self, pem: &[u8]) -> Result<Self, ConfigError> {
        let wrong = |problem: String| ConfigError::Certificates { problem };
        let roots = connect::of_pem(pem).map_err(wrong)?;
        let connector = connect::connector(&roots).map_err(|error| wrong(error.to_string()))?;
        self.http = Client::builder(TokioExecutor::new()).build(connector);
        Ok(self)
    }

    /// Sets the key that the server requires. Where the server repeats the key, such as in an error, the text `[key]` stands.
    ///
    /// # Errors
    /// No header can hold the key.
    pub fn with_key(mut self, key: &str) -> Result<Self, ConfigError> {
        let mut header = HeaderValue::try_from(format!("Bearer {key}")).map_err(|_| ConfigError::Key)?;
        header.set_sensitive(true);
        self.secrets.add(&header);
        self.key = Some(header);
        Ok(self)
    }

    /// Sets a header of each request, such as an organisation, a project, or a key with a header of its own. It
    /// replaces a header of that name. Messages do not show its value.
    ///
    /// ```
    /// # use runstate_openai::OpenAi;
    /// // A deployment on Azure: the version is a query of the base.
    /// let base = "http://127.0.0.1:4010/openai/deployments/gpt?api-version=2024-10-21";
    /// let server = OpenAi::new(base)?.with_header("api-key", "secret")?;
    /// assert!(server.with_header("a header", "x").unwrap_err().to_string().contains("a header"));
    /// # Ok::<(), runstate_openai::ConfigError>(())
    /// ```
    ///
    /// # Errors
    /// No header can have that name or hold that value.
    pub fn with_header(mut self, name: &str, value: &str) -> Result<Self, ConfigError> {
        let wrong = || ConfigError::Header { name: name.to_owned() };
        let mut value = HeaderValue::try_from(value).map_err(|_| wrong())?;
        value.set_sensitive(true);
        self.secrets.add(&value);
        self.headers.insert(HeaderName::try_from(name).map_err(|_| wrong())?, value);
        Ok(self)
    }

    /// Sets the time limits of each answer. `silence` limits the time without a piece of the answer, and the
    /// time until the server begins. Default: 10 minutes. `whole` limits the time of the whole answer. Default:
    /// 1 hour. Data that a server sends only to keep a connection open does not count as a piece.
    /// [`Duration::MAX`] disables a limit. The limits of a session apply in addition.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use runstate_openai::OpenAi;
    /// let server = OpenAi::new("http://127.0.0.1:4010/v1")?;
    /// let server = server.within(Duration::from_secs(60), Duration::from_secs(300));
    /// # Ok::<(), runstate_openai::ConfigError>(())
    /// ```
    pub fn within(mut self, silence: Duration, whole: Duration) -> Self {
        self.times = Times { silence, whole };
        self
    }

    /// Requests an answer, and returns it as a stream.
    ///
    /// An answer that takes longer than the limits of [`within`](Self::within) ends with [`ErrorKind::Timeout`].
    ///
    /// # Errors
    /// [`ErrorKind::Network`] if the server is unreachable, and [`ErrorKind::Fatal`] if its certificate is not
    /// trusted. If the status of the response is not a success, the kind follows from the error in the body and
    /// from the status. The error carries the server's `Retry-After`.
    ///
    /// # Cancel safety
    /// Dropping the future abandons the request and closes its connection.
    pub async fn stream(&self, chat: &Chat) -> Result<ChatStream, SourceError> {
        let body = serde_json::to_vec(&chat.body())
            .map_err(|error| SourceError::new(ErrorKind::Fatal, "the request is no JSON").caused_by(error))?;
        let mut request = Request::post(self.endpoint.clone())
            .header(CONTENT_TYPE, "application/json")
            .header(ACCEPT, "text/event-stream")
            .header(ACCEPT_ENCODING, "identity");
        if let Some(key) = &self.key {
            request = request.header(AUTHORIZATION, key);
        }
        if let Some(headers) = request.headers_mut() {
            headers.extend(self.headers.clone());
        }
        let request = request.body(Full::new(Bytes::from(body))).map_err(|error| {
            SourceError::new(ErrorKind::Fatal, "the request cannot be made").caused_by(error)
        })?;
        let mut limit = Limit::new(self.times);
        let response =
            limit.of(self.http.request(request)).await?.map_err(|error| {
                match connect::untrusted(&error) {
                    None => {
                        let mut why = format!("{} cannot be asked", self.shown());
                        if error.is_connect() {
                            why = format!("{why}: {}", self.secrets.withheld(&connect::reason(&error)));
                        }
                        SourceError::new(ErrorKind::Network, why).caused_by(error)
                    }
                    Some(why) => {
                        SourceError::new(ErrorKind::Fatal, untrusted(&self.shown(), &why)).caused_by(error)
                    }
                }
            })?;
        let encoding = encoding(&response);
        if !response.status().is_success() {
            let (head, body) = response.into_parts();
            // The status decides the kind, even if the body is unreadable.
            let body = match encoding {
                Some(encoding) => Err(encoding),
                None => Ok(limit.of(read_whole(body)).await.ok().and_then(Result::ok).unwrap_or_default()),
            };
            return Err(of_status(head.status, &head.headers, body, &self.secrets));
        }
        if let Some(encoding) = encoding {
            let why =
                format!("{} answers in the encoding {encoding:?}, which was not asked for", self.shown());
            return Err(SourceError::new(ErrorKind::Fatal, why));
        }
        if is_event_stream(&response) {
            return Ok(ChatStream::of_events(response.into_body(), chat, limit, self.secrets.clone()));
        }
        // Some servers never stream.
        let body = limit.of(read_whole(response.into_body())).await?.map_err(|error| {
            // A repeated request would get an answer of equal length.
            let told = if error.is::<LengthLimitError>() {
                let why = format!(
                    "the answer is longer than {MOST_OF_A_BODY} bytes; ask for a shorter one, or for a stream of events"
                );
                SourceError::new(ErrorKind::Model, why)
            } else {
                SourceError::new(ErrorKind::Network, "the answer was cut off")
            };
            told.caused_by(error)
        })?;
        ChatStream::of_whole(&body, chat, self.secrets.clone())
            .map_err(|error| self.secrets.withheld_error(error))
    }

    /// Returns the address without its query and without a user's name, which may hold a key.
    fn shown(&self) -> String {
        without_secrets(&self.endpoint.to_string())
    }
}

fn without_secrets(address: &str) -> String {
    let (scheme, rest) =
        address.split_once("://").map_or((None, address), |(scheme, rest)| (Some(scheme), rest));
    let (host, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    // A later `@` may end a password that contains a slash or a question mark.
    let shown = if path.contains('@') {
        "…".to_owned()
    } else {
        let path = path.split(['?', '#']).next().unwrap_or_default();
        format!("{}{path}", host.rsplit('@').next().unwrap_or_default())
    };
    scheme.map_or_else(|| shown.clone(), |scheme| format!("{scheme}://{shown}"))
}

fn untrusted(endpoint: &str, why: &str) -> String {
    format!(
        "the certificate of {endpoint} is not trusted: {why}; if the server is trusted, give the certificate of its issuer to \
         `OpenAi::trusting`"
    )
}

/// Returns the encoding of the body if it is unreadable.
fn encoding(response: &Response<Incoming>) -> Option<String> {
    let encoding = response.headers().get(CONTENT_ENCODING)?;
    let encoding = String::from_utf8_lossy(encoding.as_bytes()).trim().to_ascii_lowercase();
    (!matches!(&*encoding, "" | "identity")).then_some(encoding)
}

fn is_event_stream(response: &Response<Incoming>) -> bool {
    let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    // A response without a type counts as a stream of events.
    kind.is_empty() || kind.trim_start().to_ascii_lowercase().starts_with("text/event-stream")
}

async fn read_whole(body: Incoming) -> Result<Vec<u8>, Box<dyn Error + Send + Sync>> {
    Ok(Limited::new(body, MOST_OF_A_BODY).collect().await?.to_bytes().into())
}

impl fmt::Debug for OpenAi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenAi").field("endpoint", &self.shown()).finish_non_exhaustive()
    }
}
