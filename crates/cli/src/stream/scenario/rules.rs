//! What an output is held against.

use std::collections::BTreeMap;

use runstate::stream::drift::DriftKind;
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
    /// There is output. This rule is beside the session's own check, and has its own code.
    ZeroOutput,
    /// The text does not go round in circles.
    Repetition,
    /// Phrases that come with the crate.
    Patterns(BuiltIn),
    /// Phrases of one's own, found as those that come with the crate are: whatever their case, white space and quotes.
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

/// Kinds of phrases that come with the crate.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct BuiltIn {
    /// The kinds.
    pub(crate) kinds: Vec<Phrases>,
    /// How bad they are; `warning` without, since the phrases are guesses about prose.
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
    /// The prompt comes out.
    InstructionLeak,
    /// Something was left to be filled in.
    Placeholder,
}

/// Phrases that a rule looks for.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Category {
    /// The name of the rule and of the category; `phrases` without.
    #[serde(default)]
    pub(crate) name: Option<String>,
    /// How bad they are; `error` without.
    #[serde(default)]
    pub(crate) severity: Severity,
    /// The phrases.
    pub(crate) phrases: Vec<String>,
}

/// A text that a rule looks for.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Forbidden {
    /// The text.
    pub(crate) text: String,
    /// The rule's name; `forbid` or `require` without.
    #[serde(default)]
    pub(crate) name: Option<String>,
    /// How bad it is; `error` without.
    #[serde(default)]
    pub(crate) severity: Severity,
    /// May another attempt on the same stream do better? Yes without.
    #[serde(default = "yes")]
    pub(crate) recoverable: bool,
    /// When it is noticed; while streaming without. What must occur is asked for at the end in any case.
    #[serde(default)]
    pub(crate) at: When,
}

/// A regular expression that a rule looks for.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Expression {
    /// The expression.
    pub(crate) regex: String,
    /// The rule's name; `forbid_regex` without.
    #[serde(default)]
    pub(crate) name: Option<String>,
    /// How bad it is; `error` without.
    #[serde(default)]
    pub(crate) severity: Severity,
    /// How long a match is looked for while streaming, in bytes; without, what the expression itself allows.
    #[serde(default)]
    pub(crate) within_bytes: Option<usize>,
}

/// How bad a violation is.
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

/// When a rule is asked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum When {
    /// At each token.
    #[default]
    Streaming,
    /// At the end of the attempt.
    Complete,
}

/// Watching for drift.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Drift {
    /// The kinds to look for; all without.
    #[schemars(with = "Option<Vec<DriftName>>")]
    pub(crate) kinds: Option<Vec<DriftKind>>,
    /// How bad a kind is, in place of `warning`.
    #[schemars(with = "BTreeMap<DriftName, Severity>")]
    pub(crate) severity: BTreeMap<DriftKind, Severity>,
    /// From which confidence on it is told, from 0 to 1.
    pub(crate) confidence: Option<f64>,
    /// Look only at each so many tokens.
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
