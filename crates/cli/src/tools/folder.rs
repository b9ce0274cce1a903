//! A folder that no path leaves.
//!
//! Every path is opened by `cap-std`, relative to the open folder: the kernel resolves it with `openat2` and
//! `RESOLVE_BENEATH` if available, and otherwise each component is opened below the previous one. So there is no time
//! between a check and a use in which a symlink, in place of the file or of a folder above it, could be inserted: a path
//! that would leave the folder is refused when it is opened. A symlink to a target inside is followed.

use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use cap_std::ambient_authority;
use cap_std::fs::{Dir, File, Metadata, OpenOptions};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::path::below;
use crate::runs::unblocked;

/// The maximum of entries of a listing.
const MOST_ENTRIES: usize = 1_000;

/// The maximum of bytes that the files of a run give to its model while one process drives it: they are kept, each in a few
/// forms.
const MOST_READ: u64 = 64 << 20;

/// An open folder and the maximum size of its files.
#[derive(Debug)]
pub(super) struct Folder {
    dir: Dir,
    max_bytes: u64,
    /// The number of bytes read in all.
    read: AtomicU64,
}

/// A listing of a folder.
#[derive(Debug)]
pub(super) struct Listing {
    /// The entries by name: `name`, `kind` and for a file its `bytes`.
    pub(super) entries: Vec<Value>,
    /// The number of entries beyond [`MOST_ENTRIES`].
    pub(super) left_out: usize,
}

impl Folder {
    pub(super) fn open(folder: &Path, max_bytes: u64) -> io::Result<Folder> {
        Ok(Folder::of(Dir::open_ambient_dir(folder, ambient_authority())?, max_bytes))
    }

    pub(super) fn of(dir: Dir, max_bytes: u64) -> Folder {
        Folder { dir, max_bytes, read: AtomicU64::new(0) }
    }

    /// Lists a folder, by name.
    pub(super) fn list(&self, path: &str) -> Result<Listing, String> {
        let refuse = |error| refused("list", path, &error);
        let mut names = Vec::new();
        for entry in self.dir.read_dir(below(path)?).map_err(refuse)? {
            let entry = entry.map_err(refuse)?;
            names.push((entry.file_name(), entry));
        }
        names.sort_by(|(a, _), (b, _)| a.cmp(b));
        let left_out = names.len().saturating_sub(MOST_ENTRIES);
        names.truncate(MOST_ENTRIES);
        let mut entries = Vec::with_capacity(names.len());
        for (name, entry) in names {
            // An entry's own metadata: of a symlink itself, not of its target.
            let about = entry.metadata().map_err(refuse)?;
            let mut entry = match kind(&about) {
                "file" => json!({"name": name.to_string_lossy(), "kind": "file", "bytes": about.len()}),
                kind => json!({"name": name.to_string_lossy(), "kind": kind}),
            };
            if name.to_str().is_none() {
                entry["no_tool_can_name_it"] = "its name is no UTF-8".into();
            }
            entries.push(entry);
        }
        self.count("list", path, entries.iter().map(|entry| entry.to_string().len()).sum())?;
        Ok(Listing { entries, left_out })
    }

    /// Counts the bytes given to a run. Its history keeps all of them.
    fn count(&self, verb: &str, path: &str, bytes: usize) -> Result<(), String> {
        let read = self.read.fetch_add(bytes as u64, Ordering::Relaxed) + bytes as u64;
        if read > MOST_READ {
            return Err(format!(
                "cannot {verb} {path:?}: expected at most {MOST_READ} bytes from the files of this run, got {read} with this file; \
                 `runstate resume` resets the count"
            ));
        }
        Ok(())
    }

    /// Reads the text of a file, for a run.
    pub(super) fn read(&self, path: &str) -> Result<String, String> {
        let text = self.text(path)?;
        self.count("read", path, text.len())?;
        Ok(text)
    }

    /// The text of a file, for approvers; none without a file.
    pub(super) fn current(&self, path: &str) -> Result<Option<String>, String> {
        match self.regular(below(path)?) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            _ => self.text(path).map(Some),
        }
    }

    /// The digest of a file of any kind and size, for approvers.
    pub(super) fn digest(&self, path: &str) -> Result<String, String> {
        let refuse = |error| refused("read", path, &error);
        let inside = below(path)?;
        self.regular(inside).map_err(refuse)?;
        let mut file =
            self.dir.open_with(inside, unblocked(OpenOptions::new().read(true))).map_err(refuse)?;
        regular(&file).map_err(refuse)?;
        let (mut hash, mut chunk) = (Sha256::new(), vec![0; 1 << 16]);
        loop {
            match file.read(&mut chunk).map_err(refuse)? {
                0 => break,
                count => hash.update(&chunk[..count]),
            }
        }
        let digits: String = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(format!("sha256:{digits}"))
    }

    /// The path behind links of folders and of the file; none if it has no link, or if it is not there.
    pub(super) fn target(&self, path: &str) -> Option<String> {
        let inside = below(path).ok()?;
        let (folder, name) = match self.dir.canonicalize(inside) {
            Ok(whole) => (whole, None),
            // A new file: its folder may be a link.
            Err(_) => (self.dir.canonicalize(inside.parent()?).ok()?, Some(inside.file_name()?)),
        };
        let target = name.map_or_else(|| folder.clone(), |name| folder.join(name));
        let plain: std::path::PathBuf = inside.components().collect();
        (target != plain).then(|| target.display().to_string())
    }

    /// Whether the path itself is a link.
    pub(super) fn is_link(&self, path: &str) -> bool {
        below(path)
            .is_ok_and(|inside| self.dir.symlink_metadata(inside).is_ok_and(|about| about.is_symlink()))
    }

    fn text(&self, path: &str) -> Result<String, String> {
        let refuse = |error| refused("read", path, &error);
        let inside = below(path)?;
        self.regular(inside).map_err(refuse)?;
        let file = self.dir.open_with(inside, unblocked(OpenOptions::new().read(true))).map_err(refuse)?;
        regular(&file).map_err(refuse)?;
        let mut bytes = Vec::new();
        file.take(self.max_bytes.saturating_add(1)).read_to_end(&mut bytes).map_err(refuse)?;
        if bytes.len() as u64 > self.max_bytes {
            let most = self.max_bytes;
            return Err(format!("cannot read {path:?}: expected at most {most} bytes, got more; {LARGER}"));
        }
        String::from_utf8(bytes).map_err(|error| {
            format!("cannot read {path:?}: byte {} is no UTF-8", error.utf8_error().valid_up_to())
        })
    }

    /// Writes a file with this text, and makes the folders above it.
    pub(super) fn write(&self, path: &str, text: &str) -> Result<(), String> {
        if text.len() as u64 > self.max_bytes {
            let (got, most) = (text.len(), self.max_bytes);
            return Err(format!("cannot write {path:?}: expected at most {most} bytes, got {got}; {LARGER}"));
        }
        let refuse = |error| refused("write", path, &error);
        let inside = below(path)?;
        if let Some(parent) = inside.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            self.dir.create_dir_all(parent).map_err(refuse)?;
        }
        match self.regular(inside) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(refuse(error)),
            _ => {}
        }
        let mut options = OpenOptions::new();
        let mut file =
            self.dir.open_with(inside, unblocked(options.write(true).create(true))).map_err(refuse)?;
        regular(&file).map_err(refuse)?;
        file.set_len(0).and_then(|()| file.write_all(text.as_bytes())).map_err(refuse)?;
        // The success of the call is about to be durable: its effect must be durable, too.
        file.sync_all().and_then(|()| self.sync_above(inside)).map_err(refuse)
    }

    /// Deletes a file, or a symlink without its target; returns false if there is none.
    pub(super) fn delete(&self, path: &str) -> Result<bool, String> {
        match self.dir.remove_file(below(path)?) {
            Ok(()) => {
                let synced = self.sync_above(below(path)?);
                synced.map(|()| true).map_err(|error| refused("delete", path, &error))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(refused("delete", path, &error)),
        }
    }

    /// Makes the name of a file durable, and the names of the folders above it, which may be new.
    #[cfg(unix)]
    fn sync_above(&self, inside: &Path) -> io::Result<()> {
        for folder in inside.ancestors().skip(1) {
            let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
            self.dir.open(folder)?.sync_all()?;
        }
        Ok(())
    }

    #[cfg(not(unix))]
    fn sync_above(&self, _: &Path) -> io::Result<()> {
        Ok(())
    }

    /// Checks the kind before a file is opened: opening a device can have effects.
    fn regular(&self, path: &Path) -> io::Result<()> {
        is_regular(&self.dir.metadata(path)?)
    }
}

/// Checks the opened file again.
fn regular(file: &File) -> io::Result<()> {
    is_regular(&file.metadata()?)
}

fn is_regular(about: &Metadata) -> io::Result<()> {
    match kind(about) {
        "file" => Ok(()),
        other => Err(io::Error::other(format!("it is a {other}, not a file"))),
    }
}

fn kind(about: &Metadata) -> &'static str {
    let kind = about.file_type();
    if kind.is_file() {
        "file"
    } else if kind.is_dir() {
        "folder"
    } else if kind.is_symlink() {
        "symlink"
    } else {
        "special file"
    }
}

/// The remedy for the limit of a file.
const LARGER: &str = "split the file; for another run, `tools.files.max_bytes` of an agent or `limits.max_file_bytes` of a scenario, at most 67108864, sets the limit";

fn refused(what: &str, path: &str, error: &io::Error) -> String {
    format!("cannot {what} {path:?}: {error}")
}
