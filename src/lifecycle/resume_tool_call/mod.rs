//! The resume gate: decisions are drained and their calls replayed (document 000, "RESUME_TOOL_CALL Sub-State Machine").
//!
//! One machine is one pass: it finds no decision, or resolves one. A [`Gate`] is passed by draining it: pass after pass, or
//! several at once, until one finds nothing and none is under way. What is left in the hand then is the proof that the run
//! flow needs to go on: [`Drained::Nothing`] when nothing was replayed, [`Drained::Replayed`] when something was and a
//! commit is due.

mod entries;
mod events;
mod gate;
mod guards;
mod proofs;
mod states;

use serde::{Deserialize, Serialize};

use super::checkpoint::WrongReceipt;
use crate::kernel::{Observer, Record};
use crate::lifecycle;

pub use events::{Compare, MatchCall, Persist, Settle, Suspend};
pub use gate::{EndedPass, Gate, NotDrained, Undrained};
pub use guards::{NotSettled, OtherAction};
pub(super) use proofs::GateOf;
pub use proofs::{Drained, GatePassed, NothingReplayed, Replayed};
pub use states::{
    ClearResolved, CommitReplay, ExecuteReplayedTool, PersistResumeDecision, Replay, ReplayCancel,
    ReplayResume, ResolveDecision, SetNextSuspended, SnapshotIfStateChanged,
};

lifecycle! {
    /// One pass of the resume gate.
    pub mod resume_tool_call: ResumeToolCall(GateRecord), AnyResumeToolCall;
    version 1;
    diagram "../../../docs/lifecycles/resume-tool-call.md";

    status ResumeToolCallStatus {
        /// What came in is looked at.
        DrainDecisionChannel,
        /// Nothing came in that answers a suspended call.
        NoDecision,
        /// A decision answers a suspended call.
        ResolveDecision { .. },
        /// The decision is recorded, and must be durable before its replay.
        PersistResumeDecision { .. },
        /// The decision is durable.
        Replay { .. },
        /// The call is given up.
        ReplayCancel { .. },
        /// The call goes on.
        ReplayResume { .. },
        /// The tool executes again.
        ExecuteReplayedTool { .. },
        /// The call waits again, for another decision.
        SetNextSuspended { .. },
        /// The call's old suspension is cleared.
        ClearResolved { .. },
        /// Run state is looked at for changes.
        SnapshotIfStateChanged { .. },
        /// The effects of the replay are ready to be committed.
        CommitReplay { .. },
    }
    event ResumeToolCallEvent {
        /// Nothing came in.
        FindNothing,
        /// A decision matches a suspended call.
        MatchCall { .. },
        /// The decision is recorded.
        Resolve,
        /// The decision is durable.
        Persist { .. },
        /// The decision gives the call up.
        Deny,
        /// The decision lets the call go on.
        Approve,
        /// The call is executed.
        Execute,
        /// The replay came to an end.
        Settle { .. },
        /// The replay wants another decision.
        Suspend { .. },
        /// The old suspension is cleared.
        Clear,
        /// Run state is compared.
        Compare { .. },
        /// All is ready to be committed.
        Close,
    }

    [*]                    --> DrainDecisionChannel;
    DrainDecisionChannel   --> NoDecision             : find_nothing(FindNothing);
    DrainDecisionChannel   --> ResolveDecision        : match_call(MatchCall);
    ResolveDecision        --> PersistResumeDecision  : resolve(Resolve);
    PersistResumeDecision  --> Replay                 : persist(Persist) else WrongReceipt;
    Replay                 --> ReplayCancel           : deny(Deny) else OtherAction;
    Replay                 --> ReplayResume           : approve(Approve) else OtherAction;
    ReplayCancel           --> ClearResolved          : clear(Clear);
    ReplayResume           --> ExecuteReplayedTool    : execute(Execute);
    ExecuteReplayedTool    --> ClearResolved          : settle(Settle) else NotSettled;
    ExecuteReplayedTool    --> SetNextSuspended       : suspend(Suspend);
    SetNextSuspended       --> ClearResolved          : clear(Clear);
    ClearResolved          --> SnapshotIfStateChanged : compare(Compare);
    SnapshotIfStateChanged --> CommitReplay           : close(Close);
    CommitReplay           --> [*];
    NoDecision             --> [*];
}

/// What all states of a pass share.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GateRecord {
    #[serde(default, skip_serializing_if = "is_of_no_flow")]
    flow: u64,
    gate: u64,
    pass: u64,
    /// By which opening of its gate it was given out; one by itself, or one that comes from storage, by none.
    #[serde(skip)]
    opening: u32,
    #[serde(skip)]
    observer: Observer,
}

impl GateRecord {
    /// The record of a first pass by itself. The passes of a gate that is to be drained come from [`Gate::pass`].
    pub fn new(gate: u64) -> Self {
        Self::given_out(GateOf { flow: 0, gate }, 1, 0)
    }

    fn given_out(of: GateOf, pass: u64, opening: u32) -> Self {
        GateRecord { flow: of.flow, gate: of.gate, pass, opening, observer: Observer::default() }
    }

    /// Which gate of which activation it is.
    fn of(&self) -> GateOf {
        GateOf { flow: self.flow, gate: self.gate }
    }

    /// The same, with someone told of each transition.
    #[must_use]
    pub fn observed(mut self, observer: Observer) -> Self {
        self.observer = observer;
        self
    }

    /// The number of the gate.
    pub fn gate(&self) -> u64 {
        self.gate
    }

    /// The number of the pass, from 1.
    pub fn pass(&self) -> u64 {
        self.pass
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks by reference")]
fn is_of_no_flow(flow: &u64) -> bool {
    *flow == 0
}

impl Record for GateRecord {
    #[inline]
    fn observer(&mut self) -> Option<&mut Observer> {
        Some(&mut self.observer)
    }
}
