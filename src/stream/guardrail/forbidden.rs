//! A regular expression that the output must not match.

use std::error::Error;
use std::fmt;

use regex::Regex;
use regex_syntax::Parser;

use super::{Guardrail, OutputFacts, Severity, Violation};

/// Expressions that match more than this, in bytes, must say how far to look back.
const LONGEST: usize = 4_096;

/// The output must not match this regular expression. Needs the feature `regex`.
///
/// It speaks at the token after which the text first matches, as if the text ended there: `$` and `\b` count at its end. Looked at
/// is the new token with as much text before it as the longest match has, so a token costs the same wherever it comes. An
/// expression whose matches can be of any length, such as `a+`, says with [`Forbidden::within`] how long a match is to be seen while
/// the output streams; at its end all of it is searched.
///
/// ```
/// use runstate::stream::guardrail::{Forbidden, ForbiddenError, Guardrail};
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

/// Why an expression is no rule.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum ForbiddenError {
    /// It is no regular expression, or too large a one.
    Syntax(regex::Error),
    /// It matches a text of no characters, and so every text.
    MatchesAll {
        /// The expression.
        expression: String,
    },
    /// Its matches can be longer than can be looked back.
    Unbounded {
        /// The expression.
        expression: String,
    },
}

impl fmt::Display for ForbiddenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ForbiddenError::Syntax(error) => write!(f, "{error}"),
            ForbiddenError::MatchesAll { expression } => write!(
                f,
                "{expression:?} matches a text of no characters, and so every text; leave out the empty alternative, or ask for one \
                 character at least"
            ),
            ForbiddenError::Unbounded { expression } => write!(
                f,
                "what matches {expression:?} can be longer than {LONGEST} bytes; say with `Forbidden::within` how long a match is looked for while the output streams"
            ),
        }
    }
}

impl Error for ForbiddenError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            ForbiddenError::Syntax(error) => Some(error),
            ForbiddenError::MatchesAll { .. } | ForbiddenError::Unbounded { .. } => None,
        }
    }
}

/// An expression that some text does not match.
fn compiled(expression: &str) -> Result<Regex, ForbiddenError> {
    let regex = Regex::new(expression).map_err(ForbiddenError::Syntax)?;
    // `^$` matches a text of no characters alone, which is a text as any other.
    if regex.is_match("") && regex.is_match("a") && regex.is_match("\u{1}") {
        return Err(ForbiddenError::MatchesAll { expression: expression.to_owned() });
    }
    Ok(regex)
}

impl Forbidden {
    /// A rule of that name, with severity [`Severity::Error`].
    ///
    /// # Errors
    /// When the expression is none, when it matches every text, or when its matches can be longer than 4,096 bytes.
    pub fn new(name: impl Into<String>, expression: &str) -> Result<Self, ForbiddenError> {
        let regex = compiled(expression)?;
        let longest =
            Parser::new().parse(expression).ok().and_then(|parsed| parsed.properties().maximum_len());
        match longest.filter(|longest| *longest <= LONGEST) {
            Some(longest) => Ok(Self::of(name.into(), regex, longest)),
            None => Err(ForbiddenError::Unbounded { expression: expression.to_owned() }),
        }
    }

    /// The same, of which matches of up to `bytes` are seen while the output streams. A token costs as much more as that is long.
    ///
    /// # Errors
    /// When the expression is none, or when it matches every text.
    pub fn within(name: impl Into<String>, expression: &str, bytes: usize) -> Result<Self, ForbiddenError> {
        let regex = compiled(expression)?;
        Ok(Self::of(name.into(), regex, bytes))
    }

    fn of(name: String, regex: Regex, longest: usize) -> Self {
        Forbidden { name, regex, severity: Severity::Error, longest, found: None }
    }

    /// The same, with another severity.
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
        // A match that is new ends in the token, or at its beginning where only what follows has shown it to be one.
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
