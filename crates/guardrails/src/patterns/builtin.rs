//! The kinds of built-in phrases, and the places at which they count.

use std::fmt;

use super::phrases::{INSTRUCTION_LEAK, META_COMMENTARY, PLACEHOLDER, REFUSAL, SLOTS};

/// Kind of built-in phrases, for [`Patterns::of`](super::Patterns::of). The phrases are mostly English, and
/// consist of parts that vary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PatternKind {
    /// The model comments on itself or on its answer.
    MetaCommentary,
    /// The model declines.
    Refusal,
    /// Parts of the prompt or of a chat's format appear in the output.
    InstructionLeak,
    /// A part of the text was left for the reader to fill in.
    Placeholder,
}

impl PatternKind {
    /// All kinds.
    pub const ALL: [PatternKind; 4] = [
        PatternKind::MetaCommentary,
        PatternKind::Refusal,
        PatternKind::InstructionLeak,
        PatternKind::Placeholder,
    ];

    /// Returns the name of the category, such as `refusal`.
    pub const fn name(self) -> &'static str {
        match self {
            PatternKind::MetaCommentary => "meta-commentary",
            PatternKind::Refusal => "refusal",
            PatternKind::InstructionLeak => "instruction-leak",
            PatternKind::Placeholder => "placeholder",
        }
    }

    /// Returns the templates, each with its place.
    pub(super) fn templates(self) -> impl Iterator<Item = (Place, String)> {
        let templates = match self {
            PatternKind::MetaCommentary => META_COMMENTARY,
            PatternKind::Refusal => REFUSAL,
            PatternKind::InstructionLeak => INSTRUCTION_LEAK,
            PatternKind::Placeholder => PLACEHOLDER,
        };
        let phrases = templates.iter().map(|template| {
            let (place, rest) = Place::of(template);
            (place, SLOTS.iter().fold(rest.to_owned(), |text, (name, slot)| text.replace(name, slot)))
        });
        phrases.chain(self.triggers().iter().map(|trigger| (Place::Sentence, (*trigger).to_owned())))
    }
}

/// The place in a text at which a phrase counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Anywhere,
    /// In the first characters of an answer that is not a letter.
    Opening,
    /// At the beginning of the text.
    Start,
    /// At the beginning of a line that is not indented.
    Line,
    /// Anywhere except in a letter.
    Answer,
    /// Not within a word, a link or code.
    Blank,
    /// Like `Blank`, in a bracket that is closed and does not begin a link.
    Bracket,
    /// Like `Blank`, and not in emphasis.
    Plain,
    /// At the beginning of a line or after a word, and therefore not after the mark of a comment or of a list
    /// item.
    Note,
    /// A trigger: the shape of its sentence decides.
    Sentence,
    /// In the last characters of an answer that is not a letter; for shapes only.
    Ending,
    /// In the first characters of an answer that is not a letter, and only together with a `Reason` there; for
    /// shapes only.
    Hint,
    /// Like `Hint`, and completes it.
    Reason,
}

impl Place {
    pub(super) const ALL: [Place; 13] = [
        Place::Anywhere,
        Place::Opening,
        Place::Start,
        Place::Line,
        Place::Answer,
        Place::Blank,
        Place::Bracket,
        Place::Plain,
        Place::Note,
        Place::Sentence,
        Place::Ending,
        Place::Hint,
        Place::Reason,
    ];

    pub(super) fn of(template: &str) -> (Place, &str) {
        let place = match template.as_bytes().first() {
            Some(b'~') => Place::Opening,
            Some(b'&') => Place::Start,
            Some(b'^') => Place::Line,
            Some(b'-') => Place::Answer,
            Some(b'@') if template.as_bytes().get(1) == Some(&b'[') => Place::Bracket,
            Some(b'@') => Place::Blank,
            Some(b'%') => Place::Plain,
            Some(b'!') => Place::Note,
            Some(b'=') => Place::Ending,
            Some(b'?') => Place::Hint,
            Some(b';') => Place::Reason,
            _ => return (Place::Anywhere, template),
        };
        (place, &template[1..])
    }
}

impl fmt::Display for PatternKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
