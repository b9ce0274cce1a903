//! Text in the form that the rules read, character by character.

mod fold;
mod letter;
mod phrases;
mod scope;
mod words;

pub(crate) use fold::Fold;
pub(crate) use phrases::{Found, Matcher, Phrases};
pub(crate) use scope::{Context, Scope};
pub(crate) use words::{Word, Words};

/// Returns whether the character is part of a word: a letter, a digit or an underscore.
#[inline]
pub(crate) fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Returns whether the character belongs to a script without spaces between words. Each such character counts
/// as a word.
#[inline]
pub(crate) fn stands_alone(c: char) -> bool {
    // Most text lies below the first of these scripts.
    c >= '\u{E00}'
        && matches!(c,
        '\u{E00}'..='\u{EFF}' | '\u{1000}'..='\u{109F}' | '\u{1780}'..='\u{17FF}' | '\u{3041}'..='\u{30FF}'
        | '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{3FFFF}')
}
