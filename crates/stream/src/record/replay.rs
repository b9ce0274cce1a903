//! The replay of a session from its record.

use std::sync::Arc;

use runstate::kernel::{Machine, Observer};
use runstate::stream_session::*;

use super::Recording;
use crate::dispatch::{Dispatcher, Timeless};
use crate::event::{Event, EventKind, Identity, Strategy};
use crate::failure::aborted;
use crate::{Callbacks, Failure, SessionError, State};

/// Result of a replay. It equals the session's result if the record is complete.
#[derive(Debug)]
#[non_exhaustive]
pub struct Replayed<C> {
    /// The events, in the form in which the session's consumer received them.
    pub events: Vec<Event>,
    /// The result of the session; none if the record ends before the session.
    pub result: Option<Result<Arc<State>, SessionError>>,
    /// The typed session at its last event.
    pub session: AnyStreamSession,
    /// The callbacks of the replay.
    pub callbacks: C,
}

/// Error for a record that no session can have made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("event {seq}, {event}: {reason}")]
#[non_exhaustive]
pub struct ReplayError {
    /// The sequence number of the event that does not fit.
    pub seq: u64,
    /// The event's type.
    pub event: &'static str,
    /// The reason.
    pub reason: String,
}

impl Recording {
    /// Runs the session again without its sources. The callbacks receive equal events, and the typed session
    /// takes each step to an equal end.
    ///
    /// # Errors
    /// The first event that the session could not have emitted in its state.
    pub fn replay<C: Callbacks>(&self, callbacks: C) -> Result<Replayed<C>, ReplayError> {
        self.replay_observed(callbacks, Observer::default())
    }

    /// Replays the record, and reports each transition to `observer`.
    ///
    /// # Errors
    /// Like [`replay`](Self::replay).
    pub fn replay_observed<C: Callbacks>(
        &self,
        callbacks: C,
        observer: Observer,
    ) -> Result<Replayed<C>, ReplayError> {
        let identity = Identity { stream_id: self.stream_id.clone(), meta: self.meta.clone() };
        let mut dispatch = Dispatcher::new(callbacks, Box::new(Timeless), identity, None);
        let record = SessionRecord::new(self.stream_id.as_str(), self.fallbacks).observed(observer);
        let mut session = AnyStreamSession::create(record);
        let (mut events, mut result) = (Vec::with_capacity(self.len()), None);
        let mut last_ms = 0;
        for (seq, recorded) in (1..).zip(self.events()) {
            let wrong = |reason: String| ReplayError { seq, event: recorded.kind.name(), reason };
            if recorded.at_ms < last_ms {
                return Err(wrong(format!("it is at {} ms, after one at {last_ms} ms", recorded.at_ms)));
            }
            last_ms = recorded.at_ms;
            session = step(session, &recorded.kind).map_err(wrong)?;
            fits(&session, &recorded.kind).map_err(wrong)?;
            let content = output(&session).map(|output| output.content()).unwrap_or_default();
            dispatch.emit_at(recorded.at_ms, recorded.kind.clone(), content);
            events.extend(std::iter::from_fn(|| dispatch.next()));
            if recorded.kind.is_terminal() {
                let ended = end(&session, &dispatch, &recorded.kind).map_err(wrong)?;
                result = Some(ended);
            }
        }
        Ok(Replayed { events, result, session, callbacks: dispatch.callbacks })
    }
}

/// Applies an event to the typed session. Most events change nothing.
fn step(session: AnyStreamSession, kind: &EventKind) -> Result<AnyStreamSession, String> {
    match (session, kind) {
        (AnyStreamSession::Streaming(mut session), EventKind::Token { text }) => {
            session.receive(text).map_err(|error| error.to_string())?;
            Ok(session.into())
        }
        (AnyStreamSession::Streaming(mut session), EventKind::CheckpointSaved { .. }) => {
            session.save_checkpoint();
            Ok(session.into())
        }
        (AnyStreamSession::Retrying(mut session), EventKind::CheckpointRejected { .. }) => {
            session.drop_checkpoint();
            Ok(session.into())
        }
        (AnyStreamSession::FallingBack(mut session), EventKind::CheckpointRejected { .. }) => {
            session.drop_checkpoint();
            Ok(session.into())
        }
        (
            session,
            EventKind::Token { .. }
            | EventKind::CheckpointSaved { .. }
            | EventKind::CheckpointRejected { .. },
        ) => Err(format!("the session is in {}", session.status())),
        (
            session,
            EventKind::SessionStart { .. } | EventKind::AttemptStart { .. } | EventKind::FallbackStart { .. },
        ) => apply(session, Open::Stream),
        (session, EventKind::Error(error)) => {
            let Failure { code, message, kind, .. } = &error.error;
            let error_ = StreamError::new(*code, message.as_str());
            match error.recovery_strategy {
                Strategy::Retry => apply(session, Retry::new(kind.budget(), error_)),
                Strategy::Fallback => apply(session, FallBack::new(error_)),
                Strategy::Halt => apply(session, Fail::new(error_)),
            }
        }
        (session, EventKind::Complete { .. }) => apply(session, Complete),
        (session, EventKind::AbortCompleted { .. }) => {
            let session = match session.status() {
                StreamSessionStatus::Streaming => session,
                StreamSessionStatus::Init
                | StreamSessionStatus::Retrying
                | StreamSessionStatus::FallingBack
                | StreamSessionStatus::Completed
                | StreamSessionStatus::Errored => apply(session, Open::AbortOnly)?,
            };
            apply(session, Fail::new(aborted()))
        }
        (session, _) => match session.status() {
            StreamSessionStatus::Init => Err("the session has not started".to_owned()),
            StreamSessionStatus::Completed | StreamSessionStatus::Errored => {
                Err("the session is over".to_owned())
            }
            StreamSessionStatus::Streaming
            | StreamSessionStatus::Retrying
            | StreamSessionStatus::FallingBack => Ok(session),
        },
    }
}

fn apply(
    session: AnyStreamSession,
    event: impl Into<StreamSessionEvent>,
) -> Result<AnyStreamSession, String> {
    session.apply(event.into()).map_err(|refused| refused.to_string())
}

fn output(session: &AnyStreamSession) -> Option<&Output> {
    match session {
        AnyStreamSession::Init(_) => None,
        AnyStreamSession::Streaming(session) => Some(session.state().output()),
        AnyStreamSession::Retrying(session) => Some(session.state().output()),
        AnyStreamSession::FallingBack(session) => Some(session.state().output()),
        AnyStreamSession::Completed(session) => Some(session.state().output()),
        AnyStreamSession::Errored(session) => Some(session.state().output()),
    }
}

/// Checks the fields of an event against the session.
fn fits(session: &AnyStreamSession, kind: &EventKind) -> Result<(), String> {
    let attempt = match session {
        AnyStreamSession::Streaming(session) => Some(session.state().attempt()),
        AnyStreamSession::Retrying(session) => Some(session.state().failed()),
        AnyStreamSession::Init(_)
        | AnyStreamSession::FallingBack(_)
        | AnyStreamSession::Completed(_)
        | AnyStreamSession::Errored(_) => None,
    };
    let said = match kind {
        EventKind::SessionStart { attempt, .. }
        | EventKind::AttemptStart { attempt, .. }
        | EventKind::RetryAttempt { attempt, .. } => Some(*attempt),
        EventKind::FallbackStart { to_index, .. } => {
            let stream = attempt.map(Attempt::stream);
            if stream != Some(*to_index) {
                return Err(format!("it goes to stream {to_index}, the session to {}", or_none(stream)));
            }
            None
        }
        _ => None,
    };
    if let Some(said) = said
        && attempt.map(Attempt::number) != Some(said)
    {
        return Err(format!(
            "it says attempt {said}, the session is at {}",
            or_none(attempt.map(Attempt::number))
        ));
    }
    let counts = match kind {
        EventKind::CheckpointSaved { token_count, content_length }
        | EventKind::ContentReset { token_count, content_length }
        | EventKind::AbortCompleted { token_count, content_length } => Some((*token_count, *content_length)),
        EventKind::ResumeStart { checkpoint, token_count } => {
            let content = output(session).map(Output::content);
            if content != Some(checkpoint) {
                return Err("its checkpoint differs from that of the session".to_owned());
            }
            Some((*token_count, checkpoint.len()))
        }
        _ => None,
    };
    let held = output(session).map(|output| (output.tokens(), output.content().len()));
    match counts {
        Some((tokens, bytes)) if held != Some((tokens, bytes)) => {
            let (has, long) = held.unwrap_or_default();
            Err(format!("it says {tokens} tokens and {bytes} bytes, the session holds {has} and {long}"))
        }
        _ => Ok(()),
    }
}

fn or_none(number: Option<u32>) -> String {
    number.map_or("none".to_owned(), |number| number.to_string())
}

/// Builds the session's result, which the caller received at its end.
fn end<C: Callbacks>(
    session: &AnyStreamSession,
    dispatch: &Dispatcher<C>,
    kind: &EventKind,
) -> Result<Result<Arc<State>, SessionError>, String> {
    let retries = session.record().retries();
    match (session, kind) {
        (AnyStreamSession::Completed(session), EventKind::Complete { state }) => {
            let made = dispatch.ledger.state(session.state().attempt(), session.state().output(), retries);
            if made != **state {
                return Err("its state differs from that of the session".to_owned());
            }
            Ok(Ok(Arc::clone(state)))
        }
        (AnyStreamSession::Errored(session), _) => {
            let (attempt, output) = (session.state().attempt(), session.state().output());
            let state = dispatch.ledger.state(attempt, output, retries);
            let failure = match kind {
                EventKind::Error(error) => error.error.clone(),
                _ => Failure::aborted(attempt, output),
            };
            Ok(Err(SessionError { failure, state: Arc::new(state) }))
        }
        _ => Err(format!("the session is in {}", session.status())),
    }
}
