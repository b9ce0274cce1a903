//! What is true in the states of a pass, and how it is read.

use serde::{Deserialize, Serialize};

use super::super::checkpoint::{Due, stored};
use super::super::decision::{Decision, Suspension};
use super::super::tool_call::ToolCallStatus;
use super::super::tool_execution::StartPermit;
use super::{Execute, ResumeToolCall};

/// A call, as it is named in traces, and the decision on it.
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
            /// The call, as it is named in traces.
            pub fn call(&self) -> &str {
                &self.state().0.call
            }

            /// The decision on it.
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
    /// The call is given up.
    ReplayCancel,
    /// The call goes on.
    ReplayResume,
    /// The tool executes again.
    ExecuteReplayedTool
);

/// The decision is recorded; a commit is due.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PersistResumeDecision {
    pub(super) decided: Decided,
    #[serde(with = "stored")]
    pub(super) due: Due,
}

/// The call waits again, on this suspension.
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

/// Run state is compared with what it was.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SnapshotIfStateChanged {
    pub(super) call: String,
    pub(super) status: ToolCallStatus,
    pub(super) changed: bool,
}

/// The effects of the replay are ready to be committed.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CommitReplay {
    pub(super) call: String,
    pub(super) status: ToolCallStatus,
    pub(super) changed: bool,
}

impl ResumeToolCall<PersistResumeDecision> {
    /// The call, as it is named in traces.
    pub fn call(&self) -> &str {
        &self.state().decided.call
    }

    /// The commit that makes the decision durable.
    pub fn due(&self) -> Due {
        self.state().due.within(self.record().nonce.number())
    }

    /// The decision.
    pub fn decision(&self) -> &Decision {
        &self.state().decided.decision
    }
}

impl ResumeToolCall<ReplayResume> {
    /// Executes the call, whose tool must not run twice: the commit of the decision says that the call goes on, so that a crash
    /// leaves it in doubt. The permit is for one execution.
    pub fn execute_once(self) -> (ResumeToolCall<ExecuteReplayedTool>, StartPermit) {
        let permit = StartPermit::of(self.call().to_owned(), self.record().flow.number());
        (self.execute(Execute), permit)
    }
}

impl ResumeToolCall<SetNextSuspended> {
    /// The call, as it is named in traces.
    pub fn call(&self) -> &str {
        &self.state().call
    }

    /// What the call waits for now.
    pub fn suspension(&self) -> &Suspension {
        &self.state().suspension
    }
}

macro_rules! replayed_states {
    ($($State:ident),+) => { $(
        impl ResumeToolCall<$State> {
            /// The call that was replayed, as it is named in traces.
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
    /// Did the replay change run state?
    pub fn changed(&self) -> bool {
        self.state().changed
    }
}
