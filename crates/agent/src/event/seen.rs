//! The position of a receiver that reconnects.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::agent_event::AgentEvent;

/// The last event that a receiver saw: its number and its time.
///
/// The number alone is not enough. A crash undoes the events after the last commit, and the next process uses their
/// numbers for other events. The time distinguishes them.
///
/// The text form fits the id of a server-sent event, which a browser sends back as `Last-Event-ID`:
///
/// ```
/// use runstate_agent::event::{AgentEvent, EventKind, Seen};
///
/// let event = AgentEvent::new(7, 1_200, "r1", "t1", 1, EventKind::StepStarted { step: 1 });
/// assert_eq!(Seen::from(&event).to_string(), "7@1200");
/// assert_eq!("7@1200".parse(), Ok(Seen { seq: 7, at_ms: 1_200 }));
///
/// let error = "7".parse::<Seen>().unwrap_err();
/// assert_eq!(error.to_string(), r#""7" is no place among events: expected a number, an @ and milliseconds, as 7@1200"#);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Seen {
    /// The number of the event in its run.
    pub seq: u64,
    /// The time of the event, in milliseconds on the run's clock.
    pub at_ms: u64,
}

impl From<&AgentEvent> for Seen {
    fn from(event: &AgentEvent) -> Self {
        Seen { seq: event.seq, at_ms: event.at_ms }
    }
}

impl fmt::Display for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.seq, self.at_ms)
    }
}

impl FromStr for Seen {
    type Err = SeenError;

    fn from_str(text: &str) -> Result<Self, SeenError> {
        let number = |digits: &str| {
            let all_digits = digits.bytes().all(|byte| byte.is_ascii_digit());
            digits.parse().ok().filter(|_| all_digits)
        };
        let parsed = text.split_once('@').and_then(|(seq, at_ms)| Some((number(seq)?, number(at_ms)?)));
        parsed
            .map(|(seq, at_ms)| Seen { seq, at_ms })
            .ok_or_else(|| SeenError(text.chars().take(64).collect()))
    }
}

/// Error: a text that is not a position among events.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no place among events: expected a number, an @ and milliseconds, as 7@1200")]
pub struct SeenError(String);
