//! The paths of the files of a store.

use std::fmt::Write as _;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use runstate_runtime::files::{Disk, Open, replace};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::super::error::StoreError;
use super::lock::{PATIENCE, Pauses, lock};
use super::problem::{damaged, failed};

/// The size limit of a file of a run, in bytes. Each file is read as a whole. A commit that exceeds the limit is
/// refused.
pub(super) const MOST_BYTES: u64 = 64 << 20;

/// The read limit of a file, in bytes. It leaves room for the commit that ends a run, and for the reason of a run
/// that does not continue.
pub(super) const MOST_READ: u64 = MOST_BYTES + (1 << 20);

/// The format of all files of a store. A newer format is refused. A new field needs no new format if it is omitted at
/// its default: an older version refuses the runs that have the field, and changes nothing.
pub(super) const FORMAT: u32 = 1;

const MARK: &str = "store.json";
const LOCK: &str = "lock";
const NAME: &str = "runstate file store";

/// The file that identifies a folder as a store.
#[derive(Serialize, Deserialize)]
struct Mark {
    store: String,
    format: u32,
}

/// The folder of a store.
#[derive(Debug, Clone)]
pub(super) struct Layout {
    root: PathBuf,
}

impl Layout {
    /// Opens the store in that folder, or creates it.
    pub(super) fn open(disk: &dyn Disk, root: PathBuf) -> Result<Layout, StoreError> {
        let layout = Layout { root };
        if layout.is_made(disk)? {
            return Ok(layout);
        }
        layout.make_folders(disk, &layout.root)?;
        layout.is_ours_or_empty(disk)?;
        // Two processes that create one store do it one after the other.
        let _lock = lock(disk, &layout.lock(), Pauses::of(PATIENCE), || Ok(()))?;
        let path = layout.mark();
        match disk.read(&path, 10_000) {
            Ok(mark) => is_ours(&path, &mark)?,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let mark = Mark { store: NAME.to_owned(), format: FORMAT };
                let mut json = serde_json::to_vec_pretty(&mark).map_err(StoreError::failed)?;
                json.push(b'\n');
                replace(disk, &path, &json).map_err(failed(&path))?;
            }
            Err(error) => return Err(failed(&path)(error)),
        }
        for folder in [layout.runs(), layout.locks()] {
            make_folder(disk, &folder)?;
        }
        disk.sync_folder(&layout.root).map_err(failed(&layout.root))?;
        Ok(layout)
    }

    /// Returns whether the store is complete. A complete store is opened without a lock and without a write, so that
    /// a read-only store can be read.
    fn is_made(&self, disk: &dyn Disk) -> Result<bool, StoreError> {
        let path = self.mark();
        // If the file is missing or unreadable, the creation of the store reports the error.
        let Ok(mark) = disk.read(&path, 10_000) else { return Ok(false) };
        is_ours(&path, &mark)?;
        if [self.runs(), self.locks()].iter().any(|folder| disk.list(folder).is_err()) {
            return Ok(false);
        }
        // The creator may have been killed before the names were durable.
        match disk.sync_folder(&self.root) {
            Err(error)
                if matches!(error.kind(), ErrorKind::ReadOnlyFilesystem | ErrorKind::PermissionDenied) => {}
            synced => synced.map_err(failed(&self.root))?,
        }
        Ok(true)
    }

    fn mark(&self) -> PathBuf {
        self.root.join(MARK)
    }

    /// Creates a folder and its missing parents. They are private: other users of the machine must not see the work
    /// of agents.
    fn make_folders(&self, disk: &dyn Disk, folder: &Path) -> Result<(), StoreError> {
        if disk.list(folder).is_ok() {
            return Ok(());
        }
        if let Some(parent) = folder.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            self.make_folders(disk, parent)?;
        }
        made(disk.create_private_folder(folder), folder)?;
        disk.sync_folder(parent(folder)).map_err(failed(parent(folder)))
    }

    /// Refuses a folder with other contents.
    fn is_ours_or_empty(&self, disk: &dyn Disk) -> Result<(), StoreError> {
        let names = disk.list(&self.root).map_err(failed(&self.root))?;
        // A crash may have happened before `store.json` was written.
        let of_a_beginning = [LOCK.to_owned(), format!("{MARK}.new")];
        if names.iter().any(|name| name == MARK) || names.iter().all(|name| of_a_beginning.contains(name)) {
            return Ok(());
        }
        let what = format!("{}: it has no {MARK}, and it is not empty", self.root.display());
        Err(StoreError::unusable(what, "name the folder of a store, or one that is empty or not there"))
    }

    pub(super) fn runs(&self) -> PathBuf {
        self.root.join("runs")
    }

    /// Returns the file with the boots of the machine that used the store.
    pub(super) fn boots(&self) -> PathBuf {
        self.root.join("boots")
    }

    fn locks(&self) -> PathBuf {
        self.root.join("locks")
    }

    /// The folder with a note for each removed run and each message: an empty file for a removed run.
    fn removed(&self) -> PathBuf {
        self.root.join("removed")
    }

    /// The folder of threads with more than one run, or with a name of their own.
    fn threads(&self) -> PathBuf {
        self.root.join("threads")
    }

    pub(super) fn thread(&self, id: &str) -> PathBuf {
        self.threads().join(format!("{}.json", folder_name(id)))
    }

    pub(super) fn lock_of_thread(&self, id: &str) -> PathBuf {
        self.threads().join(format!("{}.lock", folder_name(id)))
    }

    pub(super) fn make_threads(&self, disk: &dyn Disk) -> Result<(), StoreError> {
        make_folder(disk, &self.threads())?;
        disk.sync_folder(&self.root).map_err(failed(&self.root))
    }

    /// Returns the lock that is held while the store is created.
    pub(super) fn lock(&self) -> PathBuf {
        self.root.join(LOCK)
    }

    /// Returns the paths of a run. The run need not exist.
    pub(super) fn run(&self, id: &str) -> Place {
        let name = folder_name(id);
        self.folder(&name)
    }

    /// Returns the paths of the run in that folder.
    pub(super) fn folder(&self, name: &str) -> Place {
        Place {
            folder: self.runs().join(name),
            lock: self.locks().join(format!("{name}.lock")),
            mark: self.removed().join(name),
        }
    }
}

fn is_ours(path: &Path, mark: &[u8]) -> Result<(), StoreError> {
    let path = path.display();
    let mark: Mark = runstate::json::from_slice(mark).map_err(|error| {
        StoreError::unusable(format!("{path}: {error}"), "restore it from a backup, or name another folder")
    })?;
    if mark.store != NAME {
        let what = format!("{path}: it is that of a {:?}, and not of a {NAME:?}", mark.store);
        return Err(StoreError::unusable(what, "name another folder"));
    }
    if mark.format != FORMAT {
        let what = format!("{path}: it has format {}, and this program knows format {FORMAT}", mark.format);
        return Err(StoreError::unusable(what, "use the version of the program that made it"));
    }
    Ok(())
}

fn make_folder(disk: &dyn Disk, folder: &Path) -> Result<(), StoreError> {
    made(disk.create_folder(folder), folder)
}

/// Treats an existing folder as success: another process may have created it.
fn made(made: io::Result<()>, folder: &Path) -> Result<(), StoreError> {
    match made {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        made => made.map_err(failed(folder)),
    }
}

/// The paths of one run.
#[derive(Debug, Clone)]
pub(super) struct Place {
    pub(super) folder: PathBuf,
    pub(super) lock: PathBuf,
    /// The note that the id belonged to a removed run, or belongs to a message.
    mark: PathBuf,
}

impl Place {
    /// Returns the file that each commit replaces: the authority.
    pub(super) fn state(&self) -> PathBuf {
        self.folder.join("state.json")
    }

    /// Returns the name of the state from the removal of its run until all files are gone.
    pub(super) fn removed(&self) -> PathBuf {
        self.folder.join("state.json.removed")
    }

    /// Returns the file with the specification with which the run was created.
    pub(super) fn spec(&self) -> PathBuf {
        self.folder.join("spec.json")
    }

    pub(super) fn log(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}.jsonl"))
    }

    /// Notes durably that the id must not be used again.
    pub(super) fn mark(&self, disk: &dyn Disk) -> Result<(), StoreError> {
        let folder = self.make_marks(disk)?;
        disk.open(&self.mark, Open::Write).and_then(|mut mark| mark.sync()).map_err(failed(&self.mark))?;
        disk.sync_folder(folder).map_err(failed(folder))
    }

    /// Notes durably that the id belongs to a message for this run. The note is valid only if the run has that
    /// message too.
    pub(super) fn note(&self, disk: &dyn Disk, run: &str) -> Result<(), StoreError> {
        self.make_marks(disk)?;
        let json = serde_json::to_vec(run).map_err(StoreError::failed)?;
        replace(disk, &self.mark, &json).map_err(failed(&self.mark))
    }

    fn make_marks(&self, disk: &dyn Disk) -> Result<&Path, StoreError> {
        let folder = parent(&self.mark);
        make_folder(disk, folder)?;
        disk.sync_folder(parent(folder)).map_err(failed(parent(folder)))?;
        Ok(folder)
    }

    /// Reads the note on the id.
    pub(super) fn noted(&self, disk: &dyn Disk) -> Result<Noted, StoreError> {
        match disk.read(&self.mark, MOST_READ) {
            Ok(json) if json.is_empty() => Ok(Noted::Removed),
            Ok(json) => {
                let run = runstate::json::from_slice(&json).map_err(|error| damaged(&self.mark, error))?;
                Ok(Noted::MessageOf(run))
            }
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Noted::Nothing),
            Err(error) => Err(failed(&self.mark)(error)),
        }
    }

    pub(super) fn make(&self, disk: &dyn Disk) -> Result<(), StoreError> {
        make_folder(disk, &self.folder)?;
        let runs = parent(&self.folder);
        disk.sync_folder(runs).map_err(failed(runs))
    }
}

/// The note on an id without a run.
pub(super) enum Noted {
    Nothing,
    /// The run with that id was removed.
    Removed,
    /// The id belongs to a message for this run. If the run does not have the message, the process that delivered it
    /// was interrupted.
    MessageOf(String),
}

/// Returns the folder of a path.
fn parent(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Returns the name of a run's folder: the readable characters of its id, and enough of its digest that no two ids
/// share a name. This holds on file systems that ignore case as well.
fn folder_name(id: &str) -> String {
    let readable = id.chars().take(40).map(|c| match c {
        'a'..='z' | '0'..='9' | '-' => c,
        'A'..='Z' => c.to_ascii_lowercase(),
        _ => '_',
    });
    let mut name: String = readable.collect();
    if !name.is_empty() {
        name.push('.');
    }
    for byte in &Sha256::digest(id)[..12] {
        // A write to a `String` cannot fail.
        write!(name, "{byte:02x}").ok();
    }
    name
}

#[cfg(test)]
mod tests {
    use super::folder_name;

    #[test]
    fn names_of_folders_are_plain_and_apart() {
        let ids =
            ["run", "Run", "RUN", "../up", "a/b", "a_b", "", ".", "..", "CON", "e\u{301}", "\u{e9}", "x\0"];
        let long = "long-".repeat(1_000);
        let names: Vec<_> = ids.into_iter().chain([&*long]).map(folder_name).collect();
        for name in &names {
            let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_.".contains(c);
            assert!(name.chars().all(plain) && name.len() <= 65 && !name.starts_with('.'), "{name}");
        }
        let apart: std::collections::BTreeSet<_> = names.iter().collect();
        assert_eq!(apart.len(), names.len(), "{names:?}");
        assert!(names[0].starts_with("run.") && names[4].starts_with("a_b."), "{names:?}");
    }
}
