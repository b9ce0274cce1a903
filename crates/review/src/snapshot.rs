//! Traces as stable text, for snapshot tests.

use runstate::trace::{Event, Ordinals, Recorder};

use crate::marks::Marks;

/// A trace that a snapshot test can compare: events, or a recorder.
pub trait TraceText {
    /// Renders the trace as stable text: one line for each event, with the lifecycle and the number of the instance in place of
    /// ids. Times, sequence numbers and further fields are left out. An illegal event of a documented lifecycle is marked.
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
    fn trace_text(&self) -> String;
}

impl TraceText for [Event<'_>] {
    fn trace_text(&self) -> String {
        let book = runstate::rulebook();
        let (mut ordinals, mut marks) = (Ordinals::new(), Marks::new(&book));
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
    fn trace_text(&self) -> String {
        self.as_slice().trace_text()
    }
}

impl TraceText for Vec<Event<'_>> {
    fn trace_text(&self) -> String {
        self.as_slice().trace_text()
    }
}

impl TraceText for Recorder {
    fn trace_text(&self) -> String {
        self.events().trace_text()
    }
}

impl<T: TraceText + ?Sized> TraceText for &T {
    fn trace_text(&self) -> String {
        (**self).trace_text()
    }
}

/// Asserts that a trace equals its `insta` snapshot: [`trace_text`](TraceText::trace_text) of events or of a recorder.
///
/// The forms are those of `insta::assert_snapshot!`: the trace alone, a name and the trace, or the trace and an inline
/// snapshot. The package of the test needs `insta` as a dependency for tests.
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
/// A trace that differs fails the test:
///
/// ```should_panic
/// let events: Vec<runstate::trace::Event> = Vec::new();
/// runstate_review::assert_trace_snapshot!(events, @"run#1  [*] --> Running : create");
/// ```
#[macro_export]
macro_rules! assert_trace_snapshot {
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
