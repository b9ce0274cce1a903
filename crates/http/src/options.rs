//! The options of a server.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use runstate_service::sim::SimChain;
use runstate_store::RunStore;
use serde_json::Value;

use crate::tokens::Tokens;

/// The way to know the author of a request.
#[derive(Debug)]
#[non_exhaustive]
pub enum Access {
    /// No tokens: each request is of the user `local`, with all roles. The `Host` of a request must be a loopback name
    /// or address, so that no web page reaches the server by a name of its own.
    Local,
    /// A bearer token in each request.
    Tokens(Tokens),
}

/// The limits of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// The largest body of a new run, in bytes. Default: 1 MiB.
    pub body: usize,
    /// The largest body of another request, in bytes. Default: 64 KiB.
    pub action_body: usize,
    /// The depth of JSON. Default: 96.
    pub depth: usize,
    /// The time for a body. Default: 30 s.
    pub body_time: Duration,
    /// The longest address, in bytes. Default: 8 KiB.
    pub address: usize,
    /// Requests of a principal in a second, and at once. Default: 20 and 40. Zero: any number.
    pub requests: (u32, u32),
    /// Decisions of a principal in a second. Default: 5. Zero: any number.
    pub decisions: u32,
    /// Requests at once, without event streams. Default: 512.
    pub concurrency: usize,
    /// Event streams of the server. Default: 2,000.
    pub streams: usize,
    /// Event streams of a principal. Default: 16.
    pub streams_each: usize,
    /// The time for an operation. After it the operation goes on, and its answer is 503. Default: 45 s.
    pub operation_time: Duration,
    /// The time for which a start or a resume waits for its outcome, unless the request prefers another one. Default:
    /// 30 s.
    pub wait: Duration,
    /// The longest time that a request may ask for. Default: 60 s.
    pub max_wait: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            body: 1024 * 1024,
            action_body: 64 * 1024,
            depth: 96,
            body_time: Duration::from_secs(30),
            address: 8 * 1024,
            requests: (20, 40),
            decisions: 5,
            concurrency: 512,
            streams: 2_000,
            streams_each: 16,
            operation_time: Duration::from_secs(45),
            wait: Duration::from_secs(30),
            max_wait: Duration::from_secs(60),
        }
    }
}

/// The receiver of causes that no answer has, such as an error of the store.
pub type Report = Arc<dyn Fn(&str) + Send + Sync>;

/// The place at which a value leaves the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Leaving<'a> {
    /// The endpoint, such as `/v1/runs/{id}`.
    pub endpoint: &'a str,
    /// The name of the event, in an event stream.
    pub event: Option<&'a str>,
}

/// The redaction of bodies of answers, events and trace lines, each as JSON. The transactions of
/// `execute` leave unchanged, since a wallet signs them; problem documents have the id of a run, and for a chain that cannot be reached the words of its
/// node. A redactor
/// that panics withholds the answer.
///
/// ```
/// use std::sync::Arc;
/// use runstate_http::{Leaving, Options, Redact};
/// use serde_json::{Value, json};
///
/// let redact: Redact = Arc::new(|leaving: Leaving<'_>, body: &mut Value| {
///     if leaving.endpoint == "/v1/runs/{id}" && body.get("intent").is_some() {
///         body["intent"] = json!("[withheld]");
///     }
/// });
/// let mut options = Options::local();
/// options.redact = Some(redact);
/// ```
pub type Redact = Arc<dyn Fn(Leaving<'_>, &mut Value) + Send + Sync>;

/// The options of a [`server`](crate::server()).
#[non_exhaustive]
pub struct Options {
    /// The way to know the author of a request.
    pub access: Access,
    /// The origins of web pages that may use the server, such as `https://app.example.org`. Default: none.
    pub origins: Vec<String>,
    /// Whether this process drives the runs, with [`Service::work`](runstate_service::Service::work). Otherwise a start
    /// and a resume do not wait for their outcome. Default: true.
    pub drives: bool,
    /// The chain in this process, for a server without a real one. It adds the endpoints `POST /sim/transactions`, which
    /// takes one of the transactions that were handed out, and `POST /sim/blocks`, which mines. Default: none.
    pub sim: Option<SimChain>,
    /// The store of agent runs, which the server reads: `GET /v1/runs?kind=agent`, and a run with its trace, events,
    /// approvals and tool calls. A run under a key needs a [`Keyed`](runstate_store::Keyed) store. Default: none.
    pub agents: Option<Arc<dyn RunStore>>,
    /// The receiver of causes that no answer has, such as an error of the store. Default: none.
    pub report: Option<Report>,
    /// The redaction of bodies, events and trace lines. Default: none.
    pub redact: Option<Redact>,
    /// The limits.
    pub limits: Limits,
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("access", &self.access)
            .field("origins", &self.origins)
            .field("drives", &self.drives)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

impl Options {
    /// The options of a server on a loopback address, for the user of this machine. Its principals have no rate.
    pub fn local() -> Self {
        let limits = Limits { requests: (0, 0), decisions: 0, ..Limits::default() };
        Options { limits, ..Options::new(Access::Local) }
    }

    /// The options of a server with tokens.
    pub fn with_tokens(tokens: Tokens) -> Self {
        Options::new(Access::Tokens(tokens))
    }

    fn new(access: Access) -> Self {
        Options {
            access,
            origins: Vec::new(),
            drives: true,
            sim: None,
            agents: None,
            report: None,
            redact: None,
            limits: Limits::default(),
        }
    }
}
