//! Where events go.

use std::sync::Arc;

use super::agent_event::AgentEvent;

/// Takes events. It must return at once: it neither waits nor does I/O, since the run goes on behind it.
///
/// What it cannot take, it drops and tells its receiver of. One that panics is told nothing more, and the run goes on; its
/// [`Outcome`](crate::agent::Outcome) says so. A run emits its events in the order of their
/// numbers, never two at a time.
pub trait EventSink: Send + Sync {
    /// Takes an event.
    fn emit(&self, event: &Arc<AgentEvent>);
}

impl<S: EventSink + ?Sized> EventSink for Arc<S> {
    fn emit(&self, event: &Arc<AgentEvent>) {
        (**self).emit(event);
    }
}

impl<S: EventSink + ?Sized> EventSink for &S {
    fn emit(&self, event: &Arc<AgentEvent>) {
        (**self).emit(event);
    }
}

/// Nobody listens.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoEvents;

impl EventSink for NoEvents {
    fn emit(&self, _: &Arc<AgentEvent>) {}
}
