//! Where runs are durable, as a person says it.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// Where runs are durable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum StoreUrl {
    /// A file of SQLite.
    Sqlite(PathBuf),
    /// A database of a PostgreSQL server, as its clients say it.
    Postgres(String),
    /// A folder with a folder for each run.
    File(PathBuf),
}

/// What there is.
pub(crate) const FORMS: &str = "sqlite:PATH, postgres://USER@HOST/DATABASE or file:DIR";

/// What is said of a path that a shell has left as it was.
const HOME: &str = "expected a path, got one that begins with `~`, which is no folder here; write $HOME for it, or ./~ for a \
                    folder of that name";

impl StoreUrl {
    /// The file or folder, where it is one of this machine.
    pub(crate) fn path(&self) -> Option<&Path> {
        match self {
            StoreUrl::Sqlite(path) | StoreUrl::File(path) => Some(path),
            StoreUrl::Postgres(_) => None,
        }
    }

    /// Is there something in it that is not shown?
    pub(super) fn has_secret(&self) -> bool {
        match self {
            StoreUrl::Postgres(url) => without_password(url) != *url,
            StoreUrl::Sqlite(_) | StoreUrl::File(_) => false,
        }
    }
}

impl FromStr for StoreUrl {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let Some((scheme, rest)) = text.split_once(':') else {
            return Err(format!("expected {FORMS}, got no `:` in it; a file is sqlite:{text}"));
        };
        let path = || {
            let path = rest.strip_prefix("//").unwrap_or(rest);
            match path {
                "" => Err(format!("expected a path behind `{scheme}:`, got nothing")),
                // A shell does that where the word begins with it, and here it does not.
                "~" => Err(HOME.to_owned()),
                path if path.starts_with("~/") => Err(HOME.to_owned()),
                path => Ok(PathBuf::from(path)),
            }
        };
        match scheme {
            "sqlite" => Ok(StoreUrl::Sqlite(path()?)),
            "file" => Ok(StoreUrl::File(path()?)),
            "postgres" | "postgresql" => Ok(StoreUrl::Postgres(text.to_owned())),
            // What is behind it is not quoted: a misspelt one may have a password there.
            _ if rest.starts_with("//") => Err(format!("expected {FORMS}, got the scheme {scheme:?}")),
            _ => Err(format!("expected {FORMS}, got another scheme")),
        }
    }
}

/// Without the password of a database: it ends up in terminals and logs.
impl fmt::Display for StoreUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StoreUrl::Sqlite(path) => write!(f, "sqlite:{}", path.display()),
            StoreUrl::File(path) => write!(f, "file:{}", path.display()),
            StoreUrl::Postgres(url) => f.write_str(&without_password(url)),
        }
    }
}

/// A password is masked up to the last `@`: whoever forgot to encode one that is in it is not to find it in a log. The client
/// takes all before the first `@` for user and password, slashes and question marks included.
fn without_password(url: &str) -> String {
    // Who forgot the slashes did not mean to tell it either.
    let behind = url.find("://").map_or_else(|| url.find(':').map_or(0, |at| at + 1), |at| at + 3);
    let (scheme, rest) = url.split_at(behind);
    let user = rest.split_once('@').and_then(|(user, _)| user.split_once(':'));
    let shown = match (user, rest.rsplit_once('@')) {
        (Some((user, _)), Some((_, host))) => format!("{scheme}{user}:***@{host}"),
        _ => url.to_owned(),
    };
    match shown.split_once('?') {
        // A password may stand among the parameters, too, whatever somebody took its name to be.
        Some((shown, parameters)) if !parameters.split('&').all(is_harmless) => shown.to_owned(),
        _ => shown,
    }
}

/// Parameters that tell nothing that somebody may not see.
const HARMLESS: [&str; 7] =
    ["application_name", "connect_timeout", "host", "port", "sslmode", "sslrootcert", "user"];

fn is_harmless(parameter: &str) -> bool {
    HARMLESS.contains(&parameter.split('=').next().unwrap_or(parameter))
}

/// What was given for a URL. Why it is none is said by the command: the parser of arguments would show it, and the password
/// in it.
#[derive(Debug, Clone)]
pub(crate) struct Given(Result<StoreUrl, String>);

impl FromStr for Given {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(Given(text.parse()))
    }
}

impl Given {
    /// The URL, or why it is none.
    pub(crate) fn url(&self) -> Result<&StoreUrl, &str> {
        self.0.as_ref().map_err(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_scheme_is_read_and_said_again() {
        for url in ["sqlite:runs.db", "sqlite:/var/lib/runs.db", "file:runs", "postgres://ada@db/runs"] {
            assert_eq!(url.parse::<StoreUrl>().unwrap().to_string(), url);
        }
        assert_eq!("sqlite:///a/b.db".parse(), Ok(StoreUrl::Sqlite(PathBuf::from("/a/b.db"))));
        assert_eq!(
            "C:runs".parse::<StoreUrl>().unwrap_err(),
            format!("expected {FORMS}, got another scheme")
        );
        for wrong in ["sqlite:~/runs.db", "sqlite://~", "file:~/runs"] {
            assert!(wrong.parse::<StoreUrl>().unwrap_err().contains("write $HOME for it"), "{wrong}");
        }
        assert_eq!("file:./~/runs".parse(), Ok(StoreUrl::File(PathBuf::from("./~/runs"))));
        for wrong in ["", "runs.db", "sqlite:", "file://", "mysql://db/runs"] {
            assert!(wrong.parse::<StoreUrl>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_password_is_not_said() {
        let said = |url: &str| url.parse::<StoreUrl>().unwrap().to_string();
        assert_eq!(said("postgres://ada:se@cret@db:5432/runs"), "postgres://ada:***@db:5432/runs");
        assert_eq!(said("postgres://ada:se/cret@127.0.0.1:1/db"), "postgres://ada:***@127.0.0.1:1/db");
        assert_eq!(
            said("postgres://ada:a?b#c:d@db/runs?sslmode=disable"),
            "postgres://ada:***@db/runs?sslmode=disable"
        );
        assert_eq!(said("postgres://ada:se?password=x@db/runs"), "postgres://ada:***@db/runs");
        assert_eq!(said("postgres://ada@db/runs?password=a@b"), "postgres://ada@db/runs");
        assert_eq!(said("postgres://db/runs?user=ada&password=secret"), "postgres://db/runs");
        assert_eq!(said("postgres://db/runs?user=ada&p%61ssword=secret"), "postgres://db/runs");
        assert_eq!(said("postgres:ada:secret@db/runs"), "postgres:ada:***@db/runs");
        assert_eq!(said("postgres://db/runs?passphrase=secret"), "postgres://db/runs");
        // The client takes these for passwords.
        assert_eq!(said("postgres://ada:se/cret@db/runs"), "postgres://ada:***@db/runs");
        assert_eq!(
            said("postgres://ada:se?cret@db/runs?sslmode=disable"),
            "postgres://ada:***@db/runs?sslmode=disable"
        );
        assert_eq!(said("postgres://ada:se:c@r/e?t@db/runs"), "postgres://ada:***@db/runs");
        assert_eq!(
            said("postgres://ada@db:5432/runs?application_name=a@b"),
            "postgres://ada@db:5432/runs?application_name=a@b"
        );
    }
}
