//! The address of a store.

use std::fmt;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use runstate::trace::closest;

use super::quoted;
use crate::output::exact;
#[cfg(feature = "postgres")]
use crate::output::printable;

/// The address of a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum StoreUrl {
    /// A file of SQLite.
    Sqlite(PathBuf),
    /// A database of a PostgreSQL server.
    Postgres(Address),
    /// A folder with a folder for each run.
    File(PathBuf),
}

/// An invalid address, and its correction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Wrong {
    /// The got and the expected text. No part of it may be a password.
    pub(crate) what: String,
    pub(crate) help: Option<String>,
}

impl From<String> for Wrong {
    fn from(what: String) -> Self {
        Wrong { what, help: None }
    }
}

impl From<&str> for Wrong {
    fn from(what: &str) -> Self {
        Wrong::from(what.to_owned())
    }
}

/// The address of a database: the text for its client, and the shown text.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Address {
    url: String,
    shown: String,
}

impl Address {
    /// Parses an address with a client of the database.
    ///
    /// # Errors
    /// The address is invalid. The text is no part of the message: a password may be anywhere in it.
    fn read(url: &str) -> Result<Self, String> {
        Ok(Address { url: url.to_owned(), shown: shown(url)? })
    }

    /// The text for a client, with the password.
    pub(super) fn url(&self) -> &str {
        &self.url
    }
}

/// Without a password, in any place.
impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

#[cfg(feature = "postgres")]
fn shown(url: &str) -> Result<String, String> {
    let options: runstate_postgres::PostgresOptions = url.parse().map_err(|error| format!("{error}"))?;
    let parameters = url.split_once('?').map_or("", |(_, parameters)| parameters);
    let is_harmless = |one: &str| one.is_empty() || HARMLESS.contains(&one.split('=').next().unwrap_or(one));
    // An encoded part may be a password that the client does not recognise.
    let address = url.split('?').next().unwrap_or(url);
    let is_usual = address.chars().all(|c| c.is_ascii_alphanumeric() || "._-:/@".contains(c));
    let is_plain =
        is_usual && !options.has_password() && !url.contains('%') && parameters.split('&').all(is_harmless);
    Ok(if is_plain { printable(url) } else { options.address() })
}

/// Parameters that are safe to show.
#[cfg(feature = "postgres")]
const HARMLESS: [&str; 7] =
    ["application_name", "connect_timeout", "host", "port", "sslmode", "sslrootcert", "user"];

#[cfg(not(feature = "postgres"))]
fn shown(_: &str) -> Result<String, String> {
    Ok("postgres://…".to_owned())
}

/// The accepted forms.
pub(crate) const FORMS: &str = "sqlite:PATH, file:FOLDER or postgres://USER@HOST/DATABASE";

/// The accepted schemes.
const SCHEMES: [&str; 4] = ["sqlite", "file", "postgres", "postgresql"];

/// The error for a path with an unexpanded `~`.
fn of_home() -> Wrong {
    Wrong {
        what: "expected a path, got a path that begins with `~`: the shell expands `~` only at the beginning of a word".to_owned(),
        help: Some("write $HOME in place of `~`, or ./~ for a folder of that name".to_owned()),
    }
}

/// The remedy for a file that is no store.
const NO_STORE: &str = "this file is no SQLite database: name another file";

/// Is it a database of SQLite, by its first bytes?
pub(super) fn is_sqlite(path: &Path) -> bool {
    let mut begin = [0; SQLITE.len()];
    let read = crate::input::file(path).and_then(|mut file| file.read_exact(&mut begin));
    read.is_ok() && begin == *SQLITE
}

const SQLITE: &[u8; 16] = b"SQLite format 3\0";

/// The error for an address without a scheme.
fn of_no_scheme(text: &str) -> Wrong {
    let path = Path::new(text);
    let names_sqlite = path.extension().is_some_and(|end| end == "db" || end == "sqlite" || end == "sqlite3");
    let (is_folder, is_file) = (path.is_dir() || text.ends_with('/'), is_sqlite(path) || names_sqlite);
    // Any other text may be a password.
    if crate::secrets::may_have_one(text) || !is_folder && !is_file && !path.is_file() {
        return Wrong {
            what: format!("expected {FORMS}, got a text without a scheme"),
            help: Some(
                "write sqlite: before the path of a file, or file: before the path of a folder".to_owned(),
            ),
        };
    }
    let help = match (is_folder, is_file) {
        (true, _) => format!("write `--store {}`", quoted(&format!("file:{text}"))),
        (false, true) => format!("write `--store {}`", quoted(&format!("sqlite:{text}"))),
        (false, false) => format!("{NO_STORE}, such as `--store sqlite:runs.db`"),
    };
    Wrong { what: format!("expected {FORMS}, got {text:?}, which has no scheme"), help: Some(help) }
}

/// The error for an unknown scheme.
fn of_scheme(scheme: &str) -> Wrong {
    // A misspelt address may contain a password anywhere, also at its beginning. A word of lower-case letters is none.
    let is_word = (2..=12).contains(&scheme.len()) && scheme.bytes().all(|byte| byte.is_ascii_lowercase());
    let got = if is_word { format!("the scheme `{scheme}:`") } else { "another scheme".to_owned() };
    let help = match closest(scheme, SCHEMES) {
        Some(near) => format!("did you mean `{near}:`?"),
        None => "a store is a file of SQLite, a folder or a database of PostgreSQL".to_owned(),
    };
    Wrong { what: format!("expected {FORMS}, got {got}"), help: Some(help) }
}

impl StoreUrl {
    /// The file or folder, for a store on this machine.
    pub(crate) fn path(&self) -> Option<&Path> {
        match self {
            StoreUrl::Sqlite(path) | StoreUrl::File(path) => Some(path),
            StoreUrl::Postgres(_) => None,
        }
    }

    /// The text that is parsed again. An address has no password if it [hides nothing](Self::has_secret).
    pub(super) fn whole(&self) -> String {
        match self {
            StoreUrl::Sqlite(path) => format!("sqlite:{}", path.display()),
            StoreUrl::File(path) => format!("file:{}", path.display()),
            StoreUrl::Postgres(address) => address.url.clone(),
        }
    }

    /// Does it contain a part that is not shown?
    pub(super) fn has_secret(&self) -> bool {
        match self {
            StoreUrl::Postgres(address) => address.shown != address.url,
            StoreUrl::Sqlite(_) | StoreUrl::File(_) => false,
        }
    }
}

impl FromStr for StoreUrl {
    type Err = Wrong;

    fn from_str(text: &str) -> Result<Self, Wrong> {
        let Some((scheme, rest)) = text.split_once(':') else { return Err(of_no_scheme(text)) };
        let path = || {
            let path = rest.strip_prefix("//").unwrap_or(rest);
            match path {
                "" => Err(Wrong::from(format!("expected a path after `{scheme}:`, got nothing"))),
                // A shell expands it at the beginning of a word; here it is not expanded. Not quoted, like any unparsed
                // text: it may contain a password.
                path if crate::secrets::may_have_one(path) => Err(Wrong::from(format!(
                    "expected a path after `{scheme}:`, got a text that may be an address with a password"
                ))),
                "~" => Err(of_home()),
                path if path.starts_with("~/") => Err(of_home()),
                path => Ok(PathBuf::from(path)),
            }
        };
        match scheme {
            "sqlite" => Ok(StoreUrl::Sqlite(path()?)),
            "file" => Ok(StoreUrl::File(path()?)),
            "postgres" | "postgresql" => Ok(StoreUrl::Postgres(Address::read(text)?)),
            _ => Err(of_scheme(scheme)),
        }
    }
}

/// Without the password of a database: the text reaches terminals and logs.
impl fmt::Display for StoreUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StoreUrl::Sqlite(path) => write!(f, "sqlite:{}", exact(&path.display().to_string())),
            StoreUrl::File(path) => write!(f, "file:{}", exact(&path.display().to_string())),
            StoreUrl::Postgres(address) => f.write_str(&address.shown),
        }
    }
}

/// The given text of a URL. The command reports an error itself: the argument parser would show the text with its password.
#[derive(Debug, Clone)]
pub(crate) struct Given(Result<StoreUrl, Wrong>);

impl FromStr for Given {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(Given(text.parse()))
    }
}

impl Given {
    /// The URL, or the error.
    pub(crate) fn url(&self) -> Result<&StoreUrl, &Wrong> {
        self.0.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_store_url_scheme_round_trips() {
        for url in ["sqlite:runs.db", "sqlite:/var/lib/runs.db", "file:runs", "postgres://ada@db/runs"] {
            assert_eq!(url.parse::<StoreUrl>().unwrap().to_string(), url);
        }
        assert_eq!("sqlite:///a/b.db".parse(), Ok(StoreUrl::Sqlite(PathBuf::from("/a/b.db"))));
        assert_eq!("C:runs".parse::<StoreUrl>().unwrap_err(), of_scheme("C"));
        for wrong in ["sqlite:~/runs.db", "sqlite://~", "file:~/runs"] {
            assert_eq!(wrong.parse::<StoreUrl>(), Err(of_home()), "{wrong}");
        }
        assert_eq!("file:./~/runs".parse(), Ok(StoreUrl::File(PathBuf::from("./~/runs"))));
        for wrong in ["", "runs.db", "sqlite:", "file://", "mysql://db/runs"] {
            assert!(wrong.parse::<StoreUrl>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn an_address_in_another_form_is_told_with_its_correction() {
        let wrong = |url: &str| url.parse::<StoreUrl>().unwrap_err();
        assert!(wrong("mysql://db/runs").what.ends_with("got the scheme `mysql:`"));
        assert_eq!(wrong("sqlit:runs.db").help.unwrap(), "did you mean `sqlite:`?");
        assert_eq!(wrong("my runs.db").help.unwrap(), "write `--store 'sqlite:my runs.db'`");
        assert_eq!(wrong("runs/").help.unwrap(), "write `--store file:runs/`");
        // It may be a password.
        assert!(wrong("runs").what.ends_with("got a text without a scheme"));
    }

    #[cfg(feature = "postgres")]
    #[test]
    fn store_url_never_shows_its_password() {
        let wrong = |wrong: Wrong| format!("{} {:?}", wrong.what, wrong.help);
        let said = |url: &str| url.parse::<StoreUrl>().map_or_else(wrong, |url| format!("{url} {url:?}"));
        for url in [
            "postgres://ada:S3CRET@db:5432/runs",
            "postgres://ada:S3CRET@db/runs?sslmode=disable",
            "postgres://ada:x/S3CRET@127.0.0.1:1/db",
            "postgres://ada:x@S3CRET@db/runs",
            "postgres://ada:a?b#c:S3CRET@db/runs?sslmode=disable",
            "postgres://ada%3AS3CRET@db/runs",
            "postgres://ada:S3CRET",
            "postgres://ada:S3CRET/runs",
            "postgres:ada:S3CRET@db/runs",
            "postgres://ada@db/runs?password=S3CRET",
            "postgres://db/runs?user=ada&p%61ssword=S3CRET",
            "postgres://db/runs?passphrase=S3CRET",
            "postgres://db/runs?sslmode=S3CRET",
            "postgres://db/runs?S3CRET",
            "postgres://ada:S3CRET@db:port/runs",
            "host=h password=S3CRET",
            "postgres:host=h password=S3CRET",
            "postgres://host=h password=S3CRET",
            "sqlite:postgres://ada:S3CRET@db/runs",
            "file:postgres://ada:S3CRET@db/runs",
            "postgress://ada:S3CRET@db/runs",
            "S3CRET://ada@db/runs",
            "password=S3CRET:x",
            "sqlite:x.db?password=S3CRET",
            "sqlite:x.db?mode=ro&pwd=S3CRET",
            "file:x?Passphrase=S3CRET",
            "sqlite:ada:S3CRET@db/runs.db",
            "file:S3CRET@db;user:ada",
            "sqlite:x.db?key=S3CRET",
            "file:x;token=S3CRET",
            "sqlite:x.db?p%61ssword=S3CRET",
        ] {
            assert!(!said(url).contains("S3CRET"), "{url}: {}", said(url));
        }
        let shown = |url: &str| url.parse::<StoreUrl>().unwrap().to_string();
        assert_eq!(shown("postgres://ada:secret@db:5433/runs"), "postgres://ada@db:5433/runs");
        assert_eq!(shown("postgres://ada@db/runs"), "postgres://ada@db/runs");
    }
}
