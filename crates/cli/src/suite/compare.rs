//! Comparison of a play with its expected result.

use std::io;

use runstate::trace::{Report, Rulebook, Verdict as Conforms, check};
use similar::TextDiff;

use super::Subject;
use crate::failure::Failure;
use crate::input::{self, TEXT_LIMIT};
use crate::output::harmless;
use crate::runs;

/// A scenario with its result.
#[derive(Debug)]
pub(crate) struct Case {
    pub(crate) verdict: Verdict,
    /// The check of its trace against the diagrams; `None` without a play.
    pub(crate) report: Option<Report>,
}

/// The result of a scenario.
#[derive(Debug)]
pub(crate) enum Verdict {
    /// As expected.
    Same,
    /// The played result becomes the expected one.
    Accepted,
    /// A difference from the expected result.
    Differs(String),
    /// There is no expected result yet.
    New,
    /// A step of the scenario never happened, whatever is expected.
    Missed(Vec<String>),
    /// The trace violates a diagram, whatever is expected.
    Violates(String),
    /// It cannot be played.
    Unusable(Failure),
}

/// Plays a scenario and compares; with `accept` a difference becomes the expected result.
pub(crate) fn compare(subject: &Subject, book: &Rulebook, accept: bool) -> Case {
    let shown = match subject.play() {
        Ok(shown) => shown,
        Err(failure) => return Case { verdict: Verdict::Unusable(failure), report: None },
    };
    let report = check(&shown.trace, book);
    if report.verdict == Conforms::Violates {
        let verdict = Verdict::Violates(report.summary().to_string());
        return Case { verdict, report: Some(report) };
    }
    if !shown.missed.is_empty() {
        return Case { verdict: Verdict::Missed(shown.missed), report: Some(report) };
    }
    // The text is shown on terminals.
    let text = harmless(&shown.text);
    let verdict = held_against(subject, &text, accept).unwrap_or_else(Verdict::Unusable);
    Case { verdict, report: Some(report) }
}

fn held_against(subject: &Subject, text: &str, accept: bool) -> Result<Verdict, Failure> {
    let path = subject.expected();
    let expected = match input::read(&path, TEXT_LIMIT) {
        // A checkout may have changed the line ends.
        Ok(bytes) => Some(String::from_utf8_lossy(&bytes).replace("\r\n", "\n")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(Failure::io("read", &path, &error)),
    };
    match expected {
        Some(expected) if expected == text => Ok(Verdict::Same),
        _ if accept => {
            runs::replace(&path, text.as_bytes()).map_err(|error| Failure::io("write", &path, &error))?;
            Ok(Verdict::Accepted)
        }
        None => Ok(Verdict::New),
        Some(expected) => {
            let diff = TextDiff::from_lines(expected.as_str(), text);
            let diff = diff.unified_diff().context_radius(2).header("expected", "played").to_string();
            Ok(Verdict::Differs(diff))
        }
    }
}
