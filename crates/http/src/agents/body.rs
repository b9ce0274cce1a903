//! The bodies of answers about agent runs.

use runstate::decision::IN_DOUBT;
use runstate::tool_call::AnyToolCall;
use runstate_store::{Approval, Holder, RunInfo};
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use crate::body::time;

/// The holder of the lease of a run.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct HolderBody {
    /// The name.
    name: String,
    /// The time until the lease expires, in milliseconds. Zero: it is expired.
    left_ms: u64,
}

/// An agent run.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct AgentRunBody {
    /// The id.
    run_id: String,
    /// `agent`.
    #[schema(pattern = "^agent$")]
    kind: &'static str,
    /// The title.
    title: String,
    /// `Running`, `Waiting` or `Done`.
    #[schema(value_type = String, pattern = "^(Running|Waiting|Done)$")]
    status: Value,
    /// The reason for the end or the wait.
    reason: Option<String>,
    /// The number of commits, which the entity tag has too.
    version: u64,
    /// The number of steps.
    steps: u32,
    /// The number of calls that wait.
    waiting: u32,
    /// The thread, for one run. None for a run with a thread of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    thread: Option<String>,
    /// The holder of the last lease.
    holder: Option<HolderBody>,
    /// The reason for which the run did not go on.
    problem: Option<String>,
    /// Whether workers leave the run alone, after a problem.
    is_set_aside: bool,
    /// The reason of a requested cancellation.
    cancel: Option<String>,
    /// The time of creation.
    #[schema(format = DateTime)]
    created_at: String,
    /// The time of the last change.
    #[schema(format = DateTime)]
    updated_at: String,
}

impl AgentRunBody {
    pub(crate) fn new(run: RunInfo, thread: Option<String>) -> Self {
        let is_set_aside = run.is_set_aside();
        AgentRunBody {
            run_id: run.id,
            kind: "agent",
            title: run.title,
            status: json!(run.status),
            reason: run.reason,
            version: run.version,
            steps: run.steps,
            waiting: run.waiting,
            thread,
            holder: run
                .holder
                .map(|Holder { name, left, .. }| HolderBody { name, left_ms: milliseconds(left) }),
            problem: run.problem,
            is_set_aside,
            cancel: run.cancel,
            created_at: time(run.created_at_ms),
            updated_at: time(run.changed_at_ms),
        }
    }
}

impl AgentRunBody {
    /// The body without the time that is left of a lease, which runs off.
    pub(crate) fn without_time_left(&self) -> Value {
        let mut body = json!(self);
        if let Some(holder) = body["holder"].as_object_mut() {
            holder.remove("left_ms");
        }
        body
    }
}

fn milliseconds(time: std::time::Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// A call that waits for a decision.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ApprovalBody {
    /// The name of the call in traces.
    pub(crate) call: String,
    /// The name of the tool.
    tool: String,
    /// The arguments, any JSON.
    #[schema(value_type = Value)]
    arguments: Value,
    /// The digest of the question. A decision names it.
    digest: String,
    /// The question: id, action, message, and how the run resumes.
    #[schema(value_type = Object)]
    suspension: Value,
    /// Whether the call may have executed already.
    in_doubt: bool,
    /// The time for a decision, in milliseconds. Zero: it is over. None: no limit.
    left_ms: Option<u64>,
}

impl From<Approval> for ApprovalBody {
    fn from(approval: Approval) -> Self {
        let Approval { call, tool, arguments, digest, suspension, left, .. } = approval;
        let in_doubt = suspension.action == IN_DOUBT;
        let suspension = json!(suspension);
        ApprovalBody { call, tool, arguments, digest, suspension, in_doubt, left_ms: left.map(milliseconds) }
    }
}

/// A page of calls that wait.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ApprovalsBody {
    /// The calls, by name.
    pub(crate) approvals: Vec<ApprovalBody>,
    /// The call after which the next page begins. None for the last page.
    pub(crate) next: Option<String>,
}

/// A tool call as its readers see it.
pub(crate) fn tool_call(seq: usize, name: &str, call: &AnyToolCall) -> Value {
    let record = call.record();
    let mut row = json!({
        "seq": seq,
        "call": name,
        "id": record.id(),
        "tool": record.tool(),
        "arguments": record.arguments(),
        "status": call.status(),
        "attempts": record.attempts(),
    });
    match call {
        AnyToolCall::New(_) | AnyToolCall::Running(_) | AnyToolCall::Resuming(_) => {}
        AnyToolCall::Suspended(call) => row["suspension"] = json!(call.suspension()),
        AnyToolCall::Succeeded(call) => row["output"] = call.output().clone(),
        AnyToolCall::Failed(call) => row["error"] = call.error().into(),
        AnyToolCall::Cancelled(call) => row["reason"] = call.reason().into(),
    }
    row
}
