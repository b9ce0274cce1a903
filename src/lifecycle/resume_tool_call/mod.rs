//! The resume gate, which drains decisions and replays their calls.
//!
//! One machine is one pass of the gate: it finds no decision, or resolves one. To drain a [`Gate`], the driver takes
//! passes one after the other, or several at once, until a pass finds no decision and no other pass is in progress.
//! The result is the proof that the run flow needs to continue: [`Drained::Nothing`] without a replay,
//! [`Drained::Replayed`] after a replay, with a pending commit.

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
        /// The pass looks for a decision.
        DrainDecisionChannel,
        /// No decision for a suspended call arrived.
        NoDecision,
        /// A decision answers a suspended call.
        ResolveDecision { .. },
        /// The decision is recorded; it must be durable before its replay.
        PersistResumeDecision { .. },
        /// The decision is durable.
        Replay { .. },
        /// The call is cancelled.
        ReplayCancel { .. },
        /// The call resumes.
        ReplayResume { .. },
        /// The tool executes again.
        ExecuteReplayedTool { .. },
        /// The call is suspended again, for another decision.
        SetNextSuspended { .. },
        /// The call's old suspension is cleared.
        ClearResolved { .. },
        /// The run state is compared with the state before the replay.
        SnapshotIfStateChanged { .. },
        /// The effects of the replay are ready for the commit.
        CommitReplay { .. },
    }
    event ResumeToolCallEvent {
        /// No decision arrived.
        FindNothing,
        /// A decision matches a suspended call.
        MatchCall { .. },
        /// The decision is recorded.
        Resolve,
        /// The decision is durable.
        Persist { .. },
        /// The decision cancels the call.
        Deny,
        /// The decision resumes the call.
        Approve,
        /// The call executes.
        Execute,
        /// The replay ended.
        Settle { .. },
        /// The replay needs another decision.
        Suspend { .. },
        /// The old suspension is cleared.
        Clear,
        /// The run state is compared.
        Compare { .. },
        /// The effects are ready for the commit.
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
    /// The record of a pass: the data that all its states share.
    pub struct GateRecord {
        gate: u64,
        pass: u64,
        /// The flow of the pass's gate.
        #[serde(skip, default = "Nonce::none")]
        flow: Nonce,
        /// The gate that handed out the pass. A standalone pass, and a pass from storage, has a number of its own.
        #[serde(skip)]
        nonce: Nonce,
        #[serde(skip)]
        observer: Observer,
    }
}

impl GateRecord {
    /// Makes the record of a standalone first pass. The passes for the drain of a gate come from [`Gate::pass`].
    pub fn new(gate: u64) -> Self {
        Self::given_out(GateOf { flow: 0, gate, opening: 1 }, 1, Nonce::default())
    }

    fn given_out(of: GateOf, pass: u64, nonce: Nonce) -> Self {
        GateRecord { flow: Nonce::of(of.flow), gate: of.gate, pass, nonce, observer: Observer::default() }
    }

    /// Sets the observer of all transitions. Default: none.
    #[must_use]
    pub fn observed(mut self, observer: Observer) -> Self {
        self.observer = observer;
        self
    }

    /// Takes the id of another flow, so that events for that flow fit this one. Property tests use it to drive two
    /// machines by one list of events. Only the features `repair` and `testing` together provide it.
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
