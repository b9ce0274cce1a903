//! The output of a tool, and its validation.

use runstate::approval::Risk;
use serde::{Deserialize, Serialize};

/// The status of a tool's attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ToolStatus {
    /// The tool succeeded.
    Pass,
    /// The tool failed, and may be tried again.
    Fail,
    /// The tool has done nothing yet: its next action needs an approval.
    NeedsApproval,
    /// The tool must not continue: the run is halted.
    Halted,
}

/// A risk that a tool or a plan declares.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeclaredRisk {
    /// The severity.
    pub risk: Risk,
    /// The description.
    pub what: String,
}

impl DeclaredRisk {
    /// Creates a risk with a description.
    pub fn new(risk: Risk, what: impl Into<String>) -> Self {
        DeclaredRisk { risk, what: what.into() }
    }
}

/// A change made by a tool, for a rollback to revert.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Change {
    /// The kind of the change: `created`, `modified`, `removed`, or another word.
    pub kind: String,
    /// The object of the change, usually the path of a file.
    pub what: String,
}

impl Change {
    /// Creates a change of kind `kind` to `what`.
    pub fn new(kind: impl Into<String>, what: impl Into<String>) -> Self {
        Change { kind: kind.into(), what: what.into() }
    }
}

/// The next action of a tool: its full description for the approver, and its risk.
///
/// An approval is bound to the action. The text must contain every relevant detail: arguments, targets, amounts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Action {
    /// The description.
    pub text: String,
    /// The risk.
    pub risk: Risk,
}

impl Action {
    /// Creates an action with a description.
    pub fn new(text: impl Into<String>, risk: Risk) -> Self {
        Action { text: text.into(), risk }
    }
}

/// The output of a tool. It is structured, so that no text must be searched for its meaning.
///
/// ```
/// use runstate_governed::ToolOutput;
///
/// let output = ToolOutput::pass(["14 tests passed"]);
/// assert!(output.check().is_ok());
/// // A passed tool must give evidence. A pass without evidence is invalid.
/// let silent = ToolOutput::pass(Vec::<String>::new()).check().unwrap_err();
/// assert_eq!(silent.to_string(), "a pass without evidence");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolOutput {
    /// The status.
    pub status: ToolStatus,
    /// The evidence.
    #[serde(default)]
    pub evidence: Vec<String>,
    /// The error; for [`ToolStatus::Halted`], the reason.
    #[serde(default)]
    pub error: Option<String>,
    /// The risks of the results.
    #[serde(default)]
    pub risks: Vec<DeclaredRisk>,
    /// The changes, for any status. The limit is 8 MiB of text; a call that exceeds it halts its run.
    #[serde(default)]
    pub changes: Vec<Change>,
    /// The next action, for [`ToolStatus::NeedsApproval`].
    #[serde(default)]
    pub action: Option<Action>,
}

impl ToolOutput {
    fn of(status: ToolStatus) -> Self {
        ToolOutput { status, evidence: vec![], error: None, risks: vec![], changes: vec![], action: None }
    }

    /// Creates the output of a passed tool, with its evidence.
    pub fn pass<T: Into<String>>(evidence: impl IntoIterator<Item = T>) -> Self {
        ToolOutput { evidence: evidence.into_iter().map(Into::into).collect(), ..Self::of(ToolStatus::Pass) }
    }

    /// Creates the output of a failed tool.
    pub fn fail(error: impl Into<String>) -> Self {
        ToolOutput { error: Some(error.into()), ..Self::of(ToolStatus::Fail) }
    }

    /// Creates the output of a tool that needs an approval.
    pub fn needs_approval(action: Action) -> Self {
        ToolOutput { action: Some(action), ..Self::of(ToolStatus::NeedsApproval) }
    }

    /// Creates the output of a tool that must not continue.
    pub fn halted(reason: impl Into<String>) -> Self {
        ToolOutput { error: Some(reason.into()), ..Self::of(ToolStatus::Halted) }
    }

    /// Adds a risk.
    pub fn with_risk(mut self, risk: Risk, what: impl Into<String>) -> Self {
        self.risks.push(DeclaredRisk::new(risk, what));
        self
    }

    /// Adds a change.
    pub fn with_change(mut self, kind: impl Into<String>, what: impl Into<String>) -> Self {
        self.changes.push(Change::new(kind, what));
        self
    }

    /// The highest declared risk.
    pub fn risk(&self) -> Option<Risk> {
        self.risks.iter().map(|declared| declared.risk).max()
    }

    pub(super) fn changes_length(&self) -> usize {
        self.changes.iter().map(|change| change.kind.len() + change.what.len()).sum()
    }

    /// Validates the output.
    ///
    /// # Errors
    /// [`InvalidOutput`] when a field required by the status is missing, or a field contradicts the status.
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

/// The reason why an output is invalid. An invalid output counts as a failed attempt.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct InvalidOutput {
    why: &'static str,
}
