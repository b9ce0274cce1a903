//! `runstate runs`

use std::fmt;

use clap::ValueEnum;
use runstate::run::RunStatus;
use runstate_store::{Approval, ApprovalFilter, RunInfo, RunQuery, moment};
use serde_json::{Value, json};

use super::page;
use super::time::{ahead, away};
use crate::clock::unix_ms;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Output, printable};
use crate::store::{Opened, StoreArgs, beside, damaged_to_json, is_in_doubt, tell_damaged, waiting};

/// List the runs of a store, the newest first
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  runstate runs
  runstate runs --status waiting --limit 100 --json

Exit codes:
  0  listed; unreadable entries are on standard error
  2  the store or another argument is unusable")]
pub(crate) struct Args {
    /// Only runs in this status
    #[arg(long, value_enum)]
    status: Option<Status>,
    /// Maximum number of runs. Default: 20
    #[arg(long, default_value_t = 20, hide_default_value = true, value_parser = clap::value_parser!(u16).range(1..=1000))]
    limit: u16,
    /// Only runs after this place, as named by the previous page
    #[arg(long, value_name = "MS/RUN")]
    after: Option<String>,
    /// One JSON object: runs; next, the value of --after for the next page, or null; and damaged, the unreadable entries
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    place: StoreArgs,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Status {
    /// The run is new, is driven, or was interrupted
    Running,
    /// Calls of the run wait for decisions
    Waiting,
    /// The run is over
    Done,
}

impl From<Status> for RunStatus {
    fn from(status: Status) -> Self {
        match status {
            Status::Running => RunStatus::Running,
            Status::Waiting => RunStatus::Waiting,
            Status::Done => RunStatus::Done,
        }
    }
}

pub(crate) fn run(args: &Args, out: &mut Output) -> Result<Exit, Failure> {
    let opened = args.place.open_to_read()?;
    let limit = usize::from(args.limit);
    let mut query = RunQuery::all(limit);
    query.status = args.status.map(RunStatus::from);
    query.after = args.after.as_deref().map(page::run).transpose()?;
    let runs = opened.ask(opened.store.runs(&query))?;
    let waits = runs.iter().map(|run| waits(&opened, run)).collect::<Result<Vec<Waits>, Failure>>()?;
    let damaged = tell_damaged(&opened)?;
    let next = runs.last().filter(|_| runs.len() == limit).map(page::behind_run);
    let now_ms = unix_ms();
    if args.json {
        let runs: Vec<Value> =
            runs.iter().zip(waits).map(|(run, waits)| to_json(run, waits, now_ms)).collect();
        out.json(&json!({"runs": runs, "next": next, "damaged": damaged_to_json(&damaged)}));
        return Ok(Exit::Good);
    }
    if runs.is_empty() {
        out.line("no runs");
        return Ok(Exit::Good);
    }
    let longest = runs.iter().map(|run| run.id.chars().count()).max().unwrap_or(0).clamp("run".len(), 200);
    out.line(&format!(
        "{:<longest$}  {:<8}{:>6}  {:<16}{:<11}driver",
        "run", "status", "steps", "waits", "changed"
    ));
    for (run, waits) in runs.iter().zip(waits) {
        text(run, waits, longest, now_ms, out);
    }
    if let Some(next) = next {
        let next = crate::store::quoted(&next);
        let status = args.status.and_then(|status| status.to_possible_value());
        let status = status.map(|status| format!(" --status {}", status.get_name())).unwrap_or_default();
        let place = args.place.to_repeat();
        out.line(&format!(
            "more: runstate runs{status} --limit {limit} --after {next}{place}{}",
            place.note()
        ));
    }
    Ok(Exit::Good)
}

/// Numbers of the waiting calls of a run, by their state.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Waits {
    /// Calls without a decision.
    undecided: usize,
    /// Undecided calls that may have executed.
    in_doubt: usize,
    /// Decided calls, which wait for a worker to drive the run.
    decided: usize,
    /// The id of a pending message, which closed the calls.
    message: Option<String>,
}

impl Waits {
    /// Counts the waiting calls of a run, of which `undecided` have no decision.
    pub(super) fn of(run: &RunInfo, undecided: &[Approval], message: Option<String>) -> Self {
        Waits {
            undecided: undecided.len(),
            in_doubt: undecided.iter().filter(|one| is_in_doubt(one)).count(),
            decided: (run.waiting as usize).saturating_sub(undecided.len()),
            message,
        }
    }
}

/// All waiting calls, with the decided and the doubtful ones.
impl fmt::Display for Waits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Waits { undecided, in_doubt, decided, ref message } = *self;
        if message.is_some() {
            return f.write_str("a message");
        }
        match (undecided + decided, undecided) {
            (0, _) => f.write_str("-")?,
            (all, 0) => write!(f, "{all}, decided")?,
            (all, _) if decided > 0 => write!(f, "{all}, {decided} decided")?,
            (all, _) => write!(f, "{all}")?,
        }
        if in_doubt > 0 { write!(f, ", {in_doubt} in doubt") } else { Ok(()) }
    }
}

fn waits(opened: &Opened, run: &RunInfo) -> Result<Waits, Failure> {
    if run.waiting == 0 {
        return Ok(Waits::default());
    }
    let undecided = waiting(opened, ApprovalFilter::Run(run.id.clone()))?;
    let mut message = None;
    // A message would have closed undecided calls.
    if undecided.is_empty() {
        message = match beside(opened.handle(), opened.store.pending_signals(&run.id)) {
            Ok(mail) => mail.message,
            // The run may have been removed meanwhile. The list of damaged runs below reports an unreadable
            // run.
            Err(_) => None,
        };
    }
    Ok(Waits::of(run, &undecided, message.map(|message| message.id)))
}

fn text(run: &RunInfo, waits: Waits, longest: usize, now_ms: u64, out: &mut Output) {
    let RunInfo { id, status, steps, .. } = run;
    let waits = waits.to_string();
    let status = format!("{status:?}");
    let changed = away(now_ms, run.changed_at_ms);
    let line = format!("{id:<longest$}  {status:<8}{steps:>6}  {waits:<16}{changed:<11}{}", in_hand(run));
    out.line(&printable(line.trim_end()));
    for note in notes(run) {
        out.line(&printable(&format!("  {note}")));
    }
}

fn in_hand(run: &RunInfo) -> String {
    match &run.holder {
        None => "-".to_owned(),
        Some(holder) if holder.left.is_zero() => format!("{} (lease expired)", holder.name),
        Some(holder) => holder.name.clone(),
    }
}

/// Formats further facts about a run.
pub(super) fn notes(run: &RunInfo) -> Vec<String> {
    let reason = run.reason.as_ref().filter(|_| run.status == RunStatus::Done);
    // The problem of a finished run no longer matters.
    let is_over = run.status == RunStatus::Done;
    let not_before = run.not_before.filter(|_| run.problem.is_some() && !run.is_set_aside());
    let not_before = not_before.map(|left| format!(", tried again {}", ahead(left))).unwrap_or_default();
    let problem =
        run.problem.as_ref().filter(|_| !is_over).map(|problem| format!("problem: {problem}{not_before}"));
    let cancel = run.cancel.as_ref().map(|reason| format!("cancellation: {reason}"));
    let reason = reason.map(|reason| format!("ended: {reason}"));
    [reason, cancel, problem].into_iter().flatten().collect()
}

/// A run for programs.
pub(super) fn to_json(run: &RunInfo, waits: Waits, now_ms: u64) -> Value {
    let holder = run.holder.as_ref().map(|holder| {
        json!({"name": holder.name, "until_ms": moment(now_ms, holder.left), "is_over": holder.left.is_zero()})
    });
    json!({
        "run": run.id,
        "title": run.title,
        "status": run.status,
        "reason": run.reason,
        "steps": run.steps,
        "commits": run.version,
        "undecided": waits.undecided,
        "in_doubt": waits.in_doubt,
        "decided": waits.decided,
        "message_id": waits.message,
        "holder": holder,
        "not_before_ms": run.not_before.map(|left| moment(now_ms, left)),
        "problem": run.problem,
        "set_aside": run.is_set_aside(),
        "cancel": run.cancel,
        "created_at_ms": run.created_at_ms,
        "changed_at_ms": run.changed_at_ms,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_calls_are_counted_by_decided_and_in_doubt() {
        let said =
            |undecided, in_doubt, decided| Waits { undecided, in_doubt, decided, message: None }.to_string();
        let message = Some("m1".to_owned());
        assert_eq!(Waits { decided: 2, message, ..Waits::default() }.to_string(), "a message");
        assert_eq!(said(0, 0, 0), "-");
        assert_eq!(said(2, 0, 0), "2");
        assert_eq!(said(0, 0, 2), "2, decided");
        assert_eq!(said(1, 0, 2), "3, 2 decided");
        assert_eq!(said(1, 1, 0), "1, 1 in doubt");
        assert_eq!(said(2, 1, 1), "3, 1 decided, 1 in doubt");
    }
}
