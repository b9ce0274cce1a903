//! The results of a check.

use std::fmt;

use serde::Serialize;

use super::coverage::{Coverage, LifecycleCoverage};
use super::event::Plain;
use super::violation::Violation;

/// The verdict of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Every event is legal and every instance ended in a terminal state.
    Conforms,
    /// Every event is legal, but an instance has not ended.
    Incomplete,
    /// Every event is legal, and a line that is no event ends the trace: the rest was not checked.
    Interrupted,
    /// An event is illegal.
    Violates,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Verdict::Conforms => "conforms",
            Verdict::Incomplete => "incomplete",
            Verdict::Interrupted => "interrupted",
            Verdict::Violates => "violates",
        })
    }
}

/// An unfinished instance.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Unfinished {
    /// The trace line of its last event.
    pub line: u64,
    /// The run of the instance.
    pub run: String,
    /// The lifecycle of the instance.
    pub lifecycle: String,
    /// The name of the instance.
    pub instance: String,
    /// The current state.
    pub state: String,
    /// The name of the rules for its check.
    #[serde(skip)]
    pub(crate) rules: Box<str>,
}

/// Backwards time in a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Backwards {
    /// The number of events that are earlier than the previous event of their run.
    pub events: u64,
    /// The trace line of the first such event.
    pub line: u64,
    /// The time of that event, in milliseconds of the recorder's clock.
    pub at_ms: u64,
    /// The time of the previous event, in milliseconds of the recorder's clock.
    pub before_ms: u64,
}

impl fmt::Display for Backwards {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Backwards { events, line, at_ms, before_ms } = self;
        write!(f, "time runs backwards on line {line}: {at_ms} ms after {before_ms} ms")?;
        if *events > 1 { write!(f, "; and {} more", count(events - 1, "time")) } else { Ok(()) }
    }
}

/// The result of a check. It serializes as JSON for programs. Its [`Display`](fmt::Display) is for people and ends
/// with the coverage.
///
/// # Example
/// ```
/// # #[cfg(feature = "lifecycles")] {
/// use runstate::kernel::Stateful;
/// use runstate::trace::{Event, Rulebook, check};
///
/// let book = Rulebook::of([<runstate::tool_call::AnyToolCall as Stateful>::GRAPH]);
/// let line = r#"{"seq":1,"at_ms":0,"run":"r1","lifecycle":"tool_call","instance":"c","event":"create","from":null,"to":"New"}"#;
/// let report = check(&[Event::from_json(line).unwrap()], &book);
/// assert_eq!(
///     report.summary(),
///     "incomplete: 1 event, 1 instance\n\
///      1 instance has not ended:\n\
///      \x20 tool_call c of run r1 is in New since line 1\n",
/// );
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Report {
    /// The verdict.
    pub verdict: Verdict,
    /// The first violation.
    pub violation: Option<Violation>,
    /// The first violation of each other instance, and of each other lifecycle without rules.
    /// [`Checker::most_violations`](super::Checker::most_violations) limits the number, the first violation included.
    /// A line that is no event is always in the list.
    pub others: Vec<Violation>,
    /// The number of violating events, the first included. Later violations may be consequences of the first.
    pub violations: u64,
    /// The first place where time ran backwards between two events of one run, with their count.
    pub backwards: Option<Backwards>,
    /// The number of instances that were cut off: a new activation replaced theirs
    /// ([`Rulebook::restarting`](super::Rulebook::restarting)), or their run ended in a state that permits it
    /// ([`Rulebook::ending`](super::Rulebook::ending)).
    #[serde(skip_serializing_if = "is_zero")]
    pub cut_off: u64,
    /// The number of other unfinished instances.
    pub unfinished_instances: u64,
    /// The first unfinished instances, in the order of their creation.
    pub unfinished: Vec<Unfinished>,
    /// The number of events.
    pub events: u64,
    /// The number of skipped events, which belong to another lifecycle than the requested one.
    pub skipped: u64,
    /// The lifecycles of the skipped events; the list is limited.
    pub passed_over: Vec<String>,
    /// The number of instances.
    pub instances: u64,
    /// Whether the trace was read to its end.
    pub consumed_whole: bool,
    /// The coverage of the transitions.
    pub coverage: Coverage,
}

impl Report {
    /// The maximum number of listed unfinished instances.
    pub const MOST_UNFINISHED: usize = 10;
    /// The default maximum number of listed violations.
    pub const MOST_VIOLATIONS: usize = 10;
    /// The maximum number of listed lifecycles of skipped events.
    pub const MOST_SKIPPED: usize = 10;

    /// The number of events that were checked against rules.
    pub fn checked(&self) -> u64 {
        self.events - self.skipped
    }

    /// Finds the first listed violation of the rules with this name.
    pub(super) fn first_of(&self, rules: &str) -> Option<&Violation> {
        self.violation.iter().chain(&self.others).find(|violation| violation.rules() == Some(rules))
    }

    /// The verdict with its reasons, without the coverage.
    pub fn summary(&self) -> String {
        let mut text = format!("{}: {}", self.verdict, count(self.events, "event"));
        if self.skipped > 0 {
            text.push_str(&format!(" ({} of other lifecycles)", self.skipped));
        }
        text.push_str(&format!(", {}", count(self.instances, "instance")));
        match self.cut_off {
            0 => text.push('\n'),
            cut_off => {
                text.push_str(&format!(" ({cut_off} cut off by the next activation or the end of the run)\n"))
            }
        }
        if let Some(violation) = &self.violation {
            text.push_str(&format!("{violation}\n"));
        }
        for other in &self.others {
            text.push_str(&format!("{other}\n"));
        }
        let more = self.violations.saturating_sub(1 + self.others.len() as u64);
        if more > 0 {
            text.push_str(&format!("and {}\n", count(more, "more violation")));
        }
        if let Some(backwards) = &self.backwards {
            text.push_str(&format!("note: {backwards}\n"));
        }
        if !self.consumed_whole {
            text.push_str("the trace was not read to its end\n");
        }
        if self.unfinished_instances > 0 {
            let has = if self.unfinished_instances == 1 { "has" } else { "have" };
            text.push_str(&format!("{} {has} not ended:\n", count(self.unfinished_instances, "instance")));
            for it in &self.unfinished {
                text.push_str(&format!("  {it}\n"));
            }
            let more = self.unfinished_instances - self.unfinished.len() as u64;
            if more > 0 {
                text.push_str(&format!("  and {more} more\n"));
            }
        }
        text
    }
}

impl fmt::Display for Unfinished {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Unfinished { line, run, lifecycle, instance, state, .. } = self;
        let (lifecycle, instance, run, state) = (Plain(lifecycle), Plain(instance), Plain(run), Plain(state));
        write!(f, "{lifecycle} {instance} of run {run} is in {state} since line {line}")
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.summary(), self.coverage)
    }
}

/// One line per lifecycle, and one per transition that was never taken.
impl fmt::Display for Coverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.iter().try_for_each(|covered| covered.fmt(f))
    }
}

impl fmt::Display for LifecycleCoverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, taken, all) = (Plain(&self.lifecycle), self.taken(), self.edges.len());
        let instances = count(self.instances, "instance");
        writeln!(f, "{name}: {taken} of {all} edges taken ({:.1} %), {instances}", self.shown_percent())?;
        self.never().try_for_each(|edge| writeln!(f, "  never {edge}"))
    }
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

pub(super) fn count(number: u64, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{number} {what}s") }
}
