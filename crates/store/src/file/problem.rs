//! Errors of files.

use std::error::Error;
use std::fmt;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use super::super::error::StoreError;
use super::super::query::CorruptEntry;
use super::layout::Place;

/// Creates the error of a failed operation on a file. No valid data was changed.
pub(super) fn failed(path: &Path) -> impl Fn(io::Error) -> StoreError {
    move |error| StoreError::failed(Failure { path: path.to_owned(), error })
}

/// Creates the error of a change whose folder could not be synced: the result of a crash is unknown.
pub(super) fn unsynced(folder: &Path) -> impl Fn(io::Error) -> StoreError {
    move |error| StoreError::unavailable(Unsynced(Failure { path: folder.to_owned(), error }))
}

/// A failed operation on a file.
#[derive(Debug)]
struct Failure {
    path: PathBuf,
    error: io::Error,
}

impl Failure {
    /// Returns whether the error concerns this file rather than the machine. Too many open files or a lack of memory
    /// concern the machine.
    fn is_of_the_file(&self) -> bool {
        // A bad sector has no error kind of its own: it is EIO on all Unix-like systems.
        let is_bad = cfg!(unix) && self.error.raw_os_error() == Some(5);
        is_bad || matches!(self.error.kind(), ErrorKind::PermissionDenied | ErrorKind::IsADirectory)
    }

    /// Returns the remedy, if one is known.
    fn remedy(&self) -> Option<&'static str> {
        match self.error.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Some("make room, and try again"),
            ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
                Some("let this process write there")
            }
            _ => None,
        }
    }

    /// Returns the problem without its consequence.
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

/// The consequence of a change that is visible and not durable.
const IN_PLACE: &str = "the change is in place, and a crash may undo it";

/// A failed sync of a folder after a change in it.
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

/// Creates the error of a damaged file.
pub(super) fn damaged(path: &Path, what: impl fmt::Display) -> StoreError {
    too_large(path, format_args!("{}: {what}", path.display()))
}

/// Creates the error of a file that is larger than the store writes, or otherwise not usable.
pub(super) fn too_large(path: &Path, what: impl fmt::Display) -> StoreError {
    let run = path.parent().unwrap_or(path).display();
    StoreError::unusable(
        what,
        format!("nothing was changed: restore {run} from a backup, or move it out of the store"),
    )
}

/// Refuses a write that would make a file larger than its limit.
pub(super) fn fits(path: &Path, bytes: u64, most: u64) -> Result<(), StoreError> {
    if bytes <= most {
        return Ok(());
    }
    let what =
        format!("{}: it would have {bytes} bytes, and a file of a run has at most {most}", path.display());
    let help = "nothing was stored: `runstate cancel` ends such a run; a store in a database has larger ones";
    Err(StoreError::TooLarge { what, help: help.to_owned() })
}

/// Creates the entry of a driven run whose state is missing.
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

/// Creates the entry of a lock that another process still holds after the wait.
pub(super) fn kept(lock: &Path) -> CorruptEntry {
    let lock = lock.display();
    CorruptEntry::new(
        format!("{lock}: another process holds it and does not release it"),
        format!("let that process continue, or end it: `lsof {lock}` names it"),
    )
}

/// Creates the error of such a lock, for an operation that names the run.
pub(super) fn held_up(lock: &Path) -> StoreError {
    StoreError::unavailable(HeldUp(kept(lock)))
}

/// The error of one run whose lock is held.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct HeldUp(CorruptEntry);

impl StoreError {
    /// Converts an error that concerns one run alone into an entry. An operation on many runs reports the entry and
    /// continues with the others.
    ///
    /// Use it for errors of operations on one run, such as the error of a damaged run. In a
    /// [`FileStore`](super::super::FileStore), unreadable or unwritable files of a run, and its lock in another
    /// process, concern one run as well.
    ///
    /// ```
    /// use runstate_store::StoreError;
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
    /// The error itself, if it does not concern one run alone.
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

/// The remedy for a file that this process may not read or write.
const CAN_USE: &str = "see to it that this process can read and write it";
