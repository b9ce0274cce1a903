//! Structure that is lost.

/// How many lines are compared with how many loose ones. Blank lines and code do not count.
const LINES: u32 = 8;
const LOOSE: u32 = 7;
/// A loose line has at most so many characters: wrapped prose has more.
const LONGEST: u32 = 72;

/// Structured lines at first (headings, items of lists, rows of tables, quotations, lines of JSON, of markup or of values between
/// commas), and loose lines of prose that follow one another.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Format {
    line: Line,
    chars: u32,
    /// Does the line have a character that prose has not?
    odd: bool,
    last: char,
    before: char,
    /// Commas and tabs that a character follows at once.
    values: u32,
    /// Backticks or tildes at the line's beginning, and whether a code block is open.
    marks: u32,
    fenced: bool,
    lines: u32,
    /// How many of the first lines are structured.
    first: u32,
    /// Loose lines, mostly in a row.
    loose: u32,
}

/// What the line that is being read is, by how it begins.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Line {
    #[default]
    Blank,
    /// A mark that white space must follow.
    Mark,
    /// A number or a letter that a point or a bracket must follow.
    Number,
    Letter,
    /// A bullet that is a letter, and its point; or a word, and its colon.
    Lettered,
    Word,
    Fence,
    Structured,
    Plain,
}

impl Line {
    fn and(self, c: char) -> Self {
        match (self, c) {
            (Line::Blank, _) if c.is_whitespace() => Line::Blank,
            (Line::Blank | Line::Fence, '`' | '~') => Line::Fence,
            (Line::Blank, '#' | '|' | '>' | '{' | '}' | '[' | ']' | '"' | '<') => Line::Structured,
            (Line::Blank, '-' | '*' | '+' | '•') => Line::Mark,
            (Line::Blank | Line::Number, _) if c.is_ascii_digit() => Line::Number,
            (Line::Blank, _) if c.is_ascii_alphabetic() => Line::Letter,
            (Line::Letter, '.' | ')') | (Line::Letter | Line::Word, ':') => Line::Lettered,
            (Line::Letter | Line::Word, _) if c.is_ascii_alphanumeric() => Line::Word,
            (Line::Mark, '-' | '*') | (Line::Number, '.' | ')') => Line::Structured,
            (Line::Mark | Line::Lettered, _) if c.is_whitespace() => Line::Structured,
            (Line::Structured | Line::Fence, _) => self,
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
            *self =
                Format { line: Line::Blank, chars: 0, odd: false, values: 0, marks: 0, before: c, ..*self };
            return confidence;
        }
        // Most characters are such, and do not change the kind of the line.
        if c.is_ascii_lowercase()
            && matches!(self.line, Line::Word | Line::Plain | Line::Structured)
            && !matches!(self.before, ',' | ';' | '|')
        {
            self.chars = self.chars.saturating_add(1);
            (self.before, self.last) = (c, c);
            return 0.0;
        }
        self.marks += u32::from(matches!(self.line, Line::Blank | Line::Fence) && matches!(c, '`' | '~'));
        self.line = self.line.and(c);
        self.chars = self.chars.saturating_add(1);
        let before = std::mem::replace(&mut self.before, c);
        if c.is_whitespace() {
            self.values += u32::from(c == '\t');
            return 0.0;
        }
        if matches!(before, ',' | ';' | '|') {
            self.values += 1;
        }
        self.odd |= !c.is_alphanumeric() && !" ,.'’\":;?!-()%&–—/“”‘€$£+*_".contains(c);
        self.last = c;
        0.0
    }

    fn end_line(&mut self) -> f64 {
        if self.line == Line::Fence && self.marks >= 3 {
            self.fenced = !self.fenced;
            self.loose = 0;
            return 0.0;
        }
        if self.line == Line::Blank || self.fenced {
            return 0.0;
        }
        let structured = self.line == Line::Structured || self.values >= 2;
        if self.lines < LINES {
            self.lines += 1;
            self.first += u32::from(structured);
            return 0.0;
        }
        let plain = matches!(self.line, Line::Plain | Line::Letter | Line::Word) && !structured && !self.odd;
        let loose = plain && self.chars <= LONGEST && !matches!(self.last, ';' | ':' | '(');
        self.loose = match loose {
            true => self.loose + 1,
            false if structured => 0,
            false => self.loose.saturating_sub(3),
        };
        if self.loose < LOOSE {
            return 0.0;
        }
        f64::from(self.first) / f64::from(LINES)
    }
}
