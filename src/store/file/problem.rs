//! What is said when a file is not as it should be.

use std::fmt;
use std::io::{self, ErrorKind};
use std::path::Path;

use super::super::error::StoreError;

/// An operation on that file failed.
pub(super) fn failed(path: &Path) -> impl Fn(io::Error) -> StoreError {
    move |error| {
        let help = match error.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
                "; nothing was stored: make room, and try again"
            }
            ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
                "; nothing was stored: let this process write there"
            }
            _ => "",
        };
        StoreError::failed(format!("{}: {error}{help}", path.display()))
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
