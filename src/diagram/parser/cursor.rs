//! The state of the parser: the open scopes, and the next tokens.

use super::Parser;
use crate::diagram::error::SyntaxError;
use crate::diagram::model::Text;
use crate::diagram::source::Span;
use crate::diagram::syntax::{Item, Stmt};
use crate::diagram::token::{Kind, Token};

/// Scopes.
impl Parser<'_> {
    pub(super) fn close(&mut self, token: &Token) {
        if let Some(body) = self.open.pop() {
            self.syntax.bodies[body].span.end = self.span(token).start;
        }
        self.previous = None;
    }

    pub(super) fn divide(&mut self, token: &Token) {
        let span = self.span(token);
        let body = &mut self.syntax.bodies[self.open[self.open.len() - 1]];
        body.dividers.push(span);
        body.last_part_used = false;
        self.previous = None;
    }

    pub(super) fn push(&mut self, stmt: Stmt, start: usize) {
        let id = self.open[self.open.len() - 1];
        let end = self.last_end.max(start);
        let body = &mut self.syntax.bodies[id];
        body.last_part_used = true;
        let part = body.dividers.len();
        let span = self.prepared.span(start..end);
        self.syntax.items.push(Item { stmt, span, body: id, part });
        self.previous = Some(end);
    }
}

/// Tokens.
impl Parser<'_> {
    pub(super) fn next(&mut self) -> Result<Token, SyntaxError> {
        let token = match self.peeked.take() {
            Some(token) => token,
            None => self.lexer.next()?,
        };
        if !matches!(token.kind, Kind::Newline | Kind::End) {
            self.last_end = token.whole.end;
        }
        Ok(token)
    }

    pub(super) fn next_if(&mut self, kind: Kind) -> Result<Option<Token>, SyntaxError> {
        let token = match self.peeked.take() {
            Some(token) => token,
            None => self.lexer.next()?,
        };
        if token.kind == kind {
            self.last_end = token.whole.end;
            return Ok(Some(token));
        }
        self.peeked = Some(token);
        Ok(None)
    }

    pub(super) fn expect(&mut self, kind: Kind, expected: &str) -> Result<Token, SyntaxError> {
        let token = self.next()?;
        if token.kind == kind { Ok(token) } else { Err(self.unexpected(&token, expected)) }
    }

    pub(super) fn text(&self, token: &Token) -> Text {
        let text = self.prepared.text[token.text.clone()].to_owned();
        Text { text, span: self.prepared.span(token.text.clone()) }
    }

    pub(super) fn nonempty(&self, token: &Token) -> Option<Text> {
        (!token.text.is_empty()).then(|| self.text(token))
    }

    pub(super) fn span(&self, token: &Token) -> Span {
        self.prepared.span(token.text.clone())
    }
}
