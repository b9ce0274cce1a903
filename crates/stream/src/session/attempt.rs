//! The start of an attempt: from INIT, after a backoff, or on the next stream.

use std::sync::Arc;

use runstate::stream_session::{Checkpoint, ErrorCode, Open, Output, StreamSession, Streaming};

use super::phase::Phase;
use super::{Core, Session, millis};
use crate::checks::Failed;
use crate::event::EventKind;
use crate::panics::guarded;
use crate::{Callbacks, ErrorKind, Failure, Opening, TimeoutType};

/// A refused checkpoint, with the reason of the refusal.
pub(super) struct Rejected {
    token_count: u64,
    content_length: usize,
    reason: String,
}

impl Rejected {
    pub(super) fn of(checkpoint: Checkpoint<'_>, reason: String) -> Self {
        Rejected { token_count: checkpoint.tokens, content_length: checkpoint.content.len(), reason }
    }
}

impl<C: Callbacks> Core<C> {
    /// Shows the checkpoint to the checks and to the continuation, which may refuse it. The checks know its
    /// text from then on.
    fn rejects(&mut self, output: &Output) -> Option<Rejected> {
        let checkpoint = output.checkpoint()?;
        let refused = self.checks.resume(checkpoint);
        let reason = refused.or_else(|| self.continuation.as_mut()?.refuses(checkpoint))?;
        Some(Rejected::of(checkpoint, reason))
    }

    pub(super) fn tell_rejected(&mut self, rejected: Option<Rejected>) {
        let Some(Rejected { token_count, content_length, reason }) = rejected else { return };
        self.dispatch.emit(EventKind::CheckpointRejected { token_count, content_length, reason }, "");
    }
}

impl<C: Callbacks> Session<C> {
    /// Goes from INIT to STREAMING.
    pub(super) fn begin(&mut self) {
        match self.phase.take() {
            Phase::Fresh(session) => {
                let session = session.open(Open::Stream);
                self.tell_start(&session);
                self.open_stream(session, None, None);
            }
            other @ (Phase::Opening(..)
            | Phase::Reading(..)
            | Phase::BackingOff(..)
            | Phase::FallingBack(..)
            | Phase::Ended(..)
            | Phase::Lost) => self.phase = other,
        }
    }

    pub(super) fn tell_start(&mut self, session: &StreamSession<Streaming>) {
        let attempt = session.state().attempt();
        let start = EventKind::SessionStart {
            attempt: attempt.number(),
            is_retry: attempt.is_retry(),
            is_fallback: attempt.is_fallback(),
        };
        self.core.dispatch.emit(start, "");
    }

    /// Goes from RETRYING to STREAMING, after the backoff.
    pub(super) fn try_again(&mut self) {
        match self.phase.take() {
            Phase::BackingOff(mut session, _) => {
                let rejected = self.core.rejects(session.state().output());
                if rejected.is_some() {
                    session.drop_checkpoint();
                    self.core.tell_rejected(rejected);
                }
                let session = session.open(Open::Stream);
                let attempt = session.state().attempt();
                let start = EventKind::AttemptStart {
                    attempt: attempt.number(),
                    is_retry: attempt.is_retry(),
                    is_fallback: attempt.is_fallback(),
                };
                self.core.dispatch.emit(start, "");
                self.start_again(session);
            }
            other @ (Phase::Fresh(..)
            | Phase::Opening(..)
            | Phase::Reading(..)
            | Phase::FallingBack(..)
            | Phase::Ended(..)
            | Phase::Lost) => self.phase = other,
        }
    }

    /// Goes from FALLBACK to STREAMING.
    pub(super) fn fall_back(&mut self) {
        match self.phase.take() {
            Phase::FallingBack(mut session) => {
                let rejected = self.core.rejects(session.state().output());
                if rejected.is_some() {
                    session.drop_checkpoint();
                    self.core.tell_rejected(rejected);
                }
                let (from, reason) =
                    (session.state().failed().stream(), self.core.dispatch.ledger.last_kind());
                let session = session.open(Open::Stream);
                let start = EventKind::FallbackStart {
                    from_index: from,
                    to_index: session.state().attempt().stream(),
                    reason,
                };
                self.core.dispatch.emit(start, "");
                self.core.delays.restart();
                self.start_again(session);
            }
            other @ (Phase::Fresh(..)
            | Phase::Opening(..)
            | Phase::Reading(..)
            | Phase::BackingOff(..)
            | Phase::Ended(..)
            | Phase::Lost) => self.phase = other,
        }
    }

    /// Emits the checkpoint that the attempt continues from, and the end of the text that stays valid.
    fn start_again(&mut self, session: StreamSession<Streaming>) {
        let core = &mut self.core;
        let output = session.state().output();
        let mut resumed = (None, None);
        if let Some(checkpoint) = output.checkpoint() {
            let text: Arc<str> = checkpoint.content.into();
            let token_count = checkpoint.tokens;
            core.dispatch.emit(EventKind::ResumeStart { checkpoint: Arc::clone(&text), token_count }, "");
            let prompt = core.continuation.as_mut().and_then(|continuation| continuation.prompt_for(&text));
            let told = prompt.as_deref().map(Into::into);
            core.dispatch.emit(EventKind::ContinuationStart { token_count, prompt: told }, "");
            resumed = (Some(text), prompt);
        }
        let (token_count, content_length) = (output.tokens(), output.content().len());
        core.dispatch.emit(EventKind::ContentReset { token_count, content_length }, "");
        let (checkpoint, prompt) = resumed;
        self.open_stream(session, checkpoint, prompt);
    }

    /// Asks the factory for the attempt's stream, unless the session was aborted.
    fn open_stream(
        &mut self,
        session: StreamSession<Streaming>,
        checkpoint: Option<Arc<str>>,
        prompt: Option<String>,
    ) {
        let core = &mut self.core;
        core.any_output = false;
        core.until_checkpoint = core.continuation.as_ref().map(|continuation| continuation.every.get());
        core.overlap = checkpoint
            .as_deref()
            .and_then(|checkpoint| core.continuation.as_ref()?.overlap.after(checkpoint));
        // A continuation has already shown its checkpoint to the checks.
        if checkpoint.is_none()
            && let Err(failed) = core.checks.reset()
        {
            return self.attempt_failed(session, failed);
        }
        core.wait.limit(core.timeouts.initial);
        if let Some(limit) = core.timeouts.initial {
            let start =
                EventKind::TimeoutStart { timeout_type: TimeoutType::Initial, limit_ms: millis(limit) };
            core.dispatch.emit(start, "");
        }
        // The last check for an abort before a stream is open.
        if core.abort.is_aborted() {
            return self.end_aborted(session, false);
        }
        let attempt = session.state().attempt();
        let opening = Opening { attempt, checkpoint, prompt };
        let stream = usize::try_from(attempt.stream()).ok().and_then(|index| core.streams.get_mut(index));
        // The record has as many fallbacks as there are factories after the first.
        let opened = stream.map(|open| guarded(|| open(opening)));
        match opened {
            Some(Ok(opening)) => self.phase = Phase::Opening(session, opening),
            Some(Err(panic)) => self.attempt_failed(session, internal("the stream factory", &panic)),
            None => self.attempt_failed(session, internal("the stream factory", "there is none")),
        }
    }
}

/// Builds the failure for a local fault.
pub(super) fn internal(what: &str, panic: &str) -> Failed {
    let message = format!("{what} panicked: {panic}");
    Failed::from(Failure::new(ErrorCode::InvalidStream, ErrorKind::Internal, message))
}
