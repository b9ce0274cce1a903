//! The working folder of a run's tools, known by device and inode.

use std::fs::{self, File, Metadata};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};
use std::time::UNIX_EPOCH;

use rustix::fs::{CWD, Mode, OFlags, openat};

use super::below::Below;

#[derive(Debug, Clone)]
pub(super) struct Work {
    pub(super) path: PathBuf,
    /// The id of the folder at the start of the run.
    pub(super) taken: Option<String>,
}

impl Work {
    /// Fails if another folder has replaced it.
    pub(super) fn check(&self) -> io::Result<()> {
        self.is_taken(&check_own(&self.path)?)
    }

    /// Opens a folder in it, as a working folder. No part of the path is a link: a command is approved for the folder of
    /// that name, and an earlier tool may have put a link there. A later replacement is not used.
    pub(super) fn enter(&self, folder: &Path) -> io::Result<OwnedFd> {
        // A working folder need not be readable.
        #[cfg(target_os = "linux")]
        const ENTERED: OFlags = OFlags::PATH;
        #[cfg(not(target_os = "linux"))]
        const ENTERED: OFlags = OFlags::RDONLY;
        let flags = ENTERED | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut way = self.path.clone();
        let open = |dir: BorrowedFd<'_>, name: &Path, way: &Path| {
            // Any other entry has its own message.
            openat(dir, name, flags, Mode::empty()).or_else(|error| check_own(way).and(Err(error.into())))
        };
        let mut open_folder = File::from(open(CWD, &way, &way)?);
        self.is_taken(&open_folder.metadata()?)?;
        for part in folder.components().filter(|part| matches!(part, Component::Normal(_))) {
            way.push(part);
            open_folder = open(open_folder.as_fd(), Path::new(part.as_os_str()), &way)?.into();
        }
        Ok(open_folder.into())
    }

    /// The open folder. A later replacement is not touched.
    pub(super) fn open(&self) -> io::Result<Below> {
        check_own(&self.path)?;
        let below = match Below::open(&self.path) {
            // A tool closed it.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                self.is_taken(&fs::metadata(&self.path)?)?;
                super::open_closed(&self.path, super::WRITE);
                Below::open(&self.path)?
            }
            below => below?,
        };
        self.is_taken(&below.own_metadata()?).map(|()| below)
    }

    fn is_taken(&self, found: &Metadata) -> io::Result<()> {
        match (&self.taken, id_of(found)) {
            (Some(taken), is) if *taken != is => Err(io::Error::other(format!(
                "{}: expected the folder of the run (device and inode {taken}), got another folder ({is}); nothing in it was \
                 changed",
                self.path.display()
            ))),
            _ => Ok(()),
        }
    }
}

/// The id of a folder, by device and inode.
pub(super) fn id(path: &Path) -> io::Result<String> {
    Ok(id_of(&fs::metadata(path)?))
}

/// The id of an entry that may be removed: a later entry can have its inode, and no file system with times of creation gives
/// it the same time.
pub(super) fn own_id(path: &Path) -> io::Result<String> {
    let found = fs::symlink_metadata(path)?;
    let made = found.created().ok().and_then(|made| made.duration_since(UNIX_EPOCH).ok());
    Ok(made.map_or_else(|| id_of(&found), |made| format!("{}:{}", id_of(&found), made.as_nanos())))
}

fn id_of(found: &Metadata) -> String {
    format!("{}:{}", found.dev(), found.ino())
}

/// Fails if a folder is a link, or missing: a tool has replaced it.
pub(super) fn check_own(folder: &Path) -> io::Result<Metadata> {
    let found = fs::symlink_metadata(folder)?;
    if found.is_dir() {
        return Ok(found);
    }
    let why = format!("{}: expected a folder, got another kind", folder.display());
    Err(io::Error::new(io::ErrorKind::NotADirectory, why))
}
