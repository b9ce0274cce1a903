//! `resume_tool_call`: document 000, "RESUME_TOOL_CALL Sub-State Machine (Decision Replay)".

use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::LazyJust;
use runstate::resume_tool_call::{
    AnyResumeToolCall, Approve, Clear, Close, Compare, Deny, Execute, FindNothing, GateRecord, MatchCall,
    Persist, Resolve, ResumeToolCallEvent, ResumeToolCallStatus, Settle, Suspend,
};
use runstate::snapshot::Snapshot;
use runstate::testing::Subject;
use runstate::tool_call::ToolCallStatus;
use serde_json::{Value, json};

use super::model::{At, Documented, Table};
use super::payload;

/// Passes of the third gate.
#[derive(Debug, Clone, Copy)]
pub(super) struct Passes;

impl Subject for Passes {
    type Machine = AnyResumeToolCall;

    fn record(&self) -> GateRecord {
        GateRecord::new(3).assuming(payload::flow_id())
    }

    fn event(&self, pass: &AnyResumeToolCall, name: &'static str) -> BoxedStrategy<ResumeToolCallEvent> {
        match name {
            "find_nothing" => LazyJust::new(|| FindNothing.into()).boxed(),
            "match_call" => payload::decisions("sus-1")
                .prop_map(|decision| MatchCall::new("call_1", decision).into())
                .boxed(),
            "resolve" => LazyJust::new(|| Resolve.into()).boxed(),
            "persist" => {
                let due = match pass {
                    AnyResumeToolCall::PersistResumeDecision(pass) => {
                        Snapshot::of(pass).unwrap().state()["due"].clone()
                    }
                    _ => json!({ "trigger": "DecisionAccepted", "gate": 3, "number": 1 }),
                };
                payload::dues(&due).prop_map(|due| Persist::new(payload::receipt(&due)).into()).boxed()
            }
            "deny" => LazyJust::new(|| Deny.into()).boxed(),
            "approve" => LazyJust::new(|| Approve.into()).boxed(),
            "execute" => LazyJust::new(|| Execute.into()).boxed(),
            "settle" => select(ToolCallStatus::ALL).prop_map(|status| Settle::new(status).into()).boxed(),
            "suspend" => {
                payload::suspensions().prop_map(|suspension| Suspend::new(suspension).into()).boxed()
            }
            "clear" => LazyJust::new(|| Clear.into()).boxed(),
            "compare" => any::<bool>().prop_map(|changed| Compare::new(changed).into()).boxed(),
            "close" => LazyJust::new(|| Close.into()).boxed(),
            other => unreachable!("resume_tool_call has no event {other}"),
        }
    }
}

impl Documented for Passes {
    /// Document 000, "RESUME_TOOL_CALL Sub-State Machine".
    const TABLE: Table = Table {
        name: "resume_tool_call",
        machine: "ResumeToolCall",
        states: &[
            "DrainDecisionChannel",
            "NoDecision",
            "ResolveDecision",
            "PersistResumeDecision",
            "Replay",
            "ReplayCancel",
            "ReplayResume",
            "ExecuteReplayedTool",
            "SetNextSuspended",
            "ClearResolved",
            "SnapshotIfStateChanged",
            "CommitReplay",
        ],
        renamed: &[],
        initial: "DrainDecisionChannel",
        terminal: &["CommitReplay", "NoDecision"],
        events: &[
            "find_nothing",
            "match_call",
            "resolve",
            "persist",
            "deny",
            "approve",
            "execute",
            "settle",
            "suspend",
            "clear",
            "compare",
            "close",
        ],
        drawn: &[
            ("DrainDecisionChannel", "find_nothing", "NoDecision", "channel empty / unresolved only"),
            ("DrainDecisionChannel", "match_call", "ResolveDecision", "matched suspended call"),
            ("ResolveDecision", "resolve", "PersistResumeDecision", "upsert __resume_decisions"),
            ("PersistResumeDecision", "persist", "Replay", ""),
            ("Replay", "deny", "ReplayCancel", "action=Cancel"),
            ("Replay", "approve", "ReplayResume", "action=Resume"),
            ("ReplayCancel", "clear", "ClearResolved", ""),
            ("ReplayResume", "execute", "ExecuteReplayedTool", ""),
            ("ExecuteReplayedTool", "settle", "ClearResolved", "outcome != Suspended"),
            ("ExecuteReplayedTool", "suspend", "SetNextSuspended", "outcome = Suspended"),
            ("SetNextSuspended", "clear", "ClearResolved", ""),
            ("ClearResolved", "compare", "SnapshotIfStateChanged", ""),
            ("SnapshotIfStateChanged", "close", "CommitReplay", "CKPT ToolResultsCommitted"),
        ],
        prose: &[],
        guarded: &[
            ("PersistResumeDecision", "persist"),
            ("Replay", "deny"),
            ("Replay", "approve"),
            ("ExecuteReplayedTool", "settle"),
        ],
    };

    fn at(status: ResumeToolCallStatus) -> AnyResumeToolCall {
        crate::lifecycles::resume_tool_call::at(status)
    }

    fn assume(machine: &mut AnyResumeToolCall) {
        machine.assume(payload::flow_id());
    }

    fn begin() -> (Value, Value) {
        (json!({ "gate": 3, "pass": 1 }), Value::Null)
    }

    fn enter(pass: &mut At, event: &str, with: &Value) -> Option<Value> {
        let at = &pass.state;
        let action = &at["decision"]["action"];
        match event {
            "find_nothing" => Some(Value::Null),
            "match_call" => {
                Some(json!({ "call": with["call"], "decision": payload::decision(&with["decision"]) }))
            }
            // An accepted decision is durable before its replay starts.
            "resolve" => {
                let due = json!({
                    "trigger": "DecisionAccepted", "gate": pass.number("gate"), "number": pass.number("pass"),
                });
                Some(json!({ "decided": at, "due": due }))
            }
            "persist" => (payload::proven(&with["receipt"]) == at["due"]).then(|| at["decided"].clone()),
            "deny" => (action == "cancel").then(|| at.clone()),
            "approve" => (action == "resume").then(|| at.clone()),
            "execute" => Some(at.clone()),
            // "outcome != Suspended", and an outcome is one of the terminal statuses.
            "settle" => {
                let status = super::facts::name(&with["status"]);
                let is_over = matches!(status, "Succeeded" | "Failed" | "Cancelled");
                is_over.then(|| json!({ "call": at["call"], "status": status }))
            }
            "suspend" => {
                Some(json!({ "call": at["call"], "suspension": payload::suspension(&with["suspension"]) }))
            }
            "clear" => {
                let status = if pass.status == "ReplayCancel" { "Cancelled" } else { "Suspended" };
                Some(json!({ "call": at["call"], "status": status }))
            }
            "compare" => {
                let mut compared = at.clone();
                compared["changed"] = with["changed"].clone();
                Some(compared)
            }
            "close" => Some(at.clone()),
            other => unreachable!("{other}"),
        }
    }
}
