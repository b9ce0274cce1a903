//! The lifecycle of one session with a model's stream: attempts, retries, fallback streams, and one end.
//!
//! | state | meaning | accepted events |
//! |---|---|---|
//! | [`Init`] | no stream was opened yet | [`Open`] |
//! | [`Streaming`] | a stream is open and tokens arrive | [`Retry`], [`FallBack`], [`Complete`], [`Fail`] |
//! | [`Retrying`] | an attempt failed, the current stream is tried again | [`Open`] |
//! | [`FallingBack`] | a stream was abandoned for the next one | [`Open`] |
//! | [`Completed`] | the output is complete | |
//! | [`Errored`] | the session ended without a complete output | |
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
//! // The attempt fails; the next attempt continues from the checkpoint.
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
        /// A stream is open and tokens arrive, or the session is about to be aborted.
        Streaming { .. } = "STREAMING",
        /// An attempt failed; the current stream will be opened again.
        Retrying { .. } = "RETRYING",
        /// A stream was abandoned; the next one will be opened.
        FallingBack { .. } = "FALLBACK",
        /// The stream ended normally and the output is complete.
        Completed { .. } = "COMPLETE",
        /// The session ended without a complete output.
        Errored { .. } = "ERROR",
    }
    event StreamSessionEvent {
        /// A stream is opened, or the session enters STREAMING for its abort.
        Open { .. },
        /// The attempt failed and the current stream is tried again.
        Retry { .. },
        /// The attempt failed and the next stream is tried.
        FallBack { .. },
        /// The stream ended normally.
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
    /// The record of a session: the data that all its states share.
    pub struct SessionRecord {
        stream_id: String,
        fallbacks: u32,
        retries: Retries,
        #[serde(skip)]
        observer: Observer,
    }
}

/// The number of retries of a session. A driver compares them with its budgets.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Retries {
    /// Retries of kind [`RetryKind::Model`] on the current stream; a fallback resets them to 0.
    pub model: u32,
    /// Retries of every kind, over all streams of the session.
    pub total: u32,
}

impl SessionRecord {
    /// Makes the record of a session with a primary stream and `fallbacks` fallback streams.
    ///
    /// `stream_id` is the id in all events of the session.
    pub fn new(stream_id: impl Into<String>, fallbacks: u32) -> Self {
        SessionRecord {
            stream_id: stream_id.into(),
            fallbacks,
            retries: Retries::default(),
            observer: Observer::default(),
        }
    }

    /// Sets the observer of all transitions. Default: none.
    pub fn observed(mut self, observer: Observer) -> Self {
        self.observer = observer;
        self
    }

    /// The id in all events of the session.
    pub fn stream_id(&self) -> &str {
        &self.stream_id
    }

    /// The number of fallback streams.
    pub fn fallbacks(&self) -> u32 {
        self.fallbacks
    }

    /// The number of retries so far.
    pub fn retries(&self) -> Retries {
        self.retries
    }
}

impl Record for SessionRecord {
    #[inline]
    fn observer(&mut self) -> Option<&mut Observer> {
        Some(&mut self.observer)
    }

    /// A new session has no retries.
    fn created(&mut self, _: &'static Graph) {
        self.retries = Retries::default();
    }
}

/// The reason of an entry into `STREAMING`.
///
/// Every end of a session goes through `STREAMING`. So a session that is aborted during a backoff enters `STREAMING`
/// once more, without a stream, and can then only [`Fail`] as [`ErrorCode::StreamAborted`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Open {
    /// A stream is opened: for the first attempt, for the next attempt, or for the first attempt on the next stream.
    Stream,
    /// No stream is opened; the session was aborted.
    AbortOnly,
}

/// The attempt failed and the current stream is tried again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Retry {
    kind: RetryKind,
    error: StreamError,
}

impl Retry {
    /// Retries with the budget of that kind, because of `error`.
    pub fn new(kind: RetryKind, error: StreamError) -> Self {
        Retry { kind, error }
    }
}

/// The budget of a retry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RetryKind {
    /// The model's output caused the failure. The retry counts in the stream's budget and in the total.
    Model,
    /// The network caused the failure. The retry counts in the total alone.
    Network,
    /// A temporary problem of the provider caused the failure, such as a rate limit. The retry counts in the total
    /// alone.
    Transient,
}

/// The attempt failed and the next stream is tried.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FallBack {
    error: StreamError,
}

impl FallBack {
    /// Falls back because of `error`.
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
    /// Ends the session with `error`.
    pub fn new(error: StreamError) -> Self {
        Fail { error }
    }
}

/// The recovery after a failed attempt. Its names are the values of `recoveryStrategy` in an ERROR event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recovery {
    /// Another attempt on the current stream.
    Retry(RetryKind),
    /// An attempt on the next stream.
    Fallback,
    /// The end of the session.
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

/// The state after a failed attempt: the legal successors of `STREAMING` other than `COMPLETE`.
#[derive(Debug)]
#[must_use = "a machine that is dropped goes nowhere"]
pub enum AttemptFailed {
    /// The current stream is tried again.
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
    /// Appends an arrived token to the content. This is not a transition.
    ///
    /// # Errors
    /// [`StreamSessionError::Aborting`] when no stream is open; the content is unchanged.
    #[inline]
    pub fn receive(&mut self, token: &str) -> Result<(), StreamSessionError> {
        self.state().abort_only("receive")?;
        self.state_mut().output_mut().push(token);
        Ok(())
    }

    /// Saves all content so far as the checkpoint, from which a later attempt continues. This is not a transition.
    pub fn save_checkpoint(&mut self) -> Checkpoint<'_> {
        self.state_mut().output_mut().save_checkpoint()
    }

    /// Ends a failed attempt: takes the transition that `recovery` names.
    ///
    /// # Errors
    /// As [`retry`](Self::retry), [`fall_back`](Self::fall_back) and [`fail`](Self::fail), with session and error
    /// unchanged.
    ///
    /// ```
    /// use runstate::stream_session::*;
    ///
    /// let session = StreamSession::new(SessionRecord::new("stream_1", 0)).open(Open::Stream);
    /// let error = StreamError::new(ErrorCode::ZeroOutput, "no token at all");
    /// // The session has no fallback stream.
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
    /// Drops a checkpoint that failed its validation, so that the next attempt starts without content. This is not a
    /// transition.
    ///
    /// Returns true when a checkpoint existed.
    pub fn drop_checkpoint(&mut self) -> bool {
        self.state_mut().output_mut().drop_checkpoint()
    }
}

impl StreamSession<FallingBack> {
    /// Drops a checkpoint that failed its validation, so that the next attempt starts without content. This is not a
    /// transition.
    ///
    /// Returns true when a checkpoint existed.
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
