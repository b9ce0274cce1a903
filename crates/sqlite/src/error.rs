//! Errors of SQLite as errors of a store.

use std::fmt;
use std::path::Path;

use runstate_store::StoreError;
use rusqlite::ErrorCode;

use crate::connect::MOST_BYTES;

use crate::holder::writer;

/// The reason for a failed request: an error of SQLite, or one of the store.
#[derive(Debug)]
pub(crate) enum Fault {
    Sql(rusqlite::Error),
    Store(StoreError),
}

pub(crate) type Outcome<T> = Result<T, Fault>;

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        Fault::Sql(error)
    }
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Self {
        Fault::Store(error)
    }
}

impl Fault {
    pub(crate) fn at(self, path: &Path) -> StoreError {
        match self {
            Fault::Sql(error) => of_sqlite(&error, path),
            Fault::Store(error) => error,
        }
    }

    /// Converts the error of a write.
    pub(crate) fn of_a_write(self, path: &Path) -> StoreError {
        let too_large = match &self {
            Fault::Sql(error) if error.sqlite_error_code() == Some(ErrorCode::TooBig) => error.to_string(),
            _ => return self.at(path),
        };
        let at = path.display();
        StoreError::TooLarge {
            what: format!("{at}: a value has more than the {MOST_BYTES} bytes of a row: {too_large}"),
            help: "nothing was stored: `runstate cancel` ends such a run".to_owned(),
        }
    }

    /// Returns whether SQLite refuses a change because a column of the row has a value of another type.
    pub(crate) fn is_of_another_type(&self) -> bool {
        matches!(self, Fault::Sql(error) if is_of_another_type(error))
    }

    /// Returns whether another connection holds a lock that this one needs.
    pub(crate) fn is_busy(&self) -> bool {
        matches!(self, Fault::Sql(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy))
    }
}

fn is_of_another_type(error: &rusqlite::Error) -> bool {
    const SQLITE_CONSTRAINT_DATATYPE: i32 = 19 | (12 << 8);
    matches!(error, rusqlite::Error::SqliteFailure(code, _) if code.extended_code == SQLITE_CONSTRAINT_DATATYPE)
}

pub(crate) fn unreadable(what: impl fmt::Display) -> StoreError {
    StoreError::unusable(what, "another program wrote it; restore the file from a backup")
}

pub(crate) fn of_sqlite(error: &rusqlite::Error, path: &Path) -> StoreError {
    let at = path.display();
    let Some(code) = error.sqlite_error_code() else {
        return unreadable(format_args!("{at}: a row cannot be read: {error}"));
    };
    match code {
        ErrorCode::ConstraintViolation if is_of_another_type(error) => StoreError::unusable(
            format_args!(
                "{at}: a row has a value of another type than its column, and takes no change: {error}"
            ),
            "another program wrote it: restore the file from a backup, or have that program mend the value",
        ),
        ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => {
            let writer = writer(path).unwrap_or_else(|| "another process".to_owned());
            StoreError::unavailable(format!(
                "{at}: {writer} writes, and did not finish in time: {error}; if it stands still, let it go on (SIGCONT) or end it"
            ))
        }
        ErrorCode::DatabaseCorrupt => StoreError::unusable(
            format_args!("{at} is damaged: {error}"),
            "restore it from a backup, or save the readable rows with `sqlite3 FILE .recover`",
        ),
        ErrorCode::NotADatabase => StoreError::unusable(
            format_args!("{at} is no SQLite database: {error}"),
            "name another file, or restore it from a backup",
        ),
        ErrorCode::DiskFull => {
            StoreError::failed(format!("{at}: {error}; make room on the disk, then do the same again"))
        }
        ErrorCode::ReadOnly | ErrorCode::PermissionDenied => StoreError::failed(format!(
            "{at}: {error}; this user must be allowed to write the file and its folder"
        )),
        ErrorCode::TooBig => StoreError::unusable(
            format_args!("{at}: a value has more than the {MOST_BYTES} bytes of a row: {error}"),
            "another program wrote it: restore the file from a backup",
        ),
        ErrorCode::CannotOpen => StoreError::failed(format!(
            "{at}: {error}; its folder must be there, and this user be allowed to write it"
        )),
        _ => StoreError::failed(format!("{at}: {error}")),
    }
}
