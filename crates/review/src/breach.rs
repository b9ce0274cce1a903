//! The violations of a review.

use runstate::trace::{Report, Violation};

use crate::model::Step;

/// The first violation of an instance.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Breach {
    /// The index of its step in [`Review::steps`](crate::Review::steps).
    pub step: Option<usize>,
    /// The line of the trace, from 1.
    pub line: u64,
    /// The event in the notation of a diagram.
    pub got: String,
    /// The reason in one sentence.
    pub reason: String,
    /// The legal alternatives; none for an ended instance.
    pub legal: Vec<Legal>,
    /// The place of the instance's state in the diagram, as `file:line`.
    pub place: Option<String>,
    /// Whether it is a fault of the event alone, which follows the rules; it then has no legal alternatives.
    pub is_fault: bool,
}

/// A legal alternative to an illegal event.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Legal {
    /// The transition, in the notation of a diagram.
    pub what: String,
    /// Its place in the diagram, as `file:line`.
    pub place: Option<String>,
    /// The text of that line of the diagram, if [`ReviewBuilder::diagram`](crate::ReviewBuilder::diagram) was given.
    pub text: Option<String>,
}

impl Breach {
    /// The fault of a step.
    pub(crate) fn of_fault(place: usize, step: &Step, reason: String) -> Self {
        let from = step.from.as_deref().unwrap_or("[*]");
        Breach {
            step: Some(place),
            line: step.line,
            got: format!("{from} --> {} : {}", step.to, step.event),
            reason,
            legal: Vec::new(),
            place: None,
            is_fault: true,
        }
    }

    /// The violation without its step and the texts of its diagram.
    pub(crate) fn of(violation: &Violation) -> Self {
        let place = |line: Option<u32>| {
            Some(format!("{}:{}", violation.diagram.as_deref().unwrap_or("the diagram"), line?))
        };
        let legal = |legal: &runstate::trace::Legal| Legal {
            what: legal.what.clone(),
            place: place(legal.diagram_line),
            text: None,
        };
        Breach {
            step: None,
            line: violation.line,
            got: violation.got.clone(),
            reason: violation.reason(),
            legal: violation.legal.iter().map(legal).collect(),
            place: place(violation.diagram_line).or_else(|| violation.diagram.clone()),
            is_fault: false,
        }
    }
}

/// The listed violations of a report.
pub(crate) fn violations(report: &Report) -> impl Iterator<Item = &Violation> {
    report.violation.iter().chain(&report.others)
}
