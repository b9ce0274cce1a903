//! Fences of code blocks.

use super::{Guardrail, OutputFacts, Violation};

/// Rule: every fence of a code block is closed.
///
/// A fence is a line that begins with three or more backticks or tildes. A line closes it if it has at least as
/// many of that character and no other text (CommonMark, "Fenced code blocks"). The rule ignores indentation
/// and quotation marks of a line, because fences occur in lists. An open fence may be closed later, so the rule
/// reports only at the end.
///
/// ```
/// use runstate_guardrails::{Guardrail, Markdown, OutputFacts};
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

/// The current line.
#[derive(Debug, Clone, Copy, Default)]
enum Line {
    /// Only indentation and quotation marks so far.
    #[default]
    Begun,
    Marks(Fence),
    /// Marks, followed by white space only.
    Blank(Fence),
    /// Marks, followed by other text. Only an opening fence has such text.
    Info(Fence),
    /// A line without a fence.
    Text,
}

impl Markdown {
    const NAME: &'static str = "markdown";

    /// Creates the rule.
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
            // Code within a line is not a fence.
            (Line::Marks(fence) | Line::Blank(fence) | Line::Info(fence), b'`') if fence.mark == b'`' => {
                Line::Text
            }
            (Line::Marks(fence) | Line::Blank(fence) | Line::Info(fence), _) => Line::Info(fence),
        };
        self.at += 1;
    }

    /// Returns the fence that is open if the current line ends here.
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
