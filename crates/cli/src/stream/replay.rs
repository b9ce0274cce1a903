//! A session replayed from its record.

use std::fmt;
use std::sync::Arc;

use runstate_stream::{Compare, ConsumerText, Recording, SessionError, State};

/// The result of replaying a session's record.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Replay {
    /// The events and the result of the session.
    Same {
        /// The number of events.
        events: usize,
    },
    /// A different result.
    Different(String),
    /// There is no record.
    None,
}

impl fmt::Display for Replay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Replay::Same { events } => write!(f, "record of {events} events, which replays to the same"),
            Replay::Different(difference) => {
                write!(f, "record, which does not replay to the same: {difference}")
            }
            Replay::None => f.write_str("no record"),
        }
    }
}

/// Stores the record, reads it again and replays it without the sources. `told` is the end of the session, and `consumer`
/// the final text of its events; a dropped session has no end yet.
pub(super) fn again(
    record: Option<Recording>,
    told: Option<Result<Arc<State>, SessionError>>,
    consumer: &ConsumerText,
) -> Replay {
    let Some(record) = record else { return Replay::None };
    match replayed(&record, told, consumer) {
        Ok(()) => Replay::Same { events: record.len() },
        Err(difference) => Replay::Different(difference),
    }
}

fn replayed(
    record: &Recording,
    told: Option<Result<Arc<State>, SessionError>>,
    consumer: &ConsumerText,
) -> Result<(), String> {
    let stored = serde_json::to_string(record).map_err(|error| error.to_string())?;
    let read: Recording = serde_json::from_str(&stored).map_err(|error| error.to_string())?;
    if let Some(difference) = read.first_difference(record, Compare::All) {
        return Err(difference.to_string());
    }
    let replayed = read.replay(()).map_err(|error| error.to_string())?;
    if replayed.result != told {
        return Err("another end".to_owned());
    }
    let mut text = ConsumerText::new();
    replayed.events.iter().for_each(|event| text.apply(event));
    if text == *consumer { Ok(()) } else { Err(format!("the text {:?}", text.as_str())) }
}
