//! `runstate approvals`

use runstate::decision::ResumeMode;
use runstate_store::{Approval, ApprovalFilter, ApprovalQuery};
use serde_json::{Value, json};

use super::page;
use super::time::ahead;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Output, exact, printable};
use crate::preview::{CHANGED, Shown};
use crate::store::{StoreArgs, damaged_to_json, is_in_doubt, tell_damaged, waiting_to_json};

/// List the calls that wait for a decision
///
/// Each entry has the arguments of the call: an approval is for exactly these arguments. A call in doubt was executing when
/// its run was interrupted: its effect is unknown, and an approval lets it execute again.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  runstate approvals
  runstate approvals --run tidy-folder-1 --json

Exit codes:
  0  listed; unreadable entries are on standard error
  2  the run does not exist; the store or another argument is unusable")]
pub(crate) struct Args {
    /// Only calls of this run
    #[arg(long)]
    run: Option<String>,
    /// Maximum number of calls. Default: 50
    #[arg(long, default_value_t = 50, hide_default_value = true, value_parser = clap::value_parser!(u16).range(1..=1000))]
    limit: u16,
    /// Only calls after this place, as named by the previous page
    #[arg(long, value_name = "RUN/CALL")]
    after: Option<String>,
    /// One JSON object: approvals; next, the value of --after for the next page, or null; and damaged, the unreadable entries
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    place: StoreArgs,
}

pub(crate) fn run(args: &Args, out: &mut Output) -> Result<Exit, Failure> {
    let opened = args.place.open_to_read()?;
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
        out.line("no call waits for a decision");
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
        line("  in doubt    the call may have executed".to_owned());
    }
    line(format!("  asks        {}: {}", suspension.action, suspension.message));
    match suspension.resume_mode {
        ResumeMode::ReplayToolCall => {}
        ResumeMode::PassDecisionToTool => {
            line("  answer      --result replaces these arguments".to_owned());
        }
        ResumeMode::UseDecisionAsToolResult => {
            line(
                "  answer      --result is the result of the call, and the tool does not execute".to_owned(),
            );
        }
    }
    if let Some(schema) = &suspension.response_schema {
        line(format!("  --result    fits {}", exact(&schema.to_string())));
    }
    if suspension.distinct_actors {
        line("  actor       a person without an earlier approval of this call".to_owned());
    }
    if !is_in_doubt(approval) {
        let shown = Shown::of(&suspension.parameters);
        if shown.changed {
            line(format!("  changed     {CHANGED}"));
        }
        if !shown.rest.is_null() {
            line(format!("  parameters  {}", exact(&shown.rest.to_string())));
        }
        if !shown.lines.is_empty() {
            line("  preview".to_owned());
            shown.lines.into_iter().for_each(&mut line);
        }
    }
    line(format!("  suspension  {}", suspension.id));
    line(format!("  digest      {}", short(digest)));
    match approval.left {
        None => {}
        Some(left) if left.is_zero() => line(format!("  expires     {LAPSED}")),
        Some(left) => line(format!("  expires     {}", ahead(left))),
    }
}

/// The text for an expired question.
const LAPSED: &str = "expired: a worker or `runstate expire` cancels the call";

/// The beginning of a digest, for people.
fn short(digest: &str) -> &str {
    digest.get(..SHORT).unwrap_or(digest)
}

/// The length of a digest that identifies it: its kind, and 128 bits.
pub(super) const SHORT: usize = "sha256:".len() + 32;
