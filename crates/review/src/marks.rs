//! The illegal events of a trace, one at a time.

use runstate::trace::{Checker, Event, Report, Rulebook};

/// Finds the illegal events of a trace while it is read. Events of lifecycles without rules are not checked.
///
/// # Example
/// ```
/// use runstate::trace::Event;
/// use runstate_review::Marks;
///
/// let line = |seq: u64, to: &str| {
///     let text = format!(
///         r#"{{"seq":{seq},"at_ms":0,"run":"r","lifecycle":"tool_call","instance":"c{seq}","event":"create","from":null,"to":"{to}"}}"#
///     );
///     Event::from_json(&text).unwrap().into_owned()
/// };
/// let book = runstate::rulebook();
/// let mut marks = Marks::new(&book);
/// assert_eq!(marks.event(1, &line(1, "New")), None);
/// let illegal = marks.event(2, &line(2, "Running"));
/// assert_eq!(illegal.as_deref(), Some("illegal: it is created in Running, which is not initial"));
/// let other = marks.event(3, &line(3, "Running"));
/// assert_eq!(other.as_deref(), Some("illegal: it is created in Running, which is not initial"), "of another call");
/// ```
#[derive(Debug)]
pub struct Marks<'b> {
    book: &'b Rulebook,
    checker: Checker<'b>,
}

impl<'b> Marks<'b> {
    /// Makes it for these rules.
    pub fn new(book: &'b Rulebook) -> Self {
        Marks { book, checker: Checker::new(book).most_violations(usize::MAX) }
    }

    /// Checks the next event, given the number of its line in the trace. Returns none for a legal event, and the mark of an
    /// illegal one: `illegal`, and for the first one of its instance the reason too.
    pub fn event(&mut self, line: u64, event: &Event<'_>) -> Option<String> {
        if !self.has_rules(event) {
            return None;
        }
        let (before, listed) = (self.checker.violations(), self.checker.others().len());
        self.checker.event(line, event);
        if self.checker.violations() == before {
            return None;
        }
        let new = if before == 0 { self.checker.violation() } else { self.checker.others().get(listed) };
        Some(new.map_or("illegal".to_owned(), |violation| format!("illegal: {}", violation.reason())))
    }

    /// Returns whether an unfinished instance is cut off by a new activation or by the end of its run.
    pub fn is_cut_off(&self, run: &str, lifecycle: &str, instance: &str) -> bool {
        self.checker.is_cut_off(run, lifecycle, instance)
    }

    /// Returns whether events of that lifecycle are checked.
    pub(crate) fn has_rules(&self, event: &Event<'_>) -> bool {
        self.book.rules(&event.lifecycle).is_some()
    }

    /// Returns the report on all checked events. Each instance with a violation is listed.
    pub fn finish(self) -> Report {
        self.checker.finish()
    }
}
