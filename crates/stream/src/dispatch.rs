//! The dispatcher: the single place at which events leave a session.

use std::collections::VecDeque;
use std::sync::Arc;

use runstate_runtime::clock::Clock;

use super::callbacks::{self, Callbacks};
use super::event::{Event, EventKind, Identity};
use super::record::Log;
use super::state::Ledger;

/// The clock of a replay, whose events carry their own times.
pub(super) struct Timeless;

impl Clock for Timeless {
    fn now_ms(&self) -> u64 {
        0
    }
}

/// Dispatcher of events. It numbers them, stamps their time, calls the callbacks, keeps the record, and queues
/// the events that the consumer has not taken yet.
pub(super) struct Dispatcher<C> {
    pub(super) callbacks: C,
    clock: Box<dyn Clock>,
    identity: Arc<Identity>,
    seq: u64,
    at_ms: u64,
    pub(super) ledger: Ledger,
    pub(super) log: Option<Log>,
    waiting: VecDeque<Event>,
    panics: u64,
}

impl<C: Callbacks> Dispatcher<C> {
    pub(super) fn new(callbacks: C, clock: Box<dyn Clock>, identity: Identity, log: Option<Log>) -> Self {
        Dispatcher {
            callbacks,
            clock,
            identity: Arc::new(identity),
            seq: 0,
            at_ms: 0,
            ledger: Ledger::default(),
            log,
            waiting: VecDeque::new(),
            panics: 0,
        }
    }

    /// Emits an event at the present time. `content` is the session's content.
    #[inline]
    pub(super) fn emit(&mut self, kind: EventKind, content: &str) {
        let at_ms = self.clock.now_ms();
        self.emit_at(at_ms, kind, content);
    }

    /// Emits an event at a given time, for replays. Times never go back.
    #[inline]
    pub(super) fn emit_at(&mut self, at_ms: u64, kind: EventKind, content: &str) {
        self.at_ms = self.at_ms.max(at_ms);
        self.seq += 1;
        self.ledger.apply(self.at_ms, &kind);
        let event = Event { seq: self.seq, at_ms: self.at_ms, kind, identity: Arc::clone(&self.identity) };
        self.panics += u64::from(callbacks::call(&mut self.callbacks, &event, content));
        if let Some(log) = &mut self.log {
            log.push(&event);
        }
        self.waiting.push_back(event);
    }

    /// Returns the next event that the consumer has not taken.
    #[inline]
    pub(super) fn next(&mut self) -> Option<Event> {
        self.waiting.pop_front()
    }

    /// Returns the time for an event that carries a state. The state must be built before its event.
    pub(super) fn now(&mut self) -> u64 {
        self.ledger.at_ms = self.at_ms.max(self.clock.now_ms());
        self.ledger.at_ms
    }

    pub(super) fn identity(&self) -> &Identity {
        &self.identity
    }

    /// Returns how many calls of callbacks panicked.
    pub(super) fn panics(&self) -> u64 {
        self.panics
    }
}
