//! Checks of a whole trace.

use std::io::BufRead;

use super::checker::Checker;
use super::event::Event;
use super::jsonl::JsonlReader;
use super::read_error::{Problem, ReadError};
use super::report::Report;
use super::rulebook::Rulebook;
#[cfg(doc)]
use super::violation::ViolationKind;

/// Checks events in memory.
///
/// # Example
/// ```
/// # #[cfg(feature = "lifecycles")] {
/// use runstate::kernel::Stateful;
/// use runstate::tool_call::{AnyToolCall, CallRecord, Start};
/// use runstate::trace::{Recorder, Rulebook, Verdict, check};
///
/// let book = Rulebook::of([<AnyToolCall as Stateful>::GRAPH]);
/// let recorder = Recorder::new("r1");
/// let record = CallRecord::new("call_1", "read_file", Default::default());
/// let call = AnyToolCall::new(record.observed(recorder.observer("call_1")));
/// let _call = call.apply(Start.into()).unwrap();
///
/// let mut events = recorder.take();
/// assert_eq!(check(&events, &book).verdict, Verdict::Incomplete);
///
/// events[1].to = "Resuming".into();
/// let report = check(&events, &book);
/// assert_eq!(report.violation.unwrap().reason(), "no edge leads from New to Resuming");
/// # }
/// ```
pub fn check<'e>(events: impl IntoIterator<Item = &'e Event<'e>>, book: &Rulebook) -> Report {
    let mut checker = Checker::new(book);
    for (number, event) in (1..).zip(events) {
        checker.event(number, event);
    }
    checker.finish()
}

/// Checks the events of a JSONL trace while it reads them. It keeps one line, and one small entry per instance, in
/// memory.
///
/// A trace that turns into other content is [interrupted](super::Verdict::Interrupted). Its report has the events before that line, and a
/// violation [`Garbage`](ViolationKind::Garbage) or [`Cut`](ViolationKind::Cut) for the first line that is no event.
/// The report states that the trace was not read to its end.
///
/// # Errors
/// When the input cannot be read, and when its first line is no event: then the input is no trace.
pub fn check_jsonl<R: BufRead>(reader: JsonlReader<R>, book: &Rulebook) -> Result<Report, ReadError> {
    Checker::new(book).jsonl(reader)
}

impl Checker<'_> {
    /// Checks a JSONL trace like [`check_jsonl`], with this checker.
    ///
    /// # Errors
    /// As [`check_jsonl`].
    pub fn jsonl<R: BufRead>(mut self, mut reader: JsonlReader<R>) -> Result<Report, ReadError> {
        loop {
            match reader.read_numbered() {
                Ok(Some((line, event))) => self.event(line, &event),
                Ok(None) => return Ok(self.finish()),
                Err(error) if self.events() == 0 || matches!(error.problem(), Problem::Io(_)) => {
                    return Err(error);
                }
                Err(error) => {
                    self.garbage(&error);
                    return Ok(self.finish());
                }
            }
        }
    }
}
