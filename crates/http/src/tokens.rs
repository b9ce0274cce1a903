//! Tokens, in a file that a person or the command keeps.

use std::collections::BTreeSet;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use data_encoding::HEXLOWER;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

/// The role of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Reads.
    Viewer,
    /// Reads, approves and rejects.
    Approver,
    /// Reads, and takes each operation that is no decision.
    Operator,
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

/// The author of a request, as its token says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Principal {
    /// The name, which is the actor of its decisions.
    pub name: String,
    /// The roles.
    pub roles: BTreeSet<Role>,
}

impl Principal {
    /// Returns whether the principal has the permissions of the role. Each role may read.
    pub fn has(&self, role: Role) -> bool {
        match role {
            Role::Viewer => !self.roles.is_empty(),
            Role::Approver | Role::Operator => self.roles.contains(&role),
        }
    }
}

/// A token in the file. The token itself is not there, only its digest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TokenEntry {
    /// The name, unique in the file.
    pub name: String,
    /// The roles.
    pub roles: BTreeSet<Role>,
    /// The SHA-256 of the token, in hexadecimal.
    pub sha256: String,
    /// The time of its creation, in milliseconds since the Unix epoch.
    pub created_at_ms: u64,
    /// The time at which it ends. Default: never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at_ms: Option<u64>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Content {
    tokens: Vec<TokenEntry>,
}

/// The error of a tokens file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TokensError {
    /// The file cannot be read or written.
    #[error("{}: {error}", path.display())]
    File {
        /// The path.
        path: PathBuf,
        /// The error.
        error: io::Error,
    },
    /// Other users may read the file.
    #[error("{}: got mode {mode:04o}, expected 0600; run `chmod 600` on it", path.display())]
    Mode {
        /// The path.
        path: PathBuf,
        /// The mode.
        mode: u32,
    },
    /// The file has another form.
    #[error("{}: expected a list of tokens: {error}", path.display())]
    Form {
        /// The path.
        path: PathBuf,
        /// The error.
        error: serde_json::Error,
    },
    /// A new token has a name that is taken or has another form.
    #[error("{name:?} {reason}")]
    Name {
        /// The name.
        name: String,
        /// The reason.
        reason: &'static str,
    },
    /// No token has the name.
    #[error("no token has the name {name:?}")]
    Unknown {
        /// The name.
        name: String,
    },
    /// The file could not be read a moment ago.
    #[error("{0}")]
    Unreadable(String),
    /// The system gives no random bytes.
    #[error("the system gives no random bytes: {0}")]
    Random(String),
}

/// The start of each token.
const PREFIX: &str = "rs_";

/// The pause between two looks at the file, in milliseconds.
const LOOK_MS: u64 = 1_000;

/// A file of tokens. It has the mode 0600, and is read again when it changes.
///
/// ```
/// use runstate_http::{Role, Tokens};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("tokens.json");
/// let tokens = Tokens::open(&path)?;
/// let token = tokens.create("ada", [Role::Operator], 0, None)?;
/// assert_eq!(tokens.find(&token, 1)?.unwrap().name, "ada");
/// assert!(!std::fs::read_to_string(&path)?.contains(&token), "the file has its digest alone");
/// tokens.revoke("ada")?;
/// assert_eq!(tokens.find(&token, 1)?, None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Tokens {
    path: PathBuf,
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    looked_at_ms: Option<u64>,
    stamp: Option<(SystemTime, u64)>,
    tokens: Vec<TokenEntry>,
    /// The error of the last look.
    error: Option<String>,
}

impl Tokens {
    /// Opens the file. A file that does not exist has no tokens.
    ///
    /// # Errors
    /// [`TokensError`] if the file cannot be read, has another form, or may be read by other users.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, TokensError> {
        let tokens = Tokens { path: path.into(), known: Mutex::default() };
        tokens.list()?;
        Ok(tokens)
    }

    /// The tokens, without the tokens themselves.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn list(&self) -> Result<Vec<TokenEntry>, TokensError> {
        Ok(self.read()?.0.tokens)
    }

    /// Adds a token: `rs_` and 64 hexadecimal digits. It cannot be shown again.
    ///
    /// # Errors
    /// [`TokensError::Name`] for a name that is taken, empty, longer than 64 characters, or has other characters than
    /// ASCII letters, digits and `-_.@`. As [`open`](Self::open) otherwise.
    pub fn create(
        &self,
        name: &str,
        roles: impl IntoIterator<Item = Role>,
        now_ms: u64,
        expires_at_ms: Option<u64>,
    ) -> Result<String, TokensError> {
        let refused = |reason| TokensError::Name { name: name.to_owned(), reason };
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.@".contains(&byte);
        if !(1..=64).contains(&name.len()) || !name.bytes().all(is_plain) {
            return Err(refused("is no name; expected 1 to 64 ASCII letters, digits and `-_.@`"));
        }
        let mut bytes = [0_u8; 32];
        getrandom::fill(&mut bytes).map_err(|error| TokensError::Random(error.to_string()))?;
        let token = format!("{PREFIX}{}", HEXLOWER.encode(&bytes));
        self.change(|tokens| {
            if tokens.iter().any(|entry| entry.name == name) {
                return Err(refused("has a token already; revoke it first"));
            }
            let (sha256, roles) = (digest(&token), roles.into_iter().collect());
            let name = name.to_owned();
            tokens.push(TokenEntry { name, roles, sha256, created_at_ms: now_ms, expires_at_ms });
            Ok(())
        })?;
        Ok(token)
    }

    /// Removes a token.
    ///
    /// # Errors
    /// [`TokensError::Unknown`] for another name. As [`open`](Self::open) otherwise.
    pub fn revoke(&self, name: &str) -> Result<(), TokensError> {
        self.change(|tokens| {
            let before = tokens.len();
            tokens.retain(|entry| entry.name != name);
            if tokens.len() == before {
                return Err(TokensError::Unknown { name: name.to_owned() });
            }
            Ok(())
        })
    }

    /// The principal of a token. The file is looked at again after a second at most.
    ///
    /// # Errors
    /// As [`open`](Self::open). Then no token is valid.
    pub fn find(&self, token: &str, now_ms: u64) -> Result<Option<Principal>, TokensError> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.looked_at_ms.is_none_or(|looked| now_ms.abs_diff(looked) >= LOOK_MS) {
            if self.stamp() != known.stamp || known.stamp.is_none() {
                // After an error nothing is known, and the next look reads the file again.
                *known = Known { looked_at_ms: Some(now_ms), ..Known::default() };
                match self.read_served() {
                    Ok((content, stamp)) => (known.tokens, known.stamp) = (content.tokens, stamp),
                    Err(error) => known.error = Some(error.to_string()),
                }
            }
            known.looked_at_ms = Some(now_ms);
        }
        if let Some(error) = &known.error {
            return Err(TokensError::Unreadable(error.clone()));
        }
        let got = digest(token);
        // Each entry is compared, so that the time says nothing about the matching one.
        let mut found = None;
        for entry in &known.tokens {
            if bool::from(entry.sha256.as_bytes().ct_eq(got.as_bytes())) {
                found = Some(entry);
            }
        }
        let valid = found.filter(|entry| entry.expires_at_ms.is_none_or(|end| now_ms < end));
        Ok(valid.map(|entry| Principal { name: entry.name.clone(), roles: entry.roles.clone() }))
    }

    /// A helper file beside the file of the tokens.
    fn beside(&self, end: &str) -> PathBuf {
        let mut name = self.path.clone().into_os_string();
        name.push(end);
        name.into()
    }

    fn file_error(&self, error: io::Error) -> TokensError {
        TokensError::File { path: self.path.clone(), error }
    }

    fn stamp(&self) -> Option<(SystemTime, u64)> {
        check_mode(&self.path).ok()?;
        let data = fs::metadata(&self.path).ok()?;
        Some((data.modified().ok()?, data.len()))
    }

    /// Reads the file of a server: a missing one admits nothing, and is an error.
    fn read_served(&self) -> Result<(Content, Option<(SystemTime, u64)>), TokensError> {
        let read = self.read()?;
        match read.1 {
            Some(_) => Ok(read),
            None => Err(self.file_error(io::ErrorKind::NotFound.into())),
        }
    }

    fn read(&self) -> Result<(Content, Option<(SystemTime, u64)>), TokensError> {
        let stamp = self.stamp();
        let text = match fs::read_to_string(&self.path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok((Content::default(), None)),
            Err(error) => return Err(self.file_error(error)),
        };
        check_mode(&self.path)?;
        let form = |error| TokensError::Form { path: self.path.clone(), error };
        Ok((serde_json::from_str(&text).map_err(form)?, stamp))
    }

    /// Changes the file under a lock, as one rename.
    fn change(
        &self,
        change: impl FnOnce(&mut Vec<TokenEntry>) -> Result<(), TokensError>,
    ) -> Result<(), TokensError> {
        let lock = self.beside(".lock");
        let lock = private(&lock, false).map_err(|error| self.file_error(error))?;
        lock.lock().map_err(|error| self.file_error(error))?;
        let (mut content, _) = self.read()?;
        change(&mut content.tokens)?;
        let new = self.beside(".new");
        let form = |error| TokensError::Form { path: self.path.clone(), error };
        let text = serde_json::to_string_pretty(&content).map_err(form)?;
        let write = || {
            // A file that a crash left, or a foreign link.
            match fs::remove_file(&new) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
            let mut file = private(&new, true)?;
            file.write_all(text.as_bytes())?;
            file.sync_all()?;
            fs::rename(&new, &self.path)?;
            sync_folder(&self.path)
        };
        write().map_err(|error| self.file_error(error))?;
        *self.known.lock().unwrap_or_else(PoisonError::into_inner) = Known::default();
        Ok(())
    }
}

fn digest(token: &str) -> String {
    HEXLOWER.encode(&Sha256::digest(token.as_bytes()))
}

/// Makes the rename survive a power cut.
#[cfg(unix)]
fn sync_folder(path: &Path) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
}

#[cfg(not(unix))]
fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}

/// Opens a file that no other user may read.
fn private(path: &Path, is_new: bool) -> io::Result<File> {
    let mut options = File::options();
    options.write(true).create(!is_new).create_new(is_new);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

#[cfg(unix)]
fn check_mode(path: &Path) -> Result<(), TokensError> {
    use std::os::unix::fs::PermissionsExt;

    let data = fs::metadata(path).map_err(|error| TokensError::File { path: path.to_owned(), error })?;
    let mode = data.permissions().mode() & 0o7777;
    if mode & 0o077 == 0 { Ok(()) } else { Err(TokensError::Mode { path: path.to_owned(), mode }) }
}

#[cfg(not(unix))]
fn check_mode(_: &Path) -> Result<(), TokensError> {
    Ok(())
}
