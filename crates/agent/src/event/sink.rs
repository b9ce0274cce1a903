//! Event sinks.

use std::sync::Arc;

use super::agent_event::AgentEvent;

/// A consumer of events. `emit` must return immediately, without waiting and without I/O, because the run waits for
/// it.
///
/// A sink drops the events that it cannot take, and reports a gap to its receiver. A sink that panics gets no further
/// events. The run continues, and its [`Outcome`](crate::Outcome) reports the panic. A run emits its events in
/// number order, never two at a time.
pub trait EventSink: Send + Sync {
    /// Consumes an event.
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

/// Sink that drops all events.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoEvents;

impl EventSink for NoEvents {
    fn emit(&self, _: &Arc<AgentEvent>) {}
}
