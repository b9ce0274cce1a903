//! Additional data of a run, stored in the field `runstate` of RUN_STATE.json.

use runstate::actor::is_unseen;
use runstate::approval::{AnyApproval, ApprovalId, ApprovalStatus};
use runstate::governed_run::Verdict;
use runstate::snapshot::Snapshot;
use serde::{Deserialize, Serialize};

use super::logs::Mark;
use super::output::{Change, DeclaredRisk, ToolOutput, ToolStatus};
use super::reports::{Moved, Reports};
use super::timestamp::Timestamp;

/// The progress of a run within its state.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "at", rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Standing {
    /// No operation is in progress.
    #[default]
    Idle,
    /// A tool is being called, which uses up the approval. After a crash, its effects are unknown.
    Calling { approval: Option<ApprovalId> },
    /// The last attempt of the current tool failed.
    Failed { error: String },
    /// A question is open.
    Asked { approval: ApprovalId, purpose: Purpose },
    /// The question was approved, and the approval is not used up yet.
    Granted { approval: ApprovalId, purpose: Purpose },
    /// A rollback is in progress. After a crash, it is repeated.
    RollingBack {
        why: String,
        /// The person that rejected the question or halted the run, and the time.
        by: Option<(String, Timestamp)>,
    },
}

impl Standing {
    pub(super) fn is_rolling_back(&self) -> bool {
        matches!(self, Standing::RollingBack { .. })
    }

    /// Returns whether a timely decision is being carried out.
    pub(super) fn is_decided(&self) -> bool {
        matches!(self, Standing::RollingBack { by: Some(_), .. })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Purpose {
    /// Approval to execute the plan, in PLANNING.
    Plan,
    /// Approval to begin an attempt of a gated tool.
    Begin,
    /// Approval of an action that a tool asked for.
    GoOn,
    /// Approval to keep the risky results of a tool.
    Keep,
}

/// The result of one attempt of a tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolReport {
    /// The tool.
    pub tool: String,
    /// The position of the tool in the plan, from 0.
    pub place: usize,
    /// The number of the attempt, from 1.
    pub number: u32,
    /// The start of the call.
    pub began: Timestamp,
    /// The end of the call; `None` while it is in progress, and if a crash interrupted it.
    pub ended: Option<Timestamp>,
    /// The status; `None` while the call is in progress, and if the tool crashed or was stopped.
    pub status: Option<ToolStatus>,
    /// The evidence.
    pub evidence: Vec<String>,
    /// The error.
    pub error: Option<String>,
    /// The declared risks.
    pub risks: Vec<DeclaredRisk>,
    /// The changes.
    pub changes: Vec<Change>,
    /// The approval that was used up.
    pub approval: Option<ApprovalId>,
}

/// The executed plan, or the last refused one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PlanNote {
    pub(super) tools: Vec<String>,
    pub(super) risks: Vec<DeclaredRisk>,
    pub(super) approved_by: Option<String>,
    pub(super) objection: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) baseline: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct VerifyNote {
    pub(super) evidence: Vec<String>,
    pub(super) failure: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Notes {
    pub(super) standing: Standing,
    /// The digest that the run is bound to ([`Rules::bound_to`](super::Rules::bound_to)).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) bound_to: Option<String>,
    /// Every approval of the run in its current state. The records in PENDING/, APPROVED/ or REJECTED/ are copies.
    pub(super) approvals: Vec<Snapshot>,
    /// The approvals granted before the run was adopted from another program. They have no records.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) adopted: Vec<ApprovalId>,
    pub(super) tools: Reports,
    /// The older reports, which are in RUN_REPORTS.jsonl.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) tools_moved: Option<Moved>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) plan: Option<PlanNote>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) verification: Option<VerifyNote>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) verdicts: Vec<Verdict>,
    /// The position up to which the ledger is known to contain the run, so that it need not be read from its
    /// beginning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) ledger: Option<Mark>,
}

/// The text of an approval record. Invisible characters are escaped as in JSON, because people read records in a
/// terminal.
pub(super) fn record_text(snapshot: &Snapshot) -> String {
    let mut text = String::new();
    for c in snapshot.to_json().chars() {
        if c == '\n' || !is_unseen(c) {
            text.push(c);
            continue;
        }
        c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| text.push_str(&format!("\\u{unit:04x}")));
    }
    text + "\n"
}

/// The size limit of a stored text from a part in bytes. The whole state is written at each step.
const LONGEST: usize = 4096;
/// The most stored entries of a list.
const MOST: usize = 64;

/// Truncates a long text, and marks the truncation.
pub(super) fn short(text: &str) -> String {
    shortened(text, LONGEST)
}

/// Truncates a text to at most `most` bytes, and marks the truncation.
pub(super) fn shortened(text: &str, most: usize) -> String {
    let most = most.min(LONGEST);
    if text.len() <= most {
        return text.to_owned();
    }
    let end = (0..=most).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    format!("{} [… {} bytes more]", &text[..end], text.len() - end)
}

/// Truncates a long list, and marks the truncation with a last entry.
pub(super) fn short_list<T>(mut list: Vec<T>, shorten: impl Fn(&mut T), more: impl Fn(usize) -> T) -> Vec<T> {
    let cut = list.len().saturating_sub(MOST);
    list.truncate(MOST);
    list.iter_mut().for_each(shorten);
    if cut > 0 {
        list.push(more(cut));
    }
    list
}

pub(super) fn short_texts(texts: Vec<String>) -> Vec<String> {
    short_list(texts, |text| *text = short(text), |cut| format!("[… {cut} more]"))
}

impl ToolReport {
    pub(super) fn begun(tool: &str, place: usize, number: u32, began: u64) -> Self {
        ToolReport {
            tool: tool.to_owned(),
            place,
            number,
            began: Timestamp::from_ms(began),
            ended: None,
            status: None,
            evidence: Vec::new(),
            error: None,
            risks: Vec::new(),
            changes: Vec::new(),
            approval: None,
        }
    }

    /// Records the output of a call. Changes are not truncated, because a rollback may need each of them.
    pub(super) fn end(&mut self, output: ToolOutput, at: u64) {
        self.ended = Some(Timestamp::from_ms(at));
        self.status = Some(output.status);
        self.evidence = short_texts(output.evidence);
        self.error = output.error.as_deref().map(short);
        let more = |cut| DeclaredRisk::new(runstate::approval::Risk::High, format!("[… {cut} more]"));
        self.risks = short_list(output.risks, |risk| risk.what = short(&risk.what), more);
        self.changes = output.changes;
    }
}

impl Notes {
    /// Records that the current call, if there is one, ended without an output.
    pub(super) fn break_off(&mut self, error: &str, at: u64) {
        if let Some(report) = self.tools.last_mut().filter(|report| report.ended.is_none()) {
            report.ended = Some(Timestamp::from_ms(at));
            report.error = Some(short(error));
        }
    }

    pub(super) fn approval(&self, id: &ApprovalId) -> Option<AnyApproval> {
        self.approvals.iter().rev().filter_map(restored).find(|approval| approval.record().id() == id)
    }

    pub(super) fn keep(&mut self, approval: Snapshot) {
        let id = |snapshot: &Snapshot| snapshot.record()["id"].clone();
        match self.approvals.iter_mut().find(|kept| id(kept) == id(&approval)) {
            Some(kept) => *kept = approval,
            None => self.approvals.push(approval),
        }
    }
}

/// The approval in a snapshot, if the snapshot is valid.
pub(super) fn restored(snapshot: &Snapshot) -> Option<AnyApproval> {
    snapshot.restore().ok()
}

/// The folder for the record of an approval.
pub(super) fn folder_of(status: ApprovalStatus) -> &'static str {
    match status {
        ApprovalStatus::Requested | ApprovalStatus::AwaitingHuman => PENDING,
        ApprovalStatus::Approved | ApprovalStatus::Executed => APPROVED,
        ApprovalStatus::Rejected | ApprovalStatus::Aborted => REJECTED,
    }
}

pub(super) const PENDING: &str = "PENDING";
pub(super) const APPROVED: &str = "APPROVED";
pub(super) const REJECTED: &str = "REJECTED";
