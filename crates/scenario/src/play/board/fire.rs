//! Execution of external steps.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use runstate::decision::{DecisionAction, Suspension};
use runstate_agent::{Incoming, Reply, RunGone};

use super::super::played::{ExternalInput, Replied, Sent};
use super::outside::{Awaited, Pending};
use super::{Board, Flying};
use crate::file::{Act, Decision, RUN, When};

impl Board {
    /// Executes the steps that are due.
    pub(super) fn fire_due(&self) {
        let now_ms = self.clock.now_ms();
        while let Some(pending) = self.take_first(|pending| pending.due_ms.is_some_and(|due| due <= now_ms)) {
            self.fire(pending);
        }
    }

    /// Executes the steps at this commit; returns whether the process is gone.
    pub(in crate::play) fn fire_at_commit(&self, is_now: impl Fn(&When) -> bool) -> bool {
        while let Some(pending) = self.take_first(|pending| is_now(&pending.step.when)) {
            self.fire(pending);
        }
        let is_gone = self.is_crashed();
        if is_gone {
            // A reply at the time of its death still arrived.
            self.hear_now();
            self.fire_due();
        }
        is_gone
    }

    pub(super) fn take_first(&self, wanted: impl Fn(&Pending) -> bool) -> Option<Pending> {
        let steps = &mut self.lock().outside.steps;
        let mut first: Option<usize> = None;
        for (at, pending) in steps.iter().enumerate().filter(|(_, pending)| wanted(pending)) {
            // Of two steps the earlier one; at equal times, the first in the file.
            if first.is_none_or(|first| pending.due_ms < steps[first].due_ms) {
                first = Some(at);
            }
        }
        first.map(|at| steps.remove(at))
    }

    pub(super) fn fire(&self, pending: Pending) {
        let named = pending.to_string();
        let Pending { step, then, .. } = pending;
        match step.act {
            Act::Decide(decisions) => {
                let batch = decisions.iter().map(|decision| self.incoming(decision.clone())).collect();
                self.give(batch, Some(Awaited { decisions, insists: step.insists, then }));
            }
            Act::Write(text) => self.write(text),
            Act::Cancel => {
                self.lock().outside.is_cancelled |= step.insists;
                self.cancel();
            }
            Act::Resume => {
                let mut inner = self.lock();
                inner.woken = true;
                inner.outside.resumed.push(named);
            }
            Act::Drop => self.lock().dropped = true,
            Act::Crash => self.gone.go(),
            Act::CrashFor(ms) => {
                self.lock().outside.away_ms = ms;
                self.gone.go();
            }
        }
        self.changed.notify_one();
    }

    pub(in crate::play) fn cancel(&self) {
        self.token.cancel();
        self.lock().woken = true;
        self.changed.notify_one();
    }

    fn incoming(&self, decision: Decision) -> Incoming {
        let (shown, run) = {
            let inner = self.lock();
            let shown = if decision.as_shown { inner.digests.get(&decision.call).cloned() } else { None };
            (shown, inner.run.clone())
        };
        let mut incoming = Incoming::new(decision.id, decision.call, decision.action.into());
        incoming.run_id = decision.run.map(|named| named.replace(RUN, &run));
        incoming.suspension_id = decision.suspension.map(|named| named.replace(RUN, &run));
        incoming.result = decision.result;
        incoming.reason = decision.reason;
        incoming.actor = decision.actor;
        incoming.digest = decision.digest.or(shown);
        incoming
    }

    /// Gives decisions to the run, together.
    pub(in crate::play) fn send(&self, batch: Vec<Incoming>) {
        self.give(batch, None);
    }

    fn give(&self, batch: Vec<Incoming>, awaited: Option<Awaited>) {
        let now_ms = self.clock.now_ms();
        let numbers = {
            let mut inner = self.lock();
            inner.woken = true;
            let first = inner.outside.sent.len();
            inner.outside.sent.extend(batch.iter().map(|incoming| Sent {
                at_ms: now_ms,
                what: ExternalInput::Decision(Box::new(incoming.clone())),
                replied: None,
            }));
            // The batch may be empty: a person may have given no answer.
            let numbers = first..inner.outside.sent.len();
            inner.outside.awaited.extend(numbers.clone().last().zip(awaited));
            numbers
        };
        let (handle, clock) = (self.handle.clone(), Arc::clone(&self.clock));
        self.fly(Box::pin(async move {
            let replies = handle.decide_all(batch).await;
            let at_ms = clock.now_ms();
            let replied = |reply: Reply| Replied { at_ms, reply: Some(reply) };
            match replies {
                Ok(replies) => numbers.zip(replies.into_iter().map(replied)).collect(),
                Err(RunGone) => numbers.map(|number| (number, Replied { at_ms, reply: None })).collect(),
            }
        }));
    }

    /// Gives decisions that were accepted elsewhere: their replies are not awaited here.
    pub(in crate::play) fn post(&self, batch: Vec<Incoming>) {
        self.lock().woken = true;
        let handle = self.handle.clone();
        self.fly(Box::pin(async move {
            // A run that is gone reads them from the store.
            handle.post(batch).await.ok();
            Vec::new()
        }));
        self.changed.notify_one();
    }

    fn write(&self, text: String) {
        let now_ms = self.clock.now_ms();
        let (number, parked) = {
            let mut inner = self.lock();
            inner.outside.sent.push(Sent {
                at_ms: now_ms,
                what: ExternalInput::Message(text.clone()),
                replied: None,
            });
            (inner.outside.sent.len() - 1, inner.waiting && self.parks)
        };
        if parked {
            let mut inner = self.lock();
            inner.outside.sent[number].replied =
                Some(Replied { at_ms: now_ms, reply: Some(Reply::Accepted) });
            inner.message = Some(text);
            return;
        }
        let (handle, clock) = (self.handle.clone(), Arc::clone(&self.clock));
        self.fly(Box::pin(async move {
            let taken = handle.write(text).await;
            let reply = taken.is_ok_and(|taken| taken).then_some(Reply::Accepted);
            vec![(number, Replied { at_ms: clock.now_ms(), reply })]
        }));
    }

    /// Sends it before anything else happens: the first poll sends, the rest waits for the reply.
    fn fly(&self, mut reply: Flying) {
        match Pin::new(&mut reply).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(replies) => self.hear(replies),
            Poll::Pending => self.lock().flying.push(reply),
        }
    }
}

/// An answer to a suspension, as a decision.
pub(super) fn answer(ready: super::Ready, suspension: &Suspension) -> Incoming {
    let (super::Ready { answer, .. }, id) = (ready, &suspension.id);
    // A scenario is a script, not a second person.
    let scenario = || (!suspension.distinct_actors).then(|| "scenario".to_owned());
    let action: DecisionAction = answer.action.into();
    let mut incoming = Incoming::new(format!("{id}/decision"), answer.call, action).on(id);
    incoming.result = answer.result.unwrap_or_default();
    incoming.reason = answer.reason;
    incoming.actor = answer.actor.or_else(scenario);
    incoming
}
