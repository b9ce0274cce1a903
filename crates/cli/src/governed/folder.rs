//! The names in a folder, without following links out of it.

use std::collections::{BTreeMap, HashMap};
use std::ffi::OsString;
use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{CWD, FileType, Mode, OFlags, openat, readlinkat};
use sha2::{Digest, Sha256};

use super::work::check_own;
use crate::clock::unix_ms;
use crate::failure::Failure;

/// The maximum number of names in the folder of a plan, at the start of a run and after each of its tools.
const MOST_NAMES: usize = 200_000;
/// The maximum size of its files, in bytes.
const MOST_BYTES: u64 = 2 << 30;

/// The maximum path length of a listed folder. The system still accepts it with the longest name appended.
const LONGEST_PATH: usize = 3_800;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    File,
    Folder,
    Link,
    /// A pipe, a socket or a device.
    Special,
    /// A mounted folder or file. It is no part of the folder around it, and hides the entry below it.
    Mounted,
    /// A folder with a path too long to list its content. A rollback removes it as a whole.
    Deep,
    /// A folder of governed runs. Its content is not listed: a run does not work on it, and does not remove it.
    Runs,
}

/// The attributes that a rollback restores of a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct About {
    pub(super) kind: Kind,
    /// The permission bits. A link has none.
    pub(super) mode: u32,
    /// The user and the group.
    pub(super) owner: (u32, u32),
    pub(super) length: u64,
    /// The digest of a file, the target of a link; `None` if it cannot be read, or is not needed.
    pub(super) content: Option<Arc<str>>,
}

/// The folder itself, under an empty name, and every name below it, ordered by bytes: a folder precedes its content.
pub(super) type Listing = BTreeMap<OsString, About>;

/// The digests of files by their change tokens, so that an unchanged file is not read again.
pub(super) type Digests = HashMap<OsString, (Stamp, Arc<str>)>;

/// The change token of a file: device and inode, length, and the time of the last change.
pub(super) type Stamp = (u64, u64, u64, i64);

/// The files of a folder to read.
#[derive(Debug, Clone, Copy)]
pub(super) enum Reading<'l> {
    /// All files, of a folder within the limits.
    All,
    /// Files with the length of that listing. A file of another length differs, and may be a hole of any size.
    AsLongAs(&'l Listing),
}

/// The size of a folder, as far as it was read.
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

    /// Fails for a folder that is too large, even after an incomplete listing.
    fn check(&self, root: &Path) -> Result<(), Failure> {
        if self.is_too_large() {
            let why = format!("{} has more than {MOST_NAMES} names or {MOST_BYTES} bytes", root.display());
            return Err(Failure::new(why).with_help("name build outputs in the plan's `ignore`"));
        }
        Ok(())
    }
}

/// Lists a folder, without the ignored names.
pub(super) fn list(
    root: &Path,
    ignore: &[PathBuf],
    reading: Reading<'_>,
    digests: &mut Digests,
) -> Result<Listing, Failure> {
    let own = check_own(root).map_err(|error| Failure::io("use", root, &error))?;
    let (mut size, step_ms) = (Size::default(), step_ms(root));
    let mut listed = vec![(OsString::new(), about(Kind::Folder, &own.into(), None))];
    // The rollback opens a closed folder.
    let walked =
        walk(root, ignore, io::ErrorKind::PermissionDenied, |name, Entry { folder, last, found, kind }| {
            let name = name.into_os_string();
            let is_read = match reading {
                Reading::All => size.add(kind, found).map(|()| true)?,
                Reading::AsLongAs(was) => was.get(&name).is_some_and(|was| was.length == length(kind, found)),
            };
            let content = match kind {
                Kind::Link if is_read => {
                    let target = readlinkat(folder, last, Vec::new())?;
                    Some(target.as_bytes().escape_ascii().to_string().into())
                }
                Kind::File if is_read => match digests.get(&name) {
                    Some((before, digest)) if *before == found.stamp() => Some(Arc::clone(digest)),
                    _ => {
                        // At the time of the listing: a later read may contain a change in the same tick.
                        let is_settled = found.is_settled(step_ms);
                        let digest = digest(folder, last, found.length)?;
                        if let Some(digest) = digest.as_ref().filter(|_| is_settled) {
                            digests.insert(name.clone(), (found.stamp(), Arc::clone(digest)));
                        }
                        digest
                    }
                },
                _ => None,
            };
            listed.push((name, about(kind, found, content)));
            Ok(())
        });
    size.check(root)?;
    walked.map(|()| listed.into_iter().collect())
}

/// Fails for a folder that is too large, before it is read as a whole, and for an unreadable one. In place it also fails for
/// a file with two names in the folder: a rollback would make two files of it.
pub(super) fn check_size(root: &Path, ignore: &[PathBuf], in_place: bool) -> Result<(), Failure> {
    let mut size = Size::default();
    let (mut linked, mut pair) = (HashMap::new(), None);
    let walked = walk(root, ignore, io::ErrorKind::NotFound, |name, Entry { found, kind, .. }| {
        size.add(kind, found)?;
        if in_place && kind == Kind::File && found.links > 1 {
            let path = root.join(name);
            let before = linked.insert(found.id, path.clone());
            pair = pair.take().or(before.map(|before| (before, path)));
        }
        if pair.is_some() { Err(io::ErrorKind::AlreadyExists.into()) } else { Ok(()) }
    });
    size.check(root)?;
    if let Some((one, other)) = pair {
        let why = format!(
            "{} and {} are one file (a hard link), and a rollback would create two files",
            one.display(),
            other.display()
        );
        return Err(Failure::new(why)
            .with_help("name both in the plan's `ignore`, or work in a copy (without `in_place`)"));
    }
    walked
}

/// An entry of a traversal.
struct Entry<'w> {
    /// The open folder of the entry.
    folder: &'w File,
    last: &'w Path,
    found: &'w Found,
    kind: Kind,
}

/// Calls `each` for every name below a folder except the ignored ones. A name that disappears meanwhile is omitted: a
/// process may still remove its temporary files. A folder that cannot be opened for the reason `passed` is skipped.
fn walk(
    root: &Path,
    ignore: &[PathBuf],
    passed: io::ErrorKind,
    mut each: impl FnMut(PathBuf, Entry<'_>) -> io::Result<()>,
) -> Result<(), Failure> {
    let cannot = |path: &Path, error: io::Error| Failure::io("read", path, &error);
    let own = fs::symlink_metadata(root).map_err(|error| cannot(root, error))?;
    let system = (own.dev(), mount(CWD, root));
    let mut open = vec![PathBuf::new()];
    while let Some(around) = open.pop() {
        let path = root.join(&around);
        let opened = fs::read_dir(&path).and_then(|entries| Ok((entries, File::open(&path)?)));
        let (entries, folder) = match opened {
            Err(error) if error.kind() == passed => continue,
            opened => opened.map_err(|error| cannot(&path, error))?,
        };
        for entry in entries {
            let entry = entry.map_err(|error| cannot(&path, error))?;
            let last = PathBuf::from(entry.file_name());
            let name = around.join(&last);
            if ignore.contains(&name) {
                continue;
            }
            // One call for each name, by the open folder: a run of many tools does little else.
            let found = looked(&folder, &last).map_or_else(|| entry.metadata().map(Found::from), Ok);
            let done = found.and_then(|found| {
                let kind = kind(&path, &last, &found, (found.id.0, found.mount) == system);
                open.extend((kind == Kind::Folder).then(|| name.clone()));
                each(name, Entry { folder: &folder, last: &last, found: &found, kind })
            });
            match done {
                Err(error) if error.kind() == io::ErrorKind::NotFound || error.kind() == passed => {}
                done => done.map_err(|error| cannot(&entry.path(), error))?,
            }
        }
    }
    Ok(())
}

fn kind(around: &Path, last: &Path, found: &Found, is_of_root: bool) -> Kind {
    match FileType::from_raw_mode(found.mode as _) {
        FileType::Symlink => Kind::Link,
        _ if !is_of_root => Kind::Mounted,
        FileType::RegularFile => Kind::File,
        kind if kind != FileType::Directory => Kind::Special,
        _ if around.as_os_str().len() + 1 + last.as_os_str().len() > LONGEST_PATH => Kind::Deep,
        _ if around.join(last).join("command-center").join("PENDING").is_dir() => Kind::Runs,
        _ => Kind::Folder,
    }
}

/// A path for a message: of a long one the beginning and the end.
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

/// A name without `.`, as in a listing.
pub(super) fn plain(name: &Path) -> PathBuf {
    name.components().filter(|part| *part != Component::CurDir).collect()
}

/// The time after which a second change of a file changes its timestamp, on any file system: the resolution is two seconds
/// or better.
const STEP_MS: u64 = 3_000;
/// As above, if the system uses the time of its last tick, of at most ten milliseconds.
#[cfg(target_os = "linux")]
const TICK_MS: u64 = 100;

/// The timestamp resolutions in a folder, for [`Found::is_settled`]. A file system of another machine or program uses its
/// clock.
#[cfg(target_os = "linux")]
fn step_ms(root: &Path) -> u64 {
    /// ext4, XFS, Btrfs, tmpfs.
    const OWN: [u64; 4] = [0xef53, 0x5846_5342, 0x9123_683e, 0x0102_1994];
    let is_own = |kind| u64::try_from(kind).is_ok_and(|kind| OWN.contains(&kind));
    if rustix::fs::statfs(root).is_ok_and(|found| is_own(found.f_type)) { TICK_MS } else { STEP_MS }
}

#[cfg(not(target_os = "linux"))]
fn step_ms(_: &Path) -> u64 {
    STEP_MS
}

pub(super) struct Found {
    mode: u32,
    owner: (u32, u32),
    length: u64,
    links: u64,
    /// Device and inode.
    id: (u64, u64),
    /// The time of the last change, in nanoseconds.
    changed: i64,
    /// One file system may be mounted twice. 0 if unknown.
    mount: u64,
}

impl Found {
    fn stamp(&self) -> Stamp {
        (self.id.0, self.id.1, self.length, self.changed)
    }

    /// Would any later change show in the change token?
    fn is_settled(&self, step_ms: u64) -> bool {
        // An old ext4 keeps whole seconds: its times have no digits below a millisecond.
        let step_ms = if self.changed % 1_000_000 == 0 { STEP_MS } else { step_ms };
        let changed_ms = u64::try_from(self.changed / 1_000_000).unwrap_or(u64::MAX);
        changed_ms.saturating_add(step_ms) < unix_ms()
    }
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

/// Reads a name in a folder. `None` if the system has no such call, and for a name with an error.
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

pub(super) fn mount(folder: impl AsFd, name: &Path) -> u64 {
    looked(folder, name).map_or(0, |found| found.mount)
}

fn about(kind: Kind, found: &Found, content: Option<Arc<str>>) -> About {
    let mode = if kind == Kind::Link { 0 } else { found.mode & 0o7777 };
    About { kind, mode, owner: found.owner, length: length(kind, found), content }
}

fn length(kind: Kind, found: &Found) -> u64 {
    if kind == Kind::File { found.length } else { 0 }
}

/// Opens a file for reading as it was found. A link or a pipe in its place is refused, and growth is not read.
pub(super) fn opened(folder: impl AsFd, name: &Path, length: u64) -> io::Result<impl Read> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(openat(folder, name, flags, Mode::empty())?);
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::Unsupported, "expected a file, got another kind"));
    }
    Ok(file.take(length))
}

/// The digest of the content of a file; `None` if it is closed to the user.
fn digest(folder: &File, name: &Path, length: u64) -> io::Result<Option<Arc<str>>> {
    let mut file = match opened(folder, name, length) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return Ok(None),
        file => file?,
    };
    // Most files are short.
    let (mut hash, mut piece) = (Sha256::new(), vec![0; length.clamp(1, 1 << 16) as usize]);
    loop {
        match file.read(&mut piece)? {
            0 => break,
            length => hash.update(&piece[..length]),
        }
    }
    let digit = |digit: u8| char::from_digit(digit.into(), 16);
    let digits = hash.finalize().into_iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]);
    Ok(Some(digits.flatten().collect::<String>().into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A digest is kept once no later change can have the same time.
    #[test]
    fn file_change_settles_after_the_filesystem_timestamp_step() {
        let now = i64::try_from(unix_ms()).unwrap();
        let of = |ms: i64, digits: i64| {
            let changed = (now - ms) * 1_000_000 + digits;
            Found { mode: 0, owner: (0, 0), length: 1, links: 1, id: (0, 0), changed, mount: 0 }
        };
        for (found, step_ms, is_settled) in [
            (of(50, 7), TICK_MS, false),
            (of(1_000, 7), TICK_MS, true),
            (of(1_000, 0), TICK_MS, false),
            (of(1_000, 7), STEP_MS, false),
            (of(4_000, 0), STEP_MS, true),
            (of(-60_000, 7), TICK_MS, false),
        ] {
            assert_eq!(found.is_settled(step_ms), is_settled, "{} and {step_ms} ms at {now}", found.changed);
        }
    }

    #[test]
    fn a_folder_is_listed_whose_path_has_3_800_bytes_and_no_more() {
        let folder =
            Found { mode: 0o040_700, owner: (0, 0), length: 1, links: 1, id: (0, 0), changed: 0, mount: 0 };
        let around = "x".repeat(3_000);
        let of =
            |bytes: usize| kind(Path::new(&around), Path::new(&"y".repeat(bytes - 3_001)), &folder, true);
        assert_eq!((of(3_800), of(3_801)), (Kind::Folder, Kind::Deep));
    }

    #[test]
    fn a_folder_has_200_000_names_and_2_gib_and_no_more() {
        let of_bytes =
            |length| Found { mode: 0, owner: (0, 0), length, links: 1, id: (0, 0), changed: 0, mount: 0 };
        let mut size = Size::default();
        for _ in 0..200_000 {
            size.add(Kind::File, &of_bytes(0)).unwrap();
        }
        size.check(Path::new("site")).unwrap();
        assert_eq!(size.add(Kind::Folder, &of_bytes(0)).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
        let mut size = Size::default();
        size.add(Kind::File, &of_bytes(2 << 30)).unwrap();
        size.check(Path::new("site")).unwrap();
        size.add(Kind::File, &of_bytes(1)).unwrap_err();
        assert!(size.check(Path::new("site")).is_err(), "also after a look that failed");
    }
}
