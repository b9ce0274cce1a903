//! Traces as stable text, for snapshot tests.

use runstate::trace::{Event, Ordinals, Recorder, Rulebook};

use crate::marks::Marks;

/// A trace that a snapshot test can compare: events, or a recorder.
pub trait TraceText {
    /// Renders the trace as stable text: one line for each event, with the lifecycle and the number of the instance in place of
    /// ids. Times, sequence numbers and further fields are left out. An illegal event of a documented lifecycle is marked; for
    /// an own lifecycle [`trace_text_with`](TraceText::trace_text_with) takes its rules.
    ///
    /// # Example
    /// ```
    /// use runstate::trace::Event;
    /// use runstate_review::TraceText;
    ///
    /// let line = r#"{"seq":7,"at_ms":12,"run":"r-81f","lifecycle":"tool_call","instance":"call_x","event":"create","from":null,"to":"Running"}"#;
    /// let events = [Event::from_json(line).unwrap()];
    /// assert_eq!(
    ///     events.trace_text(),
    ///     "tool_call#1  [*] --> Running : create  <- illegal: it is created in Running, which is not initial\n",
    /// );
    /// ```
    fn trace_text(&self) -> String {
        self.trace_text_with(&runstate::rulebook())
    }

    /// Renders the trace as [`trace_text`](TraceText::trace_text) does, with the illegal events by these rules marked.
    ///
    /// # Example
    /// ```
    /// use runstate::diagram::{StateGraph, parse};
    /// use runstate::trace::{Event, Rulebook, Rules};
    /// use runstate_review::TraceText;
    ///
    /// let graph = StateGraph::from_diagram(&parse("stateDiagram-v2\n[*] --> Open\n").unwrap(), "door").unwrap();
    /// let book = Rulebook::new().with(Rules::of_diagram("door", &graph, "door.mmd"));
    /// let line = r#"{"seq":1,"at_ms":0,"run":"r","lifecycle":"door","instance":"d","event":"create","from":null,"to":"Shut"}"#;
    /// let events = [Event::from_json(line).unwrap()];
    /// assert_eq!(
    ///     events.trace_text_with(&book),
    ///     "door#1  [*] --> Shut : create  <- illegal: door has no state Shut\n",
    /// );
    /// ```
    fn trace_text_with(&self, book: &Rulebook) -> String;
}

impl TraceText for [Event<'_>] {
    fn trace_text_with(&self, book: &Rulebook) -> String {
        let (mut ordinals, mut marks) = (Ordinals::new(), Marks::new(book));
        let mut text = String::new();
        for (number, event) in (1..).zip(self) {
            let mark = marks.event(number, event).map(|mark| format!("  <- {mark}")).unwrap_or_default();
            text.push_str(&format!("{}{mark}\n", unnumbered(&ordinals.line(event))));
        }
        text
    }
}

/// The line of an event without its number, which an insertion would change in all later lines.
pub(crate) fn unnumbered(line: &str) -> &str {
    line.trim_start().split_once("  ").map_or(line, |(_, rest)| rest)
}

impl<const N: usize> TraceText for [Event<'_>; N] {
    fn trace_text_with(&self, book: &Rulebook) -> String {
        self.as_slice().trace_text_with(book)
    }
}

impl TraceText for Vec<Event<'_>> {
    fn trace_text_with(&self, book: &Rulebook) -> String {
        self.as_slice().trace_text_with(book)
    }
}

impl TraceText for Recorder {
    fn trace_text_with(&self, book: &Rulebook) -> String {
        self.events().trace_text_with(book)
    }
}

impl<T: TraceText + ?Sized> TraceText for &T {
    fn trace_text_with(&self, book: &Rulebook) -> String {
        (**self).trace_text_with(book)
    }
}

/// Asserts that a trace equals its `insta` snapshot: [`trace_text`](TraceText::trace_text) of events or of a recorder.
///
/// The forms are those of `insta::assert_snapshot!`: the trace alone, a name and the trace, or the trace and an inline
/// snapshot. In each form `rules = &book` behind the trace has the rules of own lifecycles, by which illegal events are marked;
/// without it the rules are those of the documented lifecycles. The package of the test needs `insta` as a dependency for tests.
///
/// # Panics
/// When the trace differs from the snapshot, as `insta` does.
///
/// # Example
/// ```
/// use runstate::tool_call::{AnyToolCall, CallRecord, Start};
/// use runstate::trace::Recorder;
/// use runstate_review::assert_trace_snapshot;
///
/// let recorder = Recorder::new("r-81f");
/// let record = CallRecord::new("call_7", "read_file", Default::default());
/// let call = AnyToolCall::new(record.observed(recorder.observer("call_7")));
/// let _call = call.apply(Start.into()).unwrap();
/// assert_trace_snapshot!(recorder, @r"
/// tool_call#1  [*] --> New : create
/// tool_call#1  New --> Running : start
/// ");
/// ```
///
/// An own lifecycle, with an illegal event:
///
/// ```
/// use runstate::diagram::{StateGraph, parse};
/// use runstate::trace::{Event, Rulebook, Rules};
/// use runstate_review::assert_trace_snapshot;
///
/// let graph = StateGraph::from_diagram(&parse("stateDiagram-v2\n[*] --> Open\n").unwrap(), "door").unwrap();
/// let book = Rulebook::new().with(Rules::of_diagram("door", &graph, "door.mmd"));
/// let line = r#"{"seq":1,"at_ms":0,"run":"r","lifecycle":"door","instance":"d","event":"create","from":null,"to":"Shut"}"#;
/// let events = [Event::from_json(line).unwrap()];
/// assert_trace_snapshot!(events, rules = &book, @"door#1  [*] --> Shut : create  <- illegal: door has no state Shut");
/// ```
///
/// A trace that differs fails the test:
///
/// ```should_panic
/// let events: Vec<runstate::trace::Event> = Vec::new();
/// runstate_review::assert_trace_snapshot!(events, @"run#1  [*] --> Running : create");
/// ```
#[macro_export]
macro_rules! assert_trace_snapshot {
    ($trace:expr, rules = $book:expr $(,)?) => {
        ::insta::assert_snapshot!($crate::TraceText::trace_text_with(&$trace, $book))
    };
    ($trace:expr, rules = $book:expr, @$inline:literal $(,)?) => {
        ::insta::assert_snapshot!($crate::TraceText::trace_text_with(&$trace, $book), @$inline)
    };
    ($name:expr, $trace:expr, rules = $book:expr $(,)?) => {
        ::insta::assert_snapshot!($name, $crate::TraceText::trace_text_with(&$trace, $book))
    };
    ($trace:expr $(,)?) => {
        ::insta::assert_snapshot!($crate::TraceText::trace_text(&$trace))
    };
    ($trace:expr, @$inline:literal $(,)?) => {
        ::insta::assert_snapshot!($crate::TraceText::trace_text(&$trace), @$inline)
    };
    ($name:expr, $trace:expr $(,)?) => {
        ::insta::assert_snapshot!($name, $crate::TraceText::trace_text(&$trace))
    };
}
