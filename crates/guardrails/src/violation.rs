//! Violations of rules.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Severity of a violation.
///
/// The order is from mild to severe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The violation is reported, and the attempt continues.
    Warning,
    /// The attempt fails.
    Error,
    /// The session fails, without a retry or a fallback. A rule after which the next stream may answer uses
    /// [`Error`](Self::Error).
    Fatal,
}

impl Severity {
    /// Returns the severity in its written form, such as `warning`.
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

/// Violation of a rule: the argument of `onViolation`.
///
/// ```
/// use runstate_guardrails::{Severity, Violation};
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
    /// The severity.
    pub severity: Severity,
    /// Whether another attempt on the same stream may succeed. Never true with [`Severity::Fatal`].
    pub recoverable: bool,
    /// The message, for people.
    pub message: String,
    /// The position in the output, in bytes from its beginning; none if the violation is about the whole
    /// output.
    pub at: Option<usize>,
}

impl Violation {
    /// Creates a violation. It is recoverable unless it is fatal.
    pub fn new(severity: Severity, rule: impl Into<String>, message: impl Into<String>) -> Self {
        let recoverable = severity < Severity::Fatal;
        Violation { rule: rule.into(), severity, recoverable, message: message.into(), at: None }
    }

    /// Creates a violation that is only reported.
    pub fn warning(rule: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new(Severity::Warning, rule, message)
    }

    /// Creates a violation that fails the attempt. Another attempt may succeed.
    pub fn error(rule: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new(Severity::Error, rule, message)
    }

    /// Creates a violation that fails the session.
    pub fn fatal(rule: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new(Severity::Fatal, rule, message)
    }

    /// Marks the violation as unrecoverable: another attempt on the same stream cannot succeed.
    pub fn unrecoverable(mut self) -> Self {
        self.recoverable = false;
        self
    }

    /// Sets the position, in bytes of the output.
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
