//! The notes on a run beside its typed state: kept in the field `runstate` of RUN_STATE.json.

use serde::{Deserialize, Serialize};

use super::logs::Mark;
use super::output::{Change, DeclaredRisk, ToolOutput, ToolStatus};
use super::reports::{Moved, Reports};
use super::when::When;
use crate::actor::is_unseen;
use crate::approval::{AnyApproval, ApprovalId, ApprovalStatus};
use crate::governed_run::Verdict;
use crate::snapshot::Snapshot;

/// Where a run stands within its state.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "at", rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Standing {
    /// Nothing is under way.
    #[default]
    Idle,
    /// A tool is being called, and uses the approval up: after a crash its effects are not known.
    Calling { approval: Option<ApprovalId> },
    /// The last try of the current tool failed.
    Failed { error: String },
    /// A person was asked.
    Asked { approval: ApprovalId, purpose: Purpose },
    /// A person said yes, and the approval is not used up.
    Granted { approval: ApprovalId, purpose: Purpose },
    /// Changes are being reverted: after a crash that is done again.
    RollingBack {
        why: String,
        /// The person that rejected or halted, and the time.
        by: Option<(String, When)>,
    },
}

impl Standing {
    pub(super) fn is_rolling_back(&self) -> bool {
        matches!(self, Standing::RollingBack { .. })
    }

    /// Is a decision of a person being carried out, that came in time?
    pub(super) fn is_decided(&self) -> bool {
        matches!(self, Standing::RollingBack { by: Some(_), .. })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Purpose {
    /// To execute the plan, in PLANNING.
    Plan,
    /// To begin a try of a tool behind a gate.
    Begin,
    /// To go on with what a tool asked for.
    GoOn,
    /// To keep what a tool did, risky as it is.
    Keep,
}

/// The result of one attempt of a tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolReport {
    /// The tool.
    pub tool: String,
    /// Its place in the plan, from 0.
    pub place: usize,
    /// Which try, from 1.
    pub number: u32,
    /// When the call began.
    pub began: When,
    /// When it ended; none while it is under way, and for one that a crash cut short.
    pub ended: Option<When>,
    /// How it ended; none as for `ended`, and for a tool that crashed or was stopped.
    pub status: Option<ToolStatus>,
    /// Its evidence.
    pub evidence: Vec<String>,
    /// The error.
    pub error: Option<String>,
    /// The risks that it declared.
    pub risks: Vec<DeclaredRisk>,
    /// Its changes.
    pub changes: Vec<Change>,
    /// The approval that it used up.
    pub approval: Option<ApprovalId>,
}

/// The plan that is executed, or the last that was refused.
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
    /// Every approval of the run as it is: its record in PENDING/, APPROVED/ or REJECTED/ is a copy.
    pub(super) approvals: Vec<Snapshot>,
    /// The approvals that were granted when the run was taken over from another tool: there is no record of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) adopted: Vec<ApprovalId>,
    pub(super) tools: Reports,
    /// Those before, which are in RUN_REPORTS.jsonl.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) tools_moved: Option<Moved>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) plan: Option<PlanNote>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) verification: Option<VerifyNote>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) verdicts: Vec<Verdict>,
    /// How far the ledger was known to tell of the run, so that it is not read from its beginning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) ledger: Option<Mark>,
}

/// The text of a record of an approval. Characters that cannot be seen are escaped as JSON has it: a person reads it in a terminal.
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

/// The longest text that is kept of what a part says, in bytes; the state is written anew at each step.
const LONGEST: usize = 4096;
/// The most entries of a list that are kept.
const MOST: usize = 64;

/// The text, cut where it is too long, with a mark that says so.
pub(super) fn short(text: &str) -> String {
    shortened(text, LONGEST)
}

/// The same, with at most so many bytes.
pub(super) fn shortened(text: &str, most: usize) -> String {
    let most = most.min(LONGEST);
    if text.len() <= most {
        return text.to_owned();
    }
    let end = (0..=most).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    format!("{} [… {} bytes more]", &text[..end], text.len() - end)
}

/// The list, cut where it is too long, with a last entry that says so.
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
            began: When::from_ms(began),
            ended: None,
            status: None,
            evidence: Vec::new(),
            error: None,
            risks: Vec::new(),
            changes: Vec::new(),
            approval: None,
        }
    }

    /// Notes what a call gave. Changes are kept whole: a rollback may need each.
    pub(super) fn end(&mut self, output: ToolOutput, at: u64) {
        self.ended = Some(When::from_ms(at));
        self.status = Some(output.status);
        self.evidence = short_texts(output.evidence);
        self.error = output.error.as_deref().map(short);
        let more = |cut| DeclaredRisk::new(crate::approval::Risk::High, format!("[… {cut} more]"));
        self.risks = short_list(output.risks, |risk| risk.what = short(&risk.what), more);
        self.changes = output.changes;
    }
}

impl Notes {
    /// Notes that the call under way, if there is one, ended without an output.
    pub(super) fn break_off(&mut self, error: &str, at: u64) {
        if let Some(report) = self.tools.last_mut().filter(|report| report.ended.is_none()) {
            report.ended = Some(When::from_ms(at));
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

/// The approval that a snapshot is of, if it is sound.
pub(super) fn restored(snapshot: &Snapshot) -> Option<AnyApproval> {
    snapshot.restore().ok()
}

/// The folder that the record of an approval belongs into (document 001, "Approval State Transitions").
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
