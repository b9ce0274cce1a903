//! The states of a call, with their data.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::super::decision::{Decision, Suspension};
use super::{CancelCause, WrongDecision, resumes};

/// The call is executing.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Running {
    /// The decision of a replay, and its suspension.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) replayed: Option<Resuming>,
}

/// The call waits for a decision on this suspension.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Suspended {
    pub(super) suspension: Suspension,
}

/// A decision resumes the call.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "StoredResuming")]
pub struct Resuming {
    pub(super) suspension: Suspension,
    pub(super) decision: Decision,
}

/// The stored form of a [`Resuming`] call. Its decision must pass the guard.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredResuming {
    pub(super) suspension: Suspension,
    pub(super) decision: Decision,
}

impl TryFrom<StoredResuming> for Resuming {
    type Error = WrongDecision;

    fn try_from(stored: StoredResuming) -> Result<Self, WrongDecision> {
        resumes(&stored.suspension, &stored.decision)?;
        Ok(Resuming { suspension: stored.suspension, decision: stored.decision })
    }
}

/// The call has its output.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Succeeded {
    pub(super) output: Value,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) warning: Option<String>,
}

/// The call has an error as its output.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Failed {
    pub(super) error: String,
}

/// The call was cancelled.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cancelled {
    pub(super) reason: String,
    #[serde(default, skip_serializing_if = "CancelCause::is_other")]
    pub(super) cause: CancelCause,
}
