//! Aborts of a session from outside.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use futures_util::task::AtomicWaker;
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

/// Handle that aborts a session. Clones of it work from any thread, and from a callback of the session.
///
/// An abort that comes after the session's end changes nothing.
#[derive(Clone, Default)]
pub struct AbortHandle(Arc<Shared>);

#[derive(Default)]
struct Shared {
    aborted: AtomicBool,
    session: AtomicWaker,
}

impl AbortHandle {
    /// Asks the session to stop. The call wakes the session's task. At its next poll the session emits
    /// ABORT_COMPLETED, and it opens no further stream.
    pub fn abort(&self) {
        self.0.aborted.store(true, Ordering::Release);
        self.0.session.wake();
    }

    /// Returns whether an abort was requested.
    pub fn is_aborted(&self) -> bool {
        self.0.aborted.load(Ordering::Acquire)
    }
}

impl fmt::Debug for AbortHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AbortHandle({})", if self.is_aborted() { "aborted" } else { "idle" })
    }
}

/// The session's side of an abort: the handle, and the cancellation token if there is one.
pub(super) struct AbortSignal {
    handle: AbortHandle,
    token: Option<(CancellationToken, Pin<Box<WaitForCancellationFutureOwned>>)>,
}

impl AbortSignal {
    pub(super) fn new(handle: AbortHandle, token: Option<CancellationToken>) -> Self {
        let token = token.map(|token| (token.clone(), Box::pin(token.cancelled_owned())));
        AbortSignal { handle, token }
    }

    pub(super) fn handle(&self) -> &AbortHandle {
        &self.handle
    }

    #[inline]
    pub(super) fn is_aborted(&self) -> bool {
        self.handle.is_aborted() || self.token.as_ref().is_some_and(|(token, _)| token.is_cancelled())
    }

    /// Registers the task to be woken by an abort. Returns true if an abort was requested already.
    pub(super) fn register(&mut self, cx: &mut Context<'_>) -> bool {
        self.handle.0.session.register(cx.waker());
        let cancelled =
            self.token.as_mut().is_some_and(|(_, cancelled)| cancelled.as_mut().poll(cx) == Poll::Ready(()));
        cancelled || self.handle.is_aborted()
    }
}
