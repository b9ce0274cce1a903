//! What a loop is connected to.

use std::fmt;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::super::commit::StateCommitter;
use super::super::decide::{Inbox, Judging};
use super::super::event::EventSink;
use super::super::{Unwatched, Watch};

/// What a loop begins with.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Input {
    /// The user wrote: a new run begins; one that waits goes on with it, and the calls it waited for are given up.
    Message(Arc<str>),
    /// A run that waits goes on with the next decision; one that was interrupted goes on from where it was.
    Resume,
}

impl Input {
    /// The user wrote this.
    pub fn message(text: impl Into<Arc<str>>) -> Self {
        Input::Message(text.into())
    }
}

/// What a loop is connected to: all of it is optional.
///
/// ```
/// use runstate::agent::answer::{FinishReason, ModelEvent};
/// use runstate::agent::{
///     Agent, CancellationToken, InferenceRequest, Input, Io, MemoryCommitter, Model, ModelStream, RunState, inbox, run_loop,
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
/// let io = Io::new().committer(&mut committer).inbox(&mut decisions).cancelled_by(token.clone());
/// let mut state = RunState::new("r1");
/// assert_eq!(run_loop(&agent, &mut state, Input::message("hi"), io).await?.reason, TerminationReason::NaturalEnd);
/// assert_eq!(committer.restore()?.steps(), 1);
///
/// // Cancelled, the run ends before it asks anything.
/// token.cancel();
/// let mut state = RunState::new("r2");
/// let outcome = run_loop(&agent, &mut state, Input::message("hi"), Io::new().cancelled_by(token)).await?;
/// assert_eq!((outcome.reason, state.steps()), (TerminationReason::Cancelled, 0));
///
/// // Without a committer there is nothing to come back to.
/// assert_eq!(MemoryCommitter::default().restore().unwrap_err().to_string(), "nothing was committed");
/// # Ok(())
/// # }
/// ```
pub struct Io<'a> {
    pub(super) committer: Option<&'a mut dyn StateCommitter>,
    pub(super) inbox: Option<&'a mut Inbox>,
    pub(super) events: Option<&'a dyn EventSink>,
    pub(super) cancelled: CancellationToken,
    pub(super) watch: &'a dyn Watch,
    pub(super) judging: Judging,
    pub(super) parks: bool,
}

impl<'a> Io<'a> {
    /// Connected to nothing.
    pub fn new() -> Self {
        Io {
            committer: None,
            inbox: None,
            events: None,
            cancelled: CancellationToken::new(),
            watch: &Unwatched,
            judging: Judging::Here,
            parks: false,
        }
    }

    /// Makes state durable with this.
    #[must_use]
    pub fn committer(mut self, committer: &'a mut dyn StateCommitter) -> Self {
        self.committer = Some(committer);
        self
    }

    /// Takes decisions from here.
    #[must_use]
    pub fn inbox(mut self, inbox: &'a mut Inbox) -> Self {
        self.inbox = Some(inbox);
        self
    }

    /// Tells events to this.
    #[must_use]
    pub fn events(mut self, events: &'a dyn EventSink) -> Self {
        self.events = Some(events);
        self
    }

    /// Decisions come from a store that has judged them: whether they are in time and fit what was asked for. The loop takes
    /// each that answers what its call waits on, however late, and gives up no call by itself. So a loop and a person in
    /// another process never disagree about who was first.
    #[must_use]
    pub fn judged_in_store(mut self) -> Self {
        self.judging = Judging::InStore;
        self
    }

    /// The loop returns once the run waits, also where the agent would have it wait in place
    /// ([`WhenSuspended`](super::super::WhenSuspended)): what drives many runs has no place for those that wait.
    #[must_use]
    pub fn parking(mut self) -> Self {
        self.parks = true;
        self
    }

    /// Cancels the run when this is cancelled: whatever is awaited then is dropped, but a commit.
    #[must_use]
    pub fn cancelled_by(mut self, token: CancellationToken) -> Self {
        self.cancelled = token;
        self
    }

    /// Tells transitions to this.
    #[must_use]
    pub fn watch(mut self, watch: &'a dyn Watch) -> Self {
        self.watch = watch;
        self
    }
}

impl Default for Io<'_> {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Io<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Io")
            .field("committer", &self.committer.is_some())
            .field("inbox", &self.inbox.is_some())
            .field("events", &self.events.is_some())
            .field("cancelled", &self.cancelled.is_cancelled())
            .finish_non_exhaustive()
    }
}
