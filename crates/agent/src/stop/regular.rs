//! Regular expressions as patterns.

use std::sync::Arc;

use regex::{Error, Regex};

use super::patterns::{Matcher, PatternError, Patterns};

/// The pattern language of the crate `regex`. Matching takes time linear in the text. Look-around and back-references
/// are not supported.
///
/// ```
/// use runstate_agent::stop::{Patterns, RegularExpressions};
///
/// let done = RegularExpressions.compile(r"(?i)\btask (done|complete)\b")?;
/// assert!(done("Task complete."));
/// assert!(!done("the task is not complete"));
///
/// let error = RegularExpressions.compile("(done").err().unwrap();
/// assert_eq!(error.to_string(), "unclosed group");
/// # Ok::<(), runstate_agent::stop::PatternError>(())
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct RegularExpressions;

impl Patterns for RegularExpressions {
    fn compile(&self, pattern: &str) -> Result<Matcher, PatternError> {
        match Regex::new(pattern) {
            Ok(regex) => Ok(Arc::new(move |text| regex.is_match(text))),
            // The error message shows the pattern with a caret below it. Its last line is the reason.
            Err(Error::Syntax(drawn)) => {
                let what = drawn.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
                Err(PatternError::new(what))
            }
            Err(error) => Err(PatternError::new(error)),
        }
    }
}
