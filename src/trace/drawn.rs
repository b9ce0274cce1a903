//! Rules taken from a diagram.

use std::collections::HashMap;

use super::rules::{EdgeRule, Rules, StateRule, place};
use crate::diagram::StateGraph;

/// Is the label the name of an event, rather than a remark?
fn is_event_name(label: &str) -> bool {
    label.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && label.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-')
}

fn number(line: Option<usize>) -> Option<u32> {
    line.and_then(|line| u32::try_from(line).ok())
}

impl Rules {
    /// The rules that a diagram draws, for the events of the lifecycle `name`; `file` is the diagram's, for messages.
    ///
    /// The names of states are their ids. Events are held against labels when the diagram has labels and each is a
    /// single identifier, such as `suspend` or `time-out`; then an edge without a label takes any event. Otherwise
    /// labels are remarks, and only the states count: `A --> B : user answers` and `A --> B : timer` are one edge.
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
    /// assert!(rules("stateDiagram-v2\n[*] --> A\nA --> B : go_on").checks_events());
    /// assert!(!rules("stateDiagram-v2\n[*] --> A\nA --> B : when it is ready").checks_events());
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
        }
        for mark in &graph.terminal {
            let at = states.find(&mark.state);
            states.rules[at as usize].terminal = true;
        }
        let mut labels = graph.edges.iter().filter_map(|edge| edge.label.as_deref()).peekable();
        let by_event = labels.peek().is_some() && labels.all(is_event_name);
        let mut edges: Vec<EdgeRule> = Vec::new();
        // Of edges that tell the same the first is kept.
        let mut drawn = HashMap::new();
        for edge in &graph.edges {
            let (from, to) = (states.find(&edge.from), states.find(&edge.to));
            let label = edge.label.as_deref().unwrap_or_default();
            let told = if by_event { label } else { "" };
            drawn.entry((from, to, told)).or_insert_with(|| {
                edges.push(EdgeRule { from, to, event: label.into(), line: number(edge.line) });
            });
        }
        let mut rules = Rules::new(name, states.rules, edges, by_event);
        rules.file = Some(file.into());
        rules
    }

    /// The same, where violations point into the diagram that documents these rules: to the lines of the states and edges
    /// that it shares with them.
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

    /// The same, where only states count and events may have any name.
    #[must_use]
    pub fn by_states_alone(mut self) -> Self {
        self.by_event = false;
        self
    }
}

/// States by name: a graph that was not read from a diagram may have edges to states that it does not list.
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
            line: None,
            out: Vec::new(),
        });
        at
    }
}
