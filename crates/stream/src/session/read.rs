//! Handling of a stream's events.

use std::task::{Context, Poll};
use std::time::Duration;

use runstate::stream_session::ErrorCode;

use super::attempt::internal;
use super::phase::Phase;
use super::{Session, Step, millis};
use crate::checks::Failed;
use crate::event::EventKind;
use crate::panics::guarded;
use crate::{Callbacks, ErrorKind, Failure, SourceError, StreamEvent, TimeoutType};

impl<C: Callbacks> Session<C> {
    pub(super) fn poll_opening(&mut self, cx: &mut Context<'_>) -> Step {
        let Phase::Opening(_, opening) = &mut self.phase else { return Step::Moved };
        match guarded(|| opening.as_mut().poll(cx)) {
            Ok(Poll::Pending) => return self.poll_wait(cx),
            Ok(Poll::Ready(Ok(source))) => match self.phase.take() {
                Phase::Opening(session, _) => self.phase = Phase::Reading(session, source),
                other @ (Phase::Fresh(..)
                | Phase::Reading(..)
                | Phase::BackingOff(..)
                | Phase::FallingBack(..)
                | Phase::Ended(..)
                | Phase::Lost) => self.phase = other,
            },
            Ok(Poll::Ready(Err(error))) => self.failed_by_source(error),
            Err(panic) => self.failed(internal("the stream factory", &panic)),
        }
        Step::Moved
    }

    #[inline]
    pub(super) fn poll_source(&mut self, cx: &mut Context<'_>) -> Step {
        let Phase::Reading(_, source) = &mut self.phase else { return Step::Moved };
        match guarded(|| source.as_mut().poll_next(cx)) {
            Ok(Poll::Ready(Some(Ok(StreamEvent::Token(text))))) => self.token(text),
            Ok(Poll::Pending) => return self.poll_wait(cx),
            Ok(Poll::Ready(Some(Ok(other)))) => self.receive(other),
            Ok(Poll::Ready(Some(Err(error)))) => self.failed_by_source(error),
            Ok(Poll::Ready(None)) => self.source_ended(),
            Err(panic) => self.failed(internal("the stream", &panic)),
        }
        Step::Moved
    }

    fn poll_wait(&mut self, cx: &mut Context<'_>) -> Step {
        match self.core.wait.poll(cx) {
            Poll::Pending => Step::Waits,
            Poll::Ready(elapsed) => {
                self.timed_out(elapsed);
                Step::Moved
            }
        }
    }

    fn timed_out(&mut self, elapsed: Duration) {
        let (timeout_type, code) = if self.core.any_output {
            (TimeoutType::Inter, ErrorCode::InterTokenTimeout)
        } else {
            (TimeoutType::Initial, ErrorCode::InitialTokenTimeout)
        };
        let elapsed_ms = millis(elapsed);
        self.core.dispatch.emit(EventKind::TimeoutTriggered { timeout_type, elapsed_ms }, "");
        let message = format!("no output for {elapsed_ms} ms ({} timeout)", timeout_type.name());
        self.failed(Failure::new(code, ErrorKind::Timeout, message).into());
    }

    /// Notes that output came: the time limit counts anew.
    #[inline]
    fn output_came(&mut self) {
        let core = &mut self.core;
        let waited = core.wait.over();
        if !core.any_output {
            core.any_output = true;
            core.wait.limit(core.timeouts.inter);
            if let Some(limit) = core.timeouts.inter {
                let start =
                    EventKind::TimeoutStart { timeout_type: TimeoutType::Inter, limit_ms: millis(limit) };
                core.dispatch.emit(start, "");
            }
        } else if waited && core.timeouts.inter.is_some() {
            core.dispatch.emit(EventKind::TimeoutReset { timeout_type: TimeoutType::Inter }, "");
        }
    }

    #[inline]
    fn token(&mut self, text: String) {
        if text.is_empty() {
            return;
        }
        self.output_came();
        match &mut self.core.overlap {
            None => self.put(text),
            Some(overlap) => {
                let new = overlap.push(&text);
                if overlap.is_settled() {
                    self.core.overlap = None;
                }
                if !new.is_empty() {
                    self.put(new);
                }
            }
        }
    }

    /// Appends new text to the content, and checks it.
    #[inline]
    fn put(&mut self, text: String) {
        let Phase::Reading(session, _) = &mut self.phase else { return };
        let core = &mut self.core;
        let bytes = text.len();
        if session.receive(&text).is_err() {
            // The session is aborting, and no stream is open.
            return self.aborted();
        }
        core.dispatch.emit(EventKind::Token { text }, "");
        if !core.checks.are_idle() {
            let content = session.state().output().content();
            if let Some(failed) = core.checks.token(bytes, content, &mut core.dispatch) {
                return self.failed(failed);
            }
        }
        // The next attempt is given the text alone. It writes the calls again, and the text after them.
        if let Some(left) = &mut core.until_checkpoint
            && !core.dispatch.ledger.has_calls()
        {
            *left -= 1;
            if *left == 0 {
                let content = session.state().output().content();
                if let Some(failed) = core.checks.catch_up(content, &mut core.dispatch) {
                    return self.failed(failed);
                }
                *left = core.continuation.as_ref().map_or(1, |continuation| continuation.every.get());
                let saved = session.save_checkpoint();
                let (token_count, content_length) = (saved.tokens, saved.content.len());
                core.dispatch.emit(EventKind::CheckpointSaved { token_count, content_length }, saved.content);
            }
        }
    }

    /// Handles an event of the stream other than a token.
    fn receive(&mut self, event: StreamEvent) {
        let kind = match event {
            StreamEvent::Token(text) => return self.token(text),
            StreamEvent::Complete => return self.complete(),
            StreamEvent::Error(error) => return self.failed_by_source(error),
            StreamEvent::Progress(progress) => {
                let progress = Box::new(progress);
                return self.core.dispatch.emit(EventKind::Progress { progress }, "");
            }
            StreamEvent::Alive => return self.output_came(),
            StreamEvent::Reasoning(text) if text.is_empty() => return,
            StreamEvent::Reasoning(text) => EventKind::Reasoning { text },
            StreamEvent::Extra(extra) => EventKind::Extra { extra },
            StreamEvent::Finish(reason) => {
                return self.core.dispatch.emit(EventKind::Finished { reason }, "");
            }
            StreamEvent::Message(message) => EventKind::Message(message),
            StreamEvent::ToolCall(call) => EventKind::ToolRequested(call),
            StreamEvent::Data(data) => EventKind::Data { data: Box::new(data) },
        };
        self.output_came();
        self.core.dispatch.emit(kind, "");
    }

    fn source_ended(&mut self) {
        if self.core.require_complete {
            let message = "the stream was cut: it ended without saying that it is complete";
            return self.failed(Failure::new(ErrorCode::NetworkError, ErrorKind::Network, message).into());
        }
        self.complete();
    }

    /// Handles the end of a stream that ended well.
    fn complete(&mut self) {
        // Text that matched the checkpoint up to the end of the stream may be no overlap.
        if let Some(mut overlap) = self.core.overlap.take() {
            let rest = overlap.finish();
            if !rest.is_empty() {
                self.put(rest);
            }
        }
        match self.phase.take() {
            Phase::Reading(session, source) => {
                drop(guarded(|| drop(source)));
                self.completed(session);
            }
            // The rest of the text failed a check.
            other @ (Phase::Fresh(..)
            | Phase::Opening(..)
            | Phase::BackingOff(..)
            | Phase::FallingBack(..)
            | Phase::Ended(..)
            | Phase::Lost) => self.phase = other,
        }
    }

    fn failed_by_source(&mut self, error: SourceError) {
        self.failed(Failure::of_source(error, self.core.any_output).into());
    }

    /// Fails the attempt and drops its stream.
    fn failed(&mut self, failed: Failed) {
        let session = match self.phase.take() {
            Phase::Opening(session, opening) => {
                drop(guarded(|| drop(opening)));
                session
            }
            Phase::Reading(session, source) => {
                drop(guarded(|| drop(source)));
                session
            }
            other @ (Phase::Fresh(..)
            | Phase::BackingOff(..)
            | Phase::FallingBack(..)
            | Phase::Ended(..)
            | Phase::Lost) => {
                self.phase = other;
                return;
            }
        };
        self.attempt_failed(session, failed);
    }
}
