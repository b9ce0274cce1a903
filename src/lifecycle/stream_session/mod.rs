//! One session with a model's stream (document 002).
//!
//! | state | what is true | what leads on |
//! |---|---|---|
//! | [`Init`] | nothing was opened yet | [`Open`] |
//! | [`Streaming`] | a stream is open and tokens arrive | [`Retry`], [`FallBack`], [`Complete`], [`Fail`] |
//! | [`Retrying`] | an attempt failed, the same stream is tried again | [`Open`] |
//! | [`FallingBack`] | a stream was given up for the next one | [`Open`] |
//! | [`Completed`] | the output is whole | |
//! | [`Errored`] | the session ended without a whole output | |
//!
//! ```
//! use runstate::stream_session::*;
//!
//! let session = StreamSession::new(SessionRecord::new("stream_1", 1));
//! let mut session = session.open(Open::Stream);
//! session.receive("Hel")?;
//! session.save_checkpoint();
//! session.receive("zzz")?;
//!
//! // The attempt fails; the next one goes on from the checkpoint.
//! let error = StreamError::new(ErrorCode::NetworkError, "connection reset");
//! let session = session.retry(Retry::new(RetryKind::Network, error)).unwrap();
//! let mut session = session.open(Open::Stream);
//! assert_eq!(session.state().attempt().number(), 2);
//! session.receive("lo")?;
//! let session = session.complete(Complete).unwrap();
//! assert_eq!(session.state().output().content(), "Hello");
//! # Ok::<(), StreamSessionError>(())
//! ```

mod attempt;
mod error;
mod output;
mod states;

use serde::{Deserialize, Serialize};

use super::record::record;
use crate::kernel::{Graph, Guard, Observer, Record, Rejected};
use crate::lifecycle;

pub use attempt::Attempt;
pub use error::{ErrorCode, StreamError, StreamSessionError};
pub use output::{Checkpoint, Output};
pub use states::{Completed, Errored, FallingBack, Retrying, Streaming};

lifecycle! {
    /// One session with a model's stream: attempts, retries, fallback streams, and one end.
    pub mod stream_session: StreamSession(SessionRecord), AnyStreamSession;
    version 1;
    diagram "../../../docs/lifecycles/stream-session.md";

    status StreamSessionStatus {
        /// The session exists, no stream was opened.
        Init = "INIT",
        /// A stream is open and tokens arrive, or the session is on its way to be aborted.
        Streaming { .. } = "STREAMING",
        /// An attempt failed; the same stream will be opened again.
        Retrying { .. } = "RETRYING",
        /// A stream was given up; the next one will be opened.
        FallingBack { .. } = "FALLBACK",
        /// The stream ended well and the output is whole.
        Completed { .. } = "COMPLETE",
        /// The session ended without a whole output.
        Errored { .. } = "ERROR",
    }
    event StreamSessionEvent {
        /// A stream is opened, or the session is entered only to be aborted.
        Open { .. },
        /// The attempt failed and the same stream is tried again.
        Retry { .. },
        /// The attempt failed and the next stream is tried.
        FallBack { .. },
        /// The stream ended well.
        Complete,
        /// The session ends with an error.
        Fail { .. },
    }

    [*]         --> Init;
    Init        --> Streaming   : open(Open);
    Streaming   --> Retrying    : retry(Retry)        else StreamSessionError;
    Streaming   --> FallingBack : fall_back(FallBack) else StreamSessionError;
    Streaming   --> Completed   : complete(Complete)  else StreamSessionError;
    Streaming   --> Errored     : fail(Fail)          else StreamSessionError;
    Retrying    --> Streaming   : open(Open);
    FallingBack --> Streaming   : open(Open);
    Completed   --> [*];
    Errored     --> [*];
}

record! { AnyStreamSession:
    /// What all states of a session share.
    pub struct SessionRecord {
        stream_id: String,
        fallbacks: u32,
        retries: Retries,
        #[serde(skip)]
        observer: Observer,
    }
}

/// How many retries a session has spent (C10): what a driver holds against its budgets.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Retries {
    /// Retries of kind [`RetryKind::Model`] on the current stream; a fallback starts again at 0.
    pub model: u32,
    /// Retries of every kind, over all streams of the session.
    pub total: u32,
}

impl SessionRecord {
    /// The record of a session that has, beside its primary stream, `fallbacks` streams to fall back to.
    ///
    /// `stream_id` is the id that all events of the session carry (document 002, "Event Dispatcher").
    pub fn new(stream_id: impl Into<String>, fallbacks: u32) -> Self {
        SessionRecord {
            stream_id: stream_id.into(),
            fallbacks,
            retries: Retries::default(),
            observer: Observer::default(),
        }
    }

    /// The same, with someone told of each transition.
    pub fn observed(mut self, observer: Observer) -> Self {
        self.observer = observer;
        self
    }

    /// The id that all events of the session carry.
    pub fn stream_id(&self) -> &str {
        &self.stream_id
    }

    /// How many streams there are beside the primary one.
    pub fn fallbacks(&self) -> u32 {
        self.fallbacks
    }

    /// The retries spent so far.
    pub fn retries(&self) -> Retries {
        self.retries
    }
}

impl Record for SessionRecord {
    #[inline]
    fn observer(&mut self) -> Option<&mut Observer> {
        Some(&mut self.observer)
    }

    /// A new session has not tried anything again.
    fn created(&mut self, _: &'static Graph) {
        self.retries = Retries::default();
    }
}

/// Why `STREAMING` is entered.
///
/// The document leads every end through `STREAMING`. So a session that is aborted during a back-off enters it once more,
/// with nothing opened, and can then only [`Fail`] as [`ErrorCode::StreamAborted`] (C5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Open {
    /// A stream is opened: the first attempt, the next attempt, or the first one on the next stream.
    Stream,
    /// Nothing is opened; the session was aborted.
    AbortOnly,
}

/// The attempt failed and the same stream is tried again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Retry {
    kind: RetryKind,
    error: StreamError,
}

impl Retry {
    /// A retry of that kind, because of `error`.
    pub fn new(kind: RetryKind, error: StreamError) -> Self {
        Retry { kind, error }
    }
}

/// Which budget a retry is drawn from (C10).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RetryKind {
    /// The model's output was at fault; drawn from the stream's budget and from the total.
    Model,
    /// The network was at fault; drawn from the total alone.
    Network,
    /// The provider was at fault for the moment, such as a rate limit; drawn from the total alone.
    Transient,
}

/// The attempt failed and the next stream is tried.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FallBack {
    error: StreamError,
}

impl FallBack {
    /// Fall back because of `error`.
    pub fn new(error: StreamError) -> Self {
        FallBack { error }
    }
}

/// The session ends with an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fail {
    error: StreamError,
}

impl Fail {
    /// End with `error`.
    pub fn new(error: StreamError) -> Self {
        Fail { error }
    }
}

/// What follows on a failed attempt; its names are those of the `recoveryStrategy` of an ERROR event (document 002,
/// "Event Ordering Specifications"; `halt` from C7).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recovery {
    /// Try the same stream again.
    Retry(RetryKind),
    /// Try the next stream.
    Fallback,
    /// Give up.
    Halt,
}

impl Recovery {
    /// The `recoveryStrategy` of the ERROR event: `retry`, `fallback` or `halt`.
    pub const fn strategy(self) -> &'static str {
        match self {
            Recovery::Retry(_) => "retry",
            Recovery::Fallback => "fallback",
            Recovery::Halt => "halt",
        }
    }
}

/// Where a failed attempt leads: the legal successors of `STREAMING` but `COMPLETE`.
#[derive(Debug)]
#[must_use = "a machine that is dropped goes nowhere"]
pub enum AttemptFailed {
    /// The same stream is tried again.
    Retrying(StreamSession<Retrying>),
    /// The next stream is tried.
    FallingBack(StreamSession<FallingBack>),
    /// The session is over.
    Errored(StreamSession<Errored>),
}

impl From<AttemptFailed> for AnyStreamSession {
    fn from(next: AttemptFailed) -> Self {
        match next {
            AttemptFailed::Retrying(session) => session.into(),
            AttemptFailed::FallingBack(session) => session.into(),
            AttemptFailed::Errored(session) => session.into(),
        }
    }
}

impl StreamSession<Streaming> {
    /// A token arrived: it is appended to the content. No transition.
    ///
    /// # Errors
    /// [`StreamSessionError::Aborting`] when no stream is open; the content stays as it is.
    #[inline]
    pub fn receive(&mut self, token: &str) -> Result<(), StreamSessionError> {
        self.state().abort_only("receive")?;
        self.state_mut().output_mut().push(token);
        Ok(())
    }

    /// All content so far becomes the checkpoint that a later attempt goes on from. No transition.
    pub fn save_checkpoint(&mut self) -> Checkpoint<'_> {
        self.state_mut().output_mut().save_checkpoint()
    }

    /// The branch after a failed attempt: takes the edge that `recovery` names.
    ///
    /// # Errors
    /// As [`retry`](Self::retry), [`fall_back`](Self::fall_back) and [`fail`](Self::fail), with the session and the error
    /// as they were.
    ///
    /// ```
    /// use runstate::stream_session::*;
    ///
    /// let session = StreamSession::new(SessionRecord::new("stream_1", 0)).open(Open::Stream);
    /// let error = StreamError::new(ErrorCode::ZeroOutput, "no token at all");
    /// // There is no stream to fall back to.
    /// let back = session.attempt_failed(error, Recovery::Fallback).unwrap_err();
    /// assert_eq!(back.error, StreamSessionError::NoFallback { fallbacks: 0 });
    /// let AttemptFailed::Errored(session) = back.machine.attempt_failed(back.event, Recovery::Halt)? else {
    ///     unreachable!("halt leads to ERROR");
    /// };
    /// assert_eq!(session.state().error().code(), ErrorCode::ZeroOutput);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn attempt_failed(
        self,
        error: StreamError,
        recovery: Recovery,
    ) -> Result<AttemptFailed, Rejected<Self, StreamError, StreamSessionError>> {
        match recovery {
            Recovery::Retry(kind) => self
                .retry(Retry { kind, error })
                .map(AttemptFailed::Retrying)
                .map_err(|r| Rejected { machine: r.machine, event: r.event.error, error: r.error }),
            Recovery::Fallback => self
                .fall_back(FallBack { error })
                .map(AttemptFailed::FallingBack)
                .map_err(|r| Rejected { machine: r.machine, event: r.event.error, error: r.error }),
            Recovery::Halt => self.fail(Fail { error }).map(AttemptFailed::Errored).map_err(|r| Rejected {
                machine: r.machine,
                event: r.event.error,
                error: r.error,
            }),
        }
    }
}

impl StreamSession<Retrying> {
    /// Drops a checkpoint that failed its validation, so that the next attempt starts afresh (C13). No transition.
    ///
    /// True when there was one.
    pub fn drop_checkpoint(&mut self) -> bool {
        self.state_mut().output_mut().drop_checkpoint()
    }
}

impl StreamSession<FallingBack> {
    /// Drops a checkpoint that failed its validation, so that the next attempt starts afresh (C13). No transition.
    ///
    /// True when there was one.
    pub fn drop_checkpoint(&mut self) -> bool {
        self.state_mut().output_mut().drop_checkpoint()
    }
}

impl Guard<Streaming, Retry> for Retrying {
    type Error = StreamSessionError;

    fn check(from: &Streaming, event: &Retry, _: &SessionRecord) -> Result<(), StreamSessionError> {
        from.abort_only("retry")?;
        event.error.recoverable()
    }
}

impl Guard<Streaming, FallBack> for FallingBack {
    type Error = StreamSessionError;

    fn check(from: &Streaming, event: &FallBack, record: &SessionRecord) -> Result<(), StreamSessionError> {
        from.abort_only("fall_back")?;
        event.error.recoverable()?;
        if from.attempt().stream() < record.fallbacks {
            return Ok(());
        }
        Err(StreamSessionError::NoFallback { fallbacks: record.fallbacks })
    }
}

impl Guard<Streaming, Complete> for Completed {
    type Error = StreamSessionError;

    fn check(from: &Streaming, _: &Complete, _: &SessionRecord) -> Result<(), StreamSessionError> {
        from.abort_only("complete")
    }
}

impl Guard<Streaming, Fail> for Errored {
    type Error = StreamSessionError;

    fn check(from: &Streaming, event: &Fail, _: &SessionRecord) -> Result<(), StreamSessionError> {
        match event.error.code() {
            ErrorCode::StreamAborted => Ok(()),
            _ => from.abort_only("fail"),
        }
    }
}
