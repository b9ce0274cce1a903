//! The size of an event.

use std::io::{Result, Write};

use super::agent_event::AgentEvent;

/// The length of the event as a line of JSON in bytes. The line is not stored.
pub(super) fn length(event: &AgentEvent) -> usize {
    struct Count(usize);
    impl Write for Count {
        fn write(&mut self, bytes: &[u8]) -> Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> Result<()> {
            Ok(())
        }
    }
    let mut count = Count(1);
    serde_json::to_writer(&mut count, event).unwrap_or_else(|_| unreachable!("events are JSON"));
    count.0
}
