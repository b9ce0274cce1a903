//! Errors of a governed run that refuses a transition which its state has.

use std::error::Error;
use std::fmt;

use super::{ApprovalId, AuditNotPassed, GovernedRunStatus, HaltReason};

/// The tools of the plan that are not completed. A run enters verification only without such tools.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolsRemain {
    remaining: Vec<String>,
}

impl ToolsRemain {
    pub(super) fn new(remaining: &[String]) -> Self {
        ToolsRemain { remaining: remaining.to_vec() }
    }

    /// The tools, in the order of the plan.
    pub fn remaining(&self) -> &[String] {
        &self.remaining
    }
}

impl fmt::Display for ToolsRemain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot verify while tools remain: {}; complete them first", self.remaining.join(", "))
    }
}

impl Error for ToolsRemain {}

/// The reason why a governed run refuses a transition.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum GovernedRunError {
    /// The state had expired before the transition. An expired run can only take the transition of its timeout.
    Expired {
        /// The state.
        state: GovernedRunStatus,
        /// The expiry of the state, in milliseconds since the Unix epoch.
        deadline: u64,
        /// The time of the transition, in milliseconds since the Unix epoch.
        at: u64,
    },
    /// A halt for a timeout before the deadline.
    NotExpired {
        /// The state.
        state: GovernedRunStatus,
        /// The expiry of the state, in milliseconds since the Unix epoch.
        deadline: u64,
        /// The time of the halt, in milliseconds since the Unix epoch.
        at: u64,
    },
    /// A halt for a reason that is not valid in the state.
    NoSuchReason {
        /// The state.
        state: GovernedRunStatus,
        /// The reason.
        reason: HaltReason,
    },
    /// Tools of the plan are not completed.
    ToolsRemain(ToolsRemain),
    /// A decision on an approval that the run does not wait for.
    OtherApproval {
        /// The decided approval.
        got: ApprovalId,
        /// The approval that the run waits for.
        expected: ApprovalId,
    },
    /// A rollback failed in a state in which a failed rollback must halt the run.
    RollbackIncomplete {
        /// The state.
        state: GovernedRunStatus,
        /// The errors of the rollback.
        errors: Vec<String>,
    },
    /// The proof of an audit by other reviewers than the reviewers of the run.
    OtherReviewers {
        /// The reviewers of the proof.
        got: Vec<String>,
        /// The reviewers of the run.
        expected: Vec<String>,
    },
    /// The verdicts do not pass the run.
    AuditNotPassed(AuditNotPassed),
    /// A tool was to begin while another tool is in progress.
    ToolUnderWay {
        /// The tool in progress.
        tool: String,
    },
    /// No tool is in progress, so none can be retried or completed.
    NoToolUnderWay,
    /// All tools are completed, so none can begin.
    NoToolRemains,
    /// The tool has no tries left; the run must roll back.
    TriesSpent {
        /// The tool.
        tool: String,
        /// The number of tries.
        tries: u32,
    },
}

impl fmt::Display for GovernedRunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use GovernedRunError as E;
        match self {
            E::Expired { state, deadline, at } => {
                write!(f, "{state} expired at {deadline} ms, the step is of {at} ms")?;
                match state.time_limit() {
                    Some(limit) => write!(f, "; the run must go to {}", limit.leads_to),
                    None => Ok(()),
                }
            }
            E::NotExpired { state, deadline, at } => {
                write!(f, "{state} has not timed out: it expires at {deadline} ms, the halt is of {at} ms")
            }
            E::NoSuchReason { state, reason } => write!(f, "{state} cannot be halted for: {reason}"),
            E::ToolsRemain(remain) => remain.fmt(f),
            E::OtherApproval { got, expected } => {
                write!(f, "the run waits for approval {expected}, got a decision on {got}")
            }
            E::RollbackIncomplete { state, errors } => write!(
                f,
                "{state} cannot roll back incompletely ({}); halt the run for the failed rollback",
                errors.join("; ")
            ),
            E::OtherReviewers { got, expected } => write!(
                f,
                "the audit passed {}, the reviewers of this run are {}",
                got.join(", "),
                expected.join(", ")
            ),
            E::AuditNotPassed(objections) => objections.fmt(f),
            E::ToolUnderWay { tool } => write!(f, "{tool} is under way; complete it first"),
            E::NoToolUnderWay => f.write_str("no tool is under way; start one first"),
            E::NoToolRemains => f.write_str("all tools are completed; go on to verify the run"),
            E::TriesSpent { tool, tries } => {
                write!(f, "{tool} was tried {tries} times, which is the limit; roll the run back")
            }
        }
    }
}

impl Error for GovernedRunError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            GovernedRunError::ToolsRemain(remain) => Some(remain),
            GovernedRunError::AuditNotPassed(objections) => Some(objections),
            _ => None,
        }
    }
}
