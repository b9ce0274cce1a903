//! A fresh copy of a scenario's folder.
//!
//! Each folder and file is opened below the open folder, and none through a link: a link that is inserted during the copy
//! leads nowhere.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt};
use cap_std::ambient_authority;
use cap_std::fs::{Dir, OpenOptions};

use super::durable::{make_folder, private};
use super::open::{WORK, below};
use crate::failure::Failure;

/// The maximum of copied files and folders.
pub(super) const MOST_ENTRIES: usize = 10_000;
/// The maximum of copied bytes.
pub(super) const MOST_BYTES: u64 = 256 << 20;

/// The folder of a scenario.
#[derive(Debug, Clone)]
pub(crate) struct Template {
    /// The folder of the scenario's file, which its user names: it may be reached through links.
    base: PathBuf,
    /// The path below it, which its author names: links in it may lead anywhere.
    inside: PathBuf,
    /// The word for a person.
    what: &'static str,
}

impl Template {
    pub(crate) fn new(base: &Path, inside: &Path) -> Self {
        let base = if base.as_os_str().is_empty() { Path::new(".") } else { base };
        Template { base: base.to_owned(), inside: inside.to_owned(), what: "the scenario's folder" }
    }

    /// The folder of the last run of a thread.
    pub(crate) fn of_run(state_dir: &Path, run: &str) -> Self {
        let inside = Path::new(run).join(WORK);
        Template { what: "the folder of the last run", ..Template::new(state_dir, &inside) }
    }

    pub(crate) fn path(&self) -> PathBuf {
        let mut path = if self.base == Path::new(".") { PathBuf::new() } else { self.base.clone() };
        path.extend(self.inside.components().filter(|part| *part != Component::CurDir));
        if path.as_os_str().is_empty() { PathBuf::from(".") } else { path }
    }
}

/// Opens the folder of a scenario, without following links below the folder of its file.
///
/// # Errors
/// The folder is missing, a link, or a file.
fn open(from: &Template) -> Result<Dir, Failure> {
    let path = from.path();
    let failed = |error: io::Error| Failure::io(&format!("read {}", from.what), &path, &error);
    let mut open = Dir::open_ambient_dir(&from.base, ambient_authority()).map_err(failed)?;
    for part in from.inside.components() {
        let Component::Normal(name) = part else { continue };
        let name = name.to_str().ok_or_else(|| failed(io::ErrorKind::InvalidFilename.into()))?;
        open = below(&open, name).map_err(|error| match open.symlink_metadata(name) {
            Ok(about) if about.is_file() => {
                Failure::new(format!("{} {} is a file", from.what, path.display()))
            }
            Ok(about) if about.is_symlink() => {
                failed(error).with_help("name the folder itself: a link may lead anywhere")
            }
            _ => failed(error),
        })?;
    }
    Ok(open)
}

/// Refuses a path that is no folder, and a folder that would contain the copy.
///
/// # Errors
/// The folder is missing, a link, or a file; or it contains the folder of all runs.
pub(super) fn check(from: &Template, state_dir: &Path) -> Result<(), Failure> {
    open(from)?;
    let (Ok(from), Some(state_dir)) = (from.path().canonicalize(), canonical(state_dir)) else {
        return Ok(());
    };
    if !state_dir.starts_with(&from) {
        return Ok(());
    }
    Err(Failure::new(format!(
        "the scenario's folder {} has the folder of all runs in it: {}",
        from.display(),
        state_dir.display()
    ))
    .with_help("name another folder with --state-dir: a copy would contain all runs"))
}

/// A path without links, even if its end does not exist yet.
fn canonical(path: &Path) -> Option<PathBuf> {
    let path = std::path::absolute(path).ok()?;
    path.ancestors().find_map(|there| {
        let rest = path.strip_prefix(there).ok()?;
        Some(there.canonicalize().ok()?.join(rest))
    })
}

/// Copies the files and folders of `from` to `to`, which must not exist yet.
///
/// # Errors
/// An unreadable or unwritable entry; links and special files, of which a copy could lead out of the folder; more than the
/// limits of this module.
pub(super) fn folder(from: &Template, to: &Path) -> Result<(), Failure> {
    let root = open(from)?;
    let (what, from) = (from.what, from.path());
    let (mut entries, mut bytes) = (0, 0);
    let mut rest = vec![PathBuf::new()];
    while let Some(inside) = rest.pop() {
        let (source, target) = (from.join(&inside), to.join(&inside));
        make_folder(&target).map_err(|error| Failure::io("make the folder", &target, &error))?;
        let here = if inside.as_os_str().is_empty() { Path::new(".") } else { &inside };
        let listing = root.read_dir(here).map_err(|error| Failure::io("read", &source, &error))?;
        for entry in listing {
            let entry = entry.map_err(|error| Failure::io("read", &source, &error))?;
            let inside = inside.join(entry.file_name());
            let source = from.join(&inside);
            let about = entry.metadata().map_err(|error| Failure::io("read", &source, &error))?;
            entries += 1;
            if about.is_dir() {
                rest.push(inside);
            } else if about.is_file() {
                bytes += copy(&root, &inside, to, MOST_BYTES - bytes)
                    .map_err(|error| Failure::io("copy", &source, &error))?;
            } else {
                return Err(Failure::new(format!(
                    "cannot copy {}: it is a symlink or a special file",
                    source.display()
                ))
                .with_help(format!("{what} can have only files and folders")));
            }
            if entries > MOST_ENTRIES || bytes > MOST_BYTES {
                return Err(Failure::new(format!(
                    "{what} has more than {MOST_ENTRIES} entries or {MOST_BYTES} bytes"
                )));
            }
        }
    }
    Ok(())
}

/// Copies a file, with at most one byte more than the remaining limit. Returns the number of copied bytes.
fn copy(root: &Dir, inside: &Path, to: &Path, left: u64) -> io::Result<u64> {
    let mut options = OpenOptions::new();
    let file = root.open_with(inside, super::unblocked(options.read(true).follow(FollowSymlinks::No)))?;
    let about = file.metadata()?;
    if !about.is_file() {
        return Err(io::Error::other("expected a file, got another kind"));
    }
    let target = to.join(inside);
    let mut made = private(fs::File::options().write(true).create_new(true)).open(&target)?;
    let copied = io::copy(&mut io::Read::take(file, left.saturating_add(1)), &mut made)?;
    keep_executable(&about, &made)?;
    Ok(copied)
}

/// An executable script stays executable.
#[cfg(unix)]
fn keep_executable(was: &cap_std::fs::Metadata, made: &fs::File) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;

    use cap_std::fs::MetadataExt;
    if was.mode() & 0o111 == 0 { Ok(()) } else { made.set_permissions(fs::Permissions::from_mode(0o700)) }
}

#[cfg(not(unix))]
fn keep_executable(_: &cap_std::fs::Metadata, _: &fs::File) -> io::Result<()> {
    Ok(())
}
