//! The resume gate: decisions are drained and their calls replayed (document 000, "RESUME_TOOL_CALL Sub-State Machine").
//!
//! One machine is one pass: it finds no decision, or resolves one. A gate is passed by draining it: pass after pass until
//! one finds nothing. What is left in the hand then is the proof that the run flow needs to go on:
//! [`Drained::Nothing`] when nothing was replayed, [`Drained::Replayed`] when something was and a commit is due.

use std::error::Error;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::checkpoint::{Due, Receipt, Trigger, WrongReceipt};
use super::decision::{Decision, DecisionAction, Suspension};
use super::tool_call::ToolCallStatus;
use crate::kernel::{Enter, Guard, Observer, Record};
use crate::lifecycle;

lifecycle! {
    /// One pass of the resume gate.
    pub mod resume_tool_call: ResumeToolCall(GateRecord), AnyResumeToolCall;
    version 1;
    diagram "../../docs/lifecycles/resume-tool-call.md";

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
    gate: u64,
    pass: u64,
    replayed: bool,
    #[serde(skip)]
    observer: Observer,
}

impl GateRecord {
    /// The record of the first pass through the gate of that number; the run flow counts its gates from 1.
    pub fn new(gate: u64) -> Self {
        GateRecord { gate, pass: 1, replayed: false, observer: Observer::default() }
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

impl Record for GateRecord {
    #[inline]
    fn observer(&mut self) -> Option<&mut Observer> {
        Some(&mut self.observer)
    }
}

/// A call, as it is named in traces, and the decision on it.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Decided {
    call: String,
    decision: Decision,
}

macro_rules! decided_states {
    ($($(#[doc = $doc:literal])* $State:ident),+) => { $(
        $(#[doc = $doc])*
        #[derive(Debug, PartialEq, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $State(Decided);

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
    decided: Decided,
    due: Due,
}

/// The call waits again, on this suspension.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SetNextSuspended {
    call: String,
    suspension: Suspension,
}

/// The call's old suspension is cleared.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClearResolved {
    call: String,
    status: ToolCallStatus,
}

/// Run state is compared with what it was.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SnapshotIfStateChanged {
    call: String,
    status: ToolCallStatus,
    changed: bool,
}

/// The effects of the replay are ready to be committed.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CommitReplay {
    call: String,
    status: ToolCallStatus,
    changed: bool,
}

/// A decision matches a suspended call.
#[derive(Debug, Clone, PartialEq)]
pub struct MatchCall {
    call: String,
    decision: Decision,
}

impl MatchCall {
    /// This decision is on this call, as it is named in traces.
    pub fn new(call: impl Into<String>, decision: Decision) -> Self {
        MatchCall { call: call.into(), decision }
    }
}

/// The decision is durable.
#[derive(Debug, PartialEq)]
pub struct Persist {
    receipt: Receipt,
}

impl Persist {
    /// Proven by this receipt.
    pub fn new(receipt: Receipt) -> Self {
        Persist { receipt }
    }
}

/// The replay came to an end.
#[derive(Debug, Clone, PartialEq)]
pub struct Settle {
    status: ToolCallStatus,
}

impl Settle {
    /// The call is in this status now.
    pub fn new(status: ToolCallStatus) -> Self {
        Settle { status }
    }
}

/// The replay wants another decision.
#[derive(Debug, Clone, PartialEq)]
pub struct Suspend {
    suspension: Suspension,
}

impl Suspend {
    /// Wait for a decision on this suspension.
    pub fn new(suspension: Suspension) -> Self {
        Suspend { suspension }
    }
}

/// Run state is compared.
#[derive(Debug, Clone, PartialEq)]
pub struct Compare {
    changed: bool,
}

impl Compare {
    /// Did the replay change run state?
    pub fn new(changed: bool) -> Self {
        Compare { changed }
    }
}

/// A decision to cancel is not approved, and one to resume is not denied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OtherAction(DecisionAction);

impl fmt::Display for OtherAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            DecisionAction::Resume => "the decision is to resume: approve it",
            DecisionAction::Cancel => "the decision is to cancel: deny it",
        })
    }
}

impl Error for OtherAction {}

/// A replay comes to an end in a terminal state of its call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotSettled(ToolCallStatus);

impl fmt::Display for NotSettled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the replayed call is {}; expected Succeeded, Failed or Cancelled", self.0)
    }
}

impl Error for NotSettled {}

impl Guard<PersistResumeDecision, Persist> for Replay {
    type Error = WrongReceipt;
    fn check(from: &PersistResumeDecision, event: &Persist, _: &GateRecord) -> Result<(), WrongReceipt> {
        from.due.is_met_by(&event.receipt)
    }
}

impl Guard<Replay, Deny> for ReplayCancel {
    type Error = OtherAction;
    fn check(from: &Replay, _: &Deny, _: &GateRecord) -> Result<(), OtherAction> {
        expect_action(from, DecisionAction::Cancel)
    }
}

impl Guard<Replay, Approve> for ReplayResume {
    type Error = OtherAction;
    fn check(from: &Replay, _: &Approve, _: &GateRecord) -> Result<(), OtherAction> {
        expect_action(from, DecisionAction::Resume)
    }
}

fn expect_action(from: &Replay, expected: DecisionAction) -> Result<(), OtherAction> {
    let action = from.0.decision.action;
    if action == expected { Ok(()) } else { Err(OtherAction(action)) }
}

impl Guard<ExecuteReplayedTool, Settle> for ClearResolved {
    type Error = NotSettled;
    fn check(_: &ExecuteReplayedTool, event: &Settle, _: &GateRecord) -> Result<(), NotSettled> {
        if event.status.is_terminal() { Ok(()) } else { Err(NotSettled(event.status)) }
    }
}

impl Enter<DrainDecisionChannel, MatchCall> for ResolveDecision {
    fn enter(_: DrainDecisionChannel, event: MatchCall, _: &mut GateRecord) -> Self {
        ResolveDecision(Decided { call: event.call, decision: event.decision })
    }
}

impl Enter<ResolveDecision, Resolve> for PersistResumeDecision {
    fn enter(from: ResolveDecision, _: Resolve, gate: &mut GateRecord) -> Self {
        let due = Due::of_gate(Trigger::DecisionAccepted, gate.gate, gate.pass);
        PersistResumeDecision { decided: from.0, due }
    }
}

impl Enter<PersistResumeDecision, Persist> for Replay {
    fn enter(from: PersistResumeDecision, _: Persist, _: &mut GateRecord) -> Self {
        Replay(from.decided)
    }
}

impl Enter<Replay, Deny> for ReplayCancel {
    fn enter(from: Replay, _: Deny, _: &mut GateRecord) -> Self {
        ReplayCancel(from.0)
    }
}

impl Enter<Replay, Approve> for ReplayResume {
    fn enter(from: Replay, _: Approve, _: &mut GateRecord) -> Self {
        ReplayResume(from.0)
    }
}

impl Enter<ReplayResume, Execute> for ExecuteReplayedTool {
    fn enter(from: ReplayResume, _: Execute, _: &mut GateRecord) -> Self {
        ExecuteReplayedTool(from.0)
    }
}

impl Enter<ReplayCancel, Clear> for ClearResolved {
    fn enter(from: ReplayCancel, _: Clear, _: &mut GateRecord) -> Self {
        ClearResolved { call: from.0.call, status: ToolCallStatus::Cancelled }
    }
}

impl Enter<ExecuteReplayedTool, Settle> for ClearResolved {
    fn enter(from: ExecuteReplayedTool, event: Settle, _: &mut GateRecord) -> Self {
        ClearResolved { call: from.0.call, status: event.status }
    }
}

impl Enter<ExecuteReplayedTool, Suspend> for SetNextSuspended {
    fn enter(from: ExecuteReplayedTool, event: Suspend, _: &mut GateRecord) -> Self {
        SetNextSuspended { call: from.0.call, suspension: event.suspension }
    }
}

impl Enter<SetNextSuspended, Clear> for ClearResolved {
    fn enter(from: SetNextSuspended, _: Clear, _: &mut GateRecord) -> Self {
        ClearResolved { call: from.call, status: ToolCallStatus::Suspended }
    }
}

impl Enter<ClearResolved, Compare> for SnapshotIfStateChanged {
    fn enter(from: ClearResolved, event: Compare, _: &mut GateRecord) -> Self {
        SnapshotIfStateChanged { call: from.call, status: from.status, changed: event.changed }
    }
}

impl Enter<SnapshotIfStateChanged, Close> for CommitReplay {
    fn enter(from: SnapshotIfStateChanged, _: Close, _: &mut GateRecord) -> Self {
        CommitReplay { call: from.call, status: from.status, changed: from.changed }
    }
}

impl ResumeToolCall<PersistResumeDecision> {
    /// The call, as it is named in traces.
    pub fn call(&self) -> &str {
        &self.state().decided.call
    }

    /// The commit that makes the decision durable.
    pub fn due(&self) -> Due {
        self.state().due
    }

    /// The decision.
    pub fn decision(&self) -> &Decision {
        &self.state().decided.decision
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

impl ResumeToolCall<CommitReplay> {
    /// Did the replay change run state?
    pub fn changed(&self) -> bool {
        self.state().changed
    }

    /// The next pass through the same gate, which remembers that something was replayed.
    pub fn drain_on(self, observer: Observer) -> ResumeToolCall<DrainDecisionChannel> {
        let (record, _) = self.into_parts();
        ResumeToolCall::new(GateRecord { gate: record.gate, pass: record.pass + 1, replayed: true, observer })
    }
}

impl ResumeToolCall<NoDecision> {
    /// The gate is drained: the proof of it.
    pub fn drained(self) -> Drained {
        let (record, NoDecision) = self.into_parts();
        if record.replayed {
            let due = Due::of_gate(Trigger::ToolResultsCommitted, record.gate, record.pass);
            Drained::Replayed(Replayed { gate: record.gate, due })
        } else {
            Drained::Nothing(NothingReplayed { gate: record.gate })
        }
    }
}

/// A gate whose last pass found nothing.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "the run flow waits at its gate for this proof"]
pub enum Drained {
    /// Nothing was replayed.
    Nothing(NothingReplayed),
    /// Something was, and a commit is due.
    Replayed(Replayed),
}

impl Drained {
    /// The number of the gate.
    pub fn gate(&self) -> u64 {
        match self {
            Drained::Nothing(nothing) => nothing.gate,
            Drained::Replayed(replayed) => replayed.gate,
        }
    }
}

/// Proof that a gate was drained and that nothing was replayed in it.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "the run flow waits at its gate for this proof"]
pub struct NothingReplayed {
    pub(in crate::lifecycle) gate: u64,
}

/// Proof that a gate was drained, with effects that are to be committed.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "the effects of the replay wait to be committed"]
pub struct Replayed {
    pub(super) gate: u64,
    due: Due,
}

impl Replayed {
    /// The commit that is due inside the loop. (At the start of an activation the flow's own commit takes its place.)
    pub fn due(&self) -> Due {
        self.due
    }

    /// The effects were committed.
    ///
    /// # Errors
    /// [`WrongReceipt`], with the proof, when the receipt is for another commit.
    pub fn committed(self, receipt: Receipt) -> Result<GatePassed, (Self, WrongReceipt)> {
        match self.due.is_met_by(&receipt) {
            Ok(()) => Ok(GatePassed { gate: self.gate }),
            Err(wrong) => Err((self, wrong)),
        }
    }
}

/// Proof that a gate was drained and what it replayed was committed.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "the run flow waits at its gate for this proof"]
pub struct GatePassed {
    pub(in crate::lifecycle) gate: u64,
}

impl From<NothingReplayed> for GatePassed {
    fn from(nothing: NothingReplayed) -> Self {
        GatePassed { gate: nothing.gate }
    }
}
