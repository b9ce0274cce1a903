//! Fences of code blocks.

use super::{Guardrail, OutputFacts, Violation};

/// Each fence of a code block that is opened must be closed.
///
/// A fence is a line that begins with three or more backticks or tildes; it is closed by a line of as many or more of the same and
/// nothing else (CommonMark, "Fenced code blocks"). How far a line is indented or quoted makes no difference here, since fences
/// stand in lists. An open fence may still be closed, so this rule speaks at the end alone.
///
/// ```
/// use runstate::stream::guardrail::{Guardrail, Markdown, OutputFacts};
///
/// let mut rule = Markdown::new();
/// let text = "So:\n```rust\nfn main() {}\n";
/// assert!(rule.streaming(text, text).is_none());
/// assert_eq!(rule.complete(text, &OutputFacts::TEXT)[0].at, Some(4));
///
/// let whole = format!("{text}```");
/// rule.streaming("```", &whole);
/// assert!(rule.complete(&whole, &OutputFacts::TEXT).is_empty());
/// ```
#[derive(Debug, Clone, Default)]
pub struct Markdown {
    open: Option<Fence>,
    line: Line,
    at: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Fence {
    mark: u8,
    length: usize,
    at: usize,
}

/// The line that is being read.
#[derive(Debug, Clone, Copy, Default)]
enum Line {
    /// Nothing but indentation and marks of quotation.
    #[default]
    Begun,
    Marks(Fence),
    /// Only white space after the marks.
    Blank(Fence),
    /// Something else after them: only a fence that opens has it.
    Info(Fence),
    /// A line of another kind.
    Text,
}

impl Markdown {
    const NAME: &'static str = "markdown";

    /// The rule.
    pub fn new() -> Self {
        Markdown::default()
    }

    #[inline]
    fn byte(&mut self, byte: u8) {
        self.line = match (self.line, byte) {
            (_, b'\n') => {
                self.open = self.after_line();
                Line::Begun
            }
            (Line::Text, _) => Line::Text,
            (Line::Begun, b' ' | b'\t' | b'\r' | b'>') => Line::Begun,
            (Line::Begun, b'`' | b'~') => Line::Marks(Fence { mark: byte, length: 1, at: self.at }),
            (Line::Begun, _) => Line::Text,
            (Line::Marks(fence), _) if byte == fence.mark => {
                Line::Marks(Fence { length: fence.length + 1, ..fence })
            }
            (Line::Marks(fence), _) if fence.length < 3 => Line::Text,
            (Line::Marks(fence) | Line::Blank(fence), b' ' | b'\t' | b'\r') => Line::Blank(fence),
            // Code within a line is no fence.
            (Line::Marks(fence) | Line::Blank(fence) | Line::Info(fence), b'`') if fence.mark == b'`' => {
                Line::Text
            }
            (Line::Marks(fence) | Line::Blank(fence) | Line::Info(fence), _) => Line::Info(fence),
        };
        self.at += 1;
    }

    /// What is open after the line that is being read, if it ends here.
    fn after_line(&self) -> Option<Fence> {
        let bare = match self.line {
            Line::Marks(fence) | Line::Blank(fence) if fence.length >= 3 => Some(fence),
            _ => None,
        };
        match (self.open, bare, self.line) {
            (Some(open), Some(close), _) if close.mark == open.mark && close.length >= open.length => None,
            (None, Some(open), _) | (None, None, Line::Info(open)) => Some(open),
            (open, _, _) => open,
        }
    }
}

impl Guardrail for Markdown {
    fn name(&self) -> &str {
        Self::NAME
    }

    fn streaming(&mut self, delta: &str, _: &str) -> Option<Violation> {
        delta.bytes().for_each(|byte| self.byte(byte));
        None
    }

    fn complete(&mut self, _: &str, _: &OutputFacts) -> Vec<Violation> {
        let unclosed = |fence: Fence| {
            let mark = String::from(char::from(fence.mark)).repeat(3);
            Violation::error(Self::NAME, format!("a code block that {mark} opens is not closed")).at(fence.at)
        };
        self.after_line().map(unclosed).into_iter().collect()
    }

    fn reset(&mut self) {
        *self = Self::new();
    }
}
