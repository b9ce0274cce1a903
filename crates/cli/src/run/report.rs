//! What is said of a run when this process is done with it.

use std::fs::File;
use std::io::BufReader;

use runstate::agent::Pending;
use runstate::termination::TerminationReason;
use runstate::trace::{JsonlReader, Report, Timeline, Verdict, check_jsonl};
use serde_json::{Value, json};

use super::{Driven, Ending};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Output, printable};
use crate::rules::Laws;

/// Checks the run's trace, and says how the run ended and where its files are.
///
/// # Errors
/// A trace that cannot be read again.
pub(crate) fn report(
    driven: &Driven,
    ending: &Ending,
    state_dir: Option<&str>,
    as_json: bool,
    out: &mut Output,
) -> Result<Exit, Failure> {
    let checked = check_jsonl(trace(driven)?, &Laws::builtin()?.book)
        .map_err(|error| Failure::rendered(error.named(&driven.folder.trace().to_string_lossy()).report()))?;
    let exit = exit(ending, &checked);
    if as_json {
        out.json(&json(driven, ending, &checked, exit));
        return Ok(exit);
    }
    let (id, reason) = (driven.folder.id(), &ending.reason);
    let pending = driven.state.pending();
    out.line(&printable(&match reason {
        TerminationReason::Suspended if pending.len() == 1 => format!("{id} waits for a decision"),
        TerminationReason::Suspended => format!("{id} waits for {} decisions", pending.len()),
        reason => format!("{id} is done: {reason}"),
    }));
    out.text(&format!("\n{}\n", timeline(driven)?));
    out.text(&format!("trace    {}", checked.summary()));
    out.line(&format!("         {}", driven.folder.trace().display()));
    out.line(&format!("state    {}", driven.folder.state().display()));
    out.line(&format!("folder   {}", driven.folder.work().display()));
    if let Some(first) = pending.first() {
        out.line("");
        for pending in &pending {
            out.line(&question(pending));
        }
        let place = state_dir.map(|dir| format!(" --state-dir {}", quoted(dir))).unwrap_or_default();
        let call = quoted(first.call);
        out.line(&format!("go on with: runstate resume {id}{place} --approve {call} (or --deny, or --ask)"));
    }
    Ok(exit)
}

/// What a call waits for, in a line.
pub(super) fn question(pending: &Pending<'_>) -> String {
    let Pending { call, record, suspension } = pending;
    printable(&format!("{call} waits: {} {}: {}", record.tool(), record.arguments(), suspension.message))
}

/// A word that can be copied into a shell, whatever a scenario calls its calls.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '.' | '_' | '-' | ':' | '@');
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", printable(word).replace('\'', "'\\''"))
}

fn exit(ending: &Ending, checked: &Report) -> Exit {
    match (&ending.reason, checked.verdict) {
        (_, Verdict::Violates) => Exit::Bad,
        (TerminationReason::NaturalEnd, _) => Exit::Good,
        (TerminationReason::Suspended, _) => Exit::Waiting,
        _ => Exit::Bad,
    }
}

fn trace(driven: &Driven) -> Result<JsonlReader<BufReader<File>>, Failure> {
    let path = driven.folder.trace();
    let file = File::open(&path).map_err(|error| Failure::io("read", &path, &error))?;
    Ok(JsonlReader::new(BufReader::new(file)))
}

fn timeline(driven: &Driven) -> Result<Timeline, Failure> {
    let mut timeline = Timeline::new("tool_call", "run");
    let mut reader = trace(driven)?;
    while let Some(event) = reader.read().map_err(|error| Failure::rendered(error.report()))? {
        timeline.event(&event);
    }
    Ok(timeline)
}

fn json(driven: &Driven, ending: &Ending, checked: &Report, exit: Exit) -> Value {
    let calls: Vec<Value> = driven
        .state
        .calls()
        .map(|(name, call)| json!({"call": name, "tool": call.record().tool(), "status": call.status()}))
        .collect();
    let waiting: Vec<Value> = driven
        .state
        .pending()
        .iter()
        .map(|pending| {
            json!({
                "call": pending.call,
                "tool": pending.record.tool(),
                "arguments": pending.record.arguments(),
                "action": pending.suspension.action,
                "message": pending.suspension.message,
            })
        })
        .collect();
    json!({
        "run": driven.folder.id(),
        "status": driven.state.run().status(),
        "reason": ending.reason.to_string(),
        "exit": exit.code(),
        "steps": driven.state.steps(),
        "calls": calls,
        "waiting": waiting,
        "verdict": checked.verdict,
        "violation": checked.violation,
        "trace": driven.folder.trace(),
        "state": driven.folder.state(),
        "folder": driven.folder.work(),
    })
}
