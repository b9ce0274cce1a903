//! The documented lifecycles of the library.

use runstate::kernel::Graph;
use runstate::snapshot::{RestoreError, Snapshot};
use runstate::{lifecycles, resume_tool_call, run, run_flow, tool_call, tool_execution};

/// The lifecycle of that name.
pub(crate) fn graph(name: &str) -> Option<&'static Graph> {
    lifecycles().iter().copied().find(|graph| graph.name == name)
}

/// The names, for messages.
pub(crate) fn names() -> String {
    lifecycles().iter().map(|graph| graph.name).collect::<Vec<_>>().join(", ")
}

/// Would the snapshot be restored as a type? `None` for a lifecycle that is not built in.
pub(crate) fn restores(snapshot: &Snapshot) -> Option<Result<(), RestoreError>> {
    let identity = snapshot.lifecycle();
    // Version 0.1.0 stored the name alone.
    Some(match identity.strip_prefix("runstate/").unwrap_or(identity) {
        "run" => snapshot.restore::<run::AnyRun>().map(drop),
        "tool_call" => snapshot.restore::<tool_call::AnyToolCall>().map(drop),
        "run_flow" => snapshot.restore::<run_flow::AnyRunFlow>().map(drop),
        "resume_tool_call" => snapshot.restore::<resume_tool_call::AnyResumeToolCall>().map(drop),
        "tool_execution" => snapshot.restore::<tool_execution::AnyToolExecution>().map(drop),
        "stream_session" => snapshot.restore::<runstate::stream_session::AnyStreamSession>().map(drop),
        "governed_run" => snapshot.restore::<runstate::governed_run::AnyGovernedRun>().map(drop),
        "approval" => snapshot.restore::<runstate::approval::AnyApproval>().map(drop),
        "service_run" => {
            use runstate::service_run::{AnyServiceRun, MIGRATIONS};
            snapshot.restore_with::<AnyServiceRun>(MIGRATIONS).map(drop)
        }
        "service_pass" => snapshot.restore::<runstate::service_pass::AnyServicePass>().map(drop),
        _ => return None,
    })
}
