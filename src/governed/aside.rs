//! Files that are set aside: they are kept under another name beside the new one.

use std::path::{Path, PathBuf};
use std::{fmt, io};

use crate::files::{Disk, Open};

/// Why a file was set aside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum AsideReason {
    /// A folder, a pipe, a link or a file with a second name is in its place.
    NoFile,
    /// Something else than a folder is in the place of one.
    NoFolder,
    /// A log or a ledger has more bytes than are read.
    TooLarge,
    /// A log or a ledger cannot be read on.
    Unreadable,
    /// RUN_REPORTS.jsonl is not the one that was written.
    OtherReports,
}

impl fmt::Display for AsideReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            AsideReason::NoFile => "is no file",
            AsideReason::NoFolder => "is no folder",
            AsideReason::TooLarge => "has more than 1 GiB",
            AsideReason::Unreadable => "could not be read on",
            AsideReason::OtherReports => "is not the file that the run wrote",
        })
    }
}

/// Where a file that was set aside is kept, and why.
pub(super) type Aside = (PathBuf, AsideReason);

/// Told of a damaged file, where it is kept, and why.
pub(super) type SettingAside = dyn Fn(&Path, &Path, AsideReason) + Send + Sync;

pub(super) fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// The name of a file that is set aside.
fn name(path: &Path, number: u64) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    format!("{name}.damaged-{number}")
}

/// The file of that name that was set aside last.
pub(super) fn last(disk: &dyn Disk, path: &Path) -> io::Result<Option<(u64, String)>> {
    let names = disk.list(folder(path))?;
    let numbered = names.into_iter().filter_map(|found| {
        let number = found.rsplit_once('-')?.1.parse::<u32>().ok()?.into();
        (found == name(path, number)).then_some((number, found))
    });
    Ok(numbered.max())
}

/// Gives a file a name under which it is kept.
pub(super) fn keep(disk: &dyn Disk, path: &Path) -> io::Result<PathBuf> {
    let mut number = last(disk, path)?.map_or(0, |(number, _)| number);
    let to = loop {
        number += 1;
        let to = path.with_file_name(name(path, number));
        // A rename takes the place of what has the name.
        match disk.open(&to, Open::Read) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => break to,
            Err(error) if error.kind() != io::ErrorKind::IsADirectory => return Err(error),
            _ => {}
        }
    };
    disk.rename(path, &to)?;
    // Before there is a new file: a crash in between leaves none, and it is begun as one that something was set aside of.
    disk.sync_folder(folder(path))?;
    Ok(to)
}
