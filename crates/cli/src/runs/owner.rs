//! Whose the folder of a run is.
//!
//! An id and a path may be the same on machines that share a store. So a run has a token in common with its folder that no other
//! has: it stands in the store, and in a file beside the folder that tools work in, where they cannot reach it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::failure::Failure;

/// What a run and its folder have in common, and no other run with its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Token(String);

impl Token {
    /// One that nothing has.
    ///
    /// # Errors
    /// A system that gives no random numbers.
    pub(super) fn fresh() -> Result<Self, Failure> {
        let mut drawn = [0; 16];
        getrandom::fill(&mut drawn).map_err(|error| {
            Failure::new(format!("cannot draw a token for the run's folder: the system says: {error}"))
        })?;
        Ok(Token(format!("{:032x}", u128::from_be_bytes(drawn))))
    }

    /// Marks the folder in which that one is: the run's.
    pub(super) fn mark(&self, work: &Path) -> io::Result<()> {
        fs::write(mark_of(work), format!("{}\n", self.0))
    }
}

/// Whose a folder is, as a run sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Owner {
    /// It is the run's.
    This,
    /// It is another run's.
    Another,
    /// It has lost its mark.
    Unknown,
}

/// Whose the folder is that tools work in, for a run with that token. Where they were made before there were tokens neither of
/// them has one, and the place alone says it.
///
/// # Errors
/// A mark that cannot be read.
pub(crate) fn owner(work: &Path, token: Option<&Token>) -> io::Result<Owner> {
    let mark = match fs::read(mark_of(work)) {
        Ok(mark) => Some(mark),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    Ok(match (token, mark) {
        (None, None) => Owner::This,
        (Some(token), Some(mark)) if mark.trim_ascii() == token.0.as_bytes() => Owner::This,
        (_, Some(_)) => Owner::Another,
        (Some(_), None) => Owner::Unknown,
    })
}

/// The file that says whose the folder is.
pub(crate) fn mark_of(work: &Path) -> PathBuf {
    work.with_file_name("owner")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_that_of_the_run_with_its_token() {
        let folder = tempfile::tempdir().unwrap();
        let work = folder.path().join("work");
        let (one, other) = (Token::fresh().unwrap(), Token::fresh().unwrap());
        let seen = |token| owner(&work, token).unwrap();
        // As it was made before there were tokens.
        assert_eq!((seen(None), seen(Some(&one))), (Owner::This, Owner::Unknown));
        one.mark(&work).unwrap();
        assert_eq!(
            (seen(None), seen(Some(&one)), seen(Some(&other))),
            (Owner::Another, Owner::This, Owner::Another)
        );
        fs::write(mark_of(&work), [0xff, 0]).unwrap();
        assert_eq!(seen(Some(&one)), Owner::Another);
        fs::remove_file(mark_of(&work)).unwrap();
        fs::create_dir(mark_of(&work)).unwrap();
        assert!(owner(&work, Some(&one)).is_err());
    }
}
