//! An event with its place.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::kind::EventKind;

/// Something that happened in a run. As JSON it is one object on one line, whose `type` says what happened:
///
/// ```
/// use runstate::agent::event::{AgentEvent, EventKind};
///
/// let event = AgentEvent::new(7, 1_200, "r1", "t1", 1, EventKind::TextDelta { step: 1, text: "hi".into() });
/// let line = serde_json::to_string(&event)?;
/// assert_eq!(
///     line,
///     r#"{"seq":7,"at_ms":1200,"run":"r1","thread":"t1","activation":1,"type":"text_delta","step":1,"text":"hi"}"#
/// );
/// assert_eq!(serde_json::from_str::<AgentEvent>(&line)?, event);
///
/// let error = serde_json::from_str::<AgentEvent>(&line.replace("text_delta", "smell_delta")).unwrap_err();
/// assert!(error.to_string().starts_with("unknown variant `smell_delta`"), "{error}");
/// # Ok::<(), serde_json::Error>(())
/// ```
///
/// A reader ignores fields that it does not know.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AgentEvent {
    /// Its number in its run. Numbers rise by one from event to event, over all activations; an event that stands for several has the
    /// first of their numbers, and says the [last](Self::last). What a process told after
    /// its last commit, and that a crash made undone, has numbers that the next process gives again: a receiver that comes back
    /// says [which event it saw](super::Seen), and is told of a gap if that was such a one.
    pub seq: u64,
    /// When, in milliseconds on the run's clock.
    pub at_ms: u64,
    /// The run.
    #[serde(with = "super::arc_text")]
    pub run: Arc<str>,
    /// The thread of the run.
    #[serde(with = "super::arc_text")]
    pub thread: Arc<str>,
    /// The activation of the run, from 1.
    pub activation: u32,
    /// What happened.
    #[serde(flatten)]
    pub kind: EventKind,
}

impl AgentEvent {
    /// An event.
    pub fn new(
        seq: u64,
        at_ms: u64,
        run: impl Into<Arc<str>>,
        thread: impl Into<Arc<str>>,
        activation: u32,
        kind: EventKind,
    ) -> Self {
        AgentEvent { seq, at_ms, run: run.into(), thread: thread.into(), activation, kind }
    }

    /// The number of the last event that this one stands for: its own, but for [`EventKind::AnswerPieces`] and
    /// [`EventKind::ToolCallsProgress`].
    ///
    /// ```
    /// use runstate::agent::event::{AgentEvent, EventKind};
    ///
    /// let pieces = EventKind::AnswerPieces { step: 1, last: 9, text: "hello".into() };
    /// assert_eq!(AgentEvent::new(4, 0, "r1", "t1", 1, pieces).last(), 9);
    /// assert_eq!(AgentEvent::new(10, 0, "r1", "t1", 1, EventKind::StepFinished { step: 1 }).last(), 10);
    /// ```
    pub fn last(&self) -> u64 {
        match self.kind {
            EventKind::AnswerPieces { last, .. } | EventKind::ToolCallsProgress { last, .. } => {
                last.max(self.seq)
            }
            _ => self.seq,
        }
    }
}
