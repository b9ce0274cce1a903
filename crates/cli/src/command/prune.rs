//! `runstate prune`

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::time::Duration;

use runstate::run::RunStatus;
use runstate_store::{Holder, Loaded, RunInfo, RunQuery, StoreError};
use serde_json::{Value, json};

use super::time::{ahead, away, time};
use crate::clock::unix_ms;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Output, complain, printable};
use crate::runs::{Folder, Note, Notes, work_of};
use crate::spec::Spec;
use crate::store::{Missing, Opened, StoreArgs, beside, damaged_to_json, tell_damaged};

/// Remove old runs that are over, with the folders of their tools
///
/// A run that is not over or is unreadable stays. Of the folders below --state-dir, only those of removed runs are removed.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  runstate prune --older-than 7d --dry-run
  runstate prune --older-than 12h

Exit codes:
  0  each old run is removed; runs that stay are on standard error
  2  a folder cannot be removed; the store or another argument is unusable")]
pub(crate) struct Args {
    /// The minimum time since the end of a run, such as 7d, 12h or 30m
    #[arg(long, value_name = "TIME", value_parser = time)]
    older_than: Duration,
    /// Print the runs to be removed, and remove nothing
    #[arg(long)]
    dry_run: bool,
    /// One JSON object: runs, the removed runs, or with --dry-run the runs to remove; left, the runs that stay, with reasons;
    /// folders, the removed folders of earlier commands; dry_run; and damaged, the unreadable entries
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    place: StoreArgs,
}

/// The number of runs of one query.
const PAGE: usize = 100;

pub(crate) fn run(args: &Args, out: &mut Output) -> Result<Exit, Failure> {
    let opened = args.place.open(Missing::Refuse)?;
    let pruning = Pruning {
        opened: &opened,
        state_dir: &args.place.state_dir()?,
        now_ms: unix_ms(),
        notes: if args.dry_run { None } else { Some(Notes::take(&args.place.state_dir()?)?) },
        dry: RefCell::default(),
    };
    let age_ms = u64::try_from(args.older_than.as_millis()).unwrap_or(u64::MAX);
    let mut query = RunQuery::status(RunStatus::Done, PAGE);
    query.changed_before_ms = Some(pruning.now_ms.saturating_sub(age_ms));
    let (mut removed, mut left) = (Vec::new(), Vec::new());
    let folders = pruning.settle()?;
    let mut is_good = folders.iter().all(|(_, folder)| *folder != Folder::Left);
    if !args.json {
        for (run, _) in folders.iter().filter(|(_, folder)| *folder == Folder::Removed) {
            out.line(&printable(&format!("removed the folder of {run}, which an earlier command left")));
        }
    }
    loop {
        let page = opened.ask(opened.store.runs(&query))?;
        let is_last = page.len() < PAGE;
        if let Some(last) = page.last() {
            query = query.after(last);
        }
        for run in &page {
            match pruning.remove(run)? {
                Became::Removed(folder) => {
                    is_good &= folder != Some(Folder::Left);
                    if !args.json {
                        let word = if args.dry_run { "would remove" } else { "removed" };
                        let ended = away(pruning.now_ms, run.changed_at_ms);
                        out.line(&printable(&format!("{word} {}, ended {ended}", run.id)));
                    }
                    removed.push(to_json(run, folder));
                }
                Became::Left(why) => {
                    complain(&printable(&format!("warning: {} stays: {why}", run.id)));
                    left.push(json!({"run": run.id, "why": why}));
                }
                Became::Nothing => {}
            }
        }
        if is_last {
            break;
        }
    }
    let damaged = tell_damaged(&opened)?;
    let exit = if is_good { Exit::Good } else { Exit::BadInput };
    if args.json {
        let damaged = damaged_to_json(&damaged);
        let folders: Vec<Value> =
            folders.iter().map(|(run, folder)| json!({"run": run, "folder": in_a_word(*folder)})).collect();
        out.json(&json!({
            "runs": removed, "left": left, "folders": folders, "dry_run": args.dry_run, "damaged": damaged,
        }));
        return Ok(exit);
    }
    let runs = if removed.len() == 1 { "run" } else { "runs" };
    let word = if args.dry_run { "would be removed" } else { "removed" };
    out.line(&format!("{} {runs} {word}", removed.len()));
    Ok(exit)
}

/// The common state of one invocation.
struct Pruning<'a> {
    opened: &'a Opened,
    state_dir: &'a Path,
    now_ms: u64,
    /// `None` for a dry run.
    notes: Option<Notes>,
    dry: RefCell<Dry>,
}

/// The dry run so far.
#[derive(Debug, Default)]
struct Dry {
    /// The runs that would be removed.
    gone: HashSet<String>,
    /// The next run of each run, for the threads already read.
    behind: HashMap<String, String>,
    threads: HashSet<String>,
}

/// The result for a run.
enum Became {
    /// It is removed, or would be; and the result for its folder, if it has one and this is no dry run.
    Removed(Option<Folder>),
    /// It stays, for this reason.
    Left(String),
    /// Another process removed it first.
    Nothing,
}

impl Pruning<'_> {
    /// Removes a run and its folder. A run in use stays.
    fn remove(&self, run: &RunInfo) -> Result<Became, Failure> {
        let Pruning { opened, state_dir, ref notes, .. } = *self;
        // A run of another program has no folder of ours.
        let loaded = match beside(opened.handle(), opened.store.load(&run.id)) {
            // Its list entry says that it is over; the run itself may differ.
            Ok(loaded)
                if run.status == RunStatus::Done
                    && loaded.stored.as_ref().is_none_or(|stored| stored.status() != "Done") =>
            {
                return Ok(Became::Left("the list has it as over, and its own row does not".to_owned()));
            }
            Ok(loaded) => loaded,
            Err(StoreError::NoRun { .. }) => return Ok(Became::Nothing),
            Err(error) => return left(error).map_err(|error| opened.failure(&error)),
        };
        let Some(notes) = notes else { return self.would_remove(run, &loaded) };
        let spec = Spec::of(&loaded).ok();
        // First, so that the folder is found again if this process ends in between.
        let note = spec.as_ref().and_then(Spec::token);
        let note = note.map(|token| notes.write(&run.id, token)).transpose()?.flatten();
        let became = match beside(opened.handle(), opened.store.remove(&run.id)) {
            Ok(true) => {
                let place = work_of(state_dir, &run.id);
                if note.is_none() && spec.is_some() && place.exists() {
                    let why = format!(
                        "the run has no token, and the run of the folder {} is unknown",
                        place.display()
                    );
                    tell_left(&run.id, &why);
                    return Ok(Became::Removed(Some(Folder::Others)));
                }
                return Ok(Became::Removed(note.as_ref().map(settle)));
            }
            Ok(false) => Became::Nothing,
            Err(StoreError::Held { holder, left, .. }) => held(&holder, left),
            Err(StoreError::Continued { by, .. }) => continued(&by),
            // The run may be removed: the note stays.
            Err(error @ StoreError::Unavailable(_)) => {
                return left(error).map_err(|error| opened.of_change(&error));
            }
            Err(error) => left(error).map_err(|error| opened.of_change(&error))?,
        };
        note.iter().for_each(Note::forget);
        Ok(became)
    }

    /// The reply of the store to the removal.
    fn would_remove(&self, run: &RunInfo, loaded: &Loaded) -> Result<Became, Failure> {
        if let Some(Holder { name, left, .. }) = loaded.info.holder.as_ref().filter(|it| !it.left.is_zero()) {
            return Ok(held(name, *left));
        }
        let mut dry = self.dry.borrow_mut();
        let thread = loaded.thread.as_ref().map_or(&run.id, |place| &place.thread);
        if dry.threads.insert(thread.clone()) {
            self.look_at(thread, &mut dry.behind)?;
        }
        match dry.behind.get(&run.id) {
            Some(by) if !dry.gone.contains(by) => Ok(continued(by)),
            _ => {
                dry.gone.insert(run.id.clone());
                Ok(Became::Removed(None))
            }
        }
    }

    /// Reads a thread from its end, as far as possible.
    fn look_at(&self, thread: &str, behind: &mut HashMap<String, String>) -> Result<(), Failure> {
        let opened = self.opened;
        let mut last = opened.ask(opened.store.last_of_thread(thread))?;
        while let Some(run) = last {
            let place = beside(opened.handle(), opened.store.parts(&run)).ok().and_then(|parts| parts.thread);
            last = place.and_then(|place| place.after);
            if let Some(before) = &last
                && behind.insert(before.clone(), run).is_some()
            {
                break;
            }
        }
        Ok(())
    }

    /// Removes the folders that earlier commands have left, of runs that are no longer in this store.
    fn settle(&self) -> Result<Vec<(String, Folder)>, Failure> {
        let opened = self.opened;
        let mut settled = Vec::new();
        for note in self.notes.iter().flat_map(Notes::all) {
            if !opened.ask(opened.store.is_given(note.run()))? {
                continue;
            }
            match beside(opened.handle(), opened.store.load(note.run())) {
                Err(StoreError::NoRun { .. }) => settled.push((note.run().to_owned(), settle(&note))),
                Ok(_) => note.forget(),
                // The run may exist.
                Err(_) => {}
            }
        }
        Ok(settled)
    }
}

fn held(holder: &str, left: Duration) -> Became {
    Became::Left(format!("{holder} has its lease, which ends {}", ahead(left)))
}

fn continued(by: &str) -> Became {
    Became::Left(format!("{by} begins with its messages, and stays"))
}

/// Removes a folder.
fn settle(note: &Note) -> Folder {
    let (folder, why) = match note.settle() {
        Ok(folder) => (folder, why_left(folder, note)),
        Err(failure) => {
            (Folder::Left, Some(format!("{}; the next `runstate prune` tries again", failure.message())))
        }
    };
    if let Some(why) = why {
        tell_left(note.run(), &why);
    }
    folder
}

fn tell_left(run: &str, why: &str) {
    complain(&printable(&format!("warning: the folder of {run} stays: {why}")));
}

/// An error of one run does not affect others.
fn left(error: StoreError) -> Result<Became, StoreError> {
    error.into_run_scoped().map(|damage| Became::Left(damage.to_string()))
}

/// Why a folder is left, if so.
fn why_left(folder: Folder, note: &Note) -> Option<String> {
    match folder {
        Folder::Removed | Folder::Absent | Folder::Left => None,
        Folder::Others => Some(format!(
            "{} belongs to another run of this name, or has lost its mark: the file `owner` beside it does not have this run's \
             token; remove the folder by hand if no run needs it",
            note.work().display()
        )),
    }
}

fn to_json(run: &RunInfo, folder: Option<Folder>) -> Value {
    json!({"run": run.id, "changed_at_ms": run.changed_at_ms, "folder": folder.map(in_a_word)})
}

fn in_a_word(folder: Folder) -> &'static str {
    match folder {
        Folder::Removed => "removed",
        Folder::Absent => "absent",
        Folder::Others | Folder::Left => "left",
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::sync::Arc;

    use runstate_store::{FileStore, NewRun, RunData, RunLists};

    use super::*;

    #[test]
    fn prune_leaves_inaccessible_and_held_runs() {
        let place = tempfile::tempdir().unwrap();
        let store = FileStore::open(place.path().join("runs")).unwrap().patience(Duration::ZERO);
        let opened = Opened::over(Arc::new(store.clone()));
        for run in ["fine-1", "kept-1", "refused-1"] {
            opened.ask(store.create(&NewRun::new(run, Value::Null, 1))).unwrap();
        }
        // A folder cannot be read as a file, by any user.
        let spec = store.folder_of("refused-1").join("spec.json");
        fs::remove_file(&spec).unwrap();
        fs::create_dir(&spec).unwrap();
        let kept = store.folder_of("kept-1");
        let lock = format!("{}.lock", kept.file_name().unwrap().to_str().unwrap());
        let lock = File::create(place.path().join("runs/locks").join(lock)).unwrap();
        lock.lock().unwrap();

        let notes = Some(Notes::take(place.path()).unwrap());
        let pruning =
            Pruning { opened: &opened, state_dir: place.path(), now_ms: 9, notes, dry: RefCell::default() };
        let runs = opened.ask(store.runs(&RunQuery::all(10))).unwrap();
        let became = |run: &RunInfo| match pruning.remove(run).unwrap() {
            Became::Removed(_) => (run.id.clone(), None),
            Became::Left(why) => (run.id.clone(), Some(why)),
            Became::Nothing => panic!("{run:?}"),
        };
        let mut became: Vec<_> = runs.iter().map(became).collect();
        became.sort();
        let [(fine, None), (kept, Some(holds)), (refused, Some(unread))] = &became[..] else {
            panic!("{became:?}")
        };
        assert_eq!([fine, kept, refused], ["fine-1", "kept-1", "refused-1"]);
        assert!(holds.contains("another process holds it") && holds.contains("or end it"), "{holds}");
        assert!(unread.contains("spec.json: ") && unread.contains("can read and write it"), "{unread}");
    }
}
