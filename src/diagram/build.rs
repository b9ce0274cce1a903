//! The step from statements to states: each id becomes one state, bodies become scopes, and the last mention sets a
//! state's scope.

use std::collections::HashMap;

use super::error::SyntaxError;
use super::model::{Diagram, Endpoint, Note, Scope, ScopeId, State, StateId, StateKind, Text, Transition};
use super::prepare::{Prepared, title};
use super::source::{LineIndex, Places, Span};
use super::syntax::{Body, Item, Node, Stmt, Syntax};
use super::warning::{Warning, WarningKind};

pub(super) struct Builder<'s> {
    source: &'s str,
    diagram: Diagram,
    ids: HashMap<String, StateId>,
    facts: Vec<Facts>,
    /// The statements `state X`. Such a state only exists if another statement names it.
    declarations: Vec<Text>,
    /// The scope of each part of each body.
    scopes: Vec<Vec<ScopeId>>,
}

/// The facts about a state while it is built.
#[derive(Debug, Default, Clone)]
struct Facts {
    declared: bool,
    /// The first mention.
    first: Span,
    moved: bool,
    descriptions: usize,
    /// The scope of a body without dividers. A second such body joins it.
    undivided: Option<ScopeId>,
    bodies: usize,
    regions: usize,
}

impl<'s> Builder<'s> {
    pub(super) fn new(source: &'s str, place: Span, prepared: Prepared, header: &Syntax) -> Self {
        let diagram = Diagram {
            header: header.header,
            title: prepared.front_matter.as_ref().and_then(title),
            states: Vec::new(),
            scopes: vec![Scope { span: place, ..Scope::default() }],
            transitions: Vec::new(),
            notes: Vec::new(),
            class_defs: Vec::new(),
            class_rules: Vec::new(),
            style_rules: Vec::new(),
            clicks: Vec::new(),
            scale: None,
            hide_empty_description: None,
            acc_title: None,
            acc_description: None,
            comments: prepared.comments,
            directives: prepared.directives,
            front_matter: prepared.front_matter,
            warnings: Vec::new(),
            lines: LineIndex::new(source),
        };
        let mut this = Self {
            source,
            diagram,
            ids: HashMap::new(),
            facts: Vec::new(),
            declarations: Vec::new(),
            scopes: vec![Vec::new(); header.bodies.len()],
        };
        this.scopes[0] = vec![ScopeId::ROOT];
        if let Some(span) = prepared.open_directive {
            let message = "the directive has no `}%%`: everything after it belongs to it";
            this.warn(WarningKind::NeverClosed, span, message);
        }
        this
    }

    pub(super) fn run(
        mut self,
        syntax: Syntax,
        warnings: Vec<Warning>,
        comments: Vec<Text>,
    ) -> Result<Diagram, SyntaxError> {
        self.diagram.warnings.extend(warnings);
        self.diagram.comments.extend(comments);
        self.diagram.comments.sort_by_key(|comment| comment.span);
        for item in syntax.items {
            self.item(item, &syntax.bodies)?;
        }
        self.declared_only();
        self.diagram.warnings.sort_by_key(|warning| (warning.span(), warning.kind()));
        let mut places = Places::new(self.source, &self.diagram.lines);
        for warning in &mut self.diagram.warnings {
            warning.locate(places.position(warning.span().start));
        }
        Ok(self.diagram)
    }

    fn item(&mut self, item: Item, bodies: &[Body]) -> Result<(), SyntaxError> {
        let parts = &self.scopes[item.body];
        let scope = parts.get(item.part).or(parts.last()).copied().unwrap_or(ScopeId::ROOT);
        let span = item.span;
        match item.stmt {
            Stmt::Mention { node, description } => {
                let end = self.endpoint(node, scope, true);
                match (end, description) {
                    (Endpoint::State(id), Some(description)) => {
                        self.declare(id, span, true);
                        self.describe(id, description);
                        self.count(id, 1, span)?;
                    }
                    (_, Some(description)) => {
                        let message = "Mermaid draws a `[*]` with a description as a state";
                        self.warn(WarningKind::PartDropped, description.span, message);
                    }
                    (_, None) => {}
                }
            }
            Stmt::Relation { from, to, label } => {
                let (from_span, to_span) = (from.span, to.span);
                let from = self.endpoint(from, scope, true);
                let to = self.endpoint(to, scope, false);
                let transition = Transition { from, from_span, to, to_span, label, scope, span };
                self.diagram.transitions.push(transition);
            }
            Stmt::Declaration { id } => self.declarations.push(id),
            Stmt::State { id, kind, descriptions, counted, body } => {
                let state = self.mention(&id.text, id.span, scope);
                self.declare(state, id.span, true);
                self.kind(state, kind, id.span);
                for description in descriptions.into_iter().filter(|text| !text.text.is_empty()) {
                    self.describe(state, description);
                }
                self.count(state, counted, id.span)?;
                if let Some(body) = body {
                    self.open(state, body, &bodies[body], id.span);
                }
            }
            Stmt::Note { target, side, text } => {
                let target = match target.text.as_str() {
                    "[*]" => Endpoint::Start(scope),
                    id => Endpoint::State(self.mention(id, target.span, scope)),
                };
                let note = Note { target: Some(target), side: Some(side), text, alias: None, scope, span };
                self.diagram.notes.push(note);
            }
            Stmt::Floating { text, alias } => {
                let note = Note { target: None, side: None, text, alias: Some(alias), scope, span };
                self.diagram.notes.push(note);
            }
            Stmt::Direction(direction) => {
                if let Some((before, _)) = self.diagram.scopes[scope.0].direction.replace((direction, span))
                    && before != direction
                {
                    let message = "the scope has a direction already; the last one counts";
                    self.warn(WarningKind::DirectionRepeated, span, message);
                }
            }
            Stmt::ClassDef(rule) => self.diagram.class_defs.push(rule),
            Stmt::Class(rule) => {
                for name in &rule.names {
                    if let Some(id) = self.ids.get(&name.text) {
                        self.diagram.states[id.0].classes.push(rule.value.clone());
                    }
                }
                self.diagram.class_rules.push(rule);
            }
            Stmt::Style(rule) => self.diagram.style_rules.push(rule),
            Stmt::Click(click) => self.diagram.clicks.push(click),
            Stmt::AccTitle(text) => self.diagram.acc_title = Some(text),
            Stmt::AccDescr(text) => self.diagram.acc_description = Some(text),
            Stmt::Scale(width) => self.diagram.scale = Some(width),
            Stmt::HideEmpty => self.diagram.hide_empty_description = Some(span),
        }
        Ok(())
    }

    fn endpoint(&mut self, node: Node, scope: ScopeId, start: bool) -> Endpoint {
        let Some(id) = node.id else {
            return if start { Endpoint::Start(scope) } else { Endpoint::End(scope) };
        };
        let state = self.mention(&id, node.span, scope);
        self.diagram.states[state.0].classes.extend(node.class);
        Endpoint::State(state)
    }

    fn mention(&mut self, id: &str, span: Span, scope: ScopeId) -> StateId {
        if let Some(known) = self.ids.get(id).copied() {
            self.moved(known, span, scope);
            return known;
        }
        let new = StateId(self.diagram.states.len());
        self.ids.insert(id.to_owned(), new);
        self.facts.push(Facts { first: span, ..Facts::default() });
        self.diagram.states.push(State {
            id: id.to_owned(),
            descriptions: Vec::new(),
            kind: StateKind::Simple,
            regions: Vec::new(),
            classes: Vec::new(),
            scope,
            span,
        });
        if matches!(id, "root" | "root_start" | "root_end" | "[*]") {
            let message = format!("`{id}` is one of Mermaid's own names: this state is not drawn as one");
            self.warn(WarningKind::ReservedId, span, message);
        }
        if id.is_empty() {
            self.warn(WarningKind::EmptyId, span, "this is a state without a name");
        }
        new
    }

    /// Moves a state to a scope. A mention in the root scope never moves a state; a mention in a composite state
    /// does.
    fn moved(&mut self, state: StateId, span: Span, scope: ScopeId) {
        let here = self.diagram.states[state.0].scope;
        if scope == ScopeId::ROOT || here == scope {
            return;
        }
        self.diagram.states[state.0].scope = scope;
        if !std::mem::replace(&mut self.facts[state.0].moved, true) {
            let id = &self.diagram.states[state.0].id;
            let message = format!("`{id}` is named in another scope before; Mermaid moves it into this one");
            self.warn(WarningKind::StateMoved, span, message);
        }
    }

    fn declare(&mut self, state: StateId, span: Span, declares: bool) {
        if declares && !std::mem::replace(&mut self.facts[state.0].declared, true) {
            self.diagram.states[state.0].span = span;
        }
    }

    fn kind(&mut self, id: StateId, kind: StateKind, span: Span) {
        let state = &mut self.diagram.states[id.0];
        match kind {
            StateKind::Simple => {}
            StateKind::Composite => state.kind = StateKind::Composite,
            _ if state.kind != StateKind::Simple => {}
            _ => {
                state.kind = kind;
                if self.facts[id.0].first != span {
                    self.kind_lost(id, span, "is named before it is declared");
                }
            }
        }
    }

    fn kind_lost(&mut self, id: StateId, span: Span, why: &str) {
        let name = &self.diagram.states[id.0].id;
        let message = format!("`{name}` {why}; Mermaid draws it as a plain state");
        self.warn(WarningKind::KindLost, span, message);
    }

    fn describe(&mut self, id: StateId, description: Text) {
        let state = &mut self.diagram.states[id.0];
        let span = description.span;
        let pseudo = matches!(state.kind, StateKind::Choice | StateKind::Fork | StateKind::Join);
        let first = state.descriptions.is_empty();
        state.descriptions.push(description);
        if pseudo && first {
            self.kind_lost(id, span, "has a description");
        }
    }

    /// Counts descriptions. Mermaid refuses a second description of a composite state.
    fn count(&mut self, id: StateId, more: usize, span: Span) -> Result<(), SyntaxError> {
        self.facts[id.0].descriptions += more;
        let state = &self.diagram.states[id.0];
        // An id with markup, once cleaned, counts as an additional description.
        let own = usize::from(more + self.facts[id.0].descriptions > 0 && state.id.contains('<'));
        if state.kind == StateKind::Composite && self.facts[id.0].descriptions + own > 1 {
            let got = format!("another one for `{}`", state.id);
            let expected = "one description at most of a composite state";
            return Err(SyntaxError::new(self.source, span, expected, got));
        }
        Ok(())
    }

    fn open(&mut self, id: StateId, body: usize, read: &Body, span: Span) {
        let facts = &mut self.facts[id.0];
        facts.bodies += 1;
        let again = facts.bodies > 1;
        let divided = !read.dividers.is_empty() && read.last_part_used;
        let mut edges = vec![read.span.start];
        edges.extend(read.dividers.iter().flat_map(|divider| [divider.start, divider.end]));
        edges.push(read.span.end);
        if divided {
            let mut regions = Vec::new();
            for ends in edges.chunks_exact(2) {
                let facts = &mut self.facts[id.0];
                facts.regions += 1;
                let region = Some(facts.regions);
                regions.push(ScopeId(self.diagram.scopes.len()));
                let span = Span::new(ends[0], ends[1]);
                self.diagram.scopes.push(Scope { owner: Some(id), region, direction: None, span });
            }
            self.diagram.states[id.0].regions.extend(&regions);
            self.scopes[body] = regions;
        } else {
            let scope = facts.undivided.unwrap_or(ScopeId(self.diagram.scopes.len()));
            facts.undivided = Some(scope);
            if scope.0 == self.diagram.scopes.len() {
                let (owner, span) = (Some(id), read.span);
                self.diagram.scopes.push(Scope { owner, region: None, direction: None, span });
                self.diagram.states[id.0].regions.push(scope);
            }
            self.scopes[body] = vec![scope];
        }
        if let (Some(divider), false) = (read.dividers.last(), divided) {
            let message = "nothing follows this divider: the state is not divided at all";
            self.warn(WarningKind::DividerIgnored, *divider, message);
        }
        if again {
            let message = format!("`{}` has a body already; both count", self.diagram.states[id.0].id);
            self.warn(WarningKind::CompositeReopened, span, message);
        }
    }

    fn declared_only(&mut self) {
        for id in std::mem::take(&mut self.declarations) {
            match self.ids.get(&id.text) {
                Some(state) => self.declare(*state, id.span, true),
                // The colon of `state A : text` has a warning already.
                None if id.text.starts_with(':') => {}
                None => {
                    let message = format!(
                        "nothing else names `{}`: Mermaid drops a `state` that says no more",
                        id.text
                    );
                    self.warn(WarningKind::DeclarationDropped, id.span, message);
                }
            }
        }
    }

    fn warn(&mut self, kind: WarningKind, span: Span, message: impl Into<String>) {
        self.diagram.warnings.push(Warning::new(kind, span, message));
    }
}
