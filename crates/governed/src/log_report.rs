//! The content of a log of governed runs: its lines, its transitions and its faults.

use std::fmt;

use runstate::governed_run::GovernedRunStatus;

use super::timestamp::Timestamp;

/// A transition in a log.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoggedStep {
    /// The line, from 1. For a beginning without a line of its own, it is the line of the next transition.
    pub line: u64,
    /// The id of the run; `None` if the log does not name it.
    pub run: Option<String>,
    /// The previous state; `None` for the creation of the run.
    pub from: Option<GovernedRunStatus>,
    /// The new state.
    pub to: GovernedRunStatus,
    /// The time, if the line contains it.
    pub at: Option<Timestamp>,
}

/// A line of a log about a run, with the states as written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoggedLine<'l> {
    /// The line, from 1.
    pub line: u64,
    /// The text of the line, without its line feed.
    pub text: &'l [u8],
    /// The id of the run, or another word in its place; `None` if the line does not name it.
    pub run: Option<&'l str>,
    /// The previous state, known or not; `None` for the creation of the run. Without one in the line, it is the state of the
    /// previous line of the run.
    pub from: Option<&'l str>,
    /// The new state, known or not; `None` for a line that reports no transition.
    pub to: Option<&'l str>,
    /// The number of the transition, if the line contains it.
    pub seq: Option<u64>,
    /// The time, if the line contains it.
    pub at: Option<Timestamp>,
    /// The faults of the line.
    pub faults: &'l [String],
}

/// The fault of a line in a log.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LogFault {
    /// The line, from 1.
    pub line: u64,
    /// The fault, such as an illegal transition.
    pub why: String,
    /// Whether the line cannot be read.
    pub is_unreadable: bool,
}

impl fmt::Display for LogFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.why)
    }
}

/// The last state of a run in a log.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoggedRun {
    /// The id of the run; `None` if the log does not name it.
    pub run: Option<String>,
    /// The last state; `None` if the log names an unknown state.
    pub state: Option<GovernedRunStatus>,
}

/// The content of a log, and its faults.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LogReport {
    /// The number of lines, empty ones included.
    pub lines: u64,
    /// The number of transitions. Lines about other matters are not faults.
    pub steps: u64,
    /// The last state of each run.
    pub runs: Vec<LoggedRun>,
    /// The first thousand faults, in line order.
    pub faults: Vec<LogFault>,
    /// The number of further faults.
    pub more_faults: u64,
    /// The number of lines that are too long, incomplete, or not JSON objects. Each of them is a fault.
    pub unreadable: u64,
}
