//! `runstate governed run` and `recover`.

use std::time::Duration;

use runstate::governed_run::{GovernedRunStatus, RunId};
use runstate_governed::{
    AwaitedInput, GovernedError, Governor, PendingApproval, Progressed, Repairs, RunStatus,
};
use serde_json::json;

use super::signals::until_signal;
use super::{Reply, ask, left_to_do, rollback};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::governed::{self, Runs};
use crate::output::{Output, complain, printable};

/// Run the plan of a file
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  runstate governed run examples/tiny-crate.yaml --ask")]
pub(super) struct RunArgs {
    /// The plan, a YAML file
    plan: String,
    #[command(flatten)]
    how: How,
}

/// Continue a run: an approved one, or one that a crash interrupted
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  runstate governed recover RUN-TINY-20260131-120000")]
pub(super) struct RecoverArgs {
    /// The run's id
    run: RunId,
    #[command(flatten)]
    how: How,
}

#[derive(Debug, clap::Args)]
struct How {
    /// Ask at the terminal about each action that needs an approval
    #[arg(long, conflicts_with = "wait")]
    ask: bool,
    /// Wait for decisions of other processes. Without this flag, a waiting run ends the command with exit code 3
    #[arg(long)]
    wait: bool,
    /// Approve the plan in the user's name, if the plan needs an approval
    #[arg(long)]
    approve_plan: bool,
    /// Report each command and its end on standard error. Default: if standard error is a terminal
    #[arg(long)]
    progress: bool,
    /// Print one JSON object at the end: run, status, waits, why, rollback, exit, repairs, report, folder
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &RunArgs, runs: Runs, out: &mut Output) -> Result<Exit, Failure> {
    let file = governed::read(&args.plan)?;
    let run = runs.create(&file)?;
    complain(&format!("run {run}"));
    drive(&run, &args.how, runs, out)
}

pub(super) fn recover(args: &RecoverArgs, runs: Runs, out: &mut Output) -> Result<Exit, Failure> {
    drive(&args.run, &args.how, runs, out)
}

fn drive(run: &RunId, how: &How, runs: Runs, out: &mut Output) -> Result<Exit, Failure> {
    let runs = &runs.told(how.progress);
    let governor = runs.governor(run)?;
    let progressed = until_signal(runs, &runs.recover(run), live(&governor, run, how))?;
    let status = governor.status(run).map_err(governed::refused)?;
    if status.state.is_terminal() {
        runs.let_go(run);
    }
    let exit = match status.state {
        GovernedRunStatus::Completed => Exit::Good,
        state if state.is_terminal() => Exit::Bad,
        _ if matches!(progressed.waits, Some(AwaitedInput::Approval(_))) => Exit::Waiting,
        _ => Exit::Unfinished,
    };
    if how.json {
        out.json(&told(&progressed, &status, exit, runs));
    } else {
        text(&progressed, &status, runs, out);
    }
    Ok(exit)
}

/// Drives the run as far as possible, asking or waiting on the way.
async fn live(governor: &Governor, run: &RunId, how: &How) -> Result<Progressed, Failure> {
    let mut repairs = Repairs::default();
    loop {
        let mut progressed = match governor.resume(run).await {
            Err(GovernedError::Busy { .. }) if how.wait => {
                tokio::time::sleep(POLL).await;
                continue;
            }
            progressed => progressed.map_err(governed::refused)?,
        };
        // The run is opened again after each answer, and the first access has repaired it.
        repairs += std::mem::take(&mut progressed.repairs);
        progressed.repairs = repairs.clone();
        let Some(AwaitedInput::Approval(pending)) = &progressed.waits else { return Ok(progressed) };
        if how.approve_plan && progressed.status == GovernedRunStatus::Planning {
            let by = Some(super::decide::user()).filter(|name| !name.trim().is_empty());
            let by = by.unwrap_or_else(|| "command line".to_owned());
            governor.approve(run, &pending.id, &by, "--approve-plan").await.map_err(governed::refused)?;
        } else if how.ask {
            if !asked(governor, run, pending).await? {
                return Ok(progressed);
            }
        } else if how.wait {
            complain(&question(pending));
            decided(governor, run, pending).await?;
        } else {
            return Ok(progressed);
        }
    }
}

/// The poll interval of a waiting run.
const POLL: Duration = Duration::from_millis(200);

/// Waits until the run no longer asks. The file alone is read, so that a deciding command finds the run free.
async fn decided(governor: &Governor, run: &RunId, pending: &PendingApproval) -> Result<(), Failure> {
    loop {
        governor.expire(run).await.map_err(governed::refused)?;
        let status = governor.status(run).map_err(governed::refused)?;
        if status.pending.as_ref() != Some(&pending.id) {
            return Ok(());
        }
        tokio::time::sleep(POLL).await;
    }
}

/// Asks at the terminal; returns whether there was an answer.
async fn asked(governor: &Governor, run: &RunId, pending: &PendingApproval) -> Result<bool, Failure> {
    let by = super::decide::user();
    // On a separate thread, so that signals are handled meanwhile.
    let asks = format!("{}\nApprove?", question(pending));
    let answer = tokio::task::spawn_blocking(move || ask(&asks)).await;
    let answer = answer
        .unwrap_or_else(|error| Err(std::io::Error::other(error)))
        .map_err(|error| Failure::new(format!("cannot ask at the terminal: {error}")))?;
    let done = match answer {
        Reply::Yes(why) => governor.approve(run, &pending.id, &by, &why).await,
        Reply::No => governor.reject(run, &pending.id, &by, "rejected at the terminal").await.map(drop),
        Reply::None => return Ok(false),
    };
    match done {
        // The question expired while the terminal was read; the run has continued.
        Ok(()) | Err(GovernedError::Expired { .. }) => Ok(true),
        Err(error) => Err(governed::refused(error)),
    }
}

pub(super) fn question(pending: &PendingApproval) -> String {
    match &pending.request {
        Some(request) => format!(
            "{} ({:?} risk) wants to {}\n  approval {}, to be answered by {}\n  digest {}",
            printable(request.tool()),
            request.risk(),
            printable(request.action()),
            pending.id,
            pending.answer_by,
            pending.digest().unwrap_or_default()
        ),
        None => format!(
            "approval {} has no record and cannot be answered; its run is halted at {}",
            pending.id, pending.answer_by
        ),
    }
}

fn text(progressed: &Progressed, status: &RunStatus, runs: &Runs, out: &mut Output) {
    let repairs = &progressed.repairs;
    if !repairs.is_empty() {
        out.line(&format!(
            "recovered: {} log lines, {} ledger lines, {} records of approvals, {} bytes of torn lines{}",
            repairs.log_lines,
            repairs.ledger_lines,
            repairs.approvals,
            repairs.cut_bytes,
            if repairs.report { ", FINAL_REPORT.md" } else { "" }
        ));
        for path in &repairs.set_aside {
            out.line(&format!("  {}: a damaged file, kept under this name", path.display()));
        }
    }
    out.line(&format!(
        "{}: {}, {} of {} tools completed",
        progressed.run,
        status.state,
        status.completed,
        status.planned.len()
    ));
    if let Some(why) = &status.why {
        out.line(&format!("  {}", printable(why)));
    }
    left_to_do(status, runs).iter().for_each(|line| out.line(line));
    match &progressed.waits {
        Some(AwaitedInput::Approval(pending)) => {
            question(pending).lines().for_each(|line| out.line(&format!("  {line}")));
            if let Some(command) = approve(pending, runs) {
                out.line("to answer, from any terminal, and to continue:");
                out.line(&format!("  {command}    (or reject, escalate)"));
                out.line(&format!("  {}", runs.recover(&progressed.run)));
            }
        }
        Some(AwaitedInput::Plan { objection }) => {
            out.line("  the run has no accepted plan, and halts at its time limit");
            if let Some(objection) = objection {
                out.line(&format!("  {}", printable(objection)));
            }
        }
        _ => {}
    }
    let folder = runs.folder_of(&progressed.run);
    let shown = if status.state.is_terminal() { folder.join("FINAL_REPORT.md") } else { folder };
    out.line(&format!("  {}", shown.display()));
}

/// The command that approves, with the first characters of the question's digest; `None` for a question without a record.
pub(super) fn approve(pending: &PendingApproval, runs: &Runs) -> Option<String> {
    let digest = pending.digest()?;
    let digest = digest.get(..19).unwrap_or(&digest);
    Some(runs.command(&format!("approve {} --digest {digest} --by NAME", pending.id)))
}

fn told(progressed: &Progressed, status: &RunStatus, exit: Exit, runs: &Runs) -> serde_json::Value {
    let folder = runs.folder_of(&progressed.run);
    let waits = match &progressed.waits {
        Some(AwaitedInput::Approval(pending)) => json!({
            "approval": pending.id, "answer_by": pending.answer_by, "request": pending.request, "digest": pending.digest(),
        }),
        Some(AwaitedInput::Plan { objection }) => json!({"plan": true, "objection": objection}),
        _ => serde_json::Value::Null,
    };
    let repairs = &progressed.repairs;
    json!({
        "run": progressed.run, "status": status.state, "waits": waits, "why": status.why, "rollback": rollback(status), "exit": exit.code(),
        "repairs": {
            "approvals": repairs.approvals, "log_lines": repairs.log_lines,
            "ledger_lines": repairs.ledger_lines, "cut_bytes": repairs.cut_bytes, "report": repairs.report,
            "set_aside": repairs.set_aside,
        },
        "report": status.state.is_terminal().then(|| folder.join("FINAL_REPORT.md")),
        "folder": folder,
    })
}
