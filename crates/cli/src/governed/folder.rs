//! The names in a folder, without following links out of it.

use std::collections::{BTreeMap, HashMap};
use std::ffi::{OsStr, OsString};
use std::fs::{self, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::clock::unix_ms;
use crate::failure::Failure;

/// The most names in the folder of a plan, when a run begins.
const MOST_NAMES: usize = 200_000;
/// The most bytes of its files.
const MOST_BYTES: u64 = 2 << 30;

/// The kind of a name in a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    File,
    Folder,
    Link,
    /// A pipe, a socket or a device.
    Special,
    /// A folder in which governed runs are kept. Its content is not listed: it is no part of the work of a run, nor to be taken away by
    /// it.
    Runs,
}

/// All that a rollback restores of a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct About {
    pub(super) kind: Kind,
    /// The permission bits. A link has none.
    pub(super) mode: u32,
    /// The user and the group.
    pub(super) owner: (u32, u32),
    /// The digest of a file, the target of a link; none where it cannot be read.
    pub(super) content: Option<String>,
}

/// The folder itself, under an empty name, and every name below it, in the order of their bytes: a folder comes before its content.
pub(super) type Listing = BTreeMap<OsString, About>;

/// The digests of files by their stamps, so that a file that did not change is not read again.
pub(super) type Digests = HashMap<OsString, (Stamp, String)>;

/// The marks of a change of a file: device and inode, length, and the time of the last change.
pub(super) type Stamp = (u64, u64, u64, i64);

/// Lists a folder, without the names to ignore.
pub(super) fn list(root: &Path, ignore: &[PathBuf], digests: &mut Digests) -> Result<Listing, Failure> {
    check_own(root).map_err(|error| Failure::io("use", root, &error))?;
    let own = fs::symlink_metadata(root).map_err(|error| Failure::io("read", root, &error))?;
    let mut listing = Listing::from([(OsString::new(), about(Kind::Folder, &own, None))]);
    // The rollback opens a folder that is closed.
    walk(root, ignore, io::ErrorKind::PermissionDenied, |path, name, found, kind| {
        let content = content(path, name.as_os_str(), kind, found, digests)?;
        listing.insert(name.as_os_str().to_owned(), about(kind, found, content));
        Ok(())
    })?;
    Ok(listing)
}

/// Fails for a folder that is too large to be kept, before it is read as a whole, and for one that cannot be.
pub(super) fn check_size(root: &Path, ignore: &[PathBuf]) -> Result<(), Failure> {
    let (mut names, mut bytes) = (0, 0_u64);
    let walked = walk(root, ignore, io::ErrorKind::NotFound, |_, _, found, kind| {
        names += 1;
        bytes += if kind == Kind::File { found.len() } else { 0 };
        if names > MOST_NAMES || bytes > MOST_BYTES {
            Err(io::ErrorKind::FileTooLarge.into())
        } else {
            Ok(())
        }
    });
    if names > MOST_NAMES || bytes > MOST_BYTES {
        let why = format!("{} has more than {MOST_NAMES} names or {MOST_BYTES} bytes", root.display());
        return Err(Failure::new(why).with_help("name what a build makes in the plan's `ignore`"));
    }
    walked
}

/// Calls `each` with every name in a folder but those to ignore. A name that is gone by the time it is looked at is left out: a process may
/// still take its temporary files away. A folder that cannot be opened for the reason `passed` is passed over.
fn walk(
    root: &Path,
    ignore: &[PathBuf],
    passed: io::ErrorKind,
    mut each: impl FnMut(&Path, &Path, &Metadata, Kind) -> io::Result<()>,
) -> Result<(), Failure> {
    let cannot = |path: &Path, error: io::Error| Failure::io("read", path, &error);
    let mut open = vec![PathBuf::new()];
    while let Some(folder) = open.pop() {
        let path = root.join(&folder);
        let entries = match fs::read_dir(&path) {
            Err(error) if error.kind() == passed => continue,
            entries => entries.map_err(|error| cannot(&path, error))?,
        };
        for entry in entries {
            let entry = entry.map_err(|error| cannot(&path, error))?;
            let (path, name) = (entry.path(), folder.join(entry.file_name()));
            if ignore.contains(&name) {
                continue;
            }
            let found = entry.metadata().and_then(|found| {
                let kind = kind(&path, &found);
                each(&path, &name, &found, kind).map(|()| kind)
            });
            match found {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                found => {
                    let kind = found.map_err(|error| cannot(&path, error))?;
                    open.extend((kind == Kind::Folder).then_some(name));
                }
            }
        }
    }
    Ok(())
}

fn kind(path: &Path, found: &Metadata) -> Kind {
    match found.file_type() {
        kind if kind.is_symlink() => Kind::Link,
        kind if kind.is_file() => Kind::File,
        kind if !kind.is_dir() => Kind::Special,
        _ if path.join("command-center").join("PENDING").is_dir() => Kind::Runs,
        _ => Kind::Folder,
    }
}

fn content(
    path: &Path,
    name: &OsStr,
    kind: Kind,
    found: &Metadata,
    digests: &mut Digests,
) -> io::Result<Option<String>> {
    match kind {
        Kind::Link => {
            let target = fs::read_link(path)?;
            let bytes = target.as_os_str().as_encoded_bytes();
            Ok(Some(bytes.escape_ascii().to_string()))
        }
        Kind::File => {
            let (stamp, is_settled) = stamp(found);
            if let Some((before, digest)) = digests.get(name)
                && *before == stamp
            {
                return Ok(Some(digest.clone()));
            }
            let digest = match digest(path) {
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return Ok(None),
                digest => digest?,
            };
            if is_settled {
                digests.insert(name.to_os_string(), (stamp, digest.clone()));
            }
            Ok(Some(digest))
        }
        Kind::Folder | Kind::Special | Kind::Runs => Ok(None),
    }
}

/// A name without `.`, as names are listed.
pub(super) fn plain(name: &Path) -> PathBuf {
    name.components().filter(|part| *part != std::path::Component::CurDir).collect()
}

/// The times of file systems go in steps of two seconds at most: a file that changed within one may change again unseen.
const TICK_MS: u64 = 3_000;

#[cfg(unix)]
mod unix {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, lchown, symlink};

    use super::{About, Kind, Metadata, OsString, Path, Stamp, TICK_MS, fs, io, unix_ms};

    pub(in super::super) fn about(kind: Kind, found: &Metadata, content: Option<String>) -> About {
        let mode = if kind == Kind::Link { 0 } else { found.mode() & 0o7777 };
        About { kind, mode, owner: (found.uid(), found.gid()), content }
    }

    /// The stamp, and whether any later change would show in it.
    pub(super) fn stamp(found: &Metadata) -> (Stamp, bool) {
        let changed = found.ctime().saturating_mul(1_000_000_000).saturating_add(found.ctime_nsec());
        let changed_ms = u64::try_from(changed / 1_000_000).unwrap_or(u64::MAX);
        let is_settled = changed_ms.saturating_add(TICK_MS) < unix_ms();
        ((found.dev(), found.ino(), found.len(), changed), is_settled)
    }

    /// Gives a name the owner and the mode that it had, where they differ: an owner takes bits of the mode away, so the mode comes last.
    pub(in super::super) fn own(path: &Path, was: &About) -> io::Result<()> {
        let is = about(was.kind, &fs::symlink_metadata(path)?, None);
        if is.owner != was.owner {
            lchown(path, Some(was.owner.0), Some(was.owner.1))?;
        }
        if was.kind == Kind::Link || about(was.kind, &fs::symlink_metadata(path)?, None).mode == was.mode {
            return Ok(());
        }
        fs::set_permissions(path, fs::Permissions::from_mode(was.mode))
    }

    /// Lets the user into a folder.
    pub(in super::super) fn open(path: &Path) -> io::Result<()> {
        fs::set_permissions(path, fs::Permissions::from_mode(0o700))
    }

    pub(super) fn link(target: &Path, at: &Path) -> io::Result<()> {
        symlink(target, at)
    }

    /// The first name that the user of this process could not give its owner back.
    pub(in super::super) fn not_ours(listing: &super::Listing) -> Option<&OsString> {
        use rustix::process::{getegid, geteuid, getgroups};
        let user = geteuid();
        let mut groups = vec![getegid().as_raw()];
        groups.extend(getgroups().unwrap_or_default().into_iter().map(|group| group.as_raw()));
        let is_ours = |(of, group): (u32, u32)| of == user.as_raw() && groups.contains(&group);
        listing.iter().find(|(_, about)| !user.is_root() && !is_ours(about.owner)).map(|(name, _)| name)
    }
}
#[cfg(unix)]
pub(super) use unix::{about, not_ours, open, own};
#[cfg(unix)]
use unix::{link, stamp};

/// A system without modes and owners.
#[cfg(not(unix))]
mod elsewhere {
    use super::{About, Kind, Listing, Metadata, OsString, Path, Stamp, io};

    pub(in super::super) fn about(kind: Kind, _: &Metadata, content: Option<String>) -> About {
        About { kind, mode: 0, owner: (0, 0), content }
    }

    pub(super) fn stamp(found: &Metadata) -> (Stamp, bool) {
        ((0, 0, found.len(), 0), false)
    }

    pub(in super::super) fn own(_: &Path, _: &About) -> io::Result<()> {
        Ok(())
    }

    pub(in super::super) fn open(_: &Path) -> io::Result<()> {
        Ok(())
    }

    pub(super) fn link(_: &Path, _: &Path) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(in super::super) fn not_ours(_: &Listing) -> Option<&OsString> {
        None
    }
}
#[cfg(not(unix))]
pub(super) use elsewhere::{about, not_ours, open, own};
#[cfg(not(unix))]
use elsewhere::{link, stamp};

/// The folder that the tools of a run work in.
#[derive(Debug, Clone)]
pub(super) struct Work {
    pub(super) path: PathBuf,
    /// The id of the folder that the run began with.
    pub(super) taken: Option<String>,
}

impl Work {
    /// Fails where something else has taken the place of the folder.
    pub(super) fn check(&self) -> io::Result<()> {
        check_own(&self.path)?;
        match (&self.taken, id(&self.path)?) {
            (Some(taken), is) if *taken != is => Err(io::Error::other(format!(
                "{} is another folder than the one that the run began with, by device and inode (got {is}, expected {taken}); \
                 nothing in it was changed",
                self.path.display()
            ))),
            _ => Ok(()),
        }
    }
}

/// The id of a folder, by device and inode.
pub(super) fn id(path: &Path) -> io::Result<String> {
    let found = fs::metadata(path)?;
    #[cfg(unix)]
    return Ok(format!(
        "{}:{}",
        std::os::unix::fs::MetadataExt::dev(&found),
        std::os::unix::fs::MetadataExt::ino(&found)
    ));
    // A system without inodes: the path counts.
    #[cfg(not(unix))]
    return Ok(found.is_dir().then(|| path.display().to_string()).unwrap_or_default());
}

/// Fails where a folder is a link, or gone: a tool put another one in its place.
fn check_own(folder: &Path) -> io::Result<()> {
    if fs::symlink_metadata(folder)?.is_dir() {
        return Ok(());
    }
    let why = format!("{} is a folder no more: something else was put in its place", folder.display());
    Err(io::Error::new(io::ErrorKind::NotADirectory, why))
}

/// Refuses names that could not be put back, before anything is made.
pub(super) fn check_copy(from: &Path, listing: &Listing, in_place: bool) -> Result<(), Failure> {
    let refused = |name: &OsString, why: &str| {
        Failure::new(format!("cannot keep {}: {why}", from.join(name).display()))
            .with_help("name it in the plan's `ignore`")
    };
    if let Some((name, _)) = listing.iter().find(|(_, about)| about.kind == Kind::Special) {
        return Err(refused(name, "it is a special file"));
    }
    match not_ours(listing) {
        Some(name) if in_place => {
            Err(refused(name, "it belongs to another user or group, and a rollback could not restore that"))
        }
        _ => Ok(()),
    }
}

/// Copies the listed names to `to`, which must not exist, with modes, and with owners as far as that is allowed.
pub(super) fn copy(from: &Path, to: &Path, listing: &Listing) -> Result<(), Failure> {
    for (name, about) in listing {
        let target = if name.is_empty() { to.to_path_buf() } else { to.join(name) };
        put(&from.join(name), &target, about.kind)
            .map_err(|error| Failure::io("copy to", &target, &error))?;
    }
    // From the innermost out, once all is in it: a folder may be one that nothing can be written to.
    for (name, about) in listing.iter().rev().filter(|(_, about)| about.kind != Kind::Runs) {
        let target = to.join(name);
        match own(&target, about) {
            // Of another user: the copy is of this one, with the mode alone.
            // So it is in a user namespace that does not know the owner.
            Err(error)
                if matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::InvalidInput) =>
            {
                let found = fs::symlink_metadata(&target).map(|found| self::about(about.kind, &found, None));
                found.and_then(|found| own(&target, &About { owner: found.owner, ..about.clone() }))
            }
            owned => owned,
        }
        .map_err(|error| Failure::io("set the mode of", &target, &error))?;
    }
    Ok(())
}

/// Puts a copy of one name at `to`, where nothing is: an empty folder, a file, a link.
pub(super) fn put(from: &Path, to: &Path, kind: Kind) -> io::Result<()> {
    match kind {
        Kind::Folder => fs::create_dir(to),
        Kind::File => fs::copy(from, to).map(drop),
        Kind::Link => link(&fs::read_link(from)?, to),
        Kind::Special => Err(io::Error::other("it is a special file")),
        Kind::Runs => Ok(()),
    }
}

/// The digest of the content of a file.
fn digest(path: &Path) -> io::Result<String> {
    let (mut file, mut hash, mut piece) = (fs::File::open(path)?, Sha256::new(), vec![0; 1 << 16]);
    loop {
        match file.read(&mut piece)? {
            0 => break,
            length => hash.update(&piece[..length]),
        }
    }
    Ok(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}
