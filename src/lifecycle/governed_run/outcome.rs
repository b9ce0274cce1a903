//! The reasons of halts and rollbacks.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{ApprovalId, GovernedRunStatus};

/// The reason of a halt in HALTED_UNSAFE.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "reason", rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum HaltReason {
    /// The state exceeded its time limit. In INIT, PLANNING, EXECUTING and AWAITING_APPROVAL.
    Timeout,
    /// The plan has a critical risk. In PLANNING.
    CriticalRisk {
        /// The risk.
        risk: String,
    },
    /// A tool reported that the run must halt, or crashed. In EXECUTING.
    CriticalFailure {
        /// The tool.
        tool: String,
        /// The failure.
        error: String,
    },
    /// A tool was in progress when the process ended, and may have had effects. In EXECUTING.
    InDoubt {
        /// The tool.
        tool: String,
    },
    /// A rollback failed in a state that requires a complete one. In EXECUTING and AWAITING_APPROVAL.
    RollbackFailed {
        /// The reason of the rollback.
        why: String,
        /// The errors of the rollback.
        errors: Vec<String>,
    },
    /// A person escalated the approval instead of deciding it. In AWAITING_APPROVAL.
    Escalation {
        /// The reason of the escalation.
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
    /// Returns whether a run can be halted in `state` for this reason.
    ///
    /// ```
    /// use runstate::governed_run::{GovernedRunStatus, HaltReason};
    ///
    /// let risk = HaltReason::CriticalRisk { risk: "drops a table".into() };
    /// assert!(risk.occurs_in(GovernedRunStatus::Planning));
    /// // From INIT only a timeout leads to HALTED_UNSAFE.
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
            HaltReason::Escalation { why } => write!(f, "the approval was escalated: {why}"),
            HaltReason::Person { by, why } => write!(f, "{by} halted the run: {why}"),
        }
    }
}

/// The cause of ROLLED_BACK. It follows from the source state; a caller can only name a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "cause", rename_all = "snake_case", deny_unknown_fields)]
pub enum RollBackCause {
    /// A tool failed. A failure between tools names no tool.
    ToolFailed {
        /// The tool.
        tool: Option<String>,
    },
    /// The approval was rejected.
    Rejected {
        /// The rejected approval.
        approval: ApprovalId,
    },
    /// The results did not hold.
    VerificationFailed,
    /// The audit did not pass.
    AuditFailed,
    /// VERIFYING or AUDITING exceeded its time limit.
    Timeout {
        /// The expired state.
        state: GovernedRunStatus,
    },
    /// A person halted the run.
    Person {
        /// The name of the person.
        by: String,
    },
}

/// The result of the rollback before ROLLED_BACK.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "rollback", rename_all = "snake_case", deny_unknown_fields)]
pub enum Rollback {
    /// All changes are reverted.
    Complete,
    /// Some changes may remain. Only after VERIFYING and AUDITING; in earlier states an incomplete rollback halts the
    /// run.
    Incomplete {
        /// The errors of the rollback.
        errors: Vec<String>,
    },
}
