//! Do the parts of a run that was read agree with each other?

use std::collections::BTreeMap;

use super::history::Message;
use super::state::{Call, RunState};
use crate::decision::Suspension;
use crate::run::AnyRun;
use crate::tool_call::{AnyToolCall, CallKey};
use crate::turn::{CallRequest, Turn};

/// Where two parts contradict each other, and how.
pub(super) struct Contradiction {
    pub(super) path: String,
    pub(super) what: String,
}

fn contradiction<T>(path: impl Into<String>, what: impl Into<String>) -> Result<T, Contradiction> {
    Err(Contradiction { path: path.into(), what: what.into() })
}

/// The calls that wait, with their suspensions: what is stored beside the calls, for those who look for it.
pub(super) fn suspended(state: &RunState) -> BTreeMap<String, Suspension> {
    state.pending().iter().map(|pending| (pending.call.to_owned(), pending.suspension.clone())).collect()
}

/// `listed` is what was stored as suspended.
pub(super) fn check(state: &RunState, listed: &BTreeMap<String, Suspension>) -> Result<(), Contradiction> {
    if *listed != suspended(state) {
        return contradiction(
            "__suspended_tool_calls",
            "it does not list exactly the calls that are Suspended, with their suspensions",
        );
    }
    decisions(state)?;
    calls(state)?;
    run(state)
}

fn decisions(state: &RunState) -> Result<(), Contradiction> {
    for (id, decision) in &state.decisions {
        if *id != decision.suspension_id {
            let what = format!("the decision under {id:?} is on {:?}", decision.suspension_id);
            return contradiction("__resume_decisions", what);
        }
    }
    for call in &state.calls {
        if let AnyToolCall::Resuming(machine) = call.machine.get() {
            let decision = machine.decision();
            if state.decisions.get(&decision.suspension_id) != Some(decision) {
                let what =
                    format!("decision {:?}, by which it resumes, was not accepted", decision.decision_id);
                return contradiction(path_of(call), what);
            }
        }
    }
    Ok(())
}

/// There is one call for each that an answer asks for, and it is what was asked for.
fn calls(state: &RunState) -> Result<(), Contradiction> {
    let answers: Vec<&Turn> = state.messages.iter().filter_map(Message::answer).collect();
    if u32::try_from(answers.len()) != Ok(state.steps) {
        return contradiction("steps", format!("{} where there are {} answers", state.steps, answers.len()));
    }
    let mut calls = state.calls.iter();
    for (step, answer) in (1..).zip(answers) {
        for (ordinal, request) in (0..).zip(&answer.calls) {
            let key = CallKey { step, ordinal };
            match calls.next().filter(|call| call.machine.get().record().key() == key) {
                Some(call) => is_as_asked_for(call, request)?,
                None => {
                    let what = format!("call {key} ({}) is missing", request.id);
                    return contradiction("__tool_call_states", what);
                }
            }
        }
    }
    match calls.next() {
        Some(call) => {
            let key = call.machine.get().record().key();
            contradiction("__tool_call_states", format!("no answer asks for call {key}"))
        }
        None => Ok(()),
    }
}

fn is_as_asked_for(call: &Call, request: &CallRequest) -> Result<(), Contradiction> {
    let record = call.machine.get().record();
    let is_life = |life: &str| !life.is_empty() && life.bytes().all(|digit| digit.is_ascii_digit());
    let rest = call.name.strip_prefix(&request.id);
    if !rest.is_some_and(|rest| rest.is_empty() || rest.strip_prefix('#').is_some_and(is_life)) {
        return contradiction(path_of(call), format!("it is no name of a call with the id {:?}", request.id));
    }
    let parts = [
        ("another id", record.id() == request.id),
        ("another tool", record.tool() == request.tool),
        ("other arguments", *record.arguments() == request.arguments),
    ];
    match parts.iter().find(|(_, same)| !same) {
        Some((other, _)) => {
            contradiction(path_of(call), format!("the answers ask for {other} in call {}", record.key()))
        }
        None => Ok(()),
    }
}

/// The run is in a status that its calls allow (document 003, "RunStatus Derived from ToolCall States").
fn run(state: &RunState) -> Result<(), Contradiction> {
    let open = |call: &&Call| {
        matches!(
            call.machine.get(),
            AnyToolCall::Running(_) | AnyToolCall::Suspended(_) | AnyToolCall::Resuming(_)
        )
    };
    match state.run.get() {
        AnyRun::Running(_) => Ok(()),
        AnyRun::Waiting(run) => {
            let executes =
                |call: &&Call| open(call) && !matches!(call.machine.get(), AnyToolCall::Suspended(_));
            if let Some(call) = state.calls.iter().find(executes) {
                let status = call.machine.get().status();
                return contradiction("__run", format!("it is Waiting while {} is {status}", call.name));
            }
            let waiting = state.waiting();
            if *run.calls() != waiting {
                let what = format!("it waits for {:?}, and those that wait are {waiting:?}", run.calls());
                return contradiction("__run", what);
            }
            Ok(())
        }
        AnyRun::Done(_) => match state.calls.iter().find(open) {
            Some(call) => {
                let status = call.machine.get().status();
                contradiction("__run", format!("it is Done while {} is {status}", call.name))
            }
            None => Ok(()),
        },
    }
}

fn path_of(call: &Call) -> String {
    format!("__tool_call_states.{}", call.name)
}
