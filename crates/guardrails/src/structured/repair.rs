//! The kinds of repair.

use std::fmt;

use serde::{Deserialize, Serialize};

/// One kind of repair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Repair {
    /// A comment was removed.
    Comment,
    /// A comma before a closing bracket, or an extra one between members, was removed.
    ExtraComma,
    /// A comma was inserted, or replaced another mark.
    MissingComma,
    /// A colon was inserted, or replaced another mark.
    MissingColon,
    /// A missing bracket was inserted.
    UnclosedBracket,
    /// A closing bracket without an opening one was removed.
    ExtraBracket,
    /// Other quotes of a string were replaced by `"`.
    Quotes,
    /// A key without quotes was quoted.
    UnquotedKey,
    /// A date, a time, a version or a web address without quotes became a string.
    UnquotedText,
    /// A quote within a string was escaped.
    InnerQuote,
    /// A line break or another control character within a string was escaped.
    ControlCharacter,
    /// An invalid escape was corrected.
    Escape,
    /// A literal of another language, or a literal that was cut, was replaced by its equivalent in JSON:
    /// `True`, `None`, `tru`.
    Literal,
    /// A number was converted to the form of JSON.
    Number,
    /// The beginning of a key, at the end of the text, was removed.
    Fragment,
    /// Values on lines of their own became a list.
    Lines,
}

impl Repair {
    /// Returns the kind in its written form, such as `unclosed_bracket`.
    pub const fn name(self) -> &'static str {
        match self {
            Repair::Comment => "comment",
            Repair::ExtraComma => "extra_comma",
            Repair::MissingComma => "missing_comma",
            Repair::MissingColon => "missing_colon",
            Repair::UnclosedBracket => "unclosed_bracket",
            Repair::ExtraBracket => "extra_bracket",
            Repair::Quotes => "quotes",
            Repair::UnquotedKey => "unquoted_key",
            Repair::UnquotedText => "unquoted_text",
            Repair::InnerQuote => "inner_quote",
            Repair::ControlCharacter => "control_character",
            Repair::Escape => "escape",
            Repair::Literal => "literal",
            Repair::Number => "number",
            Repair::Fragment => "fragment",
            Repair::Lines => "lines",
        }
    }
}

impl fmt::Display for Repair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
