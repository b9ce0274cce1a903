//! The parser: it turns tokens into statements. Nesting uses a list instead of recursion, so the depth is unlimited.

mod cursor;
mod report;

use report::pseudo_id;

use super::error::SyntaxError;
use super::lexer::Lexer;
use super::model::{Click, Header, StateKind, StyleRule, Text};
use super::prepare::Prepared;
use super::source::Span;
use super::syntax::{Body, BodyId, Node, Stmt, Syntax};
use super::token::{Kind, Token};
use super::warning::{Warning, WarningKind};

pub(super) struct Parser<'s> {
    source: &'s str,
    prepared: &'s Prepared,
    lexer: Lexer<'s>,
    peeked: Option<Token>,
    /// The open bodies, outermost first.
    open: Vec<BodyId>,
    syntax: Syntax,
    pub(super) warnings: Vec<Warning>,
    /// The end of the last token, in the prepared text.
    last_end: usize,
    /// The end of the previous statement, unless a brace or a divider follows it.
    previous: Option<usize>,
    /// Whether this line already has a warning for an extra statement.
    reported: bool,
}

const STATE: &str = "a state or `[*]`";

impl<'s> Parser<'s> {
    pub(super) fn new(source: &'s str, prepared: &'s Prepared) -> Self {
        Self {
            source,
            prepared,
            lexer: Lexer::new(source, prepared),
            peeked: None,
            open: vec![0],
            syntax: Syntax {
                header: (Header::StateDiagramV2, Span::default()),
                bodies: vec![Body::default()],
                items: Vec::new(),
            },
            warnings: Vec::new(),
            last_end: 0,
            previous: None,
            reported: false,
        }
    }

    pub(super) fn run(mut self) -> Result<(Syntax, Vec<Warning>, Vec<Text>), SyntaxError> {
        self.header()?;
        loop {
            let token = self.next()?;
            match token.kind {
                Kind::Newline => {}
                Kind::End if self.open.len() == 1 => break,
                Kind::End => return Err(self.unclosed(&token)),
                Kind::Close if self.open.len() > 1 => self.close(&token),
                Kind::Divider => self.divide(&token),
                _ => {
                    if !token.whole.is_empty() {
                        self.share_of_line(&token);
                    }
                    self.statement(token)?;
                }
            }
        }
        Ok((self.syntax, self.warnings, self.lexer.comments))
    }

    fn header(&mut self) -> Result<(), SyntaxError> {
        loop {
            let token = self.next()?;
            match token.kind {
                Kind::Newline => {}
                Kind::Header(header) => {
                    self.syntax.header = (header, self.prepared.span(token.text));
                    return Ok(());
                }
                _ => return Err(self.unexpected(&token, "`stateDiagram-v2`")),
            }
        }
    }

    fn statement(&mut self, first: Token) -> Result<(), SyntaxError> {
        let start = first.whole.start;
        let stmt = match first.kind {
            Kind::Id | Kind::Point => self.relation(first)?,
            Kind::Name => return self.named_state(first),
            Kind::Quoted => return self.quoted_state(first),
            Kind::Pseudo(kind) => {
                let id = self.text(&first);
                if id.text.contains(['"', ' ']) {
                    self.warn(WarningKind::PartDropped, id.span, pseudo_id(&id.text));
                }
                Stmt::State { id, kind, descriptions: Vec::new(), counted: 0, body: None }
            }
            Kind::Note => self.note()?,
            Kind::Direction(direction) => {
                if first.whole.start != first.text.start || first.whole.end != first.text.end {
                    self.swallowed(&first);
                }
                Stmt::Direction(direction)
            }
            Kind::AccTitle => {
                let value = self.expect(Kind::AccValue, "the title")?;
                self.taken_from_later_line(&first, &value);
                Stmt::AccTitle(self.text(&value))
            }
            Kind::AccDescr => {
                let value = self.expect(Kind::AccValue, "the description")?;
                self.taken_from_later_line(&first, &value);
                Stmt::AccDescr(self.text(&value))
            }
            Kind::AccBlock => {
                if first.whole.end == self.prepared.text.len() && !first.whole.is_empty() {
                    let message =
                        "the description has no `}`: the rest of the diagram is taken for a description";
                    self.warn(WarningKind::NeverClosed, self.span(&first), message);
                }
                Stmt::AccDescr(self.text(&first))
            }
            Kind::Click => self.click(&first)?,
            Kind::ClassDef => {
                let name = self.expect(Kind::ClassDefId, "the name of a class")?;
                Stmt::ClassDef(self.style_rule(&first, &name)?)
            }
            Kind::Class => {
                let names = self.expect(Kind::Ids, "the states that get the class")?;
                let rule = self.style_rule(&first, &names)?;
                self.class_cut(&rule);
                Stmt::Class(rule)
            }
            Kind::Style => {
                let names = self.expect(Kind::Ids, "the states that get the style")?;
                Stmt::Style(self.style_rule(&first, &names)?)
            }
            Kind::HideEmpty => Stmt::HideEmpty,
            Kind::Scale => {
                let width = self.expect(Kind::Width, "a number and `width`")?;
                Stmt::Scale(self.text(&width))
            }
            _ => return Err(self.unexpected(&first, self.statements())),
        };
        self.push(stmt, start);
        Ok(())
    }

    /// `A`, `A : text`, `A --> B`, `A --> B : label`.
    fn relation(&mut self, first: Token) -> Result<Stmt, SyntaxError> {
        let from = self.node(first)?;
        if let Some(label) = self.next_if(Kind::Label)? {
            return Ok(Stmt::Mention { node: from, description: self.nonempty(&label) });
        }
        if self.next_if(Kind::Arrow)?.is_none() {
            return Ok(Stmt::Mention { node: from, description: None });
        }
        let second = self.next()?;
        if !matches!(second.kind, Kind::Id | Kind::Point) {
            return Err(self.unexpected(&second, STATE));
        }
        let to = self.node(second)?;
        let label = match self.next_if(Kind::Label)? {
            Some(label) => self.nonempty(&label),
            None => None,
        };
        Ok(Stmt::Relation { from, to, label })
    }

    fn node(&mut self, token: Token) -> Result<Node, SyntaxError> {
        let span = self.prepared.span(token.text.clone());
        let text = &self.prepared.text[token.text.clone()];
        let id = (token.kind == Kind::Id).then(|| text.to_owned());
        if let Some(id) = &id {
            self.suspect_id(id, span);
        }
        let class = match self.next_if(Kind::ClassMark)? {
            Some(_) => Some(self.expect(Kind::Id, "the name of a class")?),
            None => None,
        };
        Ok(Node { id, span, class: class.map(|class| self.text(&class)) })
    }

    /// `state X` and `state X { … }`.
    fn named_state(&mut self, name: Token) -> Result<(), SyntaxError> {
        let start = name.whole.start;
        let id = self.text(&name);
        if let Some(at) = id.text.find(':').filter(|at| *at > 0) {
            let message = format!(
                "after `state` a colon belongs to the id: the state is called `{}`, not `{}`",
                id.text,
                &id.text[..at]
            );
            self.warn(WarningKind::PartDropped, id.span, message);
        } else {
            self.suspect_id(&id.text, id.span);
        }
        self.with_body(start, id, Vec::new())
    }

    /// `state "text" as X` and `state "text" as X { … }`.
    fn quoted_state(&mut self, quoted: Token) -> Result<(), SyntaxError> {
        let start = quoted.whole.start;
        let description = self.text(&quoted);
        let mark = self.expect(Kind::As, "`as` and the id of the state")?;
        let id = self.expect(Kind::Id, "the id of the state")?;
        self.taken_from_later_line(&mark, &id);
        let id = self.text(&id);
        self.with_body(start, id, vec![description])
    }

    fn with_body(
        &mut self,
        start: usize,
        mut id: Text,
        mut descriptions: Vec<Text>,
    ) -> Result<(), SyntaxError> {
        let Some(open) = self.next_if(Kind::Open)? else {
            if descriptions.is_empty() {
                self.push(Stmt::Declaration { id }, start);
                return Ok(());
            }
            let counted = self.split_alias(&mut id, &mut descriptions);
            let kind = StateKind::Simple;
            self.push(Stmt::State { id, kind, descriptions, counted, body: None }, start);
            return Ok(());
        };
        let counted = descriptions.len();
        let body = self.syntax.bodies.len();
        let span = self.span(&open);
        self.syntax.bodies.push(Body { span: Span::new(span.end, span.end), ..Body::default() });
        self.push(
            Stmt::State { id, kind: StateKind::Composite, descriptions, counted, body: Some(body) },
            start,
        );
        self.open.push(body);
        self.previous = None;
        Ok(())
    }

    /// Splits `state "text" as X : more`: the id ends at the colon, the next part is a second description.
    fn split_alias(&mut self, id: &mut Text, descriptions: &mut Vec<Text>) -> usize {
        let whole = id.clone();
        let mut parts = whole.text.split(':');
        let (Some(name), Some(more)) = (parts.next(), parts.next()) else {
            return descriptions.iter().filter(|text| !text.text.is_empty()).count();
        };
        let at = name.len() + 1;
        let front = more.len() - more.trim_start_matches(super::chars::is_space).len();
        let more_text = super::chars::trim(more);
        let start = whole.span.start + at + front;
        if parts.next().is_some() || more_text.is_empty() {
            let message = format!("Mermaid reads `{name}` here and drops the text after the second colon");
            self.warn(WarningKind::PartDropped, whole.span, message);
        }
        id.text = super::chars::trim(name).to_owned();
        id.span = Span::new(whole.span.start, whole.span.start + id.text.len());
        let span = Span::new(start, start + more_text.len());
        descriptions.push(Text { text: more_text.to_owned(), span });
        descriptions.len()
    }

    fn note(&mut self) -> Result<Stmt, SyntaxError> {
        let token = self.next()?;
        match token.kind {
            Kind::Side(side) => {
                let target = self.expect(Kind::Id, "the state that the note is about")?;
                let text = self.expect(Kind::NoteText, "the text of the note")?;
                self.note_cut(&text);
                Ok(Stmt::Note { target: self.text(&target), side, text: self.text(&text) })
            }
            Kind::NoteText => {
                self.expect(Kind::As, "`as` and a name for the note")?;
                let alias = self.expect(Kind::Id, "a name for the note")?;
                let message = "Mermaid reads a floating note and does not draw it";
                self.warn(WarningKind::NoteNotDrawn, self.span(&token), message);
                Ok(Stmt::Floating { text: self.text(&token), alias: self.text(&alias) })
            }
            _ => Err(self.unexpected(&token, "the text of the note")),
        }
    }

    fn click(&mut self, first: &Token) -> Result<Stmt, SyntaxError> {
        let target = self.next()?;
        if !matches!(target.kind, Kind::Id | Kind::Point) {
            return Err(self.unexpected(&target, STATE));
        }
        let node = self.node(target)?;
        let second = self.next()?;
        let (url, tooltip) = match second.kind {
            Kind::Href => (self.expect(Kind::String, "an address in double quotes")?, None),
            Kind::String => (second, Some(self.expect(Kind::String, "a tooltip in double quotes")?)),
            _ => return Err(self.unexpected(&second, "`href` or an address in double quotes")),
        };
        let end = self.next()?;
        if end.kind != Kind::Newline {
            let error = self.unexpected(&end, "the end of the line");
            return Err(error.with_help("a space at the end of the line hides the line break from Mermaid"));
        }
        let target = node.id.map(|text| Text { text, span: node.span });
        let url = self.text(&url);
        let tooltip = tooltip.map(|text| self.text(&text));
        let last = tooltip.as_ref().map_or(url.span, |text| text.span);
        let span = self.span(first).to(last);
        Ok(Stmt::Click(Click { target, url, tooltip, span }))
    }

    fn style_rule(&mut self, first: &Token, names: &Token) -> Result<StyleRule, SyntaxError> {
        let value = self.expect(Kind::Value, "a value")?;
        let span = self.prepared.span(first.whole.start..value.text.end.max(names.text.end));
        let mut at = names.text.start;
        let mut texts = Vec::new();
        for name in self.prepared.text[names.text.clone()].split(',') {
            let front = name.len() - name.trim_start_matches(super::chars::is_space).len();
            let trimmed = super::chars::trim(name);
            let start = at + front;
            let span = self.prepared.span(start..start + trimmed.len());
            texts.push(Text { text: trimmed.to_owned(), span });
            at += name.len() + 1;
        }
        Ok(StyleRule { names: texts, value: self.text(&value), span })
    }
}
