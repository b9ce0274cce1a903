//! The disk of governed runs: below the state folder no link is followed and no file with a second name is written, since a
//! tool may have put either there. A file or folder that a tool closed to the user is opened.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use runstate_runtime::files::{Disk, DiskFile, Open, RealDisk};
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

use crate::output::{complain, printable};

#[derive(Debug)]
pub(super) struct OwnDisk {
    /// The state folder. The user names it, so it may be a link and be reached through links.
    root: PathBuf,
}

struct Name<'p> {
    path: &'p Path,
    /// The open folder of the name.
    folder: OwnedFd,
    last: &'p OsStr,
}

const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

impl OwnDisk {
    pub(super) fn new(root: &Path) -> Self {
        OwnDisk { root: root.to_path_buf() }
    }

    /// A name below the state folder; `None` for the folder itself, and for a path outside.
    fn named<'p>(&self, path: &'p Path) -> io::Result<Option<Name<'p>>> {
        let mut parts = path.strip_prefix(&self.root).unwrap_or(Path::new("")).components();
        let Some(last) = parts.next_back() else { return Ok(None) };
        let folder = OwnedFd::from(File::open(&self.root)?);
        let mut name = Name { path, folder, last: last.as_os_str() };
        for part in parts {
            name.folder = Name { last: part.as_os_str(), ..name }.entered()?;
        }
        Ok(Some(name))
    }
}

impl Name<'_> {
    fn entered(&self) -> io::Result<OwnedFd> {
        let open = || rustix::fs::openat(&self.folder, self.last, FOLDER, Mode::empty());
        self.opened_up(open).map_err(|error| match error {
            Errno::NOTDIR | Errno::LOOP => io::Error::new(
                io::ErrorKind::NotADirectory,
                format!(
                    "{}: expected a folder, got another kind (links are not followed)",
                    self.last.display()
                ),
            ),
            error => error.into(),
        })
    }

    fn found(&self) -> rustix::io::Result<Stat> {
        rustix::fs::statat(&self.folder, self.last, AtFlags::SYMLINK_NOFOLLOW)
    }

    /// Runs the operation, and on a permission error repeats it with the folder and the name opened to the user.
    fn opened_up<T>(&self, does: impl Fn() -> rustix::io::Result<T>) -> rustix::io::Result<T> {
        match does() {
            Err(Errno::ACCESS) => {}
            done => return done,
        }
        let folder = rustix::fs::fstat(&self.folder)?;
        if let Some(mode) = more_open(&folder) {
            rustix::fs::fchmod(&self.folder, mode)?;
            told(self.path.parent().unwrap_or(self.path), &folder, mode);
        }
        match self.found() {
            Ok(found) => {
                if let Some(mode) = more_open(&found) {
                    rustix::fs::chmodat(&self.folder, self.last, mode, AtFlags::empty())?;
                    told(self.path, &found, mode);
                }
            }
            // It will be made.
            Err(Errno::NOENT) => {}
            Err(error) => return Err(error),
        }
        does()
    }

    fn file(&self, how: Open) -> io::Result<File> {
        let no_file = |is: &str| io::Error::new(io::ErrorKind::IsADirectory, format!("it is {is}"));
        let flags = match how {
            Open::Read => OFlags::RDONLY,
            Open::Write => OFlags::WRONLY | OFlags::CREATE,
            Open::New => OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL,
            Open::Append => OFlags::RDWR | OFlags::CREATE | OFlags::APPEND,
        };
        // Without truncation: another name of the file would lose its content too.
        if how == Open::Write && self.found().is_ok_and(|found| is_of_others(&found)) {
            rustix::fs::unlinkat(&self.folder, self.last, AtFlags::empty())?;
        }
        let flags = flags | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let mode = Mode::RUSR | Mode::WUSR;
        let opened = self.opened_up(|| rustix::fs::openat(&self.folder, self.last, flags, mode));
        let file = match opened {
            Err(Errno::LOOP) => return Err(no_file("a link: links are not followed")),
            Err(Errno::NXIO) => return Err(no_file("a pipe or a socket")),
            opened => File::from(opened?),
        };
        let found = rustix::fs::fstat(&file)?;
        match kind(&found) {
            FileType::RegularFile if how != Open::Read && found.st_nlink > 1 => {
                Err(no_file("a file with a second name (a hard link)"))
            }
            FileType::RegularFile => {
                if how == Open::Write {
                    file.set_len(0)?;
                }
                Ok(file)
            }
            FileType::Directory => Err(no_file("a folder")),
            _ => Err(no_file("a pipe or a device")),
        }
    }
}

fn kind(found: &Stat) -> FileType {
    FileType::from_raw_mode(found.st_mode)
}

/// Is it a link, a pipe, or a file with another name?
fn is_of_others(found: &Stat) -> bool {
    match kind(found) {
        FileType::Directory => false,
        FileType::RegularFile => found.st_nlink > 1,
        _ => true,
    }
}

/// The mode that gives the user access to an own file or folder, if it differs.
fn more_open(found: &Stat) -> Option<Mode> {
    let least = match kind(found) {
        FileType::RegularFile => Mode::RUSR | Mode::WUSR,
        FileType::Directory => Mode::RWXU,
        _ => return None,
    };
    let mode = Mode::from_raw_mode(found.st_mode);
    let is_ours = found.st_uid == rustix::process::geteuid().as_raw() && !is_of_others(found);
    (is_ours && !mode.contains(least)).then(|| mode | least)
}

fn told(path: &Path, was: &Stat, is: Mode) {
    let was = Mode::from_raw_mode(was.st_mode).as_raw_mode();
    complain(&printable(&super::opened_up(path, was, is.as_raw_mode())));
}

impl Disk for OwnDisk {
    fn open(&self, path: &Path, how: Open) -> io::Result<Box<dyn DiskFile>> {
        let Some(name) = self.named(path)? else { return RealDisk.open(path, how) };
        if path.as_os_str().as_encoded_bytes().ends_with(b"/.") {
            return name.entered().and_then(|_| Err(io::ErrorKind::IsADirectory.into()));
        }
        name.file(how).map(RealDisk::opened)
    }

    fn open_folder(&self, path: &Path) -> io::Result<Option<Box<dyn DiskFile>>> {
        let Some(name) = self.named(path)? else { return RealDisk.open_folder(path) };
        Ok(Some(RealDisk::opened(name.entered()?.into())))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let (Some(from), Some(to)) = (self.named(from)?, self.named(to)?) else {
            return RealDisk.rename(from, to);
        };
        Ok(from.opened_up(|| rustix::fs::renameat(&from.folder, from.last, &to.folder, to.last))?)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let Some(name) = self.named(path)? else { return RealDisk.remove(path) };
        Ok(name.opened_up(|| rustix::fs::unlinkat(&name.folder, name.last, AtFlags::empty()))?)
    }

    fn create_folder(&self, path: &Path) -> io::Result<()> {
        let Some(name) = self.named(path)? else { return RealDisk.create_folder(path) };
        Ok(name.opened_up(|| rustix::fs::mkdirat(&name.folder, name.last, Mode::RWXU))?)
    }

    fn remove_folder(&self, path: &Path) -> io::Result<()> {
        let Some(name) = self.named(path)? else { return RealDisk.remove_folder(path) };
        Ok(name.opened_up(|| rustix::fs::unlinkat(&name.folder, name.last, AtFlags::REMOVEDIR))?)
    }

    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        let Some(name) = self.named(path)? else { return RealDisk.sync_folder(path) };
        File::from(name.entered()?).sync_all()
    }

    fn list(&self, path: &Path) -> io::Result<Vec<String>> {
        let Some(name) = self.named(path)? else { return RealDisk.list(path) };
        let mut names = Vec::new();
        for entry in Dir::read_from(name.entered()?.as_fd())? {
            let entry = entry?;
            names.extend(entry.file_name().to_str().ok().map(str::to_owned));
        }
        names.retain(|name| name != "." && name != "..");
        names.sort_unstable();
        Ok(names)
    }

    fn is_link(&self, path: &Path) -> bool {
        fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink())
    }
}
