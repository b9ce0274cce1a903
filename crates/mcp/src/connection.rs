//! A connection to a server.

use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{ProtocolVersion, Tool as Listed};
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, ClientServiceExt, Peer, RoleClient, RunningService,
    ServiceError,
};
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::streamable_http_client::{
    StreamableHttpClientTransport, StreamableHttpClientTransportConfig,
};
use tokio::sync::Mutex;

use crate::error::{McpError, one_line};
use crate::handler::{Handler, Hooks};
use crate::http::HttpClient;
use crate::list::list;
use crate::options::{ServerOptions, Transport};
use crate::process::Process;

/// The largest message of a server, in bytes.
pub(crate) const MAX_MESSAGE: usize = 16 << 20;

/// The longest time until a server is ready. A program may be downloaded by its launcher first.
const START: Duration = Duration::from_secs(120);

/// An initialised connection. Its drop ends the connection, and the program.
pub(crate) struct Connection {
    pub(crate) peer: Peer<RoleClient>,
    pub(crate) hooks: Arc<Hooks>,
    _service: RunningService<RoleClient, Handler>,
    process: Option<Process>,
    /// Whether the server notifies about each change of its tools.
    announces: bool,
    listed: Mutex<Option<Arc<Vec<Listed>>>>,
}

impl Connection {
    /// # Errors
    /// The server cannot be started or reached, or does not speak the protocol.
    pub(crate) async fn open(options: &ServerOptions) -> Result<Self, McpError> {
        let secrets = options.secrets();
        let failed = |reason: String| McpError::Connect {
            server: options.name.clone(),
            reason: secrets.withheld(&reason).into_owned(),
        };
        let hooks = Arc::new(Hooks::default());
        let handler = Handler(Arc::clone(&hooks));
        // A server of an earlier protocol refuses the first request, and is initialised by a handshake.
        let lifecycle = ClientLifecycleMode::Auto {
            preferred_versions: vec![ProtocolVersion::V_2026_07_28],
            legacy_version: Some(ProtocolVersion::LATEST_WITH_INITIALIZE),
        };
        let (ready, process) = match &options.transport {
            Transport::Command { command, env, folder } => {
                let started = Process::start(command, env, folder.as_deref(), MAX_MESSAGE);
                let (process, (lines, stdin)) = started.map_err(|error| {
                    let program =
                        command.first().map(|program| program.to_string_lossy()).unwrap_or_default();
                    failed(format!("{program:?} cannot be executed: {error}"))
                })?;
                // A line that is too long fails in `lines`, before this limit.
                let pipes = AsyncRwTransport::new_client(lines, stdin).with_max_line_length(usize::MAX);
                let ready = tokio::time::timeout(START, handler.serve_with_lifecycle(pipes, lifecycle)).await;
                (ready, Some(process))
            }
            Transport::Http { url, headers } => {
                let client = HttpClient::new(headers).map_err(failed)?;
                let mut config = StreamableHttpClientTransportConfig::with_uri(url.as_str());
                config = config.max_sse_event_size(MAX_MESSAGE).max_json_response_size(MAX_MESSAGE);
                let http = StreamableHttpClientTransport::with_client(client, config);
                (tokio::time::timeout(START, handler.serve_with_lifecycle(http, lifecycle)).await, None)
            }
        };
        let service = match ready {
            Ok(Ok(service)) => service,
            Ok(Err(error)) => return Err(failed(with_last_words(refused(&error), process.as_ref()).await)),
            Err(_) => {
                let why = format!("it was not ready within {START:?}");
                return Err(failed(with_last_words(why, process.as_ref()).await));
            }
        };
        let peer = service.peer().clone();
        // Over HTTP a session may be replaced by one with other tools.
        let announces = process.is_some()
            && peer.peer_info().is_some_and(|info| {
                let changes = info.capabilities.tools.as_ref().and_then(|tools| tools.list_changed);
                info.protocol_version.has_initialize() && changes == Some(true)
            });
        Ok(Connection { peer, hooks, _service: service, process, announces, listed: Mutex::default() })
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.peer.is_transport_closed()
    }

    /// The tools as they are now. A server that does not notify about changes is asked each time.
    ///
    /// # Errors
    /// The server does not list them within `limit`.
    pub(crate) async fn tools(&self, limit: Duration) -> Result<Arc<Vec<Listed>>, String> {
        let mut listed = self.listed.lock().await;
        let has_changed = self.hooks.take_tools_changed();
        if let Some(known) = listed.as_ref().filter(|_| self.announces && !has_changed) {
            return Ok(Arc::clone(known));
        }
        *listed = None;
        let tools = tokio::time::timeout(limit, list(&self.peer)).await;
        let tools = tools.map_err(|_| format!("it did not list its tools within {limit:?}"))?;
        let tools = match tools {
            Ok(tools) => Arc::new(tools),
            Err(why) => return Err(self.with_last_words(why).await),
        };
        *listed = Some(Arc::clone(&tools));
        Ok(tools)
    }

    /// A reason, with the last line of the program's standard error if the connection has ended.
    pub(crate) async fn with_last_words(&self, reason: String) -> String {
        with_last_words(reason, self.process.as_ref().filter(|_| self.is_closed())).await
    }
}

async fn with_last_words(reason: String, process: Option<&Process>) -> String {
    let Some(process) = process else { return reason };
    match process.last_words().await {
        Some(words) => format!("{reason}; the last line of its standard error: {words}"),
        None => reason,
    }
}

/// An error of a request, in words of this program. The text of the server is short and on one line.
pub(crate) fn told(error: &ServiceError) -> String {
    match error {
        ServiceError::McpError(error) => {
            format!("it answered with the error {}: {}", error.code.0, one_line(&error.message))
        }
        ServiceError::TransportClosed => "it has ended".to_owned(),
        ServiceError::TransportSend(error) => {
            format!("it cannot be reached: {}", one_line(&error.error.to_string()))
        }
        ServiceError::UnexpectedResponse => "got a result of another form".to_owned(),
        other => one_line(&other.to_string()),
    }
}

fn refused(error: &ClientInitializeError) -> String {
    match error {
        ClientInitializeError::ConnectionClosed(_) => "it ended before it was initialised".to_owned(),
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => refused(fallback),
        ClientInitializeError::TransportError { error, .. } => {
            format!("it cannot be reached: {}", one_line(&error.error.to_string()))
        }
        ClientInitializeError::NoCompatibleProtocolVersion { server_supported, .. } => {
            format!(
                "it speaks the versions {server_supported:?} of the protocol, expected 2024-11-05 to 2026-07-28"
            )
        }
        other => one_line(&other.to_string()),
    }
}
