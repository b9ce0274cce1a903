//! The history of a RUN_STATE.json as a trace, and its approvals, tools and decisions as facts.

use std::path::Path;

use runstate::approval::ApprovalStatus;
use runstate::trace::Event;
use runstate_governed::{ApprovalNote, StateReport, Timestamp, ToolReport, check_state};
use runstate_review::Fact;

use crate::failure::Failure;
use crate::input;
use crate::run_log;
use crate::run_state;

/// The name of the file.
const NAME: &str = "RUN_STATE.json";

/// Reads a state file.
///
/// # Errors
/// The file cannot be read, or is no state of a governed run.
pub(super) fn read(path: &str) -> Result<StateReport, Failure> {
    let bytes =
        input::read(Path::new(path), run_state::MOST).map_err(|error| input::unreadable(path, &error))?;
    check_state(&bytes, None).map_err(|why| {
        Failure::new(format!("{path}: {why}"))
            .with_help("`runstate show` takes the RUN_STATE.json or the RUN_LOG.jsonl of a governed run")
    })
}

/// The state beside a log, if there is a readable one.
pub(super) fn beside(log: &str) -> Option<StateReport> {
    let path = Path::new(log).with_file_name(NAME);
    if path.exists() { read(path.to_str()?).ok() } else { None }
}

/// The history as a trace, with the number of each entry, from 1, as its line. A transition that the lifecycle lacks has the
/// event `unknown`.
pub(super) fn events(state: &StateReport) -> Vec<(u64, Event<'static>)> {
    let mut from: Option<&String> = None;
    let mut events = Vec::with_capacity(state.history.len());
    for (line, (to, at)) in (1..).zip(state.history.iter().zip(&state.entered_at)) {
        let event = run_log::event_name(from.map(String::as_str), to).unwrap_or("unknown");
        let states = (from.map(String::as_str), event, to.as_str());
        events.extend(
            run_log::event_between(state.run.as_str(), line, at.ms(), states).map(|event| (line, event)),
        );
        from = Some(to);
    }
    events
}

/// The faults at the entry with this number: those of the entry, and at the last one those of the whole file.
pub(super) fn faults_at(state: &StateReport, entry: u64) -> Option<String> {
    let of_entry = |fault: &str| {
        let number = fault.strip_prefix("state_history, entry ")?.split(' ').next()?;
        number.parse::<u64>().ok().filter(|number| *number <= state.history.len() as u64)
    };
    let is_last = entry == state.history.len() as u64;
    let faults = state.faults.iter().map(String::as_str);
    let here: Vec<&str> =
        faults.filter(|fault| of_entry(fault).map_or(is_last, |number| number == entry)).collect();
    (!here.is_empty()).then(|| here.join("; "))
}

/// The decisions with their actors, and the calls of tools. Stable facts have numbers in place of ids, and no times.
pub(super) fn facts(state: &StateReport, is_stable: bool) -> Vec<Fact> {
    let mut facts = Vec::new();
    // The run waits from the time of a question on, except for one about its plan.
    let entries = state.history.iter().zip(&state.entered_at);
    let waits: Vec<&Timestamp> =
        entries.filter(|(state, _)| *state == "AWAITING_APPROVAL").map(|(_, entered)| entered).collect();
    for (number, approval) in (1..).zip(&state.approvals) {
        let request = &approval.request;
        let id = if is_stable { format!("{number}") } else { approval.id.to_string() };
        let asked = format!("{} ({:?} risk): {}", request.tool(), request.risk(), request.action());
        let at = if is_stable { String::new() } else { format!(", at {}", approval.requested_at) };
        let mut add = |name: &str, said: String| {
            let fact = Fact::new(format!("{name} {id}"), said);
            facts.push(match waits.iter().position(|entered| **entered == approval.requested_at) {
                Some(wait) => fact.of_wait(wait + 1),
                None => fact,
            });
        };
        add("question", asked + &at);
        add("decision", decided(approval, is_stable));
    }
    for tool in &state.tools {
        facts
            .push(Fact::new(format!("tool {}, attempt {}", tool.tool, tool.number), called(tool, is_stable)));
    }
    if let Some(why) = state.status.as_ref().and_then(|status| status.why.as_ref()) {
        facts.push(Fact::new("reason of the end", why));
    }
    facts.extend(state.faults.iter().map(|fault| Fact::new("fault", fault)));
    facts
}

fn decided(approval: &ApprovalNote, is_stable: bool) -> String {
    let (what, attempted) = match approval.status {
        ApprovalStatus::Requested | ApprovalStatus::AwaitingHuman => ("not decided yet", ""),
        ApprovalStatus::Approved => ("approved", ""),
        ApprovalStatus::Executed => ("approved", "; the action was attempted"),
        ApprovalStatus::Rejected | ApprovalStatus::Aborted => ("rejected", ""),
    };
    let by = approval.by.as_ref().map(|by| format!(" by {by}")).unwrap_or_default();
    let at = approval.decided_at.filter(|_| !is_stable).map(|at| format!(", at {at}")).unwrap_or_default();
    let reason = approval.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
    format!("{what}{by}{at}{reason}{attempted}")
}

fn called(tool: &ToolReport, is_stable: bool) -> String {
    let mut said = match &tool.status {
        Some(status) => format!("{status:?}").to_lowercase(),
        None => "no result".to_owned(),
    };
    if let Some(ended) = tool.ended.filter(|_| !is_stable) {
        said.push_str(&format!(" after {} ms", ended.ms().saturating_sub(tool.began.ms())));
    }
    if let Some(approval) = tool.approval.as_ref().filter(|_| !is_stable) {
        said.push_str(&format!(", approved as {approval}"));
    }
    if let Some(error) = &tool.error {
        said.push_str(&format!("; {error}"));
    }
    for evidence in &tool.evidence {
        said.push_str(&format!("; {evidence}"));
    }
    said
}
