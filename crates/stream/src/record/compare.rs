//! The first difference between two records.

use std::fmt;

use super::{Recorded, Recording};
use crate::event::EventKind;

/// The data that a comparison covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compare {
    /// All data except the stream's id.
    All,
    /// All data except the stream's id and times: times of events, and times measured within them.
    Untimed,
}

/// A position at which two records differ; see [`Recording::first_difference`].
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Difference {
    /// The user's data of the sessions, or the number of their fallbacks.
    Session {
        /// Data of the first record.
        left: String,
        /// Data of the second record.
        right: String,
    },
    /// An event.
    Event {
        /// Its sequence number.
        seq: u64,
        /// The event of the first record; none if that record has ended.
        left: Option<Box<Recorded>>,
        /// The event of the second record; none if that record has ended.
        right: Option<Box<Recorded>>,
    },
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Difference::Session { left, right } => write!(f, "- session: {left}\n+ session: {right}"),
            Difference::Event { seq, left, right } => {
                write!(f, "- event {seq}: {}\n+ event {seq}: {}", Side(left), Side(right))
            }
        }
    }
}

struct Side<'a>(&'a Option<Box<Recorded>>);

impl fmt::Display for Side<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(event) => f.write_str(&serde_json::to_string(event).map_err(|_| fmt::Error)?),
            None => f.write_str("the record has ended"),
        }
    }
}

impl Recording {
    /// Returns the first difference between two records; none if they are equal. The ids of the streams may
    /// differ.
    ///
    /// ```
    /// use runstate_stream::{Compare, Session, SourceError, StreamEvent};
    ///
    /// # let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build()?;
    /// # runtime.block_on(async {
    /// let said = async |word: &'static str| {
    ///     let open = move |_| async move {
    ///         Ok::<_, SourceError>(futures_util::stream::iter([Ok::<_, SourceError>(StreamEvent::token(word))]))
    ///     };
    ///     let mut session = Session::builder("stream_1", open).build();
    ///     session.run().await?;
    ///     Ok::<_, runstate_stream::SessionError>(session.recording().unwrap())
    /// };
    /// let (yes, no) = (said("yes").await?, said("no").await?);
    /// assert_eq!(yes.first_difference(&yes, Compare::All), None);
    /// let difference = yes.first_difference(&no, Compare::All).unwrap().to_string();
    /// assert_eq!(
    ///     difference.lines().next().unwrap(),
    ///     r#"- event 4: {"atMs":0,"type":"TOKEN","text":"yes"}"#,
    /// );
    /// # Ok::<(), runstate_stream::SessionError>(())
    /// # }).unwrap();
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn first_difference(&self, other: &Recording, compare: Compare) -> Option<Difference> {
        let session =
            |recording: &Recording| format!("meta {}, {} fallbacks", recording.meta, recording.fallbacks);
        if (&self.meta, self.fallbacks) != (&other.meta, other.fallbacks) {
            return Some(Difference::Session { left: session(self), right: session(other) });
        }
        let (mut left, mut right) = (self.events(), other.events());
        for seq in 1.. {
            let (a, b) = (left.next(), right.next());
            if a.is_none() && b.is_none() {
                return None;
            }
            let same = match compare {
                Compare::All => a == b,
                Compare::Untimed => a.clone().map(untimed) == b.clone().map(untimed),
            };
            if !same {
                return Some(Difference::Event { seq, left: a.map(Box::new), right: b.map(Box::new) });
            }
        }
        None
    }
}

/// Removes measured times from an event.
fn untimed(mut event: Recorded) -> Recorded {
    event.at_ms = 0;
    match &mut event.kind {
        EventKind::TimeoutTriggered { elapsed_ms, .. } => *elapsed_ms = 0,
        EventKind::RetryAttempt { delay_ms, .. } => *delay_ms = 0,
        EventKind::Complete { state } => {
            let mut untimed = (**state).clone();
            untimed.started_at_ms = 0;
            untimed.duration_ms = 0;
            untimed.first_token_at_ms = untimed.first_token_at_ms.map(|_| 0);
            untimed.last_token_at_ms = untimed.last_token_at_ms.map(|_| 0);
            *state = untimed.into();
        }
        _ => {}
    }
    event
}
