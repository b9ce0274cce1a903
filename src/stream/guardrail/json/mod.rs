//! Output that is JSON.

mod balance;
mod syntax;

use super::{Guardrail, OutputFacts, Violation};
use balance::Balance;
use syntax::Syntax;

/// Nested this deep, JSON is refused: `serde_json` reads one level less than this.
const TOO_DEEP: usize = 128;

/// The output must be JSON.
///
/// [`Json::balanced`] looks at brackets alone, wherever they are, and at strings within them. [`Json::strict`] reads the JSON grammar, and so knows at the very
/// character that no JSON text begins like this; at the end the whole must be read by `serde_json`.
///
/// An attempt that gives tool calls or data and no text need not give JSON.
///
/// ```
/// use runstate::stream::guardrail::{Guardrail, Json, OutputFacts};
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
    /// What is wrong, once something is.
    broken: Option<Violation>,
    /// Is there anything but white space?
    text: bool,
}

#[derive(Debug, Clone)]
enum Check {
    Balance(Balance),
    Strict(Syntax),
}

/// What stands where it must not: the message, and the byte.
type Fault = (String, usize);

impl Json {
    /// Brackets and strings must be closed, in the right order, not more than 127 deep.
    pub fn balanced() -> Self {
        Self::with(Check::Balance(Balance::default()))
    }

    /// The whole must be one JSON text.
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
            Check::Strict(_) => match crate::json::from_str::<serde_json::Value>(text) {
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
