//! The states of a session: what each of them owns, and how it is entered.

use serde::{Deserialize, Serialize};

use super::{Attempt, Complete, Fail, FallBack, Init, Open, Output, Retry, RetryKind};
use super::{SessionRecord, StreamError, StreamSessionError};
use crate::kernel::Enter;

/// A stream is open and tokens arrive, or the session is on its way to be aborted.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Streaming {
    attempt: Attempt,
    opened: Open,
    output: Output,
}

/// An attempt failed; the same stream will be opened again.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Retrying {
    failed: Attempt,
    kind: RetryKind,
    error: StreamError,
    output: Output,
}

/// A stream was given up; the next one will be opened.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FallingBack {
    failed: Attempt,
    error: StreamError,
    output: Output,
}

/// The stream ended well and the output is whole.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Completed {
    attempt: Attempt,
    output: Output,
}

/// The session ended without a whole output.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Errored {
    attempt: Attempt,
    error: StreamError,
    output: Output,
}

impl Streaming {
    /// The attempt under way. When nothing was opened, the last one before; on a session that was aborted before its
    /// first, that first one.
    pub fn attempt(&self) -> Attempt {
        self.attempt
    }

    /// What was received, from the checkpoint on that the attempt began with.
    pub fn output(&self) -> &Output {
        &self.output
    }

    /// Was the session entered only to be aborted (C5)?
    pub fn is_aborting(&self) -> bool {
        self.opened == Open::AbortOnly
    }

    pub(super) fn output_mut(&mut self) -> &mut Output {
        &mut self.output
    }

    /// Fails, naming `step`, when the session is being aborted.
    #[inline]
    pub(super) fn abort_only(&self, step: &'static str) -> Result<(), StreamSessionError> {
        if self.is_aborting() { Err(StreamSessionError::Aborting { step }) } else { Ok(()) }
    }
}

impl Retrying {
    /// The attempt that failed. Its number is that of the retry too: the `attempt` of RETRY_ATTEMPT (C2).
    pub fn failed(&self) -> Attempt {
        self.failed
    }

    /// Which budget the retry is drawn from.
    pub fn kind(&self) -> RetryKind {
        self.kind
    }

    /// Why the attempt failed.
    pub fn error(&self) -> &StreamError {
        &self.error
    }

    /// What the failed attempt had received. Opening a stream takes it back to its checkpoint, or to nothing.
    pub fn output(&self) -> &Output {
        &self.output
    }

    pub(super) fn output_mut(&mut self) -> &mut Output {
        &mut self.output
    }
}

impl FallingBack {
    /// The last attempt on the stream that is given up: its stream is the `fromIndex` of FALLBACK_START.
    pub fn failed(&self) -> Attempt {
        self.failed
    }

    /// The stream that will be opened, counted from the primary one as 0: the `toIndex` of FALLBACK_START.
    pub fn to_stream(&self) -> u32 {
        self.failed.on_next_stream().stream()
    }

    /// The index of the fallback that will be opened, from 0: the `index` of `onFallback` (C2).
    pub fn fallback_index(&self) -> u32 {
        self.failed.stream()
    }

    /// Why the stream was given up.
    pub fn error(&self) -> &StreamError {
        &self.error
    }

    /// What the failed attempt had received. Opening a stream takes it back to its checkpoint, or to nothing.
    pub fn output(&self) -> &Output {
        &self.output
    }

    pub(super) fn output_mut(&mut self) -> &mut Output {
        &mut self.output
    }
}

impl Completed {
    /// The attempt that succeeded.
    pub fn attempt(&self) -> Attempt {
        self.attempt
    }

    /// The whole output: what the stream gave, not what a caller says that it gave.
    pub fn output(&self) -> &Output {
        &self.output
    }
}

impl Errored {
    /// The last attempt.
    pub fn attempt(&self) -> Attempt {
        self.attempt
    }

    /// Why the session ended.
    pub fn error(&self) -> &StreamError {
        &self.error
    }

    /// What was received until then: the counts of an ABORT_COMPLETED.
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
