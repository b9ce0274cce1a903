//! The loop as a stream of events.

use std::collections::VecDeque;
use std::fmt;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use futures_core::Stream;
use futures_util::future::BoxFuture;

use super::super::config::Agent;
use super::super::event::{AgentEvent, EventSink};
use super::super::state::RunState;
use super::{ActivationError, Drive, Input, Outcome, RunHandles};

/// Drives a run as [`run_loop`](super::run_loop) does, and returns its events as a stream. Decisions are processed as
/// they arrive: while the model answers, and while tools execute. If the
/// [`ExecutionMode`](crate::ExecutionMode) is not concurrent, each decision waits for the replay of the
/// previous one.
///
/// Reading the stream drives the run, so a slow reader slows the run down. For readers that must not slow the run
/// down, [`run_loop`](super::run_loop) with a [`ReconnectableEventSink`](super::super::event::ReconnectableEventSink)
/// is available.
///
/// ```
/// use futures_util::StreamExt;
/// use runstate_agent::answer::{FinishReason, ModelEvent};
/// use runstate_agent::event::EventKind;
/// use runstate_agent::{Agent, InferenceRequest, Input, RunHandles, Model, ModelStream, RunState, run_loop_stream};
/// use runstate::termination::TerminationReason;
///
/// struct Polite;
///
/// impl Model for Polite {
///     fn infer(&self, _: InferenceRequest) -> ModelStream<'_> {
///         let said = ["good ", "morning"].map(|text| ModelEvent::Text(text.to_owned()));
///         Box::pin(futures_util::stream::iter(said.into_iter().chain([ModelEvent::Finish(FinishReason::Stop)])))
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let agent = Agent::builder(Polite).build()?;
/// let mut state = RunState::new("r1");
/// let mut events = run_loop_stream(&agent, &mut state, Input::message("hi"), RunHandles::new());
/// let mut text = String::new();
/// while let Some(event) = events.next().await {
///     if let EventKind::TextDelta { text: piece, .. } = &event.kind {
///         text.push_str(piece);
///     }
/// }
/// assert_eq!(text, "good morning");
/// assert_eq!(events.into_outcome().expect("it was read to its end")?.reason, TerminationReason::NaturalEnd);
///
/// // A run that cannot continue gives no events, and an error as its outcome.
/// let mut events = run_loop_stream(&agent, &mut state, Input::Resume, RunHandles::new());
/// assert!(events.next().await.is_none());
/// let error = events.into_outcome().expect("it was read to its end").unwrap_err();
/// assert!(error.to_string().starts_with("the run is Done: it is over"), "{error}");
/// # Ok(())
/// # }
/// ```
///
/// # Cancel safety
/// If the stream is dropped, the run is an interrupted run, as with `run_loop`.
pub fn run_loop_stream<'a>(
    agent: &Agent,
    state: &'a mut RunState,
    input: Input,
    mut io: RunHandles<'a>,
) -> RunStream<'a> {
    let told = Arc::new(UnreadEvents::default());
    let also = io.events.take();
    let sink = Arc::clone(&told);
    // A clone, so that the agent may be dropped before the stream.
    let agent = agent.clone();
    let drive = async move {
        let tee = Tee { told: &sink, also, is_gone: AtomicBool::new(false) };
        let mut drive = Drive::new(&agent, state, io, Some(&tee), true);
        drive.reader = Some(&sink);
        drive.run(input).await
    };
    RunStream { told, drive: Some(Box::pin(drive)), ended: None }
}

/// The events of a run during its execution, followed by its outcome.
#[must_use = "the run goes on while the stream is asked for events"]
pub struct RunStream<'a> {
    told: Arc<UnreadEvents>,
    drive: Option<BoxFuture<'a, Result<Outcome, ActivationError>>>,
    ended: Option<Result<Outcome, ActivationError>>,
}

/// The number of unread events at which the loop yields to the reader.
const MOST_UNREAD: usize = 128;

/// Events that were emitted and not read yet. The loop is not polled while unread events remain. It also yields to
/// the reader when a model without pauses has emitted [`MOST_UNREAD`] events. So the number of unread events stays
/// bounded, however long the run is.
#[derive(Default)]
pub(super) struct UnreadEvents {
    events: Mutex<VecDeque<Arc<AgentEvent>>>,
    /// Whether the reader has stopped reading events.
    is_deaf: AtomicBool,
}

impl UnreadEvents {
    fn pop(&self) -> Option<Arc<AgentEvent>> {
        self.events.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
    }
}

impl Drive<'_, '_> {
    /// Yields to the reader of the stream if many events are unread.
    pub(super) async fn let_read(&mut self) {
        let unread = |told: &UnreadEvents| told.events.lock().unwrap_or_else(PoisonError::into_inner).len();
        if self.reader.is_none_or(|told| unread(told) < MOST_UNREAD) {
            return;
        }
        let mut yielded = false;
        std::future::poll_fn(|cx| {
            if std::mem::replace(&mut yielded, true) {
                return Poll::Ready(());
            }
            cx.waker().wake_by_ref();
            Poll::Pending
        })
        .await;
    }
}

struct Tee<'a> {
    told: &'a UnreadEvents,
    also: Option<&'a dyn EventSink>,
    /// Whether `also` has panicked.
    is_gone: AtomicBool,
}

impl EventSink for Tee<'_> {
    fn emit(&self, event: &Arc<AgentEvent>) {
        if !self.told.is_deaf.load(Ordering::Relaxed) {
            let mut events = self.told.events.lock().unwrap_or_else(PoisonError::into_inner);
            events.push_back(Arc::clone(event));
        }
        if let Some(also) = self.also
            && !self.is_gone.swap(true, Ordering::Relaxed)
        {
            also.emit(event);
            self.is_gone.store(false, Ordering::Relaxed);
        }
    }
}

impl RunStream<'_> {
    /// The outcome of the run; `None` while the stream has events left.
    pub fn into_outcome(self) -> Option<Result<Outcome, ActivationError>> {
        self.ended
    }

    /// Drives the run to its end, and discards the remaining events.
    ///
    /// # Errors
    /// The errors of [`run_loop`](super::run_loop).
    ///
    /// # Cancel safety
    /// See `run_loop`.
    pub async fn outcome(mut self) -> Result<Outcome, ActivationError> {
        if let Some(ended) = self.ended.take() {
            return ended;
        }
        self.told.is_deaf.store(true, Ordering::Relaxed);
        match self.drive.take() {
            Some(drive) => drive.await,
            None => unreachable!("a loop that is not driven any more has ended"),
        }
    }
}

impl Stream for RunStream<'_> {
    type Item = Arc<AgentEvent>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Arc<AgentEvent>>> {
        if let Some(event) = self.told.pop() {
            return Poll::Ready(Some(event));
        }
        let Some(drive) = &mut self.drive else { return Poll::Ready(None) };
        let polled = drive.as_mut().poll(cx);
        if let Poll::Ready(ended) = polled {
            self.drive = None;
            self.ended = Some(ended);
            return Poll::Ready(self.told.pop());
        }
        match self.told.pop() {
            Some(event) => Poll::Ready(Some(event)),
            None => Poll::Pending,
        }
    }
}

impl fmt::Debug for RunStream<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunStream").field("ended", &self.ended).finish_non_exhaustive()
    }
}
