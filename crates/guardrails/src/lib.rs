//! Rules for a stream's output, checked while it streams and at its end.
//!
//! A [`Guardrail`] sees each token once and keeps the state that it needs. The cost of a token is therefore
//! independent of its position. The results of the built-in rules do not depend on the division of the text
//! into tokens. Only the time of a report does: it is the token with the deciding character.
//!
//! [`drift`] notices an output that leaves its subject or its form. [`structured`] reads a value from an output.
//!
//! ```
//! use runstate_guardrails::{Json, OutputFacts, Rules, ZeroOutput};
//!
//! let mut rules = Rules::new().with(ZeroOutput::new()).with(Json::strict());
//! let results = rules.complete("{\"answer\": 42}", &OutputFacts::TEXT);
//! assert!(results.iter().all(|result| result.passed()));
//!
//! rules.reset();
//! let results = rules.complete("{\"answer\": 42", &OutputFacts::TEXT);
//! assert!(results.iter().any(|result| !result.passed()));
//! ```
#![cfg_attr(docsrs, feature(doc_cfg))]

mod custom;
pub mod drift;
#[cfg(feature = "regex")]
mod forbidden;
mod json;
mod latex;
mod markdown;
mod patterns;
mod repetition;
mod rules;
pub mod structured;
mod text;
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

/// Facts of an attempt's output apart from its text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct OutputFacts {
    /// Number of tool calls.
    pub tool_calls: u64,
    /// Number of parts that are neither text nor tool calls: images, files, structured data.
    pub data_parts: u64,
}

impl OutputFacts {
    /// The facts of an output that is only text.
    pub const TEXT: OutputFacts = OutputFacts { tool_calls: 0, data_parts: 0 };

    /// Sets the number of tool calls.
    pub fn with_tool_calls(mut self, tool_calls: u64) -> Self {
        self.tool_calls = tool_calls;
        self
    }

    /// Sets the number of data parts.
    pub fn with_data_parts(mut self, data_parts: u64) -> Self {
        self.data_parts = data_parts;
        self
    }

    /// Returns whether the output has more than text.
    pub fn is_more_than_text(self) -> bool {
        self.tool_calls > 0 || self.data_parts > 0
    }
}

/// A rule for a stream's output.
///
/// One value serves one stream. The session marks the beginning of each attempt, so that the rule can keep
/// state of an attempt.
///
/// ```
/// use runstate_guardrails::{Guardrail, OutputFacts, Rules, Violation};
///
/// /// No line is longer than `limit` bytes.
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
    /// Returns the rule's name. Every call returns an equal name.
    fn name(&self) -> &str;

    /// Checks `delta`, which is the last part of `so_far`.
    ///
    /// A rule reports a violation when the text first breaks it, and not again at each later token. `delta` may
    /// be empty, and may be several tokens ([`Rules::every`]).
    fn streaming(&mut self, delta: &str, so_far: &str) -> Option<Violation>;

    /// Checks the whole output. Returns all violations, including those that [`streaming`](Self::streaming)
    /// returned.
    ///
    /// [`streaming`](Self::streaming) or [`resume`](Self::resume) has seen all of `so_far`.
    fn complete(&mut self, so_far: &str, output: &OutputFacts) -> Vec<Violation>;

    /// Starts an attempt without text.
    fn reset(&mut self);

    /// Starts an attempt that continues from `text`. The result is about `text` alone: it decides whether the
    /// checkpoint is usable.
    ///
    /// The default calls [`reset`](Self::reset), and then passes `text` as a first token.
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

/// The examples of the README, compiled and run as doc tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
