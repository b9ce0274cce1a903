//! Output without visible content.

use super::{Guardrail, OutputFacts, Violation};

/// Rule: the output has visible text, a tool call, or data.
///
/// White space, control characters and characters of no width are invisible: see [`is_visible`].
///
/// ```
/// use runstate_guardrails::{Guardrail, OutputFacts, ZeroOutput};
///
/// let mut rule = ZeroOutput::new();
/// rule.streaming(" \u{200B}\n", " \u{200B}\n");
/// assert_eq!(rule.complete(" \u{200B}\n", &OutputFacts::TEXT).len(), 1);
/// // An answer with only a tool call counts as output.
/// assert!(rule.complete(" \u{200B}\n", &OutputFacts::TEXT.with_tool_calls(1)).is_empty());
/// ```
#[derive(Debug, Default)]
pub struct ZeroOutput {
    visible: bool,
}

impl ZeroOutput {
    const NAME: &'static str = "zero-output";

    /// Creates the rule.
    pub fn new() -> Self {
        ZeroOutput::default()
    }
}

impl Guardrail for ZeroOutput {
    fn name(&self) -> &str {
        Self::NAME
    }

    #[inline]
    fn streaming(&mut self, delta: &str, _: &str) -> Option<Violation> {
        self.visible = self.visible || delta.chars().any(is_visible);
        None
    }

    fn complete(&mut self, _: &str, output: &OutputFacts) -> Vec<Violation> {
        if self.visible || output.is_more_than_text() {
            return Vec::new();
        }
        vec![Violation::error(
            Self::NAME,
            "the stream ended without any output: no visible text, no tool call",
        )]
    }

    fn reset(&mut self) {
        self.visible = false;
    }
}

/// Returns whether a character is visible.
///
/// White space and control characters are invisible. So are the characters that Unicode defines as ignorable:
/// joiners, marks of direction, variation selectors, fillers, tags, the byte order mark. A combining mark is
/// visible, because fonts show it on a dotted circle.
pub fn is_visible(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_graphic();
    }
    !(c.is_whitespace() || c.is_control() || is_ignorable(c))
}

/// Returns whether Unicode's property `Default_Ignorable_Code_Point` applies, or the character is the blank
/// Braille pattern.
pub(super) fn is_ignorable(c: char) -> bool {
    matches!(c,
        '\u{AD}' | '\u{34F}' | '\u{61C}' | '\u{115F}'..='\u{1160}' | '\u{17B4}'..='\u{17B5}' | '\u{180B}'..='\u{180F}'
        | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{2800}' | '\u{3164}'
        | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}' | '\u{FFA0}' | '\u{FFF0}'..='\u{FFF8}' | '\u{1BCA0}'..='\u{1BCA3}'
        | '\u{1D173}'..='\u{1D17A}' | '\u{E0000}'..='\u{E0FFF}')
}
