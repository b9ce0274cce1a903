//! The token that a run shares with its folder.
//!
//! An id and a path may be equal on machines that share a store. So each run has a unique token: it is stored in the store,
//! and in a file beside the tools' folder, where tools cannot reach it.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt};
use cap_std::fs::{Dir, OpenOptions};
use serde::{Deserialize, Serialize};

use super::durable::replace;
use crate::failure::Failure;

/// The token that a run and its folder share.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub(crate) struct Token(u128);

/// The file with the token of a folder.
const MARK: &str = "owner";

/// The maximum size of a mark, in bytes. A mark has 33.
const MOST_BYTES: u64 = 64;

impl Token {
    /// A new, unique token.
    ///
    /// # Errors
    /// The system gives no random numbers.
    pub(crate) fn fresh() -> Result<Self, Failure> {
        let mut drawn = [0; 16];
        getrandom::fill(&mut drawn)
            .map_err(|error| Failure::new(format!("cannot draw a token for the run's folder: {error}")))?;
        Ok(Token(u128::from_be_bytes(drawn)))
    }

    /// Reads the token of a file.
    pub(super) fn read(file: impl Read) -> io::Result<Option<Self>> {
        let mut text = Vec::new();
        file.take(MOST_BYTES + 1).read_to_end(&mut text)?;
        if text.len() as u64 > MOST_BYTES {
            return Ok(None);
        }
        let text = String::from_utf8_lossy(&text).trim().to_owned();
        Ok(Token::try_from(text).ok())
    }

    /// Writes it into the file at that place.
    pub(super) fn write(&self, path: &Path) -> io::Result<()> {
        replace(path, format!("{}\n", String::from(self.clone())).as_bytes())
    }
}

impl From<Token> for String {
    fn from(Token(number): Token) -> Self {
        format!("{number:032x}")
    }
}

impl TryFrom<String> for Token {
    type Error = String;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let is_one = text.len() == 32 && text.bytes().all(|c| matches!(c, b'0'..=b'9' | b'a'..=b'f'));
        let number = u128::from_str_radix(&text, 16).ok().filter(|_| is_one);
        number.map(Token).ok_or_else(|| format!("a token has 32 lower-case hexadecimal digits, got {text:?}"))
    }
}

/// The mark of a folder, compared with a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Owner {
    /// Its own token.
    This,
    /// Another token.
    Another,
    /// No mark.
    Unknown,
}

/// Compares the mark in the folder of a run with the token of the run.
///
/// # Errors
/// The mark cannot be read, for example a link.
pub(super) fn owner(folder: &Dir, token: &Token) -> io::Result<Owner> {
    // A pipe would block the process that opens it.
    match folder.symlink_metadata(MARK) {
        Ok(about) if about.is_symlink() => {
            return Err(io::Error::other("expected a file, got a link: links are not followed"));
        }
        Ok(about) if !about.is_file() => return Err(io::Error::other("it is no file")),
        _ => {}
    }
    let file = match folder.open_with(MARK, OpenOptions::new().read(true).follow(FollowSymlinks::No)) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Owner::Unknown),
        Err(error) => return Err(error),
    };
    Ok(if Token::read(file)?.as_ref() == Some(token) { Owner::This } else { Owner::Another })
}

/// The file with the token of a folder.
pub(crate) fn mark_of(folder: &Path) -> PathBuf {
    folder.join(MARK)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use cap_std::ambient_authority;

    use super::*;

    #[test]
    fn a_folder_is_that_of_the_run_with_its_token() {
        let place = tempfile::tempdir().unwrap();
        let folder = Dir::open_ambient_dir(place.path(), ambient_authority()).unwrap();
        let mark = mark_of(place.path());
        let (one, other) = (Token::fresh().unwrap(), Token::fresh().unwrap());
        let seen = |token| owner(&folder, token).unwrap();
        assert_eq!(seen(&one), Owner::Unknown);
        one.write(&mark).unwrap();
        assert_eq!((seen(&one), seen(&other)), (Owner::This, Owner::Another));
        for (bytes, owner) in [(64, Owner::This), (65, Owner::Another)] {
            fs::write(&mark, format!("{:bytes$}", String::from(one.clone()))).unwrap();
            assert_eq!(seen(&one), owner, "{bytes}");
        }
        fs::write(&mark, [0xff, 0]).unwrap();
        assert_eq!(seen(&one), Owner::Another);
        fs::remove_file(&mark).unwrap();
        fs::create_dir(&mark).unwrap();
        assert!(owner(&folder, &one).is_err());
        #[cfg(unix)]
        {
            fs::remove_dir(&mark).unwrap();
            one.write(&place.path().join("elsewhere")).unwrap();
            std::os::unix::fs::symlink("elsewhere", &mark).unwrap();
            let refused = owner(&folder, &one).unwrap_err().to_string();
            assert_eq!(refused, "expected a file, got a link: links are not followed");
        }
    }
}
