//! The output of a tool, and the rules that it keeps.

use std::error::Error;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::approval::Risk;

/// How a tool's attempt went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ToolStatus {
    /// It did what it is for.
    Pass,
    /// It did not, and may be tried again.
    Fail,
    /// It did nothing yet: a person must approve of what it would do next.
    NeedsApproval,
    /// It must not go on: the run is halted.
    Halted,
}

/// Something that a tool or a plan says may go wrong, or did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeclaredRisk {
    /// How bad.
    pub risk: Risk,
    /// What.
    pub what: String,
}

impl DeclaredRisk {
    /// A risk, in words.
    pub fn new(risk: Risk, what: impl Into<String>) -> Self {
        DeclaredRisk { risk, what: what.into() }
    }
}

/// Something that a tool changed, to be reverted by a rollback.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Change {
    /// The kind of the change: `created`, `modified`, `removed`, or another word.
    pub kind: String,
    /// To what: the path of a file, most often.
    pub what: String,
}

impl Change {
    /// `kind` was done to `what`.
    pub fn new(kind: impl Into<String>, what: impl Into<String>) -> Self {
        Change { kind: kind.into(), what: what.into() }
    }
}

/// An action that a tool would take: all that a decider must see, and its risk.
///
/// An approval is bound to it. Whatever makes a difference belongs into the text: arguments, targets, amounts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Action {
    /// What would be done.
    pub text: String,
    /// How risky that is.
    pub risk: Risk,
}

impl Action {
    /// An action, in words.
    pub fn new(text: impl Into<String>, risk: Risk) -> Self {
        Action { text: text.into(), risk }
    }
}

/// The output of a tool. It is structured, so that no text is searched for its meaning.
///
/// ```
/// use runstate::governed::ToolOutput;
///
/// let output = ToolOutput::pass(["14 tests passed"]);
/// assert!(output.check().is_ok());
/// // A tool that passed can say what shows it; one that cannot did not pass.
/// let silent = ToolOutput::pass(Vec::<String>::new()).check().unwrap_err();
/// assert_eq!(silent.to_string(), "a pass without evidence");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolOutput {
    /// How it went.
    pub status: ToolStatus,
    /// What shows it.
    #[serde(default)]
    pub evidence: Vec<String>,
    /// What went wrong; for [`ToolStatus::Halted`], why it must not go on.
    #[serde(default)]
    pub error: Option<String>,
    /// What may go wrong because of what was done.
    #[serde(default)]
    pub risks: Vec<DeclaredRisk>,
    /// The changes, whatever the status: at most 8 MiB of words. A call that names more halts its run.
    #[serde(default)]
    pub changes: Vec<Change>,
    /// The action that it would take, for [`ToolStatus::NeedsApproval`].
    #[serde(default)]
    pub action: Option<Action>,
}

impl ToolOutput {
    fn of(status: ToolStatus) -> Self {
        ToolOutput { status, evidence: vec![], error: None, risks: vec![], changes: vec![], action: None }
    }

    /// It passed, as the evidence shows.
    pub fn pass<T: Into<String>>(evidence: impl IntoIterator<Item = T>) -> Self {
        ToolOutput { evidence: evidence.into_iter().map(Into::into).collect(), ..Self::of(ToolStatus::Pass) }
    }

    /// It failed.
    pub fn fail(error: impl Into<String>) -> Self {
        ToolOutput { error: Some(error.into()), ..Self::of(ToolStatus::Fail) }
    }

    /// It asks before it goes on.
    pub fn needs_approval(action: Action) -> Self {
        ToolOutput { action: Some(action), ..Self::of(ToolStatus::NeedsApproval) }
    }

    /// It must not go on.
    pub fn halted(reason: impl Into<String>) -> Self {
        ToolOutput { error: Some(reason.into()), ..Self::of(ToolStatus::Halted) }
    }

    /// The same, with a risk.
    pub fn with_risk(mut self, risk: Risk, what: impl Into<String>) -> Self {
        self.risks.push(DeclaredRisk::new(risk, what));
        self
    }

    /// The same, with a change.
    pub fn with_change(mut self, kind: impl Into<String>, what: impl Into<String>) -> Self {
        self.changes.push(Change::new(kind, what));
        self
    }

    /// The highest risk that it declares.
    pub fn risk(&self) -> Option<Risk> {
        self.risks.iter().map(|declared| declared.risk).max()
    }

    pub(super) fn changes_length(&self) -> usize {
        self.changes.iter().map(|change| change.kind.len() + change.what.len()).sum()
    }

    /// Is it an output at all?
    ///
    /// # Errors
    /// [`InvalidOutput`] when it lacks what its status needs, or has what contradicts it.
    pub fn check(&self) -> Result<(), InvalidOutput> {
        let says = |text: &Option<String>| text.as_ref().is_some_and(|text| !text.trim().is_empty());
        let shown = self.evidence.iter().any(|evidence| !evidence.trim().is_empty());
        let fault = match self.status {
            ToolStatus::Pass if !shown => Some("a pass without evidence"),
            ToolStatus::Pass if self.error.is_some() => Some("a pass with an error"),
            ToolStatus::Fail if !says(&self.error) => Some("a fail without an error"),
            ToolStatus::Halted if !says(&self.error) => Some("halted without a reason"),
            ToolStatus::NeedsApproval => match &self.action {
                Some(action) if !action.text.trim().is_empty() => None,
                _ => Some("a need of approval without an action"),
            },
            _ => None,
        };
        let extra = (self.action.is_some() && self.status != ToolStatus::NeedsApproval)
            .then_some("an action without a need of approval");
        match fault.or(extra) {
            Some(why) => Err(InvalidOutput { why }),
            None => Ok(()),
        }
    }
}

/// Why an output is none. It counts as a failed try.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidOutput {
    why: &'static str,
}

impl fmt::Display for InvalidOutput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.why)
    }
}

impl Error for InvalidOutput {}
