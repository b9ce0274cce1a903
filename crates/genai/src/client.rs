//! The connection to a server.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use genai::chat::ChatRequest;
use genai::resolver::{AuthData, Endpoint};
use genai::{Client, ModelIden, ServiceTarget};
use http::header::{AUTHORIZATION, HeaderName, HeaderValue};
use runstate_stream::for_adapters::{Limit, Secrets, Times};
use runstate_stream::{ErrorKind, SourceError};
use rustls::crypto::ring;
use rustls::{ClientConfig, RootCertStore};

use crate::Provider;
use crate::events::AnswerStream;
use crate::request::{Prepared, options};
use crate::watch::Watch;

/// A server of a provider. Clones share their connections.
#[derive(Clone)]
pub struct Genai {
    client: Client,
    provider: Provider,
    base: String,
    key: Option<String>,
    /// The headers of each request, with their names in the spelling of genai.
    headers: BTreeMap<String, String>,
    secrets: Secrets,
    times: Times,
}

/// Error in the configuration of a server.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The provider is unknown.
    #[error(
        "{got:?} is no provider; expected anthropic, gemini, responses, or a name of genai such as bedrock_api"
    )]
    Provider {
        /// The name.
        got: String,
    },
    /// The address is unusable. It is not shown, because it may hold a key.
    #[error(
        "the address of the server cannot be used: {problem}; expected one like https://api.anthropic.com/v1"
    )]
    Address {
        /// The problem.
        problem: String,
    },
    /// The key has characters that a header must not have. Messages do not show the key.
    #[error("the key is empty or has characters that no header may have; is there a line break in it?")]
    Key,
    /// A header has an invalid name or value. Messages do not show the value.
    #[error("{name:?} cannot be a header: a name has letters, digits and dashes, and a value no line break")]
    Header {
        /// The name.
        name: String,
    },
    /// The client cannot be made.
    #[error("the HTTP client cannot be made: {problem}")]
    Client {
        /// The problem.
        problem: String,
    },
}

impl Genai {
    /// Creates a client for the server of a provider. `base` is the address above `messages`, `models` or
    /// `responses`.
    ///
    /// The client follows no redirects and uses no proxy.
    ///
    /// ```
    /// use runstate_genai::{Genai, Provider};
    ///
    /// assert!(Genai::new(Provider::ANTHROPIC, "https://api.anthropic.com/v1").is_ok());
    /// let error = Genai::new(Provider::ANTHROPIC, "api.anthropic.com").unwrap_err();
    /// assert!(error.to_string().contains("neither http nor https"), "{error}");
    /// ```
    ///
    /// # Errors
    /// `base` is not an `http` or `https` address, or has a user, a query or a fragment.
    pub fn new(provider: Provider, base: &str) -> Result<Self, ConfigError> {
        let wrong = |problem: &str| ConfigError::Address { problem: problem.to_owned() };
        if !["http://", "https://"].iter().any(|scheme| base.starts_with(scheme)) {
            return Err(wrong("it names neither http nor https"));
        }
        let url = reqwest::Url::parse(base).map_err(|error| wrong(&error.to_string()))?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err(wrong("it has a user or a password; give the key to `with_key`"));
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err(wrong("it has a query or a fragment, which genai does not keep"));
        }
        Ok(Genai {
            client: client()?,
            provider,
            base: format!("{}/", base.trim_end_matches('/')),
            key: None,
            headers: BTreeMap::new(),
            secrets: Secrets::default(),
            times: Times::default(),
        })
    }

    /// Sets the key that the server requires. Where the server repeats the key, the text `[key]` stands. Without a
    /// key, the text `none` is sent as one, because genai requires a key.
    ///
    /// # Errors
    /// No header can hold the key.
    pub fn with_key(mut self, key: &str) -> Result<Self, ConfigError> {
        let header = HeaderValue::try_from(key).map_err(|_| ConfigError::Key)?;
        if key.is_empty() {
            return Err(ConfigError::Key);
        }
        self.secrets.add(&header);
        self.key = Some(key.to_owned());
        Ok(self)
    }

    /// Sets a header of each request, such as that of a gateway. It replaces a header of that name, also the one with
    /// the key. Messages do not show its value. Bedrock gets `Authorization` beside its own.
    ///
    /// ```
    /// # use runstate_genai::{Genai, Provider};
    /// let server = Genai::new(Provider::ANTHROPIC, "https://gateway.example/v1")?.with_header("cf-aig-authorization", "secret")?;
    /// assert!(server.with_header("a header", "x").unwrap_err().to_string().contains("a header"));
    /// # Ok::<(), runstate_genai::ConfigError>(())
    /// ```
    ///
    /// # Errors
    /// No header can have that name or hold that value.
    pub fn with_header(mut self, name: &str, value: &str) -> Result<Self, ConfigError> {
        let wrong = || ConfigError::Header { name: name.to_owned() };
        let header = HeaderName::try_from(name).map_err(|_| wrong())?;
        let secret = HeaderValue::try_from(value).map_err(|_| wrong())?;
        self.secrets.add(&secret);
        // genai compares names with their case, and sends both of two that differ.
        let name = if header == AUTHORIZATION { "Authorization" } else { header.as_str() };
        self.headers.insert(name.to_owned(), value.to_owned());
        Ok(self)
    }

    /// Sets the time limits of each answer. `silence` limits the time without a piece of the answer, and the time
    /// until the server begins. Default: 10 minutes. `whole` limits the time of the whole answer. Default: 1 hour.
    /// Data that a server sends only to keep a connection open does not count as a piece. [`Duration::MAX`] disables
    /// a limit. The limits of a session apply in addition.
    pub fn within(mut self, silence: Duration, whole: Duration) -> Self {
        self.times = Times { silence, whole };
        self
    }

    pub(crate) fn provider(&self) -> Provider {
        self.provider
    }

    /// Requests an answer. The request is sent when the stream is polled first.
    pub(crate) async fn open(&self, model: &str, prepared: Prepared) -> Result<AnswerStream, SourceError> {
        let Prepared { chat, output, parameters, earlier_calls } = prepared;
        if let Some(tool) = self.taken(&chat) {
            let why = format!(
                "the tool {tool:?} has the name of a tool of the provider {}, which would be called instead; rename it",
                self.provider
            );
            return Err(SourceError::new(ErrorKind::Fatal, why));
        }
        let watch = Arc::new(Watch::new(self.provider, self.secrets.clone()));
        let options = options(self.provider, output, parameters)
            .with_raw_frame_sink_arc(watch.clone())
            .with_extra_headers(Vec::from_iter(self.headers.clone()));
        let target = ServiceTarget {
            endpoint: Endpoint::from_owned(self.base.as_str()),
            auth: AuthData::from_single(self.key.as_deref().unwrap_or("none")),
            model: ModelIden::new(self.provider.kind(), model),
        };
        let limit = Limit::new(self.times);
        match self.client.exec_chat_stream(target, chat, Some(&options)).await {
            Ok(opened) => {
                let secrets = self.secrets.clone();
                Ok(AnswerStream::new(opened.stream, watch, self.provider, limit, secrets, earlier_calls))
            }
            Err(error) => {
                let why = self.secrets.withheld(&error.to_string()).into_owned();
                Err(SourceError::new(ErrorKind::Fatal, format!("the request cannot be made: {why}")))
            }
        }
    }

    /// Returns the tool of the request that genai takes for one of the provider.
    fn taken(&self, chat: &ChatRequest) -> Option<String> {
        let tools = chat.tools.iter().flatten().map(|tool| tool.name.as_str());
        tools.into_iter().find(|name| self.provider.own_tools().contains(name)).map(str::to_owned)
    }
}

/// Creates a client without redirects, proxies and compressed answers, over ring.
fn client() -> Result<Client, ConfigError> {
    let wrong = |problem: String| ConfigError::Client { problem };
    let mut roots = RootCertStore::empty();
    roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    let tls = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| wrong(error.to_string()))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    let http = reqwest::Client::builder()
        .tls_backend_preconfigured(tls)
        .redirect(reqwest::redirect::Policy::none())
        .no_proxy()
        .no_gzip()
        .build()
        .map_err(|error| wrong(error.to_string()))?;
    Client::builder().with_reqwest(http).build().map_err(|error| wrong(error.to_string()))
}

impl fmt::Debug for Genai {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Genai")
            .field("provider", &self.provider)
            .field("base", &self.base)
            .finish_non_exhaustive()
    }
}
