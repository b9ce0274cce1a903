//! The connections of a loop.

use std::fmt;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::super::commit::StateCommitter;
use super::super::decide::{Inbox, Judging};
use super::super::event::EventSink;
use super::super::{NoObservers, ObserverFactory};

/// The input of a loop.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Input {
    /// A message of the user. It begins a new run. A waiting run continues with the message, and its waiting calls
    /// are cancelled.
    Message(Arc<str>),
    /// No new message. A waiting run continues with the next decision. An interrupted run continues from the point of
    /// its interruption.
    Resume,
}

impl Input {
    /// Creates a message of the user.
    pub fn message(text: impl Into<Arc<str>>) -> Self {
        Input::Message(text.into())
    }
}

/// The connections of a loop. All of them are optional.
///
/// ```
/// use runstate_agent::answer::{FinishReason, ModelEvent};
/// use runstate_agent::{
///     Agent, CancellationToken, InferenceRequest, Input, RunHandles, MemoryCommitter, Model, ModelStream, RunState, inbox, run_loop,
/// };
/// use runstate::termination::TerminationReason;
///
/// struct Brief;
///
/// impl Model for Brief {
///     fn infer(&self, _: InferenceRequest) -> ModelStream<'_> {
///         Box::pin(futures_util::stream::iter([ModelEvent::Finish(FinishReason::Stop)]))
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let agent = Agent::builder(Brief).build()?;
/// let (_handle, mut decisions) = inbox();
/// let mut committer = MemoryCommitter::default();
/// let token = CancellationToken::new();
/// let io = RunHandles::new().committer(&mut committer).inbox(&mut decisions).cancelled_by(token.clone());
/// let mut state = RunState::new("r1");
/// assert_eq!(run_loop(&agent, &mut state, Input::message("hi"), io).await?.reason, TerminationReason::NaturalEnd);
/// assert_eq!(committer.restore()?.steps(), 1);
///
/// // A cancelled token ends the run before it asks the model.
/// token.cancel();
/// let mut state = RunState::new("r2");
/// let outcome = run_loop(&agent, &mut state, Input::message("hi"), RunHandles::new().cancelled_by(token)).await?;
/// assert_eq!((outcome.reason, state.steps()), (TerminationReason::Cancelled, 0));
///
/// // Without a commit, there is no run to restore.
/// assert_eq!(MemoryCommitter::default().restore().unwrap_err().to_string(), "nothing was committed");
/// # Ok(())
/// # }
/// ```
pub struct RunHandles<'a> {
    pub(super) committer: Option<&'a mut dyn StateCommitter>,
    pub(super) inbox: Option<&'a mut Inbox>,
    pub(super) events: Option<&'a dyn EventSink>,
    pub(super) cancelled: CancellationToken,
    pub(super) watch: &'a dyn ObserverFactory,
    pub(super) judging: Judging,
    pub(super) parks: bool,
}

impl<'a> RunHandles<'a> {
    /// Creates a set without connections.
    pub fn new() -> Self {
        RunHandles {
            committer: None,
            inbox: None,
            events: None,
            cancelled: CancellationToken::new(),
            watch: &NoObservers,
            judging: Judging::Here,
            parks: false,
        }
    }

    /// Sets the committer, which makes the state durable. Default: none.
    #[must_use]
    pub fn committer(mut self, committer: &'a mut dyn StateCommitter) -> Self {
        self.committer = Some(committer);
        self
    }

    /// Sets the inbox, which receives decisions. Default: none.
    #[must_use]
    pub fn inbox(mut self, inbox: &'a mut Inbox) -> Self {
        self.inbox = Some(inbox);
        self
    }

    /// Sets the sink of events. Default: none.
    #[must_use]
    pub fn events(mut self, events: &'a dyn EventSink) -> Self {
        self.events = Some(events);
        self
    }

    /// Declares that the decisions come from a store that has checked their expiry and results. The loop accepts each
    /// decision that answers an open question, however late, and expires no calls itself. So the loop and another
    /// process never disagree about the first decision. Default: the loop checks decisions.
    #[must_use]
    pub fn judged_in_store(mut self) -> Self {
        self.judging = Judging::InStore;
        self
    }

    /// Makes the loop return once the run waits, even if the agent's setting is to wait in place
    /// ([`WhenSuspended`](super::super::WhenSuspended)). A driver of many runs needs this. Default: the agent's
    /// setting applies.
    #[must_use]
    pub fn parking(mut self) -> Self {
        self.parks = true;
        self
    }

    /// Sets the cancellation token. Once it is cancelled, the run is cancelled, and all pending operations but a
    /// commit are dropped.
    #[must_use]
    pub fn cancelled_by(mut self, token: CancellationToken) -> Self {
        self.cancelled = token;
        self
    }

    /// Sets the observers of transitions. Default: none.
    #[must_use]
    pub fn watch(mut self, watch: &'a dyn ObserverFactory) -> Self {
        self.watch = watch;
        self
    }
}

impl Default for RunHandles<'_> {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for RunHandles<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunHandles")
            .field("committer", &self.committer.is_some())
            .field("inbox", &self.inbox.is_some())
            .field("events", &self.events.is_some())
            .field("cancelled", &self.cancelled.is_cancelled())
            .finish_non_exhaustive()
    }
}
