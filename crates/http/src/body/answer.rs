//! The bodies of answers.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use runstate::service_run::{FinalStatus, ServiceRunStatus};
use runstate_service::{
    Artifacts, Numbered, Operation, RunInfo, RunPage, RunView, Step, StepName, TimelineEntry, UnreadableRun,
};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::agents::body::AgentRunBody;

/// A time as RFC 3339, with milliseconds.
pub(crate) fn time(at_ms: u64) -> String {
    let time = i64::try_from(at_ms).ok().and_then(|at_ms| Timestamp::from_millisecond(at_ms).ok());
    time.map_or_else(|| at_ms.to_string(), |time| format!("{time:.3}"))
}

/// The author of a decision, and its time.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct DecidedBy {
    /// The name of the token.
    actor: String,
    /// The time.
    #[schema(format = DateTime)]
    at: String,
}

/// A run.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RunBody {
    /// The id.
    pub(crate) run_id: String,
    /// `service`.
    #[schema(pattern = "^service$")]
    kind: &'static str,
    /// The status.
    #[schema(value_type = String)]
    pub(crate) status: ServiceRunStatus,
    /// The final status of the last pass.
    #[schema(value_type = Option<String>)]
    final_status: Option<FinalStatus>,
    /// The node that executes, or executed last.
    #[schema(value_type = Option<String>)]
    current_step: Option<StepName>,
    /// The version, which the entity tag has too.
    pub(crate) version: u64,
    /// The request in words.
    intent: String,
    /// The address of the wallet.
    wallet_address: Option<String>,
    /// The id of the chain.
    chain_id: Option<u64>,
    /// The time of creation.
    #[schema(format = DateTime)]
    created_at: String,
    /// The time of the last change.
    #[schema(format = DateTime)]
    updated_at: String,
    /// The actors that created or resumed the run.
    requested_by: BTreeSet<String>,
    /// The questions to the user, for a run that waits for answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    needs_input: Option<Value>,
    /// The message to the user.
    #[serde(skip_serializing_if = "Option::is_none")]
    assistant_message: Option<String>,
    /// The digest of the transactions. An approval names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    digest: Option<String>,
    /// The author of the decision.
    #[serde(skip_serializing_if = "Option::is_none")]
    decided_by: Option<DecidedBy>,
    /// The hashes of the sent transactions.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    tx_hashes: Vec<String>,
    /// The operations that the run allows now.
    #[schema(value_type = Vec<String>)]
    allowed: &'static [Operation],
    /// The artifacts, if the query asks for them.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub(crate) artifacts: Option<BTreeMap<String, Value>>,
    /// The timeline, if the query asks for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<Object>>)]
    pub(crate) timeline: Option<Vec<Value>>,
    /// The steps, if the query asks for them.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<Object>>)]
    pub(crate) steps: Option<Vec<Value>>,
    /// The steps of decisions, if the query asks for them.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<Object>>)]
    pub(crate) decisions: Option<Vec<Value>>,
}

impl From<RunView> for RunBody {
    fn from(run: RunView) -> Self {
        let allowed = run.allowed();
        let Artifacts { needs_input, assistant_message, .. } = run.artifacts;
        let needs_input = needs_input.filter(|_| run.final_status == Some(FinalStatus::NeedsInput));
        RunBody {
            run_id: run.run_id,
            kind: "service",
            status: run.status,
            final_status: run.final_status,
            current_step: run.current_step,
            version: run.version,
            intent: run.intent,
            wallet_address: run.wallet,
            chain_id: run.chain_id,
            created_at: time(run.created_at_ms),
            updated_at: time(run.updated_at_ms),
            requested_by: run.requested_by,
            needs_input: needs_input.map(|needs| serde_json::json!(needs)),
            assistant_message,
            digest: run.digest,
            decided_by: run.decided_by.map(|(actor, at_ms)| DecidedBy { actor, at: time(at_ms) }),
            tx_hashes: run.tx_hashes,
            allowed,
            artifacts: None,
            timeline: None,
            steps: None,
            decisions: None,
        }
    }
}

/// A run in a list.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RunRow {
    /// The id.
    run_id: String,
    /// `service`.
    #[schema(pattern = "^service$")]
    kind: &'static str,
    /// The status.
    #[schema(value_type = String)]
    status: ServiceRunStatus,
    /// The final status of the last pass.
    #[schema(value_type = Option<String>)]
    final_status: Option<FinalStatus>,
    /// The node that executes, or executed last.
    #[schema(value_type = Option<String>)]
    current_step: Option<StepName>,
    /// The version.
    version: u64,
    /// The request in words.
    intent: String,
    /// The time of creation.
    #[schema(format = DateTime)]
    created_at: String,
    /// The time of the last change.
    #[schema(format = DateTime)]
    updated_at: String,
}

impl From<RunInfo> for RunRow {
    fn from(run: RunInfo) -> Self {
        RunRow {
            run_id: run.id,
            kind: "service",
            status: run.status,
            final_status: run.final_status,
            current_step: run.current_step,
            version: run.version,
            intent: run.intent,
            created_at: time(run.created_at_ms),
            updated_at: time(run.updated_at_ms),
        }
    }
}

/// A service run or an agent run.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum AnyRunBody {
    /// A service run.
    #[expect(dead_code, reason = "the document has it")]
    Service(RunBody),
    /// An agent run.
    #[expect(dead_code, reason = "the document has it")]
    Agent(AgentRunBody),
}

/// A service run or an agent run in a list.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum AnyRunRow {
    /// A service run.
    Service(RunRow),
    /// An agent run.
    Agent(AgentRunBody),
}

/// A run in a list whose row the server cannot read. Another program, or another version of the server, wrote it.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct UnreadableRow {
    /// The id.
    pub(crate) run_id: String,
    /// The column and its problem.
    pub(crate) detail: String,
}

impl From<UnreadableRun> for UnreadableRow {
    fn from(run: UnreadableRun) -> Self {
        UnreadableRow { run_id: run.id, detail: run.reason }
    }
}

/// A page of runs.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ListBody {
    /// The runs.
    runs: Vec<AnyRunRow>,
    /// The service runs of the page that cannot be read; of agent runs those that the lists of the server have met.
    unreadable: Vec<UnreadableRow>,
    /// The cursor of the next page. None for the last page.
    next: Option<String>,
    /// The number of service runs on all pages, by status, if the query asks for it. A status that the server does not
    /// know has its own name; `unreadable` counts the runs whose status is no name.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    counts: Option<BTreeMap<String, usize>>,
}

impl ListBody {
    pub(crate) fn of_services(page: RunPage, next: Option<String>) -> Self {
        let runs = page.runs.into_iter().map(|run| AnyRunRow::Service(run.into())).collect();
        let unreadable = page.unreadable.into_iter().map(UnreadableRow::from).collect();
        ListBody { runs, unreadable, next, counts: page.counts }
    }

    pub(crate) fn of_agents(
        runs: Vec<AgentRunBody>,
        unreadable: Vec<UnreadableRow>,
        next: Option<String>,
    ) -> Self {
        let runs = runs.into_iter().map(AnyRunRow::Agent).collect();
        ListBody { runs, unreadable, next, counts: None }
    }
}

/// A page of rows.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RowsBody {
    /// The rows, each with its number `seq`.
    #[schema(value_type = Vec<Object>)]
    pub(crate) rows: Vec<Value>,
    /// The number after which the next page begins. None for the last page.
    pub(crate) next: Option<u64>,
}

/// The transactions of an approved run.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct HandoutBody {
    /// The transactions, in the order in which they must be signed.
    #[schema(value_type = Vec<Object>)]
    pub(crate) tx_requests: Vec<Value>,
    /// The first transaction.
    #[schema(value_type = Object)]
    pub(crate) tx_request: Value,
    /// The digest of the transactions, which the approval names.
    pub(crate) digest: String,
}

/// The result of reading the receipts.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PollBody {
    /// Whether all transactions were sent and mined.
    pub(crate) mined: bool,
    /// The receipt of the last transaction. None until it is mined.
    #[schema(value_type = Option<Object>)]
    pub(crate) receipt: Option<Value>,
    /// The receipts, in the order of the hashes. None for a transaction that is not mined.
    #[schema(value_type = Vec<Option<Object>>)]
    pub(crate) receipts: Vec<Option<Value>>,
    /// The mined transactions that differ from the approved ones: hash, and the first field that differs.
    #[schema(value_type = Vec<Object>)]
    pub(crate) mismatches: Vec<Value>,
    /// The status of the run.
    #[schema(value_type = String)]
    pub(crate) status: ServiceRunStatus,
}

/// A step as its readers see it: the time as RFC 3339.
pub(crate) fn step(row: &Numbered<Step>) -> Value {
    timed(serde_json::json!(row))
}

/// A timeline entry as its readers see it.
pub(crate) fn entry(row: &Numbered<TimelineEntry>) -> Value {
    timed(serde_json::json!(row))
}

/// Replaces `at_ms` by `at`.
pub(crate) fn timed(mut row: Value) -> Value {
    if let Some(row) = row.as_object_mut()
        && let Some(at_ms) = row.remove("at_ms").and_then(|at_ms| at_ms.as_u64())
    {
        row.insert("at".to_owned(), time(at_ms).into());
    }
    row
}
