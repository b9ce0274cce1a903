//! Keys for authentication tags on stored data.

use std::error::Error;
use std::fmt;
use std::str::FromStr;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use crate::json::hex;

/// A list of named secrets for tags on stored data: HMAC-SHA-256.
///
/// A checksum detects damage, but an attacker with write access to the storage can recompute it. A tag also detects
/// the attacker's changes, as long as the key is not in the same storage. The first key makes tags, and every key
/// verifies them. To replace a key, add a new first line; remove the old line when no data has a tag of the old key.
///
/// A tag covers a text *and its place*: one text has different tags in different places. A tag does not detect an
/// older text that is put back in its place. Therefore the place should include the version.
///
/// As text, a keyring has one line per key: its name and at least 64 hexadecimal digits. Lines that begin with `#`
/// are comments:
///
/// ```text
/// # openssl rand -hex 32
/// 2026-11 8f1c…
/// 2026-05 07aa…
/// ```
///
/// ```
/// use runstate::snapshot::{KeyError, Keyring};
///
/// let keys: Keyring = format!("k1 {}", "ab".repeat(32)).parse()?;
/// let tag = keys.tag(&["run", "r1", "7"], b"{}");
/// assert_eq!(keys.check(&["run", "r1", "7"], b"{}", &tag), Ok(()));
///
/// // The tag fits no other text, and no other place.
/// assert_eq!(keys.check(&["run", "r1", "7"], b"[]", &tag), Err(KeyError::Changed));
/// assert_eq!(keys.check(&["run", "r2", "7"], b"{}", &tag), Err(KeyError::Changed));
///
/// // After a replacement of the key, tags of the old key are still valid.
/// let newer: Keyring = format!("k2 {}\nk1 {}", "cd".repeat(32), "ab".repeat(32)).parse()?;
/// assert_eq!(newer.check(&["run", "r1", "7"], b"{}", &tag), Ok(()));
/// assert!(newer.tag(&["run", "r1", "7"], b"{}").starts_with("k2:"));
/// # Ok::<(), runstate::snapshot::NoKeyring>(())
/// ```
#[derive(Clone)]
pub struct Keyring {
    /// The keys. The first one makes tags.
    keys: Vec<Key>,
}

#[derive(Clone)]
struct Key {
    name: String,
    mac: Hmac<Sha256>,
}

/// The minimum length of a secret in bytes, which is the length of a tag.
const LEAST: usize = 32;

impl Keyring {
    /// Makes the tag of a text in its place, as `NAME:` and 64 hexadecimal digits.
    pub fn tag(&self, place: &[&str], text: &[u8]) -> String {
        let Some(key) = self.keys.first() else { unreachable!("a keyring has a key") };
        format!("{}:{}", key.name, hex(&key.mac_of(place, text).finalize().into_bytes()))
    }

    /// Checks the tag of this text in this place. The comparison takes constant time.
    ///
    /// # Errors
    /// [`KeyError::Unknown`] for a tag of a key outside of the keyring; [`KeyError::Changed`] for a tag that does not
    /// fit.
    pub fn check(&self, place: &[&str], text: &[u8], tag: &str) -> Result<(), KeyError> {
        let (name, digits) = tag.split_once(':').ok_or(KeyError::Changed)?;
        let Some(key) = self.keys.iter().find(|key| key.name == name) else {
            return Err(KeyError::Unknown { got: name.to_owned(), known: self.names() });
        };
        // A tag has exactly one form.
        let digits = Some(digits).filter(|digits| !digits.bytes().any(|byte| byte.is_ascii_uppercase()));
        let expected = digits.and_then(bytes).ok_or(KeyError::Changed)?;
        key.mac_of(place, text).verify_slice(&expected).map_err(|_| KeyError::Changed)
    }

    /// Checks a text with an optional tag, for a reader with optional keys. Either both exist or neither does.
    ///
    /// ```
    /// use runstate::snapshot::{KeyError, Keyring};
    ///
    /// let keys: Keyring = format!("k1 {}", "ab".repeat(32)).parse()?;
    /// let tag = keys.tag(&["run", "r1"], b"{}");
    /// let admits = |keys, tag| Keyring::admits(keys, &["run", "r1"], b"{}", tag);
    /// assert_eq!(admits(Some(&keys), Some(tag.as_str())), Ok(()));
    /// assert_eq!(admits(None, None), Ok(()));
    /// assert_eq!(admits(Some(&keys), None), Err(KeyError::Untagged));
    /// assert_eq!(admits(None, Some(tag.as_str())), Err(KeyError::NoKeys { got: "k1".to_owned() }));
    /// # Ok::<(), runstate::snapshot::NoKeyring>(())
    /// ```
    ///
    /// # Errors
    /// As [`check`](Self::check); [`KeyError::Untagged`] for keys without a tag, and [`KeyError::NoKeys`] for a tag
    /// without keys.
    pub fn admits(
        keys: Option<&Keyring>,
        place: &[&str],
        text: &[u8],
        tag: Option<&str>,
    ) -> Result<(), KeyError> {
        match (keys, tag) {
            (None, None) => Ok(()),
            (Some(keys), Some(tag)) => keys.check(place, text, tag),
            (Some(_), None) => Err(KeyError::Untagged),
            (None, Some(tag)) => {
                Err(KeyError::NoKeys { got: tag.split_once(':').map_or("", |(key, _)| key).to_owned() })
            }
        }
    }

    /// The names of the keys. The first one makes tags.
    pub fn names(&self) -> Vec<String> {
        self.keys.iter().map(|key| key.name.clone()).collect()
    }
}

impl Key {
    /// Each part has its length as a prefix, so that two places never give equal bytes.
    fn mac_of(&self, place: &[&str], text: &[u8]) -> Hmac<Sha256> {
        let mut mac = self.mac.clone();
        let parts = place.iter().map(|part| part.as_bytes()).chain([text]);
        for part in [b"runstate".as_slice()].into_iter().chain(parts) {
            mac.update(&(part.len() as u64).to_be_bytes());
            mac.update(part);
        }
        mac
    }
}

impl fmt::Debug for Keyring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Keyring({:?})", self.names())
    }
}

impl FromStr for Keyring {
    type Err = NoKeyring;

    fn from_str(text: &str) -> Result<Self, NoKeyring> {
        let mut keys: Vec<Key> = Vec::new();
        for (line, number) in text.lines().zip(1..) {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let wrong = |why: &str| NoKeyring { line: number, why: why.to_owned() };
            let (name, secret) = line.split_once(char::is_whitespace).ok_or_else(|| {
                wrong("expected the name of a key, a space and its secret in hexadecimal digits")
            })?;
            let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
            if name.len() > 64 || !name.chars().all(is_name) {
                return Err(wrong("the name of a key has letters, digits, '-', '_' and '.', 64 at most"));
            }
            if keys.iter().any(|key| key.name == name) {
                return Err(wrong("a key of that name stands above"));
            }
            let secret = bytes(secret.trim())
                .filter(|secret| secret.len() >= LEAST)
                .ok_or_else(|| wrong("the secret is not 64 hexadecimal digits or more, an even number"))?;
            if secret.iter().all(|byte| *byte == 0) {
                return Err(wrong("the secret is nothing but zeros; make one with `openssl rand -hex 32`"));
            }
            let mac = Hmac::new_from_slice(&secret).map_err(|_| wrong("the secret has a bad length"))?;
            keys.push(Key { name: name.to_owned(), mac });
        }
        if keys.is_empty() {
            return Err(NoKeyring { line: 1, why: "there is no key".to_owned() });
        }
        Ok(Keyring { keys })
    }
}

fn bytes(digits: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u8>> =
        digits.chars().map(|c| c.to_digit(16).and_then(|digit| u8::try_from(digit).ok())).collect();
    let digits = digits.filter(|digits| digits.len() % 2 == 0)?;
    Some(digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect())
}

/// The reason why stored data is refused under a keyring.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeyError {
    /// The data has no tag.
    Untagged,
    /// The tag is of a key outside of the keyring.
    Unknown {
        /// The name of the tag's key.
        got: String,
        /// The names of the known keys.
        known: Vec<String>,
    },
    /// The data has a tag, and its reader has no keys.
    NoKeys {
        /// The name of the tag's key.
        got: String,
    },
    /// The tag does not fit: the text was changed, or moved to another place.
    Changed,
}

impl fmt::Display for KeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KeyError::Untagged => f.write_str("it has no tag, and a keyed store takes nothing without"),
            KeyError::Unknown { got, known } => {
                write!(f, "its tag is of the key {got:?}, and the keyring has {}", known.join(", "))
            }
            KeyError::NoKeys { got } => write!(
                f,
                "it is stored under the key {got:?}, and no key was given; give it by `keyed`, or by --key-file or RUNSTATE_KEY \
                 of the command"
            ),
            KeyError::Changed => f.write_str(
                "its tag does not fit: it was changed without the key, or moved here from elsewhere",
            ),
        }
    }
}

impl Error for KeyError {}

/// The error for a text that is not a keyring. The message contains no part of a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoKeyring {
    line: usize,
    why: String,
}

impl NoKeyring {
    /// The line, from 1.
    pub fn line(&self) -> usize {
        self.line
    }
}

impl fmt::Display for NoKeyring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.why)
    }
}

impl Error for NoKeyring {}
