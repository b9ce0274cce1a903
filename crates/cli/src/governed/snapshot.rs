//! The working folder before the first tool, its changes since, and their rollback.

use std::collections::{BTreeMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::{fs, io};

use async_trait::async_trait;
use runstate_governed::{Change, Rollback, RunView};

use super::below::{Below, remove_tree};
use super::copy::copy;
use super::folder::{self, About, Digests, Kind, Listing, Reading};
use super::process::Idle;
use super::progress::Progress;
use super::work::{self, Work};
use crate::failure::Failure;

/// The maximum of reported changes of one call; the state of the run stores each.
const MOST_TOLD: usize = 1_000;
/// The maximum of reported names that a rollback could not restore.
const MOST_NAMED: usize = 20;

#[derive(Debug, Clone)]
pub(crate) struct Snapshot {
    kept: PathBuf,
    work: Work,
    ignore: Vec<PathBuf>,
    /// The entries with ignored names at the start of the run, by id. A rollback removes none of them.
    ignored: BTreeMap<String, PathBuf>,
    seen: Arc<Mutex<Seen>>,
}

/// The files of both folders that this process has read.
#[derive(Debug, Default)]
struct Seen {
    kept: Digests,
    work: Digests,
    /// The copy, once it was verified.
    taken: Option<Listing>,
    /// The working folder after the last tool.
    last: Option<Listing>,
}

impl Snapshot {
    pub(super) fn new(
        kept: PathBuf,
        work: Work,
        ignore: Vec<PathBuf>,
        ignored: BTreeMap<String, PathBuf>,
    ) -> Self {
        Snapshot { kept, work, ignore, ignored, seen: Arc::default() }
    }

    /// Takes a snapshot of the folder, unless one exists. The snapshot is complete or absent.
    pub(super) fn take(&self) -> Result<(), Failure> {
        if self.kept.exists() {
            return Ok(());
        }
        let beside = self.kept.with_extension("new");
        if beside.exists() {
            remove_tree(&beside).map_err(|error| Failure::io("remove", &beside, &error))?;
        }
        let listing = self.worked(Reading::All, &mut Digests::new())?;
        copy(&self.work.path, &beside, &listing)?;
        // The only copy of the data that tools are about to change.
        let synced = Below::open(&beside).and_then(|below| below.sync(&listing));
        synced.map_err(|error| Failure::io("sync", &beside, &error))?;
        fs::rename(&beside, &self.kept).map_err(|error| Failure::io("rename", &beside, &error))
    }

    /// The digest of the snapshot: names, kinds, modes, owners and contents.
    pub(super) fn digest(&self) -> Result<String, Failure> {
        folder::list(&self.kept, &[], Reading::All, &mut Digests::new()).map(|kept| digest(&kept))
    }

    /// Reads both folders before the first tool is called.
    pub(super) fn look(&self, taken: Option<&str>) -> Result<(), Failure> {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        // Between two tools of one process it is known from the previous one.
        if seen.last.is_none() {
            self.check(&mut seen, taken)?;
            seen.last = Some(self.worked(Reading::All, &mut seen.work)?);
        }
        Ok(())
    }

    /// The changes since the last look, for a report.
    ///
    /// # Errors
    /// As [`look`](Self::look): the changes of a tool that also changes the snapshot would not show.
    pub(super) fn changes(&self, taken: Option<&str>) -> Result<Vec<Change>, Failure> {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        self.check(&mut seen, taken)?;
        let now = self.worked(Reading::All, &mut seen.work)?;
        // It hides later changes below it, from the rest of the run and from a rollback.
        if let Some((name, _)) = now.iter().find(|(_, about)| about.kind == Kind::Mounted) {
            let path = self.work.path.join(name);
            return Err(Failure::new(format!("{} has another file system mounted on it", path.display()))
                .with_help("unmount it, or name it in the plan's `ignore`"));
        }
        let changes = differences(seen.last.as_ref().unwrap_or(&Listing::new()), &now);
        let more = changes.len().saturating_sub(MOST_TOLD);
        let told = changes.iter().take(MOST_TOLD);
        let mut told: Vec<_> =
            told.map(|(name, kind)| Change::new(*kind, folder::shown(Path::new(name)))).collect();
        if more > 0 {
            told.push(Change::new("changed", format!("[… {more} more names]")));
        }
        seen.last = Some(now);
        Ok(told)
    }

    /// Fails if the snapshot is not the original one: nothing may be restored from it.
    fn check(&self, seen: &mut Seen, taken: Option<&str>) -> Result<(), Failure> {
        let found = folder::list(&self.kept, &[], Reading::All, &mut seen.kept)?;
        if seen.taken.as_ref() == Some(&found) {
            return Ok(());
        }
        // A run that began before snapshots had digests has none.
        if let Some(taken) = taken {
            is_taken(&self.kept, &found, taken)?;
        }
        seen.taken = Some(found);
        Ok(())
    }

    fn worked(&self, reading: Reading<'_>, digests: &mut Digests) -> Result<Listing, Failure> {
        self.work.check().map_err(|error| Failure::io("use", &self.work.path, &error))?;
        folder::list(&self.work.path, &self.ignore, reading, digests)
    }

    /// Restores the folder, changing only differences. A repetition does nothing.
    ///
    /// # Errors
    /// An unreadable folder; a snapshot that is not the original one. The list has the names that could not be restored.
    fn restore(&self, taken: Option<&str>) -> Result<Vec<String>, Failure> {
        // Earlier observations do not count here.
        let was = folder::list(&self.kept, &[], Reading::All, &mut Digests::new())?;
        if let Some(taken) = taken {
            is_taken(&self.kept, &was, taken)?;
        }
        let below = self.work.open().map_err(|error| Failure::io("use", &self.work.path, &error))?;
        let is = self.opened(&below, &was)?;
        let mut undone = Undone { work: &self.work.path, errors: Vec::new(), names: HashSet::new() };
        let differs = |name: &OsStr| match (is.get(name), was.get(name)) {
            (Some(is), Some(was)) => {
                // A file with another name is replaced, not changed, since the other name may be outside.
                (is.kind, &is.content) != (was.kind, &was.content)
                    || (is != was && below.has_other_names(name))
            }
            (is, was) => is.is_some() || was.is_some(),
        };
        let differing: HashSet<&OsString> =
            is.keys().chain(was.keys()).filter(|name| differs(name)).collect();
        self.keep_moved(is.iter().filter(|(name, _)| differing.contains(name)), &mut undone);
        // From the innermost out: new names, and names of another kind.
        for (name, about) in is.iter().rev().filter(|(name, _)| differing.contains(name)) {
            match about.kind {
                // What it holds stays too.
                _ if undone.has(name) => {}
                Kind::Runs => {
                    let why = "it may be a folder of runs";
                    undone.note("remove", name, Err(io::Error::other(why)));
                }
                kind => match below.remove(name, kind) {
                    Err(error)
                        if error.kind() == io::ErrorKind::DirectoryNotEmpty
                            && self.stays(name, kind, &was) => {}
                    removed => undone.note("remove", name, removed),
                },
            }
        }
        // If an entry remains, nothing is put in its place, nor below it.
        for (name, about) in was.iter().filter(|(name, _)| differing.contains(name)) {
            if !undone.has(name) {
                undone.note("restore", name, below.put(&self.kept.join(name), name, about));
            }
        }
        // Last, from the innermost out: a read-only folder permits no restoration in it.
        for (name, about) in was.iter().rev() {
            if is.get(name) != Some(about) && !undone.has(name) {
                undone.note("set the owner and the mode of", name, below.own(name, about));
            }
        }
        let mut errors = undone.errors;
        if errors.is_empty() {
            let is = self.worked(Reading::AsLongAs(&was), &mut Digests::new())?;
            let mut left = differences(&was, &is);
            left.retain(|(name, _)| !is.get(name).is_some_and(|is| self.stays(name, is.kind, &was)));
            errors.extend(
                left.into_iter()
                    .map(|(name, kind)| format!("{} is still {kind}", folder::shown(Path::new(&name)))),
            );
        }
        // A power cut must not undo a reported rollback.
        if let Err(error) = below.sync(&was) {
            errors.push(format!("cannot sync {}: {error}", self.work.path.display()));
        }
        let more = errors.len().saturating_sub(MOST_NAMED);
        errors.truncate(MOST_NAMED);
        errors.extend((more > 0).then(|| format!("and {more} more")));
        Ok(errors)
    }

    /// Keeps the ignored entries that a tool moved from their place to one of these names.
    fn keep_moved<'l>(
        &self,
        differing: impl Iterator<Item = (&'l OsString, &'l About)>,
        undone: &mut Undone<'_>,
    ) {
        let is_moved = |(id, name): &(&String, &PathBuf)| {
            work::own_id(&self.work.path.join(name)).ok().as_ref() != Some(*id)
        };
        let moved: BTreeMap<_, _> = self.ignored.iter().filter(is_moved).collect();
        let Some(first) = moved.values().next() else { return };
        for (name, about) in differing {
            let held = work::own_id(&self.work.path.join(name)).ok().and_then(|id| moved.get(&id));
            let why = match (held, about.kind) {
                (Some(ignored), _) => {
                    format!("it is the ignored {}, which was moved", folder::shown(ignored))
                }
                // Its content is not listed.
                (None, Kind::Deep) => {
                    format!("the ignored {} was moved, and may be in it", folder::shown(first))
                }
                (None, _) => continue,
            };
            undone.note("remove", name, Err(io::Error::other(why)));
        }
    }

    /// Does a new folder stay? A folder with ignored names does.
    fn stays(&self, name: &OsStr, kind: Kind, was: &Listing) -> bool {
        let holds_ignored = || self.ignore.iter().any(|ignored| ignored.starts_with(Path::new(name)));
        kind == Kind::Folder && !was.contains_key(name) && holds_ignored()
    }

    /// The working folder, with each folder in it opened to the user: a tool may have closed one.
    fn opened(&self, below: &Below, was: &Listing) -> Result<Listing, Failure> {
        let mut before = None;
        loop {
            let is = self.worked(Reading::AsLongAs(was), &mut Digests::new())?;
            let is_closed = |about: &About| about.kind == Kind::Folder && about.mode & 0o700 != 0o700;
            let mut closed = is.iter().filter(|(_, about)| is_closed(about)).peekable();
            if closed.peek().is_none() || before.as_ref() == Some(&is) {
                return Ok(is);
            }
            // A folder of another user stays unchanged, and each change in it fails with a report.
            closed.for_each(|(name, _)| drop(below.let_in(name)));
            before = Some(is);
        }
    }
}

struct Undone<'a> {
    work: &'a Path,
    errors: Vec<String>,
    names: HashSet<OsString>,
}

impl Undone<'_> {
    fn note(&mut self, what: &str, name: &OsStr, done: io::Result<()>) {
        if let Err(error) = done {
            self.errors.push(format!("cannot {what} {}: {error}", folder::shown(&self.work.join(name))));
            self.names.insert(name.to_owned());
        }
    }

    /// Is it one of them, or below one?
    fn has(&self, name: &OsStr) -> bool {
        !self.names.is_empty()
            && Path::new(name).ancestors().any(|name| self.names.contains(name.as_os_str()))
    }
}

fn is_taken(kept: &Path, found: &Listing, taken: &str) -> Result<(), Failure> {
    let found = digest(found);
    if found == taken {
        return Ok(());
    }
    let what =
        format!("the snapshot {} has changed: expected the digest {taken}, got {found}", kept.display());
    Err(Failure::new(what))
}

fn digest(listing: &Listing) -> String {
    let told = listing.iter().map(|(name, about)| {
        // A name need not be text.
        let name = name.as_encoded_bytes();
        serde_json::json!([
            name,
            format!("{:?}", about.kind),
            about.mode,
            about.owner,
            about.content.as_deref()
        ])
    });
    runstate::decision::digest(&serde_json::Value::Array(told.collect()))
}

/// Every name that differs, in order; removed names come last. Both sides are sorted by name.
fn differences(was: &Listing, is: &Listing) -> Vec<(OsString, &'static str)> {
    // The folder itself has no name.
    let named = |name: &OsString| if name.is_empty() { OsString::from(".") } else { name.clone() };
    let (mut changed, mut removed, mut before) = (Vec::new(), Vec::new(), was.iter().peekable());
    for (name, about) in is {
        removed.extend(std::iter::from_fn(|| before.next_if(|(old, _)| *old < name)));
        match before.next_if(|(old, _)| *old == name) {
            None => changed.push((named(name), "created")),
            Some((_, old)) if old != about => changed.push((named(name), "modified")),
            Some(_) => {}
        }
    }
    changed.extend(removed.into_iter().chain(before).map(|(name, _)| (named(name), "removed")));
    changed
}

pub(super) struct FolderRollback {
    pub(super) snapshot: Snapshot,
    pub(super) progress: Arc<Progress>,
    pub(super) idle: Idle,
}

#[async_trait]
impl Rollback for FolderRollback {
    async fn roll_back(&self, run: &RunView<'_>, _: &str) -> Result<(), Vec<String>> {
        self.idle.end();
        match self.progress.rolling_back(run.run_id, || self.snapshot.restore(run.baseline)) {
            Ok(errors) if errors.is_empty() => Ok(()),
            Ok(errors) => Err(errors),
            Err(failure) => Err(vec![failure.to_string()]),
        }
    }
}
