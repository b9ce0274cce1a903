//! Rules for an output.

use std::collections::BTreeMap;

use runstate_guardrails::drift::DriftKind;
use schemars::JsonSchema;
use serde::Deserialize;

use super::yes;

/// A rule.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Rule {
    /// Brackets and strings of JSON close.
    JsonBalanced,
    /// The output is one JSON value.
    JsonStrict,
    /// Code fences close.
    Markdown,
    /// Environments close.
    Latex,
    /// There is output. This rule is separate from the session's own check, and has its own code.
    ZeroOutput,
    /// The text has no loops.
    Repetition,
    /// The built-in phrases.
    Patterns(BuiltIn),
    /// Custom phrases, matched like the built-in ones: independent of case, white space and quotes.
    Phrases(Category),
    /// A text that must not occur.
    Forbid(Forbidden),
    /// A regular expression that must not match.
    ForbidRegex(Expression),
    /// A text that must occur by the end.
    Require(Forbidden),
    /// A rule that panics when it first sees this text.
    PanicAt(String),
}

/// Kinds of built-in phrases.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct BuiltIn {
    /// The kinds.
    pub(crate) kinds: Vec<Phrases>,
    /// The severity. Default: `warning`, since the phrases are guesses about prose.
    #[serde(default = "warning")]
    pub(crate) severity: Severity,
}

fn warning() -> Severity {
    Severity::Warning
}

/// A kind of phrases.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Phrases {
    /// The model speaks of itself.
    MetaCommentary,
    /// The model declines.
    Refusal,
    /// The prompt is revealed.
    InstructionLeak,
    /// A placeholder was left.
    Placeholder,
}

/// Phrases of a rule.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Category {
    /// The name of the rule and of the category. Default: `phrases`.
    #[serde(default)]
    pub(crate) name: Option<String>,
    /// The severity. Default: `error`.
    #[serde(default)]
    pub(crate) severity: Severity,
    /// The phrases.
    pub(crate) phrases: Vec<String>,
}

/// A text of a rule.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Forbidden {
    /// The text.
    pub(crate) text: String,
    /// The rule's name. Default: `forbid` or `require`.
    #[serde(default)]
    pub(crate) name: Option<String>,
    /// The severity. Default: `error`.
    #[serde(default)]
    pub(crate) severity: Severity,
    /// Can another attempt on the stream be better? Default: yes.
    #[serde(default = "yes")]
    pub(crate) recoverable: bool,
    /// The time of the check. Default: while streaming. A required text is always checked at the end.
    #[serde(default)]
    pub(crate) at: When,
}

/// A regular expression of a rule.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Expression {
    /// The expression.
    pub(crate) regex: String,
    /// The rule's name. Default: `forbid_regex`.
    #[serde(default)]
    pub(crate) name: Option<String>,
    /// The severity. Default: `error`.
    #[serde(default)]
    pub(crate) severity: Severity,
    /// The maximum length of a match while streaming, in bytes. Default: the limit of the expression itself.
    #[serde(default)]
    pub(crate) within_bytes: Option<usize>,
}

/// The severity of a violation.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Severity {
    /// It is reported.
    Warning,
    /// The attempt fails.
    #[default]
    Error,
    /// The session fails.
    Fatal,
}

/// The time of a rule's evaluation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum When {
    /// At each token.
    #[default]
    Streaming,
    /// At the end of the attempt.
    Complete,
}

/// Detection of drift.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Drift {
    /// The kinds to detect. Default: all.
    #[schemars(with = "Option<Vec<DriftName>>")]
    pub(crate) kinds: Option<Vec<DriftKind>>,
    /// The severity of a kind. Default: `warning`.
    #[schemars(with = "BTreeMap<DriftName, Severity>")]
    pub(crate) severity: BTreeMap<DriftKind, Severity>,
    /// The minimum confidence for a report, from 0 to 1.
    pub(crate) confidence: Option<f64>,
    /// Check only after each of that many tokens.
    pub(crate) every: Option<u32>,
}

/// A kind of drift.
#[derive(JsonSchema)]
#[schemars(rename_all = "snake_case")]
#[expect(dead_code, reason = "the library's names, for the schema alone; a test compares them")]
enum DriftName {
    Repetition,
    EntropySpike,
    Hedging,
}
