//! Why a run was halted or rolled back.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{ApprovalId, GovernedRunStatus};

/// Why a run is stopped in HALTED_UNSAFE (document 001, "Valid Transitions" and "Timeout Rules"; B2, B4, B7, B10).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "reason", rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum HaltReason {
    /// The state lasted too long. In INIT, PLANNING, EXECUTING and AWAITING_APPROVAL.
    Timeout,
    /// The plan has a critical risk. In PLANNING.
    CriticalRisk {
        /// The risk.
        risk: String,
    },
    /// A tool said that it must not go on, or crashed. In EXECUTING.
    CriticalFailure {
        /// The tool.
        tool: String,
        /// What happened.
        error: String,
    },
    /// A tool was under way when the process ended, and it may have had effects. In EXECUTING.
    InDoubt {
        /// The tool.
        tool: String,
    },
    /// A rollback failed where none may. In EXECUTING and AWAITING_APPROVAL.
    RollbackFailed {
        /// What the rollback was for.
        why: String,
        /// What went wrong.
        errors: Vec<String>,
    },
    /// A person passed the approval on instead of deciding it. In AWAITING_APPROVAL.
    Escalation {
        /// What was said.
        why: String,
    },
    /// A person halted the run. In PLANNING, EXECUTING and AWAITING_APPROVAL.
    Person {
        /// The name of the person.
        by: String,
        /// The reason that the person gave.
        why: String,
    },
}

impl HaltReason {
    /// Can a run be halted in `state` for this reason?
    ///
    /// ```
    /// use runstate::governed_run::{GovernedRunStatus, HaltReason};
    ///
    /// let risk = HaltReason::CriticalRisk { risk: "drops a table".into() };
    /// assert!(risk.occurs_in(GovernedRunStatus::Planning));
    /// // INIT is left for HALTED_UNSAFE by timeout alone.
    /// assert!(!risk.occurs_in(GovernedRunStatus::Init));
    /// ```
    pub fn occurs_in(&self, state: GovernedRunStatus) -> bool {
        use GovernedRunStatus::{AwaitingApproval, Executing, Init, Planning};
        match self {
            HaltReason::Timeout => matches!(state, Init | Planning | Executing | AwaitingApproval),
            HaltReason::CriticalRisk { .. } => state == Planning,
            HaltReason::CriticalFailure { .. } | HaltReason::InDoubt { .. } => state == Executing,
            HaltReason::RollbackFailed { .. } => matches!(state, Executing | AwaitingApproval),
            HaltReason::Escalation { .. } => state == AwaitingApproval,
            HaltReason::Person { .. } => matches!(state, Planning | Executing | AwaitingApproval),
        }
    }
}

impl fmt::Display for HaltReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HaltReason::Timeout => f.write_str("the state lasted too long"),
            HaltReason::CriticalRisk { risk } => write!(f, "the plan has a critical risk: {risk}"),
            HaltReason::CriticalFailure { tool, error } => write!(f, "{tool} failed critically: {error}"),
            HaltReason::InDoubt { tool } => {
                write!(f, "{tool} was under way when the process ended, and may have had effects")
            }
            HaltReason::RollbackFailed { why, errors } => {
                write!(f, "the rollback for '{why}' failed: {}", errors.join("; "))
            }
            HaltReason::Escalation { why } => write!(f, "the approval was passed on: {why}"),
            HaltReason::Person { by, why } => write!(f, "{by} halted the run: {why}"),
        }
    }
}

/// The cause of ROLLED_BACK. It follows from the state that was left; a caller can only name a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "cause", rename_all = "snake_case", deny_unknown_fields)]
pub enum RollBackCause {
    /// A tool failed; none is named when the failure was between tools.
    ToolFailed {
        /// The tool.
        tool: Option<String>,
    },
    /// The approval was rejected.
    Rejected {
        /// Which one.
        approval: ApprovalId,
    },
    /// The results did not hold.
    VerificationFailed,
    /// The audit did not pass.
    AuditFailed,
    /// VERIFYING or AUDITING lasted too long.
    Timeout {
        /// Which of the two.
        state: GovernedRunStatus,
    },
    /// A person halted the run.
    Person {
        /// The name of the person.
        by: String,
    },
}

/// How the rollback went that precedes ROLLED_BACK (B7).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "rollback", rename_all = "snake_case", deny_unknown_fields)]
pub enum Rollback {
    /// All changes are reverted.
    Complete,
    /// Some may not be. Only after VERIFYING and AUDITING; earlier it halts the run.
    Incomplete {
        /// What went wrong.
        errors: Vec<String>,
    },
}
