//! Rules from a diagram.

use std::collections::HashMap;

use super::rules::{Arrow, CompositeRule, DrawnRules, EdgeRule, Rules, Start, StateRule, place};
use crate::diagram::{self, Composite, StateGraph, event_name};

fn number(line: Option<usize>) -> Option<u32> {
    line.and_then(|line| u32::try_from(line).ok())
}

impl Rules {
    /// Makes the rules of a diagram for the events of the lifecycle `name`; `file` is the diagram's file, for
    /// messages.
    ///
    /// The names of states are their ids. A transition is bound to an event by a label
    /// `name(arguments) [guard] / action`. All parts but the name are optional, and only the event of that name takes
    /// the transition. A name begins with a letter or `_` and continues with letters, digits, `_`, `-`, `.` and `:`.
    /// A transition with any other label, or without one, is unbound. It accepts every event that does not take a
    /// bound transition between the two states. Of several unbound transitions, the transition with the event's name
    /// as its label is taken, else the first.
    ///
    /// A transition from `[*]` follows similar rules. With a name in its label, that event and `create` create an
    /// instance; with another label, every event does. Without a label `create` does, or every event if no label of
    /// the diagram is a name.
    ///
    /// # Example
    /// ```
    /// use runstate::diagram::{StateGraph, parse};
    /// use runstate::trace::Rules;
    ///
    /// let rules = |source: &str| {
    ///     let graph = StateGraph::from_diagram(&parse(source).unwrap(), "job").unwrap();
    ///     Rules::of_diagram("job", &graph, "job.mmd")
    /// };
    /// let drawn = rules("stateDiagram-v2\n[*] --> A\nA --> B : ship(order) [is paid] / print label\nB --> A : when it is lost");
    /// let held: Vec<bool> = drawn.edges().map(|edge| edge.held).collect();
    /// assert_eq!(held, [true, false]);
    /// ```
    pub fn of_diagram(name: &str, graph: &StateGraph, file: &str) -> Self {
        let mut states = States::default();
        for state in &graph.states {
            let at = states.find(&state.name);
            states.rules[at as usize].line = number(state.line);
        }
        for mark in &graph.initial {
            let at = states.find(&mark.state);
            states.rules[at as usize].initial = true;
            let event = mark.label.as_deref().unwrap_or_default();
            let held = event_name(event).map(Into::into);
            let start = Start { event: event.into(), held, line: number(mark.line) };
            states.rules[at as usize].starts.push(start);
        }
        for mark in &graph.terminal {
            let at = states.find(&mark.state);
            states.rules[at as usize].terminal = true;
        }
        let labels =
            graph.edges.iter().map(|edge| &edge.label).chain(graph.initial.iter().map(|it| &it.label));
        let names_creation = labels.flatten().any(|label| event_name(label).is_some());
        let mut edges: Vec<EdgeRule> = Vec::new();
        // Of transitions that no event distinguishes, the first is kept.
        let mut places = HashMap::new();
        let drawn = graph.drawn.as_ref().filter(|drawn| drawn.is_of(graph));
        let mut arrows = drawn.map(|drawn| Arrows::new(&drawn.arrows));
        for (at, edge) in graph.edges.iter().enumerate() {
            let (from, to) = (states.find(&edge.from), states.find(&edge.to));
            let label = edge.label.as_deref().unwrap_or_default();
            // Traces contain no guards and no actions.
            let name = event_name(label);
            let place = *places.entry((from, to, name.unwrap_or(label))).or_insert_with(|| {
                let held = name.map(Into::into);
                edges.push(EdgeRule { from, to, event: label.into(), held, line: number(edge.line) });
                edges.len() - 1
            });
            if let (Some(arrows), Some(drawn)) = (&mut arrows, drawn) {
                arrows.take(place, name.is_some(), drawn.edges.get(at).map_or(&[], Vec::as_slice));
            }
        }
        let composite = |composite: &Composite| CompositeRule {
            name: composite.name.as_str().into(),
            around: composite.inside.map(place),
            line: number(composite.line),
        };
        let composites: Vec<_> = drawn.iter().flat_map(|drawn| &drawn.composites).map(composite).collect();
        let mut around = vec![None; states.rules.len()];
        for (state, inside) in graph.states.iter().zip(drawn.iter().flat_map(|drawn| &drawn.states)) {
            around[states.find(&state.name) as usize] = inside.map(place);
        }
        let mut rules = Rules::new(name, states.rules, edges, names_creation);
        rules.drawn =
            arrows.map(|it| DrawnRules { arrows: it.arrows, of_edges: it.of_edges, composites, around });
        rules.file = Some(file.into());
        rules
    }

    /// Sets the diagram that documents these rules. Violations then point to the lines of the states and transitions
    /// that both share.
    ///
    /// # Example
    /// ```
    /// # #[cfg(feature = "lifecycles")] {
    /// use runstate::diagram::{Document, StateGraph};
    /// use runstate::trace::Rules;
    ///
    /// let document = runstate::documents().iter().find(|it| it.graph.name == "tool_call").unwrap();
    /// let diagram = Document::read(document.path, document.text).diagram(None).unwrap();
    /// let drawn = StateGraph::from_diagram(&diagram, "tool_call").unwrap();
    /// let rules = Rules::of_graph(document.graph).documented(&drawn, document.path);
    /// assert!(rules.edges().all(|edge| edge.line.is_some()));
    /// # }
    /// ```
    #[must_use]
    pub fn documented(mut self, graph: &StateGraph, file: &str) -> Self {
        self.file = Some(file.into());
        for drawn in &graph.states {
            if let Some(at) = self.find(&drawn.name) {
                self.states[at as usize].line = number(drawn.line);
            }
        }
        for drawn in &graph.edges {
            let ends = (self.find(&drawn.from), self.find(&drawn.to));
            let label = drawn.label.as_deref().unwrap_or_default();
            for edge in &mut self.edges {
                if ends == (Some(edge.from), Some(edge.to)) && *edge.event == *label {
                    edge.line = number(drawn.line);
                }
            }
        }
        self
    }
}

/// The arrows of a diagram, and their transitions. Of arrows that no event distinguishes, the first is kept.
struct Arrows {
    arrows: Vec<Arrow>,
    of_edges: Vec<Vec<u32>>,
    /// The index of the kept arrow for each arrow of the diagram.
    kept: Vec<usize>,
}

impl Arrows {
    fn new(drawn: &[diagram::Arrow]) -> Self {
        let (mut arrows, mut places) = (Vec::new(), HashMap::new());
        let mut kept = Vec::new();
        for arrow in drawn {
            let label = arrow.label.as_deref().unwrap_or_default();
            let key = (&arrow.from, &arrow.to, event_name(label).unwrap_or(label));
            kept.push(*places.entry(key).or_insert_with(|| {
                let (from, to) = (arrow.from.as_str().into(), arrow.to.as_str().into());
                arrows.push(Arrow { from, to, event: label.into(), is_held: true, line: number(arrow.line) });
                arrows.len() - 1
            }));
        }
        Arrows { arrows, of_edges: Vec::new(), kept }
    }

    /// Records the arrows of the diagram that form a transition.
    fn take(&mut self, edge: usize, is_held: bool, drawn: &[usize]) {
        if self.of_edges.len() <= edge {
            self.of_edges.resize_with(edge + 1, Vec::new);
        }
        for at in drawn.iter().filter_map(|at| self.kept.get(*at)) {
            self.arrows[*at].is_held &= is_held;
            let of_edge = &mut self.of_edges[edge];
            if !of_edge.contains(&place(*at)) {
                of_edge.push(place(*at));
            }
        }
    }
}

/// The states by name. A graph that was not read from a diagram may have transitions to unlisted states.
#[derive(Default)]
struct States {
    rules: Vec<StateRule>,
    places: HashMap<Box<str>, u32>,
}

impl States {
    fn find(&mut self, name: &str) -> u32 {
        if let Some(at) = self.places.get(name) {
            return *at;
        }
        let at = place(self.rules.len());
        self.places.insert(name.into(), at);
        self.rules.push(StateRule {
            name: name.into(),
            initial: false,
            terminal: false,
            starts: Vec::new(),
            line: None,
            out: Vec::new(),
        });
        at
    }
}
