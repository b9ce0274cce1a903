//! An event of a run, with its number and time.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::kind::EventKind;

/// An event of a run. Its JSON form is one object on one line; the field `type` names the kind of event:
///
/// ```
/// use runstate_agent::event::{AgentEvent, EventKind};
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
/// Readers ignore unknown fields.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AgentEvent {
    /// The number of the event in its run. Numbers increase by one per event, over all activations. An event that
    /// stands for several events has the first of their numbers, and gives the [last](Self::last) one.
    ///
    /// A crash undoes the events after the last commit, and the next process uses their numbers again. A receiver
    /// that reconnects names [the event it saw last](super::Seen). If a crash undid that event, the receiver gets a
    /// gap.
    pub seq: u64,
    /// The time, in milliseconds on the run's clock.
    pub at_ms: u64,
    /// The id of the run.
    #[serde(with = "super::arc_text")]
    pub run: Arc<str>,
    /// The id of the run's thread.
    #[serde(with = "super::arc_text")]
    pub thread: Arc<str>,
    /// The activation of the run, from 1.
    pub activation: u32,
    /// The kind of event.
    #[serde(flatten)]
    pub kind: EventKind,
}

impl AgentEvent {
    /// Creates an event.
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

    /// The number of the last event that this one stands for. It is the event's own number, except for
    /// [`EventKind::AnswerPieces`] and [`EventKind::ToolCallsProgress`].
    ///
    /// ```
    /// use runstate_agent::event::{AgentEvent, EventKind};
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
