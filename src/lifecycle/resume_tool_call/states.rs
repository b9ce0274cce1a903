//! The states of a pass, with their data and accessors.

use serde::{Deserialize, Serialize};

use super::super::checkpoint::{Due, stored};
use super::super::decision::{Decision, Suspension};
use super::super::tool_call::ToolCallStatus;
use super::super::tool_execution::StartPermit;
use super::{Execute, ResumeToolCall};

/// The trace name of a call, and the decision on the call.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Decided {
    pub(super) call: String,
    pub(super) decision: Decision,
}

macro_rules! decided_states {
    ($($(#[doc = $doc:literal])* $State:ident),+) => { $(
        $(#[doc = $doc])*
        #[derive(Debug, PartialEq, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $State(pub(super) Decided);

        impl ResumeToolCall<$State> {
            /// The trace name of the call.
            pub fn call(&self) -> &str {
                &self.state().0.call
            }

            /// The decision on the call.
            pub fn decision(&self) -> &Decision {
                &self.state().0.decision
            }
        }
    )+ };
}
decided_states!(
    /// A decision answers a suspended call.
    ResolveDecision,
    /// The decision is durable.
    Replay,
    /// The call is cancelled.
    ReplayCancel,
    /// The call resumes.
    ReplayResume,
    /// The tool executes again.
    ExecuteReplayedTool
);

/// The decision is recorded; a commit is pending.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PersistResumeDecision {
    pub(super) decided: Decided,
    #[serde(with = "stored")]
    pub(super) due: Due,
}

/// The call is suspended again, on this suspension.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SetNextSuspended {
    pub(super) call: String,
    pub(super) suspension: Suspension,
}

/// The call's old suspension is cleared.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClearResolved {
    pub(super) call: String,
    pub(super) status: ToolCallStatus,
}

/// The run state is compared with the state before the replay.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SnapshotIfStateChanged {
    pub(super) call: String,
    pub(super) status: ToolCallStatus,
    pub(super) changed: bool,
}

/// The effects of the replay are ready for the commit.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CommitReplay {
    pub(super) call: String,
    pub(super) status: ToolCallStatus,
    pub(super) changed: bool,
}

impl ResumeToolCall<PersistResumeDecision> {
    /// The trace name of the call.
    pub fn call(&self) -> &str {
        &self.state().decided.call
    }

    /// The pending commit that makes the decision durable.
    pub fn due(&self) -> Due {
        self.state().due.within(self.record().nonce.number())
    }

    /// The decision.
    pub fn decision(&self) -> &Decision {
        &self.state().decided.decision
    }
}

impl ResumeToolCall<ReplayResume> {
    /// Executes a call of a tool that must not run twice. The commit of the decision records the resumption, so that a
    /// crash leaves the call in doubt. The permit is for one execution.
    pub fn execute_once(self) -> (ResumeToolCall<ExecuteReplayedTool>, StartPermit) {
        let permit = StartPermit::of(self.call().to_owned(), self.record().flow.number());
        (self.execute(Execute), permit)
    }
}

impl ResumeToolCall<SetNextSuspended> {
    /// The trace name of the call.
    pub fn call(&self) -> &str {
        &self.state().call
    }

    /// The new suspension of the call.
    pub fn suspension(&self) -> &Suspension {
        &self.state().suspension
    }
}

macro_rules! replayed_states {
    ($($State:ident),+) => { $(
        impl ResumeToolCall<$State> {
            /// The trace name of the replayed call.
            pub fn call(&self) -> &str {
                &self.state().call
            }

            /// The status of the call after its replay.
            pub fn status_after(&self) -> ToolCallStatus {
                self.state().status
            }
        }
    )+ };
}
replayed_states!(ClearResolved, SnapshotIfStateChanged, CommitReplay);

impl ResumeToolCall<SnapshotIfStateChanged> {
    /// Returns whether the replay changed the run state.
    pub fn changed(&self) -> bool {
        self.state().changed
    }
}
