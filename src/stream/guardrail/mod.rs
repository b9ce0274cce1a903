//! Rules that a stream's output is held against, while it streams and at its end.
//!
//! A [`Guardrail`] sees each token once and remembers what it needs, so that a token costs the same at the stream's beginning and
//! after a million others. What the built-in rules say does not depend on how the text was cut into tokens, other than that they
//! say it at the token that brought the deciding character.

mod custom;
#[cfg(feature = "regex")]
mod forbidden;
mod json;
mod latex;
mod markdown;
mod patterns;
mod repetition;
mod rules;
pub(in crate::stream) mod text;
mod violation;
mod zero_output;

pub use custom::Custom;
#[cfg(feature = "regex")]
pub use forbidden::{Forbidden, ForbiddenError};
pub use json::Json;
pub use latex::Latex;
pub use markdown::Markdown;
pub use patterns::{PatternKind, Patterns};
pub use repetition::Repetition;
pub use rules::{RuleResult, Rules};
pub use violation::{Severity, Violation};
pub use zero_output::{ZeroOutput, is_visible};

/// What an attempt put out beside its text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct OutputFacts {
    /// How many tools it asked for.
    pub tool_calls: u64,
    /// How many parts it gave that are neither text nor tool calls: images, files, structured data.
    pub data_parts: u64,
}

impl OutputFacts {
    /// Text alone.
    pub const TEXT: OutputFacts = OutputFacts { tool_calls: 0, data_parts: 0 };

    /// The same, with that many tool calls.
    pub fn with_tool_calls(mut self, tool_calls: u64) -> Self {
        self.tool_calls = tool_calls;
        self
    }

    /// The same, with that many parts of data.
    pub fn with_data_parts(mut self, data_parts: u64) -> Self {
        self.data_parts = data_parts;
        self
    }

    /// Was there anything beside text?
    pub fn is_more_than_text(self) -> bool {
        self.tool_calls > 0 || self.data_parts > 0
    }
}

/// A rule for a stream's output.
///
/// One value serves one stream: it is told where an attempt begins, and may keep what it has seen of it.
///
/// ```
/// use runstate::stream::guardrail::{Guardrail, OutputFacts, Rules, Violation};
///
/// /// No line is longer than so many bytes.
/// struct ShortLines { limit: usize, line: usize }
///
/// impl Guardrail for ShortLines {
///     fn name(&self) -> &str {
///         "short-lines"
///     }
///     fn streaming(&mut self, delta: &str, so_far: &str) -> Option<Violation> {
///         let was_within = self.line <= self.limit;
///         self.line = match delta.rfind('\n') {
///             Some(end) => delta.len() - end - 1,
///             None => self.line + delta.len(),
///         };
///         (was_within && self.line > self.limit).then(|| Violation::error("short-lines", "a long line").at(so_far.len()))
///     }
///     fn complete(&mut self, so_far: &str, _: &OutputFacts) -> Vec<Violation> {
///         let long = so_far.lines().any(|line| line.len() > self.limit);
///         if long { vec![Violation::error("short-lines", "a long line")] } else { vec![] }
///     }
///     fn reset(&mut self) {
///         self.line = 0;
///     }
/// }
///
/// let mut rules = Rules::new().with(ShortLines { limit: 8, line: 0 });
/// assert!(rules.streaming("one two ", "one two ").is_empty());
/// let found = rules.streaming("three", "one two three");
/// assert_eq!(found[0].rule, "short-lines");
/// ```
pub trait Guardrail: Send {
    /// The rule's name, the same at each call.
    fn name(&self) -> &str;

    /// Looks at `delta`, which was just put at the end of `so_far`.
    ///
    /// A rule speaks when the text first breaks it, and not again at each later token. `delta` may be empty, and may be several
    /// tokens at once ([`Rules::every`]).
    fn streaming(&mut self, delta: &str, so_far: &str) -> Option<Violation>;

    /// Looks at the whole output, after its end: all that is wrong with it, with what was said while it streamed.
    ///
    /// All of `so_far` has been seen by [`streaming`](Self::streaming) or [`resume`](Self::resume).
    fn complete(&mut self, so_far: &str, output: &OutputFacts) -> Vec<Violation>;

    /// An attempt begins, with no text.
    fn reset(&mut self);

    /// An attempt begins that goes on from `text`. What is said is about `text` alone: whether a checkpoint is fit to go on from.
    ///
    /// By default [`reset`](Self::reset), and then `text` as a first token.
    fn resume(&mut self, text: &str) -> Option<Violation> {
        self.reset();
        self.streaming(text, text)
    }
}

impl<G: Guardrail + ?Sized> Guardrail for Box<G> {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn streaming(&mut self, delta: &str, so_far: &str) -> Option<Violation> {
        (**self).streaming(delta, so_far)
    }

    fn complete(&mut self, so_far: &str, output: &OutputFacts) -> Vec<Violation> {
        (**self).complete(so_far, output)
    }

    fn reset(&mut self) {
        (**self).reset();
    }

    fn resume(&mut self, text: &str) -> Option<Violation> {
        (**self).resume(text)
    }
}
