//! Errors of files with events.

use std::error::Error;
use std::fmt;
use std::io;
use std::sync::Arc;

use super::line::Found;

/// The problem.
#[derive(Debug)]
#[non_exhaustive]
pub enum Problem {
    /// The source could not be read.
    Io(io::Error),
    /// The input has no events.
    Empty,
    /// The line is not UTF-8 text.
    NotText {
        /// The first invalid byte.
        byte: u8,
    },
    /// The line is not JSON.
    Syntax {
        /// The expectation of the parser, or the problem.
        message: String,
    },
    /// The line is JSON but no event: a field is missing, duplicated or of the wrong type.
    Shape {
        /// The found and the expected content.
        message: String,
    },
    /// The JSON of the line ends too early.
    Unfinished,
    /// The last line ends too early and has no line break: its writer was interrupted.
    Cut,
    /// The line is longer than the limit.
    TooLong {
        /// The limit, in bytes.
        limit: usize,
    },
    /// An unknown field has more levels than the limit.
    TooDeep {
        /// The limit, in levels.
        limit: usize,
    },
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::Io(error) => write!(f, "cannot read: {error}"),
            Problem::Empty => f.write_str("expected a trace, one JSON object a line, got no events at all"),
            Problem::NotText { byte } => write!(f, "expected UTF-8 text, got the byte 0x{byte:02x}"),
            Problem::Syntax { message } => write!(f, "not JSON: {}", Short(message)),
            Problem::Shape { message } => write!(f, "{}", Short(message)),
            Problem::Unfinished => f.write_str("the JSON object ends too early"),
            Problem::Cut => f.write_str(
                "the last line is cut: its JSON object ends too early and no line break follows; \
                 its writer was interrupted, and the lines before it are whole",
            ),
            Problem::TooLong { limit } => write!(f, "the line is longer than {limit} bytes"),
            Problem::TooDeep { limit } => write!(f, "the field nests deeper than {limit} levels"),
        }
    }
}

/// The reason why a trace could not be read, with its place.
///
/// [`Display`](fmt::Display) is one line that begins with the place; [`report`](ReadError::report) also shows the
/// line.
///
/// # Example
/// ```
/// let error = runstate::trace::Event::from_json(r#"{"seq":1,"at_ms":true}"#).unwrap_err();
/// assert_eq!(error.named("run.jsonl").report(), "\
/// run.jsonl:1:21: invalid type: boolean `true`, expected a whole number from 0 for `at_ms`
///   |
/// 1 | {\"seq\":1,\"at_ms\":true}
///   |                     ^
/// ");
/// ```
#[derive(Debug)]
pub struct ReadError(Box<Inner>);

#[derive(Debug)]
struct Inner {
    source: Option<Arc<str>>,
    line: u64,
    column: usize,
    problem: Problem,
    excerpt: Option<Excerpt>,
}

/// An excerpt of a line around a place.
#[derive(Debug)]
struct Excerpt {
    text: String,
    caret: usize,
}

impl Excerpt {
    /// The maximum number of characters before and after the place.
    const SIDE: usize = 60;

    fn of(line: &str, byte: usize) -> Self {
        let byte = boundary_before(line, byte);
        let (before, after) = line.split_at(byte);
        let start = before.char_indices().rev().take(Self::SIDE).last().map_or(byte, |(at, _)| at);
        let end = after.char_indices().nth(Self::SIDE).map_or(line.len(), |(at, _)| byte + at);
        let mut text = String::new();
        if start > 0 {
            text.push('…');
        }
        text.extend(line[start..byte].chars().map(visible));
        let caret = text.chars().count();
        text.extend(line[byte..end].chars().map(visible));
        if end < line.len() {
            text.push('…');
        }
        text.truncate(text.trim_end().len());
        Excerpt { text, caret }
    }
}

fn visible(c: char) -> char {
    if c == '\t' {
        ' '
    } else if c.is_control() {
        '\u{fffd}'
    } else {
        c
    }
}

impl ReadError {
    /// Makes an error without a place in a line.
    pub(super) fn at(line: u64, problem: Problem) -> Self {
        ReadError(Box::new(Inner { source: None, line, column: 1, problem, excerpt: None }))
    }

    /// Makes an error at a byte of a line.
    pub(super) fn within(number: u64, line: &str, found: Found) -> Self {
        let byte = boundary_before(line, found.byte);
        ReadError(Box::new(Inner {
            source: None,
            line: number,
            column: line[..byte].chars().count() + 1,
            problem: found.problem,
            excerpt: Some(Excerpt::of(line, byte)),
        }))
    }

    /// Sets the name of the file.
    #[must_use]
    pub fn named(mut self, source: &str) -> Self {
        self.0.source = Some(source.into());
        self
    }

    /// The line, from 1. For an input without events, or with a read error, it is the line after the last one.
    pub fn line(&self) -> u64 {
        self.0.line
    }

    /// The column, from 1, in characters.
    pub fn column(&self) -> usize {
        self.0.column
    }

    /// The problem at that place.
    pub fn problem(&self) -> &Problem {
        &self.0.problem
    }

    /// Shows the error with an excerpt of the line and a caret under the place.
    pub fn report(&self) -> String {
        let mut text = format!("{self}\n");
        if let Some(Excerpt { text: shown, caret }) = &self.0.excerpt {
            let number = self.0.line.to_string();
            let margin = number.len();
            text.push_str(&format!(
                "{:margin$} |\n{number} | {shown}\n{:margin$} | {:caret$}^\n",
                "", "", ""
            ));
        }
        text
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner { source, line, column, problem, .. } = &*self.0;
        match source {
            Some(source) => write!(f, "{source}:{line}:{column}: {problem}"),
            None => write!(f, "line {line}, column {column}: {problem}"),
        }
    }
}

impl Error for ReadError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match &self.0.problem {
            Problem::Io(error) => Some(error),
            _ => None,
        }
    }
}

/// The beginning and the end of a message that may quote megabytes of the input.
struct Short<'a>(&'a str);

impl fmt::Display for Short<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SIDE: usize = 120;
        let text = self.0;
        if text.len() <= 3 * SIDE {
            return f.write_str(text);
        }
        let head = &text[..boundary_before(text, SIDE)];
        let tail = &text[boundary_before(text, text.len() - SIDE)..];
        write!(f, "{head}…{tail}")
    }
}

/// The last boundary of characters at or before the byte.
// As `str::floor_char_boundary`, which needs Rust 1.91: this package supports 1.88.
fn boundary_before(text: &str, byte: usize) -> usize {
    (0..=byte.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
}
