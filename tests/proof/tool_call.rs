//! `tool_call`: documents 000, "Layer 2: Tool Call Lifecycle", and 003, "Resume replay".

use proptest::prelude::*;
use proptest::strategy::LazyJust;
use runstate::testing::Subject;
use runstate::tool_call::{
    AnyToolCall, CallKey, CallRecord, Cancel, CancelCause, Fail, Resume, Start, Succeed, Suspend,
    ToolCallEvent, ToolCallStatus,
};
use serde_json::{Value, json};

use super::model::{At, Documented, Table};
use super::{facts, payload};

/// Calls of one tool, for every test that drives tool calls.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Calls;

impl Subject for Calls {
    type Machine = AnyToolCall;

    fn record(&self) -> CallRecord {
        CallRecord::new("call_1", "delete_file", json!({ "path": "notes.tmp" }))
            .at(CallKey { step: 2, ordinal: 1 })
    }

    fn event(&self, call: &AnyToolCall, name: &'static str) -> BoxedStrategy<ToolCallEvent> {
        match name {
            "start" => LazyJust::new(|| Start.into()).boxed(),
            "suspend" => {
                payload::suspensions().prop_map(|suspension| Suspend::new(suspension).into()).boxed()
            }
            "resume" => {
                let waits_for = match call {
                    AnyToolCall::Suspended(call) => &call.suspension().id,
                    _ => "sus-1",
                };
                payload::decisions(waits_for).prop_map(|decision| Resume::new(decision).into()).boxed()
            }
            "succeed" => (payload::values(), any::<bool>())
                .prop_map(|(output, warns)| {
                    let succeed = Succeed::new(output);
                    if warns { succeed.warned("slow") } else { succeed }.into()
                })
                .boxed(),
            "fail" => (0..9_u8).prop_map(|n| Fail::new(format!("error {n}")).into()).boxed(),
            "cancel" => {
                let causes =
                    [CancelCause::Denied, CancelCause::Expired, CancelCause::RunEnded, CancelCause::Other];
                (0..9_usize)
                    .prop_map(move |n| Cancel::new(format!("reason {n}")).because(causes[n % 4]).into())
                    .boxed()
            }
            other => unreachable!("tool_call has no event {other}"),
        }
    }
}

impl Documented for Calls {
    /// Document 000, "Layer 2: Tool Call Lifecycle"; what document 003 draws is among these.
    const TABLE: Table = Table {
        name: "tool_call",
        machine: "ToolCall",
        states: &["New", "Running", "Suspended", "Resuming", "Succeeded", "Failed", "Cancelled"],
        renamed: &[],
        initial: "New",
        terminal: &["Succeeded", "Failed", "Cancelled"],
        events: &["start", "suspend", "resume", "succeed", "fail", "cancel"],
        drawn: &[
            ("New", "start", "Running", ""),
            ("New", "suspend", "Suspended", "pre-execution suspend"),
            ("Running", "suspend", "Suspended", "tool returned Pending"),
            ("Running", "succeed", "Succeeded", "tool returned Success/Warning"),
            ("Running", "fail", "Failed", "tool returned Error"),
            ("Running", "cancel", "Cancelled", "run cancelled"),
            ("Suspended", "resume", "Resuming", "resume decision received"),
            ("Suspended", "cancel", "Cancelled", "cancel decision or run cancelled"),
            ("Resuming", "start", "Running", "replay tool call"),
            ("Resuming", "suspend", "Suspended", "re-suspended after replay"),
            ("Resuming", "succeed", "Succeeded", ""),
            ("Resuming", "fail", "Failed", ""),
            ("Resuming", "cancel", "Cancelled", ""),
        ],
        prose: &[],
        guarded: &[("Suspended", "resume")],
    };

    fn at(status: ToolCallStatus) -> AnyToolCall {
        crate::lifecycles::tool_call::at(status)
    }

    fn begin() -> (Value, Value) {
        let record = json!({
            "id": "call_1", "tool": "delete_file", "arguments": { "path": "notes.tmp" },
            "key": { "step": 2, "ordinal": 1 }, "attempts": 0, "suspensions": 0,
        });
        (record, Value::Null)
    }

    fn enter(call: &mut At, event: &str, with: &Value) -> Option<Value> {
        match event {
            "start" => {
                call.count("attempts");
                // What a replay executes by is kept, so that a call in doubt goes on as it was decided.
                Some(if call.status == "Resuming" { json!({ "replayed": call.state }) } else { json!({}) })
            }
            "suspend" => {
                call.count("suspensions");
                Some(json!({ "suspension": payload::suspension(&with["suspension"]) }))
            }
            "resume" => {
                // An answer is to one suspension; one that gives the call up goes the way to Cancelled (A26).
                let (decision, suspension) =
                    (payload::decision(&with["decision"]), &call.state["suspension"]);
                let resumes = decision["suspension_id"] == suspension["id"] && decision["action"] == "resume";
                resumes.then(|| json!({ "suspension": suspension, "decision": decision }))
            }
            "succeed" => Some(payload::output(with)),
            // A cause is stored where there is one.
            "cancel" => {
                let mut why = json!({ "reason": facts::json(&with["reason"]) });
                if facts::name(&with["cause"]) != "Other" {
                    why["cause"] = facts::snake(facts::name(&with["cause"])).into();
                }
                Some(why)
            }
            // An error.
            _ => Some(facts::json(with)),
        }
    }
}
