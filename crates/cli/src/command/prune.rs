//! `runstate prune`

use std::path::Path;
use std::time::Duration;

use runstate::run::RunStatus;
use runstate::store::{RunInfo, RunQuery, StoreError};

use super::time::{away, time};
use crate::clock::unix_ms;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Output, complain, printable};
use crate::run;
use crate::runs;
use crate::spec::Spec;
use crate::store::{Missing, Opened, StoreArgs, beside, tell_damaged};

/// Remove finished runs by age, with the folders that their tools worked in
///
/// A run that waits or goes on is never removed. Of folders, those alone are removed that are below the folder of
/// --state-dir.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  runstate prune --older-than 7d --dry-run
  runstate prune --older-than 12h

Exit codes:
  0  removed, though there may have been none
  2  the store, or another argument, cannot be used; a folder cannot be removed")]
pub(crate) struct Args {
    /// Those that ended longer ago than this, such as 7d, 12h or 30m
    #[arg(long, value_name = "TIME", value_parser = time)]
    older_than: Duration,
    /// Say what would be removed, and remove nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    place: StoreArgs,
}

/// Runs that are asked for together.
const PAGE: usize = 100;

pub(crate) fn run(args: &Args, out: &mut Output) -> Result<Exit, Failure> {
    let opened = args.place.open(Missing::Refuse)?;
    let state_dir = args.place.state_dir()?;
    let now_ms = unix_ms();
    let age_ms = u64::try_from(args.older_than.as_millis()).unwrap_or(u64::MAX);
    let mut query = RunQuery::status(RunStatus::Done, PAGE);
    query.changed_before_ms = Some(now_ms.saturating_sub(age_ms));
    let mut removed = 0;
    loop {
        let page = opened.ask(opened.store.runs(&query))?;
        let is_last = page.len() < PAGE;
        if let Some(last) = page.last() {
            query = query.behind(last);
        }
        for run in &page {
            let ended = format!("{}, ended {}", run.id, away(now_ms, run.changed_at_ms));
            if args.dry_run {
                out.line(&printable(&format!("would remove {ended}")));
                removed += 1;
            } else if remove(&opened, &state_dir, run, now_ms)? {
                out.line(&printable(&format!("removed {ended}")));
                removed += 1;
            }
        }
        if is_last {
            break;
        }
    }
    tell_damaged(&opened)?;
    let runs = if removed == 1 { "run" } else { "runs" };
    out.line(&format!("{removed} {runs} {}", if args.dry_run { "would be removed" } else { "removed" }));
    Ok(Exit::Good)
}

/// Removes a run and its folder. Says whether it did: who looks at the run now keeps it.
fn remove(opened: &Opened, state_dir: &Path, run: &RunInfo, now_ms: u64) -> Result<bool, Failure> {
    // One that another program made has no folder of ours.
    let folder = run::load(opened, &run.id).ok().and_then(|loaded| Spec::of(&loaded).ok());
    match beside(opened.handle(), opened.store.remove(&run.id, now_ms)) {
        Ok(_) => {}
        Err(error @ StoreError::Held { .. }) => {
            complain(&printable(&format!("warning: {}: {error}", run.id)));
            return Ok(false);
        }
        Err(error) => return Err(opened.unchanged(&error)),
    }
    if let Some(spec) = folder {
        runs::remove(state_dir, &run.id, spec.folder())?;
    }
    Ok(true)
}
