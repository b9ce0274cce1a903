//! Phrases that an answer should not have.

mod builtin;

use std::sync::{Arc, LazyLock};

use crate::stream::guardrail::text::{Found, Matcher, Phrases};

use super::{Guardrail, OutputFacts, Severity, Violation};
pub use builtin::PatternKind;

/// Phrases that the output must not have, in categories.
///
/// Found are phrases whatever their case, the kind and amount of white space, and typographic quotes; at the beginnings and ends
/// of words only, where they begin or end with a word's character. So a phrase that ends with a letter counts once the next
/// character, or the end, shows that the word is over: however `as an AI` is cut into tokens, `as an aim` never counts.
///
/// ```
/// use runstate::stream::guardrail::{Guardrail, OutputFacts, PatternKind, Patterns, Severity};
///
/// let mut rule = Patterns::of([PatternKind::Refusal]).category("rivals", Severity::Warning, ["Brand X"]);
/// assert!(rule.streaming("I can\u{2019}t help  with", "I can\u{2019}t help  with").is_none());
/// let found = rule.streaming(" that.", "I can\u{2019}t help  with that.").unwrap();
/// assert_eq!((found.severity, found.at), (Severity::Error, Some(0)));
/// assert_eq!(found.message, "the output has a phrase of the category refusal");
///
/// rule.reset();
/// assert!(rule.streaming("brand xylophones", "brand xylophones").is_none());
/// ```
#[derive(Debug, Clone)]
pub struct Patterns {
    name: String,
    /// Shared with all rules that have the same: a session's rules are made anew for each session.
    phrases: Arc<Phrases>,
    categories: Vec<Category>,
    matcher: Matcher,
    seen: usize,
    /// In the order in which they were found, one for each category.
    found: Vec<Found>,
    /// How many of them were told while streaming.
    told: usize,
}

#[derive(Debug, Clone)]
struct Category {
    name: String,
    severity: Severity,
}

impl Patterns {
    /// No phrases.
    pub fn new() -> Self {
        Patterns {
            name: "patterns".to_owned(),
            phrases: Arc::default(),
            categories: Vec::new(),
            matcher: Matcher::default(),
            seen: 0,
            found: Vec::new(),
            told: 0,
        }
    }

    /// The built-in phrases of all kinds, with severity [`Severity::Error`]. They are English.
    pub fn builtin() -> Self {
        static BUILTIN: LazyLock<Patterns> = LazyLock::new(|| Patterns::of(PatternKind::ALL));
        BUILTIN.clone()
    }

    /// The built-in phrases of these kinds.
    pub fn of(kinds: impl IntoIterator<Item = PatternKind>) -> Self {
        let add = |rule: Self, kind: PatternKind| rule.category(kind.name(), Severity::Error, kind.phrases());
        kinds.into_iter().fold(Self::new(), add)
    }

    /// The same under another name: for several of them in one set of rules.
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// The same, with these phrases too. A blank phrase is none; a phrase that is there already stays in its category.
    pub fn category<P: AsRef<str>>(
        mut self,
        name: impl Into<String>,
        severity: Severity,
        phrases: impl IntoIterator<Item = P>,
    ) -> Self {
        let label = self.categories.len();
        self.categories.push(Category { name: name.into(), severity });
        let all = Arc::make_mut(&mut self.phrases);
        for phrase in phrases {
            all.add(phrase.as_ref(), label);
        }
        self
    }

    fn violation(&self, found: Found) -> Violation {
        let Category { name, severity } = &self.categories[found.label];
        let message = format!("the output has a phrase of the category {name}");
        Violation::new(*severity, self.name.as_str(), message).at(found.at)
    }
}

impl Default for Patterns {
    /// As [`Patterns::builtin`].
    fn default() -> Self {
        Self::builtin()
    }
}

impl Guardrail for Patterns {
    fn name(&self) -> &str {
        &self.name
    }

    fn streaming(&mut self, delta: &str, _: &str) -> Option<Violation> {
        let Patterns { phrases, matcher, found, seen, .. } = self;
        for (within, c) in delta.char_indices() {
            matcher.char(phrases, c, *seen + within, |phrase| note(found, phrase));
        }
        *seen += delta.len();
        // One at a time: a second category in one token is told at the next.
        let next = *self.found.get(self.told)?;
        self.told += 1;
        Some(self.violation(next))
    }

    fn complete(&mut self, _: &str, _: &OutputFacts) -> Vec<Violation> {
        let mut found = self.found.clone();
        self.matcher.end().for_each(|phrase| note(&mut found, phrase));
        found.into_iter().map(|found| self.violation(found)).collect()
    }

    fn reset(&mut self) {
        self.matcher = Matcher::default();
        self.seen = 0;
        self.found.clear();
        self.told = 0;
    }
}

fn note(found: &mut Vec<Found>, phrase: Found) {
    if found.iter().all(|known| known.label != phrase.label) {
        found.push(phrase);
    }
}
