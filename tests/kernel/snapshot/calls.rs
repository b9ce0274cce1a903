//! A tool call in each of its states, reached by legal moves.

use runstate::decision::{Decision, DecisionAction, Suspension};
use runstate::tool_call::{
    AnyToolCall, CallKey, CallRecord, Cancel, Fail, Resume, Start, Succeed, Suspend, ToolCall,
};
use serde_json::json;

pub(super) fn calls() -> [AnyToolCall; 7] {
    let new = || {
        let arguments = json!({"path": "notes \"tmp\".md\n\u{1F5D1}", "depth": 1.5e-9, "all": [true, null, -3, u64::MAX]});
        ToolCall::new(CallRecord::new("call_1", "delete_file", arguments).at(CallKey { step: 2, ordinal: 1 }))
    };
    let running = || new().start(Start);
    let suspension = || Suspension::new("sus-1", "approve", "delete notes?").expiring_at(60_000);
    let suspended = || running().suspend(Suspend::new(suspension()));
    let decision = Decision::new("dec-1", "sus-1", DecisionAction::Resume);
    [
        new().into(),
        running().into(),
        suspended().into(),
        suspended().resume(Resume::new(decision)).unwrap().into(),
        running().succeed(Succeed::new(json!({"deleted": 1})).warned("it was the last")).into(),
        running().fail(Fail::new("no such file")).into(),
        running().cancel(Cancel::new("run cancelled")).into(),
    ]
}
