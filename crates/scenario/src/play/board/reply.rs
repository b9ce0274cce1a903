//! Replies to a call that asks.

use runstate::decision::Suspension;
use runstate_agent::RunState;

use super::outside::{Awaited, Pending};
use super::{Board, Inner};
use crate::file::{Act, Given, Question, Step, When};
use crate::script::IN_DOUBT;

/// The delay until the end of a process is noticed, in milliseconds.
const HEARS_AFTER_MS: u64 = 1;

impl Board {
    /// Replies to the current question of a call.
    pub(super) fn reply(&self, call: &str, suspension: &Suspension) {
        // Replies to earlier decisions are taken first, since they precede the decisions that follow them.
        self.hear_now();
        let now_ms = self.clock.now_ms();
        let (nth, before) = (self.asks.of(call), self.asks.before(call, &suspension.id));
        let in_doubt = suspension.action == IN_DOUBT;
        let mut inner = self.lock();
        let is_meant = |question: &Question| match question {
            Question::Doubt => in_doubt,
            Question::Ask { call: named, nth: wanted } => {
                !in_doubt && named == call && wanted.is_none_or(|wanted| wanted == nth)
            }
        };
        let mut replies = inner.outside.replies.iter().enumerate();
        let Some((place, reply)) = replies.find(|(_, reply)| is_meant(&reply.to)) else { return };
        let gives = reply.gives.iter().map(|given| given.on(call, &suspension.id, before.as_deref()));
        let gives = gives.collect();
        inner.outside.replied.insert(place);
        inner.give_later(gives, now_ms);
        drop(inner);
        self.changed.notify_one();
    }

    /// A process takes over: pending inputs of the previous one are given again, and waiting questions get new replies.
    pub(in crate::play) fn take_over(&self, state: &RunState) {
        let now_ms = self.clock.now_ms();
        {
            let mut inner = self.lock();
            state.id().clone_into(&mut inner.run);
            for (_, awaited) in std::mem::take(&mut inner.outside.awaited) {
                inner.go_on(awaited, true, now_ms);
            }
        }
        if self.lock().outside.is_cancelled {
            self.cancel();
        }
        self.asks.begin(state);
        for pending in state.pending() {
            self.reply(pending.call, pending.suspension);
        }
    }
}

impl Inner {
    /// Continues after decisions that were answered, or that never will be, since their process is gone.
    pub(super) fn go_on(&mut self, awaited: Awaited, is_gone: bool, now_ms: u64) {
        let Awaited { decisions, insists, then } = awaited;
        let again = (is_gone && insists).then_some(Given { after_ms: HEARS_AFTER_MS, decide: decisions });
        self.give_later(again.into_iter().chain(then).collect(), now_ms);
    }

    /// Gives the first of them later, and the others when the earlier ones are answered.
    pub(super) fn give_later(&mut self, gives: Vec<Given>, now_ms: u64) {
        let mut gives = gives.into_iter();
        let Some(Given { after_ms, decide }) = gives.next() else { return };
        let due_ms = now_ms.saturating_add(after_ms);
        let step = Step { when: When::AtMs(due_ms), act: Act::Decide(decide), insists: true };
        self.outside.steps.push(Pending {
            place: None,
            step,
            seen: 0,
            due_ms: Some(due_ms),
            then: gives.collect(),
        });
    }
}
