//! A regular expression that the output must not match.

use regex::Regex;
use regex_syntax::Parser;

use super::{Guardrail, OutputFacts, Severity, Violation};

/// Longest match, in bytes, for which [`Forbidden::new`] derives the lookback itself.
const LONGEST: usize = 4_096;

/// Regular expression that the output must not match. Needs the feature `regex`.
///
/// The rule reports a violation at the token after which the text first matches. It treats the text as if it
/// ended there, so that `$` and `\b` match at its end. It searches the new token and as much text before it as
/// the longest match has. The cost of a token is therefore independent of its position. An expression with
/// matches of any length, such as `a+`, needs [`Forbidden::within`], which sets the longest match that is found
/// during streaming. At the end the rule searches the whole output.
///
/// ```
/// use runstate_guardrails::{Forbidden, ForbiddenError, Guardrail};
///
/// let mut rule = Forbidden::new("no-keys", r"\bsk-[a-z0-9]{4}")?;
/// assert!(rule.streaming("key: sk-1", "key: sk-1").is_none());
/// assert_eq!(rule.streaming("2ab", "key: sk-12ab").unwrap().at, Some(5));
///
/// assert!(matches!(Forbidden::new("no-keys", "sk-[a-z0-9]+"), Err(ForbiddenError::Unbounded { .. })));
/// assert!(Forbidden::within("no-keys", "sk-[a-z0-9]+", 100).is_ok());
/// # Ok::<(), ForbiddenError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Forbidden {
    name: String,
    regex: Regex,
    severity: Severity,
    /// The longest match, in bytes.
    longest: usize,
    found: Option<usize>,
}

/// Error for an unsuitable expression.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum ForbiddenError {
    /// The expression is invalid, or too large.
    #[error("{0}")]
    Syntax(#[source] regex::Error),
    /// The expression matches an empty text, and therefore every text.
    #[error(
        "{expression:?} matches a text of no characters, and so every text; leave out the empty alternative, or ask for one \
         character at least"
    )]
    MatchesAll {
        /// The expression.
        expression: String,
    },
    /// The matches can be longer than the largest lookback.
    #[error(
        "a match of {expression:?} can be longer than {LONGEST} bytes; say with `Forbidden::within` how long a match is looked \
         for while the output streams"
    )]
    Unbounded {
        /// The expression.
        expression: String,
    },
}

/// Compiles an expression. Refuses an expression that every text matches.
fn compiled(expression: &str) -> Result<Regex, ForbiddenError> {
    let regex = Regex::new(expression).map_err(ForbiddenError::Syntax)?;
    // `^$` matches only the empty text, which is a valid condition.
    if regex.is_match("") && regex.is_match("a") && regex.is_match("\u{1}") {
        return Err(ForbiddenError::MatchesAll { expression: expression.to_owned() });
    }
    Ok(regex)
}

impl Forbidden {
    /// Creates a rule with severity [`Severity::Error`].
    ///
    /// # Errors
    /// The expression is invalid, matches every text, or has matches longer than 4,096 bytes.
    pub fn new(name: impl Into<String>, expression: &str) -> Result<Self, ForbiddenError> {
        let regex = compiled(expression)?;
        let longest =
            Parser::new().parse(expression).ok().and_then(|parsed| parsed.properties().maximum_len());
        match longest.filter(|longest| *longest <= LONGEST) {
            Some(longest) => Ok(Self::of(name.into(), regex, longest)),
            None => Err(ForbiddenError::Unbounded { expression: expression.to_owned() }),
        }
    }

    /// Creates a rule that finds matches of up to `bytes` bytes during streaming. The cost of a token grows
    /// with `bytes`.
    ///
    /// # Errors
    /// The expression is invalid, or matches every text.
    pub fn within(name: impl Into<String>, expression: &str, bytes: usize) -> Result<Self, ForbiddenError> {
        let regex = compiled(expression)?;
        Ok(Self::of(name.into(), regex, bytes))
    }

    fn of(name: String, regex: Regex, longest: usize) -> Self {
        Forbidden { name, regex, severity: Severity::Error, longest, found: None }
    }

    /// Sets the severity. Default: [`Severity::Error`].
    pub fn severity(mut self, severity: Severity) -> Self {
        self.severity = severity;
        self
    }

    fn violation(&self, at: usize) -> Violation {
        let message = format!("the output matches {:?}", self.regex.as_str());
        Violation::new(self.severity, self.name.as_str(), message).at(at)
    }
}

impl Guardrail for Forbidden {
    fn name(&self) -> &str {
        &self.name
    }

    fn streaming(&mut self, delta: &str, so_far: &str) -> Option<Violation> {
        if self.found.is_some() {
            return None;
        }
        // A new match ends in the token. It ends at the token's start if the token completes only its
        // condition, such as a word boundary.
        let from = so_far.len().saturating_sub(delta.len()).saturating_sub(self.longest);
        let from = so_far.floor_char_boundary(from);
        self.found = self.regex.find_at(so_far, from).map(|found| found.start());
        self.found.map(|at| self.violation(at))
    }

    fn complete(&mut self, so_far: &str, _: &OutputFacts) -> Vec<Violation> {
        let late = || self.regex.find(so_far).map(|found| found.start());
        self.found.or_else(late).map(|at| self.violation(at)).into_iter().collect()
    }

    fn reset(&mut self) {
        self.found = None;
    }
}
