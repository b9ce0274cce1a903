//! A disk on which no link below the folder of a store is followed: another user may have put it there, to have files of its choice read or
//! written.
//!
//! It is looked at before a file is opened. A link that is put there between the look and the opening is followed.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::files::{ChangeToken, Disk, DiskFile, Open};

#[derive(Debug)]
pub(super) struct Unlinked {
    pub(super) disk: Arc<dyn Disk>,
    /// It may be a link itself, and be reached through some: its user names it.
    pub(super) root: PathBuf,
}

impl Unlinked {
    /// Refuses a path with a link in it, or that is one.
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

    /// The same, where a link at the end is replaced, or taken away, and not followed.
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

    /// Nothing is read: the file is opened after that.
    fn stamp(&self, path: &Path) -> io::Result<Option<ChangeToken>> {
        self.disk.stamp(path)
    }

    fn is_link(&self, path: &Path) -> bool {
        self.disk.is_link(path)
    }

    fn read(&self, path: &Path, most: u64) -> io::Result<Vec<u8>> {
        self.check(path)?;
        self.disk.read(path, most)
    }
}
