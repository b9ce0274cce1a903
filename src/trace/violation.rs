//! How a trace breaks the rules.

use std::fmt;

use serde::Serialize;

use super::event::Plain;

/// What kind of violation, with what it takes to explain it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "code", rename_all = "snake_case")]
#[non_exhaustive]
pub enum ViolationKind {
    /// There are no rules for the lifecycle that the event names.
    UnknownLifecycle {
        /// The lifecycle with rules whose name is closest to it, if one is near.
        closest: Option<String>,
    },
    /// The lifecycle has no such state.
    UnknownState {
        /// The name that was got.
        state: String,
        /// The state whose name is closest to it, if one is near.
        closest: Option<String>,
    },
    /// The event leads to a composite state, or leaves one, in place of a state inside.
    CompositeState {
        /// The composite state.
        state: String,
        /// The states inside of it, the first few.
        inside: Vec<String>,
    },
    /// The first event of an instance is not its creation.
    NoCreation,
    /// An instance is created in a state that is not initial.
    NotInitial,
    /// A live instance is created again.
    SecondCreation {
        /// The state it is in.
        state: String,
        /// The trace line of its first creation.
        line: u64,
    },
    /// The event leaves another state than the one that the instance is in.
    BrokenChain {
        /// The state it is in.
        state: String,
        /// The trace line on which it came there.
        line: u64,
    },
    /// The instance had ended.
    AfterTerminal {
        /// The state it ended in.
        state: String,
        /// The trace line on which it did.
        line: u64,
    },
    /// No edge leads from the one state to the other.
    IllegalEdge,
    /// There are edges from the one state to the other, but none by this event.
    WrongEvent {
        /// The event between these states whose name is closest to it, if one is near.
        closest: Option<String>,
    },
    /// The number of the event is not above that of the one before it in its run.
    SeqNotIncreasing {
        /// The number before it.
        last: u64,
        /// The trace line that has it.
        line: u64,
    },
    /// The last line stops before its end: whatever wrote it was interrupted.
    Cut {
        /// The same in words, with an excerpt of the line.
        report: String,
    },
    /// Events were followed by something that is none.
    Garbage {
        /// What is wrong with it.
        message: String,
        /// The same with an excerpt of the line.
        report: String,
    },
}

/// What would have been legal instead.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Legal {
    /// The edge, as a diagram shows it; the name of a lifecycle where that was unknown.
    pub what: String,
    /// Its line in the diagram, from 1, when that is known.
    pub diagram_line: Option<u32>,
}

/// An event that breaks the rules.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Violation {
    /// The line of the trace, from 1; the number of the event where it was not read from a file.
    pub line: u64,
    /// The number of the event.
    pub seq: Option<u64>,
    /// The run.
    pub run: String,
    /// The lifecycle.
    pub lifecycle: String,
    /// The instance.
    pub instance: String,
    /// What is wrong.
    pub kind: ViolationKind,
    /// What happened, as a diagram would show it.
    pub got: String,
    /// The state that the event leaves; none for a creation.
    pub from: Option<String>,
    /// The state that the event enters.
    pub to: String,
    /// What was legal; nothing for an instance that has ended.
    pub legal: Vec<Legal>,
    /// The diagram, when it is known.
    pub diagram: Option<String>,
    /// Where the diagram shows the state that the instance is in, from 1, when that is known.
    pub diagram_line: Option<u32>,
    /// The lifecycle whose rules it breaks, where it is any's.
    #[serde(skip)]
    pub(super) rules: Option<Box<str>>,
}

impl Violation {
    /// The lifecycle whose rules it breaks; none for an unknown one and for garbage.
    pub(super) fn rules(&self) -> Option<&str> {
        self.rules.as_deref()
    }

    /// Is it an event that violates, and not a line that is none?
    pub(super) fn is_of_event(&self) -> bool {
        !matches!(self.kind, ViolationKind::Garbage { .. } | ViolationKind::Cut { .. })
    }

    /// What is wrong, in one sentence.
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

    /// Who it happened to.
    fn subject(&self) -> String {
        format!("{} {} of run {}", Plain(&self.lifecycle), Plain(&self.instance), Plain(&self.run))
    }
}

fn meant(closest: &Option<String>) -> String {
    closest.as_deref().map(|near| format!("; did you mean {}?", Plain(near))).unwrap_or_default()
}

/// Some lines: who and why, what was got, what was legal and where the diagram says so.
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
