//! FINAL_REPORT.md: the plan, the calls, the approvals, the verification, the audits, and the duration of each state.

use std::borrow::Borrow;
use std::fmt::Write as _;
use std::path::Path;

use runstate::actor::is_unseen;
use runstate::approval::{AnyApproval, Outcome, Rejection, RejectionCause};
use runstate::governed_run::{GovernedRunStatus, HaltReason, Opinion, RollBackCause, Rollback, RunId};
use serde_json::{Map, Value};

use super::document::Document;
use super::error::GovernedError;
use super::notes::{Notes, ToolReport, restored};
use super::output::ToolStatus;
use super::timestamp::Timestamp;

/// The report of a finished run. It is derived from RUN_STATE.json alone, so that it can be written again.
pub(super) fn text<N: Borrow<Notes>>(document: &Document<GovernedRunStatus, N>) -> String {
    let mut text = String::new();
    write(document, &mut text).unwrap_or_else(|_| unreachable!("writing to a string does not fail"));
    text
}

/// The report of a run that an operator abandoned because its state could not be read.
pub(super) fn of_abandoned(
    run: &RunId,
    fault: &GovernedError,
    kept: &Path,
    (by, why): (&str, &str),
    at: u64,
) -> String {
    let (at, fault, kept) =
        (Timestamp::from_ms(at), one_line(&fault.to_string()), one_line(&kept.display().to_string()));
    let by = one_line(by);
    let why = if why.trim().is_empty() { "no reason was given".to_owned() } else { one_line(why) };
    format!(
        "# {run}: given up\n\n**{by} gave the run up at {at}: {why}**\n\nIts state could not be read: {fault}\n\nThe state is kept as \
         {kept}. How far the run came is not known: nothing was checked, and nothing was rolled back.\n"
    )
}

fn write<N: Borrow<Notes>>(document: &Document<GovernedRunStatus, N>, out: &mut String) -> std::fmt::Result {
    let notes = document.runstate.as_ref().map(|ours| ours.notes.borrow());
    writeln!(out, "# {}: {}\n", document.run_id, document.current_state)?;
    let (made, over) = (document.created_at, document.updated_at);
    writeln!(out, "Made at {made}, over at {over}, after {}.", lasted(over.ms().saturating_sub(made.ms())))?;
    if let Some(why) = document.runstate.as_ref().and_then(|ours| why(document.current_state, &ours.state)) {
        writeln!(out, "\n**{}**", one_line(&why))?;
    }
    planned(document, notes, out)?;
    let Some(notes) = notes else {
        writeln!(out, "\nThe run is another tool's: its calls are not recorded.")?;
        return states(document, out);
    };
    done(&notes.tools, out)?;
    approvals(notes, out)?;
    reviewed(notes, out)?;
    states(document, out)
}

fn planned<N>(
    document: &Document<GovernedRunStatus, N>,
    notes: Option<&Notes>,
    out: &mut String,
) -> std::fmt::Result {
    writeln!(out, "\n## Planned\n")?;
    for (i, tool) in document.tools_planned.iter().enumerate() {
        let is_done = i < document.tools_completed.len();
        writeln!(
            out,
            "{}. {}: {}",
            i + 1,
            one_line(tool),
            if is_done { "completed" } else { "not completed" }
        )?;
    }
    if document.tools_planned.is_empty() {
        writeln!(out, "No tools.")?;
    }
    let Some(plan) = notes.and_then(|notes| notes.plan.as_ref()) else { return Ok(()) };
    if let Some(by) = &plan.approved_by {
        writeln!(out, "\nThe plan was approved by {}.", one_line(by))?;
    }
    if let Some(objection) = &plan.objection {
        writeln!(out, "\nAgainst the plan: {}", one_line(objection))?;
    }
    for declared in &plan.risks {
        writeln!(out, "\n- {:?} risk: {}", declared.risk, one_line(&declared.what))?;
    }
    Ok(())
}

fn done(tools: &[ToolReport], out: &mut String) -> std::fmt::Result {
    writeln!(out, "\n## Done\n")?;
    if tools.is_empty() {
        return writeln!(out, "No tool was called.");
    }
    for report in tools {
        let ended = match (report.status, report.ended) {
            (Some(ToolStatus::Pass), _) => "passed",
            (Some(ToolStatus::Fail), _) => "failed",
            (Some(ToolStatus::NeedsApproval), _) => "asked for an approval",
            (Some(ToolStatus::Halted), _) => "halted",
            (None, Some(_)) => "broke off",
            (None, None) => "never ended",
        };
        write!(out, "- {}, try {}: {ended}", one_line(&report.tool), report.number)?;
        if let Some(end) = report.ended {
            write!(out, " after {}", lasted(end.ms().saturating_sub(report.began.ms())))?;
        }
        if let Some(id) = &report.approval {
            write!(out, ", with approval {id}")?;
        }
        writeln!(out)?;
        if let Some(error) = &report.error {
            writeln!(out, "  - error: {}", one_line(error))?;
        }
        for shown in &report.evidence {
            writeln!(out, "  - evidence: {}", one_line(shown))?;
        }
        for declared in &report.risks {
            writeln!(out, "  - {:?} risk: {}", declared.risk, one_line(&declared.what))?;
        }
        for change in &report.changes {
            writeln!(out, "  - {} {}", one_line(&change.kind), one_line(&change.what))?;
        }
    }
    Ok(())
}

fn approvals(notes: &Notes, out: &mut String) -> std::fmt::Result {
    writeln!(out, "\n## Approvals\n")?;
    if notes.approvals.is_empty() {
        return writeln!(out, "None was needed.");
    }
    for approval in notes.approvals.iter().filter_map(restored) {
        let (record, request) = (approval.record(), approval.record().request());
        let (id, tool, risk) = (record.id(), one_line(request.tool()), request.risk());
        writeln!(out, "- {id}, {risk:?} risk: {tool} wanted to {}", one_line(request.action()))?;
        let said = match &approval {
            AnyApproval::Requested(_) | AnyApproval::AwaitingHuman(_) => "  - never answered".to_owned(),
            AnyApproval::Approved(approval) => {
                format!("  - {}, and never used", approved(approval.state().decision()))
            }
            AnyApproval::Executed(approval) => {
                let outcome = match approval.state().outcome() {
                    Outcome::Succeeded => "it succeeded".to_owned(),
                    Outcome::Failed { error } => format!("it failed: {}", one_line(error)),
                };
                let at = Timestamp::from_ms(approval.state().executed_at());
                format!("  - {}\n  - used at {at}: {outcome}", approved(approval.state().decision()))
            }
            AnyApproval::Rejected(approval) => rejected(approval.state().rejection()),
            AnyApproval::Aborted(approval) => rejected(approval.state().rejection()),
        };
        writeln!(out, "{said}")?;
    }
    Ok(())
}

fn approved(decision: &runstate::approval::Decision) -> String {
    let reason = decision.reason().map(|reason| format!(": {}", one_line(reason))).unwrap_or_default();
    format!("approved by {} at {}{reason}", one_line(decision.by()), Timestamp::from_ms(decision.at()))
}

fn rejected(rejection: &Rejection) -> String {
    let at = Timestamp::from_ms(rejection.at());
    match rejection.cause() {
        RejectionCause::Person { by, reason } => {
            format!("  - rejected by {} at {at}: {}", one_line(by), one_line(reason))
        }
        RejectionCause::Timeout => format!("  - not answered in time, by {at}"),
        RejectionCause::Escalation { why } => format!("  - escalated at {at}: {}", one_line(why)),
    }
}

fn reviewed(notes: &Notes, out: &mut String) -> std::fmt::Result {
    writeln!(out, "\n## Verified\n")?;
    match &notes.verification {
        None => writeln!(out, "It was not.")?,
        Some(verification) => {
            for shown in &verification.evidence {
                writeln!(out, "- {}", one_line(shown))?;
            }
            if let Some(failure) = &verification.failure {
                writeln!(out, "- failed: {}", one_line(failure))?;
            }
        }
    }
    writeln!(out, "\n## Audited\n")?;
    if notes.verdicts.is_empty() {
        writeln!(out, "It was not.")?;
    }
    for verdict in &notes.verdicts {
        let says = match verdict.opinion() {
            Opinion::Pass => "pass",
            Opinion::Fail => "fail",
            Opinion::Unclear => "unclear",
        };
        writeln!(out, "- {}: {says}. {}", one_line(verdict.reviewer()), one_line(verdict.note()))?;
    }
    Ok(())
}

fn states<N>(document: &Document<GovernedRunStatus, N>, out: &mut String) -> std::fmt::Result {
    writeln!(out, "\n## States\n\n| state | entered at | lasted |\n|---|---|---|")?;
    for entry in &document.state_history {
        let lasted = match entry.exited_at {
            Some(exited) => lasted(exited.ms().saturating_sub(entry.entered_at.ms())),
            None => String::new(),
        };
        writeln!(out, "| {} | {} | {lasted} |", entry.state, entry.entered_at)?;
    }
    Ok(())
}

/// The reason of an unsuccessful end, from the data of the state.
pub(super) fn why(state: GovernedRunStatus, data: &Map<String, Value>) -> Option<String> {
    let part = |name: &str| data.get(name).cloned().unwrap_or_default();
    match state {
        GovernedRunStatus::HaltedUnsafe => {
            serde_json::from_value::<HaltReason>(part("reason")).ok().map(|reason| reason.to_string())
        }
        GovernedRunStatus::RolledBack => {
            let cause = match serde_json::from_value(part("cause")).ok()? {
                RollBackCause::ToolFailed { tool: Some(tool) } => format!("{tool} failed"),
                RollBackCause::ToolFailed { tool: None } => "a failure between tools".to_owned(),
                RollBackCause::Rejected { approval } => format!("approval {approval} was rejected"),
                RollBackCause::VerificationFailed => "the verification failed".to_owned(),
                RollBackCause::AuditFailed => "the audit did not pass".to_owned(),
                RollBackCause::Timeout { state } => format!("{state} lasted too long"),
                RollBackCause::Person { by } => format!("{by} halted the run"),
            };
            let said = part("why");
            let rollback = match rollback(state, data) {
                Some(Rollback::Complete) => "everything was rolled back".to_owned(),
                Some(Rollback::Incomplete { errors }) => {
                    format!("THE ROLLBACK IS INCOMPLETE: {}", errors.join("; "))
                }
                None => "how the rollback went is not known".to_owned(),
            };
            Some(format!("{cause} ({}); {rollback}", said.as_str().unwrap_or_default()))
        }
        GovernedRunStatus::Init
        | GovernedRunStatus::Planning
        | GovernedRunStatus::Executing
        | GovernedRunStatus::AwaitingApproval
        | GovernedRunStatus::Verifying
        | GovernedRunStatus::Auditing
        | GovernedRunStatus::Completed => None,
    }
}

/// The outcome of the rollback, from the data of the state; `None` for a run that was not rolled back.
pub(super) fn rollback(state: GovernedRunStatus, data: &Map<String, Value>) -> Option<Rollback> {
    let part = |name: &str| data.get(name).cloned().unwrap_or_default();
    match state {
        GovernedRunStatus::RolledBack => serde_json::from_value(part("rollback")).ok(),
        GovernedRunStatus::HaltedUnsafe => match serde_json::from_value(part("reason")).ok()? {
            HaltReason::RollbackFailed { errors, .. } => Some(Rollback::Incomplete { errors }),
            _ => None,
        },
        GovernedRunStatus::Init
        | GovernedRunStatus::Planning
        | GovernedRunStatus::Executing
        | GovernedRunStatus::AwaitingApproval
        | GovernedRunStatus::Verifying
        | GovernedRunStatus::Auditing
        | GovernedRunStatus::Completed => None,
    }
}

/// Escapes a text, so that it stays on one line and contains no markup.
fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for c in text.trim().chars() {
        match c {
            '\n' | '\r' | '\t' => line.push(' '),
            c if c.is_control() => line.push('·'),
            c if is_unseen(c) => line.extend(c.escape_unicode()),
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '#' => line.extend(['\\', c]),
            c => line.push(c),
        }
    }
    line
}

fn lasted(ms: u64) -> String {
    match ms {
        ms if ms < 1000 => format!("{ms} ms"),
        ms if ms < 60_000 => format!("{}.{:03} s", ms / 1000, ms % 1000),
        ms if ms < 3_600_000 => format!("{} min {} s", ms / 60_000, ms / 1000 % 60),
        ms => format!("{} h {} min {} s", ms / 3_600_000, ms / 60_000 % 60, ms / 1000 % 60),
    }
}
