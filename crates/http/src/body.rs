//! The bodies of requests and answers.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use runstate::service_run::{FinalStatus, ServiceRunStatus};
use runstate_service::{
    Answers, Artifacts, NewServiceRun, Numbered, Operation, RunInfo, RunView, Step, StepName, SubmittedBy,
    TimelineEntry, is_address,
};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::members::{FromMembers, Members};

/// A time as RFC 3339, with milliseconds.
pub(crate) fn time(at_ms: u64) -> String {
    let time = i64::try_from(at_ms).ok().and_then(|at_ms| Timestamp::from_millisecond(at_ms).ok());
    time.map_or_else(|| at_ms.to_string(), |time| format!("{time:.3}"))
}

/// The statuses of a run, for the document.
#[derive(Debug, ToSchema)]
#[schema(
    pattern = "^(CREATED|RUNNING|PAUSED|AWAITING_APPROVAL|APPROVED_READY|SUBMITTED|CONFIRMED|REVERTED|BLOCKED|FAILED|REJECTED)$"
)]
#[expect(dead_code, reason = "the document has it")]
pub(crate) struct StatusText(String);

/// The parts of a run that an answer may include, for the document.
#[derive(Debug, ToSchema)]
#[schema(pattern = "^(artifacts|timeline|steps|decisions)$")]
#[expect(dead_code, reason = "the document has it")]
pub(crate) struct IncludeText(String);

/// A run to be created.
#[derive(Debug, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CreateBody {
    /// The request in words.
    #[schema(min_length = 1, max_length = 5000, required = true, nullable = false)]
    pub(crate) intent: Option<String>,
    /// The address of the wallet. Also `walletAddress`.
    #[schema(min_length = 3, max_length = 64, pattern = "^0x[0-9a-fA-F]{1,62}$")]
    pub(crate) wallet_address: Option<String>,
    /// The id of the chain. Also `chainId`.
    #[schema(minimum = 1)]
    pub(crate) chain_id: Option<u64>,
}

impl FromMembers for CreateBody {
    const IS_LARGE: bool = true;

    fn read(members: &mut Members) -> Self {
        let intent = members.text(&["intent"], 1..=5_000);
        let intent = members.require(&["intent"], intent);
        let address = "0x and 1 to 62 hexadecimal digits";
        CreateBody {
            intent,
            wallet_address: members.text_that(&["wallet_address", "walletAddress"], is_address, address),
            chain_id: members.integer(&["chain_id", "chainId"], 1),
        }
    }
}

impl CreateBody {
    pub(crate) fn into_run(self, id: String) -> NewServiceRun {
        let CreateBody { intent, wallet_address, chain_id } = self;
        NewServiceRun { id, intent: intent.unwrap_or_default(), wallet: wallet_address, chain_id }
    }
}

/// A body without members.
#[derive(Debug, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NoBody {}

impl FromMembers for NoBody {
    const NEEDS_BODY: bool = false;

    fn read(_: &mut Members) -> Self {
        NoBody {}
    }
}

/// Answers to the questions of a run.
#[derive(Debug, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ResumeBody {
    /// The answers, by slot: at most 64.
    #[schema(required = false)]
    pub(crate) answers: BTreeMap<String, Value>,
    /// Another intent, for a run with the final status NOOP.
    #[schema(min_length = 1, max_length = 5000)]
    pub(crate) intent: Option<String>,
    /// Data of the caller, such as the id of a form.
    #[schema(required = false)]
    pub(crate) metadata: BTreeMap<String, Value>,
}

impl FromMembers for ResumeBody {
    fn read(members: &mut Members) -> Self {
        ResumeBody {
            answers: members.object("answers"),
            intent: members.text(&["intent"], 1..=5_000),
            metadata: members.object("metadata"),
        }
    }
}

impl ResumeBody {
    pub(crate) fn into_answers(self) -> Answers {
        let ResumeBody { answers, intent, metadata } = self;
        Answers { answers, intent, metadata }
    }
}

/// An approval.
#[derive(Debug, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ApproveBody {
    /// The digest of the shown transactions. Without it the current ones are approved.
    #[schema(min_length = 1, max_length = 200)]
    pub(crate) digest: Option<String>,
    /// A note.
    #[schema(max_length = 2000)]
    pub(crate) notes: Option<String>,
    /// The person for whom the caller decides. The actor of the decision stays the name of the token.
    #[schema(
        min_length = 1,
        max_length = 200,
        pattern = "^[^\\x00-\\x1f\\x7f-\\x9f]*[^\\s\\x00-\\x1f\\x7f-\\x9f][^\\x00-\\x1f\\x7f-\\x9f]*$"
    )]
    pub(crate) reviewer: Option<String>,
}

impl FromMembers for ApproveBody {
    fn read(members: &mut Members) -> Self {
        ApproveBody {
            digest: members.text(&["digest"], 1..=200),
            notes: members.text(&["notes"], 0..=2_000),
            reviewer: reviewer(members),
        }
    }
}

/// A name without control characters.
fn reviewer(members: &mut Members) -> Option<String> {
    let is_name = |name: &str| {
        (1..=200).contains(&name.chars().count())
            && !name.trim().is_empty()
            && !name.chars().any(char::is_control)
    };
    let expected = "a name of 1 to 200 characters, none of them a control character";
    members.text_that(&["reviewer", "on_behalf_of"], is_name, expected)
}

/// A rejection.
#[derive(Debug, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RejectBody {
    /// The reason.
    #[schema(max_length = 2000)]
    pub(crate) reason: Option<String>,
    /// The person for whom the caller decides. The actor of the decision stays the name of the token.
    #[schema(
        min_length = 1,
        max_length = 200,
        pattern = "^[^\\x00-\\x1f\\x7f-\\x9f]*[^\\s\\x00-\\x1f\\x7f-\\x9f][^\\x00-\\x1f\\x7f-\\x9f]*$"
    )]
    pub(crate) reviewer: Option<String>,
}

impl FromMembers for RejectBody {
    fn read(members: &mut Members) -> Self {
        RejectBody { reason: members.text(&["reason"], 0..=2_000), reviewer: reviewer(members) }
    }
}

/// The hashes of sent transactions.
#[derive(Debug, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SubmittedBody {
    /// The hashes, in the order of the transactions: the first ones, or those that follow the known ones. One hash may be
    /// a text. Also `txHashes`, `tx_hash` and `txHash`.
    #[schema(required = true, nullable = false, max_items = 32)]
    pub(crate) tx_hashes: Option<Vec<String>>,
    /// The program that sent them. Also `submittedBy`.
    #[schema(required = true, nullable = false, value_type = String, pattern = "^(walletconnect|metamask|manual)$")]
    pub(crate) submitted_by: Option<SubmittedBy>,
    /// A known hash that the one hash replaces, such as that of a transaction with a lower fee.
    pub(crate) replaces: Option<String>,
}

impl FromMembers for SubmittedBody {
    fn read(members: &mut Members) -> Self {
        let by = |text: &str| serde_json::from_value::<SubmittedBy>(Value::from(text)).ok();
        let expected = "one of walletconnect, metamask, manual";
        let text = members.text_that(&["submitted_by", "submittedBy"], |text| by(text).is_some(), expected);
        let submitted_by = members.require(&["submitted_by", "submittedBy"], text.as_deref().and_then(by));
        SubmittedBody {
            tx_hashes: members.texts(&["tx_hashes", "txHashes", "tx_hash", "txHash"], 32),
            submitted_by,
            replaces: members.text(&["replaces"], 1..=256),
        }
    }
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

/// A page of runs.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ListBody {
    /// The runs.
    pub(crate) runs: Vec<RunRow>,
    /// The cursor of the next page. None for the last page.
    pub(crate) next: Option<String>,
    /// The number of runs on all pages, by status.
    pub(crate) counts: BTreeMap<String, usize>,
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
