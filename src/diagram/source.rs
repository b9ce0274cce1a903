//! Places in a text file: byte spans, lines and columns, and the excerpt with a caret of an error.

use std::fmt;

/// A byte range of a source text.
///
/// # Example
///
/// ```
/// use runstate::diagram::Span;
///
/// let source = "A --> B";
/// assert_eq!(Span::new(6, 7).of(source), Some("B"));
/// // A span of another text may be out of range here.
/// assert_eq!(Span::new(6, 70).of(source), None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span {
    /// The first byte.
    pub start: usize,
    /// The byte after the last one.
    pub end: usize,
}

impl Span {
    /// Makes the span from `start` up to but not including `end`; an `end` before `start` gives an empty span.
    #[must_use]
    pub const fn new(start: usize, end: usize) -> Self {
        Self { start, end: if end < start { start } else { end } }
    }

    /// The text of the span in `source`; `None` if the span does not fit this text.
    #[must_use]
    pub fn of(self, source: &str) -> Option<&str> {
        source.get(self.start..self.end)
    }

    /// Returns the span moved by `offset` bytes, for a text inside a larger one.
    #[must_use]
    pub const fn shifted(self, offset: usize) -> Self {
        Self { start: self.start + offset, end: self.end + offset }
    }

    pub(super) fn to(self, other: Span) -> Span {
        Span::new(self.start.min(other.start), self.end.max(other.end))
    }
}

/// A line and a column in the notation of editors: both count from 1, a column counts characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// The line, from 1.
    pub line: usize,
    /// The character within the line, from 1.
    pub column: usize,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// An index of line beginnings. It finds the line of a byte by binary search.
///
/// A line ends at `\n`, at `\r\n` or at a lone `\r`.
///
/// # Example
///
/// ```
/// use runstate::diagram::LineIndex;
///
/// let text = "one\r\ntwo";
/// let lines = LineIndex::new(text);
/// assert_eq!(lines.position(text, 6).to_string(), "2:2");
/// assert_eq!(lines.line_text(text, 1), Some("one"));
/// // The text has no third line.
/// assert_eq!(lines.line_text(text, 3), None);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineIndex {
    starts: Vec<usize>,
}

impl LineIndex {
    /// Scans `text` once and stores the beginnings of its lines.
    #[must_use]
    pub fn new(text: &str) -> Self {
        let bytes = text.as_bytes();
        let mut starts = vec![0];
        for (at, byte) in bytes.iter().enumerate() {
            let ends_line = *byte == b'\n' || (*byte == b'\r' && bytes.get(at + 1) != Some(&b'\n'));
            if ends_line {
                starts.push(at + 1);
            }
        }
        Self { starts }
    }

    /// The line of a byte, from 1. A byte after the end belongs to the last line.
    #[must_use]
    pub fn line(&self, offset: usize) -> usize {
        self.starts.partition_point(|start| *start <= offset).max(1)
    }

    /// The number of lines. A text that ends in a line break has an empty last line.
    #[must_use]
    pub fn count(&self) -> usize {
        self.starts.len()
    }

    /// The line and column of a byte in `text`, the text of this index.
    #[must_use]
    pub fn position(&self, text: &str, offset: usize) -> Position {
        let line = self.line(offset);
        let start = self.starts[line - 1].min(text.len());
        let end = floor_boundary(text, offset);
        let column = text.get(start..end).map_or(0, |before| before.chars().count()) + 1;
        Position { line, column }
    }

    /// A line without its line break; lines count from 1.
    #[must_use]
    pub fn line_text<'t>(&self, text: &'t str, line: usize) -> Option<&'t str> {
        let start = *self.starts.get(line.checked_sub(1)?)?;
        let end = self.starts.get(line).copied().unwrap_or(text.len());
        Some(text.get(start..end)?.trim_end_matches(['\n', '\r']))
    }

    /// The first byte of a line; lines count from 1.
    #[must_use]
    pub fn line_start(&self, line: usize) -> Option<usize> {
        self.starts.get(line.checked_sub(1)?).copied()
    }
}

/// A converter of ascending offsets to positions. It scans a long line only once.
pub(super) struct Places<'t> {
    text: &'t str,
    lines: &'t LineIndex,
    offset: usize,
    last: Position,
}

impl<'t> Places<'t> {
    pub(super) fn new(text: &'t str, lines: &'t LineIndex) -> Self {
        Self { text, lines, offset: 0, last: Position { line: 1, column: 1 } }
    }

    /// Returns the position of an offset, which must not precede the previous one.
    pub(super) fn position(&mut self, offset: usize) -> Position {
        let offset = floor_boundary(self.text, offset);
        let line = self.lines.line(offset);
        let from = self.lines.line_start(line).unwrap_or(0);
        let (from, column) =
            if line == self.last.line { (self.offset.max(from), self.last.column) } else { (from, 1) };
        let passed = self.text.get(from..offset).map_or(0, |text| text.chars().count());
        self.offset = offset;
        self.last = Position { line, column: column + passed };
        self.last
    }
}

/// The maximum number of characters of an excerpt before and after the caret.
const WINDOW: usize = 60;

/// An excerpt that points to a place of a file: its name, line and column, the line itself, a caret.
///
/// Any error message about a text file can use it. A long line is cut around the caret, and a control
/// character is shown as `·`, so hostile input cannot garble a terminal.
///
/// # Example
///
/// ```
/// use runstate::diagram::{Excerpt, Span};
///
/// let excerpt = Excerpt::new("run.mmd", "A --> B\nB -> C\n", Span::new(10, 12), "not an arrow");
/// assert_eq!(
///     excerpt.to_string(),
///     " --> run.mmd:2:3\n  |\n2 | B -> C\n  |   ^^ not an arrow",
/// );
/// // A span beyond the end points to the position after the last character.
/// let past = Excerpt::new("run.mmd", "A", Span::new(90, 95), "");
/// assert_eq!(past.to_string(), " --> run.mmd:1:2\n  |\n1 | A\n  |  ^");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excerpt {
    file: String,
    position: Position,
    shown: String,
    indent: usize,
    carets: usize,
    note: String,
}

impl Excerpt {
    /// Makes an excerpt for `span` of `source`, the text of `file`, with `note` after the caret (it may be empty).
    #[must_use]
    pub fn new(file: &str, source: &str, span: Span, note: &str) -> Self {
        Self::with_lines(file, source, &LineIndex::new(source), span, note)
    }

    /// As [`Excerpt::new`], with an existing index of the lines of `source`: for reports of many places in one file.
    #[must_use]
    pub fn with_lines(file: &str, source: &str, lines: &LineIndex, span: Span, note: &str) -> Self {
        let start = floor_boundary(source, span.start);
        let end = floor_boundary(source, span.end).max(start);
        let position = lines.position(source, start);
        let line_start = lines.line_start(position.line).unwrap_or(0).min(start);
        let line = lines.line_text(source, position.line).unwrap_or("");
        let marked = source[start..end].split(['\n', '\r']).next().unwrap_or("").chars().count();
        let before = line.get(..start - line_start).unwrap_or(line);
        let behind = line.get(start - line_start..).unwrap_or("");
        let cut = before.chars().count().saturating_sub(WINDOW);
        let mut shown = String::new();
        if cut > 0 {
            shown.push('…');
        }
        shown.extend(before.chars().skip(cut).map(printable));
        let indent = shown.chars().count();
        let mut rest = behind.chars();
        shown.extend(rest.by_ref().take(WINDOW).map(printable));
        if rest.next().is_some() {
            shown.push('…');
        }
        let room = shown.chars().count().saturating_sub(indent);
        Self {
            file: file.to_owned(),
            position,
            shown: shown.trim_end().to_owned(),
            indent,
            carets: marked.min(room).max(1),
            note: note.to_owned(),
        }
    }

    /// The line and column of the excerpt.
    #[must_use]
    pub fn position(&self) -> Position {
        self.position
    }
}

impl fmt::Display for Excerpt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = self.position.line.to_string();
        let pad = " ".repeat(number.len());
        writeln!(f, "{pad}--> {}:{}", self.file, self.position)?;
        writeln!(f, "{pad} |")?;
        if self.shown.is_empty() {
            writeln!(f, "{number} |")?;
        } else {
            writeln!(f, "{number} | {}", self.shown)?;
        }
        write!(f, "{pad} | {}{}", " ".repeat(self.indent), "^".repeat(self.carets))?;
        if !self.note.is_empty() {
            write!(f, " {}", self.note)?;
        }
        Ok(())
    }
}

fn printable(c: char) -> char {
    match c {
        '\t' => ' ',
        c if c.is_control() => '·',
        c => c,
    }
}

fn floor_boundary(text: &str, offset: usize) -> usize {
    let mut at = offset.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}
