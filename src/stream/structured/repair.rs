//! The kinds of repair.

use std::fmt;

use serde::{Deserialize, Serialize};

/// One kind of repair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Repair {
    /// A comment was taken away.
    Comment,
    /// A comma before a closing bracket, or one too many between members, was taken away.
    ExtraComma,
    /// A comma was put in, or took the place of another mark.
    MissingComma,
    /// A colon was put in, or took the place of another mark.
    MissingColon,
    /// A bracket was opened or closed.
    UnclosedBracket,
    /// A bracket that closes nothing was taken away.
    ExtraBracket,
    /// A string in other quotes than `"` got these.
    Quotes,
    /// A key without quotes got them.
    UnquotedKey,
    /// A date, a version or a web address without quotes became a string.
    UnquotedText,
    /// A quote within a string was escaped.
    InnerQuote,
    /// A line break or another control character within a string was escaped.
    ControlCharacter,
    /// An escape that JSON does not have was mended.
    Escape,
    /// A literal of another language, or one that was cut off, became its like: `True`, `None`, `tru`.
    Literal,
    /// A number was put in the form that JSON has for it.
    Number,
    /// The beginning of a key, at the end of the text, was taken away.
    Fragment,
    /// Values on lines of their own became a list.
    Lines,
}

impl Repair {
    /// The kind as it is written: `unclosed_bracket`.
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
