//! Tool calls and their payloads, for every test that drives tool calls.
use proptest::prelude::*;
use proptest::strategy::LazyJust;
use runstate::decision::{Decision, DecisionAction, Suspension};
use runstate::testing::Subject;
use runstate::tool_call::{
    AnyToolCall, CallRecord, Cancel, Fail, Resume, Start, Succeed, Suspend, ToolCallEvent,
};
use serde_json::json;

/// Calls of one tool. Three decisions in four are on the suspension that the call waits for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Calls;

impl Subject for Calls {
    type Machine = AnyToolCall;

    fn record(&self) -> CallRecord {
        CallRecord::new("call_1", "write_file", json!({ "path": "notes.md" }))
    }

    fn event(&self, call: &AnyToolCall, name: &'static str) -> BoxedStrategy<ToolCallEvent> {
        match name {
            "start" => LazyJust::new(|| Start.into()).boxed(),
            "suspend" => (0..1000_u32)
                .prop_map(|n| {
                    Suspend::new(Suspension::new(format!("suspension_{n}"), "approve", "may it?")).into()
                })
                .boxed(),
            "resume" => {
                let waits_for = match call {
                    AnyToolCall::Suspended(call) => call.suspension().id.clone(),
                    _ => "suspension_0".to_owned(),
                };
                let suspension = prop_oneof![3 => Just(waits_for), 1 => Just("another".to_owned())];
                let decision = |id: String| Decision::new("decision_1", id, DecisionAction::Resume);
                suspension.prop_map(move |id| Resume::new(decision(id)).into()).boxed()
            }
            "succeed" => (0..100_u32).prop_map(|n| Succeed::new(n).into()).boxed(),
            "fail" => LazyJust::new(|| Fail::new("no space").into()).boxed(),
            "cancel" => LazyJust::new(|| Cancel::new("denied").into()).boxed(),
            other => unreachable!("a tool call has no event '{other}'"),
        }
    }
}
