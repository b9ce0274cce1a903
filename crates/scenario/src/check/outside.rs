//! Checks of external steps.

use std::collections::BTreeMap;

use super::{Fault, fault, is_called};
use crate::Scenario;
use crate::file::{Act, Action, Question, When};

/// The names of events, as in the JSON field `type`.
const EVENTS: &[&str] = &[
    "run_started",
    "run_finished",
    "step_started",
    "step_finished",
    "inference_started",
    "inference_finished",
    "text_delta",
    "tool_call_start",
    "tool_call_arguments",
    "tool_call_ready",
    "tool_call_suspended",
    "tool_call_resumed",
    "tool_call_progress",
    "tool_call_done",
    "state_snapshot",
    "state_conflict",
    "checkpoint",
    "error",
];

pub(super) fn answers(scenario: &Scenario) -> Result<(), Fault> {
    let mut seen = BTreeMap::new();
    for (at, answer) in scenario.decisions.iter().enumerate() {
        let call = answer.call.as_str();
        is_called(scenario, call).map_err(|message| fault!(message, "decisions", at, "call"))?;
        if let Some(first) = seen.insert(call, at + 1) {
            let message = format!("the call {call:?} was decided before, by decision {first}");
            return Err(fault!(message, "decisions", at, "call"));
        }
        if answer.action == Action::Deny && answer.result.is_some() {
            let message = format!("the call {call:?} is denied, so it can have no result");
            return Err(fault!(message, "decisions", at, "call"));
        }
    }
    Ok(())
}

pub(super) fn replies(scenario: &Scenario) -> Result<(), Fault> {
    for (at, reply) in scenario.replies.iter().enumerate() {
        if let Question::Ask { nth: Some(0), .. } = reply.to {
            return Err(fault!("questions are counted from 1, got 0", "replies", at, "to", "ask", "nth"));
        }
        if let Some(given) = reply.gives.iter().position(|given| given.decide.is_empty()) {
            let message = "expected at least one decision, got none";
            return Err(fault!(message, "replies", at, "do", given, "decide"));
        }
    }
    Ok(())
}

pub(super) fn steps(scenario: &Scenario) -> Result<(), Fault> {
    for (at, step) in scenario.outside.iter().enumerate() {
        match &step.when {
            When::Event(on) if !EVENTS.contains(&on.kind.as_str()) => {
                let message =
                    format!("there is no event {:?}: expected one of {}", on.kind, EVENTS.join(", "));
                return Err(fault!(message, "outside", at, "when", "event", "type"));
            }
            When::Event(on) if on.nth == 0 => {
                let message = "events are counted from 1, got 0";
                return Err(fault!(message, "outside", at, "when", "event", "nth"));
            }
            When::BeforeCommit(0) | When::AfterCommit(0) => {
                return Err(fault!("commits are counted from 1, got 0", "outside", at, "when"));
            }
            When::BeforeCommit(_) | When::AfterCommit(_) if !scenario.commits.kept => {
                return Err(fault!(
                    "nothing is committed, since commits are not kept",
                    "outside",
                    at,
                    "when"
                ));
            }
            When::AtMs(_) | When::Event(_) | When::BeforeCommit(_) | When::AfterCommit(_) => {}
        }
        match &step.act {
            Act::Decide(decisions) if decisions.is_empty() => {
                return Err(fault!(
                    "expected at least one decision, got none",
                    "outside",
                    at,
                    "do",
                    "decide"
                ));
            }
            Act::Crash | Act::CrashFor(_) if !scenario.commits.kept => {
                let message = "a run whose commits are not kept has nothing to go on from after a crash";
                return Err(fault!(message, "outside", at, "do"));
            }
            Act::Decide(_)
            | Act::Write(_)
            | Act::Cancel
            | Act::Resume
            | Act::Drop
            | Act::Crash
            | Act::CrashFor(_) => {}
        }
    }
    Ok(())
}
