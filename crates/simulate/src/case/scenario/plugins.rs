//! Verdicts and actions of plugins.

use runstate::termination::TerminationReason;
use runstate::tool_call::CallKey;
use runstate_agent::keys::Scope;
use runstate_scenario::file::{At, PhaseName, Plugin, Says as Verdict};
use serde_json::json;

use super::super::{Act, ActPhase, Case, Does, Gate, Says};
use super::called::{Called, patch, ticket};
use super::find;

/// The plugins of the simulation's first plugin, then of its second: the first of equal verdicts wins.
pub(super) fn all(case: &Case, calls: &[Called<'_>]) -> Vec<Plugin> {
    let mut gates: Vec<&Gate> = case.gates.iter().collect();
    gates.sort_by_key(|gate| (gate.plugin, gate.step, gate.ordinal, gate.life));
    let gates = gates.into_iter().filter_map(|gate| {
        let call = find(calls, gate.step, gate.ordinal)?.name.clone();
        Some(Plugin::Gate { call, asked: gate.life, says: says(gate) })
    });
    gates.chain(case.acts.iter().filter_map(act)).collect()
}

fn says(gate: &Gate) -> Verdict {
    let (key, number) = (CallKey { step: gate.step, ordinal: gate.ordinal }, gate.plugin);
    match &gate.says {
        Says::SetResult => Verdict::SetResult(json!({ "set": key.to_string(), "by": number })),
        Says::Suspend(ask) => Verdict::Ask(ticket(ask, "gate", key)),
        Says::Block => Verdict::Block(format!("{key} is not allowed by {number}")),
        Says::BlockRun => Verdict::BlockRun(format!("{key} ends it for {number}")),
    }
}

fn act(act: &Act) -> Option<Plugin> {
    let phase = match act.phase {
        ActPhase::RunStart => PhaseName::RunStart,
        ActPhase::StepStart => PhaseName::StepStart,
        ActPhase::BeforeInference => PhaseName::BeforeInference,
        ActPhase::AfterInference => PhaseName::AfterInference,
        ActPhase::AfterToolExecute => PhaseName::AfterToolExecute,
        ActPhase::StepEnd => PhaseName::StepEnd,
    };
    let at = At { step: Some(act.step), ..At::any(phase) };
    let message = || "as planned".to_owned();
    Some(match act.does {
        Does::Fail => Plugin::Fail { at, message: message() },
        Does::Panic => Plugin::Panic { at, message: message() },
        Does::EndRun => Plugin::EndRun { at, reason: TerminationReason::BehaviorRequested },
        Does::Wait(ms) => Plugin::Wait { at, ms },
        Does::Write => Plugin::Set { at, patch: patch("acted".to_owned(), Scope::Run, u64::from(act.step)) },
        // Tools are offered with a request alone.
        Does::OfferRead if act.phase != ActPhase::BeforeInference => return None,
        Does::OfferRead => Plugin::Offer { tools: vec!["read".to_owned()], step: Some(act.step) },
    })
}
