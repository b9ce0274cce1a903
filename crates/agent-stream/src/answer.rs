//! Conversion of session events to answer events.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};

use futures_util::{FutureExt, StreamExt};
use runstate::turn::Extra;
use runstate_agent::ModelError;
use runstate_agent::answer::{FinishReason, ModelEvent, Usage};
use runstate_stream::{Callbacks, ConsumerText, Event, EventKind, Failure, Session, State, Strategy};
use tokio_util::sync::CancellationToken;

use super::bound::Attempts;
use super::{How, VoidText};

/// An answer in progress.
pub(super) struct Answer<'m, C: Callbacks> {
    /// `None` once the session has no further events for the answer.
    session: Option<Session<C>>,
    how: &'m How<C>,
    cancelled: CancellationToken,
    text: ConsumerText,
    /// The number of text bytes that were emitted.
    given: usize,
    /// The failure of the last attempt.
    failed: Option<Failure>,
    attempts: Attempts,
    /// An upper bound of the tokens of a request.
    request: u64,
    ready: VecDeque<ModelEvent>,
}

impl<'m, C: Callbacks> Answer<'m, C> {
    pub(super) fn new(
        session: Session<C>,
        how: &'m How<C>,
        cancelled: CancellationToken,
        request: u64,
    ) -> Self {
        Answer {
            session: Some(session),
            how,
            cancelled,
            text: ConsumerText::new(),
            given: 0,
            failed: None,
            attempts: Attempts::default(),
            request,
            ready: VecDeque::new(),
        }
    }

    /// The next event of the answer; `None` after the last one.
    pub(super) async fn next(&mut self) -> Option<ModelEvent> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some(event);
            }
            let session = self.session.as_mut()?;
            let abort = session.abort_handle();
            let told = tokio::select! {
                biased;
                // The session notices the abort when it is next polled, and ends.
                () = self.cancelled.cancelled(), if !abort.is_aborted() => {
                    abort.abort();
                    continue;
                }
                told = session.next() => told,
            };
            match told {
                Some(event) => self.take(&event),
                None => self.over(),
            }
        }
    }

    fn take(&mut self, event: &Event) {
        self.text.apply(event);
        if let EventKind::Token { text } | EventKind::Reasoning { text } = &event.kind {
            self.attempts.gave(text);
        }
        if let EventKind::Error(_) = &event.kind {
            self.attempts.failed(self.request);
        }
        match &event.kind {
            EventKind::Token { .. } if self.how.live => self.give(),
            EventKind::Progress { progress } => {
                if let Some(usage) = (self.how.read)(progress) {
                    self.attempts.counted();
                    self.ready.push_back(ModelEvent::Usage(usage));
                }
            }
            EventKind::Error(error) if error.recovery_strategy != Strategy::Halt => {
                self.failed = Some(error.error.clone());
                // This check comes before another stream is opened, because the answer may be lost already.
                let checkpoint = self.session.as_ref().and_then(Session::checkpoint);
                self.keep(checkpoint.map_or(0, |checkpoint| checkpoint.content.len()));
            }
            EventKind::ContentReset { content_length, .. } => {
                // The checkpoint may have been refused since.
                self.keep(*content_length);
            }
            EventKind::Complete { state } => self.whole(state),
            _ => {}
        }
    }

    /// Emits the text that was not emitted yet.
    fn give(&mut self) {
        // The emitted text is still a prefix of the text; otherwise the answer is over.
        let text = self.text.as_str().get(self.given..).unwrap_or_default();
        if !text.is_empty() {
            self.given += text.len();
            self.ready.push_back(ModelEvent::Text(text.to_owned()));
        }
    }

    fn whole(&mut self, state: &State) {
        self.give();
        self.bound(self.attempts.whole());
        for (index, call) in (0..).zip(&state.tool_calls) {
            self.ready.push_back(ModelEvent::CallStart {
                index,
                id: call.id.clone(),
                tool: call.name.clone(),
            });
            self.ready.push_back(ModelEvent::Arguments { index, delta: call.arguments_text() });
            self.extra(Some(index), &call.extra);
        }
        self.extra(None, &state.extra);
        let finish = state.finish.clone().unwrap_or(FinishReason::Unknown);
        self.ready.push_back(ModelEvent::Finish(finish));
    }

    fn bound(&mut self, usage: Option<Usage>) {
        self.ready.extend(usage.filter(|_| self.how.bounded).map(ModelEvent::Usage));
    }

    fn extra(&mut self, index: Option<u32>, extra: &Extra) {
        if !extra.is_empty() {
            self.ready.push_back(ModelEvent::Extra { index, extra: extra.clone() });
        }
    }

    /// Keeps the first `kept` bytes of the text. If more bytes were emitted, the answer is over, because text cannot
    /// be taken back.
    fn keep(&mut self, kept: usize) {
        if self.given <= kept {
            return;
        }
        // Only a failed attempt invalidates text.
        let Some(failure) = self.failed.take() else { return };
        self.bound(self.attempts.over());
        let error = VoidText { given: self.given, kept, failure };
        self.ready.push_back(ModelEvent::Error(ModelError::new(error)));
        self.leave();
    }

    /// Handles the end of the session.
    fn over(&mut self) {
        let ended = self.session.as_ref().and_then(Session::result);
        if let Some(Err(error)) = ended {
            let usage = self.attempts.over().filter(|_| self.how.bounded);
            self.ready.extend(usage.map(ModelEvent::Usage));
            self.ready.push_back(ModelEvent::Error(ModelError::new(error.clone())));
        }
        self.leave();
    }

    /// Passes the session to the `ended` callback. An unfinished session is aborted first.
    fn leave(&mut self) {
        let Some(mut session) = self.session.take() else { return };
        let Some(look) = &self.how.ended else { return };
        session.abort_handle().abort();
        // An aborted session has no pending operation.
        drop(session.run().now_or_never());
        // A panic of the callback is reported by the panic hook, and does not affect the run.
        drop(catch_unwind(AssertUnwindSafe(|| look(&session))));
    }
}

/// Handles a cancelled run or a dropped loop.
impl<C: Callbacks> Drop for Answer<'_, C> {
    fn drop(&mut self) {
        self.leave();
    }
}
