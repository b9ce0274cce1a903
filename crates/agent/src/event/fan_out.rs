//! A sink that forwards to several sinks.

use std::fmt;
use std::sync::Arc;

use super::agent_event::AgentEvent;
use super::sink::EventSink;

/// Sink that passes each event to several sinks, in their order. The sinks share the event.
#[derive(Clone, Default)]
pub struct FanOut(Vec<Arc<dyn EventSink>>);

impl FanOut {
    /// Creates a sink that forwards to these sinks.
    pub fn new(sinks: Vec<Arc<dyn EventSink>>) -> Self {
        FanOut(sinks)
    }
}

impl EventSink for FanOut {
    fn emit(&self, event: &Arc<AgentEvent>) {
        for sink in &self.0 {
            sink.emit(event);
        }
    }
}

impl fmt::Debug for FanOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FanOut").field("sinks", &self.0.len()).finish()
    }
}
