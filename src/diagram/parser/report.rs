//! The errors and warnings of the parser.

use super::Parser;
use crate::diagram::error::SyntaxError;
use crate::diagram::lexer::is_mark;
use crate::diagram::model::StyleRule;
use crate::diagram::source::Span;
use crate::diagram::token::{Kind, Token, quoted};
use crate::diagram::warning::{Warning, WarningKind};

impl Parser<'_> {
    pub(super) fn statements(&self) -> &'static str {
        if self.open.len() > 1 {
            "a state, a transition or `}`"
        } else {
            "a state, a transition or another statement"
        }
    }

    pub(super) fn unexpected(&self, token: &Token, expected: &str) -> SyntaxError {
        let got = token.kind.describe(&self.prepared.text[token.text.clone()]);
        let at_line_end = matches!(token.kind, Kind::Newline | Kind::End);
        let whole = if at_line_end { self.last_end..self.last_end } else { token.whole.clone() };
        let error = SyntaxError::new(self.source, self.prepared.span(whole), expected, got);
        match token.kind {
            Kind::ClassDefDefault => error.with_help("Mermaid 11 refuses a class of this name"),
            Kind::Default | Kind::Click | Kind::Href => {
                error.with_help("outside of a composite state this is a keyword, not a state")
            }
            Kind::Open => error.with_help("a body follows `state Id` on the same line"),
            Kind::Label if token.whole.len() > 1 => {
                error.with_help("a label cannot hold two colons in a row")
            }
            Kind::Arrow => {
                error.with_help("each transition has a line of its own: `A --> B`, then `B --> C`")
            }
            Kind::Unknown => match self.hyphen(token) {
                Some(help) => error.with_help(help),
                None => error,
            },
            _ => error,
        }
    }

    /// Guesses the intent of a hyphen that begins no arrow.
    fn hyphen(&self, token: &Token) -> Option<String> {
        let text = &self.prepared.text;
        let behind = text[token.whole.start..].strip_prefix('-')?;
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        let name_of = |c: char| is_part(c) || c == '-';
        let before = text[..token.whole.start].chars().next_back();
        if before.is_some_and(is_part) && behind.starts_with(is_part) {
            let start = text[..token.whole.start]
                .rfind(|c| !name_of(c))
                .map_or(0, |at| at + text[at..].chars().next().map_or(0, char::len_utf8));
            let end = token.whole.end + behind.find(|c| !name_of(c)).unwrap_or(behind.len());
            let name = text[start..end].trim_end_matches('-');
            let id = name.replace('-', "_");
            return Some(format!(
                "a transition cannot name a state with a hyphen: `state \"{name}\" as {id}`, then `{id}`"
            ));
        }
        Some("a transition is written `A --> B`, and its label after a colon: `A --> B : label`".to_owned())
    }

    pub(super) fn unclosed(&self, token: &Token) -> SyntaxError {
        let at = self.open.last().map_or(0, |body| self.syntax.bodies[*body].span.start);
        let line = crate::diagram::source::LineIndex::new(self.source).line(at.saturating_sub(1));
        let error = self.unexpected(token, "`}`");
        error.with_help(format!(
            "the body that opens in line {line} is never closed; a `}}` after a label or an id on the same line \
             belongs to that label or id"
        ))
    }

    pub(super) fn warn(&mut self, kind: WarningKind, span: Span, message: impl Into<String>) {
        self.warnings.push(Warning::new(kind, span, message));
    }

    /// Warns of two statements in one line, which are legal and rarely intended.
    pub(super) fn share_of_line(&mut self, token: &Token) {
        let Some(end) = self.previous else { return };
        let text = &self.prepared.text;
        let start = token.whole.start.max(end);
        if text[end..start].contains('\n') {
            self.reported = false;
            return;
        }
        if std::mem::replace(&mut self.reported, true) {
            return;
        }
        let shown = quoted(&text[token.whole.clone()]);
        let span = self.prepared.span(token.whole.clone());
        if text[end..].starts_with(';') {
            let message =
                format!("a semicolon ends the label; {shown} and each following word is a state of its own");
            self.warn(WarningKind::LabelCut, span, message);
        } else if token.kind == Kind::Name && text[token.whole.clone()].starts_with(':') {
            let message =
                "after `state` a description is read as more states; without `state` it is a description";
            self.warn(WarningKind::SeveralStatements, span, message);
        } else {
            let word = &text[token.whole.clone()];
            let is_arrow = word.chars().any(|c| "→⟶⇒>|".contains(c))
                && !word.chars().any(|c| c.is_alphanumeric() || "[]".contains(c));
            let remedy = if is_arrow { "; a transition is written `A --> B : label`" } else { "" };
            let message = format!("{shown} is another statement in the same line{remedy}");
            self.warn(WarningKind::SeveralStatements, span, message);
        }
    }

    pub(super) fn taken_from_later_line(&mut self, keyword: &Token, value: &Token) {
        if self.prepared.text[keyword.whole.clone()].contains('\n') && !value.text.is_empty() {
            let shown = quoted(&self.prepared.text[value.text.clone()]);
            let message = format!("{shown} is taken from a later line for the value that is missing here");
            self.warn(WarningKind::TakenFromNextLine, self.span(value), message);
        }
    }

    pub(super) fn note_cut(&mut self, token: &Token) {
        let raw = &self.prepared.text[token.whole.clone()];
        let fits = [": ", " :", ":\t", "\t:"].iter().any(|front| raw.starts_with(front));
        let line_form = crate::diagram::chars::trim(raw).starts_with(':');
        let shown = quoted(&self.prepared.text[token.text.clone()]);
        if line_form && !fits {
            let message = format!("Mermaid drops the first two characters of the note: it says {shown}");
            self.warn(WarningKind::NoteCut, self.prepared.span(token.whole.clone()), message);
        }
    }

    pub(super) fn class_cut(&mut self, rule: &StyleRule) {
        if rule.value.text.starts_with(['-', '.', ',', ':']) {
            let message = format!(
                "an id ends where letters, digits and underscores end: the class is read as `{}`",
                rule.value.text
            );
            self.warn(WarningKind::PartDropped, rule.value.span, message);
        }
    }

    pub(super) fn suspect_id(&mut self, id: &str, span: Span) {
        if is_mark(id) {
            let message = format!("`{id}` without `state` before it is a state of that name");
            self.warn(WarningKind::MarkIsState, span, message);
        } else if id == "}" {
            let message = "no composite state is open here: this is a state called `}`";
            self.warn(WarningKind::PunctuationInId, span, message);
        } else if id.len() > 1 && id.ends_with([';', '}', ',', '"']) && !ends_in_entity(id) {
            self.warn(
                WarningKind::PunctuationInId,
                span,
                format!("the state is called `{id}`, punctuation and all"),
            );
        }
    }

    pub(super) fn swallowed(&mut self, token: &Token) {
        let text = crate::diagram::chars::trim(&self.prepared.text[token.whole.clone()]);
        let name = &self.prepared.text[token.text.clone()];
        if text == name {
            return;
        }
        let message = format!("all of this is read as `{name}`; the rest of the line is dropped");
        self.warn(WarningKind::DirectionSwallows, self.prepared.span(token.whole.clone()), message);
    }
}

pub(super) fn pseudo_id(id: &str) -> String {
    format!("everything between `state` and the mark is the id: the state is called `{id}`")
}

fn ends_in_entity(id: &str) -> bool {
    id.rfind('#').is_some_and(|at| crate::diagram::chars::entity(id, at) == Some(id.len()))
}
