//! `runstate governed approve`, `reject`, `escalate`, `halt`: decisions of a person, from any process.

use runstate::approval::ApprovalId;
use runstate::governed_run::{GovernedRunStatus, RunId};
use runstate_governed::{AwaitedInput, GovernedError, Governor};

use super::left_to_do;
use super::signals::until_signal;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::governed::{self, Runs};
use crate::output::{Output, printable};

/// Answer an approval of a run: approve, reject or escalate
///
/// approve lets the run continue: in the process that waits for it, or with `recover`. reject rolls the run back. escalate
/// halts the run. An approval of the plan comes before the first command: after reject the run stays in PLANNING until its
/// time limit. A late answer is refused, and the run is halted.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  runstate governed approvals
  runstate governed approve RUN-TINY-20260131-120000-A1 --digest sha256:0123456789ab --by ada --because 'tests pass'")]
pub(super) struct Args {
    /// The approval's id
    approval: ApprovalId,
    /// The name of the approver. Default: the user's name
    #[arg(long, value_name = "NAME")]
    by: Option<String>,
    /// The reason. Default: no reason
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    because: String,
    /// The run, if the approval's id does not contain it
    #[arg(long)]
    run: Option<RunId>,
    /// The digest of the action, or at least its first 16 characters: `sha256:` and 9 digits. An answer to an action with another digest is refused
    #[arg(long)]
    digest: Option<String>,
}

/// The minimum length of a digest: `sha256:` and nine digits.
const LEAST: usize = 16;

impl Args {
    /// Fails if the run asks another question than the shown one.
    fn check_shown(&self, governor: &Governor, run: &RunId, runs: &Runs) -> Result<(), Failure> {
        let approvals = runs.command("approvals");
        let Some(shown) = &self.digest else { return Ok(()) };
        if shown.len() < LEAST {
            return Err(Failure::new(format!(
                "--digest: expected at least {LEAST} characters, got {shown:?}"
            ))
            .with_help(format!("`{approvals}` lists the waiting actions with their digests")));
        }
        let asked = match governor.waits(run).map_err(governed::refused)? {
            Some(AwaitedInput::Approval(pending)) if pending.id == self.approval => pending.digest(),
            // The refusal of the answer states this.
            None if governor.status(run).is_ok_and(|status| status.is_rolling_back) => return Ok(()),
            // The run may ask between this check and the answer, and then with another digest.
            _ => {
                let what = format!("{run} does not wait for {} now; no decision was made", self.approval);
                return Err(Failure::new(what).with_help(format!("`{approvals}` lists the waiting actions")));
            }
        };
        match asked {
            Some(digest) if digest.starts_with(shown.as_str()) => Ok(()),
            asked => Err(Failure::new(format!(
                "the action of {} has another digest: got {shown}, expected {}; no decision was made",
                self.approval,
                asked.as_deref().unwrap_or("none: the approval has no record")
            ))
            .with_help(format!("`{approvals}` shows the action that waits now"))),
        }
    }
}

/// The user's name from the environment; blank without one, and then the answer is refused.
pub(super) fn user() -> String {
    let name = ["USER", "LOGNAME", "USERNAME"].into_iter().find_map(|name| std::env::var(name).ok());
    name.unwrap_or_default()
}

/// The name of the decider.
fn named(by: Option<&str>) -> Result<String, Failure> {
    let name = by.map_or_else(user, str::to_owned);
    if by.is_none() && name.trim().is_empty() {
        return Err(Failure::new("expected the user's name in USER, LOGNAME or USERNAME, got none")
            .with_help("name the person with `--by NAME`"));
    }
    Ok(name)
}

/// An answer to a question.
#[derive(Debug, Clone, Copy)]
pub(super) enum Answer {
    Approve,
    Reject,
    Escalate,
}

/// Answers, if the run asks the shown question.
pub(super) fn answer(answer: Answer, args: &Args, runs: &Runs, out: &mut Output) -> Result<Exit, Failure> {
    let Args { approval, because, .. } = args;
    let run = args.run.clone().map_or_else(|| governed::run_of(approval), Ok)?;
    let governor = runs.governor(&run)?;
    args.check_shown(&governor, &run, runs)?;
    let (by, recover) = (named(args.by.as_deref())?, runs.recover(&run));
    let answered = until_signal(runs, &recover, async {
        let answered = match answer {
            Answer::Approve => governor.approve(&run, approval, &by, because).await.map(|()| None),
            Answer::Reject => governor.reject(&run, approval, &by, because).await.map(Some),
            Answer::Escalate => governor.escalate(&run, approval, &by, because).await.map(Some),
        };
        answered.map_err(|error| match error {
            GovernedError::RollbackUnfinished { .. } => {
                governed::refused(error).with_help(format!("`{recover}` finishes it"))
            }
            error => governed::refused(error),
        })
    });
    // A late answer ends a run too.
    if governor.status(&run).is_ok_and(|status| status.state.is_terminal()) {
        runs.let_go(&run);
    }
    let Some(status) = answered? else {
        out.line(&format!("{approval} is approved; `{recover}` continues the run"));
        return Ok(Exit::Good);
    };
    let done = if let Answer::Reject = answer { "rejected" } else { "passed on" };
    out.line(&format!("{approval} is {done}; {run} is {status}"));
    if !status.is_terminal() {
        out.line(&format!(
            "  no command of the plan has run; the run halts at its time limit, or with `{}`",
            runs.command(&format!("halt {run}"))
        ));
    }
    Ok(Exit::Good)
}

/// Halt a run
///
/// The run is halted in any state, also with an unreadable plan. Its folder stays unchanged, and remaining processes of its
/// tools are ended. A run in VERIFYING or AUDITING with a readable plan is rolled back instead, with exit code 1.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  runstate governed halt RUN-TINY-20260131-120000 --by ada --because 'it is not needed any more'")]
pub(super) struct HaltArgs {
    /// The run's id
    run: RunId,
    /// The name of the person. Default: the user's name
    #[arg(long, value_name = "NAME")]
    by: Option<String>,
    /// The reason. Default: no reason
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    because: String,
    /// End a run with an unreadable state. The state is set aside, and nothing is checked or rolled back
    #[arg(long)]
    unreadable: bool,
}

pub(super) fn halt(args: &HaltArgs, runs: &Runs, out: &mut Output) -> Result<Exit, Failure> {
    let (run, by) = (&args.run, named(args.by.as_deref())?);
    let governor = runs.governor(run)?;
    if args.unreadable {
        let (fault, kept) = governor.abandon(run, &by, &args.because).map_err(governed::refused)?;
        runs.let_go(run);
        out.line(&format!("{run} is over: its unreadable state is kept as {}", kept.display()));
        out.line(&printable(&format!("  {fault}")));
        out.line("  nothing was checked or rolled back: its working folder is as its tools left it");
        return Ok(Exit::Good);
    }
    let before = governor.status(run).map_err(|error| {
        let halt = runs.command(&format!("halt {run} --unreadable"));
        governed::refused(error).with_help(format!("`{halt}` ends a run without its state"))
    })?;
    if before.state.is_terminal() {
        return Err(Failure::new(format!("{run} is over: it is {}", before.state)));
    }
    let halting = async { governor.halt(run, &by, &args.because).await.map_err(governed::refused) };
    let halted = until_signal(runs, &runs.recover(run), halting)?;
    runs.let_go(run);
    let status = governor.status(run).map_err(governed::refused)?;
    out.line(&format!("{run} is {halted}"));
    if let Some(why) = &status.why {
        out.line(&format!("  {}", printable(why)));
    }
    left_to_do(&status, runs).iter().for_each(|line| out.line(line));
    // A run in VERIFYING or AUDITING can only be rolled back, which may have been impossible.
    Ok(if halted == GovernedRunStatus::HaltedUnsafe { Exit::Good } else { Exit::Bad })
}
