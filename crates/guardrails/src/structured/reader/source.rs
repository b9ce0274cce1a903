//! The text, with the position of the reader.

/// A text that is read from front to back.
#[derive(Debug, Clone, Copy)]
pub(super) struct Source<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Source<'t> {
    pub(super) fn new(text: &'t str, at: usize) -> Self {
        Source { text, at }
    }

    /// Returns the number of bytes read.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    pub(super) fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    pub(super) fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        Some(c)
    }

    pub(super) fn eat(&mut self, c: char) -> bool {
        let there = self.peek() == Some(c);
        if there {
            self.at += c.len_utf8();
        }
        there
    }

    /// Reads this number of bytes, which end between characters.
    pub(super) fn take(&mut self, bytes: usize) -> &'t str {
        let taken = self.rest().get(..bytes).unwrap_or_else(|| self.rest());
        self.at += taken.len();
        taken
    }

    /// Returns whether a fence follows. It ends JSON that was cut.
    pub(super) fn at_fence(&self) -> bool {
        self.rest().starts_with("```") || self.rest().starts_with("~~~")
    }

    /// Returns whether the line that begins here ends a fence of `marks` marks.
    pub(super) fn line_ends_fence(&self, marks: usize) -> bool {
        let line = self.rest().lines().next().unwrap_or_default().trim();
        line.len() >= marks && (line.bytes().all(|c| c == b'`') || line.bytes().all(|c| c == b'~'))
    }

    /// Skips white space, marks of no width and comments. Returns whether there was a comment; none if a
    /// comment has no end.
    pub(super) fn skip_blank(&mut self) -> Option<bool> {
        let mut commented = false;
        loop {
            let rest = self.rest();
            let text =
                rest.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '\u{FEFF}' | '\u{200B}'));
            self.at += rest.len() - text.len();
            let comment = if let Some(comment) = text.strip_prefix("/*") {
                comment.find("*/")? + 4
            } else if text.starts_with("//")
                || text.strip_prefix('#').is_some_and(|text| text.starts_with([' ', '\n']))
            {
                text.find('\n').unwrap_or(text.len())
            } else {
                return Some(commented);
            };
            self.at += comment;
            commented = true;
        }
    }
}

/// Returns the quotes that close a string which `open` begins.
pub(super) fn closing(open: char) -> Option<&'static [char]> {
    match open {
        '"' => Some(&['"']),
        '\'' => Some(&['\'']),
        '`' => Some(&['`']),
        '\u{201C}' | '\u{201D}' | '\u{201E}' => Some(&['\u{201D}', '\u{201C}']),
        '\u{2018}' | '\u{2019}' => Some(&['\u{2019}']),
        _ => None,
    }
}
