//! A set of rules.

use std::fmt;
use std::num::NonZeroU32;

use super::{Guardrail, OutputFacts, Severity, Violation};

/// Rules that are checked in order.
///
/// ```
/// use runstate_guardrails::{Custom, OutputFacts, Rules, Violation, ZeroOutput};
///
/// let no_tabs = Custom::new("no-tabs").while_streaming(|delta, so_far| {
///     let within = delta.find('\t')?;
///     Some(Violation::warning("no-tabs", "a tab").at(so_far.len() - delta.len() + within))
/// });
/// let mut rules = Rules::new().with(ZeroOutput::new()).with(no_tabs);
///
/// rules.reset();
/// assert_eq!(rules.streaming("a\tb", "a\tb")[0].at, Some(1));
/// let results = rules.complete("a\tb", &OutputFacts::TEXT);
/// assert!(results.iter().all(|result| result.passed()), "what is only reported fails nothing");
/// ```
#[derive(Default)]
pub struct Rules {
    rules: Vec<Rule>,
    every: Option<NonZeroU32>,
    /// Tokens since the last check.
    unasked: u32,
    /// Bytes of the text that the rules have seen.
    seen: usize,
}

struct Rule {
    rule: Box<dyn Guardrail>,
    /// Violations that the rule reported while the attempt streamed.
    said: Vec<Violation>,
}

impl Rule {
    fn complete(&mut self, unseen: &str, so_far: &str, output: &OutputFacts) -> RuleResult {
        // Violations in tokens that the rule had not seen yet are new.
        let said = self.said.len();
        if !unseen.is_empty() {
            self.said.extend(self.rule.streaming(unseen, so_far));
        }
        let mut violations = self.said.clone();
        for violation in self.rule.complete(so_far, output) {
            if !violations.contains(&violation) {
                violations.push(violation);
            }
        }
        RuleResult { rule: self.rule.name().to_owned(), violations, said }
    }
}

/// Result of one rule for a whole attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RuleResult {
    /// The rule's name.
    pub rule: String,
    /// All violations: first those reported while streaming, then those found at the end.
    pub violations: Vec<Violation>,
    said: usize,
}

impl RuleResult {
    /// Creates the result of a rule that reports only at the end.
    #[doc(hidden)]
    pub fn at_end(rule: &str, violations: Vec<Violation>) -> Self {
        RuleResult { rule: rule.to_owned(), violations, said: 0 }
    }

    /// Returns the violations that were not reported while streaming.
    pub fn fresh(&self) -> &[Violation] {
        self.violations.get(self.said..).unwrap_or_default()
    }

    /// Returns whether no violation fails an attempt.
    pub fn passed(&self) -> bool {
        self.worst().is_none_or(|worst| worst < Severity::Error)
    }

    /// Returns the worst severity of the violations.
    pub fn worst(&self) -> Option<Severity> {
        self.violations.iter().map(|violation| violation.severity).max()
    }
}

impl Rules {
    /// Creates an empty set of rules.
    pub fn new() -> Self {
        Rules::default()
    }

    /// Adds a rule after the others.
    pub fn with(mut self, rule: impl Guardrail + 'static) -> Self {
        self.push(Box::new(rule));
        self
    }

    /// Adds a rule after the others. Call it before an attempt begins.
    pub fn push(&mut self, rule: Box<dyn Guardrail>) {
        self.rules.push(Rule { rule, said: Vec::new() });
    }

    /// Sets the number of tokens between two checks. Each check passes the text since the previous one. The
    /// rules are also checked at the end, and a session checks them before a checkpoint. Default: 1.
    ///
    /// Reports come up to `tokens - 1` tokens later. The violations of the built-in rules are otherwise
    /// unchanged.
    pub fn every(mut self, tokens: NonZeroU32) -> Self {
        self.every = (tokens.get() > 1).then_some(tokens);
        self
    }

    /// Returns whether there are no rules.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// Returns the number of rules.
    pub fn len(&self) -> usize {
        self.rules.len()
    }

    /// Iterates over the names of the rules, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.rules.iter().map(|rule| rule.rule.name())
    }

    /// Checks a token: `delta` is the last part of `so_far`. Returns the violations, in the order of the rules.
    #[inline]
    pub fn streaming(&mut self, delta: &str, so_far: &str) -> Vec<Violation> {
        let unseen = match self.every {
            None => delta,
            Some(every) => {
                self.unasked += 1;
                if self.unasked < every.get() {
                    return Vec::new();
                }
                self.unseen(so_far)
            }
        };
        self.ask(unseen, so_far)
    }

    /// Checks the text since the last check, as [`streaming`](Self::streaming) does after
    /// [`every`](Self::every) tokens. Call it before `so_far` is stored as a checkpoint.
    pub fn catch_up(&mut self, so_far: &str) -> Vec<Violation> {
        match self.unseen(so_far) {
            "" => Vec::new(),
            unseen => self.ask(unseen, so_far),
        }
    }

    fn unseen<'t>(&self, so_far: &'t str) -> &'t str {
        // The text only grows between resets, so this position is between characters.
        so_far.get(self.seen..).unwrap_or_default()
    }

    fn ask(&mut self, delta: &str, so_far: &str) -> Vec<Violation> {
        self.unasked = 0;
        self.seen = so_far.len();
        // An empty vector allocates no memory.
        let mut found = Vec::new();
        for Rule { rule, said } in &mut self.rules {
            if let Some(violation) = rule.streaming(delta, so_far) {
                said.push(violation.clone());
                found.push(violation);
            }
        }
        found
    }

    /// Checks the whole output of an attempt. Returns one result for each rule, in order, passed or not.
    pub fn complete(&mut self, so_far: &str, output: &OutputFacts) -> Vec<RuleResult> {
        let unseen = self.unseen(so_far);
        self.unasked = 0;
        self.seen = so_far.len();
        let results = self.rules.iter_mut().map(|rule| rule.complete(unseen, so_far, output));
        results.collect()
    }

    /// Starts an attempt without text.
    pub fn reset(&mut self) {
        self.begin(0);
        for Rule { rule, .. } in &mut self.rules {
            rule.reset();
        }
    }

    /// Starts an attempt that continues from `text`. The violations are about `text` alone: a checkpoint with a
    /// violation must not be continued. If the attempt uses `text`, the rules need no second call.
    pub fn resume(&mut self, text: &str) -> Vec<Violation> {
        self.begin(text.len());
        let mut found = Vec::new();
        for Rule { rule, said } in &mut self.rules {
            if let Some(violation) = rule.resume(text) {
                said.push(violation.clone());
                found.push(violation);
            }
        }
        found
    }

    fn begin(&mut self, seen: usize) {
        self.unasked = 0;
        self.seen = seen;
        for rule in &mut self.rules {
            rule.said.clear();
        }
    }
}

impl fmt::Debug for Rules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rules").field("rules", &self.names().collect::<Vec<_>>()).finish_non_exhaustive()
    }
}
