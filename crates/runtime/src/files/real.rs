//! The file system of the machine.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::{ChangeToken, Disk, DiskFile, Open};

/// File system of the machine, based on `std::fs`. Locks are advisory: they exclude only other users of the lock.
#[derive(Debug, Clone, Copy, Default)]
pub struct RealDisk;

#[derive(Debug)]
struct RealFile(File);

impl RealDisk {
    /// Wraps an open file, for a disk that opens files in its own way.
    ///
    /// ```
    /// # fn main() -> std::io::Result<()> {
    /// let path = std::env::temp_dir().join(format!("runstate-opened-{}", std::process::id()));
    /// std::fs::write(&path, "here")?;
    /// let mut file = runstate_runtime::files::RealDisk::opened(std::fs::File::open(&path)?);
    /// assert_eq!(file.read_from(1, 2)?, b"er");
    /// # std::fs::remove_file(&path)
    /// # }
    /// ```
    pub fn opened(file: File) -> Box<dyn DiskFile> {
        Box::new(RealFile(file))
    }
}

/// An upper bound for the clock tick of file systems, which is at most two seconds. Two changes of a file within one
/// tick cannot be distinguished.
const TICK: Duration = Duration::from_secs(3);

impl Disk for RealDisk {
    fn open(&self, path: &Path, how: Open) -> io::Result<Box<dyn DiskFile>> {
        let mut options = OpenOptions::new();
        match how {
            Open::Read => options.read(true),
            Open::Write => options.write(true).create(true).truncate(true),
            Open::New => options.write(true).create_new(true),
            Open::Append => options.read(true).append(true).create(true),
        };
        private(&mut options);
        // A file that is written from its beginning replaces a link, and is not written through the link.
        if how == Open::Write && fs::symlink_metadata(path).is_ok_and(|found| is_of_others(&found)) {
            fs::remove_file(path)?;
            options.create_new(true);
        }
        // This check comes before the open, because opening a pipe waits for its other end.
        if fs::metadata(path).is_ok_and(|found| !found.is_file()) {
            let why = format!("{} is no file", path.display());
            return Err(io::Error::new(io::ErrorKind::IsADirectory, why));
        }
        Ok(Box::new(RealFile(options.open(path)?)))
    }

    #[cfg(unix)]
    fn open_folder(&self, path: &Path) -> io::Result<Option<Box<dyn DiskFile>>> {
        Ok(Some(Box::new(RealFile(File::open(path)?))))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    #[cfg(unix)]
    fn create_folder(&self, path: &Path) -> io::Result<()> {
        self.create_private_folder(path)
    }

    #[cfg(not(unix))]
    fn create_folder(&self, path: &Path) -> io::Result<()> {
        fs::create_dir(path)
    }

    #[cfg(unix)]
    fn create_private_folder(&self, path: &Path) -> io::Result<()> {
        use std::os::unix::fs::DirBuilderExt;
        fs::DirBuilder::new().mode(0o700).create(path)
    }

    fn remove_folder(&self, path: &Path) -> io::Result<()> {
        fs::remove_dir(path)
    }

    #[cfg(unix)]
    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        File::open(path)?.sync_all()
    }

    /// Does nothing. A folder cannot be opened for a sync here; the file system's own rules make names durable.
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

    fn is_link(&self, path: &Path) -> bool {
        fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink())
    }

    /// Returns `None` for a change within the last three seconds or in the future, because another change could have
    /// the same time.
    fn change_token(&self, path: &Path) -> io::Result<Option<ChangeToken>> {
        let change_token = change_token(&fs::metadata(path)?)?;
        Ok(Some(change_token).filter(|change_token| is_settled(change_token, now())))
    }
}

/// Returns whether this is a link, a pipe, or a file with another name.
fn is_of_others(found: &fs::Metadata) -> bool {
    !found.is_dir() && (!found.is_file() || has_names(found))
}

#[cfg(unix)]
fn has_names(found: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    found.nlink() > 1
}

#[cfg(not(unix))]
fn has_names(_: &fs::Metadata) -> bool {
    false
}

/// Restricts a new file to its owner, whatever the umask is.
#[cfg(unix)]
fn private(options: &mut OpenOptions) {
    use std::os::unix::fs::OpenOptionsExt;
    options.mode(0o600);
}

#[cfg(not(unix))]
fn private(_: &mut OpenOptions) {}

/// The token contains the time of the last change of the file's metadata. Unlike the modification time, that time
/// cannot be set.
#[cfg(unix)]
fn change_token(file: &fs::Metadata) -> io::Result<ChangeToken> {
    use std::os::unix::fs::MetadataExt;
    let changed = i128::from(file.ctime()) * 1_000_000_000 + i128::from(file.ctime_nsec());
    Ok(ChangeToken { file: file.ino(), length: file.len(), changed })
}

#[cfg(not(unix))]
fn change_token(file: &fs::Metadata) -> io::Result<ChangeToken> {
    let since = |time: SystemTime| time.duration_since(UNIX_EPOCH).unwrap_or_default();
    // A replacement file of the same name has another creation time.
    let made = file.created().map_or(0, |made| nanos(since(made)));
    let changed = nanos(since(file.modified()?));
    Ok(ChangeToken { file: u64::try_from(made).unwrap_or(u64::MAX), length: file.len(), changed })
}

fn is_settled(change_token: &ChangeToken, now: i128) -> bool {
    change_token.changed < now - nanos(TICK)
}

fn nanos(time: Duration) -> i128 {
    i128::try_from(time.as_nanos()).unwrap_or(i128::MAX)
}

#[expect(
    clippy::disallowed_methods,
    reason = "times of files are compared with nothing but the clock that made them"
)]
fn now() -> i128 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, nanos)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_link_is_replaced_and_not_written_through() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = std::env::temp_dir().join(format!("runstate-links-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let [mine, link, hard] = ["mine", "link", "hard"].map(|name| folder.join(name));
        fs::write(&mine, "mine").unwrap();
        symlink(&mine, &link).unwrap();
        fs::hard_link(&mine, &hard).unwrap();
        for link in [link, hard] {
            RealDisk.open(&link, Open::Write).unwrap().write(b"new").unwrap();
            assert_eq!(
                (fs::read(&mine).unwrap(), fs::read(&link).unwrap()),
                (b"mine".to_vec(), b"new".to_vec())
            );
            assert_eq!(fs::symlink_metadata(&link).unwrap().permissions().mode() & 0o777, 0o600);
        }
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_file_in_the_place_of_another_has_another_stamp() {
        let folder = std::env::temp_dir().join(format!("runstate-stamps-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let (path, beside) = (folder.join("state.json"), folder.join("state.json.new"));
        fs::write(&path, "old").unwrap();
        let of = |path: &Path| change_token(&fs::metadata(path).unwrap()).unwrap();
        let old = of(&path);
        assert_eq!(of(&path), old);
        fs::write(&beside, "new").unwrap();
        fs::rename(&beside, &path).unwrap();
        assert_ne!(of(&path), old, "of the same length, and of the same moment maybe");
        // On a busy machine, the tick may be over already.
        let is_new = (0..10).any(|_| {
            fs::write(&path, "newer").unwrap();
            RealDisk.change_token(&path).unwrap().is_none()
        });
        assert!(is_new, "it may change again within the moment");
        let gone = RealDisk.change_token(&beside).unwrap_err();
        assert_eq!(gone.kind(), io::ErrorKind::NotFound);
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn file_changed_three_seconds_ago_is_settled() {
        let second = 1_000_000_000;
        let at = |changed| ChangeToken { file: 1, length: 1, changed };
        for (changed, is_settled) in
            [(0, true), (6 * second, true), (7 * second, false), (99 * second, false)]
        {
            assert_eq!(super::is_settled(&at(changed), 10 * second), is_settled, "{changed}");
        }
    }
}
