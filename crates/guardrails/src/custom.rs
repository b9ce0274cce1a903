//! A rule from closures.

use std::fmt;

use super::{Guardrail, OutputFacts, Violation};

type Streaming = dyn FnMut(&str, &str) -> Option<Violation> + Send;
type Complete = dyn FnMut(&str, &OutputFacts) -> Vec<Violation> + Send;
type Reset = dyn FnMut() + Send;

/// Rule made of closures. Without closures it has no violations.
///
/// ```
/// use runstate_guardrails::{Custom, Guardrail, OutputFacts, Violation};
///
/// let mut rule = Custom::new("signed").at_end(|text, _| match text.ends_with("Yours, R.") {
///     true => vec![],
///     false => vec![Violation::error("signed", "the letter is not signed")],
/// });
/// assert!(rule.streaming("Dear A., ", "Dear A., ").is_none());
/// assert_eq!(rule.complete("Dear A., ", &OutputFacts::TEXT)[0].message, "the letter is not signed");
/// ```
pub struct Custom {
    name: String,
    streaming: Option<Box<Streaming>>,
    complete: Option<Box<Complete>>,
    reset: Option<Box<Reset>>,
}

impl Custom {
    /// Creates a rule without closures.
    pub fn new(name: impl Into<String>) -> Self {
        Custom { name: name.into(), streaming: None, complete: None, reset: None }
    }

    /// Sets the check of each token. It receives the token, and the whole text including the token.
    ///
    /// A check of the whole text at each token takes quadratic time in the length of the stream.
    pub fn while_streaming(
        mut self,
        check: impl FnMut(&str, &str) -> Option<Violation> + Send + 'static,
    ) -> Self {
        self.streaming = Some(Box::new(check));
        self
    }

    /// Sets the check of the whole text at the end.
    pub fn at_end(
        mut self,
        check: impl FnMut(&str, &OutputFacts) -> Vec<Violation> + Send + 'static,
    ) -> Self {
        self.complete = Some(Box::new(check));
        self
    }

    /// Sets a function that runs at the start of each attempt. Closures with state need it.
    pub fn on_reset(mut self, reset: impl FnMut() + Send + 'static) -> Self {
        self.reset = Some(Box::new(reset));
        self
    }
}

impl Guardrail for Custom {
    fn name(&self) -> &str {
        &self.name
    }

    fn streaming(&mut self, delta: &str, so_far: &str) -> Option<Violation> {
        self.streaming.as_mut().and_then(|check| check(delta, so_far))
    }

    fn complete(&mut self, so_far: &str, output: &OutputFacts) -> Vec<Violation> {
        self.complete.as_mut().map_or_else(Vec::new, |check| check(so_far, output))
    }

    fn reset(&mut self) {
        if let Some(reset) = &mut self.reset {
            reset();
        }
    }
}

impl fmt::Debug for Custom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Custom").field("name", &self.name).finish_non_exhaustive()
    }
}
