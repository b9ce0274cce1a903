//! The place where a trace stops being one.

use std::fmt;

use runstate::trace::{Problem, ReadError};

use crate::text::seen;

/// The maximum length of the problem, in characters.
const PROBLEM: usize = 300;

/// A line that is no event, and the lines after it, which are not part of a review.
///
/// The [`Display`](fmt::Display) is one line with the place and the loss.
///
/// # Example
/// ```
/// use runstate::trace::JsonlReader;
/// use runstate_review::Interruption;
///
/// let error = JsonlReader::new(&br#"{"seq":1,"at_"#[..]).read().unwrap_err();
/// assert_eq!(
///     Interruption::of(&error, 0).to_string(),
///     "line 1 is cut, since its writer was interrupted: its event is lost, and the lines before it are whole",
/// );
/// let error = JsonlReader::new(&b"panicked\n{}\n"[..]).read().unwrap_err();
/// assert!(Interruption::of(&error, 1).to_string().ends_with("this line and 1 line after it are left out"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Interruption {
    /// The line, from 1.
    pub line: u64,
    /// The problem of the line.
    pub problem: String,
    /// Whether the line is the last one and ends too early: its writer was interrupted.
    pub is_cut: bool,
    /// The number of lines after it that are left out.
    pub lines_after: u64,
}

impl Interruption {
    /// Describes a line that is no event, with the number of further lines that are left out.
    pub fn new(line: u64, problem: impl Into<String>, lines_after: u64) -> Self {
        Interruption { line, problem: problem.into(), is_cut: false, lines_after }
    }

    /// Describes an error of a reader, with the number of lines after the line of the error.
    pub fn of(error: &ReadError, lines_after: u64) -> Self {
        Interruption {
            line: error.line(),
            problem: error.problem().to_string(),
            is_cut: matches!(error.problem(), Problem::Cut),
            lines_after,
        }
    }
}

impl fmt::Display for Interruption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = self.line;
        if self.is_cut {
            return write!(
                f,
                "line {line} is cut, since its writer was interrupted: its event is lost, and the lines before it are whole"
            );
        }
        write!(f, "line {line} is no event: {}; this line", seen(&self.problem, PROBLEM))?;
        match self.lines_after {
            0 => f.write_str(" is left out"),
            1 => f.write_str(" and 1 line after it are left out"),
            more => write!(f, " and {more} lines after it are left out"),
        }
    }
}
