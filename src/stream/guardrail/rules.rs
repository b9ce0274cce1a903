//! Several rules as one.

use std::fmt;
use std::num::NonZeroU32;

use super::{Guardrail, OutputFacts, Severity, Violation};

/// Rules that are asked in their order.
///
/// ```
/// use runstate::stream::guardrail::{Custom, OutputFacts, Rules, Violation, ZeroOutput};
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
    /// Tokens since the rules were asked.
    unasked: u32,
    /// How much of the text the rules have seen, in bytes.
    seen: usize,
}

struct Rule {
    rule: Box<dyn Guardrail>,
    /// What it said while the attempt streamed.
    said: Vec<Violation>,
}

impl Rule {
    fn complete(&mut self, unseen: &str, so_far: &str, output: &OutputFacts) -> RuleResult {
        // What the rule says to tokens that it was not asked about was said to nobody yet.
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

/// What one rule says of a whole attempt (document 002, `GUARDRAIL_RULE_RESULT`).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RuleResult {
    /// The rule's name.
    pub rule: String,
    /// All that is wrong with the output: first what the rule said while it streamed, then what only its end has shown.
    pub violations: Vec<Violation>,
    said: usize,
}

impl RuleResult {
    /// Of a rule that says nothing before the end.
    pub(in crate::stream) fn at_end(rule: &str, violations: Vec<Violation>) -> Self {
        RuleResult { rule: rule.to_owned(), violations, said: 0 }
    }

    /// What was not said while the output streamed.
    pub fn fresh(&self) -> &[Violation] {
        self.violations.get(self.said..).unwrap_or_default()
    }

    /// Is there nothing that fails an attempt?
    pub fn passed(&self) -> bool {
        self.worst().is_none_or(|worst| worst < Severity::Error)
    }

    /// The worst severity among the violations.
    pub fn worst(&self) -> Option<Severity> {
        self.violations.iter().map(|violation| violation.severity).max()
    }
}

impl Rules {
    /// No rules.
    pub fn new() -> Self {
        Rules::default()
    }

    /// The same, and this rule after them.
    pub fn with(mut self, rule: impl Guardrail + 'static) -> Self {
        self.push(Box::new(rule));
        self
    }

    /// Puts a rule after the others. For the time before an attempt begins.
    pub fn push(&mut self, rule: Box<dyn Guardrail>) {
        self.rules.push(Rule { rule, said: Vec::new() });
    }

    /// Asks the rules only at each `tokens`th token, with all the text since the last time, and at the end.
    ///
    /// What they say comes up to `tokens - 1` tokens later than without, and is otherwise the same for the built-in rules.
    pub fn every(mut self, tokens: NonZeroU32) -> Self {
        self.every = (tokens.get() > 1).then_some(tokens);
        self
    }

    /// Are there none?
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.rules.len()
    }

    /// The names of the rules, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.rules.iter().map(|rule| rule.rule.name())
    }

    /// A token arrived: `delta` was put at the end of `so_far`. What the rules say to it, in their order.
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

    fn unseen<'t>(&self, so_far: &'t str) -> &'t str {
        // The text only grows between resets, so this is a place between characters.
        so_far.get(self.seen..).unwrap_or_default()
    }

    fn ask(&mut self, delta: &str, so_far: &str) -> Vec<Violation> {
        self.unasked = 0;
        self.seen = so_far.len();
        // No memory is asked for while nothing is found.
        let mut found = Vec::new();
        for Rule { rule, said } in &mut self.rules {
            if let Some(violation) = rule.streaming(delta, so_far) {
                said.push(violation.clone());
                found.push(violation);
            }
        }
        found
    }

    /// The attempt's output is whole. One result for each rule, in their order, passed or not (C16).
    pub fn complete(&mut self, so_far: &str, output: &OutputFacts) -> Vec<RuleResult> {
        let unseen = self.unseen(so_far);
        self.unasked = 0;
        self.seen = so_far.len();
        let results = self.rules.iter_mut().map(|rule| rule.complete(unseen, so_far, output));
        results.collect()
    }

    /// An attempt begins, with no text.
    pub fn reset(&mut self) {
        self.begin(0);
        for Rule { rule, .. } in &mut self.rules {
            rule.reset();
        }
    }

    /// An attempt begins that goes on from `text`. What the rules say is about `text` alone: a checkpoint that breaks a rule is
    /// not fit to go on from (C13). The attempt that does so nevertheless need not be told again.
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
