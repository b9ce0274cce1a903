//! Deliveries of events to a receiver.

use std::sync::Arc;

use super::agent_event::AgentEvent;

/// A delivery to a receiver. Events come in order, and a gap takes the place of missing events.
#[derive(Debug, Clone, PartialEq)]
pub enum Delivery {
    /// An event.
    Event(Arc<AgentEvent>),
    /// Events are missing here.
    Gap(Gap),
}

/// A gap: events that the receiver did not get. A front end then reads the run's state again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gap {
    /// The number of the last event before the gap; `None` if no event came before.
    pub after: Option<u64>,
    /// The number of missing events; `None` if it is unknown because the receiver named an event that this sink does
    /// not know.
    pub missed: Option<u64>,
}
