//! `runstate governed status` and `sweep`.

use runstate::governed_run::{GovernedRunStatus, RunId};
use runstate_governed::RunStatus;
use serde_json::{Value, json};

use super::signals::until_signal;
use super::{left_to_do, of_many, rollback};
use crate::clock::unix_ms;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::governed::{self, Runs};
use crate::output::{Output, printable};

/// Show the state of runs
///
/// This command changes no run: an expired run stays in its state until `sweep` or another command ends it. A folder of a run
/// that is closed to its own user (`chmod 000`) is opened, with a message.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  runstate governed status RUN-TINY-20260131-120000 --json")]
pub(super) struct StatusArgs {
    /// The run. Default: all runs
    run: Option<RunId>,
    /// A list of JSON objects
    #[arg(long)]
    json: bool,
}

/// End every expired run
///
/// A run in an expired state is halted or rolled back, as its state requires. An expired run that another process holds stays,
/// and is named. The folder of a run that was killed before it
/// began is removed, with its copy of the plan's folder.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  runstate governed sweep")]
pub(super) struct SweepArgs {}

pub(super) fn status(args: &StatusArgs, runs: &Runs, out: &mut Output) -> Result<Exit, Failure> {
    let is_all = args.run.is_none();
    let shown = match &args.run {
        Some(run) => vec![run.clone()],
        None => runs.listed()?.0,
    };
    let (mut told, mut bad) = (Vec::new(), false);
    for run in shown {
        let status = runs.reader(&run).and_then(|governor| governor.status(&run).map_err(governed::refused));
        told.extend(if is_all { of_many(&run, status, &mut bad) } else { Some(status?) });
    }
    if args.json {
        out.json(&Value::Array(told.iter().map(as_json).collect()));
    } else {
        told.iter().for_each(|status| out.line(&as_text(status, runs)));
    }
    Ok(if bad { Exit::BadInput } else { Exit::Good })
}

fn as_text(status: &RunStatus, runs: &Runs) -> String {
    let mut text = format!("{}: {} since {}", status.run, status.state, status.since);
    if let Some(deadline) = status.deadline {
        let is_over = status.is_expired(unix_ms());
        text.push_str(&format!(
            ", until {deadline}{}",
            if is_over { format!(" (expired: `{}` ends it)", runs.command("sweep")) } else { String::new() }
        ));
    }
    text.push_str(&format!(", {} of {} tools completed", status.completed, status.planned.len()));
    if let Some(tool) = &status.current_tool {
        text.push_str(&format!(", at {}", printable(tool)));
    }
    if let Some(pending) = &status.pending {
        text.push_str(&format!("\n  waits for {pending}"));
    }
    if let Some(why) = &status.why {
        text.push_str(&format!("\n  {}", printable(why)));
    }
    if let Some(line) = left_to_do(status, runs) {
        text.push_str(&format!("\n{line}"));
    }
    text
}

fn as_json(status: &RunStatus) -> Value {
    json!({
        "run": status.run, "state": status.state, "since": status.since, "deadline": status.deadline,
        "tools_planned": status.planned, "completed": status.completed, "current_tool": status.current_tool,
        "pending": status.pending, "why": status.why, "rollback": rollback(status),
    })
}

pub(super) fn sweep(_: &SweepArgs, runs: &Runs, out: &mut Output) -> Result<Exit, Failure> {
    let mut bad = false;
    let (begun, unbegun) = runs.listed()?;
    for run in unbegun {
        if of_many(&run, runs.remove_unbegun(&run), &mut bad) == Some(true) {
            out.line(&format!("{run}: removed, because the run never began"));
        }
    }
    let mut written = Ok(());
    until_signal(runs, &runs.command("sweep"), async {
        for run in begun {
            // A signal that arrived meanwhile is handled here, after the lines of the previous runs.
            written = written.and(out.finish());
            tokio::task::yield_now().await;
            match of_many(&run, swept(&run, runs).await, &mut bad) {
                Some(Swept::To(state)) => out.line(&format!("{run}: {state}")),
                Some(Swept::Held) => out.line(&format!(
                    "{run}: expired, and another process holds it: end that process, and sweep again"
                )),
                Some(Swept::InTime) | None => {}
            }
        }
        // A missing place for a line must not skip a run.
        written?;
        Ok(if bad { Exit::BadInput } else { Exit::Good })
    })
}

enum Swept {
    /// It is over, or has time left.
    InTime,
    To(GovernedRunStatus),
    /// It is expired, and another process holds it.
    Held,
}

/// Applies the timeout of an expired run, by its own plan.
async fn swept(run: &RunId, runs: &Runs) -> Result<Swept, Failure> {
    let status = runs.reader(run)?.status(run).map_err(governed::refused)?;
    if !status.is_expired(unix_ms()) {
        return Ok(Swept::InTime);
    }
    let Some(state) = runs.governor(run)?.expire(run).await.map_err(governed::refused)? else {
        return Ok(Swept::Held);
    };
    if state.is_terminal() {
        runs.let_go(run);
    }
    Ok(Swept::To(state))
}
