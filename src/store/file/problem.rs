//! What is said when a file is not as it should be.

use std::error::Error;
use std::fmt;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use super::super::error::StoreError;
use super::super::query::CorruptEntry;
use super::layout::Place;

/// An operation on that file failed, and nothing that counts was changed.
pub(super) fn failed(path: &Path) -> impl Fn(io::Error) -> StoreError {
    move |error| StoreError::failed(Failure { path: path.to_owned(), error })
}

/// What was asked for is in that folder, whose names could not be made durable: nobody knows what a crash leaves of it.
pub(super) fn unsynced(folder: &Path) -> impl Fn(io::Error) -> StoreError {
    move |error| StoreError::unavailable(Unsynced(Failure { path: folder.to_owned(), error }))
}

/// An operation on a file failed.
#[derive(Debug)]
struct Failure {
    path: PathBuf,
    error: io::Error,
}

impl Failure {
    /// Is it about this file, rather than about the machine? Where a process has too many files open, or memory is short,
    /// nothing is the matter with the file.
    fn is_of_the_file(&self) -> bool {
        // What a bad sector gives has no kind of its own: EIO on all systems that are like Unix.
        let is_bad = cfg!(unix) && self.error.raw_os_error() == Some(5);
        is_bad || matches!(self.error.kind(), ErrorKind::PermissionDenied | ErrorKind::IsADirectory)
    }

    /// What to do, where that is known.
    fn remedy(&self) -> Option<&'static str> {
        match self.error.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Some("make room, and try again"),
            ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
                Some("let this process write there")
            }
            _ => None,
        }
    }

    /// What is the matter, without what came of it.
    fn what(&self) -> String {
        format!("{}: {}", self.path.display(), self.error)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what())?;
        self.remedy().map_or(Ok(()), |remedy| write!(f, "; nothing was stored: {remedy}"))
    }
}

impl Error for Failure {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.error)
    }
}

/// What is said of what is in place, and not durable.
const IN_PLACE: &str = "what was asked for is in place, and a crash may undo it";

/// The names in a folder could not be made durable, after one was put there.
#[derive(Debug)]
struct Unsynced(Failure);

impl fmt::Display for Unsynced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {IN_PLACE}", self.0.what())?;
        self.0.remedy().map_or(Ok(()), |remedy| write!(f, ": {remedy}"))
    }
}

impl Error for Unsynced {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.0.error)
    }
}

/// That file is damaged.
pub(super) fn damaged(path: &Path, what: impl fmt::Display) -> StoreError {
    too_large(path, format_args!("{}: {what}", path.display()))
}

/// That file is larger than any that is written, or else not as one is written.
pub(super) fn too_large(path: &Path, what: impl fmt::Display) -> StoreError {
    let run = path.parent().unwrap_or(path).display();
    StoreError::unusable(
        what,
        format!("nothing was changed: restore {run} from a backup, or move it out of the store"),
    )
}

/// Refuses a write that would make a file larger than it may be.
pub(super) fn fits(path: &Path, bytes: u64, most: u64) -> Result<(), StoreError> {
    if bytes <= most {
        return Ok(());
    }
    let what =
        format!("{}: it would have {bytes} bytes, and a file of a run has at most {most}", path.display());
    let help = "nothing was stored: `runstate cancel` ends such a run; a store in a database has larger ones";
    Err(StoreError::TooLarge { what, help: help.to_owned() })
}

/// The folder of a run that was driven has no state any more.
pub(super) fn without_state(place: &Place) -> CorruptEntry {
    let (state, run) = (place.state(), place.folder.display());
    CorruptEntry::new(
        format!("{}: it is not there, and messages or events of its run are", state.display()),
        format!(
            "nothing was changed: restore {run} from a backup; or remove it, if the run was being removed when that was \
             interrupted"
        ),
    )
}

/// Somebody has that lock, and has it still after it was waited for.
pub(super) fn kept(lock: &Path) -> CorruptEntry {
    let lock = lock.display();
    CorruptEntry::new(
        format!("{lock}: somebody holds it and does not go on"),
        format!("let the process that holds it go on, or end it: `lsof {lock}` names it"),
    )
}

/// The same, for who asked for the run.
pub(super) fn held_up(lock: &Path) -> StoreError {
    StoreError::unavailable(HeldUp(kept(lock)))
}

/// One run cannot be reached.
#[derive(Debug)]
struct HeldUp(CorruptEntry);

impl fmt::Display for HeldUp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Error for HeldUp {}

impl StoreError {
    /// What it says of one run, if it is about one run alone: what is done with many tells it, and goes on with the others.
    ///
    /// It is for errors of operations on one run. A run that is damaged is one, and of a [`FileStore`](super::super::FileStore) a
    /// run whose files cannot be read or written, and one whose lock somebody keeps.
    ///
    /// ```
    /// use runstate::store::StoreError;
    ///
    /// let damaged = StoreError::unusable("runs/r1/state.json: EOF at line 3", "restore it from a backup");
    /// assert_eq!(damaged.into_run_scoped()?.help, "restore it from a backup");
    ///
    /// let away = StoreError::unavailable("connection refused").into_run_scoped();
    /// assert!(matches!(away, Err(StoreError::Unavailable(_))), "no other run can be reached, either");
    /// # Ok::<(), StoreError>(())
    /// ```
    ///
    /// # Errors
    /// The error itself, when it is not.
    pub fn into_run_scoped(self) -> Result<CorruptEntry, StoreError> {
        match self {
            StoreError::Unusable { what, help } => Ok(CorruptEntry::new(what, help)),
            StoreError::Failed(cause) => match cause.downcast_ref::<Failure>() {
                Some(failure) if failure.is_of_the_file() => Ok(CorruptEntry::new(
                    failure.what(),
                    format!("nothing was changed: {CAN_USE}, or restore its run from a backup"),
                )),
                _ => Err(StoreError::Failed(cause)),
            },
            StoreError::Unavailable(cause) => {
                if let Some(HeldUp(damage)) = cause.downcast_ref() {
                    return Ok(damage.clone());
                }
                match cause.downcast_ref() {
                    Some(Unsynced(failure)) if failure.is_of_the_file() => {
                        Ok(CorruptEntry::new(failure.what(), format!("{IN_PLACE}: {CAN_USE}")))
                    }
                    _ => Err(StoreError::Unavailable(cause)),
                }
            }
            error => Err(error),
        }
    }
}

/// What to do about a file that the system keeps from this process.
const CAN_USE: &str = "see to it that this process can read and write it";
