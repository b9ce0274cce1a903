//! External inputs and their times.

mod fire;
mod hear;
mod outside;
mod reply;
mod sink;

use std::collections::HashMap;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use runstate::decision::Suspension;
use runstate_agent::event::EventSink;
use runstate_agent::{CancellationToken, DecisionHandle, RunState, WhenSuspended};
use runstate_runtime::clock::{Clock, sleep_until};
use tokio::sync::Notify;

use super::played::{Replied, Sent};
use crate::Scenario;
use crate::file::{Act, When};
use crate::script::{Asks, Gone};
use outside::Pending;

pub(super) use outside::Outside;
pub use outside::Ready;

/// The receiver of replies to external inputs.
pub type ReplyObserver = Arc<dyn Fn(&Sent) + Send + Sync>;

/// A pending reply, and the numbers of the sent inputs.
type Flying = Pin<Box<dyn Future<Output = Vec<(usize, Replied)>> + Send>>;

/// The external inputs while one process drives the run. It takes over the inputs of an earlier, crashed process.
pub(super) struct Board {
    inner: Mutex<Inner>,
    changed: Notify,
    handle: DecisionHandle,
    pub(super) token: CancellationToken,
    clock: Arc<dyn Clock>,
    parks: bool,
    /// Is there a committer?
    is_committed: bool,
    asks: Asks,
    gone: Gone,
    also: Option<Arc<dyn EventSink>>,
    accepted: Option<ReplyObserver>,
}

#[derive(Default)]
struct Inner {
    /// The run's id.
    run: String,
    outside: Outside,
    flying: Vec<Flying>,
    /// Does the run wait for decisions?
    waiting: bool,
    /// The time of the next expiry among the questions.
    lapses_ms: Option<u64>,
    /// Does a store expire the questions?
    expires_in_store: bool,
    /// Is there an input for a parked run?
    woken: bool,
    /// Is the loop dropped?
    dropped: bool,
    /// The message of the user for a parked run.
    message: Option<String>,
    /// Questions that are not committed, and so not shown.
    asked: Vec<(String, Suspension)>,
    /// The digest of the last question of each call.
    digests: HashMap<String, String>,
}

impl Board {
    pub(super) fn new(
        scenario: &Scenario,
        outside: Outside,
        handle: DecisionHandle,
        (clock, began_ms): (Arc<dyn Clock>, u64),
        (asks, gone): (Asks, Gone),
        also: Option<Arc<dyn EventSink>>,
        accepted: Option<ReplyObserver>,
    ) -> Self {
        let mut inner = Inner { outside, ..Inner::default() };
        inner.outside.sent_before = inner.outside.sent.len();
        for pending in &mut inner.outside.steps {
            if let When::AtMs(at) = pending.step.when {
                pending.due_ms = Some(began_ms.saturating_add(at));
            }
        }
        Board {
            inner: Mutex::new(inner),
            changed: Notify::new(),
            handle,
            token: CancellationToken::new(),
            clock,
            parks: scenario.when_suspended == WhenSuspended::Park,
            is_committed: scenario.commits.kept,
            asks,
            gone,
            also,
            accepted,
        }
    }

    /// Returns the data that outlives the process.
    pub(super) fn into_outside(self) -> Outside {
        self.inner.into_inner().unwrap_or_else(PoisonError::into_inner).outside
    }

    /// As `into_outside`, while others still hold the board.
    pub(super) fn take_outside(&self) -> Outside {
        std::mem::take(&mut self.lock().outside)
    }

    pub(super) fn sent(&self) -> Vec<Sent> {
        self.lock().outside.sent.clone()
    }

    /// The answers that were not given.
    pub(super) fn unused(&self) -> Vec<Ready> {
        self.lock().outside.answers.clone()
    }

    /// Reads a run that waits since an earlier process.
    pub(super) fn look_at(&self, state: &RunState) {
        let answers = {
            let mut inner = self.lock();
            let waiting = state.pending();
            inner.waiting = !waiting.is_empty();
            inner.note_lapses(waiting.iter().map(|one| one.suspension));
            inner.answers(waiting.iter().map(|one| (one.call, one.suspension)))
        };
        if !answers.is_empty() {
            self.send(answers);
        }
    }

    /// Leaves the expiry of questions to a store.
    pub(super) fn leave_expiry_to_store(&self) {
        self.lock().expires_in_store = true;
    }

    /// Counts a try of a commit and returns its number, from 1.
    pub(super) fn count_commit(&self) -> u32 {
        let commits = &mut self.lock().outside.commits;
        *commits += 1;
        *commits
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the next step or reply, and executes it.
    pub(super) async fn turn(&self) {
        let next = self.next_due_ms();
        let due = async {
            match next {
                Some(at_ms) => sleep_until(&*self.clock, at_ms).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            () = poll_fn(|cx| self.poll_replies(cx)) => {}
            () = self.changed.notified() => {}
            () = due => self.fire_due(),
        }
    }

    fn poll_replies(&self, cx: &mut Context<'_>) -> Poll<()> {
        let mut flying = std::mem::take(&mut self.lock().flying);
        let mut heard = Vec::new();
        flying.retain_mut(|reply| match reply.as_mut().poll(cx) {
            Poll::Ready(replies) => {
                heard.extend(replies);
                false
            }
            Poll::Pending => true,
        });
        self.lock().flying.extend(flying);
        if heard.is_empty() {
            return Poll::Pending;
        }
        self.hear(heard);
        Poll::Ready(())
    }

    /// Takes the replies that are ready, without waiting.
    pub(super) fn hear_now(&self) {
        let mut cx = Context::from_waker(std::task::Waker::noop());
        while self.poll_replies(&mut cx).is_ready() {}
    }

    fn next_due_ms(&self) -> Option<u64> {
        self.lock().outside.steps.iter().filter_map(|pending| pending.due_ms).min()
    }

    /// Waits until the process is gone.
    pub(super) async fn crashed(&self) {
        poll_fn(|_| if self.is_crashed() { Poll::Ready(()) } else { Poll::Pending }).await;
    }

    /// Waits until the loop is dropped.
    pub(super) async fn dropped(&self) {
        let was_dropped = || std::mem::take(&mut self.lock().dropped);
        poll_fn(|_| if was_dropped() { Poll::Ready(()) } else { Poll::Pending }).await;
    }

    /// A loop begins: an earlier drop does not affect it.
    pub(super) fn loop_begins(&self) {
        let now_ms = self.clock.now_ms();
        let is_late = |pending: &Pending| {
            pending.step.act == Act::Drop && pending.due_ms.is_some_and(|due_ms| due_ms <= now_ms)
        };
        while let Some(late) = self.take_first(is_late) {
            self.lock().outside.late.push(late.to_string());
        }
        self.lock().dropped = false;
    }

    pub(super) fn is_crashed(&self) -> bool {
        self.gone.is()
    }

    /// Waits for the time at which the loop or its process ends, and ends it.
    pub(super) async fn cut(&self) {
        let cuts = |pending: &Pending| match pending.step.when {
            When::AtMs(_) => matches!(pending.step.act, Act::Drop | Act::Crash | Act::CrashFor(_)),
            _ => false,
        };
        let due_ms =
            self.lock().outside.steps.iter().filter(|pending| cuts(pending)).filter_map(|it| it.due_ms).min();
        let Some(due_ms) = due_ms else { return std::future::pending().await };
        sleep_until(&*self.clock, due_ms).await;
        let is_due = |pending: &Pending| cuts(pending) && pending.due_ms == Some(due_ms);
        while let Some(pending) = self.take_first(is_due) {
            self.fire(pending);
        }
    }

    /// Waits until the run waits and no input can resume it.
    pub(super) async fn stuck(&self) {
        poll_fn(|_| if self.is_stuck() { Poll::Ready(()) } else { Poll::Pending }).await;
    }

    fn is_stuck(&self) -> bool {
        let inner = self.lock();
        inner.waiting
            && inner.flying.is_empty()
            && inner.next_lapse().is_none()
            && !self.token.is_cancelled()
            && !inner.has_due_step()
    }

    /// The next input for a parked run: waits for it while one is possible.
    pub(super) async fn woken(&self) -> Option<Woken> {
        loop {
            // A process that is gone waits for nothing.
            if self.is_crashed() {
                return Some(Woken::Look);
            }
            let lapses_ms = {
                let mut inner = self.lock();
                let woken = std::mem::take(&mut inner.woken);
                inner.outside.resumed.clear();
                if let Some(message) = inner.message.take() {
                    return Some(Woken::Message(message));
                }
                if woken {
                    return Some(Woken::Look);
                }
                if !inner.has_due_step() && inner.next_lapse().is_none() {
                    return None;
                }
                inner.next_lapse()
            };
            let lapse = async {
                match lapses_ms {
                    Some(at_ms) => sleep_until(&*self.clock, at_ms).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                () = self.turn() => {}
                () = lapse => {
                    self.lock().lapses_ms = None;
                    return Some(Woken::Look);
                }
            }
        }
    }
}

impl Inner {
    /// The next expiry that the run waits for.
    fn next_lapse(&self) -> Option<u64> {
        self.lapses_ms.filter(|_| !self.expires_in_store)
    }

    /// Returns whether a step has a time. A step that comes with or after an expiry in a store waits for the store.
    fn has_due_step(&self) -> bool {
        let bound_ms = self.lapses_ms.filter(|_| self.expires_in_store);
        let comes = |due_ms: u64| bound_ms.is_none_or(|bound_ms| due_ms < bound_ms);
        self.outside.steps.iter().any(|pending| pending.due_ms.is_some_and(comes))
    }
}

/// An input for a parked run.
pub(super) enum Woken {
    /// A possible change.
    Look,
    /// A message of the user.
    Message(String),
}
