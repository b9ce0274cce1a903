//! Rules for JSON output.

mod balance;
mod syntax;

use balance::Balance;
use syntax::Syntax;

use super::{Guardrail, OutputFacts, Violation};

/// Depth at which JSON is refused: `serde_json` reads one level less.
const TOO_DEEP: usize = 128;

/// Rule: the output is JSON.
///
/// [`Json::balanced`] checks only brackets, in any text, and strings within them. [`Json::strict`] parses the
/// grammar of JSON, and reports the first character with which no JSON text continues. At the end `serde_json`
/// must read the whole output.
///
/// An attempt with tool calls or data and without text needs no JSON.
///
/// ```
/// use runstate_guardrails::{Guardrail, Json, OutputFacts};
///
/// let mut rule = Json::balanced();
/// assert!(rule.streaming(r#"Here: {"a": [1, "]"#, r#"Here: {"a": [1, "]"#).is_none(), "a bracket in a string is text");
/// let found = rule.streaming("\"}", r#"Here: {"a": [1, "]"}"#).unwrap();
/// assert_eq!(found.to_string(), "json: '}' closes the '[' that is open (at byte 19)");
///
/// let mut rule = Json::strict();
/// assert!(rule.streaming("{\"a\": 1,", "{\"a\": 1,").is_none());
/// assert!(rule.streaming("}", "{\"a\": 1,}").is_some());
///
/// rule.reset();
/// assert!(rule.streaming("[1", "[1").is_none());
/// assert_eq!(rule.complete("[1", &OutputFacts::TEXT).len(), 1, "the array is open");
/// ```
#[derive(Debug, Clone)]
pub struct Json {
    check: Check,
    /// The first violation.
    broken: Option<Violation>,
    /// Whether the text has a character other than white space.
    text: bool,
}

#[derive(Debug, Clone)]
enum Check {
    Balance(Balance),
    Strict(Syntax),
}

/// A syntax error: the message, and the byte.
type Fault = (String, usize);

impl Json {
    /// Creates a rule for brackets and strings: they are closed in the right order, and at most 127 deep.
    pub fn balanced() -> Self {
        Self::with(Check::Balance(Balance::default()))
    }

    /// Creates a rule that requires one JSON text.
    pub fn strict() -> Self {
        Self::with(Check::Strict(Syntax::default()))
    }

    fn with(check: Check) -> Self {
        Json { check, broken: None, text: false }
    }

    fn violation(&self, (message, at): Fault) -> Violation {
        Violation::error(self.name(), message).at(at)
    }

    fn at_end(&self, text: &str) -> Result<(), Fault> {
        match &self.check {
            Check::Balance(balance) => balance.end(),
            Check::Strict(_) => match runstate::json::from_str::<serde_json::Value>(text) {
                Ok(_) => Ok(()),
                Err(error) => Err((format!("the output is not JSON: {error}"), text.len())),
            },
        }
    }
}

impl Guardrail for Json {
    fn name(&self) -> &str {
        match self.check {
            Check::Balance(_) => "json",
            Check::Strict(_) => "json-strict",
        }
    }

    fn streaming(&mut self, delta: &str, _: &str) -> Option<Violation> {
        if self.broken.is_some() {
            return None;
        }
        self.text = self.text || delta.bytes().any(|byte| !byte.is_ascii_whitespace());
        let read = match &mut self.check {
            Check::Balance(balance) => balance.read(delta),
            Check::Strict(syntax) => syntax.read(delta),
        };
        self.broken = read.err().map(|fault| self.violation(fault));
        self.broken.clone()
    }

    fn complete(&mut self, so_far: &str, output: &OutputFacts) -> Vec<Violation> {
        if !self.text && output.is_more_than_text() {
            return Vec::new();
        }
        let late = || self.at_end(so_far).err().map(|fault| self.violation(fault));
        self.broken.clone().or_else(late).into_iter().collect()
    }

    fn reset(&mut self) {
        self.broken = None;
        self.text = false;
        match &mut self.check {
            Check::Balance(balance) => *balance = Balance::default(),
            Check::Strict(syntax) => *syntax = Syntax::default(),
        }
    }
}
