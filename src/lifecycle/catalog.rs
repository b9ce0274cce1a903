//! The list of the built-in lifecycles, with the files that document them.

use super::approval::AnyApproval;
use super::governed_run::AnyGovernedRun;
use super::resume_tool_call::AnyResumeToolCall;
use super::run::AnyRun;
use super::run_flow::AnyRunFlow;
use super::service_pass::AnyServicePass;
use super::service_run::AnyServiceRun;
use super::stream_session::AnyStreamSession;
use super::tool_call::AnyToolCall;
use super::tool_execution::AnyToolExecution;
use crate::kernel::{Graph, Stateful};

/// A lifecycle and the file that documents it. The compiler checks the graph against this file.
///
/// ```
/// let run = runstate::documents().iter().find(|document| document.graph.name == "run").unwrap();
/// assert_eq!(run.path, "docs/lifecycles/run.md");
/// assert!(run.text.contains("Waiting --> Running : resume"));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Document {
    /// The graph in the code.
    pub graph: &'static Graph,
    /// The file's path from the root of the package, for messages.
    pub path: &'static str,
    /// The file's text: Markdown with exactly one Mermaid block.
    pub text: &'static str,
}

macro_rules! catalog {
    ($($Any:ty: $file:literal,)+) => {
        const COUNT: usize = [$($file),+].len();
        static GRAPHS: [&Graph; COUNT] = [$(<$Any as Stateful>::GRAPH),+];
        static DOCUMENTS: [Document; COUNT] = [$(Document {
            graph: <$Any as Stateful>::GRAPH,
            path: concat!("docs/lifecycles/", $file),
            text: include_str!(concat!("../../docs/lifecycles/", $file)),
        }),+];
    };
}

// The layers of an agent's run from coarse to fine, then the independent machines.
catalog! {
    AnyRun: "run.md",
    AnyToolCall: "tool-call.md",
    AnyRunFlow: "run-flow.md",
    AnyResumeToolCall: "resume-tool-call.md",
    AnyToolExecution: "tool-execution.md",
    AnyStreamSession: "stream-session.md",
    AnyGovernedRun: "governed-run.md",
    AnyApproval: "approval.md",
    AnyServiceRun: "service-run.md",
    AnyServicePass: "service-pass.md",
}

/// The graphs of the built-in lifecycles, in a fixed order.
///
/// ```
/// let names: Vec<_> = runstate::lifecycles().iter().map(|graph| graph.name).collect();
/// assert_eq!(names[..3], ["run", "tool_call", "run_flow"]);
///
/// // The names in traces and snapshots identify a lifecycle. An unknown name finds nothing.
/// let named = |name: &str| runstate::lifecycles().iter().find(|graph| graph.name == name);
/// assert_eq!(named("tool_call").unwrap().initial().name, "New");
/// assert!(named("door").is_none());
/// ```
pub fn lifecycles() -> &'static [&'static Graph] {
    &GRAPHS
}

/// The built-in lifecycles with the files that document them, in the order of [`lifecycles`].
pub fn documents() -> &'static [Document] {
    &DOCUMENTS
}

/// The rules of the built-in lifecycles, and the lifecycles that end together. The next activation of a run ends the
/// previous activation with its replays and executions. Any end of the run ends its unfinished calls, replays and
/// executions.
///
/// ```
/// use runstate::trace::{Event, Verdict, check};
///
/// let line = |seq: u64, lifecycle: &str, event: &str, from: &str, to: &str| {
///     format!(r#"{{"seq":{seq},"at_ms":0,"run":"r1","lifecycle":"{lifecycle}","instance":"{lifecycle}","event":"{event}","from":{from},"to":"{to}"}}"#)
/// };
/// let lines = [
///     line(1, "run", "create", "null", "Running"),
///     line(2, "tool_call", "create", "null", "New"),
///     line(3, "run", "finish", "\"Running\"", "Done"),
/// ];
/// let events: Vec<_> = lines.iter().map(|line| Event::from_json(line).unwrap()).collect();
/// assert_eq!(check(&events, &runstate::rulebook()).verdict, Verdict::Conforms);
///
/// // The trace lacks the end of the run.
/// assert_eq!(check(&events[..2], &runstate::rulebook()).verdict, Verdict::Incomplete);
/// ```
#[cfg(feature = "trace")]
pub fn rulebook() -> crate::trace::Rulebook {
    let executing = AnyToolExecution::GRAPH.states.iter().filter(|state| !state.terminal);
    let left = [("tool_call", "New"), ("resume_tool_call", "ExecuteReplayedTool")];
    let left = left.into_iter().chain(executing.map(|state| ("tool_execution", state.name)));
    crate::trace::Rulebook::of(GRAPHS.iter().copied())
        .restarting("run_flow", ["resume_tool_call", "tool_execution"])
        .ending("run", left)
}
