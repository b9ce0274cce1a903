//! Calls, and the tools that they execute.

use std::collections::{BTreeMap, BTreeSet};

use runstate::tool_call::CallKey;
use runstate_agent::keys::Scope;
use runstate_scenario::file::{Behaviour, Call as Request, EffectName, Gives, Patch, Progress, Ticket, Tool};
use serde_json::{Value, json};

use super::super::{Ask, Call, Case, ComesTo, Does, Execution, ToolName, Writes};
use super::calls_of;
use crate::play::{OUTPUT, model_says};

/// A call, by its name in traces.
pub(super) struct Called<'c> {
    pub(super) step: u32,
    pub(super) ordinal: u32,
    pub(super) name: String,
    pub(super) call: &'c Call,
}

impl Called<'_> {
    fn key(&self) -> CallKey {
        CallKey { step: self.step, ordinal: self.ordinal }
    }
}

/// All calls, in order. A repeated id names the call's next life.
pub(super) fn all(case: &Case) -> Vec<Called<'_>> {
    let mut lives: BTreeMap<&str, u32> = BTreeMap::new();
    calls_of(case)
        .map(|(step, ordinal, call)| {
            let life = lives.entry(&call.id).or_default();
            *life += 1;
            let name = if *life == 1 { call.id.clone() } else { format!("{}#{life}", call.id) };
            Called { step, ordinal, name, call }
        })
        .collect()
}

/// The call as a request of the model.
pub(super) fn request(step: u32, ordinal: u32, call: &Call) -> Request {
    let mut request = Request::new(&call.id, call.tool.name());
    match model_says(step, ordinal, call) {
        Ok(arguments) => request.arguments = arguments,
        Err(raw) => request.raw = Some(raw),
    }
    request
}

/// The tools, each with the behaviour of its executions.
pub(super) fn tools(case: &Case, calls: &[Called<'_>]) -> BTreeMap<String, Tool> {
    let offers = case.acts.iter().any(|act| act.does == Does::OfferRead);
    let mut used: BTreeSet<ToolName> = calls.iter().map(|call| call.call.tool).collect();
    used.extend(offers.then_some(ToolName::Read));
    used.remove(&ToolName::Missing);
    used.into_iter()
        .map(|name| {
            let of_tool = calls.iter().filter(|call| call.call.tool == name);
            let tool = Tool {
                effect: if name.is_repeatable() { EffectName::Repeatable } else { EffectName::Once },
                schema: (name == ToolName::Strict).then(|| needs("n")),
                calls: of_tool.map(|call| (call.name.clone(), behaviours(call))).collect(),
                ..Tool::default()
            };
            (name.name().to_owned(), tool)
        })
        .collect()
}

fn needs(field: &str) -> Value {
    json!({ "type": "object", "required": [field] })
}

fn behaviours(call: &Called<'_>) -> Vec<Behaviour> {
    (0_u64..).zip(&call.call.executions).map(|(nth, execution)| behaviour(call, nth, execution)).collect()
}

fn behaviour(call: &Called<'_>, nth: u64, execution: &Execution) -> Behaviour {
    let key = call.key();
    let output = json!({ "call": key.to_string(), OUTPUT: nth });
    let gives = match &execution.comes_to {
        ComesTo::Success => Gives::Success(output),
        ComesTo::Warning => Gives::Warning { output, warning: "nearly".to_owned() },
        ComesTo::Error => Gives::Error(format!("{key} failed")),
        ComesTo::Panic => Gives::Panic(format!("{key} fell over")),
        ComesTo::Pending(ask) => Gives::Pending(ticket(ask, "tool", key)),
    };
    let progress = (0..execution.progress).map(|piece| Progress { at_ms: 0, value: json!(piece) });
    let step = |value: u64| vec![patch("step".to_owned(), Scope::Run, value)];
    let patches = match execution.writes {
        Writes::Nothing => Vec::new(),
        Writes::Own => vec![patch(format!("own/{key}"), Scope::Thread, nth + 1)],
        Writes::Step => step(u64::from(key.step)),
        Writes::Contradiction => step(u64::from(1_000 + key.ordinal)),
    };
    Behaviour { takes_ms: execution.delay_ms, progress: progress.collect(), patches, gives }
}

/// A key that is kept, with that value.
pub(super) fn patch(key: String, scope: Scope, value: u64) -> Patch {
    Patch { key, scope, persistent: true, value: Some(json!(value)) }
}

/// The question.
pub(super) fn ticket(ask: &Ask, action: &str, key: CallKey) -> Ticket {
    Ticket {
        id: ask.id.clone(),
        action: action.to_owned(),
        message: Some("may I?".to_owned()),
        parameters: json!({ "key": key }),
        response_schema: ask.schema.then(|| needs("ok")),
        resume_mode: ask.mode,
        expires_after_ms: ask.lapses_ms,
        distinct_actors: ask.distinct,
    }
}
