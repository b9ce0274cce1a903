//! The driver of runs. It calls models, tools and stores, asks approvers, and passes the results to typed values. It
//! implements the two-layer loop.
//!
//! An [`Agent`] is the configuration of runs, and a [`RunState`] is a run. [`run_loop`] drives a run and returns its
//! [`Outcome`]. [`run_loop_stream`] returns the events of a run as they happen, and processes decisions as they
//! arrive. The order of operations is not decided here: the states of [`run_flow`](runstate::run_flow) permit only one.
//!
//! ```
//! use runstate_agent::answer::{FinishReason, ModelEvent};
//! use runstate_agent::{Agent, InferenceRequest, Input, RunHandles, Model, ModelStream, RunState, run_loop};
//! use runstate::termination::TerminationReason;
//!
//! struct Polite;
//!
//! impl Model for Polite {
//!     fn infer(&self, request: InferenceRequest) -> ModelStream<'_> {
//!         let text = format!("hello in step {}", request.step);
//!         Box::pin(futures_util::stream::iter([ModelEvent::Text(text), ModelEvent::Finish(FinishReason::Stop)]))
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let agent = Agent::builder(Polite).build()?;
//! let mut state = RunState::new("r1");
//! let outcome = run_loop(&agent, &mut state, Input::message("hi"), RunHandles::new()).await?;
//! assert_eq!(outcome.reason, TerminationReason::NaturalEnd);
//! assert_eq!(state.thread().last_answer().unwrap().text, "hello in step 1");
//!
//! // A run that is over cannot be started again.
//! let error = run_loop(&agent, &mut state, Input::message("again"), RunHandles::new()).await.unwrap_err();
//! assert_eq!(error.to_string(), "the run is Done: it is over; start a new run, on its thread if it is to go on from there");
//! # Ok(())
//! # }
//! ```
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod answer;
mod commit;
mod config;
mod decide;
mod depth;
mod drive;
pub mod event;
mod history;
pub mod keys;
mod model;
mod modes;
mod plugin;
mod preview;
mod schema;
mod state;
pub mod stop;
#[cfg(feature = "testing")]
pub mod testing;
mod thread;
mod tool;

use runstate::kernel::Observer;

pub use async_trait::async_trait;
pub use commit::{
    CommitError, Delta, FileCommitter, FileError, MemoryCommitter, RunFile, StateCommitter, read_run,
};
pub use config::{Agent, AgentBuilder, ConfigError};
pub use decide::{DecisionHandle, Inbox, Incoming, PendingCall, Reply, RunGone, inbox};
pub use drive::{
    ActivationError, Input, Outcome, RunHandles, RunStream, Unfinished, cancel_run, run_loop, run_loop_stream,
};
pub use history::{CallResult, History, Message, OpenCall, ResultContent};
pub use model::{InferenceRequest, Model, ModelError, ModelStream};
pub use modes::{Durability, ExecutionMode, SuspensionPolicy, WhenSuspended};
pub use plugin::{
    Approval, Approvals, EndedStep, ExecutedCall, GateCall, Phase, PhaseContext, Phases, Plugin, PluginError,
    Verdict,
};
pub use preview::Preview;
pub use runstate::tool_execution::Effect;
pub use schema::{SchemaCheck, Unchecked};
pub use state::{Pending, RunState, StateError, StoredRun};
pub use thread::Thread;
pub use tokio_util::sync::CancellationToken;
pub use tool::{Tool, ToolContext, ToolSpec, tool_fn};

/// Factory of observers for the machines of a run. A trace recorder gives each machine an [`Observer`].
pub trait ObserverFactory: Sync {
    /// Returns the observer of a machine. `instance` is the name of the machine in traces.
    fn observer(&self, lifecycle: &'static str, instance: &str) -> Observer;

    /// Returns whether observers are used. If not, the names of machines are not computed.
    fn is_watching(&self) -> bool {
        true
    }
}

/// Factory without observers.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoObservers;

impl ObserverFactory for NoObservers {
    fn observer(&self, _: &'static str, _: &str) -> Observer {
        Observer::default()
    }

    fn is_watching(&self) -> bool {
        false
    }
}

impl ObserverFactory for runstate::trace::Recorder {
    fn observer(&self, _: &'static str, instance: &str) -> Observer {
        Self::observer(self, instance)
    }
}

/// The ids of questions, for the crate of scenarios.
#[doc(hidden)]
pub mod for_scenarios {
    use serde_json::Value;

    use super::Preview;

    /// The suffix of the id of a question about a call with that preview.
    pub fn question_word(bound_to: Option<&Value>, preview: &Preview) -> String {
        super::plugin::question_word(bound_to, preview)
    }
}

/// The parts of a stored run, for the crate of stores.
#[doc(hidden)]
pub mod for_stores {
    pub use super::decide::{Board, CallNow, Question, fits, well_formed};
    pub use super::state::{Core, RunParts};
    pub use super::tool::asked_in;
}

/// The examples of the README, compiled and run as doc tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
