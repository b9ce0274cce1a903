//! Phrases that an answer must not contain.

mod builtin;
mod judge;
mod phrases;
mod sentences;
mod shapes;

use std::sync::{Arc, LazyLock};

pub use builtin::PatternKind;
use builtin::Place;
use judge::{judge, keep, note};
use shapes::{Ending, LONGEST};

use super::{Guardrail, OutputFacts, Severity, Violation};
use crate::text::{Context, Found, Matcher, Phrases, Scope};

/// Largest position, in bytes, at which a refusal begins.
const OPENING: usize = 700;
/// Largest position of the first sentences, and largest distance of the last sentences from the end, in bytes.
const EARLY: usize = 300;
const LATE: usize = 300;
/// The longest placeholder in brackets, in characters.
const BRACKET: u32 = 80;
/// A label is its category times this number, plus its place.
const PLACES: usize = Place::ALL.len();

/// Rule: the output contains none of the phrases. The phrases are grouped in categories.
///
/// The built-in kinds are warnings, because their judgement of prose is uncertain. `docs/rules.md` has their
/// error rates, which a caller should weigh before [`Patterns::severity`] makes a kind an error. The built-in
/// kinds skip code (fences, code within lines, indented code) and quotations unless [`Patterns::everywhere`] is
/// set. A phrase after an opening quotation mark is reported once the mark proves to open no quotation: at the
/// end of its paragraph, after 1,000 characters, or at the end of the text. The caller's categories apply
/// everywhere.
///
/// The built-in kinds also have shapes of sentences: words in an order, with other words between them, such as
/// a first person, a word of inability and the object of a request. A phrase of a refusal or a comment
/// and a shape are reported at the end of their sentence, which is read from the content. A sentence of everyday
/// life, with a day or another person in it, has neither. An offer ("I can make it shorter") is reported only if the text
/// ends with it. Two hints in the first sentences form a refusal.
///
/// The search ignores case, the kind and amount of white space, and typographic quotes. A phrase that begins or
/// ends with a word character matches only at the beginning or end of a word. A phrase that ends with a letter
/// therefore counts when the next character, or the end of the text, ends the word: for any division into
/// tokens, `as an AI` does not match in `as an aim`.
///
/// ```
/// use runstate_guardrails::{Guardrail, OutputFacts, PatternKind, Patterns, Severity};
///
/// let mut rule =
///     Patterns::of([PatternKind::Refusal]).category("rivals", Severity::Error, ["Brand X"]);
/// assert!(rule.streaming("I can\u{2019}t help  with", "I can\u{2019}t help  with").is_none());
/// let found = rule.streaming(" that.", "I can\u{2019}t help  with that.").unwrap();
/// assert_eq!((found.severity, found.at), (Severity::Warning, Some(0)));
/// assert_eq!(found.message, "the output has a phrase of the category refusal");
///
/// rule.reset();
/// assert!(rule.streaming("brand xylophones", "brand xylophones").is_none());
/// ```
#[derive(Debug, Clone)]
pub struct Patterns {
    name: String,
    categories: Vec<Category>,
    everywhere: bool,
    /// The caller's phrases, and the built-in ones. Rules with equal phrases share them, because each session
    /// has rules of its own.
    own: Arc<Phrases>,
    builtin: Arc<Phrases>,
    reading: Reading,
    /// Number of the phrases that were reported while streaming.
    told: usize,
}

#[derive(Debug, Clone)]
struct Category {
    name: String,
    severity: Severity,
    /// None for a caller's category.
    kind: Option<PatternKind>,
}

/// State of the search, after the text read so far.
#[derive(Debug, Clone)]
struct Reading {
    own: Matcher,
    builtin: Matcher,
    scope: Scope,
    seen: usize,
    /// A bracket that may be a placeholder: its phrase, its length in characters, and whether it is closed.
    bracket: Option<(Found, u32, bool)>,
    /// Phrases in an open quotation, or in open code.
    open: Vec<Found>,
    /// The triggers of the current sentence, and whether the sentence has ended.
    triggers: Vec<Found>,
    ending: Ending,
    is_over: bool,
    /// Sentences that count only near the end of the text, or together with another one: the last of each
    /// category and place.
    weak: Vec<(Place, Found)>,
    /// Phrases in the order in which they were found, one for each category.
    found: Vec<Found>,
}

impl Reading {
    fn new() -> Self {
        Reading {
            own: Matcher::default(),
            builtin: Matcher::default(),
            scope: Scope::new(),
            seen: 0,
            bracket: None,
            open: Vec::new(),
            triggers: Vec::new(),
            ending: Ending::default(),
            is_over: false,
            weak: Vec::new(),
            found: Vec::new(),
        }
    }

    /// Skips the leading letters and spaces of `text` at which no phrase begins. Returns their number.
    #[inline]
    fn pass(&mut self, own: &Phrases, builtin: &Phrases, text: &str) -> usize {
        // A space may end a sentence.
        let may_end = !self.triggers.is_empty() && self.ending != Ending::Within;
        if self.bracket.is_some() || may_end {
            return 0;
        }
        let mut quiet = &text[..text.floor_char_boundary(self.scope.quiet())];
        for (matcher, phrases) in [(&self.own, own), (&self.builtin, builtin)] {
            quiet = &quiet[..matcher.quiet(phrases, quiet)];
        }
        self.scope.pass(quiet);
        self.own.pass(quiet);
        self.builtin.pass(quiet);
        quiet.len()
    }

    /// Searches for built-in phrases at the text's next character.
    #[inline]
    fn builtin(&mut self, phrases: &Phrases, c: char, at: usize, everywhere: bool) {
        let Reading { builtin, scope, bracket, open, triggers, ending, is_over, weak, found, .. } = self;
        let mut context = scope.char(c, |region, text| {
            if everywhere {
                return;
            }
            builtin.settle(region, text);
            triggers.retain_mut(|trigger| trigger.context.settle(region, text));
            weak.retain_mut(|(_, held)| held.context.settle(region, text));
            if bracket.as_mut().is_some_and(|(held, ..)| !held.context.settle(region, text)) {
                *bracket = None;
            }
            open.retain(|held| {
                let settled = held.context.is_in(region);
                if settled && text {
                    note(found, *held);
                }
                !settled
            });
        });
        if everywhere {
            context = context.outside();
        }
        if let Some((held, chars, closed)) = *bracket {
            if closed && !matches!(c, '(' | '[' | ':') {
                keep(open, found, held);
            }
            // A bracket within the bracket shows that it is code or a link.
            let goes_on = !closed && !matches!(c, '\n' | '[') && chars < BRACKET;
            *bracket = goes_on.then_some((held, chars + 1, c == ']'));
        }
        let is_within = !triggers.is_empty();
        *is_over = is_within && (ending.char(c) || at - triggers[0].at > LONGEST);
        builtin.char(phrases, c, at, context, |phrase| match Place::of_label(phrase.label) {
            place if !place.admits(phrase) => {}
            Place::Bracket => *bracket = bracket.or(Some((phrase, 0, c == ']'))),
            // The sentence around a phrase may show that it is of everyday life.
            Place::Sentence | Place::Opening | Place::Answer => triggers.push(phrase),
            _ => keep(open, found, phrase),
        });
        if !is_within && !triggers.is_empty() {
            *ending = Ending::default();
            *is_over = ending.char(c);
        }
    }

    /// Judges the sentence that ends at `end`, or that the text's end completes.
    fn judge(&mut self, categories: &[Category], content: &str, end: usize) {
        self.is_over = false;
        let triggers = std::mem::take(&mut self.triggers);
        let Reading { open, found, weak, .. } = self;
        judge(&triggers, categories, content, end, weak, |phrase| keep(open, found, phrase));
    }

    /// Returns whether a sentence with a phrase may end here. The text may be cut before the white space that
    /// would end it.
    fn is_marked(&self) -> bool {
        self.ending == Ending::Mark
            && self.triggers.iter().any(|phrase| Place::of_label(phrase.label) != Place::Sentence)
    }

    /// Judges the sentence as if it ended at `end`. It may go on.
    fn judge_early(&mut self, categories: &[Category], content: &str, end: usize) {
        let Reading { open, found, weak, triggers, .. } = self;
        judge(triggers, categories, content, end, &mut weak.clone(), |phrase| keep(open, found, phrase));
    }

    /// Returns all phrases of a text that ends here.
    fn at_end(&self, categories: &[Category], content: &str) -> Vec<Found> {
        let mut found = self.found.clone();
        let is_trigger = |phrase: &Found| {
            let place = Place::of_label(phrase.label);
            matches!(place, Place::Sentence | Place::Opening | Place::Answer) && place.admits(*phrase)
        };
        let triggers = self.triggers.iter().copied().chain(self.builtin.end().filter(is_trigger));
        let (triggers, mut weak) = (triggers.collect::<Vec<_>>(), self.weak.clone());
        judge(&triggers, categories, content, content.len(), &mut weak, |phrase| note(&mut found, phrase));
        let end = content.trim_end().len();
        let is_late = |(place, phrase): &&(Place, Found)| {
            *place == Place::Ending && end.saturating_sub(phrase.at) <= LATE
        };
        weak.iter().filter(is_late).for_each(|(_, phrase)| note(&mut found, *phrase));
        self.open.iter().for_each(|phrase| note(&mut found, *phrase));
        if let Some((phrase, _, true)) = self.bracket {
            note(&mut found, phrase);
        }
        let ended = self.builtin.end().filter(|phrase| {
            let place = Place::of_label(phrase.label);
            !matches!(place, Place::Bracket | Place::Sentence | Place::Opening | Place::Answer)
                && place.admits(*phrase)
        });
        self.own.end().chain(ended).for_each(|phrase| note(&mut found, phrase));
        found
    }
}

impl Place {
    fn of_label(label: usize) -> Place {
        Place::ALL[label % PLACES]
    }

    fn admits(self, Found { at, context, .. }: Found) -> bool {
        match self {
            Place::Anywhere | Place::Sentence => true,
            Place::Ending => !context.letter,
            Place::Opening | Place::Hint | Place::Reason => at <= OPENING && !context.letter,
            Place::Start => at <= 2,
            Place::Line => context.line && !context.indented,
            Place::Note => context.line || context.spoken,
            Place::Answer => !context.letter,
            Place::Blank | Place::Bracket => !context.glued,
            Place::Plain => !context.glued && !context.starred,
        }
    }
}

impl Patterns {
    /// Creates a rule without phrases.
    pub fn new() -> Self {
        Patterns {
            name: "patterns".to_owned(),
            categories: Vec::new(),
            everywhere: false,
            own: Arc::default(),
            builtin: Arc::default(),
            reading: Reading::new(),
            told: 0,
        }
    }

    /// Creates a rule with the built-in phrases of all kinds, with severity [`Severity::Warning`]. They are
    /// reported and fail no attempt. [`Patterns::severity`] makes them fail an attempt; `docs/rules.md` has the
    /// error rates.
    pub fn builtin() -> Self {
        static BUILTIN: LazyLock<Patterns> = LazyLock::new(|| Patterns::of(PatternKind::ALL));
        BUILTIN.clone()
    }

    /// Creates a rule with the built-in phrases of these kinds, with severity [`Severity::Warning`].
    pub fn of(kinds: impl IntoIterator<Item = PatternKind>) -> Self {
        let mut rule = Self::new();
        for kind in kinds {
            let label = rule.add_category(kind.name().to_owned(), Severity::Warning, Some(kind));
            let all = Arc::make_mut(&mut rule.builtin);
            kind.templates()
                .for_each(|(place, template)| all.add_template(&template, label + place as usize));
        }
        rule
    }

    /// Sets the severity of a built-in kind that the rule has. Default: [`Severity::Warning`].
    pub fn severity(mut self, kind: PatternKind, severity: Severity) -> Self {
        let of_kind = |category: &&mut Category| category.name == kind.name();
        self.categories.iter_mut().filter(of_kind).for_each(|category| category.severity = severity);
        self
    }

    /// Searches code and quotations for the built-in phrases, too. Default: they are skipped.
    pub fn everywhere(mut self) -> Self {
        self.everywhere = true;
        self
    }

    /// Sets the name of the rule, for several such rules in one set. Default: `patterns`.
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Adds a category of phrases. Blank phrases are ignored. A phrase that the rule has already stays in its
    /// category.
    pub fn category<P: AsRef<str>>(
        mut self,
        name: impl Into<String>,
        severity: Severity,
        phrases: impl IntoIterator<Item = P>,
    ) -> Self {
        let label = self.add_category(name.into(), severity, None);
        let all = Arc::make_mut(&mut self.own);
        for phrase in phrases {
            all.add(phrase.as_ref(), label);
        }
        self
    }

    fn add_category(&mut self, name: String, severity: Severity, kind: Option<PatternKind>) -> usize {
        self.categories.push(Category { name, severity, kind });
        (self.categories.len() - 1) * PLACES
    }

    fn violation(&self, found: Found) -> Violation {
        let Category { name, severity, .. } = &self.categories[found.label / PLACES];
        let message = format!("the output has a phrase of the category {name}");
        Violation::new(*severity, self.name.as_str(), message).at(found.at)
    }
}

impl Default for Patterns {
    /// Like [`Patterns::builtin`].
    fn default() -> Self {
        Self::builtin()
    }
}

impl Guardrail for Patterns {
    fn name(&self) -> &str {
        &self.name
    }

    fn streaming(&mut self, delta: &str, content: &str) -> Option<Violation> {
        let Patterns { own, builtin, reading, everywhere, categories, .. } = self;
        let mut rest = delta;
        loop {
            rest = &rest[reading.pass(own, builtin, rest)..];
            let Some(c) = rest.chars().next() else { break };
            let at = reading.seen + (delta.len() - rest.len());
            rest = &rest[c.len_utf8()..];
            if !own.is_empty() {
                let found = &mut reading.found;
                reading.own.char(own, c, at, Context::default(), |phrase| note(found, phrase));
            }
            if !builtin.is_empty() {
                reading.builtin(builtin, c, at, *everywhere);
                if reading.is_over {
                    reading.judge(categories, content, at);
                } else if reading.is_marked() {
                    reading.judge_early(categories, content, at + c.len_utf8());
                }
            }
        }
        reading.seen += delta.len();
        // One violation per token: a second category is reported at the next token.
        let next = *self.reading.found.get(self.told)?;
        self.told += 1;
        Some(self.violation(next))
    }

    fn complete(&mut self, content: &str, _: &OutputFacts) -> Vec<Violation> {
        let found = self.reading.at_end(&self.categories, content);
        found.into_iter().map(|found| self.violation(found)).collect()
    }

    fn reset(&mut self) {
        self.reading = Reading::new();
        self.told = 0;
    }
}
