//! Changes below an open folder, which no link leaves.

use std::cell::RefCell;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use cap_fs_ext::DirExt;
use cap_std::fs::{Dir, DirBuilder, DirBuilderExt, OpenOptions, OpenOptionsExt, Permissions, PermissionsExt};
use rustix::fs::{AtFlags, CWD, FileType, Gid, Mode, Stat, Uid, chownat, fchmod, fchown, fstat, statat};

use super::folder::{About, Kind, Listing};

/// An open folder. Each part of a name in it is opened below the previous one and is no link, even if other processes change
/// the folder meanwhile.
#[derive(Debug)]
pub(super) struct Below {
    root: Rc<Dir>,
    /// The open folder of the last name: consecutive names usually share it.
    last: RefCell<(PathBuf, Rc<Dir>)>,
}

impl Below {
    pub(super) fn open(folder: &Path) -> io::Result<Self> {
        let about = fs::metadata(folder)?;
        if !about.is_dir() {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        // Not by its path alone, which would fail for a closed folder: its mode is changed through the open descriptor.
        let root = Rc::new(Dir::from_std_file(fs::File::open(folder)?));
        Ok(Below { last: RefCell::new((PathBuf::new(), Rc::clone(&root))), root })
    }

    /// The metadata of the folder itself.
    pub(super) fn own_metadata(&self) -> io::Result<fs::Metadata> {
        self.root.try_clone()?.into_std_file().metadata()
    }

    /// The folder of a name, and the last part of the name. The folder itself has no name.
    fn at<'n>(&self, name: &'n OsStr) -> io::Result<(Rc<Dir>, &'n Path)> {
        let (Some(around), Some(last)) = (Path::new(name).parent(), Path::new(name).file_name()) else {
            return Ok((Rc::clone(&self.root), Path::new("")));
        };
        let mut before = self.last.borrow_mut();
        if before.0 != around {
            let mut dir = Rc::clone(&self.root);
            for part in around.components() {
                dir = Rc::new(dir.open_dir_nofollow(part)?);
            }
            *before = (around.to_owned(), dir);
        }
        Ok((Rc::clone(&before.1), Path::new(last)))
    }

    pub(super) fn remove(&self, name: &OsStr, kind: Kind) -> io::Result<()> {
        let (dir, last) = self.at(name)?;
        match kind {
            Kind::Folder => dir.remove_dir(last),
            Kind::Deep => remove_deep(&dir, last),
            Kind::Mounted => Err(io::Error::other("another file system is mounted on it: unmount it")),
            _ => dir.remove_file(last),
        }
    }

    /// Makes a missing name: an empty folder, for the user alone until it gets a mode, or a copy of a file or a link.
    pub(super) fn put(&self, from: &Path, name: &OsStr, was: &About) -> io::Result<()> {
        let (dir, last) = self.at(name)?;
        match was.kind {
            Kind::Folder => dir.create_dir_with(last, DirBuilder::new().mode(0o700)),
            Kind::File => {
                let mut options = OpenOptions::new();
                let mut file = dir.open_with(last, options.write(true).create_new(true).mode(0o600))?;
                io::copy(&mut super::folder::opened(CWD, from, was.length)?, &mut file)?;
                // The other bits follow once it has its owner.
                file.set_permissions(Permissions::from_mode(was.mode & 0o777))
            }
            Kind::Link => dir.symlink_contents(fs::read_link(from)?, last),
            Kind::Special | Kind::Mounted | Kind::Deep => {
                Err(io::Error::other("it is a special file, is mounted, or has too long a path"))
            }
            Kind::Runs => Ok(()),
        }
    }

    pub(super) fn let_in(&self, name: &OsStr) -> io::Result<()> {
        let (dir, last) = self.at(name)?;
        set_mode(&dir, last, 0o700)
    }

    /// Restores the owner and the mode of a name, if they differ: a change of owner clears bits of the mode, so the mode
    /// comes last.
    pub(super) fn own(&self, name: &OsStr, was: &About) -> io::Result<()> {
        let (dir, last) = self.at(name)?;
        let mut is = looked(&dir, last)?;
        if owner(&is) != was.owner {
            let (user, group) = (Some(Uid::from_raw(was.owner.0)), Some(Gid::from_raw(was.owner.1)));
            match last.as_os_str().is_empty() {
                true => fchown(&*dir, user, group)?,
                false => chownat(&*dir, last, user, group, AtFlags::SYMLINK_NOFOLLOW)?,
            }
            is = looked(&dir, last)?;
        }
        if was.kind == Kind::Link || mode(&is) == was.mode { Ok(()) } else { set_mode(&dir, last, was.mode) }
    }

    /// Makes all changes in the folder durable, including changes of an earlier, killed process.
    #[cfg(target_os = "linux")]
    pub(super) fn sync(&self, _: &Listing) -> io::Result<()> {
        // One call for the file system: removed and renamed entries have no name to sync.
        Ok(rustix::fs::syncfs(&*self.root)?)
    }

    /// As above, name by name.
    #[cfg(not(target_os = "linux"))]
    pub(super) fn sync(&self, listing: &Listing) -> io::Result<()> {
        let is_synced = |about: &About| matches!(about.kind, Kind::File | Kind::Folder);
        for (name, _) in listing.iter().filter(|(name, about)| !name.is_empty() && is_synced(about)) {
            let (dir, last) = self.at(name)?;
            match dir.open(last) {
                // It is closed to the user, as before.
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {}
                opened => opened?.sync_all()?,
            }
        }
        Ok(rustix::fs::fsync(&*self.root)?)
    }

    pub(super) fn owner(&self, name: &OsStr) -> io::Result<(u32, u32)> {
        let (dir, last) = self.at(name)?;
        looked(&dir, last).map(|found| owner(&found))
    }

    /// Has a file other names? They may be outside, and a change of one changes all.
    pub(super) fn has_other_names(&self, name: &OsStr) -> bool {
        let found = self.at(name).and_then(|(dir, last)| looked(&dir, last));
        found.is_ok_and(|found| {
            FileType::from_raw_mode(found.st_mode) == FileType::RegularFile && found.st_nlink > 1
        })
    }
}

/// Removes a folder with its content. Closed folders, itself included, are opened first.
pub(super) fn remove_tree(folder: &Path) -> io::Result<()> {
    let (Some(parent), Some(name)) = (folder.parent(), folder.file_name()) else {
        return Err(io::ErrorKind::InvalidFilename.into());
    };
    Below::open(parent)?.remove(name, Kind::Deep)
}

/// Removes a folder with its content, at any depth: folders in it are moved up until each has none, so that few are open at
/// a time, and no path is long.
fn remove_deep(dir: &Dir, name: &Path) -> io::Result<()> {
    let top = let_in(dir, name)?;
    let (mut open, mut number) = (names(&top)?, 0_u64);
    while let Some((name, is_folder)) = open.pop() {
        if !is_folder {
            top.remove_file(&name)?;
            continue;
        }
        let folder = let_in(&top, &name)?;
        for (inner, is_folder) in names(&folder)? {
            if !is_folder {
                folder.remove_file(&inner)?;
                continue;
            }
            // Moving a folder rewrites its parent entry.
            drop(let_in(&folder, &inner)?);
            let to = loop {
                number += 1;
                let to = PathBuf::from(format!("moved-up-{number}"));
                if top.symlink_metadata(&to).is_err() {
                    break to;
                }
            };
            folder.rename(&inner, &top, &to)?;
            open.push((to, true));
        }
        top.remove_dir(&name)?;
    }
    dir.remove_dir(name)
}

/// Opens a folder that is no mount, after giving the user access.
fn let_in(dir: &Dir, name: &Path) -> io::Result<Dir> {
    if super::folder::mount(dir, name) != super::folder::mount(dir, Path::new(".")) {
        return Err(io::Error::other(format!("{} in it is mounted: unmount it", name.display())));
    }
    if mode(&looked(dir, name)?) & 0o700 != 0o700 {
        set_mode(dir, name, 0o700)?;
    }
    dir.open_dir_nofollow(name)
}

/// The names in a folder, and whether each is a folder.
fn names(dir: &Dir) -> io::Result<Vec<(PathBuf, bool)>> {
    dir.entries()?
        .map(|entry| entry.and_then(|it| Ok((it.file_name().into(), it.file_type()?.is_dir()))))
        .collect()
}

/// Sets the mode; for the folder itself, which may be closed by its name, through the open descriptor.
fn set_mode(dir: &Dir, name: &Path, mode: u32) -> io::Result<()> {
    if name.as_os_str().is_empty() {
        return Ok(fchmod(dir, Mode::from_raw_mode(mode as _))?);
    }
    dir.set_permissions(name, Permissions::from_mode(mode))
}

fn looked(dir: &Dir, name: &Path) -> io::Result<Stat> {
    if name.as_os_str().is_empty() {
        return Ok(fstat(dir)?);
    }
    Ok(statat(dir, name, AtFlags::SYMLINK_NOFOLLOW)?)
}

fn owner(found: &Stat) -> (u32, u32) {
    (found.st_uid, found.st_gid)
}

fn mode(found: &Stat) -> u32 {
    found.st_mode & 0o7777
}
