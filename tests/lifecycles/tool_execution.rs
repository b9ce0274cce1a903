//! An execution of a tool call: its states by legal steps, the data each owns, and how it comes out.

use runstate::checkpoint::without_committer;
use runstate::decision::Suspension;
use runstate::kernel::Machine;
use runstate::run_flow::{AnyRunFlow, RunFlowStatus};
use runstate::tool_call::ToolCallStatus;
use runstate::tool_execution::*;
use runstate::tool_result::ToolResult;
use serde_json::{Value, json};

use super::stored;
use crate::proof::flow_id;

fn gate() -> ToolExecution<BeforeToolExecute> {
    gate_of("call_1")
}

/// Executions of a call that are taken for one another.
fn gate_of(call: &str) -> ToolExecution<BeforeToolExecute> {
    ToolExecution::new(ExecutionRecord::new(call, "delete_file").assuming(flow_id()))
}

/// The proof that a call was begun, from an activation in which it was.
pub(crate) fn started(call: &str) -> Started {
    let mut flow = super::run_flow::at(RunFlowStatus::ToolRound);
    flow.assume(flow_id());
    let AnyRunFlow::ToolRound(mut flow) = flow else { unreachable!("it is asked for a round") };
    let starting = flow.calls_started([&gate_of(call)]);
    let receipt = without_committer(starting.due());
    let [started] = starting.committed(receipt).unwrap().try_into().unwrap();
    started
}

fn open() -> ToolExecution<ExecuteTool> {
    gate().allow(Allow::once(started("call_1"))).unwrap()
}

fn suspension() -> Suspension {
    Suspension::new("sus-1", "approve", "delete notes.tmp?")
}

/// An execution in that status, reached by legal steps.
pub(crate) fn at(status: ToolExecutionStatus) -> AnyToolExecution {
    match status {
        ToolExecutionStatus::BeforeToolExecute => gate().into(),
        ToolExecutionStatus::Blocked => gate().block(Block::new("not on Sundays")).into(),
        ToolExecutionStatus::Suspended => gate().suspend(Suspend::new(suspension())).into(),
        ToolExecutionStatus::Failed => open().fail(Fail::new("disk full")).into(),
        ToolExecutionStatus::ExecuteTool => open().into(),
        ToolExecutionStatus::Succeeded => open().succeed(Succeed::new("gone")).into(),
        ToolExecutionStatus::AfterToolExecute => {
            open().succeed(Succeed::new("gone")).conclude(Conclude).into()
        }
    }
}

/// An execution in that status that the guard of `event` lets pass, where the status has an edge for it.
pub(crate) fn ready(status: ToolExecutionStatus, _event: &str) -> AnyToolExecution {
    at(status)
}

/// The event of that name, with a payload.
pub(crate) fn event(_: &AnyToolExecution, name: &str) -> ToolExecutionEvent {
    match name {
        "block" => Block::new("not on Sundays").into(),
        "suspend" => Suspend::new(suspension()).into(),
        "reject" => Reject::new("no tool is called drop_table").into(),
        "allow" => Allow::once(started("call_1")).into(),
        "succeed" => Succeed::new("gone").into(),
        "fail" => Fail::new("disk full").into(),
        "conclude" => Conclude.into(),
        other => unreachable!("tool_execution has no event {other}"),
    }
}

#[test]
fn before_tool_execute_owns_only_the_call_to_execute() {
    let execution = gate();
    assert_eq!((execution.record().call(), execution.record().tool()), ("call_1", "delete_file"));
    assert_eq!(execution.record().effect(), Effect::Once, "of a tool nothing is known until it is said");
    assert_eq!(stored::state(&execution), Value::Null);
}

#[test]
fn once_only_tool_waits_for_proof_of_its_start() {
    let rejected = gate().allow(Allow::execution()).unwrap_err();
    assert_eq!(
        rejected.error.to_string(),
        "call_1 must not run twice: commit that it was started, and allow it once"
    );
    let rejected = rejected.machine.allow(Allow::once(started("call_2"))).unwrap_err();
    assert_eq!(
        rejected.error.to_string(),
        "the proof is that call_2 was started, where call_1 is to execute"
    );
    assert_eq!(rejected.event, Allow::once(started("call_2")), "the proof comes back");
    let open = rejected.machine.allow(Allow::once(started("call_1"))).unwrap();
    assert_eq!(open.supplied(), None);

    let refused = AnyToolExecution::from(gate()).apply(Allow::execution().into()).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "tool_execution in state BeforeToolExecute refuses 'allow': \
         call_1 must not run twice: commit that it was started, and allow it once"
    );
}

/// A tool that may run twice needs no proof, and takes one; what is supplied executes nothing.
#[test]
fn repeatable_tool_needs_no_proof_of_its_start() {
    let gate = || {
        let record = ExecutionRecord::new("call_1", "read_file").with_effect(Effect::Repeatable);
        ToolExecution::new(record.assuming(flow_id()))
    };
    let AnyToolExecution::BeforeToolExecute(back) = stored::brought_back(gate().into()) else {
        panic!("another state came back")
    };
    assert_eq!(back.record().effect(), Effect::Repeatable);
    assert!(back.allow(Allow::execution()).is_ok());
    assert!(gate().allow(Allow::once(started("call_1"))).is_ok());
    assert!(gate().allow(Allow::once(started("call_2"))).is_err());
    assert!(self::gate().allow(Allow::supplying("given")).is_ok());
}

#[test]
fn an_effect_is_stored_where_it_is_said() {
    let stored = |record: &ExecutionRecord| serde_json::to_value(record).unwrap();
    let record = ExecutionRecord::new("call_1", "read_file");
    assert_eq!(stored(&record), json!({ "call": "call_1", "tool": "read_file" }));
    let record = record.with_effect(Effect::Repeatable);
    assert_eq!(stored(&record), json!({ "call": "call_1", "tool": "read_file", "effect": "repeatable" }));
}

#[test]
fn blocked_owns_the_reason() {
    let execution = gate().block(Block::new("not on Sundays"));
    assert_eq!(execution.reason(), "not on Sundays");
    assert_eq!(stored::state(&execution), json!({ "reason": "not on Sundays" }));
}

#[test]
fn suspended_owns_the_suspension_of_gate_and_tool_alike() {
    let by_gate = gate().suspend(Suspend::new(suspension()));
    let by_tool = open().suspend(Suspend::new(suspension()));
    for execution in [by_gate, by_tool] {
        assert_eq!(execution.suspension(), &suspension());
        assert_eq!(stored::state(&execution)["suspension"]["id"], "sus-1");
    }
}

#[test]
fn failed_owns_the_error_of_gate_and_tool_alike() {
    let by_gate = gate().reject(Reject::new("no such tool"));
    let by_tool = open().fail(Fail::new("no such tool"));
    for execution in [by_gate, by_tool] {
        assert_eq!(execution.error(), "no such tool");
        assert_eq!(stored::state(&execution), json!({ "error": "no such tool" }));
    }
}

#[test]
fn execute_tool_owns_the_result_that_stands_in_for_the_tool() {
    assert_eq!((open().supplied(), stored::state(&open())), (None, json!({})));
    // A supplied null is a result, and must not come back as none.
    for result in [json!("given"), Value::Null] {
        let execution = gate().allow(Allow::supplying(result.clone())).unwrap();
        assert_eq!(execution.supplied(), Some(&result));
        assert_eq!(stored::state(&execution), json!({ "supplied": result }));
        let AnyToolExecution::ExecuteTool(back) = stored::brought_back(execution.into()) else {
            panic!("another state came back")
        };
        assert_eq!(back.supplied(), Some(&result));
    }
}

#[test]
fn succeeded_owns_output_and_warning() {
    let execution = open().succeed(Succeed::new(json!([1])));
    assert_eq!((execution.output(), execution.warning()), (&json!([1]), None));
    assert_eq!(stored::state(&execution), json!({ "output": [1] }));
    let execution = open().succeed(Succeed::new(json!([1])).warned("slow"));
    assert_eq!(execution.warning(), Some("slow"));
    assert_eq!(stored::state(&execution), json!({ "output": [1], "warning": "slow" }));
}

#[test]
fn after_tool_execute_owns_the_outcome() {
    let execution = gate().block(Block::new("no")).conclude(Conclude);
    assert_eq!(execution.outcome(), ToolCallOutcome::Failed);
    assert_eq!(stored::state(&execution), json!({ "outcome": "Failed" }));
    let (record, _after) = execution.into_parts();
    assert_eq!(record.call(), "call_1");
}

/// Document 000: "Outcome-to-status mapping", and that a blocked call is a failed one.
#[test]
fn outcomes_map_to_statuses_as_documented() {
    #[rustfmt::skip]
    let rows = [
        (ToolExecutionStatus::Succeeded, ToolCallOutcome::Succeeded, ToolCallStatus::Succeeded),
        (ToolExecutionStatus::Failed,    ToolCallOutcome::Failed,    ToolCallStatus::Failed),
        (ToolExecutionStatus::Blocked,   ToolCallOutcome::Failed,    ToolCallStatus::Failed),
        (ToolExecutionStatus::Suspended, ToolCallOutcome::Suspended, ToolCallStatus::Suspended),
    ];
    for (before, outcome, status) in rows {
        let AnyToolExecution::AfterToolExecute(after) = at(before).apply(Conclude.into()).unwrap() else {
            panic!("{before} concludes elsewhere")
        };
        assert_eq!((after.outcome(), after.outcome().to_status()), (outcome, status), "{before}");
        assert_eq!(serde_json::to_value(outcome).unwrap(), json!(status.name()), "one spelling for both");
    }
}

/// Document 000, the labels out of ExecuteTool.
#[test]
fn an_answer_comes_out_as_its_label_says() {
    let warning = ToolResult::Warning { output: json!(1), warning: "slow".into() };
    for (result, outcome) in [
        (ToolResult::Success(json!(1)), ToolCallOutcome::Succeeded),
        (warning, ToolCallOutcome::Succeeded),
        (ToolResult::Error("broken".into()), ToolCallOutcome::Failed),
        (ToolResult::Pending(suspension()), ToolCallOutcome::Suspended),
    ] {
        assert_eq!(open().answered(&result).outcome(), outcome, "{result:?}");
    }
}

#[test]
fn every_state_survives_storage() {
    stored::assert_forms("tool_execution", ToolExecutionStatus::ALL.iter().map(|status| at(*status)));
}

#[test]
fn every_event_has_a_payload_that_fits() {
    super::assert_every_edge_is_taken(ToolExecutionStatus::ALL, ready, event);
}

#[test]
fn states_are_reached() {
    super::assert_states_are_reached(ToolExecutionStatus::ALL, at);
    let record = ExecutionRecord::new("call_1", "read_file");
    assert_eq!(AnyToolExecution::create(record).status(), ToolExecutionStatus::BeforeToolExecute);
}
