//! Errors of a pass that refuses a transition which its state has.

use std::error::Error;
use std::fmt;

use super::{FinishReason, ServicePassStatus};
use crate::service_run::JudgeVerdict;

/// The reason why a pass refuses a transition.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ServicePassError {
    /// A repair that is not due.
    NoRepair(NoRepair),
    /// The plan as it is, while a repair is due.
    RepairDue {
        /// The judge's issues.
        issues: Vec<String>,
    },
    /// A question without a missing slot and without a text.
    NothingAsked,
    /// An end for a reason that the node does not have.
    NoSuchReason {
        /// The node.
        node: ServicePassStatus,
        /// The reason.
        reason: FinishReason,
    },
}

/// The condition that a repair lacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum NoRepair {
    /// The verdict asks for no rework.
    Verdict(JudgeVerdict),
    /// The judge named no issue.
    NoIssues,
    /// All attempts are used.
    AttemptsUsed {
        /// The number of attempts.
        attempts: u32,
    },
    /// No model is there to plan again.
    NoModel,
}

impl fmt::Display for ServicePassError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ServicePassError::NoRepair(why) => write!(f, "no repair is due: {why}"),
            ServicePassError::RepairDue { issues } => {
                write!(f, "a repair is due before the plan is accepted: {}", issues.join(", "))
            }
            ServicePassError::NothingAsked => f.write_str("a question needs a missing slot or a text"),
            ServicePassError::NoSuchReason { node, reason } => {
                write!(f, "{node} does not end a pass with {reason}; ")?;
                match node {
                    ServicePassStatus::PlanTx | ServicePassStatus::RepairPlanTx => {
                        f.write_str("expected a fatal error or nothing to do")
                    }
                    ServicePassStatus::Clarify => f.write_str("expected a fatal error or the questions"),
                    _ => f.write_str("expected a fatal error"),
                }
            }
        }
    }
}

impl fmt::Display for NoRepair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoRepair::Verdict(JudgeVerdict::Pass) => f.write_str("the verdict is PASS"),
            NoRepair::Verdict(JudgeVerdict::Block) => f.write_str("the verdict is BLOCK"),
            NoRepair::Verdict(JudgeVerdict::NeedsRework) => f.write_str("the verdict is NEEDS_REWORK"),
            NoRepair::NoIssues => f.write_str("the judge named no issue"),
            NoRepair::AttemptsUsed { attempts } => write!(f, "attempt {attempts} is the last"),
            NoRepair::NoModel => f.write_str("no model is there to plan again"),
        }
    }
}

impl Error for NoRepair {}

impl Error for ServicePassError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            ServicePassError::NoRepair(why) => Some(why),
            ServicePassError::RepairDue { .. }
            | ServicePassError::NothingAsked
            | ServicePassError::NoSuchReason { .. } => None,
        }
    }
}
