//! Where the server is, and how it is spoken to.

use std::error::Error;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use tokio_postgres::Config;
use tokio_postgres::config::TargetSessionAttrs;

use crate::params;

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
            other => {
                return Err(OptionsError::new(format!(
                    "sslmode is {other:?}; expected disable, prefer, require, verify-ca or verify-full"
                )));
            }
        })
    }
}

/// Options that cannot work.
#[derive(Debug)]
pub struct OptionsError {
    what: String,
    cause: Option<tokio_postgres::Error>,
}

impl OptionsError {
    fn new(what: String) -> Self {
        OptionsError { what, cause: None }
    }
}

impl fmt::Display for OptionsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

impl Error for OptionsError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.cause.as_ref().map(|cause| cause as _)
    }
}

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
        let mut config: Config = left.parse().map_err(|cause: tokio_postgres::Error| {
            let why = cause.source().map(|why| format!(": {why}")).unwrap_or_default();
            let what = format!("the connection string cannot be read{why}; expected postgres://user@host/database or host=… user=…");
            OptionsError { what, cause: Some(cause) }
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

    /// The name of the schema, as SQL.
    pub(crate) fn quoted_schema(&self) -> String {
        format!("\"{}\"", self.schema)
    }

    /// The channel of its notifications.
    pub(crate) fn channel(&self) -> String {
        format!("runstate:{}", self.schema)
    }
}

impl FromStr for PostgresOptions {
    type Err = OptionsError;

    fn from_str(string: &str) -> Result<Self, OptionsError> {
        PostgresOptions::new(string)
    }
}
