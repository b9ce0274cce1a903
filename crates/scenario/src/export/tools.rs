//! Live tools as scripted ones, with the recorded results.

use runstate::trace::Event;
use runstate_agent::event::{CallOutcome, EventKind};
use runstate_agent::{Effect, Preview, ToolSpec};

use super::Record;
use crate::Scenario;
use crate::file::{Behaviour, EffectName, Gives, Plugin, Ticket, Tool};

/// Scripts each live tool that a call asked for.
pub(super) fn script(record: &Record<'_>, scenario: &mut Scenario) {
    let ready = |event: &runstate_agent::event::AgentEvent| match &event.kind {
        EventKind::ToolCallReady { call, tool, .. } => Some((call.clone(), tool.clone())),
        _ => None,
    };
    let mut calls: Vec<(String, String)> = record.events.iter().filter_map(ready).collect();
    calls.dedup();
    for spec in record.live {
        // A tool that the base scripts is not live. The model is offered each live one, called or not.
        if scenario.tools.contains_key(spec.name()) {
            continue;
        }
        let mut tool = described(spec);
        for (call, _) in calls.iter().filter(|(_, tool)| tool == spec.name()) {
            let does = behaviours(record, call);
            if !does.is_empty() {
                tool.calls.insert(call.clone(), does);
            }
            let previews = previews(record, call);
            if !previews.is_empty() {
                tool.previews.insert(call.clone(), previews);
            }
        }
        scenario.tools.insert(spec.name().to_owned(), tool);
    }
}

/// Removes the expiry of questions of tools without an expired question. The record of a waiting run ends before they expire, and
/// a play would go on until then.
pub(super) fn keep_open(record: &Record<'_>, scenario: &mut Scenario) {
    let expired = record.decisions.values().filter(|decision| decision.is_expiry());
    let expired: Vec<&str> = expired.filter_map(|decision| tool_of(record, &decision.call)).collect();
    let may_stay_open = |tool: &str| !expired.contains(&tool);
    for (_, tool) in scenario.tools.iter_mut().filter(|(name, _)| may_stay_open(name)) {
        for behaviour in tool.does.iter_mut().chain(tool.calls.values_mut().flatten()) {
            if let Gives::Pending(ticket) = &mut behaviour.gives {
                ticket.expires_after_ms = None;
            }
        }
    }
    for plugin in &mut scenario.plugins {
        if let Plugin::Ask { tool, ticket, .. } = plugin
            && may_stay_open(tool)
        {
            ticket.expires_after_ms = None;
        }
    }
}

/// The tool of a call.
fn tool_of<'r>(record: &Record<'r>, call: &str) -> Option<&'r str> {
    record.events.iter().find_map(|event| match &event.kind {
        EventKind::ToolCallReady { call: of, tool, .. } if of == call => Some(tool.as_str()),
        _ => None,
    })
}

fn described(spec: &ToolSpec) -> Tool {
    Tool {
        about: spec.description().to_owned(),
        effect: match spec.effect() {
            Effect::Repeatable => EffectName::Repeatable,
            _ => EffectName::Once,
        },
        schema: spec.schema().cloned(),
        ..Tool::default()
    }
}

/// The behaviours of a call: one for each question of its tool, and one for the end.
fn behaviours(record: &Record<'_>, call: &str) -> Vec<Behaviour> {
    let is_of_call = |event: &&Event<'static>| {
        let instance = event.instance.rsplit_once('.').map_or(&*event.instance, |(call, _)| call);
        event.lifecycle == "tool_execution" && instance == call
    };
    let mut asked = tickets(record, call).into_iter();
    let mut does: Vec<Behaviour> = Vec::new();
    let mut began_ms = None;
    for event in record.trace.iter().filter(is_of_call) {
        match (event.from.as_deref(), &*event.to) {
            // This one repeats an execution that the end of its process interrupted.
            (_, "ExecuteTool") => began_ms = Some(event.at_ms),
            (Some("ExecuteTool"), ended) => {
                let takes_ms = event.at_ms.saturating_sub(began_ms.take().unwrap_or(event.at_ms));
                let gives = match ended {
                    "Suspended" => asked.next().map_or(Gives::Nothing, Gives::Pending),
                    _ => outcome(record, call),
                };
                does.push(Behaviour::giving(gives).taking(takes_ms));
            }
            // The gate asked: the question does not belong to the tool.
            (Some("BeforeToolExecute"), "Suspended") => _ = asked.next(),
            _ => {}
        }
    }
    if began_ms.is_some() {
        does.push(Behaviour::giving(Gives::Nothing));
    }
    does
}

/// The previews of a call: one for each question about it, so that their places are numbers of decisions.
fn previews(record: &Record<'_>, call: &str) -> Vec<Preview> {
    let mut previews: Vec<Preview> = Vec::new();
    for event in record.events {
        let EventKind::ToolCallSuspended { interrupt } = &event.kind else { continue };
        if interrupt.call != call {
            continue;
        }
        let shown = interrupt.suspension.parameters.get("preview").cloned();
        match shown.and_then(|shown| serde_json::from_value(shown).ok()) {
            Some(preview) => previews.push(preview),
            // A question of the tool or of the runtime, behind an approved preview.
            None => previews.extend(previews.last().cloned()),
        }
    }
    previews
}

/// The questions of a call, in order, without the questions of the runtime.
fn tickets(record: &Record<'_>, call: &str) -> Vec<Ticket> {
    let asked = record.events.iter().filter_map(|event| match &event.kind {
        EventKind::ToolCallSuspended { interrupt } if interrupt.call == call => {
            let suspension = &interrupt.suspension;
            (suspension.action != crate::script::IN_DOUBT).then(|| Ticket {
                id: word(&suspension.id),
                action: suspension.action.clone(),
                message: Some(suspension.message.clone()),
                parameters: suspension.parameters.clone(),
                response_schema: suspension.response_schema.clone(),
                resume_mode: suspension.resume_mode,
                expires_after_ms: suspension.expires_at_ms.map(|at_ms| at_ms.saturating_sub(event.at_ms)),
                distinct_actors: suspension.distinct_actors,
            })
        }
        _ => None,
    });
    asked.collect()
}

/// The word that a tool chose for the id of its question: `r1/c1/2:word`.
fn word(suspension: &str) -> Option<String> {
    let numbered = suspension.splitn(3, '/').nth(2)?;
    numbered.split_once(':').map(|(_, word)| word.to_owned())
}

/// The result of the call.
fn outcome(record: &Record<'_>, call: &str) -> Gives {
    let done = record.events.iter().find_map(|event| match &event.kind {
        EventKind::ToolCallDone { call: of, outcome } if of == call => Some(outcome),
        _ => None,
    });
    match done {
        Some(CallOutcome::Succeeded { output, warning: None }) => Gives::Success(output.clone()),
        Some(CallOutcome::Succeeded { output, warning: Some(warning) }) => {
            Gives::Warning { output: output.clone(), warning: warning.clone() }
        }
        Some(CallOutcome::Failed { error }) => Gives::Error(error.clone()),
        Some(CallOutcome::Cancelled { .. }) | None => Gives::Nothing,
    }
}
