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

use super::checkpoint::WrongReceipt;
use super::nonce::Nonce;
use super::record::record;
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

record! { AnyResumeToolCall:
    /// What all states of a pass share.
    pub struct GateRecord {
        gate: u64,
        pass: u64,
        /// The flow of its gate.
        #[serde(skip, default = "Nonce::none")]
        flow: Nonce,
        /// The gate that gave it out. A pass by itself, or one that comes from storage, has a number of its own.
        #[serde(skip)]
        nonce: Nonce,
        #[serde(skip)]
        observer: Observer,
    }
}

impl GateRecord {
    /// The record of a first pass by itself. The passes of a gate that is to be drained come from [`Gate::pass`].
    pub fn new(gate: u64) -> Self {
        Self::given_out(GateOf { flow: 0, gate, opening: 1 }, 1, Nonce::default())
    }

    fn given_out(of: GateOf, pass: u64, nonce: Nonce) -> Self {
        GateRecord { flow: Nonce::of(of.flow), gate: of.gate, pass, nonce, observer: Observer::default() }
    }

    /// The same, with someone told of each transition.
    #[must_use]
    pub fn observed(mut self, observer: Observer) -> Self {
        self.observer = observer;
        self
    }

    /// Takes the id of another flow, so that events that were made for that one fit: for property tests that drive two
    /// machines by one list of events. Only the features `repair` and `testing` together have it.
    #[cfg(all(feature = "repair", feature = "testing"))]
    #[doc(hidden)]
    #[must_use]
    pub fn assuming(mut self, id: super::run_flow::FlowId) -> Self {
        self.nonce = Nonce::of(id.0);
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

#[cfg(all(feature = "repair", feature = "testing"))]
impl AnyResumeToolCall {
    /// As [`GateRecord::assuming`].
    #[doc(hidden)]
    pub fn assume(&mut self, id: super::run_flow::FlowId) {
        self.record_mut().nonce = Nonce::of(id.0);
    }
}

impl Record for GateRecord {
    #[inline]
    fn observer(&mut self) -> Option<&mut Observer> {
        Some(&mut self.observer)
    }
}
