//! Phrases that an answer should not have.

mod builtin;

use std::sync::{Arc, LazyLock};

use crate::stream::guardrail::text::{Context, Found, Matcher, Phrases, Scope};

use super::{Guardrail, OutputFacts, Severity, Violation};
pub use builtin::PatternKind;
use builtin::Place;

/// A refusal begins within so many bytes of the answer.
const OPENING: usize = 700;
/// The longest placeholder in brackets, in characters.
const BRACKET: u32 = 80;
/// A label is this many times its category, and its place.
const PLACES: usize = Place::ALL.len();

/// Phrases that the output must not have, in categories.
///
/// The built-in kinds are warnings: they are guesses about prose. `docs/rules.md` has their figures, which a caller weighs before
/// [`Patterns::severity`] makes a kind an error. They do not look into code (fences, code within lines, indented code) and
/// quotations unless [`Patterns::everywhere`] is set. A phrase in an open quotation is told once the quotation turns out to be none:
/// at the end of its paragraph, after 1,000 characters, or at the end of the text. Categories of the caller count everywhere.
///
/// Found are phrases whatever their case, the kind and amount of white space, and typographic quotes; at the beginnings and ends
/// of words only, where they begin or end with a word's character. So a phrase that ends with a letter counts once the next
/// character, or the end, shows that the word is over: however `as an AI` is cut into tokens, `as an aim` never counts.
///
/// ```
/// use runstate::stream::guardrail::{Guardrail, OutputFacts, PatternKind, Patterns, Severity};
///
/// let mut rule = Patterns::of([PatternKind::Refusal])
///     .severity(PatternKind::Refusal, Severity::Error)
///     .category("rivals", Severity::Warning, ["Brand X"]);
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
    categories: Vec<Category>,
    everywhere: bool,
    /// The caller's phrases, and the built-in ones. Shared with all rules that have the same: a session's rules are made anew for
    /// each session.
    own: Arc<Phrases>,
    builtin: Arc<Phrases>,
    reading: Reading,
    /// How many of the phrases were told while streaming.
    told: usize,
}

#[derive(Debug, Clone)]
struct Category {
    name: String,
    severity: Severity,
}

/// The part of a text that was read.
#[derive(Debug, Clone)]
struct Reading {
    own: Matcher,
    builtin: Matcher,
    scope: Scope,
    seen: usize,
    /// A bracket that may be a placeholder: its phrase, its characters, and whether it is closed.
    bracket: Option<(Found, u32, bool)>,
    /// Phrases in an open quotation, or in open code.
    open: Vec<Found>,
    /// In the order in which they were found, one for each category.
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
            found: Vec::new(),
        }
    }

    /// Passes over the letters and spaces that `text` begins with and where no phrase begins; their number.
    #[inline]
    fn pass(&mut self, own: &Phrases, builtin: &Phrases, text: &str) -> usize {
        if self.bracket.is_some() {
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

    /// Looks for built-in phrases at the text's next character.
    #[inline]
    fn builtin(&mut self, phrases: &Phrases, c: char, at: usize, everywhere: bool) {
        let Reading { builtin, scope, bracket, open, found, .. } = self;
        let mut context = scope.char(c, |region, text| {
            if everywhere {
                return;
            }
            builtin.settle(region, text);
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
            // A bracket within it makes it code or a link.
            let goes_on = !closed && !matches!(c, '\n' | '[') && chars < BRACKET;
            *bracket = goes_on.then_some((held, chars + 1, c == ']'));
        }
        builtin.char(phrases, c, at, context, |phrase| match Place::of_label(phrase.label) {
            place if !place.admits(phrase) => {}
            Place::Bracket => *bracket = bracket.or(Some((phrase, 0, c == ']'))),
            _ => keep(open, found, phrase),
        });
    }

    /// All that was found, if the text ends here.
    fn at_end(&self) -> Vec<Found> {
        let mut found = self.found.clone();
        self.open.iter().for_each(|phrase| note(&mut found, *phrase));
        if let Some((phrase, _, true)) = self.bracket {
            note(&mut found, phrase);
        }
        let ended = self.builtin.end().filter(|phrase| {
            let place = Place::of_label(phrase.label);
            place != Place::Bracket && place.admits(*phrase)
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
            Place::Anywhere => true,
            Place::Opening => at <= OPENING && !context.letter,
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
    /// No phrases.
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

    /// The built-in phrases of all kinds, with severity [`Severity::Warning`]. They report and fail no attempt: a gate needs
    /// [`Patterns::severity`], and a look at the figures in `docs/rules.md`.
    pub fn builtin() -> Self {
        static BUILTIN: LazyLock<Patterns> = LazyLock::new(|| Patterns::of(PatternKind::ALL));
        BUILTIN.clone()
    }

    /// The built-in phrases of these kinds, with severity [`Severity::Warning`].
    pub fn of(kinds: impl IntoIterator<Item = PatternKind>) -> Self {
        let mut rule = Self::new();
        for kind in kinds {
            let label = rule.add_category(kind.name().to_owned(), Severity::Warning);
            let all = Arc::make_mut(&mut rule.builtin);
            kind.templates()
                .for_each(|(place, template)| all.add_template(&template, label + place as usize));
        }
        rule
    }

    /// The same, with this severity for a built-in kind that it has.
    pub fn severity(mut self, kind: PatternKind, severity: Severity) -> Self {
        let of_kind = |category: &&mut Category| category.name == kind.name();
        self.categories.iter_mut().filter(of_kind).for_each(|category| category.severity = severity);
        self
    }

    /// The same, which looks for the built-in phrases in code and quotations too.
    pub fn everywhere(mut self) -> Self {
        self.everywhere = true;
        self
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
        let label = self.add_category(name.into(), severity);
        let all = Arc::make_mut(&mut self.own);
        for phrase in phrases {
            all.add(phrase.as_ref(), label);
        }
        self
    }

    fn add_category(&mut self, name: String, severity: Severity) -> usize {
        self.categories.push(Category { name, severity });
        (self.categories.len() - 1) * PLACES
    }

    fn violation(&self, found: Found) -> Violation {
        let Category { name, severity } = &self.categories[found.label / PLACES];
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
        let Patterns { own, builtin, reading, everywhere, .. } = self;
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
            }
        }
        reading.seen += delta.len();
        // One at a time: a second category in one token is told at the next.
        let next = *self.reading.found.get(self.told)?;
        self.told += 1;
        Some(self.violation(next))
    }

    fn complete(&mut self, _: &str, _: &OutputFacts) -> Vec<Violation> {
        self.reading.at_end().into_iter().map(|found| self.violation(found)).collect()
    }

    fn reset(&mut self) {
        self.reading = Reading::new();
        self.told = 0;
    }
}

/// Notes a phrase, unless it stands in an open quotation or in open code.
fn keep(open: &mut Vec<Found>, found: &mut Vec<Found>, phrase: Found) {
    if phrase.context.is_open() {
        // Of each category the first is enough in one region.
        let known = |held: &Found| held.label / PLACES == phrase.label / PLACES;
        if !open.iter().any(known) {
            open.push(phrase);
        }
    } else {
        note(found, phrase);
    }
}

fn note(found: &mut Vec<Found>, phrase: Found) {
    if found.iter().all(|known| known.label / PLACES != phrase.label / PLACES) {
        found.push(phrase);
    }
}
