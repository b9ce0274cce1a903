//! The typed session with what its state needs of the world.

use std::future::Future;
use std::mem;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::{Instant, Sleep, sleep_until};

use crate::stream::source::{BoxSource, OpenFuture};
use crate::stream::{SessionError, State};
use crate::stream_session::{
    AnyStreamSession, FallingBack, Init, Output, Retrying, StreamSession, StreamSessionStatus, Streaming,
};

/// A state of the lifecycle, and the stream or the timer that goes with it. `STREAMING` is two of them: a stream is being
/// opened, or read.
pub(super) enum Phase {
    /// Nothing was opened yet.
    Fresh(StreamSession<Init>),
    /// A stream is being opened.
    Opening(StreamSession<Streaming>, OpenFuture),
    /// A stream is open.
    Reading(StreamSession<Streaming>, BoxSource),
    /// A retry waits.
    BackingOff(StreamSession<Retrying>, BackOff),
    /// The next stream is due.
    FallingBack(StreamSession<FallingBack>),
    /// The session is over: the typed session in its last state, and what the caller is told.
    Ended(AnyStreamSession, Result<Arc<State>, SessionError>),
    /// Between two phases, and after a panic in the middle.
    Lost,
}

/// The wait before a retry.
pub(super) struct BackOff {
    until: Option<Instant>,
    timer: Option<Pin<Box<Sleep>>>,
}

/// A wait without end, near enough: what does not fit on a clock.
const FOREVER: Duration = Duration::from_secs(30 * 365 * 24 * 60 * 60);

impl BackOff {
    /// From now on. The timer is made when it is first polled, which may be in another place.
    pub(super) fn of(delay: Duration) -> Self {
        let until = (!delay.is_zero()).then(|| {
            let now = Instant::now();
            now.checked_add(delay).unwrap_or_else(|| now + FOREVER)
        });
        BackOff { until, timer: None }
    }

    /// # Panics
    /// Outside of a tokio runtime with time, when there is something to wait for.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Some(until) = self.until else { return Poll::Ready(()) };
        self.timer.get_or_insert_with(|| Box::pin(sleep_until(until))).as_mut().poll(cx)
    }
}

impl Phase {
    /// Takes the phase, to put the next one in its place.
    pub(super) fn take(&mut self) -> Phase {
        mem::replace(self, Phase::Lost)
    }

    pub(super) fn ended(&self) -> Option<Result<&Arc<State>, &SessionError>> {
        match self {
            Phase::Ended(_, result) => Some(result.as_ref()),
            _ => None,
        }
    }

    /// Does nothing follow?
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
