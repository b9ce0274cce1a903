//! The documented lifecycles that the library has.

use runstate::kernel::{Graph, Status};
use runstate::snapshot::{RestoreError, Snapshot};

/// All of them, in the order in which the documentation lists them.
pub(crate) fn graphs() -> Vec<&'static Graph> {
    vec![runstate::run::RunStatus::graph(), runstate::tool_call::ToolCallStatus::graph()]
}

/// The names, for messages.
pub(crate) fn names() -> String {
    graphs().iter().map(|graph| graph.name).collect::<Vec<_>>().join(", ")
}

/// Would the snapshot be read back as a type? None for a lifecycle that is not built in.
pub(crate) fn restores(snapshot: &Snapshot) -> Option<Result<(), RestoreError>> {
    match snapshot.lifecycle() {
        "run" => Some(snapshot.restore::<runstate::run::AnyRun>().map(drop)),
        "tool_call" => Some(snapshot.restore::<runstate::tool_call::AnyToolCall>().map(drop)),
        _ => None,
    }
}
