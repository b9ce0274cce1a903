//! Look-ahead in a line: some rules take a whole line because of its end.

use crate::diagram::chars::{line_end, spaces, word};
use crate::diagram::model::{Direction, StateKind};

/// The marks that turn a `state` statement into a pseudo state, in Mermaid's search order.
pub(super) const MARKS: [(&str, StateKind); 6] = [
    ("<<fork>>", StateKind::Fork),
    ("<<join>>", StateKind::Join),
    ("<<choice>>", StateKind::Choice),
    ("[[fork]]", StateKind::Fork),
    ("[[join]]", StateKind::Join),
    ("[[choice]]", StateKind::Choice),
];

/// The last occurrence of each searched item in one line. It is computed once per line.
#[derive(Debug, Default)]
pub(super) struct Ahead {
    start: usize,
    end: usize,
    made: bool,
    /// The start of each direction, and the end of its statement.
    directions: [Option<(usize, usize)>; 4],
    marks: [Option<usize>; 6],
    brace: Option<usize>,
}

impl Ahead {
    fn look(&mut self, text: &str, at: usize) {
        if self.made && (self.start..=self.end).contains(&at) {
            return;
        }
        let end = line_end(text, at);
        *self = Self { start: at, end, made: true, ..Self::default() };
        for (offset, byte) in text.as_bytes()[at..end].iter().enumerate() {
            let here = at + offset;
            match byte {
                b'd' | b'D' => self.direction_at(text, here),
                b'<' | b'[' => {
                    for (mark, slot) in MARKS.iter().zip(&mut self.marks) {
                        if word(text, here, mark.0).is_some_and(|stop| stop <= end) {
                            *slot = Some(here);
                        }
                    }
                }
                b'{' => self.brace = Some(here),
                _ => {}
            }
        }
    }

    fn direction_at(&mut self, text: &str, here: usize) {
        let Some(after) = word(text, here, "direction") else { return };
        let name = spaces(text, after);
        if name == after {
            return;
        }
        for (direction, slot) in Direction::ALL.iter().zip(&mut self.directions) {
            if let Some(end) = word(text, name, direction.as_str()) {
                *slot = Some((here, end));
            }
        }
    }

    /// Finds a direction statement that begins at `at` or later in its line: its direction, its start, and the end of
    /// its name.
    pub(super) fn direction(&mut self, text: &str, at: usize) -> Option<(Direction, usize, usize)> {
        self.look(text, at);
        Direction::ALL.iter().zip(&self.directions).find_map(|(direction, slot)| {
            let (start, end) = (*slot)?;
            (start >= at).then_some((*direction, start, end))
        })
    }

    /// Finds a mark that begins at `at` or later in its line: its kind, its start and its end.
    pub(super) fn mark(&mut self, text: &str, at: usize) -> Option<(StateKind, usize, usize)> {
        self.look(text, at);
        MARKS.iter().zip(&self.marks).find_map(|((mark, kind), slot)| {
            let start = (*slot)?;
            (start >= at).then_some((*kind, start, start + mark.len()))
        })
    }

    /// Returns whether an opening brace is at `at` or later in its line.
    pub(super) fn brace(&mut self, text: &str, at: usize) -> bool {
        self.look(text, at);
        self.brace.is_some_and(|brace| brace >= at)
    }

    /// Returns whether an opening brace is at `at` or later in its line, which may be another line. The data of the
    /// current line is kept.
    pub(super) fn brace_elsewhere(&mut self, text: &str, at: usize) -> bool {
        if at <= self.end {
            return self.brace(text, at);
        }
        text[at..line_end(text, at)].contains('{')
    }
}

/// Returns whether an id consists only of a mark.
pub(in crate::diagram) fn is_mark(id: &str) -> bool {
    MARKS.iter().any(|(mark, _)| id.eq_ignore_ascii_case(mark))
}
