//! The names in a folder, without following links out of it.

use std::collections::{BTreeMap, HashMap};
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{CWD, FileType, Mode, OFlags, openat};
use sha2::{Digest, Sha256};

use super::below::Below;
use crate::clock::unix_ms;
use crate::failure::Failure;

/// The most names in the folder of a plan, when a run begins and after each of its tools.
const MOST_NAMES: usize = 200_000;
/// The most bytes of its files.
const MOST_BYTES: u64 = 2 << 30;

/// The longest path of a folder that is listed. The system still takes it with the longest name behind it.
const LONGEST_PATH: usize = 3_800;

/// The kind of a name in a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    File,
    Folder,
    Link,
    /// A pipe, a socket or a device.
    Special,
    /// A folder or a file that is mounted. It is no part of the folder around it, and hides the entry below it.
    Mounted,
    /// A folder with so long a path that its content is not listed. A rollback takes it away as a whole.
    Deep,
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
    /// The length of a file.
    pub(super) length: u64,
    /// The digest of a file, the target of a link; none where it cannot be read, or need not be.
    pub(super) content: Option<String>,
}

/// The folder itself, under an empty name, and every name below it, in the order of their bytes: a folder comes before its content.
pub(super) type Listing = BTreeMap<OsString, About>;

/// The digests of files by their stamps, so that a file that did not change is not read again.
pub(super) type Digests = HashMap<OsString, (Stamp, String)>;

/// The marks of a change of a file: device and inode, length, and the time of the last change.
pub(super) type Stamp = (u64, u64, u64, i64);

/// The files of a folder that are read.
#[derive(Debug, Clone, Copy)]
pub(super) enum Reading<'l> {
    /// All, of a folder within the limits.
    All,
    /// Those that are as long as in that listing. A file of another length differs, and may be a hole of any size.
    AsLongAs(&'l Listing),
}

/// The size of a folder, as far as it was looked at.
#[derive(Debug, Default)]
struct Size {
    names: usize,
    bytes: u64,
}

impl Size {
    /// Counts a name, before its content is read.
    fn add(&mut self, kind: Kind, found: &Found) -> io::Result<()> {
        self.names += 1;
        self.bytes = self.bytes.saturating_add(length(kind, found));
        if self.is_too_large() { Err(io::ErrorKind::FileTooLarge.into()) } else { Ok(()) }
    }

    fn is_too_large(&self) -> bool {
        self.names > MOST_NAMES || self.bytes > MOST_BYTES
    }

    /// Fails where the folder is too large, also after a look that failed.
    fn check(&self, root: &Path) -> Result<(), Failure> {
        if self.is_too_large() {
            let why = format!("{} has more than {MOST_NAMES} names or {MOST_BYTES} bytes", root.display());
            return Err(Failure::new(why).with_help("name what a build makes in the plan's `ignore`"));
        }
        Ok(())
    }
}

/// Lists a folder, without the names to ignore.
pub(super) fn list(
    root: &Path,
    ignore: &[PathBuf],
    reading: Reading<'_>,
    digests: &mut Digests,
) -> Result<Listing, Failure> {
    check_own(root).map_err(|error| Failure::io("use", root, &error))?;
    let mut size = Size::default();
    let own = fs::symlink_metadata(root).map_err(|error| Failure::io("read", root, &error))?;
    let mut listing = Listing::from([(OsString::new(), about(Kind::Folder, &own.into(), None))]);
    // The rollback opens a folder that is closed.
    let walked = walk(root, ignore, io::ErrorKind::PermissionDenied, |path, name, found, kind| {
        let name = name.as_os_str();
        let is_read = match reading {
            Reading::All => size.add(kind, found).map(|()| true)?,
            Reading::AsLongAs(was) => was.get(name).is_some_and(|was| was.length == length(kind, found)),
        };
        let content = if is_read { content(path, name, kind, found, digests)? } else { None };
        listing.insert(name.to_owned(), about(kind, found, content));
        Ok(())
    });
    size.check(root)?;
    walked.map(|()| listing)
}

/// Fails for a folder that is too large to be kept, before it is read as a whole, and for one that cannot be. In place it fails for a file
/// with two names in the folder too: a rollback would put two files in its place.
pub(super) fn check_size(root: &Path, ignore: &[PathBuf], in_place: bool) -> Result<(), Failure> {
    let mut size = Size::default();
    let (mut linked, mut pair) = (HashMap::new(), None);
    let walked = walk(root, ignore, io::ErrorKind::NotFound, |path, _, found, kind| {
        size.add(kind, found)?;
        if let Some(file) = linked_file(found).filter(|_| in_place && kind == Kind::File) {
            let before = linked.insert(file, path.to_path_buf());
            pair = pair.take().or(before.map(|before| (before, path.to_path_buf())));
        }
        if pair.is_some() { Err(io::ErrorKind::AlreadyExists.into()) } else { Ok(()) }
    });
    size.check(root)?;
    if let Some((one, other)) = pair {
        let why = format!(
            "{} and {} are one file (a hard link), and a rollback would make two of it",
            one.display(),
            other.display()
        );
        return Err(Failure::new(why)
            .with_help("name both in the plan's `ignore`, or work in a copy (without `in_place`)"));
    }
    walked
}

/// Calls `each` with every name in a folder but those to ignore. A name that is gone by the time it is looked at is left out: a process may
/// still take its temporary files away. A folder that cannot be opened for the reason `passed` is passed over.
fn walk(
    root: &Path,
    ignore: &[PathBuf],
    passed: io::ErrorKind,
    mut each: impl FnMut(&Path, &Path, &Found, Kind) -> io::Result<()>,
) -> Result<(), Failure> {
    let cannot = |path: &Path, error: io::Error| Failure::io("read", path, &error);
    let own = fs::symlink_metadata(root).map_err(|error| cannot(root, error))?;
    let system = (own.dev(), mount(CWD, root));
    let mut open = vec![PathBuf::new()];
    while let Some(folder) = open.pop() {
        let path = root.join(&folder);
        let opened = fs::read_dir(&path).and_then(|entries| Ok((entries, File::open(&path)?)));
        let (entries, here) = match opened {
            Err(error) if error.kind() == passed => continue,
            opened => opened.map_err(|error| cannot(&path, error))?,
        };
        for entry in entries {
            let entry = entry.map_err(|error| cannot(&path, error))?;
            let last = entry.file_name();
            let (path, name) = (entry.path(), folder.join(&last));
            if ignore.contains(&name) {
                continue;
            }
            // One call for each name, by the open folder: a run of many tools does little else.
            let found = looked(&here, Path::new(&last)).map_or_else(|| entry.metadata().map(Found::from), Ok);
            let found = found.and_then(|found| {
                let kind = kind(&path, &found, (found.id.0, found.mount) == system);
                each(&path, &name, &found, kind).map(|()| kind)
            });
            match found {
                Err(error) if error.kind() == io::ErrorKind::NotFound || error.kind() == passed => {}
                found => {
                    let kind = found.map_err(|error| cannot(&path, error))?;
                    open.extend((kind == Kind::Folder).then_some(name));
                }
            }
        }
    }
    Ok(())
}

fn kind(path: &Path, found: &Found, is_of_root: bool) -> Kind {
    match FileType::from_raw_mode(found.mode as _) {
        FileType::Symlink => Kind::Link,
        _ if !is_of_root => Kind::Mounted,
        FileType::RegularFile => Kind::File,
        kind if kind != FileType::Directory => Kind::Special,
        _ if path.as_os_str().len() > LONGEST_PATH => Kind::Deep,
        _ if path.join("command-center").join("PENDING").is_dir() => Kind::Runs,
        _ => Kind::Folder,
    }
}

fn content(
    path: &Path,
    name: &OsStr,
    kind: Kind,
    found: &Found,
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
            let digest = match digest(path, found.length) {
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return Ok(None),
                digest => digest?,
            };
            if is_settled {
                digests.insert(name.to_os_string(), (stamp, digest.clone()));
            }
            Ok(Some(digest))
        }
        Kind::Folder | Kind::Deep | Kind::Special | Kind::Mounted | Kind::Runs => Ok(None),
    }
}

/// A path as a message has it: of a long one the beginning and the end.
pub(super) fn shown(path: &Path) -> String {
    const LONGEST: usize = 512;
    let text = path.to_string_lossy();
    if text.len() <= LONGEST {
        return text.into_owned();
    }
    let begin = text.floor_char_boundary(LONGEST / 2);
    let end = text.ceil_char_boundary(text.len() - LONGEST / 4);
    format!("{}[… {} bytes …]{}", &text[..begin], end - begin, &text[end..])
}

/// A name without `.`, as names are listed.
pub(super) fn plain(name: &Path) -> PathBuf {
    name.components().filter(|part| *part != Component::CurDir).collect()
}

/// The times of file systems go in steps of two seconds at most: a file that changed within one may change again unseen.
const TICK_MS: u64 = 3_000;

/// What the system says of a name.
pub(super) struct Found {
    mode: u32,
    owner: (u32, u32),
    length: u64,
    links: u64,
    /// Device and inode.
    id: (u64, u64),
    /// The time of the last change, in nanoseconds.
    changed: i64,
    /// One file system may be mounted twice. 0 where that is not known.
    mount: u64,
}

impl From<Metadata> for Found {
    fn from(found: Metadata) -> Self {
        Found {
            mode: found.mode(),
            owner: (found.uid(), found.gid()),
            length: found.len(),
            links: found.nlink(),
            id: (found.dev(), found.ino()),
            changed: nanoseconds(found.ctime(), found.ctime_nsec()),
            mount: 0,
        }
    }
}

fn nanoseconds(s: i64, ns: i64) -> i64 {
    s.saturating_mul(1_000_000_000).saturating_add(ns)
}

/// Looks at a name in a folder. None where the system has no such call, and for a name that it fails for.
#[cfg(target_os = "linux")]
fn looked(folder: impl AsFd, name: &Path) -> Option<Found> {
    use rustix::fs::{AtFlags, StatxFlags, makedev, statx};
    let flags = AtFlags::SYMLINK_NOFOLLOW | AtFlags::NO_AUTOMOUNT;
    let found = statx(folder, name, flags, StatxFlags::BASIC_STATS | StatxFlags::MNT_ID).ok()?;
    Some(Found {
        mode: found.stx_mode.into(),
        owner: (found.stx_uid, found.stx_gid),
        length: found.stx_size,
        links: found.stx_nlink.into(),
        id: (makedev(found.stx_dev_major, found.stx_dev_minor), found.stx_ino),
        changed: nanoseconds(found.stx_ctime.tv_sec, found.stx_ctime.tv_nsec.into()),
        mount: found.stx_mnt_id,
    })
}

#[cfg(not(target_os = "linux"))]
fn looked(_: impl AsFd, _: &Path) -> Option<Found> {
    None
}

/// The mount of a name in a folder.
pub(super) fn mount(folder: impl AsFd, name: &Path) -> u64 {
    looked(folder, name).map_or(0, |found| found.mount)
}

pub(super) fn about(kind: Kind, found: &Found, content: Option<String>) -> About {
    let mode = if kind == Kind::Link { 0 } else { found.mode & 0o7777 };
    About { kind, mode, owner: found.owner, length: length(kind, found), content }
}

fn length(kind: Kind, found: &Found) -> u64 {
    if kind == Kind::File { found.length } else { 0 }
}

/// The file of a name, where it has another name too.
fn linked_file(found: &Found) -> Option<(u64, u64)> {
    (found.links > 1).then_some(found.id)
}

/// The stamp, and whether any later change would show in it.
fn stamp(found: &Found) -> (Stamp, bool) {
    let changed_ms = u64::try_from(found.changed / 1_000_000).unwrap_or(u64::MAX);
    let is_settled = changed_ms.saturating_add(TICK_MS) < unix_ms();
    ((found.id.0, found.id.1, found.length, found.changed), is_settled)
}

/// The first name that the user of this process could not give its owner back.
pub(super) fn not_ours(listing: &Listing) -> Option<&OsString> {
    use rustix::process::{getegid, geteuid, getgroups};
    let user = geteuid();
    let mut groups = vec![getegid().as_raw()];
    groups.extend(getgroups().unwrap_or_default().into_iter().map(|group| group.as_raw()));
    let is_ours = |(of, group): (u32, u32)| of == user.as_raw() && groups.contains(&group);
    listing.iter().find(|(_, about)| !user.is_root() && !is_ours(about.owner)).map(|(name, _)| name)
}

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
        self.is_taken(&fs::metadata(&self.path)?)
    }

    /// Opens a folder in it, to work in. No part of the way is a link: a command is approved for the folder of that name, and a tool before it
    /// may have put a link there. A folder that takes its place later is not worked in.
    pub(super) fn enter(&self, folder: &Path) -> io::Result<OwnedFd> {
        // A folder need not be readable to be worked in.
        #[cfg(target_os = "linux")]
        const ENTERED: OFlags = OFlags::PATH;
        #[cfg(not(target_os = "linux"))]
        const ENTERED: OFlags = OFlags::RDONLY;
        let flags = ENTERED | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut way = self.path.clone();
        let open = |dir: BorrowedFd<'_>, name: &Path, way: &Path| {
            // Whatever else is there has a message of its own.
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

    /// The folder, open. Another one that takes its place later is not touched.
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
    Ok(id_of(&fs::metadata(path)?))
}

fn id_of(found: &Metadata) -> String {
    format!("{}:{}", found.dev(), found.ino())
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
    // The folder itself has no name that could be left out.
    let help = |name: &OsString| match (name.is_empty(), in_place) {
        (false, false) => "name it in the plan's `ignore`",
        (false, true) => "name it in the plan's `ignore`, or let tools work in a copy: leave `in_place` out",
        (true, true) => "let tools work in a copy: leave `in_place` out",
        (true, false) => "name another folder as the plan's `folder`",
    };
    let refused = |name: &OsString, why: &str| {
        Failure::new(format!("cannot keep {}: {why}", named(from, name).display())).with_help(help(name))
    };
    for (kind, why) in [
        (Kind::Special, "it is a special file"),
        (Kind::Mounted, "it is a file system of its own, or a mounted file"),
        (Kind::Deep, "its path is too long for the system to take the names in it"),
    ] {
        if let Some((name, _)) = listing.iter().find(|(_, about)| about.kind == kind) {
            return Err(refused(name, why));
        }
    }
    let unread = |about: &About| about.kind == Kind::File && about.content.is_none();
    if let Some((name, _)) = listing.iter().find(|(_, about)| unread(about)) {
        return Err(refused(name, "it cannot be read"));
    }
    if in_place && let Some((name, extra)) = with_extra(from, listing) {
        return Err(refused(name, &format!("it has {extra}, which a rollback would not put back")));
    }
    match not_ours(listing) {
        Some(name) if in_place => {
            Err(refused(name, "it belongs to another user or group, and a rollback could not restore that"))
        }
        _ => Ok(()),
    }
}

/// A name in a folder; the empty one is the folder.
fn named(from: &Path, name: &OsStr) -> PathBuf {
    if name.is_empty() { from.to_owned() } else { from.join(name) }
}

/// A name with an ACL or extended attributes, and the first of them. Labels of SELinux are those of the place, and are given anew.
fn with_extra<'l>(from: &Path, listing: &'l Listing) -> Option<(&'l OsString, String)> {
    let mut names = vec![0; 64 << 10];
    listing.iter().find_map(|(name, _)| {
        let path = named(from, name);
        // Where the file system has none, there are none.
        let length = rustix::fs::llistxattr(&path, &mut names[..]).ok()?;
        let all = names[..length].split(|byte| *byte == 0).filter(|extra| !extra.is_empty());
        let mut kept = all.filter(|extra| *extra != b"security.selinux");
        let extra = kept.next()?;
        Some(match extra {
            b"system.posix_acl_access" | b"system.posix_acl_default" => (name, "an ACL".to_owned()),
            extra => (name, format!("the extended attribute {:?}", String::from_utf8_lossy(extra))),
        })
    })
}

/// Copies the listed names to `to`, which must not exist, with modes, and with owners as far as that is allowed.
pub(super) fn copy(from: &Path, to: &Path, listing: &Listing) -> Result<(), Failure> {
    let cannot = |what, name: &OsStr, error: io::Error| Failure::io(what, &to.join(name), &error);
    let made = fs::create_dir(to).and_then(|()| Below::open(to));
    let below = made.map_err(|error| cannot("copy to", OsStr::new(""), error))?;
    for (name, about) in listing.iter().filter(|(name, _)| !name.is_empty()) {
        below.put(&from.join(name), name, about).map_err(|error| cannot("copy to", name, error))?;
    }
    // From the innermost out, once all is in it: a folder may be one that nothing can be written to.
    for (name, about) in listing.iter().rev().filter(|(_, about)| about.kind != Kind::Runs) {
        match below.own(name, about) {
            // Of another user: the copy is of this one, with the mode alone.
            // So it is in a user namespace that does not know the owner.
            Err(error)
                if matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::InvalidInput) =>
            {
                let owner = below.owner(name);
                owner.and_then(|owner| below.own(name, &About { owner, ..about.clone() }))
            }
            owned => owned,
        }
        .map_err(|error| cannot("set the mode of", name, error))?;
    }
    Ok(())
}

/// Opens a file to be read as it was found. A link or a pipe that took its place is refused, and growth is not read.
pub(super) fn opened(path: &Path, length: u64) -> io::Result<impl Read> {
    let mut options = fs::OpenOptions::new();
    crate::input::opened(options.read(true), path, crate::input::Links::Refused).map(|file| file.take(length))
}

/// The digest of the content of a file.
fn digest(path: &Path, length: u64) -> io::Result<String> {
    // Most files are short, and are read often while their time may hide a change.
    let most = length.clamp(1, 1 << 16) as usize;
    let (mut file, mut hash, mut piece) = (opened(path, length)?, Sha256::new(), vec![0; most]);
    loop {
        match file.read(&mut piece)? {
            0 => break,
            length => hash.update(&piece[..length]),
        }
    }
    // By a table: a formatter for each byte takes longer than the digest of a short file.
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digits = |byte: &u8| [byte >> 4, byte & 15].map(|digit| char::from(DIGITS[usize::from(digit)]));
    Ok(hash.finalize().iter().flat_map(digits).collect())
}
