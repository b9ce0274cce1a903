//! What a rule found.

use std::fmt;

use serde::{Deserialize, Serialize};

/// How bad a violation is.
///
/// The order is from mild to bad.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// It is reported and the attempt goes on.
    Warning,
    /// The attempt fails.
    Error,
    /// The session fails: no retry and no fallback, for no stream may answer. A rule that wants the next stream is an
    /// [`Error`](Self::Error).
    Fatal,
}

impl Severity {
    /// The word as it is written: `warning`.
    pub const fn name(self) -> &'static str {
        match self {
            Severity::Warning => "warning",
            Severity::Error => "error",
            Severity::Fatal => "fatal",
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A rule that the output breaks: the argument of `onViolation` (document 002, "Callback Signatures").
///
/// ```
/// use runstate::stream::guardrail::{Severity, Violation};
///
/// let violation = Violation::error("no-shouting", "three words in capitals").at(17);
/// assert!(violation.recoverable, "another attempt may do better");
/// assert_eq!(violation.to_string(), "no-shouting: three words in capitals (at byte 17)");
/// assert_eq!(Violation::fatal("secrets", "a key").severity, Severity::Fatal);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Violation {
    /// The rule's name.
    pub rule: String,
    /// How bad it is.
    pub severity: Severity,
    /// May another attempt on the same stream do better? Never with [`Severity::Fatal`].
    pub recoverable: bool,
    /// What is wrong, for people.
    pub message: String,
    /// Where in the output, in bytes from its beginning; none where it is about the whole.
    pub at: Option<usize>,
}

impl Violation {
    /// A violation of that severity; recoverable unless it is fatal.
    pub fn new(severity: Severity, rule: impl Into<String>, message: impl Into<String>) -> Self {
        let recoverable = severity < Severity::Fatal;
        Violation { rule: rule.into(), severity, recoverable, message: message.into(), at: None }
    }

    /// One that is only reported.
    pub fn warning(rule: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new(Severity::Warning, rule, message)
    }

    /// One that fails the attempt; another may do better.
    pub fn error(rule: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new(Severity::Error, rule, message)
    }

    /// One that fails the session.
    pub fn fatal(rule: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new(Severity::Fatal, rule, message)
    }

    /// The same, for which another attempt on the same stream is of no use.
    pub fn unrecoverable(mut self) -> Self {
        self.recoverable = false;
        self
    }

    /// The same, at that byte of the output.
    pub fn at(mut self, byte: usize) -> Self {
        self.at = Some(byte);
        self
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.rule, self.message)?;
        match self.at {
            Some(byte) => write!(f, " (at byte {byte})"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Violation {}
