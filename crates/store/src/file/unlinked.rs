//! A disk on which no link below the folder of a store is followed. Another user may have created such a link to have
//! other files read or written.
//!
//! The check precedes the opening of a file. A link that is created between the two is followed.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use runstate_runtime::files::{ChangeToken, Disk, DiskFile, Open};

#[derive(Debug)]
pub(super) struct Unlinked {
    pub(super) disk: Arc<dyn Disk>,
    /// The folder of the store. It may be a link, and its path may contain links: the user of the store names it.
    pub(super) root: PathBuf,
}

impl Unlinked {
    /// Refuses a path that is a link or contains one.
    fn check(&self, path: &Path) -> io::Result<()> {
        let Ok(inside) = path.strip_prefix(&self.root) else { return Ok(()) };
        let mut at = self.root.clone();
        for part in inside {
            at.push(part);
            if self.disk.is_link(&at) {
                let why = format!("{} is a link, and links are not followed", at.display());
                return Err(io::Error::new(ErrorKind::IsADirectory, why));
            }
        }
        Ok(())
    }

    /// Refuses a path whose folder is a link or contains one. A link at the end is replaced or removed, not followed.
    fn check_folder(&self, path: &Path) -> io::Result<()> {
        path.parent().map_or(Ok(()), |folder| self.check(folder))
    }
}

impl Disk for Unlinked {
    fn open(&self, path: &Path, how: Open) -> io::Result<Box<dyn DiskFile>> {
        match how {
            Open::Read | Open::Append => self.check(path)?,
            Open::Write | Open::New => self.check_folder(path)?,
        }
        self.disk.open(path, how)
    }

    fn open_folder(&self, path: &Path) -> io::Result<Option<Box<dyn DiskFile>>> {
        self.check(path)?;
        self.disk.open_folder(path)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.check_folder(from)?;
        self.check_folder(to)?;
        self.disk.rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.check_folder(path)?;
        self.disk.remove(path)
    }

    fn create_folder(&self, path: &Path) -> io::Result<()> {
        self.check(path)?;
        self.disk.create_folder(path)
    }

    fn create_private_folder(&self, path: &Path) -> io::Result<()> {
        self.check(path)?;
        self.disk.create_private_folder(path)
    }

    fn remove_folder(&self, path: &Path) -> io::Result<()> {
        self.check_folder(path)?;
        self.disk.remove_folder(path)
    }

    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        self.disk.sync_folder(path)
    }

    fn list(&self, path: &Path) -> io::Result<Vec<String>> {
        self.check(path)?;
        self.disk.list(path)
    }

    /// No content is read here: the file is opened later, with a check.
    fn change_token(&self, path: &Path) -> io::Result<Option<ChangeToken>> {
        self.disk.change_token(path)
    }

    fn is_link(&self, path: &Path) -> bool {
        self.disk.is_link(path)
    }

    fn read(&self, path: &Path, most: u64) -> io::Result<Vec<u8>> {
        self.check(path)?;
        self.disk.read(path, most)
    }
}
