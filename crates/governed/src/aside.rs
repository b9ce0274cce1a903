//! Quarantine of damaged files: they are renamed and kept beside the new file.

use std::path::{Path, PathBuf};
use std::{fmt, io};

use runstate_runtime::files::{Disk, Open};

/// The reason why a file was set aside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum AsideReason {
    /// The name belongs to a folder, a pipe, a link or a file with a second name.
    NoFile,
    /// The name of a folder belongs to something other than a folder.
    NoFolder,
    /// A log or a ledger exceeds the size limit.
    TooLarge,
    /// A log or a ledger cannot be read to its end.
    Unreadable,
    /// RUN_REPORTS.jsonl is not the file that the run wrote.
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

/// The new path of a file that was set aside, and the reason.
pub(super) type Aside = (PathBuf, AsideReason);

/// Callback for a file that is set aside: its path, its new path, and the reason.
pub(super) type SettingAside = dyn Fn(&Path, &Path, AsideReason) + Send + Sync;

pub(super) fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// The new name of a file that is set aside.
fn name(path: &Path, number: u64) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    format!("{name}.damaged-{number}")
}

/// The newest file that was set aside under that name.
pub(super) fn last(disk: &dyn Disk, path: &Path) -> io::Result<Option<(u64, String)>> {
    let names = disk.list(folder(path))?;
    let numbered = names.into_iter().filter_map(|found| {
        let number = found.rsplit_once('-')?.1.parse::<u32>().ok()?.into();
        (found == name(path, number)).then_some((number, found))
    });
    Ok(numbered.max())
}

/// Sets a file aside. Returns its new path.
pub(super) fn keep(disk: &dyn Disk, path: &Path) -> io::Result<PathBuf> {
    let mut number = last(disk, path)?.map_or(0, |(number, _)| number);
    let to = loop {
        number += 1;
        let to = path.with_file_name(name(path, number));
        // A rename would replace an existing file of that name.
        match disk.open(&to, Open::Read) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => break to,
            Err(error) if error.kind() != io::ErrorKind::IsADirectory => return Err(error),
            _ => {}
        }
    };
    disk.rename(path, &to)?;
    // This sync comes before the new file is created. After a crash in between, the file is missing, and the next
    // writer begins a new one after the file set aside.
    disk.sync_folder(folder(path))?;
    Ok(to)
}
