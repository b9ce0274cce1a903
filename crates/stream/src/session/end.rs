//! The end of an attempt: whole, failed, or aborted. Every failure takes the single path in this file.

use std::sync::Arc;
use std::time::Duration;

use runstate::stream_session::{
    AttemptFailed, Complete, Errored, Fail, Open, Output, Recovery, StreamError, StreamSession, Streaming,
};

use super::attempt::Rejected;
use super::phase::{BackOff, Phase};
use super::{Session, millis};
use crate::checks::Failed;
use crate::event::{ErrorEvent, EventKind, Strategy};
use crate::failure::aborted;
use crate::panics::guarded;
use crate::retry::{DelayContext, Question, Recourse, RetryQuestion, decide};
use crate::{Callbacks, ErrorKind, Failure, FinishReason, OnFinish, SessionError, finish};

/// Rejects the checkpoint of an output that failed a rule.
fn spoilt_checkpoint(output: &Output, why: &str) -> Option<Rejected> {
    Some(Rejected::of(output.checkpoint()?, format!("it is the beginning of an output that failed: {why}")))
}

impl<C: Callbacks> Session<C> {
    /// Handles a failed attempt: decides the next step, takes the transition, and emits it. The lifecycle may
    /// refuse the decision. ERROR therefore names the transition that was taken.
    pub(super) fn attempt_failed(&mut self, session: StreamSession<Streaming>, failed: Failed) {
        if self.core.abort.is_aborted() {
            return self.end_aborted(session, false);
        }
        let Failed { failure, recoverable, spoils } = failed;
        let spoils = spoils || self.spoils_unjudged(session.state().output());
        // The provider's filter stopped the answer before it failed.
        let is_filtered = self.core.dispatch.ledger.finish == Some(FinishReason::ContentFilter)
            && self.core.finishes.get(&FinishReason::ContentFilter) != OnFinish::Continue;
        let spoils = spoils || is_filtered;
        let attempt = session.state().attempt();
        let mut failure = failure.in_attempt(attempt, session.state().output());
        let recovery = self.recovery(&session, &failure, recoverable);
        let delay = match recovery {
            Recovery::Retry(_) => self.delay(&session, &failure),
            Recovery::Fallback | Recovery::Halt => Duration::ZERO,
        };
        if recovery == Recovery::Halt && self.is_exhausted(&failure) {
            failure = failure.exhausted(self.core.fallbacks.saturating_add(1));
        }
        // A hook or a callback may have aborted the session. No event may then announce a continuation.
        if self.core.abort.is_aborted() {
            return self.end_aborted(session, false);
        }
        let gives_up_fallback = attempt.is_fallback() && !matches!(recovery, Recovery::Retry(_));
        if gives_up_fallback {
            let ended = EventKind::FallbackEnd { index: attempt.stream(), succeeded: false };
            self.core.dispatch.emit(ended, "");
            if self.core.abort.is_aborted() {
                return self.end_aborted(session, true);
            }
        }
        let error = StreamError::new(failure.code, failure.message.as_str());
        // No attempt continues from the beginning of a text that failed a rule, even if an earlier attempt
        // saved it.
        let spoilt = spoils.then(|| failure.message.clone());
        match session.attempt_failed(error, recovery) {
            Ok(AttemptFailed::Retrying(mut session)) => {
                let (attempt, reason) = (session.state().failed().number(), failure.kind);
                let rejected = spoilt.and_then(|why| spoilt_checkpoint(session.state().output(), &why));
                if rejected.is_some() {
                    session.drop_checkpoint();
                }
                self.tell_error(failure, Strategy::Retry);
                // An abort by `onError` is seen before the backoff.
                if !self.core.abort.is_aborted() {
                    let delay_ms = millis(delay);
                    self.core.dispatch.emit(EventKind::RetryAttempt { attempt, reason, delay_ms }, "");
                }
                self.core.tell_rejected(rejected);
                self.phase = Phase::BackingOff(session, BackOff::of(delay));
            }
            Ok(AttemptFailed::FallingBack(mut session)) => {
                let rejected = spoilt.and_then(|why| spoilt_checkpoint(session.state().output(), &why));
                if rejected.is_some() {
                    session.drop_checkpoint();
                }
                self.tell_error(failure, Strategy::Fallback);
                self.core.tell_rejected(rejected);
                self.phase = Phase::FallingBack(session);
            }
            Ok(AttemptFailed::Errored(session)) => self.halted(session, failure),
            Err(back) => match back.machine.fail(Fail::new(back.event)) {
                Ok(session) => self.halted(session, failure),
                Err(back) => self.end_aborted(back.machine, gives_up_fallback),
            },
        }
    }

    /// Checks the text that the rules have not seen yet, because its beginning may be continued. Returns whether
    /// it fails them.
    fn spoils_unjudged(&mut self, output: &Output) -> bool {
        let core = &mut self.core;
        !core.dispatch.ledger.is_spoilt
            && output.checkpoint().is_some()
            && core.checks.catch_up(output.content(), &mut core.dispatch).is_some()
    }

    fn tell_error(&mut self, error: Failure, recovery_strategy: Strategy) {
        let event = ErrorEvent { error, recovery_strategy };
        self.core.dispatch.emit(EventKind::Error(Box::new(event)), "");
    }

    /// Applies the policy and the veto, and emits RETRY_GIVE_UP if a possible retry is given up.
    fn recovery(
        &mut self,
        session: &StreamSession<Streaming>,
        failure: &Failure,
        recoverable: bool,
    ) -> Recovery {
        let core = &mut self.core;
        let attempt = session.state().attempt();
        let spent = session.record().retries();
        let question = Question {
            code: failure.code,
            kind: failure.kind,
            recoverable,
            retry_after: failure.retry_after_ms.map(Duration::from_millis),
            spent,
            fallbacks_left: core.fallbacks.saturating_sub(attempt.stream()),
        };
        let should_retry = &mut core.should_retry;
        let decision = decide(&core.retry, question, || {
            let asked = RetryQuestion {
                attempt: attempt.number() - 1,
                error: failure,
                content: session.state().output().content(),
            };
            // A veto that panics costs no money.
            should_retry.as_mut().is_none_or(|ask| guarded(|| ask(&asked)).unwrap_or(false))
        });
        if let Some(because) = decision.gave_up {
            let (model_retries, total_retries) = (spent.model, spent.total);
            let told = EventKind::RetryGiveUp { reason: failure.kind, because, model_retries, total_retries };
            core.dispatch.emit(told, "");
        }
        decision.recovery
    }

    fn delay(&mut self, session: &StreamSession<Streaming>, failure: &Failure) -> Duration {
        let core = &mut self.core;
        let attempt = session.state().attempt().number() - 1;
        let default_delay = core.delays.next(attempt, failure.retry_after_ms.map(Duration::from_millis));
        let total_retries = session.record().retries().total;
        let context = DelayContext { attempt, total_retries, error: failure, default_delay };
        let calculated = core.calculate_delay.as_mut().map(|calculate| guarded(|| calculate(&context)));
        calculated.and_then(Result::ok).unwrap_or(default_delay)
    }

    /// Returns whether all of several streams failed. A violated guardrail keeps its code, and so does a
    /// failure that no other stream can mend.
    fn is_exhausted(&self, failure: &Failure) -> bool {
        self.core.fallbacks > 0
            && failure.kind != ErrorKind::Guardrail
            && failure.code.is_recoverable()
            && self.core.retry.table.get(failure.kind) != Recourse::Halt
    }

    fn halted(&mut self, session: StreamSession<Errored>, failure: Failure) {
        self.tell_error(failure.clone(), Strategy::Halt);
        self.errored(session, failure);
    }

    fn errored(&mut self, session: StreamSession<Errored>, failure: Failure) {
        let (attempt, output) = (session.state().attempt(), session.state().output());
        let state = Arc::new(self.core.dispatch.ledger.state(attempt, output, session.record().retries()));
        self.phase = Phase::Ended(session.into(), Err(SessionError { failure, state }));
    }

    /// Handles a stream that ended well. The finish policy and the rules may still fail the attempt.
    pub(super) fn completed(&mut self, mut session: StreamSession<Streaming>) {
        let core = &mut self.core;
        let reason = core.dispatch.ledger.finish.as_ref().unwrap_or(&FinishReason::Unknown);
        let then = core.finishes.get(reason);
        if then != OnFinish::Accept {
            let failed = finish::failed(reason, then);
            let has_calls = core.dispatch.ledger.has_calls();
            let is_empty = session.state().output().content().is_empty();
            let is_filtered = *reason == FinishReason::ContentFilter;
            if then == OnFinish::Continue && !is_empty && !has_calls && !is_filtered {
                let content = session.state().output().content();
                if let Some(failed) = core.checks.catch_up(content, &mut core.dispatch) {
                    return self.attempt_failed(session, failed);
                }
                let saved = session.save_checkpoint();
                let (token_count, content_length) = (saved.tokens, saved.content.len());
                let saved_event = EventKind::CheckpointSaved { token_count, content_length };
                core.dispatch.emit(saved_event, saved.content);
            }
            return self.attempt_failed(session, failed);
        }
        if let Some(failed) = core.checks.complete(session.state().output().content(), &mut core.dispatch) {
            return self.attempt_failed(session, failed);
        }
        if core.abort.is_aborted() {
            return self.end_aborted(session, false);
        }
        let attempt = session.state().attempt();
        if attempt.is_fallback() {
            let ended = EventKind::FallbackEnd { index: attempt.stream(), succeeded: true };
            core.dispatch.emit(ended, "");
            if core.abort.is_aborted() {
                return self.end_aborted(session, true);
            }
        }
        match session.complete(Complete) {
            Ok(session) => {
                let at_ms = core.dispatch.now();
                let output = session.state().output();
                let state = Arc::new(core.dispatch.ledger.state(attempt, output, session.record().retries()));
                let complete = EventKind::Complete { state: Arc::clone(&state) };
                core.dispatch.emit_at(at_ms, complete, "");
                self.phase = Phase::Ended(session.into(), Ok(state));
            }
            Err(back) => self.end_aborted(back.machine, true),
        }
    }

    /// Handles an abort in any state. The open stream is dropped. A session outside STREAMING enters it,
    /// because STREAMING has the only transition to ERROR.
    pub(super) fn aborted(&mut self) {
        let session = match self.phase.take() {
            Phase::Fresh(session) => {
                let session = session.open(Open::AbortOnly);
                self.tell_start(&session);
                session
            }
            Phase::Opening(session, opening) => {
                drop(guarded(|| drop(opening)));
                session
            }
            Phase::Reading(session, source) => {
                drop(guarded(|| drop(source)));
                session
            }
            Phase::BackingOff(session, _) => session.open(Open::AbortOnly),
            Phase::FallingBack(session) => session.open(Open::AbortOnly),
            over @ (Phase::Ended(..) | Phase::Lost) => {
                self.phase = over;
                return;
            }
        };
        self.end_aborted(session, false);
    }

    /// Goes from STREAMING to ERROR by an abort: emits ABORT_COMPLETED, and no ERROR. `told` says whether
    /// FALLBACK_END was emitted already.
    pub(super) fn end_aborted(&mut self, session: StreamSession<Streaming>, told: bool) {
        let attempt = session.state().attempt();
        if attempt.is_fallback() && !told {
            let ended = EventKind::FallbackEnd { index: attempt.stream(), succeeded: false };
            self.core.dispatch.emit(ended, "");
        }
        self.spoils_unjudged(session.state().output());
        // STREAMING never refuses this transition.
        let Ok(session) = session.fail(Fail::new(aborted())) else { return };
        let output = session.state().output();
        let failure = Failure::aborted(attempt, output);
        let (token_count, content_length) = (output.tokens(), output.content().len());
        self.core.dispatch.emit(EventKind::AbortCompleted { token_count, content_length }, "");
        self.errored(session, failure);
    }
}
