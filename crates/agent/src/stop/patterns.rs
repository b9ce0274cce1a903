//! Pattern languages.

use std::error::Error;
use std::sync::Arc;

/// A compiled pattern. It is compiled once and called at the end of each step. It must not block.
pub type Matcher = Arc<dyn Fn(&str) -> bool + Send + Sync>;

/// A pattern language for [`ContentMatch`](super::StopConditionSpec::ContentMatch).
///
/// ```
/// use runstate_agent::stop::{Matcher, PatternError, Patterns, StopConditionSpec, StopConditions};
/// use std::sync::Arc;
///
/// /// Patterns are words.
/// struct Words;
/// impl Patterns for Words {
///     fn compile(&self, pattern: &str) -> Result<Matcher, PatternError> {
///         if pattern.contains(' ') {
///             return Err(PatternError::new("a word has no spaces"));
///         }
///         let word = pattern.to_owned();
///         Ok(Arc::new(move |text| text.split(' ').any(|w| w == word)))
///     }
/// }
///
/// let spec = |pattern: &str| vec![StopConditionSpec::ContentMatch { pattern: pattern.into() }];
/// assert!(StopConditions::with_patterns(spec("DONE"), &Words).is_ok());
/// let error = StopConditions::with_patterns(spec("all done"), &Words).unwrap_err();
/// assert!(error.to_string().ends_with("a word has no spaces"), "{error}");
/// ```
pub trait Patterns {
    /// Compiles a pattern.
    ///
    /// # Errors
    /// Fails if the pattern is invalid.
    fn compile(&self, pattern: &str) -> Result<Matcher, PatternError>;
}

/// The reason why a pattern is invalid.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct PatternError(#[source] Box<dyn Error + Send + Sync>);

impl PatternError {
    /// Creates an error with this cause.
    pub fn new(cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        PatternError(cause.into())
    }
}
