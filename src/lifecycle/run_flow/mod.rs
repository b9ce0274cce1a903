//! One activation of a run, from RunStart to CommitFinished (document 000, "Run Execution Flow").
//!
//! The order of the loop is in its types. A state that owes something to the world has one way on, and that way takes the
//! proof: a [`Receipt`](super::checkpoint::Receipt) for a commit, a
//! [`GatePassed`](super::resume_tool_call::GatePassed) for the resume gate. From `CommitTool` there is a way to the gate
//! and none to the model.

mod entries;
mod events;
mod guards;
mod starting;
mod states;
mod steps;

use super::checkpoint::{Due, Trigger};
use super::nonce::Nonce;
use super::record::record;
use super::run::{Run, Running};
use super::termination::FinalReason;
use crate::kernel::{Graph, Observer, Record};
use crate::lifecycle;

pub use events::*;
pub use guards::Unmet;
pub use starting::Starting;
pub use states::*;
pub use steps::{AfterAssistant, AfterReplay0, AfterTools, Prepared};

lifecycle! {
    /// One activation of a run: what happens in which order, and what is owed before it goes on.
    pub mod run_flow: RunFlow(FlowRecord), AnyRunFlow;
    version 1;
    diagram "../../../docs/lifecycles/run-flow.md";

    status RunFlowStatus {
        /// The activation begins; the effects of its start are applied.
        RunStart,
        /// The start must be committed.
        CommitUser { .. },
        /// The resume gate at the start.
        ResumeReplay0 { .. },
        /// What was replayed at the start must be committed.
        CommitReplay0 { .. },
        /// A step may begin.
        LoopTop,
        /// The resume gate before a step.
        ResumeToolCall { .. },
        /// The step is prepared, or the activation is to end.
        StepPrepare,
        /// The model is asked.
        LlmCall { .. },
        /// The model answered.
        AfterInference { .. },
        /// The answer must be committed.
        CommitAssistant { .. },
        /// The calls of the answer are gated and executed.
        ToolRound { .. },
        /// The results of the round must be committed.
        CommitTool { .. },
        /// The resume gate after a round.
        ResumeAfterTool { .. },
        /// Something asked for the end.
        Terminate { .. },
        /// The model asked for no tools: the natural end.
        NaturalEnd { .. },
        /// Calls wait for decisions.
        Suspended { .. },
        /// The run was cancelled.
        Cancelled,
        /// The runtime failed.
        Error { .. },
        /// The activation winds up.
        RunEnd { .. },
        /// The end must be committed, by force.
        CommitFinished { .. },
    }
    event RunFlowEvent {
        /// The effects of the start are applied.
        Begin,
        /// A commit was made.
        Commit { .. },
        /// Calls were replayed at the start.
        Replay { .. },
        /// Nothing was replayed at the start.
        SkipReplay { .. },
        /// Calls still wait after the replay at the start.
        Stay { .. },
        /// The step goes to its gate.
        OpenGate,
        /// The gate before a step was passed.
        Pass { .. },
        /// The activation ends before a step.
        Stop { .. },
        /// The model is asked.
        Infer,
        /// The model answered.
        Respond { .. },
        /// The answer is applied.
        Accept,
        /// The activation ends after an answer.
        Halt { .. },
        /// The answer has no calls.
        Finish { .. },
        /// The answer has calls.
        CallTools { .. },
        /// The round is over.
        Complete { .. },
        /// Calls of the round wait for decisions.
        Park { .. },
        /// The round gives the model something to read.
        Next { .. },
        /// The end is near.
        WindUp,
        /// The end is ready to be committed.
        Close,
        /// The runtime failed.
        Fail { .. },
        /// The run was cancelled.
        Cancel,
    }

    [*]             --> RunStart;
    RunStart        --> CommitUser      : begin(Begin);
    CommitUser      --> ResumeReplay0   : commit(Commit) else Unmet;
    ResumeReplay0   --> CommitReplay0   : replay(Replay) else Unmet;
    ResumeReplay0   --> LoopTop         : skip_replay(SkipReplay) else Unmet;
    CommitReplay0   --> LoopTop         : commit(Commit) else Unmet;
    CommitReplay0   --> Suspended       : stay(Stay) else Unmet;
    LoopTop         --> ResumeToolCall  : open_gate(OpenGate);
    ResumeToolCall  --> StepPrepare     : pass(Pass) else Unmet;
    StepPrepare     --> Terminate       : stop(Stop);
    StepPrepare     --> LlmCall         : infer(Infer) else Unmet;
    LlmCall         --> Error           : fail(Fail);
    LlmCall         --> Cancelled       : cancel(Cancel);
    LlmCall         --> AfterInference  : respond(Respond);
    AfterInference  --> CommitAssistant : accept(Accept);
    CommitAssistant --> Terminate       : halt(Halt) else Unmet;
    CommitAssistant --> NaturalEnd      : finish(Finish) else Unmet;
    CommitAssistant --> ToolRound       : call_tools(CallTools) else Unmet;
    ToolRound       --> Error           : fail(Fail);
    ToolRound       --> Cancelled       : cancel(Cancel);
    ToolRound       --> CommitTool      : complete(Complete) else Unmet;
    CommitTool      --> ResumeAfterTool : commit(Commit) else Unmet;
    ResumeAfterTool --> Suspended       : park(Park) else Unmet;
    ResumeAfterTool --> LoopTop         : next(Next) else Unmet;
    Terminate       --> RunEnd          : wind_up(WindUp);
    NaturalEnd      --> RunEnd          : wind_up(WindUp);
    Suspended       --> RunEnd          : wind_up(WindUp);
    Cancelled       --> RunEnd          : wind_up(WindUp);
    Error           --> RunEnd          : wind_up(WindUp);
    RunEnd          --> CommitFinished  : close(Close);
    RunStart        --> Error           : fail(Fail);
    CommitUser      --> Error           : fail(Fail);
    ResumeReplay0   --> Error           : fail(Fail);
    CommitReplay0   --> Error           : fail(Fail);
    ResumeToolCall  --> Error           : fail(Fail);
    StepPrepare     --> Error           : fail(Fail);
    AfterInference  --> Error           : fail(Fail);
    CommitAssistant --> Error           : fail(Fail);
    CommitTool      --> Error           : fail(Fail);
    ResumeAfterTool --> Error           : fail(Fail);
    ResumeReplay0   --> Cancelled       : cancel(Cancel);
    ResumeToolCall  --> Cancelled       : cancel(Cancel);
    StepPrepare     --> Cancelled       : cancel(Cancel);
    ResumeAfterTool --> Cancelled       : cancel(Cancel);
    CommitFinished  --> [*];
}

record! { AnyRunFlow:
    /// What all states of an activation share.
    pub struct FlowRecord {
        run: String,
        activation: u32,
        step: u32,
        gates: u64,
        commits: u64,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        stopping: Option<FinalReason>,
        #[serde(skip)]
        nonce: Nonce,
        #[serde(skip)]
        observer: Observer,
    }
}

/// One flow in memory: no other flow of this process has the same id, also none of a run of the same name.
///
/// An [`ExecutionRecord`](super::tool_execution::ExecutionRecord::of) takes it. It is never stored: a flow that comes back
/// from storage is another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FlowId(pub(in crate::lifecycle) u64);

impl FlowRecord {
    /// The record of an activation of a run that is `Running`, and of no other.
    ///
    /// `steps` is how many steps the run took in earlier activations.
    pub fn new(run: &Run<Running>, steps: u32) -> Self {
        FlowRecord {
            run: run.record().id().to_owned(),
            activation: run.record().activations(),
            step: steps,
            gates: 0,
            commits: 0,
            stopping: None,
            nonce: Nonce::default(),
            observer: Observer::default(),
        }
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
    pub fn assuming(mut self, id: FlowId) -> Self {
        self.nonce = Nonce::of(id.0);
        self
    }

    /// The run's id.
    pub fn run(&self) -> &str {
        &self.run
    }

    /// Which activation of the run this is, from 1.
    pub fn activation(&self) -> u32 {
        self.activation
    }

    /// How many steps the run took, the current one included.
    pub fn step(&self) -> u32 {
        self.step
    }

    /// The reason for which the activation is to end before its next step, if something asked for it.
    pub fn stopping(&self) -> Option<&FinalReason> {
        self.stopping.as_ref()
    }

    /// The flow itself, for executions that belong to it.
    pub fn flow_id(&self) -> FlowId {
        FlowId(self.nonce.number())
    }

    /// Tells this flow from all others, so that their receipts and proofs are not taken for its own.
    fn identity(&self) -> u64 {
        self.nonce.number()
    }

    fn next_due(&mut self, trigger: Trigger) -> Due {
        self.commits += 1;
        Due::of_flow(trigger, self.commits)
    }

    fn next_gate(&mut self) -> u64 {
        self.gates += 1;
        self.gates
    }
}

#[cfg(all(feature = "repair", feature = "testing"))]
impl AnyRunFlow {
    /// As [`FlowRecord::assuming`].
    #[doc(hidden)]
    pub fn assume(&mut self, id: FlowId) {
        self.record_mut().nonce = Nonce::of(id.0);
    }
}

impl Record for FlowRecord {
    #[inline]
    fn observer(&mut self) -> Option<&mut Observer> {
        Some(&mut self.observer)
    }

    /// A new activation owes its first commit.
    fn created(&mut self, _: &'static Graph) {
        (self.gates, self.commits, self.stopping) = (0, 0, None);
    }
}
