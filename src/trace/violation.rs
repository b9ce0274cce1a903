//! Violations of the rules by a trace.

use std::fmt;

use serde::Serialize;

use super::event::Plain;

/// The kind of a violation, with its details.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "code", rename_all = "snake_case")]
#[non_exhaustive]
pub enum ViolationKind {
    /// No rules exist for the lifecycle of the event.
    UnknownLifecycle {
        /// The lifecycle with the closest name, if one is similar.
        closest: Option<String>,
    },
    /// The lifecycle has no such state.
    UnknownState {
        /// The unknown name.
        state: String,
        /// The state with the closest name, if one is similar.
        closest: Option<String>,
    },
    /// The event enters or leaves a composite state instead of a state inside.
    CompositeState {
        /// The composite state.
        state: String,
        /// The states inside; the list is limited.
        inside: Vec<String>,
    },
    /// The first event of an instance is not its creation.
    NoCreation,
    /// An instance is created in a state that is not initial.
    NotInitial,
    /// A live instance is created again.
    SecondCreation {
        /// The current state.
        state: String,
        /// The trace line of its first creation.
        line: u64,
    },
    /// The event leaves another state than the current state of the instance.
    BrokenChain {
        /// The current state.
        state: String,
        /// The trace line of the entry into that state.
        line: u64,
    },
    /// The instance had ended.
    AfterTerminal {
        /// The terminal state.
        state: String,
        /// The trace line of the entry into that state.
        line: u64,
    },
    /// No transition leads from the source to the target state.
    IllegalEdge,
    /// Transitions lead from the source to the target state, but none by this event.
    WrongEvent {
        /// The event with the closest name between these states, if one is similar.
        closest: Option<String>,
    },
    /// The number of the event does not exceed the number of the previous event in its run.
    SeqNotIncreasing {
        /// The previous number.
        last: u64,
        /// The trace line of the previous event.
        line: u64,
    },
    /// The last line ends too early: its writer was interrupted.
    Cut {
        /// The description, with an excerpt of the line.
        report: String,
    },
    /// A line after events is no event.
    Garbage {
        /// The problem of the line.
        message: String,
        /// The problem, with an excerpt of the line.
        report: String,
    },
}

/// A legal alternative.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Legal {
    /// The transition, in the notation of a diagram. After an unknown lifecycle: the name of a known one.
    pub what: String,
    /// The line in the diagram, from 1, if known.
    pub diagram_line: Option<u32>,
}

/// An event that breaks the rules.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Violation {
    /// The line of the trace, from 1. For events outside of a file it is the number of the event.
    pub line: u64,
    /// The number of the event.
    pub seq: Option<u64>,
    /// The run.
    pub run: String,
    /// The lifecycle.
    pub lifecycle: String,
    /// The instance.
    pub instance: String,
    /// The kind.
    pub kind: ViolationKind,
    /// The event in the notation of a diagram.
    pub got: String,
    /// The source state; none for a creation.
    pub from: Option<String>,
    /// The target state.
    pub to: String,
    /// The legal alternatives; none for an ended instance.
    pub legal: Vec<Legal>,
    /// The file of the diagram, if known.
    pub diagram: Option<String>,
    /// The line of the instance's state in the diagram, from 1, if known.
    pub diagram_line: Option<u32>,
    /// The lifecycle of the violated rules, if any.
    #[serde(skip)]
    pub(super) rules: Option<Box<str>>,
}

impl Violation {
    /// The name of the violated rules; none for an unknown lifecycle and for garbage.
    pub fn rules(&self) -> Option<&str> {
        self.rules.as_deref()
    }

    /// Returns whether an event violates, as opposed to a line that is no event.
    pub fn is_of_event(&self) -> bool {
        !matches!(self.kind, ViolationKind::Garbage { .. } | ViolationKind::Cut { .. })
    }

    /// Describes the problem in one sentence.
    pub fn reason(&self) -> String {
        let lifecycle = Plain(&self.lifecycle);
        let (from, to) = (Plain(self.from.as_deref().unwrap_or("[*]")), Plain(&self.to));
        match &self.kind {
            ViolationKind::UnknownLifecycle { closest } => {
                format!("there are no rules for a lifecycle {lifecycle}{}", meant(closest))
            }
            ViolationKind::UnknownState { state, .. } if state.is_empty() => {
                format!("{lifecycle} has no state without a name")
            }
            ViolationKind::UnknownState { state, .. } if state == "[*]" => format!(
                "{lifecycle} has no state [*]: a creation has null for `from`, and an instance ends with the event into a state \
                 with a transition to [*]"
            ),
            ViolationKind::UnknownState { state, closest } => {
                format!("{lifecycle} has no state {}{}", Plain(state), meant(closest))
            }
            ViolationKind::CompositeState { state, inside } => format!(
                "{} is a composite state: an event names the state inside of it, such as {}",
                Plain(state),
                inside.iter().map(|inner| Plain(inner).to_string()).collect::<Vec<_>>().join(", "),
            ),
            ViolationKind::NoCreation if self.from.as_deref() == Some("[*]") => {
                "its first event is not its creation, which has null for `from`".to_owned()
            }
            ViolationKind::NoCreation => "its first event is not its creation".to_owned(),
            ViolationKind::NotInitial => format!("it is created in {to}, which is not initial"),
            ViolationKind::SecondCreation { state, line } => {
                format!("it was created on line {line} and is still in {}", Plain(state))
            }
            ViolationKind::BrokenChain { state, line } => {
                format!("it leaves {from}, but is in {} since line {line}", Plain(state))
            }
            ViolationKind::AfterTerminal { state, line } => {
                format!("it ended in {} on line {line}", Plain(state))
            }
            ViolationKind::IllegalEdge => format!("no edge leads from {from} to {to}"),
            ViolationKind::WrongEvent { closest } => {
                format!("the edge from {from} to {to} has another event{}", meant(closest))
            }
            ViolationKind::SeqNotIncreasing { last, line } => {
                let seq = self.seq.unwrap_or_default();
                format!("seq {seq} does not come after seq {last} of line {line}")
            }
            ViolationKind::Cut { .. } => "the last line of the trace is cut".to_owned(),
            ViolationKind::Garbage { message, .. } => {
                format!("the events are followed by garbage: {message}")
            }
        }
    }

    /// The instance of the violation.
    fn subject(&self) -> String {
        format!("{} {} of run {}", Plain(&self.lifecycle), Plain(&self.instance), Plain(&self.run))
    }
}

fn meant(closest: &Option<String>) -> String {
    closest.as_deref().map(|near| format!("; did you mean {}?", Plain(near))).unwrap_or_default()
}

/// Several lines: the instance and the reason, the event, the legal alternatives and their place in the diagram.
impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let ViolationKind::Garbage { report, .. } | ViolationKind::Cut { report } = &self.kind {
            return f.write_str(report.trim_end());
        }
        write!(f, "line {}: {}: {}", self.line, self.subject(), self.reason())?;
        write!(f, "\n  got    {}", self.got)?;
        for (number, legal) in self.legal.iter().enumerate() {
            write!(f, "\n  {} {}", if number == 0 { "legal " } else { "      " }, legal.what)?;
            if let Some(line) = legal.diagram_line {
                write!(f, "  ({}:{line})", self.diagram.as_deref().unwrap_or("line"))?;
            }
        }
        if self.legal.is_empty() {
            f.write_str("\n  legal  nothing")?;
        }
        match (&self.diagram, self.diagram_line) {
            (Some(file), Some(line)) => write!(f, "\n  see    {file}:{line}"),
            (Some(file), None) => write!(f, "\n  see    {file}"),
            (None, Some(line)) => write!(f, "\n  see    line {line} of the diagram"),
            (None, None) => Ok(()),
        }
    }
}
