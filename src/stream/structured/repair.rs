//! What was repaired.

use std::fmt;

use serde::{Deserialize, Serialize};

/// One kind of repair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Repair {
    /// A code fence around the JSON was taken away.
    Fence,
    /// Text around the JSON was taken away.
    Prose,
    /// A comment was taken away.
    Comment,
    /// A comma before a closing bracket, or one too many, was taken away.
    ExtraComma,
    /// A comma between two items was put in.
    MissingComma,
    /// A colon between key and value was put in.
    MissingColon,
    /// A key without a value got `null`.
    MissingValue,
    /// A bracket was closed.
    UnclosedBracket,
    /// A bracket that closes nothing was taken away.
    ExtraBracket,
    /// A string in other quotes than `"` got these.
    Quotes,
    /// A key without quotes got them.
    UnquotedKey,
    /// Words without quotes became a string.
    UnquotedText,
    /// A string was closed.
    UnclosedString,
    /// A quote within a string was escaped.
    InnerQuote,
    /// A line break or another control character within a string was escaped.
    ControlCharacter,
    /// An escape that JSON does not have was mended.
    Escape,
    /// A literal of another language became its like: `True`, `None`, `NaN`.
    Literal,
    /// A number was put in the form that JSON has for it.
    Number,
    /// A key, a word or dots without meaning were taken away.
    Fragment,
}

impl Repair {
    /// The kind as it is written: `unclosed_bracket`.
    pub const fn name(self) -> &'static str {
        match self {
            Repair::Fence => "fence",
            Repair::Prose => "prose",
            Repair::Comment => "comment",
            Repair::ExtraComma => "extra_comma",
            Repair::MissingComma => "missing_comma",
            Repair::MissingColon => "missing_colon",
            Repair::MissingValue => "missing_value",
            Repair::UnclosedBracket => "unclosed_bracket",
            Repair::ExtraBracket => "extra_bracket",
            Repair::Quotes => "quotes",
            Repair::UnquotedKey => "unquoted_key",
            Repair::UnquotedText => "unquoted_text",
            Repair::UnclosedString => "unclosed_string",
            Repair::InnerQuote => "inner_quote",
            Repair::ControlCharacter => "control_character",
            Repair::Escape => "escape",
            Repair::Literal => "literal",
            Repair::Number => "number",
            Repair::Fragment => "fragment",
        }
    }
}

impl fmt::Display for Repair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
