//! An independent judge: it knows the documented behaviour and the observations of a case, and nothing of the driver.
//!
//! Each file holds one promise. A judge processes the observations in order, with [`ObservedRun`], the state of the run at that
//! time.

mod calls;
mod cancel;
mod crash;
mod decisions;
mod ends;
mod events;
mod given;
mod history;
mod lapses;
mod looks;
mod moment;
mod order;
mod outcomes;
mod people;
mod phases;
mod replies;
mod status;
mod stops;
mod told;
mod traces;
mod values;
mod waits;

use std::fmt;

use runstate::trace::{Coverage, Event};
use runstate_agent::event::CallOutcome;

use crate::play::{Entry, Seen, What};

pub use crash::same_end;
pub use moment::ObservedRun;

/// A promise that was broken.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Violation {
    /// The promise, in a word.
    pub rule: String,
    /// The time and the details.
    pub what: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.rule, self.what)
    }
}

/// The next observation of a judge.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Step<'s> {
    /// A transition.
    Moved(&'s Event<'static>),
    /// Any other entry.
    Entry(&'s Entry),
}

/// The collected violations.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    at_ms: u64,
    found: Vec<Violation>,
}

impl Findings {
    pub(crate) fn wrong(&mut self, rule: &str, what: impl fmt::Display) {
        let what = format!("at {} ms, {what}", self.at_ms);
        self.found.push(Violation { rule: rule.to_owned(), what });
    }
}

/// The reason, as the model reads it, if the call ended without an execution. All judges that treat such an end apart ask
/// here.
fn given_up(outcome: &CallOutcome) -> Option<&str> {
    match outcome {
        CallOutcome::Cancelled { reason, .. } => Some(reason),
        CallOutcome::Succeeded { .. } | CallOutcome::Failed { .. } => None,
    }
}

/// One promise, followed through a case.
pub(crate) trait Judge {
    /// Processes the next observation; `now` is the state of the run after it.
    fn step(&mut self, step: Step<'_>, now: &ObservedRun, book: &mut Findings);

    /// Processes the complete case.
    fn end(&mut self, _seen: &Seen, _now: &ObservedRun, _book: &mut Findings) {}
}

/// Compares the observations with the documented behaviour; returns the violations and the taken transitions.
pub fn judge(seen: &Seen) -> (Vec<Violation>, Coverage) {
    let mut book = Findings::default();
    let mut judges: Vec<Box<dyn Judge>> = vec![
        Box::new(status::Status),
        Box::new(events::Events::default()),
        Box::new(phases::Phases::default()),
        Box::new(calls::Calls::new(seen)),
        Box::new(outcomes::Outcomes::new(seen)),
        Box::new(decisions::Decisions::of(&seen.case)),
        Box::new(people::People::new(seen)),
        Box::new(history::Histories::new(seen)),
        Box::new(order::Order::new(seen)),
        Box::new(cancel::Cancels::default()),
        Box::new(ends::Ends::new(seen)),
        Box::new(stops::Stops::new(seen)),
        Box::new(values::Values::new(seen)),
        Box::new(told::Told::new(seen)),
        Box::new(lapses::Lapses::new(seen)),
        Box::new(waits::Waits::new(seen)),
    ];
    let mut now = ObservedRun::default();
    let mut each = |step: Step<'_>, book: &mut Findings| {
        now.step(step, book);
        for judge in &mut judges {
            judge.step(step, &now, book);
        }
    };
    let mut entries = seen.entries.iter().peekable();
    for (number, event) in (0..).zip(&seen.trace) {
        while let Some(entry) = entries.next_if(|entry| entry.trace <= number) {
            book.at_ms = entry.at_ms;
            each(Step::Entry(entry), &mut book);
        }
        book.at_ms = event.at_ms;
        each(Step::Moved(event), &mut book);
    }
    for entry in entries {
        book.at_ms = entry.at_ms;
        each(Step::Entry(entry), &mut book);
    }
    for judge in &mut judges {
        judge.end(seen, &now, &mut book);
    }
    for entry in &seen.entries {
        if let What::Wrong(what) = &entry.what {
            let (rule, what) = what.split_once(": ").unwrap_or(("wrong", what));
            book.at_ms = entry.at_ms;
            book.wrong(rule, what);
        }
    }
    let coverage = traces::check(seen, &mut book);
    (book.found, coverage)
}
