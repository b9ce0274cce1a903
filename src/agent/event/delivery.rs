//! What a receiver gets.

use std::sync::Arc;

use super::agent_event::AgentEvent;

/// What a receiver gets: the events in order, and a word in their place where some are missing.
#[derive(Debug, Clone, PartialEq)]
pub enum Delivery {
    /// An event.
    Event(Arc<AgentEvent>),
    /// Events are missing here.
    Gap(Gap),
}

/// Events that a receiver did not get. A front end that meets one reads the run's state anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gap {
    /// The number of the last event before the gap; none where it is the first.
    pub after: Option<u64>,
    /// How many are missing; none where that is not known, because the receiver names an event that was never here.
    pub missed: Option<u64>,
}
