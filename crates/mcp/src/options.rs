//! The options of a server.

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use hyper::Uri;
use hyper::header::{HeaderName, HeaderValue};

use crate::error::McpError;
use crate::secrets::Secrets;

/// The longest name of a server, in bytes.
const MAX_NAME: usize = 32;

/// The headers that the protocol itself sets.
const RESERVED: [&str; 8] = [
    "accept",
    "connection",
    "content-length",
    "content-type",
    "host",
    "last-event-id",
    "mcp-protocol-version",
    "mcp-session-id",
];

/// The options of a server: how it is reached, and what of it an agent may use.
///
/// ```
/// use std::time::Duration;
///
/// use runstate_mcp::{Server, ServerOptions};
///
/// let files = ServerOptions::command("files", ["npx", "-y", "@modelcontextprotocol/server-filesystem", "/srv/notes"])
///     .env("PATH", "/usr/bin:/bin")
///     .tools(["read_text_file", "list_directory"])
///     .timeout(Duration::from_secs(30));
/// assert!(Server::new(files).is_ok());
///
/// // A header would be readable on its way.
/// let open = ServerOptions::http("docs", "http://docs.example/mcp").header("authorization", "Bearer sk-1");
/// let error = Server::new(open).unwrap_err().to_string();
/// assert!(error.contains("http to another machine"), "{error}");
/// ```
#[derive(Clone)]
pub struct ServerOptions {
    pub(crate) name: String,
    pub(crate) transport: Transport,
    pub(crate) trusted: bool,
    pub(crate) tools: Option<Vec<String>>,
    pub(crate) timeout: Duration,
    pub(crate) max_time: Duration,
    pub(crate) max_output: usize,
    pub(crate) hold: Duration,
}

#[derive(Clone)]
pub(crate) enum Transport {
    Command { command: Vec<OsString>, env: Vec<(OsString, OsString)>, folder: Option<PathBuf> },
    Http { url: String, headers: Vec<(String, String)> },
}

impl ServerOptions {
    fn new(name: impl Into<String>, transport: Transport) -> Self {
        ServerOptions {
            name: name.into(),
            transport,
            trusted: false,
            tools: None,
            timeout: Duration::from_secs(60),
            max_time: Duration::from_secs(3_600),
            max_output: 64 * 1024,
            hold: Duration::from_secs(3_600),
        }
    }

    /// Creates the options of a server that is a program: it reads standard input and writes standard output. The name has 1
    /// to 32 letters, digits, `-`, and `_` between them; `__` separates it from the tool.
    pub fn command(name: impl Into<String>, command: impl IntoIterator<Item = impl Into<OsString>>) -> Self {
        let command = command.into_iter().map(Into::into).collect();
        Self::new(name, Transport::Command { command, env: Vec::new(), folder: None })
    }

    /// Creates the options of a server that speaks streamable HTTP at `url`.
    pub fn http(name: impl Into<String>, url: impl Into<String>) -> Self {
        Self::new(name, Transport::Http { url: url.into(), headers: Vec::new() })
    }

    /// Adds an environment variable. The program has no other ones. For HTTP it has no effect.
    #[must_use]
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        if let Transport::Command { env, .. } = &mut self.transport {
            env.push((name.into(), value.into()));
        }
        self
    }

    /// Sets the working folder of the program. Default: that of this process. For HTTP it has no effect.
    #[must_use]
    pub fn folder(mut self, path: impl Into<PathBuf>) -> Self {
        if let Transport::Command { folder, .. } = &mut self.transport {
            *folder = Some(path.into());
        }
        self
    }

    /// Adds a header to each request, such as `authorization`. Its value is a secret: no result, error or debug output has it.
    /// For a program it has no effect.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        if let Transport::Http { headers, .. } = &mut self.transport {
            headers.push((name.into(), value.into()));
        }
        self
    }

    /// Trusts the annotations of the server. `readOnlyHint` and `idempotentHint` then make a tool repeatable, and a read-only
    /// tool needs no approval. Default: annotations have no effect, and each tool needs an approval.
    #[must_use]
    pub fn trusted(mut self) -> Self {
        self.trusted = true;
        self
    }

    /// Sets the tools that are used, by their names at the server. Default: all.
    #[must_use]
    pub fn tools(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.tools = Some(names.into_iter().map(Into::into).collect());
        self
    }

    /// Sets the longest silence of a call. A progress notification ends the silence. Default: 60 s.
    #[must_use]
    pub fn timeout(mut self, silence: Duration) -> Self {
        self.timeout = silence;
        self
    }

    /// Sets the longest time of a call, with progress. Default: 1 h.
    #[must_use]
    pub fn max_time(mut self, time: Duration) -> Self {
        self.max_time = time;
        self
    }

    /// Sets the largest result, in bytes of its JSON or of its text. The rest is omitted. Default: 64 KiB.
    #[must_use]
    pub fn max_output(mut self, bytes: usize) -> Self {
        self.max_output = bytes;
        self
    }

    /// Sets the longest wait for an answer to a server of a protocol before 2026-07-28, whose call stays open meanwhile.
    /// Default: 1 h.
    #[must_use]
    pub fn hold(mut self, time: Duration) -> Self {
        self.hold = time;
        self
    }

    pub(crate) fn secrets(&self) -> Secrets {
        match &self.transport {
            Transport::Command { .. } => Secrets::default(),
            Transport::Http { headers, .. } => Secrets::of(headers.iter().map(|(_, value)| value.as_str())),
        }
    }

    /// # Errors
    /// The option that cannot be used.
    pub(crate) fn check(&self) -> Result<(), McpError> {
        let name = &self.name;
        let wrong = |reason: String| McpError::Option { server: name.clone(), reason };
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        let is_separated = name.contains("__") || name.starts_with('_') || name.ends_with('_');
        if name.is_empty() || name.len() > MAX_NAME || !name.chars().all(is_plain) || is_separated {
            return Err(wrong(format!(
                "its name must have 1 to {MAX_NAME} letters, digits, `-`, and single `_` between them"
            )));
        }
        match &self.transport {
            Transport::Command { command, .. }
                if command.first().is_none_or(|program| program.is_empty()) =>
            {
                Err(wrong("its command names no program".to_owned()))
            }
            Transport::Command { .. } => Ok(()),
            Transport::Http { url, headers } => check_url(url, !headers.is_empty())
                .and_then(|()| headers.iter().try_for_each(|(name, value)| check_header(name, value)))
                .map_err(wrong),
        }
    }
}

fn check_url(url: &str, has_headers: bool) -> Result<(), String> {
    let uri: Uri =
        url.parse().map_err(|_| "its URL cannot be read, expected https://host/path".to_owned())?;
    let (scheme, authority) = (uri.scheme_str(), uri.authority());
    let Some(authority) = authority.filter(|_| matches!(scheme, Some("http" | "https"))) else {
        return Err("its URL must begin with https:// or http://".to_owned());
    };
    if authority.as_str().contains('@') {
        return Err("its URL has a user or a password; use a header".to_owned());
    }
    let host = authority.host().trim_matches(['[', ']']);
    let is_here = host.eq_ignore_ascii_case("localhost")
        || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback());
    if scheme == Some("http") && has_headers && !is_here {
        return Err(
            "its URL is http to another machine, over which its headers would be readable; use https"
                .to_owned(),
        );
    }
    Ok(())
}

fn check_header(name: &str, value: &str) -> Result<(), String> {
    if HeaderName::try_from(name).is_err() {
        return Err(format!("{name:?} is no name of a header"));
    }
    if RESERVED.iter().any(|reserved| name.eq_ignore_ascii_case(reserved)) {
        return Err(format!("the header {name} belongs to the protocol"));
    }
    if value.is_empty() || HeaderValue::try_from(value).is_err() {
        return Err(format!(
            "the value of the header {name} is empty or has a character that no header may have"
        ));
    }
    Ok(())
}

/// Without the values of variables and headers.
impl fmt::Debug for ServerOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("ServerOptions");
        shown.field("name", &self.name);
        match &self.transport {
            Transport::Command { command, env, folder } => {
                let names: Vec<_> = env.iter().map(|(name, _)| name).collect();
                shown.field("command", command).field("env", &names).field("folder", folder);
            }
            Transport::Http { url, headers } => {
                let names: Vec<_> = headers.iter().map(|(name, _)| name).collect();
                shown.field("url", url).field("headers", &names);
            }
        }
        shown
            .field("trusted", &self.trusted)
            .field("tools", &self.tools)
            .field("timeout", &self.timeout)
            .field("max_time", &self.max_time)
            .field("max_output", &self.max_output)
            .field("hold", &self.hold)
            .finish()
    }
}
