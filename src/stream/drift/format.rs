//! Structure that is lost.

/// How many lines are compared with how many. Blank lines do not count.
const LINES: u32 = 10;
/// A line that is longer counts once for each so many characters.
const LONGEST: u32 = 400;

/// The share of structured lines: headings, items of lists, rows of tables, quotations, fences, lines of JSON or of markup.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Format {
    line: Line,
    chars: u32,
    lines: u32,
    /// How many of the first lines are structured.
    first: u32,
    /// The last lines after those, one bit each.
    last: u16,
}

/// What the line that is being read is, by how it begins.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Line {
    #[default]
    Blank,
    /// A mark that white space must follow.
    Mark,
    /// A number that a point or a bracket must follow.
    Number,
    Structured,
    Plain,
}

impl Line {
    fn and(self, c: char) -> Self {
        match (self, c) {
            (Line::Blank, _) if c.is_whitespace() => Line::Blank,
            (Line::Blank, '#' | '|' | '>' | '`' | '{' | '}' | '[' | ']' | '"' | '<') => Line::Structured,
            (Line::Blank, '-' | '*' | '+' | '•') => Line::Mark,
            (Line::Blank | Line::Number, _) if c.is_ascii_digit() => Line::Number,
            (Line::Mark, '-') | (Line::Number, '.' | ')') => Line::Structured,
            (Line::Mark, _) if c.is_whitespace() => Line::Structured,
            (Line::Structured, _) => Line::Structured,
            _ => Line::Plain,
        }
    }
}

impl Format {
    /// One more character. How sure it is that the structure is lost.
    #[inline]
    pub(super) fn char(&mut self, c: char) -> f64 {
        if c == '\n' {
            let confidence = self.end_line();
            self.line = Line::Blank;
            return confidence;
        }
        self.line = self.line.and(c);
        self.chars += 1;
        if self.chars < LONGEST {
            return 0.0;
        }
        let confidence = self.end_line();
        // What follows on the same line is no structure of its own.
        self.line = Line::Plain;
        confidence
    }

    fn end_line(&mut self) -> f64 {
        let over = std::mem::take(&mut self.chars);
        if over == 0 || self.line == Line::Blank {
            return 0.0;
        }
        let structured = self.line == Line::Structured;
        self.lines = self.lines.saturating_add(1);
        if self.lines <= LINES {
            self.first += u32::from(structured);
            return 0.0;
        }
        self.last = ((self.last << 1) | u16::from(structured)) & ((1 << LINES) - 1);
        if self.lines < 2 * LINES {
            return 0.0;
        }
        f64::from(self.first.saturating_sub(self.last.count_ones())) / f64::from(LINES)
    }
}
