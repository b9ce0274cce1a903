//! The lifecycle of one activation of a run, from RunStart to CommitFinished.
//!
//! The types enforce the order of the loop. A state with a duty has one transition out, and that transition takes the
//! proof of the duty: a [`Receipt`](super::checkpoint::Receipt) for a commit, a
//! [`GatePassed`](super::resume_tool_call::GatePassed) for the resume gate. From `CommitTool` a transition leads to
//! the gate and none to the model.

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
pub use guards::RunFlowError;
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
        /// The replay at the start must be committed.
        CommitReplay0 { .. },
        /// A step may begin.
        LoopTop,
        /// The resume gate before a step.
        ResumeToolCall { .. },
        /// The step is prepared, or the activation ends.
        StepPrepare,
        /// The model is called.
        LlmCall { .. },
        /// The model answered.
        AfterInference { .. },
        /// The answer must be committed.
        CommitAssistant { .. },
        /// The calls of the answer pass their gates and execute.
        ToolRound { .. },
        /// The results of the round must be committed.
        CommitTool { .. },
        /// The resume gate after a round.
        ResumeAfterTool { .. },
        /// A termination was requested.
        Terminate { .. },
        /// The answer has no tool calls: the natural end.
        NaturalEnd { .. },
        /// Calls are suspended and wait for decisions.
        Suspended { .. },
        /// The run was cancelled.
        Cancelled,
        /// The runtime failed.
        Error { .. },
        /// The activation is ending.
        RunEnd { .. },
        /// The end must be committed; this commit is forced.
        CommitFinished { .. },
    }
    event RunFlowEvent {
        /// The effects of the start are applied.
        Begin,
        /// A commit was made.
        Commit { .. },
        /// Calls were replayed at the start.
        Replay { .. },
        /// No call was replayed at the start.
        SkipReplay { .. },
        /// Calls are still suspended after the replay at the start.
        Stay { .. },
        /// The gate before the step opens.
        OpenGate,
        /// The gate before a step was passed.
        Pass { .. },
        /// The activation ends before a step.
        Stop { .. },
        /// The model is called.
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
        /// The round is complete.
        Complete { .. },
        /// Calls of the round are suspended.
        Park { .. },
        /// The round has results for the model.
        Next { .. },
        /// The activation begins to end.
        WindUp,
        /// The end is ready for its commit.
        Close,
        /// The runtime failed.
        Fail { .. },
        /// The run was cancelled.
        Cancel,
    }

    [*]             --> RunStart;
    RunStart        --> CommitUser      : begin(Begin);
    CommitUser      --> ResumeReplay0   : commit(Commit) else RunFlowError;
    ResumeReplay0   --> CommitReplay0   : replay(Replay) else RunFlowError;
    ResumeReplay0   --> LoopTop         : skip_replay(SkipReplay) else RunFlowError;
    CommitReplay0   --> LoopTop         : commit(Commit) else RunFlowError;
    CommitReplay0   --> Suspended       : stay(Stay) else RunFlowError;
    LoopTop         --> ResumeToolCall  : open_gate(OpenGate);
    ResumeToolCall  --> StepPrepare     : pass(Pass) else RunFlowError;
    StepPrepare     --> Terminate       : stop(Stop);
    StepPrepare     --> LlmCall         : infer(Infer) else RunFlowError;
    LlmCall         --> Error           : fail(Fail);
    LlmCall         --> Cancelled       : cancel(Cancel);
    LlmCall         --> AfterInference  : respond(Respond);
    AfterInference  --> CommitAssistant : accept(Accept);
    CommitAssistant --> Terminate       : halt(Halt) else RunFlowError;
    CommitAssistant --> NaturalEnd      : finish(Finish) else RunFlowError;
    CommitAssistant --> ToolRound       : call_tools(CallTools) else RunFlowError;
    ToolRound       --> Error           : fail(Fail);
    ToolRound       --> Cancelled       : cancel(Cancel);
    ToolRound       --> CommitTool      : complete(Complete) else RunFlowError;
    CommitTool      --> ResumeAfterTool : commit(Commit) else RunFlowError;
    ResumeAfterTool --> Suspended       : park(Park) else RunFlowError;
    ResumeAfterTool --> LoopTop         : next(Next) else RunFlowError;
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
    /// The record of an activation: the data that all its states share.
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

/// The id of one flow in memory, unique in this process. Two flows of runs with one name have different ids.
///
/// An [`ExecutionRecord`](super::tool_execution::ExecutionRecord::of) takes it. It is never stored: a restored flow
/// gets a new id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FlowId(pub(in crate::lifecycle) u64);

impl FlowRecord {
    /// Makes the record of an activation of a `Running` run.
    ///
    /// `steps` is the number of steps that the run took in earlier activations.
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
    pub fn assuming(mut self, id: FlowId) -> Self {
        self.nonce = Nonce::of(id.0);
        self
    }

    /// The run's id.
    pub fn run(&self) -> &str {
        &self.run
    }

    /// The number of the activation in its run, from 1.
    pub fn activation(&self) -> u32 {
        self.activation
    }

    /// The number of steps of the run, the current one included.
    pub fn step(&self) -> u32 {
        self.step
    }

    /// The requested reason to end before the next step, if any.
    pub fn stopping(&self) -> Option<&FinalReason> {
        self.stopping.as_ref()
    }

    /// The id of the flow, for the executions that belong to it.
    pub fn flow_id(&self) -> FlowId {
        FlowId(self.nonce.number())
    }

    /// The number that distinguishes this flow from all others, so that it refuses their receipts and proofs.
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

    /// A new activation has its first commit pending.
    fn created(&mut self, _: &'static Graph) {
        (self.gates, self.commits, self.stopping) = (0, 0, None);
    }
}
