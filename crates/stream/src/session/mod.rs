//! One session: the typed lifecycle, with the I/O that its states need.

mod attempt;
mod collect;
mod end;
mod phase;
mod read;

use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_core::Stream;
use phase::Phase;
use runstate::stream_session::{
    AnyStreamSession, Checkpoint, SessionRecord, StreamSession, StreamSessionStatus,
};
use runstate_runtime::clock::{Clock, TokioClock};

use super::abort::{AbortHandle, AbortSignal};
use super::builder::{Config, SessionBuilder};
use super::checks::Checks;
use super::dispatch::Dispatcher;
use super::event::{Event, Identity};
use super::finish::Finishes;
use super::random::Random;
use super::record::{Log, Recording};
use super::retry::{CalculateDelay, Delays, ShouldRetry};
use super::source::{Factory, factory};
use super::wait::Wait;
use super::{
    Callbacks, Continuation, Opening, Overlap, RetryPolicy, SessionError, SourceError, State, StreamEvent,
    Timeouts,
};

/// Number of events after which a session yields to other tasks, if its stream never makes it wait.
const TURN: u32 = 128;

/// A session with a model's stream, and the stream of its events.
///
/// The session is polled as a [`Stream`], or driven by [`run`](Self::run). It opens streams, reads them, and
/// leads the typed [`StreamSession`] through its states, so that only transitions of the lifecycle are
/// possible. Dropping a session before its end aborts it, like its [handle](Self::abort_handle).
///
/// # Cancel safety
/// The session holds all of its state: a dropped `next` or [`run`](Self::run) loses nothing, and the next call
/// continues.
///
/// # Panics
/// Panics if it has to wait outside of a tokio runtime with time.
pub struct Session<C: Callbacks = ()> {
    phase: Phase,
    core: Core<C>,
}

/// The data of a session apart from its state.
struct Core<C> {
    dispatch: Dispatcher<C>,
    streams: Vec<Factory>,
    fallbacks: u32,
    retry: RetryPolicy,
    delays: Delays,
    should_retry: Option<ShouldRetry>,
    finishes: Finishes,
    calculate_delay: Option<CalculateDelay>,
    checks: Checks,
    continuation: Option<Continuation>,
    /// Tokens until the next checkpoint; none without checkpoints.
    until_checkpoint: Option<u32>,
    /// The filter for the repetition of the checkpoint, until its length is known.
    overlap: Option<Overlap>,
    timeouts: Timeouts,
    wait: Wait,
    /// Whether the attempt gave any output yet.
    any_output: bool,
    require_complete: bool,
    abort: AbortSignal,
    /// Events emitted since the session last waited.
    told: u32,
}

impl Session {
    /// Starts the configuration of a session. Its events carry `stream_id`; `open` opens its primary stream,
    /// once for each attempt.
    ///
    /// The factory is async and may fail. Its failure is handled like a failure of an open stream.
    pub fn builder<F, Fut, S, E, O>(stream_id: impl Into<String>, open: F) -> SessionBuilder
    where
        F: FnMut(Opening) -> Fut + Send + 'static,
        Fut: Future<Output = Result<S, O>> + Send + 'static,
        S: Stream<Item = Result<StreamEvent, E>> + Send + 'static,
        E: Into<SourceError> + 'static,
        O: Into<SourceError>,
    {
        SessionBuilder::new(stream_id.into(), factory(open))
    }
}

impl<C: Callbacks> Session<C> {
    pub(super) fn new(config: Config, callbacks: C) -> Self {
        let fallbacks = u32::try_from(config.streams.len().saturating_sub(1)).unwrap_or(u32::MAX);
        let record = SessionRecord::new(config.stream_id.as_str(), fallbacks).observed(config.observer);
        let clock: Box<dyn Clock> = config.clock.unwrap_or_else(|| Box::new(TokioClock::starting_at(0)));
        let seed = config.seed.unwrap_or_else(|| Random::seed_of(&config.stream_id));
        let identity = Identity { stream_id: config.stream_id, meta: config.meta };
        let until_checkpoint = config.continuation.as_ref().map(|continuation| continuation.every.get());
        Session {
            phase: Phase::Fresh(StreamSession::new(record)),
            core: Core {
                dispatch: Dispatcher::new(callbacks, clock, identity, config.record.then(Log::default)),
                streams: config.streams,
                fallbacks,
                delays: Delays::new(config.retry.backoff, seed),
                retry: config.retry,
                should_retry: config.should_retry,
                finishes: config.finishes,
                calculate_delay: config.calculate_delay,
                checks: Checks::new(
                    config.rules,
                    config.drift,
                    config.drift_every,
                    config.zero_output,
                    config.fit,
                ),
                continuation: config.continuation,
                until_checkpoint,
                overlap: None,
                timeouts: config.timeouts,
                wait: Wait::default(),
                any_output: false,
                require_complete: config.require_complete,
                abort: AbortSignal::new(AbortHandle::default(), config.cancel),
                told: 0,
            },
        }
    }

    /// Drives the session to its end. Events go to the callbacks and the record.
    ///
    /// # Errors
    /// The failure that ended the session without a whole output.
    ///
    /// # Panics
    /// Panics if it has to wait outside of a tokio runtime with time.
    ///
    /// # Cancel safety
    /// Like [`Session`]: a call after a dropped future continues the session.
    pub async fn run(&mut self) -> Result<Arc<State>, SessionError> {
        loop {
            if poll_fn(|cx| self.poll_event(cx)).await.is_none() {
                return match self.phase.ended() {
                    Some(Ok(state)) => Ok(Arc::clone(state)),
                    Some(Err(error)) => Err(error.clone()),
                    None => panic!("the session lost its state in an earlier panic"),
                };
            }
        }
    }

    /// Returns a handle that aborts the session from any thread.
    pub fn abort_handle(&self) -> AbortHandle {
        self.core.abort.handle().clone()
    }

    /// Returns the result of the session; none before its end.
    pub fn result(&self) -> Option<Result<&Arc<State>, &SessionError>> {
        self.phase.ended()
    }

    /// Returns the typed session in its last state; none before the end.
    pub fn ended(&self) -> Option<&AnyStreamSession> {
        match &self.phase {
            Phase::Ended(session, _) => Some(session),
            _ => None,
        }
    }

    /// Returns the state of the lifecycle.
    pub fn status(&self) -> StreamSessionStatus {
        self.phase.status()
    }

    /// Returns the content. Once a new attempt begins, it contains no text of failed attempts except the
    /// checkpoint.
    pub fn content(&self) -> &str {
        self.phase.output().map(|output| output.content()).unwrap_or_default()
    }

    /// Returns the checkpoint that a later attempt would continue from. Returns `None` if it belongs to an
    /// output that failed a rule or that a filter of the provider stopped. The typed session of
    /// [`ended`](Self::ended) still holds such a checkpoint.
    pub fn checkpoint(&self) -> Option<Checkpoint<'_>> {
        let checkpoint = self.phase.output()?.checkpoint()?;
        (!self.core.dispatch.ledger.is_spoilt).then_some(checkpoint)
    }

    /// Returns the callbacks.
    pub fn callbacks(&self) -> &C {
        &self.core.dispatch.callbacks
    }

    /// Returns how many calls of callbacks panicked. A panic does not end the session.
    pub fn callback_panics(&self) -> u64 {
        self.core.dispatch.panics()
    }

    /// Returns a copy of the record so far; none if [recording is off](SessionBuilder::without_recording).
    pub fn recording(&self) -> Option<Recording> {
        let Identity { stream_id, meta } = self.core.dispatch.identity();
        let log = self.core.dispatch.log.as_ref()?;
        Some(Recording::new(stream_id, meta, self.core.fallbacks, log))
    }

    /// Polls the next event. The order is fixed: queued events, then an abort, then the state.
    fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Option<Event>> {
        loop {
            if let Some(event) = self.core.dispatch.next() {
                return Poll::Ready(Some(event));
            }
            if self.core.abort.is_aborted() && !self.phase.is_over() {
                self.aborted();
                continue;
            }
            // A stream that is always ready must not keep the task for itself.
            self.core.told += 1;
            if self.core.told > TURN {
                self.core.told = 0;
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
            match self.step(cx) {
                Step::Moved => {}
                Step::Over => return Poll::Ready(None),
                Step::Waits => {
                    self.core.told = 0;
                    // An abort in the meantime is handled in the next turn of the loop.
                    if !self.core.abort.register(cx) {
                        return Poll::Pending;
                    }
                }
            }
        }
    }

    fn step(&mut self, cx: &mut Context<'_>) -> Step {
        match &mut self.phase {
            Phase::Fresh(_) => self.begin(),
            Phase::Opening(..) => return self.poll_opening(cx),
            Phase::Reading(..) => return self.poll_source(cx),
            Phase::BackingOff(_, back_off) => {
                if back_off.poll(cx).is_pending() {
                    return Step::Waits;
                }
                self.try_again();
            }
            Phase::FallingBack(_) => self.fall_back(),
            Phase::Ended(..) | Phase::Lost => return Step::Over,
        }
        Step::Moved
    }
}

/// Result of polling a state.
enum Step {
    /// An event was emitted, or the state changed.
    Moved,
    /// The session waits, and the task will be woken.
    Waits,
    /// The session is over.
    Over,
}

/// Converts to whole milliseconds.
fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

impl<C: Callbacks> Stream for Session<C> {
    type Item = Event;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Event>> {
        self.get_mut().poll_event(cx)
    }
}

/// A session pins only data behind pointers.
impl<C: Callbacks> Unpin for Session<C> {}

/// Dropping a session between its start and its end aborts it.
impl<C: Callbacks> Drop for Session<C> {
    fn drop(&mut self) {
        if !matches!(self.phase, Phase::Fresh(_)) && !self.phase.is_over() {
            self.aborted();
        }
    }
}

impl<C: Callbacks> fmt::Debug for Session<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session")
            .field("stream_id", &self.core.dispatch.identity().stream_id)
            .field("status", &self.status())
            .finish_non_exhaustive()
    }
}
