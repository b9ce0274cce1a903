//! A redactor with visible marks: unmarked values are detected, and marked values are restored.

use runstate::decision::Suspension;
use runstate::termination::{StoppedReason, TerminationReason};
use runstate_agent::event::{AgentEvent, CallOutcome, EventKind, Interrupt, Redact, Redacted, Which};
use serde_json::{Value, json};

/// The prefix of a hidden text.
const VEILED: &str = "veiled: ";
/// The field of a hidden value.
const VEIL: &str = "veil";

/// Hides each value behind a mark with its kind and its owner.
#[derive(Debug, Clone, Copy)]
pub(super) struct Veil;

impl Redact for Veil {
    fn redact(&self, what: Redacted<'_>, value: &Value) -> Value {
        match (what.which, value) {
            (Which::Error | Which::End, Value::String(text)) => json!(format!("{VEILED}{text}")),
            (Which::Suspension, asked) => json!({
                "message": format!("{VEILED}{}", asked["message"].as_str().unwrap_or_default()),
                "parameters": veiled(what, &asked["parameters"]),
            }),
            (_, value) => veiled(what, value),
        }
    }
}

fn veiled(what: Redacted<'_>, value: &Value) -> Value {
    json!({ VEIL: mark(what.which, what.call), "value": value })
}

fn mark(which: Which, call: &str) -> String {
    format!("{which:?} of {call}")
}

/// The event without redaction.
///
/// # Errors
/// The part that was not redacted, or that was redacted as another kind.
pub(super) fn unveil(event: &AgentEvent) -> Result<AgentEvent, String> {
    let mut event = event.clone();
    match &mut event.kind {
        EventKind::ToolCallReady { call, arguments, .. } => value(arguments, Which::Arguments, call)?,
        EventKind::ToolCallProgress { call, progress } => value(progress, Which::Progress, call)?,
        EventKind::ToolCallSuspended { interrupt } => asked(interrupt)?,
        EventKind::RunFinished { waiting, reason, .. } => {
            waiting.iter_mut().try_for_each(asked)?;
            end(reason)?;
        }
        EventKind::Error { message } => text(message)?,
        EventKind::ToolCallArguments { call, .. } => {
            return Err(format!("a piece of the arguments of {call} left"));
        }
        EventKind::ToolCallDone { call, outcome } => match outcome {
            CallOutcome::Succeeded { output, warning } => {
                value(output, Which::Output, call)?;
                warning.iter_mut().try_for_each(text)?;
            }
            CallOutcome::Failed { error } => text(error)?,
            CallOutcome::Cancelled { reason, .. } => text(reason)?,
        },
        _ => {}
    }
    Ok(event)
}

fn end(reason: &mut TerminationReason) -> Result<(), String> {
    match reason {
        TerminationReason::Error(message) | TerminationReason::Blocked(message) => text(message),
        TerminationReason::Stopped(stopped) => {
            let Some(detail) = stopped.detail() else { return Ok(()) };
            let mut detail = detail.to_owned();
            text(&mut detail)?;
            *stopped =
                StoppedReason::new(stopped.code(), Some(&detail)).map_err(|error| error.to_string())?;
            Ok(())
        }
        _ => Ok(()),
    }
}

fn asked(interrupt: &mut Interrupt) -> Result<(), String> {
    suspension(&interrupt.call, &mut interrupt.suspension)
}

/// The question of a call, without redaction.
///
/// # Errors
/// As [`unveil`].
pub(super) fn suspension(call: &str, suspension: &mut Suspension) -> Result<(), String> {
    text(&mut suspension.message)?;
    value(&mut suspension.parameters, Which::Suspension, call)
}

/// The arguments of a waiting call, without redaction.
///
/// # Errors
/// As [`unveil`].
pub(super) fn arguments(call: &str, arguments: &mut Value) -> Result<(), String> {
    value(arguments, Which::Arguments, call)
}

fn value(value: &mut Value, which: Which, call: &str) -> Result<(), String> {
    let expected = mark(which, call);
    if value[VEIL] != expected {
        return Err(format!("the {expected} left as {value}"));
    }
    *value = value["value"].take();
    Ok(())
}

fn text(text: &mut String) -> Result<(), String> {
    match text.strip_prefix(VEILED) {
        Some(hidden) => {
            *text = hidden.to_owned();
            Ok(())
        }
        None => Err(format!("the text {text:?} left as it is")),
    }
}
