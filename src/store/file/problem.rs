//! What is said when a file is not as it should be.

use std::error::Error;
use std::fmt;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use super::super::error::StoreError;
use super::super::query::Damage;
use super::layout::Place;

/// An operation on that file failed.
pub(super) fn failed(path: &Path) -> impl Fn(io::Error) -> StoreError {
    move |error| StoreError::failed(Failure { path: path.to_owned(), error })
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
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let help = match self.error.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
                "; nothing was stored: make room, and try again"
            }
            ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
                "; nothing was stored: let this process write there"
            }
            _ => "",
        };
        write!(f, "{}: {}{help}", self.path.display(), self.error)
    }
}

impl Error for Failure {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.error)
    }
}

/// That file is damaged.
pub(super) fn damaged(path: &Path, what: impl fmt::Display) -> StoreError {
    let run = path.parent().unwrap_or(path).display();
    StoreError::unusable(
        format!("{}: {what}", path.display()),
        format!("nothing was changed: restore {run} from a backup, or move it out of the store"),
    )
}

/// The folder of a run that was driven has no state any more.
pub(super) fn without_state(place: &Place) -> Damage {
    let (state, run) = (place.state(), place.folder.display());
    Damage::new(
        format!("{}: it is not there, and messages or events of its run are", state.display()),
        format!(
            "nothing was changed: restore {run} from a backup; or remove it, if the run was being removed when that was \
             interrupted"
        ),
    )
}

/// Somebody has that lock, and has it still after it was waited for.
pub(super) fn kept(lock: &Path) -> Damage {
    let lock = lock.display();
    Damage::new(
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
struct HeldUp(Damage);

impl fmt::Display for HeldUp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Error for HeldUp {}

/// An error that is about one run alone, for what is done with many, and goes on with the others.
///
/// # Errors
/// The error itself, when it is not.
pub(in crate::store) fn of_one_run(error: StoreError) -> Result<Damage, StoreError> {
    match error {
        StoreError::Unusable { what, help } => Ok(Damage::new(what, help)),
        StoreError::Failed(cause) => {
            let failure = cause.downcast_ref::<Failure>().filter(|failure| failure.is_of_the_file());
            let Some(failure) = failure else { return Err(StoreError::Failed(cause)) };
            let help = "nothing was changed: see to it that this process can read and write it, or restore its run from a backup";
            let what = format!("{}: {}", failure.path.display(), failure.error);
            Ok(Damage::new(what, help))
        }
        StoreError::Unavailable(cause) => match cause.downcast_ref::<HeldUp>() {
            Some(HeldUp(damage)) => Ok(damage.clone()),
            None => Err(StoreError::Unavailable(cause)),
        },
        error => Err(error),
    }
}
