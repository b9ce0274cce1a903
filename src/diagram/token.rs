//! The tokens of a state diagram.

use std::ops::Range;

use super::model::{Direction, NoteSide, StateKind};

/// A token with its place in the prepared text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) kind: Kind,
    /// The whole token.
    pub(super) whole: Range<usize>,
    /// The significant part: an id, a label, a value.
    pub(super) text: Range<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Header(super::model::Header),
    Newline,
    Id,
    Point,
    Arrow,
    Label,
    ClassMark,
    Open,
    Close,
    Divider,
    /// A name after `state`.
    Name,
    /// The quoted text after `state`.
    Quoted,
    As,
    Pseudo(StateKind),
    Note,
    Side(NoteSide),
    NoteText,
    Direction(Direction),
    AccTitle,
    AccDescr,
    AccValue,
    AccBlock,
    Click,
    Href,
    String,
    Default,
    ClassDef,
    ClassDefId,
    ClassDefDefault,
    Class,
    Style,
    Ids,
    Value,
    HideEmpty,
    Scale,
    Width,
    Unknown,
    End,
}

impl Kind {
    /// Describes the token in an error, given its text.
    pub(super) fn describe(self, text: &str) -> String {
        match self {
            Self::Newline => "the end of the line".to_owned(),
            Self::End => "the end of the diagram".to_owned(),
            Self::Quoted => format!("the text {}", quoted(text)),
            Self::Label => format!("the label {}", quoted(text)),
            Self::Id => format!("the state {}", quoted(text)),
            Self::NoteText => format!("the note {}", quoted(text)),
            Self::Default | Self::Click | Self::Href => format!("the keyword {}", quoted(text)),
            Self::ClassDefDefault => "the class `default`".to_owned(),
            _ => quoted(text),
        }
    }
}

/// Returns a text in backquotes, shortened for a message.
pub(super) fn quoted(text: &str) -> String {
    const MOST: usize = 40;
    let mut shown: String = text.chars().take(MOST).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if text.chars().nth(MOST).is_some() {
        shown.push('…');
    }
    format!("`{}`", shown.trim())
}
