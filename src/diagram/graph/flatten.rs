//! The conversion of a diagram into a graph without nesting.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::entity::decode;
use super::flatten_error::FlattenError;
use super::{Arrow, Composite, Drawn, GraphEdge, GraphState, Mark, StateGraph};
use crate::diagram::model::{Diagram, Endpoint, ScopeId, State, StateId, StateKind, Transition};
use crate::diagram::source::Span;

/// The maximum number of steps that choices and composite states may add to the written transitions.
const MOST_STEPS: usize = 300_000;

/// The target of a transition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Target {
    State(StateId),
    End,
}

/// A path of a transition: its target, its labels, and its arrows between states and choices.
struct Way {
    target: Target,
    label: Option<String>,
    arrows: Vec<usize>,
}

struct Flattener<'d> {
    diagram: &'d Diagram,
    /// The composite states that are entered and have no inner start: each is a state of the graph.
    own: HashSet<StateId>,
    /// The drawn transitions of each transition of the graph.
    made_of: Vec<Vec<usize>>,
    /// The written outgoing transitions of each state.
    leaving: HashMap<StateId, Vec<usize>>,
    /// The transitions from the start and to the end of each scope.
    starts: HashMap<ScopeId, Vec<usize>>,
    ends: HashMap<ScopeId, Vec<usize>>,
    /// The direct inner states of each state.
    children: HashMap<StateId, Vec<StateId>>,
    graph: StateGraph,
    initial: HashSet<(StateId, Option<String>)>,
    terminal: HashSet<StateId>,
    steps: usize,
    most: usize,
}

pub(super) fn flatten(diagram: &Diagram, name: &str) -> Result<StateGraph, FlattenError> {
    let mut this = Flattener {
        diagram,
        own: HashSet::new(),
        made_of: Vec::new(),
        leaving: HashMap::new(),
        starts: HashMap::new(),
        ends: HashMap::new(),
        children: HashMap::new(),
        graph: StateGraph::default(),
        initial: HashSet::new(),
        terminal: HashSet::new(),
        steps: 0,
        most: MOST_STEPS + 4 * diagram.transitions.len(),
    };
    this.graph.name = diagram.title.as_ref().map_or_else(|| name.to_owned(), |title| title.text.clone());
    this.graph.warnings = diagram.warnings.iter().map(ToString::to_string).collect();
    this.index()?;
    this.own();
    this.states()?;
    for at in 0..diagram.transitions.len() {
        this.transition(at)?;
    }
    this.graph.drawn = this.drawn();
    Ok(this.graph)
}

impl Flattener<'_> {
    fn error(&self, span: Span, message: String) -> FlattenError {
        FlattenError { line: self.diagram.line(span), span, message }
    }

    fn warn(&mut self, span: Span, message: &str) {
        self.graph.warnings.push(format!("line {}: {message}", self.diagram.line(span)));
    }

    /// Counts work, so that a small diagram cannot produce a huge graph.
    fn step(&mut self, steps: usize, span: Span) -> Result<(), FlattenError> {
        self.steps += steps;
        if self.steps > self.most {
            let most = self.most;
            let message = format!(
                "choices and composite states multiply into too many transitions: expected at most {most} steps to all of them, got more; \
                 let fewer transitions lead into one choice or out of one composite state, or make several diagrams of it"
            );
            return Err(self.error(span, message));
        }
        Ok(())
    }

    fn index(&mut self) -> Result<(), FlattenError> {
        for (at, transition) in self.diagram.transitions.iter().enumerate() {
            match transition.from {
                Endpoint::State(id) => self.leaving.entry(id).or_default().push(at),
                Endpoint::Start(scope) | Endpoint::End(scope) => {
                    self.starts.entry(scope).or_default().push(at)
                }
            }
            if let Endpoint::End(scope) = transition.to {
                self.ends.entry(scope).or_default().push(at);
            }
        }
        for (at, state) in self.diagram.states.iter().enumerate() {
            match state.kind {
                StateKind::Fork => {
                    return Err(self.error(
                        state.span,
                        format!("the fork `{}` leads to several states at once", state.id),
                    ));
                }
                StateKind::Join => {
                    return Err(self.error(
                        state.span,
                        format!("the join `{}` waits for several states at once", state.id),
                    ));
                }
                StateKind::Composite if state.regions.len() > 1 => {
                    let span = self.diagram[state.regions[1]].span;
                    let message =
                        format!("`{}` is in the states of {} regions at once", state.id, state.regions.len());
                    return Err(self.error(Span::new(span.start.saturating_sub(1), span.start), message));
                }
                _ => {}
            }
            if let Some(owner) = self.diagram[state.scope].owner {
                self.children.entry(owner).or_default().push(StateId(at));
            }
        }
        self.circles()
    }

    /// Refuses a state inside of itself.
    fn circles(&self) -> Result<(), FlattenError> {
        // Each state is unvisited, on the current path upwards, or known to reach the root.
        let mut seen = vec![0_u8; self.diagram.states.len()];
        for start in 0..seen.len() {
            let mut way = Vec::new();
            let mut at = Some(StateId(start));
            while let Some(id) = at {
                match seen[id.0] {
                    2 => break,
                    1 => {
                        let state = &self.diagram[id];
                        return Err(self.error(state.span, format!("`{}` is inside of itself", state.id)));
                    }
                    _ => seen[id.0] = 1,
                }
                way.push(id);
                at = self.diagram[self.diagram[id].scope].owner;
            }
            way.iter().for_each(|id| seen[id.0] = 2);
        }
        Ok(())
    }

    /// Finds the composite states that a transition enters and that have no inner start.
    fn own(&mut self) {
        for transition in &self.diagram.transitions {
            let Endpoint::State(id) = transition.to else { continue };
            let starts = || self.diagram[id].regions.iter().any(|scope| self.starts.contains_key(scope));
            if self.diagram[id].kind == StateKind::Composite && !self.is_leaf(id) && !starts() {
                let is_new = self.own.insert(id);
                if is_new {
                    let message = format!(
                        "`{}` is entered and has no `[*] -->` inside: it is a state of its own, and the states inside are entered by their own transitions alone",
                        self.diagram[id].id
                    );
                    self.warn(transition.span, &message);
                }
            }
        }
    }

    /// Returns whether the state has no content.
    fn is_leaf(&self, id: StateId) -> bool {
        match self.diagram[id].kind {
            StateKind::Simple => true,
            StateKind::Composite => !self.children.contains_key(&id),
            StateKind::Choice | StateKind::Fork | StateKind::Join => false,
        }
    }

    /// Returns whether the state is a state of the graph.
    fn is_plain(&self, id: StateId) -> bool {
        self.is_leaf(id) || self.own.contains(&id)
    }

    fn states(&mut self) -> Result<(), FlattenError> {
        let mut names: HashMap<String, Span> = HashMap::new();
        for (at, state) in self.diagram.states.iter().enumerate() {
            if !self.is_plain(StateId(at)) {
                continue;
            }
            let name = decode(&state.id);
            if name.is_empty() {
                return Err(self.error(state.span, "a state needs a name".to_owned()));
            }
            if let Some(first) = names.insert(name.clone(), state.span) {
                let line = self.diagram.line(first);
                return Err(
                    self.error(state.span, format!("`{name}` is the name of a state in line {line} too"))
                );
            }
            let texts: Vec<String> = state.descriptions.iter().map(|text| decode(&text.text)).collect();
            let description = (!texts.is_empty()).then(|| texts.join("\n"));
            let line = Some(self.diagram.line(state.span));
            self.graph.states.push(GraphState { name, description, line });
        }
        Ok(())
    }

    fn transition(&mut self, at: usize) -> Result<(), FlattenError> {
        let transition = &self.diagram.transitions[at];
        let line = Some(self.diagram.line(transition.span));
        let sources = match transition.from {
            Endpoint::State(id) if self.diagram[id].kind == StateKind::Choice => return Ok(()),
            Endpoint::State(id) => self.sources(id, transition)?,
            Endpoint::Start(ScopeId::ROOT) | Endpoint::End(ScopeId::ROOT) => {
                for way in self.targets(at)? {
                    match way.target {
                        Target::State(id) => self.mark_initial(id, way.label, line),
                        Target::End => {
                            self.warn(transition.span, "a run that ends as it starts is not in the graph")
                        }
                    }
                }
                return Ok(());
            }
            Endpoint::Start(_) | Endpoint::End(_) => return Ok(()),
        };
        if let Endpoint::End(scope) = transition.to
            && scope != ScopeId::ROOT
        {
            return self.inner_end(scope, transition);
        }
        let mut is_lost = false;
        for way in self.targets(at)? {
            for (source, first) in &sources {
                self.step(way.arrows.len(), transition.span)?;
                match way.target {
                    Target::End => {
                        is_lost |= way.label.is_some();
                        self.mark_terminal(*source, line);
                    }
                    Target::State(id) => {
                        let label = join(first.as_deref(), way.label.as_deref());
                        let from = decode(&self.diagram[*source].id);
                        let to = decode(&self.diagram[id].id);
                        self.graph.edges.push(GraphEdge { from, to, label, line });
                        self.made_of.push(way.arrows.clone());
                    }
                }
            }
        }
        if is_lost {
            self.warn(transition.span, "the label of a transition to `[*]` is not in the graph");
        }
        Ok(())
    }

    /// The source states of a transition, each with a label that precedes the transition's own label.
    fn sources(
        &mut self,
        id: StateId,
        transition: &Transition,
    ) -> Result<Vec<(StateId, Option<String>)>, FlattenError> {
        if self.is_leaf(id) {
            return Ok(vec![(id, None)]);
        }
        let mut found = Vec::new();
        if transition.label.is_none() {
            let mut work: Vec<(StateId, Option<String>)> = vec![(id, None)];
            while let Some((state, label)) = work.pop() {
                let scopes = &self.diagram[state].regions;
                let ends = scopes.iter().filter_map(|scope| self.ends.get(scope)).flatten();
                let before = found.len() + work.len();
                for end in ends {
                    let inner = &self.diagram.transitions[*end];
                    let Endpoint::State(from) = inner.from else { continue };
                    let own = inner.label.as_ref().map(|label| decode(&label.text));
                    let label = join(own.as_deref(), label.as_deref());
                    match self.diagram[from].kind {
                        StateKind::Choice => {
                            let message = format!(
                                "the choice `{}` ends `{}`",
                                self.diagram[from].id, self.diagram[state].id
                            );
                            return Err(self.error(inner.span, message));
                        }
                        StateKind::Composite
                            if !self.is_leaf(from) && inner.label.is_none() && from != state =>
                        {
                            work.push((from, label));
                        }
                        _ => found.extend(self.inside(from).into_iter().map(|leaf| (leaf, label.clone()))),
                    }
                }
                if found.len() + work.len() == before {
                    found.extend(self.inside(state).into_iter().map(|leaf| (leaf, label.clone())));
                } else if self.own.contains(&state) {
                    found.push((state, label));
                }
                self.step(found.len() + work.len(), transition.span)?;
            }
        } else {
            found.extend(self.inside(id).into_iter().map(|leaf| (leaf, None)));
        }
        found.sort_by_key(|(leaf, _)| *leaf);
        found.dedup();
        Ok(found)
    }

    /// The graph states inside of a state, and the state itself if it is one.
    fn inside(&self, id: StateId) -> Vec<StateId> {
        let mut leaves = Vec::new();
        let mut work = vec![id];
        while let Some(id) = work.pop() {
            if self.is_plain(id) {
                leaves.push(id);
            }
            if let Some(children) = self.children.get(&id) {
                work.extend(children);
            }
        }
        leaves.sort_unstable();
        leaves
    }

    /// The target states of a transition, each with the labels and the arrows of its path.
    fn targets(&mut self, at: usize) -> Result<Vec<Way>, FlattenError> {
        let transition = &self.diagram.transitions[at];
        let label = transition.label.as_ref().map(|label| decode(&label.text));
        let mut found = Vec::new();
        // Each entry has its path, which is as long as its sequence of choices and starts.
        let mut work = vec![(transition.to, label, Vec::new(), vec![at])];
        while let Some((end, label, way, arrows)) = work.pop() {
            self.step(1 + way.len(), transition.span)?;
            let id = match end {
                Endpoint::End(_) | Endpoint::Start(_) => {
                    found.push(Way { target: Target::End, label, arrows });
                    continue;
                }
                Endpoint::State(id) => id,
            };
            if self.is_plain(id) {
                found.push(Way { target: Target::State(id), label, arrows });
                continue;
            }
            let state = &self.diagram[id];
            if way.contains(&id) {
                return Err(
                    self.error(state.span, format!("the way on from `{}` leads back to it", state.id))
                );
            }
            let on: Vec<usize> = if state.kind == StateKind::Choice {
                self.leaving.get(&id).cloned().unwrap_or_default()
            } else {
                state.regions.iter().filter_map(|scope| self.starts.get(scope)).flatten().copied().collect()
            };
            if on.is_empty() {
                return Err(self.error(state.span, format!("the choice `{}` has no way out", state.id)));
            }
            let mut way = way;
            way.push(id);
            for place in on.iter().rev() {
                let next = &self.diagram.transitions[*place];
                if let Endpoint::End(scope) = next.to
                    && scope != ScopeId::ROOT
                {
                    let message = format!("a way through `{}` ends inside of a composite state", state.id);
                    return Err(self.error(next.span, message));
                }
                let own = next.label.as_ref().map(|label| decode(&label.text));
                let mut arrows = arrows.clone();
                if matches!(next.from, Endpoint::State(_)) {
                    arrows.push(*place);
                }
                work.push((next.to, join(label.as_deref(), own.as_deref()), way.clone(), arrows));
            }
        }
        Ok(found)
    }

    /// Handles `A --> [*]` inside of a composite state. The completion of the composite state continues it elsewhere.
    fn inner_end(&mut self, scope: ScopeId, transition: &Transition) -> Result<(), FlattenError> {
        let mut owner = self.diagram[scope].owner;
        while let Some(id) = owner {
            self.step(1, transition.span)?;
            let ways = self.leaving.get(&id).map_or(&[][..], Vec::as_slice);
            let completions =
                || ways.iter().map(|at| &self.diagram.transitions[*at]).filter(|way| way.label.is_none());
            if completions().next().is_some() {
                return Ok(());
            }
            owner = self.diagram[self.diagram[id].scope].owner;
        }
        self.warn(
            transition.span,
            "this end leads nowhere: no state around it has a transition without a label",
        );
        Ok(())
    }

    /// Returns the drawn form of the graph, where it differs from the graph.
    fn drawn(&mut self) -> Option<Drawn> {
        let is_nested = |state: &State| match state.kind {
            StateKind::Choice => true,
            StateKind::Composite => !state.regions.is_empty(),
            _ => false,
        };
        if !self.diagram.states.iter().any(is_nested) {
            return None;
        }
        let mut drawn = Drawn { edges: std::mem::take(&mut self.made_of), ..Drawn::default() };
        let used = BTreeSet::from_iter(drawn.edges.iter().flatten().copied());
        let used = Vec::from_iter(used);
        let name = |end: Endpoint| match end {
            Endpoint::State(id) => decode(&self.diagram[id].id),
            Endpoint::Start(_) | Endpoint::End(_) => "[*]".to_owned(),
        };
        for at in &used {
            let transition = &self.diagram.transitions[*at];
            drawn.arrows.push(Arrow {
                from: name(transition.from),
                to: name(transition.to),
                label: transition.label.as_ref().map(|label| decode(&label.text)),
                line: Some(self.diagram.line(transition.span)),
            });
        }
        for arrow in drawn.edges.iter_mut().flatten() {
            *arrow = used.partition_point(|at| at < arrow);
        }
        let is_composite = |id: StateId| self.diagram[id].kind == StateKind::Composite && !self.is_leaf(id);
        let composites =
            Vec::from_iter((0..self.diagram.states.len()).map(StateId).filter(|id| is_composite(*id)));
        let around = |id: StateId| {
            let owner = self.diagram[self.diagram[id].scope].owner?;
            composites.binary_search(&owner).ok()
        };
        for id in &composites {
            let state = &self.diagram[*id];
            let line = Some(self.diagram.line(state.span));
            drawn.composites.push(Composite { name: decode(&state.id), inside: around(*id), line });
        }
        let plain = (0..self.diagram.states.len()).map(StateId).filter(|id| self.is_plain(*id));
        drawn.states = plain.map(|id| composites.binary_search(&id).ok().or_else(|| around(id))).collect();
        Some(drawn)
    }

    /// Marks an initial state. Transitions with several labels may start in one state.
    fn mark_initial(&mut self, id: StateId, label: Option<String>, line: Option<usize>) {
        if self.initial.insert((id, label.clone())) {
            self.graph.initial.push(Mark { state: decode(&self.diagram[id].id), label, line });
        }
    }

    fn mark_terminal(&mut self, id: StateId, line: Option<usize>) {
        if self.terminal.insert(id) {
            self.graph.terminal.push(Mark { state: decode(&self.diagram[id].id), label: None, line });
        }
    }
}

/// Joins `x` and `y` to `x [y]`; a single label is unchanged. Unbalanced brackets of `y` become round ones, so that
/// the guard ends at its own bracket.
fn join(first: Option<&str>, second: Option<&str>) -> Option<String> {
    let depth = |depth: usize, c| match c {
        '[' => Some(depth + 1),
        ']' => depth.checked_sub(1),
        _ => Some(depth),
    };
    match (first, second) {
        (Some(first), Some(second)) if second.chars().try_fold(0, depth) == Some(0) => {
            Some(format!("{first} [{second}]"))
        }
        (Some(first), Some(second)) => {
            Some(format!("{first} [{}]", second.replace('[', "(").replace(']', ")")))
        }
        (one, other) => one.or(other).map(str::to_owned),
    }
}
