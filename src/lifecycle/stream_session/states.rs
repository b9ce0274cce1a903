//! The states of a session, with their data and entries.

use serde::{Deserialize, Serialize};

use super::{Attempt, Complete, Fail, FallBack, Init, Open, Output, Retry, RetryKind};
use super::{SessionRecord, StreamError, StreamSessionError};
use crate::kernel::Enter;

/// A stream is open and tokens arrive, or the session is about to be aborted.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Streaming {
    attempt: Attempt,
    opened: Open,
    output: Output,
}

/// An attempt failed; the current stream will be opened again.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Retrying {
    failed: Attempt,
    kind: RetryKind,
    error: StreamError,
    output: Output,
}

/// A stream was abandoned; the next one will be opened.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FallingBack {
    failed: Attempt,
    error: StreamError,
    output: Output,
}

/// The stream ended normally and the output is complete.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Completed {
    attempt: Attempt,
    output: Output,
}

/// The session ended without a complete output.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Errored {
    attempt: Attempt,
    error: StreamError,
    output: Output,
}

impl Streaming {
    /// The attempt in progress. In a session that enters STREAMING for its abort, it is the last attempt, or the
    /// first one if no stream was opened before.
    pub fn attempt(&self) -> Attempt {
        self.attempt
    }

    /// The received content, including the checkpoint from which the attempt continued.
    pub fn output(&self) -> &Output {
        &self.output
    }

    /// Returns whether the session entered STREAMING only for its abort.
    pub fn is_aborting(&self) -> bool {
        self.opened == Open::AbortOnly
    }

    pub(super) fn output_mut(&mut self) -> &mut Output {
        &mut self.output
    }

    /// Fails with the name of `step` when the session is being aborted.
    #[inline]
    pub(super) fn abort_only(&self, step: &'static str) -> Result<(), StreamSessionError> {
        if self.is_aborting() { Err(StreamSessionError::Aborting { step }) } else { Ok(()) }
    }
}

impl Retrying {
    /// The failed attempt. Its number is also the number of the retry: the `attempt` of RETRY_ATTEMPT.
    pub fn failed(&self) -> Attempt {
        self.failed
    }

    /// The budget of the retry.
    pub fn kind(&self) -> RetryKind {
        self.kind
    }

    /// The error of the attempt.
    pub fn error(&self) -> &StreamError {
        &self.error
    }

    /// The content of the failed attempt. The next opening resets it to its checkpoint, or to nothing.
    pub fn output(&self) -> &Output {
        &self.output
    }

    pub(super) fn output_mut(&mut self) -> &mut Output {
        &mut self.output
    }
}

impl FallingBack {
    /// The last attempt on the abandoned stream. Its stream is the `fromIndex` of FALLBACK_START.
    pub fn failed(&self) -> Attempt {
        self.failed
    }

    /// The index of the next stream, counted from the primary stream as 0: the `toIndex` of FALLBACK_START.
    pub fn to_stream(&self) -> u32 {
        self.failed.on_next_stream().stream()
    }

    /// The index of the next fallback, from 0: the `index` of `onFallback`.
    pub fn fallback_index(&self) -> u32 {
        self.failed.stream()
    }

    /// The error of the abandoned stream.
    pub fn error(&self) -> &StreamError {
        &self.error
    }

    /// The content of the failed attempt. The next opening resets it to its checkpoint, or to nothing.
    pub fn output(&self) -> &Output {
        &self.output
    }

    pub(super) fn output_mut(&mut self) -> &mut Output {
        &mut self.output
    }
}

impl Completed {
    /// The successful attempt.
    pub fn attempt(&self) -> Attempt {
        self.attempt
    }

    /// The complete output. The session collected it from the stream; no caller supplies it.
    pub fn output(&self) -> &Output {
        &self.output
    }
}

impl Errored {
    /// The last attempt.
    pub fn attempt(&self) -> Attempt {
        self.attempt
    }

    /// The error that ended the session.
    pub fn error(&self) -> &StreamError {
        &self.error
    }

    /// The content until then: ABORT_COMPLETED has its counts.
    pub fn output(&self) -> &Output {
        &self.output
    }
}

impl Enter<Init, Open> for Streaming {
    fn enter(_: Init, opened: Open, _: &mut SessionRecord) -> Self {
        Streaming { attempt: Attempt::FIRST, opened, output: Output::default() }
    }
}

impl Enter<Retrying, Open> for Streaming {
    fn enter(from: Retrying, opened: Open, _: &mut SessionRecord) -> Self {
        let (attempt, output) = match opened {
            Open::Stream => (from.failed.again(), from.output.rewound()),
            Open::AbortOnly => (from.failed, from.output),
        };
        Streaming { attempt, opened, output }
    }
}

impl Enter<FallingBack, Open> for Streaming {
    fn enter(from: FallingBack, opened: Open, record: &mut SessionRecord) -> Self {
        let (attempt, output) = match opened {
            Open::Stream => {
                record.retries.model = 0;
                (from.failed.on_next_stream(), from.output.rewound())
            }
            Open::AbortOnly => (from.failed, from.output),
        };
        Streaming { attempt, opened, output }
    }
}

impl Enter<Streaming, Retry> for Retrying {
    fn enter(from: Streaming, event: Retry, record: &mut SessionRecord) -> Self {
        let retries = &mut record.retries;
        retries.total = retries.total.saturating_add(1);
        if event.kind == RetryKind::Model {
            retries.model = retries.model.saturating_add(1);
        }
        Retrying { failed: from.attempt, kind: event.kind, error: event.error, output: from.output }
    }
}

impl Enter<Streaming, FallBack> for FallingBack {
    fn enter(from: Streaming, event: FallBack, _: &mut SessionRecord) -> Self {
        FallingBack { failed: from.attempt, error: event.error, output: from.output }
    }
}

impl Enter<Streaming, Complete> for Completed {
    fn enter(from: Streaming, _: Complete, _: &mut SessionRecord) -> Self {
        Completed { attempt: from.attempt, output: from.output }
    }
}

impl Enter<Streaming, Fail> for Errored {
    fn enter(from: Streaming, event: Fail, _: &mut SessionRecord) -> Self {
        Errored { attempt: from.attempt, error: event.error, output: from.output }
    }
}
