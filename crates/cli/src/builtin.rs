//! The documented lifecycles that the library has.

use runstate::kernel::{Graph, Status};
use runstate::snapshot::{RestoreError, Snapshot};
use runstate::{resume_tool_call, run, run_flow, tool_call, tool_execution};

/// All of them, in the order in which the documentation lists them.
pub(crate) fn graphs() -> Vec<&'static Graph> {
    vec![
        run::RunStatus::graph(),
        tool_call::ToolCallStatus::graph(),
        run_flow::RunFlowStatus::graph(),
        resume_tool_call::ResumeToolCallStatus::graph(),
        tool_execution::ToolExecutionStatus::graph(),
    ]
}

/// The one of that name.
pub(crate) fn graph(name: &str) -> Option<&'static Graph> {
    graphs().into_iter().find(|graph| graph.name == name)
}

/// The names, for messages.
pub(crate) fn names() -> String {
    graphs().iter().map(|graph| graph.name).collect::<Vec<_>>().join(", ")
}

/// Would the snapshot be read back as a type? None for a lifecycle that is not built in.
pub(crate) fn restores(snapshot: &Snapshot) -> Option<Result<(), RestoreError>> {
    Some(match snapshot.lifecycle() {
        "run" => snapshot.restore::<run::AnyRun>().map(drop),
        "tool_call" => snapshot.restore::<tool_call::AnyToolCall>().map(drop),
        "run_flow" => snapshot.restore::<run_flow::AnyRunFlow>().map(drop),
        "resume_tool_call" => snapshot.restore::<resume_tool_call::AnyResumeToolCall>().map(drop),
        "tool_execution" => snapshot.restore::<tool_execution::AnyToolExecution>().map(drop),
        _ => return None,
    })
}
