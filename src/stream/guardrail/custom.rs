//! A rule from closures.

use std::fmt;

use super::{Guardrail, OutputFacts, Violation};

type Streaming = dyn FnMut(&str, &str) -> Option<Violation> + Send;
type Complete = dyn FnMut(&str, &OutputFacts) -> Vec<Violation> + Send;
type Reset = dyn FnMut() + Send;

/// A rule of your own, from closures. Without any it is always kept.
///
/// ```
/// use runstate::stream::guardrail::{Custom, Guardrail, OutputFacts, Violation};
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
    /// A rule of that name which forbids nothing yet.
    pub fn new(name: impl Into<String>) -> Self {
        Custom { name: name.into(), streaming: None, complete: None, reset: None }
    }

    /// Asked at each token, with the token and the whole text that it was put at the end of.
    ///
    /// What it costs is yours: a look at the whole text makes a stream cost the square of its length.
    pub fn while_streaming(
        mut self,
        check: impl FnMut(&str, &str) -> Option<Violation> + Send + 'static,
    ) -> Self {
        self.streaming = Some(Box::new(check));
        self
    }

    /// Asked at the end, with the whole text.
    pub fn at_end(
        mut self,
        check: impl FnMut(&str, &OutputFacts) -> Vec<Violation> + Send + 'static,
    ) -> Self {
        self.complete = Some(Box::new(check));
        self
    }

    /// Told when an attempt begins. Needed where the closures remember something.
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
