//! JSON Schemas for [`runstate_agent`]: a tool's arguments before it executes, and a decision's result before it is accepted.
//!
//! ```
//! use runstate_agent::SchemaCheck;
//! use runstate_schema::JsonSchemas;
//! use serde_json::json;
//!
//! let schemas = JsonSchemas::new();
//! let schema = json!({ "type": "object", "properties": { "path": { "type": "string" } }, "required": ["path"] });
//! assert_eq!(schemas.check(&schema, &json!({ "path": "notes.md" })), Ok(()));
//!
//! let error = schemas.check(&schema, &json!({ "path": 7 })).unwrap_err();
//! assert_eq!(error, r#"/path: 7 is not of type "string""#);
//! ```

mod budget;
mod cache;

use std::fmt::Write;

pub use budget::{MOST_BYTES, MOST_CHECK_DEPTH, MOST_COMPILED, MOST_DEPTH, MOST_STEPS};
use jsonschema::{PatternOptions, ValidationError, Validator};
use runstate_agent::SchemaCheck;
use serde_json::Value;

use budget::{Matching, Measured};
use cache::Cache;

/// The maximum of reported errors of one value.
const MOST_MISTAKES: usize = 8;
/// The maximum length of an error message, in characters: it quotes the value.
const LONGEST: usize = 300;

/// Checks values against JSON Schemas, of the draft that a schema names, or else of 2020-12.
///
/// Each schema is compiled once, and the last few hundred are kept. A schema that refers to another document is refused: no
/// schema is read from the network or from files.
///
/// A schema and a check have limits: [`MOST_BYTES`], [`MOST_DEPTH`], [`MOST_COMPILED`], [`MOST_CHECK_DEPTH`],
/// [`MOST_STEPS`]. A schema or a check beyond a limit is refused before the work begins. A pattern is matched in linear
/// time. A pattern with look-around or a back-reference may backtrack 10,000 times, and makes each text and name count with
/// its square for all patterns of the schema.
#[derive(Debug, Default)]
pub struct JsonSchemas {
    compiled: Cache,
}

impl JsonSchemas {
    /// A checker without compiled schemas.
    pub fn new() -> Self {
        Self::default()
    }

    /// Can the schema be compiled?
    ///
    /// # Errors
    /// The error of the schema.
    pub fn accepts(&self, schema: &Value) -> Result<(), String> {
        self.compiled.get(schema, compile).map(|_| ())
    }
}

impl SchemaCheck for JsonSchemas {
    fn check(&self, schema: &Value, value: &Value) -> Result<(), String> {
        let Checked { validator, measured } = &*self.compiled.get(schema, compile)?;
        measured
            .walk(value)
            .map_err(|excess| format!("the schema cannot be used for this value: {excess}"))?;
        if validator.is_valid(value) {
            return Ok(());
        }
        let mut mistakes = validator.iter_errors(value);
        let mut told = String::new();
        for mistake in mistakes.by_ref().take(MOST_MISTAKES) {
            let separator = if told.is_empty() { "" } else { "; " };
            write!(told, "{separator}{}", tell(&mistake))
                .unwrap_or_else(|_| unreachable!("a text takes all"));
        }
        if mistakes.next().is_some() {
            told.push_str("; and more");
        }
        if told.is_empty() { Ok(()) } else { Err(told) }
    }
}

/// A compiled schema, and the measure of its checks.
#[derive(Debug)]
struct Checked {
    validator: Validator,
    measured: Measured,
}

/// The maximum of backtracking steps of a pattern with look-around or a back-reference.
const MOST_BACKTRACKS: usize = 10_000;
/// The maximum of bytes of a compiled pattern, and the threshold of a large one.
const MOST_PATTERN_BYTES: usize = 1 << 18;
const LARGE_PATTERN_BYTES: usize = 1 << 14;
/// The maximum of bytes of all compiled patterns of a schema.
const MOST_PATTERNS_BYTES: usize = 1 << 24;

fn compile(schema: &Value, bytes: usize) -> Result<Checked, String> {
    let refused = |told: String| format!("the schema cannot be used: {told}");
    let mut measured = Measured::of(schema, bytes).map_err(|excess| refused(excess.to_string()))?;
    let most = MOST_PATTERN_BYTES.min(MOST_PATTERNS_BYTES / measured.patterns.max(1));
    let linear = |most| build(schema, PatternOptions::regex().size_limit(most));
    let mut compiled = linear(most.min(LARGE_PATTERN_BYTES));
    // A pattern may be the reason of the refusal there, and is accepted here.
    if compiled.is_err() && measured.patterns > 0 {
        measured.matching = Matching::Large;
        compiled = linear(most).or_else(|_| {
            measured.matching = Matching::Back;
            build(schema, PatternOptions::fancy_regex().size_limit(most).backtrack_limit(MOST_BACKTRACKS))
        });
    }
    let validator = compiled.map_err(|error| {
        let told = tell(&error);
        let is_pattern = told.ends_with("is not a \"regex\"");
        refused(if is_pattern {
            format!("{told}, or one of more than {most} bytes when it is compiled")
        } else {
            told
        })
    })?;
    Ok(Checked { validator, measured })
}

fn build<E>(schema: &Value, patterns: PatternOptions<E>) -> Result<Validator, ValidationError<'static>> {
    jsonschema::options().offline().with_pattern_options(patterns).build(schema)
}

/// An error and its place in the value.
fn tell(mistake: &ValidationError<'_>) -> String {
    let (place, what) = (mistake.instance_path().to_string(), mistake.to_string());
    let mut told = if place.is_empty() { what } else { format!("{place}: {what}") };
    if let Some((cut, _)) = told.char_indices().nth(LONGEST) {
        told.truncate(cut);
        told.push('…');
    }
    told
}

/// The examples of the README, compiled and run as doc tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
