//! The loop as a stream of its events.

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
use super::{ActivationError, Drive, Input, Io, Outcome};

/// Drives a run as [`run_loop`](super::run_loop) does, and gives its events while it goes on (document 000,
/// `run_loop_stream`). Decisions are taken in as they come: while the model speaks, and while tools execute. Where calls are not
/// replayed at once ([`ExecutionMode`](crate::agent::ExecutionMode)), each waits for the replay of the one before.
///
/// The stream drives the run: it goes on while somebody asks for events, and no faster. Those who must not hold it up give a
/// [`ReconnectableEventSink`](super::super::event::ReconnectableEventSink) to [`run_loop`](super::run_loop).
///
/// ```
/// use futures_util::StreamExt;
/// use runstate::agent::answer::{FinishReason, ModelEvent};
/// use runstate::agent::event::EventKind;
/// use runstate::agent::{Agent, InferenceRequest, Input, Io, Model, ModelStream, RunState, run_loop_stream};
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
/// let mut events = run_loop_stream(&agent, &mut state, Input::message("hi"), Io::new());
/// let mut text = String::new();
/// while let Some(event) = events.next().await {
///     if let EventKind::TextDelta { text: piece, .. } = &event.kind {
///         text.push_str(piece);
///     }
/// }
/// assert_eq!(text, "good morning");
/// assert_eq!(events.into_outcome().expect("it was read to its end")?.reason, TerminationReason::NaturalEnd);
///
/// // A run that cannot go on tells nothing, and says why at its end.
/// let mut events = run_loop_stream(&agent, &mut state, Input::Resume, Io::new());
/// assert!(events.next().await.is_none());
/// let error = events.into_outcome().expect("it was read to its end").unwrap_err();
/// assert!(error.to_string().starts_with("the run is Done: it is over"), "{error}");
/// # Ok(())
/// # }
/// ```
///
/// # Cancel safety
/// As `run_loop`: dropped, the run is an interrupted one.
pub fn run_loop_stream<'a>(
    agent: &Agent,
    state: &'a mut RunState,
    input: Input,
    mut io: Io<'a>,
) -> RunStream<'a> {
    let told = Arc::new(Told::default());
    let also = io.events.take();
    let sink = Arc::clone(&told);
    // Its own, so that the stream need not be gone before the agent is.
    let agent = agent.clone();
    let drive = async move {
        let tee = Tee { told: &sink, also, is_gone: AtomicBool::new(false) };
        let mut drive = Drive::new(&agent, state, io, Some(&tee), true);
        drive.reader = Some(&sink);
        drive.run(input).await
    };
    RunStream { told, drive: Some(Box::pin(drive)), ended: None }
}

/// The events of a run while it is driven; then its outcome.
#[must_use = "the run goes on while the stream is asked for events"]
pub struct RunStream<'a> {
    told: Arc<Told>,
    drive: Option<BoxFuture<'a, Result<Outcome, ActivationError>>>,
    ended: Option<Result<Outcome, ActivationError>>,
}

/// Told events that a loop goes on telling before those who ask for them read some.
const MOST_UNREAD: usize = 128;

/// Events that were told and not yet given on. The loop is not polled before they are gone, and it lets them be read where a model
/// that never waits has said a good many. So they are not many more than one round tells, however long the run.
#[derive(Default)]
pub(super) struct Told {
    events: Mutex<VecDeque<Arc<AgentEvent>>>,
    /// Nobody asks for events any more.
    is_deaf: AtomicBool,
}

impl Told {
    fn pop(&self) -> Option<Arc<AgentEvent>> {
        self.events.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
    }
}

impl Drive<'_, '_> {
    /// Lets those read who ask for the events of a stream, if many wait for them.
    pub(super) async fn let_read(&mut self) {
        let unread = |told: &Told| told.events.lock().unwrap_or_else(PoisonError::into_inner).len();
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
    told: &'a Told,
    also: Option<&'a dyn EventSink>,
    /// Has it panicked?
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
    /// How the run ended, once the stream has: none while it has events to give.
    pub fn into_outcome(self) -> Option<Result<Outcome, ActivationError>> {
        self.ended
    }

    /// Drives the run to its end, without looking at further events.
    ///
    /// # Errors
    /// Those of [`run_loop`](super::run_loop).
    ///
    /// # Cancel safety
    /// As `run_loop`.
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
