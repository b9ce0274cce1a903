//! `tool_execution`: document 000, "TOOL_CALL Sub-State Machine (Per ToolCall)".

use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::LazyJust;
use runstate::testing::Subject;
use runstate::tool_execution::{
    Allow, AnyToolExecution, Block, Conclude, ExecutionRecord, Fail, Reject, Succeed, Suspend,
    ToolExecutionEvent, ToolExecutionStatus,
};
use serde_json::{Value, json};

use super::model::{At, Documented, Table};
use super::{facts, payload};
use crate::lifecycles::tool_execution;

#[derive(Debug, Clone, Copy)]
pub(super) struct Executions;

impl Subject for Executions {
    type Machine = AnyToolExecution;

    fn record(&self) -> ExecutionRecord {
        ExecutionRecord::new("call_1", "delete_file").assuming(payload::flow_id())
    }

    fn event(&self, _: &AnyToolExecution, name: &'static str) -> BoxedStrategy<ToolExecutionEvent> {
        let text = |name: &'static str| (0..9_u8).prop_map(move |n| format!("{name} {n}"));
        match name {
            "block" => text("rule").prop_map(|reason| Block::new(reason).into()).boxed(),
            "suspend" => {
                payload::suspensions().prop_map(|suspension| Suspend::new(suspension).into()).boxed()
            }
            "reject" => text("no tool").prop_map(|error| Reject::new(error).into()).boxed(),
            "allow" => prop_oneof![
                LazyJust::new(|| Allow::execution().into()),
                select(vec!["call_1", "call_1", "call_2"])
                    .prop_map(|call| Allow::once(tool_execution::started(call)).into()),
                payload::values().prop_map(|result| Allow::supplying(result).into()),
            ]
            .boxed(),
            "succeed" => (payload::values(), any::<bool>())
                .prop_map(|(output, warns)| {
                    let succeed = Succeed::new(output);
                    if warns { succeed.warned("slow") } else { succeed }.into()
                })
                .boxed(),
            "fail" => text("error").prop_map(|error| Fail::new(error).into()).boxed(),
            "conclude" => LazyJust::new(|| Conclude.into()).boxed(),
            other => unreachable!("tool_execution has no event {other}"),
        }
    }
}

impl Documented for Executions {
    /// Document 000, "TOOL_CALL Sub-State Machine (Per ToolCall)".
    const TABLE: Table = Table {
        name: "tool_execution",
        machine: "ToolExecution",
        states: &[
            "BeforeToolExecute",
            "Blocked",
            "Suspended",
            "Failed",
            "ExecuteTool",
            "Succeeded",
            "AfterToolExecute",
        ],
        renamed: &[],
        initial: "BeforeToolExecute",
        terminal: &["AfterToolExecute"],
        events: &["block", "suspend", "reject", "allow", "succeed", "fail", "conclude"],
        drawn: &[
            ("BeforeToolExecute", "block", "Blocked", "plugin block / tool_blocked"),
            ("BeforeToolExecute", "suspend", "Suspended", "plugin suspend / tool_pending"),
            ("BeforeToolExecute", "reject", "Failed", "out-of-scope / tool-missing / arg-invalid"),
            ("BeforeToolExecute", "allow", "ExecuteTool", "allow"),
            ("ExecuteTool", "succeed", "Succeeded", "ToolResult success/warning"),
            ("ExecuteTool", "fail", "Failed", "ToolResult error"),
            ("ExecuteTool", "suspend", "Suspended", "ToolResult pending"),
            ("Succeeded", "conclude", "AfterToolExecute", ""),
            ("Failed", "conclude", "AfterToolExecute", ""),
            ("Blocked", "conclude", "AfterToolExecute", ""),
            ("Suspended", "conclude", "AfterToolExecute", ""),
        ],
        prose: &[],
        guarded: &[("BeforeToolExecute", "allow")],
    };

    fn at(status: ToolExecutionStatus) -> AnyToolExecution {
        tool_execution::at(status)
    }

    fn assume(machine: &mut AnyToolExecution) {
        machine.assume(payload::flow_id());
    }

    fn begin() -> (Value, Value) {
        (json!({ "call": "call_1", "tool": "delete_file" }), Value::Null)
    }

    fn enter(execution: &mut At, event: &str, with: &Value) -> Option<Value> {
        // What must not run twice is begun durably, and the tool of this execution is not known to be another kind.
        let is_begun = || {
            facts::optional(&with["started"]).is_some_and(|proof| proof["call"] == execution.record["call"])
        };
        if event == "allow" && facts::optional(&with["supplied"]).is_none() && !is_begun() {
            return None;
        }
        Some(match event {
            "suspend" => json!({ "suspension": payload::suspension(&with["suspension"]) }),
            // A supplied null is a result too.
            "allow" => match facts::optional(&with["supplied"]) {
                Some(result) => json!({ "supplied": facts::json(result) }),
                None => json!({}),
            },
            "succeed" => payload::output(with),
            // "Outcome-to-status mapping", and "Important": a blocked call is a failed one.
            "conclude" => match execution.status {
                "Blocked" => json!({ "outcome": "Failed" }),
                same => json!({ "outcome": same }),
            },
            // A reason, or an error.
            _ => facts::json(with),
        })
    }
}
