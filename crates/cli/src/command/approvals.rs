//! `runstate approvals`

use runstate::decision::ResumeMode;
use runstate_store::{Approval, ApprovalFilter, ApprovalQuery};
use serde_json::{Value, json};

use super::page;
use super::time::ahead;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Output, exact, printable};
use crate::store::{Missing, StoreArgs, damaged_to_json, is_in_doubt, tell_damaged, waiting_to_json};

/// List the calls that wait for a decision
///
/// Each entry has the arguments of the call: an approval is for exactly these arguments. A call in doubt may have executed
/// when its run was interrupted: its approval lets it execute again.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  runstate approvals
  runstate approvals --run tidy-folder-1 --json

Exit codes:
  0  listed, though there may be none; what cannot be read is told on standard error
  2  there is no such run; the store, or another argument, cannot be used")]
pub(crate) struct Args {
    /// Only calls of this run
    #[arg(long)]
    run: Option<String>,
    /// Maximum number of calls
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u16).range(1..=1000))]
    limit: u16,
    /// Only calls after this place, as named by the previous page
    #[arg(long, value_name = "RUN/CALL")]
    after: Option<String>,
    /// An object with approvals; next: the value of --after for the next page, or null; and damaged: unreadable entries
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    place: StoreArgs,
}

pub(crate) fn run(args: &Args, out: &mut Output) -> Result<Exit, Failure> {
    let opened = args.place.open(Missing::Refuse)?;
    if let Some(run) = &args.run {
        // An unknown run and a run without waiting calls are different results.
        opened.ask(opened.store.pending_signals(run))?;
    }
    let about = args.run.clone().map_or(ApprovalFilter::All, ApprovalFilter::Run);
    let limit = usize::from(args.limit);
    let mut query = ApprovalQuery::new(about, limit);
    query.after = args.after.as_deref().map(page::call).transpose()?;
    let approvals = opened.ask(opened.store.approvals(&query))?;
    for one in approvals.iter().filter(|one| one.key().is_some()) {
        // Fails for a run that is stored under a key: its listed question cannot be trusted.
        opened.ask(opened.store.load(&one.run))?;
    }
    let damaged = tell_damaged(&opened)?;
    let next = approvals.last().filter(|_| approvals.len() == limit).map(page::behind_call);
    if args.json {
        let approvals: Vec<Value> = approvals.iter().map(waiting_to_json).collect();
        out.json(&json!({"approvals": approvals, "next": next, "damaged": damaged_to_json(&damaged)}));
        return Ok(Exit::Good);
    }
    if approvals.is_empty() {
        out.line("nothing waits for a decision");
    }
    for approval in &approvals {
        text(approval, out);
    }
    if let Some(next) = next {
        let next = crate::store::quoted(&next);
        let run = args.run.as_ref().map(|run| format!(" --run {}", crate::store::quoted(run)));
        let (run, place) = (run.unwrap_or_default(), args.place.to_repeat());
        out.line(&format!(
            "more: runstate approvals{run} --limit {limit} --after {next}{place}{}",
            place.note()
        ));
    }
    Ok(Exit::Good)
}

/// A waiting call, in a few lines.
pub(super) fn text(approval: &Approval, out: &mut Output) {
    let Approval { run, call, tool, arguments, digest, suspension, .. } = approval;
    let mut line = |line: String| out.line(&printable(&line));
    line(format!("{call} of {run}: {tool} {}", exact(&arguments.to_string())));
    if is_in_doubt(approval) {
        line("  in doubt    it may have executed already".to_owned());
    }
    line(format!("  asks        {}: {}", suspension.action, suspension.message));
    match suspension.resume_mode {
        ResumeMode::ReplayToolCall => {}
        ResumeMode::PassDecisionToTool => {
            line("  answer      --result takes the place of these arguments".to_owned());
        }
        ResumeMode::UseDecisionAsToolResult => {
            line("  answer      --result is the result of the call, and the tool is not executed".to_owned());
        }
    }
    if let Some(schema) = &suspension.response_schema {
        line(format!("  --result    fits {}", exact(&schema.to_string())));
    }
    if suspension.distinct_actors {
        line("  actor       another person than those that have approved this call".to_owned());
    }
    if !suspension.parameters.is_null() && !is_in_doubt(approval) {
        line(format!("  parameters  {}", exact(&suspension.parameters.to_string())));
    }
    line(format!("  suspension  {}", suspension.id));
    line(format!("  digest      {}", short(digest)));
    match approval.left {
        None => {}
        Some(left) if left.is_zero() => line(format!("  lapses      {LAPSED}")),
        Some(left) => line(format!("  lapses      {}", ahead(left))),
    }
}

/// The text for an expired question.
const LAPSED: &str = "its time is over: a worker gives the call up, and so does `runstate expire`";

/// The beginning of a digest, for people.
fn short(digest: &str) -> &str {
    digest.get(..SHORT).unwrap_or(digest)
}

/// The length of a digest that identifies it: its kind, and 128 bits.
pub(super) const SHORT: usize = "sha256:".len() + 32;
