//! Copies of a folder, and the attributes that no copy has.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::{fs, io};

use super::below::Below;
use super::folder::{About, Kind, Listing};
use crate::failure::Failure;

/// Refuses names that could not be restored, before anything is made.
pub(super) fn check_copy(from: &Path, listing: &Listing, in_place: bool) -> Result<(), Failure> {
    // The folder itself has no name to ignore.
    let help = |name: &OsString| match (name.is_empty(), in_place) {
        (false, false) => "name it in the plan's `ignore`",
        (false, true) => "name it in the plan's `ignore`, or omit `in_place`, so that tools work in a copy",
        (true, true) => "omit `in_place`, so that tools work in a copy",
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
        return Err(refused(name, &format!("it has {extra}, which a rollback does not restore")));
    }
    match not_ours(listing) {
        Some(name) if in_place => {
            Err(refused(name, "it belongs to another user or group, which a rollback cannot restore"))
        }
        _ => Ok(()),
    }
}

/// A name in a folder; the empty one is the folder.
fn named(from: &Path, name: &OsStr) -> PathBuf {
    if name.is_empty() { from.to_owned() } else { from.join(name) }
}

/// A name with an ACL or extended attributes, and the first of them. A label of SELinux belongs to the place, and is
/// assigned again.
fn with_extra<'l>(from: &Path, listing: &'l Listing) -> Option<(&'l OsString, String)> {
    let mut names = vec![0; 64 << 10];
    listing.iter().find_map(|(name, _)| {
        let path = named(from, name);
        // A file system without extended attributes has none.
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

/// Copies the listed names to `to`, which must not exist, with modes, and with owners if permitted.
pub(super) fn copy(from: &Path, to: &Path, listing: &Listing) -> Result<(), Failure> {
    let cannot = |what, name: &OsStr, error: io::Error| Failure::io(what, &to.join(name), &error);
    let made = fs::create_dir(to).and_then(|()| Below::open(to));
    let below = made.map_err(|error| cannot("copy to", OsStr::new(""), error))?;
    for (name, about) in listing.iter().filter(|(name, _)| !name.is_empty()) {
        below.put(&from.join(name), name, about).map_err(|error| cannot("copy to", name, error))?;
    }
    // From the innermost out, after the content: a folder may be read-only.
    for (name, about) in listing.iter().rev().filter(|(_, about)| about.kind != Kind::Runs) {
        match below.own(name, about) {
            // An entry of another user: the copy belongs to this user, with the mode alone. A user namespace that does not
            // know the owner gives this error.
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

/// The first name with an owner that this process could not restore.
fn not_ours(listing: &Listing) -> Option<&OsString> {
    use rustix::process::{getegid, geteuid, getgroups};
    let user = geteuid();
    let mut groups = vec![getegid().as_raw()];
    groups.extend(getgroups().unwrap_or_default().into_iter().map(|group| group.as_raw()));
    let is_ours = |(of, group): (u32, u32)| of == user.as_raw() && groups.contains(&group);
    listing.iter().find(|(_, about)| !user.is_root() && !is_ours(about.owner)).map(|(name, _)| name)
}
