//! `runstate governed …`

mod approvals;
mod decide;
mod drive;
mod ledger;
mod look;
mod signals;

use std::io::{self, BufRead, Write};
use std::path::PathBuf;

use clap::Subcommand;
use runstate::governed_run::{GovernedRunStatus, Rollback, RunId};
use runstate_governed::RunStatus;

use decide::Answer;

use crate::clock::unix_ms;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::governed::Runs;
use crate::output::{Output, complain, printable};

/// Run a plan of commands, with approvals, verification and an audit
///
/// A run writes its files after every transition, and survives a crash: `recover` continues the run. A person approves risky
/// commands, at this terminal or from another process. Every state has a time limit: `sweep` ends expired runs.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  runstate governed run examples/tiny-crate.yaml
  runstate governed approvals
  runstate governed approve RUN-TINY-20260131-120000-A1 --digest sha256:0123456789ab --by ada
  runstate governed recover RUN-TINY-20260131-120000

Exit codes:
  0  the run is complete; the decision is made; the ledger is sound
  1  the run was rolled back or halted; the ledger has a bad line
  2  an argument or a file is unusable
  3  the run waits for an approval
  4  the run is not over, and waits for no approval")]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
    /// The folder of the runs. Default: runstate/governed in the user's data folder
    #[arg(long, value_name = "DIR", global = true)]
    state_dir: Option<PathBuf>,
    /// The file with the keys that protect the state, the plan and the ledger of runs against other writers of the folder. A
    /// line has the name of a key and 64 hexadecimal digits (`openssl rand -hex 32`). The first key writes, and each key
    /// reads. Default: the text of RUNSTATE_KEY, with `;` between lines. Without a key, files have a checksum only
    #[arg(long, value_name = "FILE", global = true)]
    key_file: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum Command {
    Run(drive::RunArgs),
    Recover(drive::RecoverArgs),
    Approvals(approvals::Args),
    #[command(about = "Approve an action: the run continues")]
    Approve(decide::Args),
    #[command(about = "Reject an action: the run is rolled back")]
    Reject(decide::Args),
    #[command(about = "Escalate an action: the run is halted")]
    Escalate(decide::Args),
    Halt(decide::HaltArgs),
    Status(look::StatusArgs),
    Sweep(look::SweepArgs),
    VerifyLedger(ledger::Args),
}

pub(crate) fn run(args: &Args, out: &mut Output) -> Result<Exit, Failure> {
    let runs = Runs::new(args.state_dir.as_deref(), args.key_file.as_deref())?;
    match &args.command {
        Command::Run(args) => drive::run(args, runs, out),
        Command::Recover(args) => drive::recover(args, runs, out),
        Command::Approvals(args) => approvals::list(args, &runs, out),
        Command::Approve(args) => decide::answer(Answer::Approve, args, &runs, out),
        Command::Reject(args) => decide::answer(Answer::Reject, args, &runs, out),
        Command::Escalate(args) => decide::answer(Answer::Escalate, args, &runs, out),
        Command::Halt(args) => decide::halt(args, &runs, out),
        Command::Status(args) => look::status(args, &runs, out),
        Command::Sweep(args) => look::sweep(args, &runs, out),
        Command::VerifyLedger(args) => ledger::verify(args, &runs, out),
    }
}

/// The result for one of many runs. A failure is printed, and the other runs are still shown.
fn of_many<T>(run: &RunId, result: Result<T, Failure>, is_bad: &mut bool) -> Option<T> {
    result
        .inspect_err(|failure| {
            *is_bad = true;
            complain(&printable(&format!("{run}: {failure}")));
        })
        .ok()
}

/// The result of a run's rollback, in a word; null for a run that is not rolled back.
fn rollback(status: &RunStatus) -> Option<&'static str> {
    match &status.rollback {
        Some(Rollback::Complete) => Some("complete"),
        Some(Rollback::Incomplete { .. }) => Some("incomplete"),
        None => status.is_rolling_back.then_some("unfinished"),
    }
}

/// The line with the next step for a run with an incomplete or unfinished rollback.
fn left_to_do(status: &RunStatus, runs: &Runs) -> Option<String> {
    if status.is_rolling_back {
        // A state with its own end continues no rollback.
        let is_late = status.state == GovernedRunStatus::Executing && status.is_expired(unix_ms());
        let done = if is_late { "halts the run as it is" } else { "finishes it" };
        return Some(format!("  a rollback is unfinished: `{}` {done}", runs.recover(&status.run)));
    }
    let Some(Rollback::Incomplete { .. }) = status.rollback else { return None };
    let snapshot = runs.folder_of(&status.run).join("snapshot");
    let snapshot = printable(&snapshot.display().to_string());
    Some(format!(
        "  to do by hand: remove the cause, and copy changed files back from {snapshot}, the folder before the first tool"
    ))
}

/// An answer at the terminal.
enum Reply {
    /// With the text after the word.
    Yes(String),
    No,
    /// The input was at its end. The question stays open.
    None,
}

/// Asks at the terminal.
///
/// # Errors
/// The terminal cannot be read.
fn ask(question: &str) -> io::Result<Reply> {
    let mut err = io::stderr();
    write!(err, "{question} [y/N] ")?;
    err.flush()?;
    let mut line = String::new();
    if io::stdin().lock().read_line(&mut line)? == 0 {
        writeln!(err)?;
        return Ok(Reply::None);
    }
    let (yes, rest) = line.trim().split_once(char::is_whitespace).unwrap_or((line.trim(), ""));
    let is_yes = yes.eq_ignore_ascii_case("y") || yes.eq_ignore_ascii_case("yes");
    Ok(if is_yes { Reply::Yes(rest.trim().to_owned()) } else { Reply::No })
}
