//! The store of a command: its place and its queries.

mod again;
mod ask;
#[cfg(test)]
mod between;
mod damage;
mod ended;
mod noted;
mod open;
#[cfg(feature = "serve")]
mod service;
mod trace;
mod url;
mod waits;

use std::path::{Path, PathBuf};

use runstate::actor::is_unseen;

use crate::failure::Failure;
use crate::{keys, runs, secrets};
use url::Given;
pub(crate) use url::StoreUrl;

pub(crate) use again::Again;
use ask::Access;
pub(crate) use ask::{Opened, beside};
#[cfg(test)]
pub(crate) use between::Between;
pub(crate) use damage::{damaged_to_json, tell_damage, tell_damaged};
pub(crate) use ended::{end_lease, end_leases};
#[cfg(feature = "serve")]
pub(crate) use service::ServicePlace;
pub(crate) use trace::StoredTrace;
pub(crate) use waits::{
    Named, give_up_lapsed_of, is_in_doubt, waiting, waiting_in, waiting_of, waiting_to_json,
};

/// The place of runs.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct StoreArgs {
    /// The store of the runs: sqlite:PATH, file:FOLDER or postgres://USER@HOST/DATABASE. Default: the file runs.db in the
    /// folder of --state-dir
    // A text: the argument parser would show an invalid value, with the password in it.
    #[arg(long, value_name = "URL", env = "RUNSTATE_STORE", hide_env_values = true)]
    store: Option<Given>,
    /// The folder with the working folders of tools, one for each run. Default: runstate/runs in the user's data folder
    #[arg(long, value_name = "DIR")]
    state_dir: Option<PathBuf>,
    /// The file with the keys that protect stored runs against other writers of the store. A line has the name of a key and
    /// 64 hexadecimal digits (`openssl rand -hex 32`). The first key writes, and each key reads. Default: the text of
    /// RUNSTATE_KEY, with `;` between lines. Without a key, runs have a checksum only
    #[arg(long, value_name = "FILE")]
    key_file: Option<PathBuf>,
}

/// Is a missing store created?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Missing {
    /// It is created.
    Make,
    /// It is refused: the requested data cannot be in it.
    Refuse,
}

impl StoreArgs {
    /// The folder of the tools' folders.
    ///
    /// # Errors
    /// No folder was given and the user has none; or the path may be the address of a store, from which folders would be
    /// made.
    pub(crate) fn state_dir(&self) -> Result<PathBuf, Failure> {
        // An existing folder may have any name, except one with a password: each run would show it.
        let is_address = |path: &PathBuf| {
            let name = path.to_string_lossy();
            secrets::masked_path(&name) != name || !path.is_dir() && secrets::may_have_one(&name)
        };
        if self.state_dir.as_ref().is_some_and(is_address) {
            return Err(Failure::new(
                "--state-dir: expected a folder, got a text that may be the address of a store",
            )
            .with_help("`--store` takes an address"));
        }
        if let Some(given) = &self.state_dir {
            runs::check_state_dir(given)?;
        }
        runs::state_dir(self.state_dir.as_deref())
    }

    /// The file of the keys, if one is named.
    pub(crate) fn key_file(&self) -> Option<&Path> {
        self.key_file.as_deref()
    }

    /// Opens the store.
    ///
    /// # Errors
    /// The address is invalid, the store cannot be opened, or it is missing and required.
    pub(crate) fn open(&self, missing: Missing) -> Result<Opened, Failure> {
        self.opened(missing, Access::Write)
    }

    /// Opens an existing store to read it. It is not migrated: an earlier version of the program may use it.
    ///
    /// # Errors
    /// As [`open`](Self::open), and the store is of an earlier version.
    pub(crate) fn open_to_read(&self) -> Result<Opened, Failure> {
        self.opened(Missing::Refuse, Access::Read)
    }

    /// As [`open`](Self::open), created if missing, and waited for while it is unreachable.
    ///
    /// # Errors
    /// As [`open`](Self::open), except for an unreachable store.
    pub(crate) fn open_waiting(&self) -> Result<Opened, Failure> {
        self.opened(Missing::Make, Access::Waiting)
    }

    fn opened(&self, missing: Missing, access: Access) -> Result<Opened, Failure> {
        let keys = keys::read(self.key_file.as_deref())?;
        let state_dir = match self.state_dir() {
            Ok(state_dir) => Some(state_dir),
            Err(refused) if self.state_dir.is_some() => return Err(refused),
            // A user without a data folder can still have a store.
            Err(_) => None,
        };
        match self.missing()? {
            Some(failure) if missing == Missing::Refuse => Err(failure),
            _ => Opened::open(self.url()?, state_dir, keys, self.to_repeat(), access),
        }
    }

    /// Refuses a folder of tools that has the store.
    ///
    /// # Errors
    /// As described, with both paths. The URL is invalid.
    #[cfg(feature = "agents")]
    pub(crate) fn keep_out_of(&self, folder: &Path) -> Result<(), Failure> {
        let url = self.url()?;
        let Some(path) = url.path() else { return Ok(()) };
        // The file of a new store is missing still.
        let path = if path.exists() { path } else { path.parent().unwrap_or(path) };
        let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        match (path.canonicalize(), folder.canonicalize()) {
            (Ok(store), Ok(folder)) if store.starts_with(&folder) => Err(Failure::new(format!(
                "the store {url} is in the folder of the tools, {}",
                folder.display()
            ))
            .with_help(
                "name another store with --store, or another folder: a tool could read and change the store",
            )),
            _ => Ok(()),
        }
    }

    /// The failure of a missing store, if it is missing.
    ///
    /// # Errors
    /// The URL is invalid.
    pub(crate) fn missing(&self) -> Result<Option<Failure>, Failure> {
        let url = self.url()?;
        // An empty file has no run: SQLite would make it a database, and a reading command changes nothing.
        let why = match url.path().map(Path::metadata) {
            Some(Err(_)) => "",
            Some(Ok(about)) if about.is_file() && about.len() == 0 => ": the file is empty",
            _ => return Ok(None),
        };
        let failure = Failure::new(format!("there is no store {url}{why}"));
        Ok(Some(
            failure.with_help("`runstate run` creates a store; --store and --state-dir name another store"),
        ))
    }

    fn url(&self) -> Result<StoreUrl, Failure> {
        let Some(given) = &self.store else {
            return Ok(StoreUrl::Sqlite(self.state_dir()?.join("runs.db")));
        };
        let url = given.url().map_err(|wrong| {
            let failure = Failure::new(format!("the URL of the store: {}", wrong.what));
            match &wrong.help {
                Some(help) => failure.with_help(help),
                None => failure,
            }
        })?;
        check_kind(url)?;
        Ok(url.clone())
    }

    /// The further arguments that name this store.
    pub(crate) fn to_repeat(&self) -> Again {
        let named = |flag: &str, path: &Option<PathBuf>| {
            path.as_ref()
                .map_or_else(String::new, |path| format!(" {flag} {}", quoted(&path.to_string_lossy())))
        };
        let more = named("--state-dir", &self.state_dir) + &named("--key-file", &self.key_file);
        let from_env: Option<StoreUrl> =
            std::env::var("RUNSTATE_STORE").ok().and_then(|url| url.parse().ok());
        let store = self.store.as_ref().and_then(|given| given.url().ok());
        let store = store.filter(|url| from_env.as_ref() != Some(*url));
        Again::new(store, &more)
    }
}

/// Refuses a file in the place of a folder, and a folder in the place of a file.
fn check_kind(url: &StoreUrl) -> Result<(), Failure> {
    let Some(about) = url.path().and_then(|path| path.metadata().ok()) else { return Ok(()) };
    let (expected, help) = match url {
        StoreUrl::File(path) if about.is_file() => {
            let sqlite = quoted(&StoreUrl::Sqlite(path.clone()).whole());
            let help = match url::is_sqlite(path) {
                true => format!("write `--store {sqlite}`"),
                false => "name a folder, such as `--store file:runs`".to_owned(),
            };
            ("a folder, got a file", help)
        }
        StoreUrl::Sqlite(path) if about.is_dir() => {
            let file = quoted(&StoreUrl::File(path.clone()).whole());
            let help = format!("name a file; for runs in the files of this folder, write `--store {file}`");
            ("a file, got a folder", help)
        }
        _ => return Ok(()),
    };
    Err(Failure::new(format!("the URL of the store: {url}: expected {expected}")).with_help(help))
}

/// A word in a form for a shell, for any names of calls in a scenario.
pub(crate) fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '.' | '_' | '-' | ':' | '@');
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    if !word.chars().any(is_unseen) {
        return format!("'{}'", word.replace('\'', "'\\''"));
    }
    // Octal digits are the form of `$'…'` that each shell reads alike.
    let mut quoted = String::from("$'");
    for c in word.chars() {
        match c {
            '\'' | '\\' => quoted.extend(['\\', c]),
            c if is_unseen(c) => {
                c.encode_utf8(&mut [0; 4]).bytes().for_each(|byte| quoted.push_str(&format!("\\{byte:03o}")));
            }
            c => quoted.push(c),
        }
    }
    quoted + "'"
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn quoted_word_is_read_unchanged_by_a_shell() {
        assert_eq!(quoted("runs/a-1"), "runs/a-1");
        assert_eq!(quoted("it's"), "'it'\\''s'");
        assert_eq!(quoted("a\nb'\\\u{200b}7"), "$'a\\012b\\'\\\\\\342\\200\\2137'");
        #[cfg(unix)]
        for word in ["my runs", "it's", "a\nb'\\c\td", "\u{202e}\u{1b}1"] {
            let script = format!("printf %s {}", quoted(word));
            let shell = std::process::Command::new("bash").args(["-c", &script]).output();
            if let Ok(shell) = shell {
                assert_eq!(String::from_utf8_lossy(&shell.stdout), word, "{script}");
            }
        }
    }
}
