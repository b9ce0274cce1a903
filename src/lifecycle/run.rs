//! The lifecycle of a run.

use std::error::Error;
use std::fmt;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use super::checkpoint::{Due, Receipt, Trigger, WrongReceipt};
use super::decision::Decision;
use super::nonce::Nonce;
use super::record::record;
use super::termination::TerminationReason;
use crate::kernel::{Begin, Enter, Graph, Guard, Observer, Record};
use crate::lifecycle;

lifecycle! {
    /// A run: coarse, and what is persisted of it at `__run`.
    pub mod run: Run(RunRecord), AnyRun;
    version 1;
    diagram "../../docs/lifecycles/run.md";

    status RunStatus {
        /// An activation is executing: inference or tools.
        Running { .. },
        /// Paused: calls wait for decisions.
        Waiting { .. },
        /// Over, for a reason.
        Done { .. },
    }
    event RunEvent {
        /// The activation ended with suspended calls.
        Wait { .. },
        /// An event lets the run continue.
        Resume { .. },
        /// The run is over.
        Finish { .. },
    }

    [*]     --> Running;
    Running --> Waiting : wait(Wait) else NothingToWaitFor;
    Running --> Done    : finish(Finish) else NotFinal;
    Waiting --> Running : resume(Resume);
    Waiting --> Done    : finish(Finish) else NotFinal;
    Done    --> [*];
}

record! { AnyRun:
    /// The record of a run: the data that all its states share.
    pub struct RunRecord {
        id: String,
        activations: u32,
        #[serde(skip)]
        nonce: Nonce,
        #[serde(skip)]
        observer: Observer,
    }
}

impl RunRecord {
    /// Makes the record of a new run, in its first activation.
    pub fn new(id: impl Into<String>) -> Self {
        RunRecord { id: id.into(), activations: 1, nonce: Nonce::default(), observer: Observer::default() }
    }

    /// Sets the observer of all transitions. Default: none.
    #[must_use]
    pub fn observed(mut self, observer: Observer) -> Self {
        self.observer = observer;
        self
    }

    /// The run's id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The number of activations, the current one included.
    pub fn activations(&self) -> u32 {
        self.activations
    }
}

impl Record for RunRecord {
    #[inline]
    fn observer(&mut self) -> Option<&mut Observer> {
        Some(&mut self.observer)
    }

    /// A new run is in its first activation.
    fn created(&mut self, _: &'static Graph) {
        self.activations = 1;
    }

    fn check_stored(&self, _: &'static str) -> Result<(), String> {
        if self.activations > 0 {
            Ok(())
        } else {
            Err("a run has had one activation or more, got 0".to_owned())
        }
    }
}

/// An activation is executing, with its cause.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Running {
    cause: Cause,
}

/// The cause of an activation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// The run was created.
    Created,
    /// A decision on a suspended call of the run was accepted.
    Decided {
        /// The trace name of the call.
        call: String,
        /// The id of the decision.
        decision_id: String,
    },
    /// A user message arrived while the run waited. Its suspended calls are superseded.
    UserMessage,
}

/// Paused: these calls wait for decisions.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Waiting {
    #[serde(deserialize_with = "some_calls")]
    calls: Vec<String>,
}

/// Reads the suspended calls and refuses an empty list. A run without a suspended call would wait for ever.
pub(super) fn some_calls<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let calls = Vec::deserialize(deserializer)?;
    if calls.is_empty() { Err(D::Error::custom(NothingToWaitFor)) } else { Ok(calls) }
}

/// Over, with a final reason.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Done {
    #[serde(deserialize_with = "final_reason")]
    reason: TerminationReason,
}

fn final_reason<'de, D: Deserializer<'de>>(deserializer: D) -> Result<TerminationReason, D::Error> {
    let reason = TerminationReason::deserialize(deserializer)?;
    ends_a_running_run(&reason).map_err(D::Error::custom)?;
    Ok(reason)
}

/// The activation ended with suspended calls.
#[derive(Debug, Clone, PartialEq)]
pub struct Wait {
    calls: Vec<String>,
}

impl Wait {
    /// Waits for these calls, given by their trace names.
    pub fn new(calls: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Wait { calls: calls.into_iter().map(Into::into).collect() }
    }
}

/// The cause that lets a waiting run continue.
#[derive(Debug, Clone, PartialEq)]
pub struct Resume {
    cause: Cause,
}

impl Resume {
    /// Resumes by an accepted decision on a call, given by its trace name.
    pub fn decided(call: impl Into<String>, decision: &Decision) -> Self {
        Resume { cause: Cause::Decided { call: call.into(), decision_id: decision.decision_id.clone() } }
    }

    /// Resumes by a user message.
    pub fn user_message() -> Self {
        Resume { cause: Cause::UserMessage }
    }
}

/// The run is over.
#[derive(Debug, Clone, PartialEq)]
pub struct Finish {
    reason: TerminationReason,
}

impl Finish {
    /// Ends the run for this reason.
    pub fn new(reason: TerminationReason) -> Self {
        Finish { reason }
    }
}

/// The error for a wait without a suspended call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NothingToWaitFor;

impl fmt::Display for NothingToWaitFor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a run waits for at least one suspended call, and none was named")
    }
}

impl Error for NothingToWaitFor {}

/// The error for a reason that cannot end a run in its current state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotFinal {
    got: TerminationReason,
    expected: &'static str,
}

impl fmt::Display for NotFinal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "'{}' does not end a run here; expected {}", self.got, self.expected)
    }
}

impl Error for NotFinal {}

impl Guard<Running, Wait> for Waiting {
    type Error = NothingToWaitFor;
    fn check(_: &Running, event: &Wait, _: &RunRecord) -> Result<(), NothingToWaitFor> {
        if event.calls.is_empty() { Err(NothingToWaitFor) } else { Ok(()) }
    }
}

impl Guard<Running, Finish> for Done {
    type Error = NotFinal;
    fn check(_: &Running, event: &Finish, _: &RunRecord) -> Result<(), NotFinal> {
        ends_a_running_run(&event.reason)
    }
}

fn ends_a_running_run(reason: &TerminationReason) -> Result<(), NotFinal> {
    match reason.to_run_status() {
        RunStatus::Done => Ok(()),
        RunStatus::Running | RunStatus::Waiting => {
            Err(NotFinal { got: reason.clone(), expected: "any reason but suspended, with which it waits" })
        }
    }
}

impl Guard<Waiting, Finish> for Done {
    type Error = NotFinal;
    fn check(_: &Waiting, event: &Finish, _: &RunRecord) -> Result<(), NotFinal> {
        match event.reason {
            TerminationReason::Cancelled | TerminationReason::Error(_) => Ok(()),
            TerminationReason::NaturalEnd
            | TerminationReason::BehaviorRequested
            | TerminationReason::Stopped(_)
            | TerminationReason::Blocked(_)
            | TerminationReason::Suspended => Err(NotFinal {
                got: event.reason.clone(),
                expected: "cancelled or error, since the run waits",
            }),
        }
    }
}

impl Begin for Running {
    fn begin(_: &mut RunRecord) -> Self {
        Running { cause: Cause::Created }
    }
}

impl Enter<Waiting, Resume> for Running {
    fn enter(_: Waiting, event: Resume, run: &mut RunRecord) -> Self {
        run.activations += 1;
        Running { cause: event.cause }
    }
}

impl Enter<Running, Wait> for Waiting {
    fn enter(_: Running, event: Wait, _: &mut RunRecord) -> Self {
        Waiting { calls: event.calls }
    }
}

impl<S> Enter<S, Finish> for Done {
    fn enter(_: S, event: Finish, _: &mut RunRecord) -> Self {
        Done { reason: event.reason }
    }
}

impl Run<Running> {
    /// The cause of this activation.
    pub fn cause(&self) -> &Cause {
        &self.state().cause
    }
}

impl Run<Waiting> {
    /// The trace names of the suspended calls; at least one.
    pub fn calls(&self) -> &[String] {
        &self.state().calls
    }

    /// The pending commit of an end that the activation could not commit, because it was cut off in its last commit.
    pub fn due(&self) -> Due {
        end_outside(self.record())
    }

    /// Checks the receipt for [`due`](Self::due).
    ///
    /// # Errors
    /// [`WrongReceipt`] when the receipt is for another commit.
    pub fn committed(&self, receipt: &Receipt) -> Result<(), WrongReceipt> {
        self.due().is_met_by(receipt)
    }
}

/// The end commit of this run in memory. The commits of activations have numbers from 1.
fn end_outside(run: &RunRecord) -> Due {
    Due::of_flow(Trigger::RunFinished, 0).within(run.nonce.number())
}

impl Run<Done> {
    /// The reason of the end.
    pub fn reason(&self) -> &TerminationReason {
        &self.state().reason
    }

    /// The pending commit of an end outside an activation, such as a cancellation while the run waited.
    pub fn due(&self) -> Due {
        end_outside(self.record())
    }

    /// Checks the receipt for [`due`](Self::due).
    ///
    /// # Errors
    /// [`WrongReceipt`] when the receipt is for another commit.
    pub fn committed(&self, receipt: &Receipt) -> Result<(), WrongReceipt> {
        self.due().is_met_by(receipt)
    }
}

/// A run after an activation.
#[derive(Debug)]
pub enum Ended {
    /// The run waits for decisions.
    Waiting(Run<Waiting>),
    /// The run is over.
    Done(Run<Done>),
}

impl From<Ended> for AnyRun {
    fn from(ended: Ended) -> Self {
        match ended {
            Ended::Waiting(run) => run.into(),
            Ended::Done(run) => run.into(),
        }
    }
}

impl Run<Running> {
    /// Ends the activation. The reason decides between waiting and done, as [`TerminationReason::to_run_status`] maps
    /// it.
    ///
    /// `calls` are the trace names of the suspended calls. Only [`TerminationReason::Suspended`] needs them.
    ///
    /// # Errors
    /// [`NothingToWaitFor`], with the run, when the reason is `Suspended` and `calls` is empty.
    pub fn end_activation(
        self,
        reason: TerminationReason,
        calls: impl IntoIterator<Item = impl Into<String>>,
    ) -> Result<Ended, (Self, NothingToWaitFor)> {
        match reason.to_run_status() {
            RunStatus::Waiting => match self.wait(Wait::new(calls)) {
                Ok(run) => Ok(Ended::Waiting(run)),
                Err(rejected) => Err((rejected.machine, rejected.error)),
            },
            RunStatus::Running | RunStatus::Done => match self.finish(Finish::new(reason)) {
                Ok(run) => Ok(Ended::Done(run)),
                // The guard refuses only `Suspended`, and `Suspended` took the other branch.
                Err(rejected) => unreachable!("{}", rejected.error),
            },
        }
    }
}
