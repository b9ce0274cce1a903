//! The driver of a run: it asks models, tools, decisions and stores, and hands what they give to typed values.
//!
//! [`Agent::start`] begins a run, [`Agent::resume`] goes on with one that waits or that a crash left behind. Each is one
//! activation of document 000's "Run Execution Flow", non-stream. The order of things is not decided here: the states of
//! [`run_flow`](crate::run_flow) offer no other.

mod activation;
mod cancel;
mod commit;
mod decisions;
mod depth;
mod doubt;
mod gate;
mod history;
mod leftovers;
mod model;
mod outcome;
mod replay;
mod round;
mod sound;
mod state;
mod stored;
mod tool;

use crate::kernel::Observer;

pub use commit::{CommitError, NoCommitter, StateCommitter, commit};
pub use decisions::{DecisionSource, Incoming, NoDecisions, Pending, Reply};
pub use gate::{AllowAll, Gate, Verdict};
pub use history::{Entry, Message};
pub use model::{Model, ModelError};
pub use outcome::{ActivationError, Outcome, Unfinished};
pub use state::RunState;
pub use stored::{StateError, StoredRun};
pub use tool::{Effect, Tool, ToolInput};

/// Who watches the machines of a run: a recorder gives each an [`Observer`].
pub trait Watch {
    /// The observer of the machine of that lifecycle which traces call `instance`.
    fn observer(&self, lifecycle: &'static str, instance: &str) -> Observer;
}

/// Nobody watches.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unwatched;

impl Watch for Unwatched {
    fn observer(&self, _: &'static str, _: &str) -> Observer {
        Observer::default()
    }
}

/// What a run is driven with.
///
/// ```
/// use runstate::agent::*;
/// use runstate::termination::TerminationReason;
/// use runstate::turn::Turn;
///
/// struct Polite;
/// impl Model for Polite {
///     fn infer(&mut self, step: u32, _: &RunState) -> Result<Turn, ModelError> {
///         Ok(Turn { text: format!("hello in step {step}"), calls: vec![] })
///     }
/// }
///
/// let mut state = RunState::new("r1");
/// let mut agent = Agent {
///     model: &mut Polite,
///     tools: &mut [],
///     gate: &AllowAll,
///     decisions: &mut NoDecisions,
///     committer: &mut NoCommitter,
///     watch: &Unwatched,
///     cancelled: &|| false,
///     max_steps: Some(10),
/// };
/// let outcome = agent.start(&mut state, "hi")?;
/// assert_eq!(outcome.reason, TerminationReason::NaturalEnd);
///
/// // A run that is over is not started again.
/// assert!(matches!(agent.start(&mut state, "again"), Err(ActivationError::NotStartable { .. })));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[expect(missing_debug_implementations, reason = "its parts are trait objects of the caller's")]
pub struct Agent<'a> {
    /// Answers.
    pub model: &'a mut dyn Model,
    /// Can be called.
    pub tools: &'a mut [Box<dyn Tool>],
    /// Looks at each call before its tool executes.
    pub gate: &'a dyn Gate,
    /// Where decisions come in.
    pub decisions: &'a mut dyn DecisionSource,
    /// Makes state durable.
    pub committer: &'a mut dyn StateCommitter<RunState>,
    /// Records transitions.
    pub watch: &'a dyn Watch,
    /// Was the run cancelled? Asked at each place where the flow may be cancelled.
    pub cancelled: &'a dyn Fn() -> bool,
    /// The most steps of a run; reached, it ends as `stopped:max_rounds` (document 003, "Stop Conditions").
    pub max_steps: Option<u32>,
}

#[cfg(feature = "trace")]
impl Watch for crate::trace::Recorder {
    fn observer(&self, _: &'static str, instance: &str) -> Observer {
        Self::observer(self, instance)
    }
}
