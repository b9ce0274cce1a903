//! Why a governed run refuses a step that its state has an edge for.

use std::error::Error;
use std::fmt;

use super::{ApprovalId, AuditNotPassed, GovernedRunStatus, HaltReason};

/// Tools of the plan that are not completed: no run is verified before they are (B8).
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

/// Why a governed run refuses a step.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum GovernedRunError {
    /// The state had expired when the step was to be taken; the run can only go where its timeout leads (B3).
    Expired {
        /// The state.
        state: GovernedRunStatus,
        /// When it expired, in milliseconds since the Unix epoch.
        deadline: u64,
        /// When the step was to be taken.
        at: u64,
    },
    /// A halt for a timeout that has not come.
    NotExpired {
        /// The state.
        state: GovernedRunStatus,
        /// When it expires.
        deadline: u64,
        /// When it was to be halted.
        at: u64,
    },
    /// A halt for a reason that the state does not have.
    NoSuchReason {
        /// The state.
        state: GovernedRunStatus,
        /// The reason.
        reason: HaltReason,
    },
    /// The run is not done with its tools.
    ToolsRemain(ToolsRemain),
    /// A decision on another approval than the one that the run waits for.
    OtherApproval {
        /// The approval that was decided.
        got: ApprovalId,
        /// The one that the run waits for.
        expected: ApprovalId,
    },
    /// A rollback did not succeed in a state that then must halt (B7).
    RollbackIncomplete {
        /// The state.
        state: GovernedRunStatus,
        /// What went wrong.
        errors: Vec<String>,
    },
    /// The proof of an audit by other reviewers than those of the run.
    OtherReviewers {
        /// The reviewers of the proof.
        got: Vec<String>,
        /// The reviewers of the run.
        expected: Vec<String>,
    },
    /// The verdicts are no pass.
    AuditNotPassed(AuditNotPassed),
    /// A tool was to begin while another is under way.
    ToolUnderWay {
        /// The tool under way.
        tool: String,
    },
    /// No tool is under way that could be tried again or completed.
    NoToolUnderWay,
    /// All tools are completed: none is left to begin.
    NoToolRemains,
    /// The tool was tried as often as it may be; the run wants a rollback.
    TriesSpent {
        /// The tool.
        tool: String,
        /// How often it was begun.
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
