//! The file system of the machine.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use super::{Disk, DiskFile, Open};

/// The file system of the machine, by `std::fs`. Locks are advisory: they hold among those that ask for them.
#[derive(Debug, Clone, Copy, Default)]
pub struct RealDisk;

#[derive(Debug)]
struct RealFile(File);

impl Disk for RealDisk {
    fn open(&self, path: &Path, how: Open) -> io::Result<Box<dyn DiskFile>> {
        let mut options = OpenOptions::new();
        match how {
            Open::Read => options.read(true),
            Open::Write => options.write(true).create(true).truncate(true),
            Open::New => options.write(true).create_new(true),
            Open::Append => options.read(true).append(true).create(true),
        };
        Ok(Box::new(RealFile(options.open(path)?)))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn create_folder(&self, path: &Path) -> io::Result<()> {
        fs::create_dir(path)
    }

    fn remove_folder(&self, path: &Path) -> io::Result<()> {
        fs::remove_dir(path)
    }

    #[cfg(unix)]
    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        File::open(path)?.sync_all()
    }

    /// A folder cannot be opened to be synced here; names are durable by the file system's own rules.
    #[cfg(not(unix))]
    fn sync_folder(&self, _: &Path) -> io::Result<()> {
        Ok(())
    }

    fn list(&self, path: &Path) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(path)? {
            names.extend(entry?.file_name().into_string().ok());
        }
        names.sort_unstable();
        Ok(names)
    }
}

impl DiskFile for RealFile {
    fn len(&mut self) -> io::Result<u64> {
        Ok(self.0.metadata()?.len())
    }

    fn read_from(&mut self, offset: u64, most: u64) -> io::Result<Vec<u8>> {
        self.0.seek(SeekFrom::Start(offset))?;
        let mut bytes = Vec::new();
        (&mut self.0).take(most).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all(bytes)
    }

    fn cut(&mut self, length: u64) -> io::Result<()> {
        self.0.set_len(length)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.0.sync_all()
    }

    fn lock(&mut self) -> io::Result<()> {
        self.0.lock()
    }

    fn try_lock(&mut self) -> io::Result<()> {
        match self.0.try_lock() {
            Ok(()) => Ok(()),
            Err(TryLockError::WouldBlock) => Err(io::ErrorKind::WouldBlock.into()),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}
