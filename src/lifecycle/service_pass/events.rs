//! The events of a pass: the results of its nodes.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::service_run::JudgeVerdict;

/// The simulation has a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Simulate {
    pub(super) succeeded: bool,
}

impl Simulate {
    /// Makes the event of a simulation that succeeded, or in which a transaction reverted.
    pub fn new(succeeded: bool) -> Self {
        Simulate { succeeded }
    }
}

/// The rules have a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decide {
    pub(super) blocks: bool,
}

impl Decide {
    /// Makes the event of a decision that blocks the run, or lets it continue.
    pub fn new(blocks: bool) -> Self {
        Decide { blocks }
    }
}

/// The security result is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Secure {
    pub(super) blocks: bool,
}

impl Secure {
    /// Makes the event of a security result that blocks the run, or lets it continue.
    pub fn new(blocks: bool) -> Self {
        Secure { blocks }
    }
}

/// The judge has a verdict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judge {
    pub(super) verdict: JudgeVerdict,
    pub(super) issues: Vec<String>,
}

impl Judge {
    /// Makes the event with the verdict and the issues that a repair must solve.
    pub fn new<T: Into<String>>(verdict: JudgeVerdict, issues: impl IntoIterator<Item = T>) -> Self {
        Judge { verdict, issues: issues.into_iter().map(Into::into).collect() }
    }
}

/// The user must answer first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ask {
    pub(super) missing: Vec<String>,
    pub(super) questions: Vec<String>,
}

impl Ask {
    /// Asks for the values of these slots.
    pub fn for_slots<T: Into<String>>(missing: impl IntoIterator<Item = T>) -> Self {
        Ask { missing: missing.into_iter().map(Into::into).collect(), questions: Vec::new() }
    }

    /// Asks these questions.
    pub fn with_questions<T: Into<String>>(questions: impl IntoIterator<Item = T>) -> Self {
        Ask { missing: Vec::new(), questions: questions.into_iter().map(Into::into).collect() }
    }
}

/// The pass ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finish {
    pub(super) reason: FinishReason,
}

impl Finish {
    /// Ends the pass after a fatal error.
    pub fn fatal(error: impl Into<String>) -> Self {
        Finish { reason: FinishReason::Fatal { error: error.into() } }
    }

    /// Ends the pass because there is nothing to do.
    pub fn noop(summary: impl Into<String>) -> Self {
        Finish { reason: FinishReason::Noop { summary: summary.into() } }
    }

    /// Ends the pass after CLARIFY.
    pub fn clarified() -> Self {
        Finish { reason: FinishReason::Clarified }
    }
}

/// The reason of a pass's end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum FinishReason {
    /// A node failed. Each node may end a pass with this reason.
    Fatal {
        /// The error.
        error: String,
    },
    /// The plan has nothing to do: PLAN_TX and REPAIR_PLAN_TX.
    Noop {
        /// The explanation.
        summary: String,
    },
    /// The graph was executed to its end: CLARIFY.
    Clarified,
}

impl fmt::Display for FinishReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FinishReason::Fatal { .. } => f.write_str("a fatal error"),
            FinishReason::Noop { .. } => f.write_str("nothing to do"),
            FinishReason::Clarified => f.write_str("the questions"),
        }
    }
}
