//! The typed session, with the stream or the timer that its state needs.

use std::future::Future;
use std::mem;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use runstate::stream_session::{
    AnyStreamSession, FallingBack, Init, Output, Retrying, StreamSession, StreamSessionStatus, Streaming,
};
use tokio::time::{Instant, Sleep, sleep_until};

use crate::source::{BoxSource, OpenFuture};
use crate::{SessionError, State};

/// A state of the lifecycle, with the stream or the timer that it needs. `STREAMING` has two phases: a stream
/// is being opened, or is read.
pub(super) enum Phase {
    /// No stream was opened yet.
    Fresh(StreamSession<Init>),
    /// A stream is being opened.
    Opening(StreamSession<Streaming>, OpenFuture),
    /// A stream is open.
    Reading(StreamSession<Streaming>, BoxSource),
    /// A retry waits for its backoff.
    BackingOff(StreamSession<Retrying>, BackOff),
    /// The next stream is due.
    FallingBack(StreamSession<FallingBack>),
    /// The session is over: the typed session in its last state, and the result for the caller.
    Ended(AnyStreamSession, Result<Arc<State>, SessionError>),
    /// Placeholder between two phases. It remains after a panic.
    Lost,
}

/// The wait before a retry.
pub(super) struct BackOff {
    until: Option<Instant>,
    timer: Option<Pin<Box<Sleep>>>,
}

/// A practically endless wait, for delays that overflow the clock.
const FOREVER: Duration = Duration::from_secs(30 * 365 * 24 * 60 * 60);

impl BackOff {
    /// Starts the wait now. The timer is created at the first poll, which may happen in another task.
    pub(super) fn of(delay: Duration) -> Self {
        let until = (!delay.is_zero()).then(|| {
            let now = Instant::now();
            now.checked_add(delay).unwrap_or_else(|| now + FOREVER)
        });
        BackOff { until, timer: None }
    }

    /// # Panics
    /// Panics outside of a tokio runtime with time if the delay is not zero.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Some(until) = self.until else { return Poll::Ready(()) };
        self.timer.get_or_insert_with(|| Box::pin(sleep_until(until))).as_mut().poll(cx)
    }
}

impl Phase {
    /// Takes the phase. The caller stores the next one.
    pub(super) fn take(&mut self) -> Phase {
        mem::replace(self, Phase::Lost)
    }

    pub(super) fn ended(&self) -> Option<Result<&Arc<State>, &SessionError>> {
        match self {
            Phase::Ended(_, result) => Some(result.as_ref()),
            _ => None,
        }
    }

    /// Returns whether the session is over.
    pub(super) fn is_over(&self) -> bool {
        matches!(self, Phase::Ended(..) | Phase::Lost)
    }

    pub(super) fn status(&self) -> StreamSessionStatus {
        match self {
            Phase::Fresh(_) => StreamSessionStatus::Init,
            Phase::Opening(..) | Phase::Reading(..) => StreamSessionStatus::Streaming,
            Phase::BackingOff(..) => StreamSessionStatus::Retrying,
            Phase::FallingBack(_) => StreamSessionStatus::FallingBack,
            Phase::Ended(_, Ok(_)) => StreamSessionStatus::Completed,
            Phase::Ended(_, Err(_)) | Phase::Lost => StreamSessionStatus::Errored,
        }
    }

    pub(super) fn output(&self) -> Option<&Output> {
        match self {
            Phase::Opening(session, _) | Phase::Reading(session, _) => Some(session.state().output()),
            Phase::BackingOff(session, _) => Some(session.state().output()),
            Phase::FallingBack(session) => Some(session.state().output()),
            Phase::Ended(AnyStreamSession::Completed(session), _) => Some(session.state().output()),
            Phase::Ended(AnyStreamSession::Errored(session), _) => Some(session.state().output()),
            Phase::Fresh(_) | Phase::Ended(..) | Phase::Lost => None,
        }
    }
}
