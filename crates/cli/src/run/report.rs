//! The report on a run at the end of this process.

use std::io::BufReader;

use runstate::decision::ResumeMode;
use runstate::termination::TerminationReason;
use runstate::trace::{JsonlReader, Report, Verdict, check_jsonl};
use runstate_agent::Pending;
use runstate_review::{Marks, Timeline};
use runstate_store::Approval;
use serde_json::{Value, json};

use super::{Driven, Ending};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Output, columns, printable};
use crate::preview::{CHANGED, Shown};
use crate::rules::Laws;
use crate::secrets::masked_path;
use crate::store::{StoreArgs, StoredTrace, quoted, waiting_to_json};

/// Checks the run's trace, and reports the end of the run and its place.
///
/// # Errors
/// The trace cannot be read again.
pub(crate) fn report(
    driven: &Driven,
    ending: &Ending,
    place: &StoreArgs,
    as_json: bool,
    out: &mut Output,
) -> Result<Exit, Failure> {
    let checked = check_jsonl(trace(driven), &Laws::builtin()?.book)
        .map_err(|error| Failure::rendered(error.named(driven.id()).report()))?;
    let exit = exit(ending, &checked);
    if as_json {
        out.json(&json(driven, ending, &checked, exit));
        return Ok(exit);
    }
    let (id, reason) = (driven.id(), &ending.reason);
    let pending = pending(driven, ending);
    out.line(&printable(&match reason {
        TerminationReason::Suspended if ending.has_message => {
            format!("{id} has a message, and waits for a worker")
        }
        TerminationReason::Suspended if pending.len() == 1 => format!("{id} waits for a decision"),
        TerminationReason::Suspended => format!("{id} waits for {} decisions", pending.len()),
        reason => format!("{id} is done: {reason}"),
    }));
    out.lines(&format!("\n{}\n", timeline(driven)?));
    out.lines(&format!("trace    {}", checked.summary()));
    out.line(&format!("store    {}", driven.opened.url()));
    if let Some(folder) = driven.folder() {
        out.line(&printable(&format!("folder   {}", masked_path(&folder.to_string_lossy()))));
    }
    let (id, place) = (quoted(id), place.to_repeat());
    let note = place.note();
    out.line(&format!("show it with: runstate show {id}{place}{note}"));
    if let Some(first) = pending.first() {
        out.line("");
        for pending in &pending {
            out.line(&question(pending));
        }
        let question = quoted(&first.suspension.id);
        let resume = format!("runstate resume {id}{place} --approve {question} (or --deny, or --ask)");
        out.line(&format!("continue with: {resume}{note}"));
    }
    Ok(exit)
}

/// The waiting calls. A message closes them.
fn pending<'a>(driven: &'a Driven, ending: &Ending) -> Vec<Pending<'a>> {
    if ending.has_message { Vec::new() } else { driven.state.pending() }
}

/// The question of a call: a line, and the lines of its preview.
pub(super) fn question(pending: &Pending<'_>) -> String {
    let Pending { call, record, arguments, suspension } = pending;
    let mut text = format!("{call} waits: {} {arguments}: {}", record.tool(), suspension.message);
    let shown = Shown::of(&suspension.parameters);
    if shown.changed {
        text.push_str(&format!("; {CHANGED}"));
    }
    if !shown.rest.is_null() {
        text.push_str(&format!("; parameters {}", shown.rest));
    }
    if suspension.distinct_actors {
        text.push_str("; needs a person without an earlier approval of this call");
    }
    match suspension.resume_mode {
        ResumeMode::ReplayToolCall => {}
        ResumeMode::PassDecisionToTool => text.push_str("; the answer replaces the arguments"),
        ResumeMode::UseDecisionAsToolResult => {
            text.push_str("; the answer is the result, and the tool does not execute")
        }
    }
    let mut text = printable(&text);
    for line in shown.lines {
        text.push('\n');
        text.push_str(&line);
    }
    text
}

fn exit(ending: &Ending, checked: &Report) -> Exit {
    match (&ending.reason, checked.verdict) {
        (_, Verdict::Violates | Verdict::Interrupted) => Exit::Bad,
        (TerminationReason::NaturalEnd, _) => Exit::Good,
        (TerminationReason::Suspended, _) if ending.has_message => Exit::Unfinished,
        (TerminationReason::Suspended, _) => Exit::Waiting,
        _ => Exit::Bad,
    }
}

fn trace(driven: &Driven) -> JsonlReader<BufReader<StoredTrace<'_>>> {
    StoredTrace::of(&driven.opened, driven.id()).reader()
}

/// The end of the table of the run and its calls; `runstate show` has all of the trace.
fn timeline(driven: &Driven) -> Result<Timeline<'static>, Failure> {
    let laws = Laws::builtin()?;
    let mut marks = Marks::new(&laws.book);
    let mut timeline = Timeline::new(columns()).last(MOST_ROWS);
    let mut reader = trace(driven);
    while let Some((line, event)) =
        reader.read_numbered().map_err(|error| Failure::rendered(error.report()))?
    {
        if matches!(&*event.lifecycle, "run" | "tool_call") {
            timeline.event(&event, marks.event(line, &event).is_some());
        }
    }
    Ok(timeline)
}

/// The number of shown transitions.
const MOST_ROWS: usize = 60;

/// A waiting call as an entry in a list of approvals.
fn approval(run: &str, pending: &Pending<'_>) -> Approval {
    let Pending { call, record, arguments, suspension } = *pending;
    let tool = record.tool().to_owned();
    Approval::new(run.to_owned(), call.to_owned(), tool, arguments.clone(), suspension.clone())
}

fn json(driven: &Driven, ending: &Ending, checked: &Report, exit: Exit) -> Value {
    let calls: Vec<Value> = driven
        .state
        .calls()
        .map(|(name, call)| json!({"call": name, "tool": call.record().tool(), "status": call.status()}))
        .collect();
    let waiting: Vec<Value> = pending(driven, ending)
        .iter()
        .map(|pending| waiting_to_json(&approval(driven.id(), pending)))
        .collect();
    json!({
        "run": driven.id(),
        "status": driven.state.run().status(),
        "reason": ending.reason.to_string(),
        "exit": exit.code(),
        "steps": driven.state.steps(),
        "calls": calls,
        "waiting": waiting,
        "verdict": checked.verdict,
        "violation": checked.violation,
        "store": driven.opened.url(),
        "folder": driven.folder(),
    })
}
