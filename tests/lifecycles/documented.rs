//! The documented graphs, transcribed by hand from the source documents and from nothing in `src/`, and held against the
//! graphs that the code declares.
//!
//! Each list is in its document's order and gives the caption that the document puts on an edge, if it puts one. Where a
//! document has an edge in prose or in a table alone, the edge stands in `prose`, with what the document says.

use std::collections::BTreeSet;

use runstate::kernel::Graph;

/// A graph as a document has it.
pub(crate) struct Documented {
    /// The lifecycle that it became.
    pub(crate) name: &'static str,
    /// The state that it starts in.
    pub(crate) initial: &'static str,
    /// The states that it ends in.
    pub(crate) terminal: &'static [&'static str],
    /// The edges that the document draws or lists: from, to, caption.
    pub(crate) drawn: &'static [(&'static str, &'static str, &'static str)],
    /// The edges that follow from its prose or tables alone: from, to, what it says there.
    pub(crate) prose: &'static [(&'static str, &'static str, &'static str)],
}

impl Documented {
    /// The pairs of all edges.
    pub(crate) fn pairs(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        self.drawn.iter().chain(self.prose).map(|(from, to, _)| (*from, *to))
    }
}

/// Document 000, "Layer 1: Run Lifecycle"; document 003 draws the same four.
pub(crate) const RUN: Documented = Documented {
    name: "run",
    initial: "Running",
    terminal: &["Done"],
    drawn: &[
        ("Running", "Waiting", "all tool calls suspended"),
        ("Running", "Done", "NaturalEnd / PluginRequested / Stopped / Cancelled / Error"),
        ("Waiting", "Running", "resume decision received"),
        ("Waiting", "Done", "Cancelled / Error"),
    ],
    prose: &[],
};

/// Document 000, "Layer 2: Tool Call Lifecycle"; what document 003 draws is among these.
pub(crate) const TOOL_CALL: Documented = Documented {
    name: "tool_call",
    initial: "New",
    terminal: &["Succeeded", "Failed", "Cancelled"],
    drawn: &[
        ("New", "Running", ""),
        ("New", "Suspended", "pre-execution suspend"),
        ("Running", "Suspended", "tool returned Pending"),
        ("Running", "Succeeded", "tool returned Success/Warning"),
        ("Running", "Failed", "tool returned Error"),
        ("Running", "Cancelled", "run cancelled"),
        ("Suspended", "Resuming", "resume decision received"),
        ("Suspended", "Cancelled", "cancel decision or run cancelled"),
        ("Resuming", "Running", "replay tool call"),
        ("Resuming", "Suspended", "re-suspended after replay"),
        ("Resuming", "Succeeded", ""),
        ("Resuming", "Failed", ""),
        ("Resuming", "Cancelled", ""),
    ],
    prose: &[],
};

/// Document 000, "Run Execution Flow"; the prose is that of "Tool failure vs loop error" and "CancellationToken Impact".
pub(crate) const RUN_FLOW: Documented = Documented {
    name: "run_flow",
    initial: "RunStart",
    terminal: &["CommitFinished"],
    drawn: &[
        ("RunStart", "CommitUser", "CKPT UserMessage"),
        ("CommitUser", "ResumeReplay0", ""),
        ("ResumeReplay0", "CommitReplay0", "replayed"),
        ("ResumeReplay0", "LoopTop", "no replay"),
        ("CommitReplay0", "LoopTop", ""),
        ("CommitReplay0", "Suspended", "new suspended at run-start"),
        ("LoopTop", "ResumeToolCall", ""),
        ("ResumeToolCall", "StepPrepare", ""),
        ("StepPrepare", "Terminate", "run_action=Terminate"),
        ("StepPrepare", "LlmCall", "run_action=Continue"),
        ("LlmCall", "Error", ""),
        ("LlmCall", "Cancelled", ""),
        ("LlmCall", "AfterInference", ""),
        ("AfterInference", "CommitAssistant", "CKPT AssistantTurnCommitted"),
        ("CommitAssistant", "Terminate", "post-inference terminate"),
        ("CommitAssistant", "NaturalEnd", "no tool calls"),
        ("CommitAssistant", "ToolRound", "has tool calls"),
        ("ToolRound", "Error", ""),
        ("ToolRound", "Cancelled", ""),
        ("ToolRound", "CommitTool", "CKPT ToolResultsCommitted"),
        ("CommitTool", "ResumeAfterTool", ""),
        ("ResumeAfterTool", "Suspended", "all outcomes suspended"),
        ("ResumeAfterTool", "LoopTop", "has non-suspended outcomes"),
        ("Terminate", "RunEnd", ""),
        ("NaturalEnd", "RunEnd", ""),
        ("Suspended", "RunEnd", ""),
        ("Cancelled", "RunEnd", ""),
        ("Error", "RunEnd", ""),
        ("RunEnd", "CommitFinished", "CKPT RunFinished(force=true)"),
    ],
    prose: &[
        // Patch and apply failures: wherever effects are applied.
        ("RunStart", "Error", "patch/apply failure"),
        ("AfterInference", "Error", "patch/apply failure"),
        ("StepPrepare", "Error", "patch/apply failure"),
        // Commit failures: wherever a commit is due but at the very end.
        ("CommitUser", "Error", "checkpoint commit failure"),
        ("CommitReplay0", "Error", "checkpoint commit failure"),
        ("CommitAssistant", "Error", "checkpoint commit failure"),
        ("CommitTool", "Error", "checkpoint commit failure"),
        // A gate executes replayed tools and commits what they did.
        ("ResumeReplay0", "Error", "tool executor failure"),
        ("ResumeToolCall", "Error", "tool executor failure"),
        ("ResumeAfterTool", "Error", "tool executor failure"),
        // The token aborts the run, but no commit midway.
        ("ResumeReplay0", "Cancelled", "cancellation token aborts run"),
        ("ResumeToolCall", "Cancelled", "cancellation token aborts run"),
        ("StepPrepare", "Cancelled", "cancellation token aborts run"),
        ("ResumeAfterTool", "Cancelled", "cancellation token aborts run"),
    ],
};

/// Document 000, "RESUME_TOOL_CALL Sub-State Machine".
pub(crate) const RESUME_TOOL_CALL: Documented = Documented {
    name: "resume_tool_call",
    initial: "DrainDecisionChannel",
    terminal: &["CommitReplay", "NoDecision"],
    drawn: &[
        ("DrainDecisionChannel", "NoDecision", "channel empty / unresolved only"),
        ("DrainDecisionChannel", "ResolveDecision", "matched suspended call"),
        ("ResolveDecision", "PersistResumeDecision", "upsert __resume_decisions"),
        ("PersistResumeDecision", "Replay", ""),
        ("Replay", "ReplayCancel", "action=Cancel"),
        ("Replay", "ReplayResume", "action=Resume"),
        ("ReplayCancel", "ClearResolved", ""),
        ("ReplayResume", "ExecuteReplayedTool", ""),
        ("ExecuteReplayedTool", "ClearResolved", "outcome != Suspended"),
        ("ExecuteReplayedTool", "SetNextSuspended", "outcome = Suspended"),
        ("SetNextSuspended", "ClearResolved", ""),
        ("ClearResolved", "SnapshotIfStateChanged", ""),
        ("SnapshotIfStateChanged", "CommitReplay", "CKPT ToolResultsCommitted"),
    ],
    prose: &[],
};

/// Document 000, "TOOL_CALL Sub-State Machine (Per ToolCall)".
pub(crate) const TOOL_EXECUTION: Documented = Documented {
    name: "tool_execution",
    initial: "BeforeToolExecute",
    terminal: &["AfterToolExecute"],
    drawn: &[
        ("BeforeToolExecute", "Blocked", "plugin block / tool_blocked"),
        ("BeforeToolExecute", "Suspended", "plugin suspend / tool_pending"),
        ("BeforeToolExecute", "Failed", "out-of-scope / tool-missing / arg-invalid"),
        ("BeforeToolExecute", "ExecuteTool", "allow"),
        ("ExecuteTool", "Succeeded", "ToolResult success/warning"),
        ("ExecuteTool", "Failed", "ToolResult error"),
        ("ExecuteTool", "Suspended", "ToolResult pending"),
        ("Succeeded", "AfterToolExecute", ""),
        ("Failed", "AfterToolExecute", ""),
        ("Blocked", "AfterToolExecute", ""),
        ("Suspended", "AfterToolExecute", ""),
    ],
    prose: &[],
};

/// Document 002, "State Machine": three chains and an exit. It marks ERROR terminal in words; COMPLETE has no way out.
pub(crate) const STREAM_SESSION: Documented = Documented {
    name: "stream_session",
    initial: "INIT",
    terminal: &["COMPLETE", "ERROR"],
    drawn: &[
        ("INIT", "STREAMING", ""),
        ("STREAMING", "COMPLETE", ""),
        ("STREAMING", "RETRYING", ""),
        ("RETRYING", "STREAMING", ""),
        ("STREAMING", "FALLBACK", ""),
        ("FALLBACK", "STREAMING", ""),
        ("STREAMING", "ERROR", "terminal"),
    ],
    prose: &[],
};

/// Document 001, "Valid Transitions", and one row of "Timeout Rules". The document's drawing has a rail that its list
/// lacks, from VERIFYING back to PLANNING, and AWAITING_APPROVAL over VERIFYING; the list is the rule.
pub(crate) const GOVERNED_RUN: Documented = Documented {
    name: "governed_run",
    initial: "INIT",
    terminal: &["COMPLETE", "ROLLED_BACK", "HALTED_UNSAFE"],
    drawn: &[
        ("INIT", "PLANNING", ""),
        ("PLANNING", "EXECUTING", ""),
        ("PLANNING", "HALTED_UNSAFE", "if critical risk in plan"),
        ("EXECUTING", "AWAITING_APPROVAL", "high-risk action"),
        ("EXECUTING", "VERIFYING", "all tools pass"),
        ("EXECUTING", "HALTED_UNSAFE", "critical failure"),
        ("EXECUTING", "ROLLED_BACK", "tool failure + rollback"),
        ("AWAITING_APPROVAL", "EXECUTING", "approved, continue"),
        ("AWAITING_APPROVAL", "ROLLED_BACK", "rejected"),
        ("AWAITING_APPROVAL", "HALTED_UNSAFE", "timeout or escalation"),
        ("VERIFYING", "AUDITING", "tests pass"),
        ("VERIFYING", "ROLLED_BACK", "tests fail"),
        ("AUDITING", "COMPLETE", "audit pass"),
        ("AUDITING", "ROLLED_BACK", "audit fail"),
    ],
    prose: &[("INIT", "HALTED_UNSAFE", "60 seconds")],
};

/// Document 001, "Approval State Transitions".
pub(crate) const APPROVAL: Documented = Documented {
    name: "approval",
    initial: "REQUEST_APPROVAL",
    terminal: &["EXECUTED", "ABORTED"],
    drawn: &[
        ("REQUEST_APPROVAL", "AWAITING_HUMAN", "saved to PENDING/"),
        ("AWAITING_HUMAN", "APPROVED", ""),
        ("AWAITING_HUMAN", "REJECTED", ""),
        ("APPROVED", "EXECUTED", ""),
        ("REJECTED", "ABORTED", ""),
    ],
    prose: &[],
};

/// Document 004 draws no graph: the statuses are its list "Run Statuses", the edges follow from "Final Status", "High-Level
/// Flow", "Execution Path" and "Resume Flow".
pub(crate) const SERVICE_RUN: Documented = Documented {
    name: "service_run",
    initial: "CREATED",
    terminal: &["CONFIRMED", "REVERTED", "BLOCKED", "FAILED", "REJECTED"],
    drawn: &[],
    prose: &[
        ("CREATED", "RUNNING", "POST /v1/runs/{id}/start"),
        ("RUNNING", "AWAITING_APPROVAL", "READY"),
        ("RUNNING", "PAUSED", "NEEDS_INPUT / NOOP"),
        ("RUNNING", "BLOCKED", "BLOCKED"),
        ("RUNNING", "FAILED", "FAILED"),
        ("PAUSED", "RUNNING", "POST /v1/runs/{id}/resume"),
        ("AWAITING_APPROVAL", "APPROVED_READY", "POST /v1/runs/{id}/approve"),
        ("AWAITING_APPROVAL", "REJECTED", "the status alone"),
        ("APPROVED_READY", "SUBMITTED", "frontend signs via wallet"),
        ("SUBMITTED", "CONFIRMED", "the status alone"),
        ("SUBMITTED", "REVERTED", "the status alone"),
    ],
};

/// The text on the run service, "Node Order (Current)"; the prose is that of "Failure Handling", "Final Status" and "Resume Flow".
pub(crate) const SERVICE_PASS: Documented = Documented {
    name: "service_pass",
    initial: "INPUT_NORMALIZE",
    terminal: &["FINALIZE"],
    drawn: &[
        ("INPUT_NORMALIZE", "PRECHECK", "1 and 2"),
        ("PRECHECK", "WALLET_SNAPSHOT", "2 and 3"),
        ("WALLET_SNAPSHOT", "PLAN_TX", "3 and 4"),
        ("PLAN_TX", "BUILD_TXS", "4 and 5"),
        ("BUILD_TXS", "SIMULATE_TXS", "5 and 6"),
        ("SIMULATE_TXS", "POLICY_EVAL", "6 and 7"),
        ("POLICY_EVAL", "SECURITY_EVAL", "7 and 8"),
        ("SECURITY_EVAL", "JUDGE_AGENT", "8 and 9"),
        ("JUDGE_AGENT", "REPAIR_ROUTER", "9 and 10"),
        ("REPAIR_ROUTER", "REPAIR_PLAN_TX", "10"),
        ("REPAIR_PLAN_TX", "CLARIFY", "10 and 11"),
        ("CLARIFY", "FINALIZE", "11 and 12"),
    ],
    prose: &[
        ("PRECHECK", "CLARIFY", "may set needs_input"),
        ("PLAN_TX", "CLARIFY", "graph asks for missing fields"),
        ("PLAN_TX", "FINALIZE", "invalid planner output: fallback noop plan"),
        ("REPAIR_ROUTER", "CLARIFY", "optional bounded repair (if enabled)"),
        ("REPAIR_PLAN_TX", "BUILD_TXS", "bounded repair"),
        ("INPUT_NORMALIZE", "FINALIZE", "fatal errors"),
        ("PRECHECK", "FINALIZE", "fatal errors"),
        ("WALLET_SNAPSHOT", "FINALIZE", "fatal errors"),
        ("BUILD_TXS", "FINALIZE", "fatal errors"),
        ("SIMULATE_TXS", "FINALIZE", "fatal errors"),
        ("POLICY_EVAL", "FINALIZE", "fatal errors"),
        ("SECURITY_EVAL", "FINALIZE", "fatal errors"),
        ("JUDGE_AGENT", "FINALIZE", "fatal errors"),
        ("REPAIR_ROUTER", "FINALIZE", "fatal errors"),
        ("REPAIR_PLAN_TX", "FINALIZE", "fatal errors"),
    ],
};

/// All of them, in the order of the catalog.
pub(crate) const ALL: [&Documented; 10] = [
    &RUN,
    &TOOL_CALL,
    &RUN_FLOW,
    &RESUME_TOOL_CALL,
    &TOOL_EXECUTION,
    &STREAM_SESSION,
    &GOVERNED_RUN,
    &APPROVAL,
    &SERVICE_RUN,
    &SERVICE_PASS,
];

fn declared(name: &str) -> &'static Graph {
    runstate::lifecycles().iter().find(|graph| graph.name == name).unwrap()
}

/// The counts that a person gets who counts in the documents: edges drawn or listed, and edges from prose.
#[test]
fn the_transcription_has_the_counts_of_the_documents() {
    let counts: Vec<_> = ALL.iter().map(|graph| (graph.name, graph.drawn.len(), graph.prose.len())).collect();
    assert_eq!(
        counts,
        [
            ("run", 4, 0),
            ("tool_call", 13, 0),
            ("run_flow", 29, 14),
            ("resume_tool_call", 13, 0),
            ("tool_execution", 11, 0),
            ("stream_session", 7, 0),
            ("governed_run", 14, 1),
            ("approval", 5, 0),
            ("service_run", 0, 11),
            ("service_pass", 12, 15),
        ]
    );
}

#[test]
fn the_transcription_has_no_edge_twice_and_none_to_itself() {
    for graph in ALL {
        let pairs: BTreeSet<_> = graph.pairs().collect();
        assert_eq!(pairs.len(), graph.pairs().count(), "{}", graph.name);
        assert!(pairs.iter().all(|(from, to)| from != to), "{}", graph.name);
    }
}

#[test]
fn every_declared_graph_is_transcribed() {
    let declared: Vec<_> = runstate::lifecycles().iter().map(|graph| graph.name).collect();
    let transcribed: Vec<_> = ALL.iter().map(|graph| graph.name).collect();
    assert_eq!(declared, transcribed);
}

#[test]
fn declared_edges_are_the_documented_ones() {
    for documented in ALL {
        let graph = declared(documented.name);
        let expected: BTreeSet<_> = documented.pairs().collect();
        let got: BTreeSet<_> = graph.edges.iter().map(|edge| (edge.from, edge.to)).collect();
        let missing: Vec<_> = expected.difference(&got).collect();
        let extra: Vec<_> = got.difference(&expected).collect();
        assert!(
            missing.is_empty() && extra.is_empty(),
            "{}: the code lacks {missing:?} and adds {extra:?}",
            graph.name
        );
        // One edge a pair: counts of edges are counts of pairs.
        assert_eq!(graph.edges.len(), expected.len(), "{}", graph.name);
    }
}

#[test]
fn declared_states_and_marks_are_the_documented_ones() {
    for documented in ALL {
        let graph = declared(documented.name);
        assert_eq!(graph.initial().name, documented.initial);
        let expected: BTreeSet<_> = documented.terminal.iter().copied().collect();
        let got: BTreeSet<_> =
            graph.states.iter().filter(|state| state.terminal).map(|state| state.name).collect();
        assert_eq!(got, expected, "{}", graph.name);
        let expected: BTreeSet<_> = documented.pairs().flat_map(|(from, to)| [from, to]).collect();
        let got: BTreeSet<_> = graph.states.iter().map(|state| state.name).collect();
        assert_eq!(got, expected, "{}", graph.name);
    }
}
