//! Options of the connection to a server.

use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use runstate_runtime::clock::Clock;
use tokio_postgres::Config;
use tokio_postgres::config::{Host, TargetSessionAttrs};

use crate::params;
use crate::time::Ticking;

/// The address of a server and the settings of its connections.
///
/// The options are parsed from a connection string of either form: `postgres://user@host/database?…` or
/// `host=… user=…`. Its parameters are those of libpq that the client supports, and `sslmode` and `sslrootcert`.
/// Prefer to keep a password in a file; this crate never prints it.
#[derive(Debug, Clone)]
pub struct PostgresOptions {
    pub(crate) config: Config,
    pub(crate) ssl: SslMode,
    pub(crate) root: Option<PathBuf>,
    pub(crate) schema: String,
    pub(crate) connections: usize,
    pub(crate) patience: Duration,
    pub(crate) poll: Duration,
    pub(crate) migrates: bool,
    pub(crate) clock: Ticking,
}

/// The required proof of the server's identity, as the `sslmode` of libpq with that name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SslMode {
    /// No TLS.
    Disable,
    /// TLS if the server supports it, without a check of the certificate.
    Prefer,
    /// TLS. With `sslrootcert` the certificate must be of that authority; otherwise it is not checked.
    Require,
    /// TLS, with a certificate of a known authority.
    VerifyCa,
    /// TLS, with a certificate of a known authority for exactly the host's name.
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
            // The value is not quoted: in a wrong string it may be a password.
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
#[derive(Debug, thiserror::Error)]
#[error("{what}")]
pub struct OptionsError {
    what: String,
}

impl OptionsError {
    fn new(what: String) -> Self {
        OptionsError { what }
    }
}

/// The length limit of a schema's name, in bytes: the channel of its notifications needs a valid name.
const SCHEMA: usize = 50;

impl PostgresOptions {
    /// Parses a connection string.
    ///
    /// # Errors
    /// [`OptionsError`] with the problem.
    pub fn new(string: &str) -> Result<Self, OptionsError> {
        let (left, [ssl, root]) = params::take(string, ["sslmode", "sslrootcert"])
            .map_err(|why| OptionsError::new(format!("the connection string cannot be read: {why}")))?;
        // The client's message may quote the string, with a password in it.
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
        // By default the client waits two hours before it checks a silent connection.
        if config.get_keepalives_idle() == Duration::from_secs(2 * 60 * 60) {
            config.keepalives_idle(Duration::from_secs(30));
        }
        // A server in recovery accepts no commits: the next host may.
        config.target_session_attrs(TargetSessionAttrs::ReadWrite);
        Ok(PostgresOptions {
            config,
            ssl: ssl.map_or(Ok(SslMode::Prefer), |ssl| ssl.parse())?,
            root: root.map(PathBuf::from),
            schema: "runstate".to_owned(),
            connections: 16,
            patience: Duration::from_secs(30),
            poll: Duration::from_secs(1),
            migrates: true,
            clock: Ticking::default(),
        })
    }

    /// Sets the schema of the tables. Default: `runstate`.
    ///
    /// # Errors
    /// [`OptionsError`] if the name is empty, longer than 50 bytes, begins with `pg_`, or has characters other than
    /// letters, digits, `_`, `-` and spaces.
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

    /// Sets the limit of concurrent connections for operations, at least 1. Default: 16. The listening connection is
    /// additional.
    #[must_use]
    pub fn connections(mut self, connections: usize) -> Self {
        self.connections = connections.max(1);
        self
    }

    /// Sets the timeout of an operation. Default: 30 s. The result of an operation that timed out is unknown.
    #[must_use]
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Sets another clock than the server's. For tests. All handles on one schema need one clock.
    #[must_use]
    pub fn clock(mut self, clock: impl Clock + 'static) -> Self {
        self.clock = Ticking::Set(Arc::new(clock));
        self
    }

    /// Sets whether tables of an earlier version are migrated. Otherwise they are refused and unchanged, as
    /// [unusable](runstate_store::StoreError::Unusable). Default: true.
    #[must_use]
    pub fn migrate(mut self, migrates: bool) -> Self {
        self.migrates = migrates;
        self
    }

    /// Sets the poll interval while notifications are unavailable. Default: 1 s.
    #[must_use]
    pub fn poll_every(mut self, poll: Duration) -> Self {
        self.poll = poll;
        self
    }

    /// Sets the required proof of the server's identity. It replaces that of the connection string.
    #[must_use]
    pub fn ssl_mode(mut self, ssl: SslMode) -> Self {
        self.ssl = ssl;
        self
    }

    /// Sets the known authorities, as a file of PEM certificates. Default: those of the Mozilla project.
    #[must_use]
    pub fn root_certificates(mut self, file: impl Into<PathBuf>) -> Self {
        self.root = Some(file.into());
        self
    }

    /// Returns whether the connection string contains a password.
    pub fn has_password(&self) -> bool {
        self.config.get_password().is_some()
    }

    /// Returns the address of the server for display: user, hosts and database, without the password. A part with
    /// characters other than letters, digits, `.`, `_`, `-` and `/` is replaced by `…`, since it may contain an
    /// unencoded password.
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

    /// Returns the name of the schema as SQL.
    pub(crate) fn quoted_schema(&self) -> String {
        format!("\"{}\"", self.schema)
    }

    /// Returns the channel of notifications of input.
    pub(crate) fn channel(&self) -> String {
        format!("runstate:{}", self.schema)
    }

    /// Returns the channel of notifications of commits.
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
