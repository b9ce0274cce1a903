//! What is in a folder, without following links out of it.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::failure::Failure;

/// The most files and folders of a working folder.
const MOST_ENTRIES: usize = 20_000;
/// The most bytes of its files.
const MOST_BYTES: u64 = 512 << 20;

/// What a name in a folder is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    File,
    Folder,
    /// A link or a special file.
    Other,
    /// A folder in which governed runs are kept. Its content is not listed: it is no part of the work of a run, nor to be taken away by
    /// it.
    Runs,
}

/// Every name below a folder with what it is, in order; a folder comes before what is in it.
pub(super) type Listing = BTreeMap<PathBuf, Kind>;

/// Lists a folder, without the names to ignore.
///
/// # Errors
/// What cannot be read; more than the limits of this module.
pub(super) fn list(root: &Path, ignore: &[PathBuf]) -> Result<Listing, Failure> {
    let (mut listing, mut bytes, mut open) = (Listing::new(), 0_u64, vec![PathBuf::new()]);
    let cannot = |path: &Path, error: &io::Error| Failure::io("read", path, error);
    while let Some(folder) = open.pop() {
        let path = root.join(&folder);
        for entry in fs::read_dir(&path).map_err(|error| cannot(&path, &error))? {
            let entry = entry.map_err(|error| cannot(&path, &error))?;
            let name = folder.join(entry.file_name());
            if ignore.contains(&name) {
                continue;
            }
            let about = match entry.metadata() {
                // A tool's process may still take its temporary files away.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                about => about.map_err(|error| cannot(&entry.path(), &error))?,
            };
            let kind = match about.file_type() {
                kind if kind.is_dir() => Kind::Folder,
                kind if kind.is_file() => Kind::File,
                _ => Kind::Other,
            };
            if kind == Kind::Folder {
                if holds_runs(&entry.path()) {
                    listing.insert(name, Kind::Runs);
                    continue;
                }
                open.push(name.clone());
            }
            bytes += if kind == Kind::File { about.len() } else { 0 };
            listing.insert(name, kind);
            if listing.len() > MOST_ENTRIES || bytes > MOST_BYTES {
                return Err(Failure::new(format!(
                    "{} has more than {MOST_ENTRIES} entries or {MOST_BYTES} bytes",
                    root.display()
                ))
                .with_help("name what a build makes in the plan's `ignore`"));
            }
        }
    }
    Ok(listing)
}

/// A name without `.`, as names are listed.
pub(super) fn plain(name: &Path) -> PathBuf {
    name.components().filter(|part| *part != std::path::Component::CurDir).collect()
}

/// The permission bits of a file or folder.
#[cfg(unix)]
pub(super) fn mode(path: &Path) -> io::Result<u32> {
    use std::os::unix::fs::PermissionsExt;
    Ok(fs::symlink_metadata(path)?.permissions().mode() & 0o7777)
}

#[cfg(not(unix))]
pub(super) fn mode(_: &Path) -> io::Result<u32> {
    Ok(0)
}

/// Gives a file or folder the mode of another one.
pub(super) fn copy_mode(from: &Path, to: &Path) -> io::Result<()> {
    if mode(from)? == mode(to)? {
        return Ok(());
    }
    fs::set_permissions(to, fs::metadata(from)?.permissions())
}

/// Fails where the folder of a run is a link, or gone: a tool put another one in its place.
///
/// # Errors
/// As it says.
pub(super) fn check_own(folder: &Path) -> io::Result<()> {
    if fs::symlink_metadata(folder)?.is_dir() {
        return Ok(());
    }
    let why = format!("{} is a folder no more: something else was put in its place", folder.display());
    Err(io::Error::new(io::ErrorKind::NotADirectory, why))
}

/// Are governed runs kept in the folder?
fn holds_runs(folder: &Path) -> bool {
    folder.join("command-center").join("PENDING").is_dir()
}

/// Refuses links and special files before anything is made.
///
/// # Errors
/// Links and special files, of which a copy could lead out of the folder.
pub(super) fn check_copy(from: &Path, listing: &Listing) -> Result<(), Failure> {
    match listing.iter().find(|(_, kind)| **kind == Kind::Other) {
        None => Ok(()),
        Some((name, _)) => {
            let what = from.join(name);
            let message = format!("cannot copy {}: it is a symlink or a special file", what.display());
            Err(Failure::new(message).with_help("name it in the plan's `ignore`"))
        }
    }
}

/// Copies what was listed to `to`, which must not exist.
///
/// # Errors
/// What cannot be read or written; links and special files, of which a copy could lead out of the folder.
pub(super) fn copy(from: &Path, to: &Path, listing: &Listing) -> Result<(), Failure> {
    fs::create_dir(to).map_err(|error| Failure::io("make the folder", to, &error))?;
    for (name, kind) in listing {
        let (source, target) = (from.join(name), to.join(name));
        match kind {
            Kind::Folder => {
                fs::create_dir(&target).map_err(|error| Failure::io("make the folder", &target, &error))?;
            }
            Kind::File => {
                fs::copy(&source, &target).map_err(|error| Failure::io("copy", &source, &error))?;
            }
            Kind::Other => check_copy(from, listing)?,
            Kind::Runs => {}
        }
    }
    // From the innermost out, once all is in it: a folder may be one that nothing can be written to.
    for name in listing.iter().rev().filter(|(_, kind)| **kind == Kind::Folder).map(|(name, _)| name) {
        let target = to.join(name);
        copy_mode(&from.join(name), &target)
            .map_err(|error| Failure::io("set the mode of", &target, &error))?;
    }
    copy_mode(from, to).map_err(|error| Failure::io("set the mode of", to, &error))
}

/// The digest of the content of a file.
pub(super) fn digest(path: &Path) -> io::Result<String> {
    let (mut file, mut hash, mut piece) = (fs::File::open(path)?, Sha256::new(), vec![0; 1 << 16]);
    loop {
        match file.read(&mut piece)? {
            0 => break,
            length => hash.update(&piece[..length]),
        }
    }
    Ok(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Have two files the same content?
pub(super) fn same(a: &Path, b: &Path) -> io::Result<bool> {
    if fs::metadata(a)?.len() != fs::metadata(b)?.len() {
        return Ok(false);
    }
    Ok(fs::read(a)? == fs::read(b)?)
}
