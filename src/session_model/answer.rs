//! From the events of a session to those of an answer.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};

use futures_util::{FutureExt, StreamExt};
use tokio_util::sync::CancellationToken;

use super::{How, VoidText};
use crate::agent::ModelError;
use crate::agent::answer::{FinishReason, ModelEvent};
use crate::stream::{Callbacks, ConsumerText, Event, EventKind, Failure, Session, State, Strategy};
use crate::turn::Extra;

/// One answer, on its way.
pub(super) struct Answer<'m, C: Callbacks> {
    /// None once there is nothing more to expect of it.
    session: Option<Session<C>>,
    how: &'m How<C>,
    cancelled: CancellationToken,
    text: ConsumerText,
    /// How much of the text was given on, in bytes.
    given: usize,
    /// Why the last attempt failed.
    failed: Option<Failure>,
    ready: VecDeque<ModelEvent>,
}

impl<'m, C: Callbacks> Answer<'m, C> {
    pub(super) fn new(session: Session<C>, how: &'m How<C>, cancelled: CancellationToken) -> Self {
        Answer {
            session: Some(session),
            how,
            cancelled,
            text: ConsumerText::new(),
            given: 0,
            failed: None,
            ready: VecDeque::new(),
        }
    }

    /// The next event of the answer; none after its last.
    pub(super) async fn next(&mut self) -> Option<ModelEvent> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some(event);
            }
            let session = self.session.as_mut()?;
            let abort = session.abort_handle();
            let told = tokio::select! {
                biased;
                // The session sees it when it is next asked, and ends.
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
        match &event.kind {
            EventKind::Token { .. } if self.how.live => self.give(),
            EventKind::Progress { progress } => {
                self.ready.extend((self.how.read)(progress).map(ModelEvent::Usage));
            }
            EventKind::Error(error) if error.recovery_strategy != Strategy::Halt => {
                self.failed = Some(error.error.clone());
                // Before another stream is asked for what cannot be an answer any more.
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

    /// Gives on what was not given on yet.
    fn give(&mut self) {
        // What was given on is still the beginning of the text, or the answer is over.
        let text = self.text.as_str().get(self.given..).unwrap_or_default();
        if !text.is_empty() {
            self.given += text.len();
            self.ready.push_back(ModelEvent::Text(text.to_owned()));
        }
    }

    fn whole(&mut self, state: &State) {
        self.give();
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

    fn extra(&mut self, index: Option<u32>, extra: &Extra) {
        if !extra.is_empty() {
            self.ready.push_back(ModelEvent::Extra { index, extra: extra.clone() });
        }
    }

    /// So much of the text still counts. The answer is over when more was given on: it takes nothing back.
    fn keep(&mut self, kept: usize) {
        if self.given <= kept {
            return;
        }
        // Only a failed attempt makes text void.
        let Some(failure) = self.failed.take() else { return };
        let error = VoidText { given: self.given, kept, failure };
        self.ready.push_back(ModelEvent::Error(ModelError::new(error)));
        self.leave();
    }

    /// The session has told all.
    fn over(&mut self) {
        let ended = self.session.as_ref().and_then(Session::result);
        if let Some(Err(error)) = ended {
            self.ready.push_back(ModelEvent::Error(ModelError::new(error.clone())));
        }
        self.leave();
    }

    /// Shows the session to whoever wants to see it; one that is not over is aborted.
    fn leave(&mut self) {
        let Some(mut session) = self.session.take() else { return };
        let Some(look) = &self.how.ended else { return };
        session.abort_handle().abort();
        // An aborted session has nothing to wait for.
        drop(session.run().now_or_never());
        // A look that panics has told so by its hook, and is not the run's matter.
        drop(catch_unwind(AssertUnwindSafe(|| look(&session))));
    }
}

/// The run was cancelled, or its loop dropped.
impl<C: Callbacks> Drop for Answer<'_, C> {
    fn drop(&mut self) {
        self.leave();
    }
}
