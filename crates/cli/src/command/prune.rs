//! `runstate prune`

use std::path::Path;
use std::time::Duration;

use runstate::run::RunStatus;
use runstate::store::{RunInfo, RunQuery, StoreError};
use serde_json::{Value, json};

use super::time::{away, time};
use crate::clock::unix_ms;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Output, complain, printable};
use crate::runs::{self, Folder};
use crate::spec::Spec;
use crate::store::{Missing, Opened, StoreArgs, beside, damaged_to_json, tell_damaged};

/// Remove finished runs by age, with the folders that their tools worked in
///
/// A run that waits or goes on is never removed, nor one that cannot be read. Of folders, those alone are removed that are below
/// the folder of --state-dir, and that are of the very run.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  runstate prune --older-than 7d --dry-run
  runstate prune --older-than 12h

Exit codes:
  0  removed, though there may have been none; what was left is told on standard error
  2  the store, or another argument, cannot be used; a folder cannot be removed")]
pub(crate) struct Args {
    /// Those that ended longer ago than this, such as 7d, 12h or 30m
    #[arg(long, value_name = "TIME", value_parser = time)]
    older_than: Duration,
    /// Say what would be removed, and remove nothing
    #[arg(long)]
    dry_run: bool,
    /// One JSON object: runs, which were removed, or would be; left, and why; dry_run; and damaged: what cannot be read
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    place: StoreArgs,
}

/// Runs that are asked for together.
const PAGE: usize = 100;

pub(crate) fn run(args: &Args, out: &mut Output) -> Result<Exit, Failure> {
    let opened = args.place.open(Missing::Refuse)?;
    let pruning = Pruning {
        opened: &opened,
        state_dir: &args.place.state_dir()?,
        now_ms: unix_ms(),
        is_dry: args.dry_run,
    };
    let age_ms = u64::try_from(args.older_than.as_millis()).unwrap_or(u64::MAX);
    let mut query = RunQuery::status(RunStatus::Done, PAGE);
    query.changed_before_ms = Some(pruning.now_ms.saturating_sub(age_ms));
    let (mut removed, mut left) = (Vec::new(), Vec::new());
    loop {
        let page = opened.ask(opened.store.runs(&query))?;
        let is_last = page.len() < PAGE;
        if let Some(last) = page.last() {
            query = query.behind(last);
        }
        for run in &page {
            match pruning.remove(run)? {
                Became::Removed(folder) => {
                    if !args.json {
                        let word = if args.dry_run { "would remove" } else { "removed" };
                        let ended = away(pruning.now_ms, run.changed_at_ms);
                        out.line(&printable(&format!("{word} {}, ended {ended}", run.id)));
                    }
                    removed.push(to_json(run, folder));
                }
                Became::Left(why) => {
                    complain(&printable(&format!("warning: {} is left: {why}", run.id)));
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
    if args.json {
        let damaged = damaged_to_json(&damaged);
        out.json(&json!({"runs": removed, "left": left, "dry_run": args.dry_run, "damaged": damaged}));
        return Ok(Exit::Good);
    }
    let runs = if removed.len() == 1 { "run" } else { "runs" };
    let word = if args.dry_run { "would be removed" } else { "removed" };
    out.line(&format!("{} {runs} {word}", removed.len()));
    Ok(Exit::Good)
}

/// What one call of the command has in common for all runs.
struct Pruning<'a> {
    opened: &'a Opened,
    state_dir: &'a Path,
    now_ms: u64,
    is_dry: bool,
}

/// What became of a run.
enum Became {
    /// It is gone, or would be; and what became of its folder, if it has one and it is no dry run.
    Removed(Option<Folder>),
    /// It is there, for this reason.
    Left(String),
    /// Somebody else was faster.
    Nothing,
}

impl Pruning<'_> {
    /// Removes a run and its folder. Who looks at the run now keeps it.
    fn remove(&self, run: &RunInfo) -> Result<Became, Failure> {
        let Pruning { opened, state_dir, now_ms, is_dry } = *self;
        // A run says itself where its folder is; one that another program made has none of ours.
        let spec = match beside(opened.handle(), opened.store.load(&run.id)) {
            // Its list says that it is over; a list is not what the run is.
            Ok(loaded)
                if run.status == RunStatus::Done
                    && loaded.stored.as_ref().is_none_or(|stored| stored.status() != "Done") =>
            {
                return Ok(Became::Left(
                    "the list says that it is over, and the run says that it is not".to_owned(),
                ));
            }
            Ok(loaded) => Spec::of(&loaded).ok(),
            Err(StoreError::NoRun { .. }) => return Ok(Became::Nothing),
            Err(error) => return left(error).map_err(|error| opened.failure(&error)),
        };
        if is_dry {
            return Ok(Became::Removed(None));
        }
        match beside(opened.handle(), opened.store.remove(&run.id, now_ms)) {
            Ok(true) => {}
            Ok(false) => return Ok(Became::Nothing),
            Err(StoreError::Held { holder, until_ms, .. }) => {
                let over = away(now_ms, until_ms);
                return Ok(Became::Left(format!(
                    "it is in the hands of {holder}, whose lease is over {over}"
                )));
            }
            Err(error) => return left(error).map_err(|error| opened.of_change(&error)),
        }
        let folder = spec.map(|spec| {
            let (folder, why) = match runs::remove(state_dir, &run.id, spec.folder(), spec.token()) {
                Ok(folder) => (folder, why_left(folder, &spec, state_dir)),
                // The run is gone: nobody comes for it again.
                Err(failure) => (Folder::Left, Some(format!("{}; remove it yourself", failure.message()))),
            };
            if let Some(why) = why {
                complain(&printable(&format!("warning: the folder of {} is left: {why}", run.id)));
            }
            folder
        });
        Ok(Became::Removed(folder))
    }
}

/// What is the matter with one run alone keeps no other.
fn left(error: StoreError) -> Result<Became, StoreError> {
    error.of_one_run().map(|damage| Became::Left(damage.to_string()))
}

/// Why a folder is left, if it is.
fn why_left(folder: Folder, spec: &Spec, state_dir: &Path) -> Option<String> {
    let (place, state_dir) = (spec.folder().display(), state_dir.display());
    match folder {
        Folder::Removed | Folder::Absent => None,
        Folder::Left => Some(format!("{place} is not that of a run below {state_dir}")),
        Folder::Others => Some(format!(
            "{place} is that of another run of this name, or has lost its mark: {} does not have this run's token; remove it \
             yourself if no run needs it",
            runs::mark_of(spec.folder()).display()
        )),
    }
}

fn to_json(run: &RunInfo, folder: Option<Folder>) -> Value {
    let folder = folder.map(|folder| match folder {
        Folder::Removed => "removed",
        Folder::Absent => "absent",
        Folder::Left | Folder::Others => "left",
    });
    json!({"run": run.id, "changed_at_ms": run.changed_at_ms, "folder": folder})
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::sync::Arc;

    use runstate::store::{FileStore, NewRun, RunStore};

    use super::*;

    #[test]
    fn a_run_that_the_system_refuses_or_that_somebody_keeps_is_left() {
        let place = tempfile::tempdir().unwrap();
        let store = FileStore::open(place.path().join("runs")).unwrap().patience(Duration::ZERO);
        let opened = Opened::over(Arc::new(store.clone()));
        for run in ["fine-1", "kept-1", "refused-1"] {
            opened.ask(store.create(&NewRun::new(run, Value::Null, 1))).unwrap();
        }
        // What is a folder cannot be read as a file, whoever asks.
        let spec = store.folder_of("refused-1").join("spec.json");
        fs::remove_file(&spec).unwrap();
        fs::create_dir(&spec).unwrap();
        let kept = store.folder_of("kept-1");
        let lock = format!("{}.lock", kept.file_name().unwrap().to_str().unwrap());
        let lock = File::create(place.path().join("runs/locks").join(lock)).unwrap();
        lock.lock().unwrap();

        let pruning = Pruning { opened: &opened, state_dir: place.path(), now_ms: 9, is_dry: false };
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
        assert!(holds.contains("somebody holds it") && holds.contains("or end it"), "{holds}");
        assert!(unread.contains("spec.json: ") && unread.contains("can read and write it"), "{unread}");
    }
}
