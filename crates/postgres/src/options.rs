//! Where the server is, and how it is spoken to.

use std::error::Error;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use runstate::clock::Clock;
use tokio_postgres::Config;
use tokio_postgres::config::{Host, TargetSessionAttrs};

use crate::params;
use crate::time::Ticking;

/// Where the server is, and how it is spoken to.
///
/// It is read from a connection string of either form, `postgres://user@host/database?…` or `host=… user=…`, with the
/// parameters of libpq that the client knows, and `sslmode` and `sslrootcert`. A password is better kept in a file; nothing
/// here prints it.
#[derive(Debug, Clone)]
pub struct PostgresOptions {
    pub(crate) config: Config,
    pub(crate) ssl: SslMode,
    pub(crate) root: Option<PathBuf>,
    pub(crate) schema: String,
    pub(crate) connections: usize,
    pub(crate) patience: Duration,
    pub(crate) poll: Duration,
    pub(crate) clock: Ticking,
}

/// How much the server must prove, as libpq's `sslmode` of that name says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SslMode {
    /// No TLS.
    Disable,
    /// TLS where the server has it; nothing is proved.
    Prefer,
    /// TLS. With `sslrootcert` the certificate must be of that authority; without, nothing is proved.
    Require,
    /// TLS, with a certificate of a known authority.
    VerifyCa,
    /// TLS, with a certificate of a known authority for the very name of the host.
    VerifyFull,
}

impl FromStr for SslMode {
    type Err = OptionsError;

    fn from_str(mode: &str) -> Result<Self, OptionsError> {
        Ok(match mode {
            "disable" => SslMode::Disable,
            "prefer" => SslMode::Prefer,
            "require" => SslMode::Require,
            "verify-ca" => SslMode::VerifyCa,
            "verify-full" => SslMode::VerifyFull,
            // It is not quoted: in a string that was put together wrongly it may be a password.
            _ => {
                return Err(OptionsError::new(
                    "sslmode is unknown; expected disable, prefer, require, verify-ca or verify-full"
                        .to_owned(),
                ));
            }
        })
    }
}

/// Options that cannot work.
#[derive(Debug)]
pub struct OptionsError {
    what: String,
}

impl OptionsError {
    fn new(what: String) -> Self {
        OptionsError { what }
    }
}

impl fmt::Display for OptionsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

impl Error for OptionsError {}

/// Longer than this, and the channel of its notifications would have no name.
const SCHEMA: usize = 50;

impl PostgresOptions {
    /// Reads a connection string.
    ///
    /// # Errors
    /// [`OptionsError`], naming what is wrong with it.
    pub fn new(string: &str) -> Result<Self, OptionsError> {
        let (left, [ssl, root]) = params::take(string, ["sslmode", "sslrootcert"])
            .map_err(|why| OptionsError::new(format!("the connection string cannot be read: {why}")))?;
        // The client's message may quote it, with a password in it.
        let mut config: Config = left.parse().map_err(|_| {
            OptionsError::new(
                "the connection string cannot be read, and is not shown, as it may have a password; expected \
                 postgres://user@host/database or host=… user=…"
                    .to_owned(),
            )
        })?;
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(Duration::from_secs(5));
        }
        if config.get_application_name().is_none() {
            config.application_name("runstate");
        }
        // The default waits two hours before it looks whether anybody is there.
        if config.get_keepalives_idle() == Duration::from_secs(2 * 60 * 60) {
            config.keepalives_idle(Duration::from_secs(30));
        }
        // A server in recovery takes no commits: the next host may.
        config.target_session_attrs(TargetSessionAttrs::ReadWrite);
        Ok(PostgresOptions {
            config,
            ssl: ssl.map_or(Ok(SslMode::Prefer), |ssl| ssl.parse())?,
            root: root.map(PathBuf::from),
            schema: "runstate".to_owned(),
            connections: 16,
            patience: Duration::from_secs(30),
            poll: Duration::from_secs(1),
            clock: Ticking::default(),
        })
    }

    /// The tables are in this schema of the database; in `runstate` if this is not said.
    ///
    /// # Errors
    /// [`OptionsError`] when it is empty, longer than 50 bytes, begins with `pg_`, or has other characters than letters,
    /// digits, `_`, `-` and spaces.
    pub fn schema(mut self, schema: impl Into<String>) -> Result<Self, OptionsError> {
        let schema = schema.into();
        let is_plain = |char: char| char.is_alphanumeric() || "_- ".contains(char);
        if schema.is_empty()
            || schema.len() > SCHEMA
            || schema.starts_with("pg_")
            || !schema.chars().all(is_plain)
        {
            return Err(OptionsError::new(format!(
                "the schema is {schema:?}; expected 1 to {SCHEMA} bytes of letters, digits, _, - and spaces, and no pg_ before \
                 them"
            )));
        }
        self.schema = schema;
        Ok(self)
    }

    /// At most so many connections at once, and one more that listens; 16 if this is not said, and never none.
    #[must_use]
    pub fn connections(mut self, connections: usize) -> Self {
        self.connections = connections.max(1);
        self
    }

    /// An operation that takes longer has failed; 30 seconds if this is not said. What became of it is not known then.
    #[must_use]
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Another clock than the server's, for tests: all handles on one schema have the same.
    #[must_use]
    pub fn clock(mut self, clock: impl Clock + 'static) -> Self {
        self.clock = Ticking::Set(Arc::new(clock));
        self
    }

    /// Where notifications do not come, news are looked for this often; each second if this is not said.
    #[must_use]
    pub fn poll_every(mut self, poll: Duration) -> Self {
        self.poll = poll;
        self
    }

    /// How much the server must prove; what the connection string says of it counts no more.
    #[must_use]
    pub fn ssl_mode(mut self, ssl: SslMode) -> Self {
        self.ssl = ssl;
        self
    }

    /// The authorities that are known, as a file of PEM certificates; those of the Mozilla project if this is not said.
    #[must_use]
    pub fn root_certificates(mut self, file: impl Into<PathBuf>) -> Self {
        self.root = Some(file.into());
        self
    }

    /// Is there a password in the connection string?
    pub fn has_password(&self) -> bool {
        self.config.get_password().is_some()
    }

    /// The address of the server, for people: user, hosts and database, and no password. A part with other characters than letters,
    /// digits, `.`, `_`, `-` and `/` is left out, since a password that was not encoded may be in it.
    ///
    /// ```
    /// use runstate_postgres::PostgresOptions;
    ///
    /// let options: PostgresOptions = "postgres://ada:secret@db:5433/runs".parse()?;
    /// assert_eq!(options.address(), "postgres://ada@db:5433/runs");
    /// # Ok::<(), runstate_postgres::OptionsError>(())
    /// ```
    pub fn address(&self) -> String {
        let part = |text: &str| {
            let is_plain = |char: char| char.is_ascii_alphanumeric() || "._-/".contains(char);
            if text.chars().all(is_plain) { text.to_owned() } else { "…".to_owned() }
        };
        let hosts = self.config.get_hosts().iter().map(|host| match host {
            Host::Tcp(name) => part(name),
            #[cfg(unix)]
            Host::Unix(path) => part(&path.to_string_lossy()),
        });
        let ports = self.config.get_ports();
        let port = |at: usize| {
            let port = ports.get(at).or(ports.first().filter(|_| ports.len() == 1));
            port.filter(|port| **port != 5432)
        };
        let hosts = hosts.enumerate().map(|(at, host)| match port(at) {
            Some(port) => format!("{host}:{port}"),
            None => host,
        });
        let user = self.config.get_user().map(|user| format!("{}@", part(user))).unwrap_or_default();
        let database = self.config.get_dbname().map(|name| format!("/{}", part(name))).unwrap_or_default();
        format!("postgres://{user}{}{database}", hosts.collect::<Vec<_>>().join(","))
    }

    /// The name of the schema, as SQL.
    pub(crate) fn quoted_schema(&self) -> String {
        format!("\"{}\"", self.schema)
    }

    /// The channel of its notifications.
    pub(crate) fn channel(&self) -> String {
        format!("runstate:{}", self.schema)
    }

    /// The channel of notifications of commits.
    pub(crate) fn channel_of_commits(&self) -> String {
        format!("runstate+{}", self.schema)
    }
}

impl FromStr for PostgresOptions {
    type Err = OptionsError;

    fn from_str(string: &str) -> Result<Self, OptionsError> {
        PostgresOptions::new(string)
    }
}
