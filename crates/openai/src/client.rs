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
use runstate::stream::{ErrorKind, SourceError};

use crate::connect::{self, Connector};
use crate::events::ChatStream;
use crate::limit::{Limit, Times};
use crate::{Chat, failure};

/// What is read of an answer that is no stream of events.
const MOST_OF_A_BODY: usize = 8 << 20;

/// A server that speaks OpenAI's protocol. A clone shares its connections.
#[derive(Clone)]
pub struct OpenAi {
    http: Client<Connector, Full<Bytes>>,
    endpoint: Uri,
    key: Option<HeaderValue>,
    headers: HeaderMap,
    times: Times,
}

/// Why a server cannot be asked.
#[derive(Debug)]
#[non_exhaustive]
pub enum ConfigError {
    /// The address is none that can be asked.
    Address {
        /// The address without its query and a user's name, which may hold a key.
        got: String,
        /// What is wrong with it.
        problem: String,
    },
    /// The key has characters that a header must not have. It is not shown.
    Key,
    /// A header has a name that none may have, or a value. The value is not shown.
    Header {
        /// Its name.
        name: String,
    },
    /// What was given to trust are no certificates.
    Certificates {
        /// What is wrong with it.
        problem: String,
    },
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ConfigError::Address { got, problem } => {
                write!(
                    f,
                    "{got:?} is no address of a server: {problem}; expected one like https://api.openai.com/v1"
                )
            }
            ConfigError::Key => {
                f.write_str("the key has characters that no header may have; is there a line break in it?")
            }
            ConfigError::Header { name } => write!(
                f,
                "{name:?} cannot be a header: a name has letters, digits and dashes, and a value no line break"
            ),
            ConfigError::Certificates { problem } => {
                write!(f, "what was given to trust cannot be used: {problem}; expected certificates in PEM")
            }
        }
    }
}

impl Error for ConfigError {}

impl OpenAi {
    /// The server whose `chat/completions` is below `base`.
    ///
    /// ```
    /// # use runstate_openai::OpenAi;
    /// assert!(OpenAi::new("http://127.0.0.1:4010/v1").is_ok());
    /// assert!(OpenAi::new("api.openai.com").unwrap_err().to_string().contains("https://"));
    /// ```
    ///
    /// # Errors
    /// When `base` is no `http` or `https` address. Without the feature `tls` an `https` one is refused too.
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
        Ok(OpenAi { http, endpoint, key: None, headers: HeaderMap::new(), times: Times::default() })
    }

    /// The same, which trusts the servers that these certificates stand for, beside the roots that come with the crate: for a server
    /// of one's own, or a proxy that looks into https. `pem` is a file's content, with any number of certificates.
    ///
    /// ```
    /// # use runstate_openai::OpenAi;
    /// let server = OpenAi::new("https://models.internal/v1")?;
    /// assert!(server.trusting(b"not a file of certificates").is_err());
    /// # Ok::<(), runstate_openai::ConfigError>(())
    /// ```
    ///
    /// # Errors
    /// When there is no certificate in it, or one that cannot be read.
    #[cfg(feature = "tls")]
    pub fn trusting(mut self, pem: &[u8]) -> Result<Self, ConfigError> {
        let wrong = |problem: String| ConfigError::Certificates { problem };
        let roots = connect::of_pem(pem).map_err(wrong)?;
        let connector = connect::connector(&roots).map_err(|error| wrong(error.to_string()))?;
        self.http = Client::builder(TokioExecutor::new()).build(connector);
        Ok(self)
    }

    /// The same, with the key that the server asks for.
    ///
    /// # Errors
    /// When no header can hold the key.
    pub fn with_key(mut self, key: &str) -> Result<Self, ConfigError> {
        let mut header = HeaderValue::try_from(format!("Bearer {key}")).map_err(|_| ConfigError::Key)?;
        header.set_sensitive(true);
        self.key = Some(header);
        Ok(self)
    }

    /// The same, with a header in each request, in place of one of that name: an organisation, a project, a key that has a header of
    /// its own. Its value is not shown.
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
    /// When no header can have that name or hold that value.
    pub fn with_header(mut self, name: &str, value: &str) -> Result<Self, ConfigError> {
        let wrong = || ConfigError::Header { name: name.to_owned() };
        let mut value = HeaderValue::try_from(value).map_err(|_| wrong())?;
        value.set_sensitive(true);
        self.headers.insert(HeaderName::try_from(name).map_err(|_| wrong())?, value);
        Ok(self)
    }

    /// The same, with other limits of time for each answer: how long no piece of it may come, which is also how long the server may take to
    /// begin, and how long the whole may take. Without them 10 minutes and an hour. What a server sends to keep a connection open is no
    /// piece. [`Duration::MAX`] is no limit. The limits of a session count beside these.
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

    /// Asks for an answer, and gives it as it comes.
    ///
    /// An answer that takes longer than the limits of [`within`](Self::within) ends with [`ErrorKind::Timeout`].
    ///
    /// # Errors
    /// When the server cannot be reached ([`ErrorKind::Network`]), has a certificate that is not trusted ([`ErrorKind::Fatal`]), or answers with another status than success: see its kinds in the
    /// error's text. A `Retry-After` is handed on.
    ///
    /// # Cancel safety
    /// Dropped, the request is given up and its connection closed.
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
                    None => SourceError::new(ErrorKind::Network, format!("{} cannot be asked", self.shown()))
                        .caused_by(error),
                    Some(why) => {
                        SourceError::new(ErrorKind::Fatal, untrusted(&self.shown(), &why)).caused_by(error)
                    }
                }
            })?;
        let encoding = encoding(&response);
        if !response.status().is_success() {
            let (head, body) = response.into_parts();
            // What to do follows from its status, also where its reason cannot be read.
            let body = match encoding {
                Some(encoding) => Err(encoding),
                None => Ok(limit.of(read_whole(body)).await.ok().and_then(Result::ok).unwrap_or_default()),
            };
            return Err(failure::of_status(head.status, &head.headers, body));
        }
        if let Some(encoding) = encoding {
            let why =
                format!("{} answers in the encoding {encoding:?}, which was not asked for", self.shown());
            return Err(SourceError::new(ErrorKind::Fatal, why));
        }
        if is_event_stream(&response) {
            return Ok(ChatStream::of_events(response.into_body(), chat.kept(), limit));
        }
        // Some servers do not stream, whatever they are asked.
        let body = limit.of(read_whole(response.into_body())).await?.map_err(|error| {
            // Asked again, the server would answer at the same length.
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
        ChatStream::of_whole(&body, chat.kept())
    }

    /// The address without its query and without a user's name: these may hold a key.
    fn shown(&self) -> String {
        without_secrets(&self.endpoint.to_string())
    }
}

fn without_secrets(address: &str) -> String {
    let (scheme, rest) =
        address.split_once("://").map_or((None, address), |(scheme, rest)| (Some(scheme), rest));
    let (host, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    // An `@` further on may end a password that has a stroke or a question mark in it.
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
        "the certificate of {endpoint} is not trusted: {why}; if the server is meant, give what it is signed by to \
         `OpenAi::trusting`"
    )
}

/// An encoding of the body that cannot be read.
fn encoding(response: &Response<Incoming>) -> Option<String> {
    let encoding = response.headers().get(CONTENT_ENCODING)?;
    let encoding = String::from_utf8_lossy(encoding.as_bytes()).trim().to_ascii_lowercase();
    (!matches!(&*encoding, "" | "identity")).then_some(encoding)
}

fn is_event_stream(response: &Response<Incoming>) -> bool {
    let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    // Without a type it is taken for what was asked for.
    kind.is_empty() || kind.trim_start().to_ascii_lowercase().starts_with("text/event-stream")
}

async fn read_whole(body: Incoming) -> Result<Bytes, Box<dyn Error + Send + Sync>> {
    Ok(Limited::new(body, MOST_OF_A_BODY).collect().await?.to_bytes())
}

impl fmt::Debug for OpenAi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenAi").field("endpoint", &self.shown()).finish_non_exhaustive()
    }
}
