//! The diagram of a lifecycle with the results of a check.

use std::collections::HashMap;
use std::fmt::Write;

use super::coverage::{LifecycleCoverage, StateCount};
use super::event::{CREATE, Plain};
use super::report::{Report, count};
use super::rules::Rules;
use super::violation::Violation;
use crate::diagram::{Diagram, decode, encode_text, parse};

/// Renders the rules as a Mermaid 11 state diagram, with the results of a check.
///
/// Labels show the number of times that a transition was taken. The class `visited` marks entered states, `current`
/// marks the states of instances at the end, and `illegal` marks the states of the first violation by their borders, beside
/// one of the other classes. The diagram also draws the violating transition. A state that the lifecycle lacks has a generated
/// id, and a name of at most 80 characters without its middle.
///
/// # Example
/// ```
/// # #[cfg(feature = "lifecycles")] {
/// use runstate::kernel::Stateful;
/// use runstate::trace::{Event, Rulebook, check, to_mermaid};
///
/// let book = Rulebook::of([<runstate::tool_call::AnyToolCall as Stateful>::GRAPH]);
/// let line = r#"{"seq":1,"at_ms":0,"run":"r1","lifecycle":"tool_call","instance":"c","event":"create","from":null,"to":"New"}"#;
/// let report = check(&[Event::from_json(line).unwrap()], &book);
/// let diagram = to_mermaid(book.rules("tool_call").unwrap(), Some(&report));
/// assert!(diagram.contains("\n    New --> Running : start (0)\n"));
/// assert!(diagram.contains("\n    class New current\n"));
/// # }
/// ```
pub fn to_mermaid(rules: &Rules, report: Option<&Report>) -> String {
    let covered = report.and_then(|report| report.coverage.lifecycle(rules.name()));
    let violation = report.and_then(|report| report.first_of(rules.name()));
    let mut out = String::from("stateDiagram-v2\n");
    declare(&mut out, rules);
    draw(&mut out, rules, covered);
    let mut illegal = Vec::new();
    if let Some(violation) = violation {
        illegal = draw_violation(&mut out, rules, violation);
    }
    if let Some(covered) = covered {
        paint(&mut out, rules, covered, &illegal);
    }
    out
}

/// Adds the results of a check to the text of a diagram. The text stays, and classes are appended.
///
/// The classes are `trace_visited`, `trace_current` and `trace_illegal`, for the states that [`to_mermaid`] marks.
/// `source` must be exactly the text that `diagram` was read from. Comments give the count of each transition. A
/// state that the diagram lacks has a generated name. A state with an id that Mermaid only accepts in a declaration
/// has no class. For a source that ends inside a statement, such as `accTitle:`, the function returns the output of
/// [`to_mermaid`].
///
/// # Example
/// ```
/// use runstate::diagram::{StateGraph, parse};
/// use runstate::trace::{Event, Rulebook, Rules, check, mark_mermaid};
///
/// let source = "stateDiagram-v2\n    direction LR\n    [*] --> Idle\n    Idle --> Busy : begin > now\n";
/// let diagram = parse(source).unwrap();
/// let graph = StateGraph::from_diagram(&diagram, "job").unwrap();
/// let book = Rulebook::for_all(Rules::of_diagram("job", &graph, "job.mmd"));
/// let line = r#"{"seq":1,"at_ms":0,"run":"r1","lifecycle":"job","instance":"j","event":"create","from":null,"to":"Idle"}"#;
/// let report = check(&[Event::from_json(line).unwrap()], &book);
/// let marked = mark_mermaid(source, &diagram, book.rules("job").unwrap(), &report);
/// assert!(marked.starts_with(source));
/// assert!(marked.contains("    class Idle trace_current\n    %% 0 times: Idle --> Busy : begin > now\n"));
/// ```
pub fn mark_mermaid(source: &str, diagram: &Diagram, rules: &Rules, report: &Report) -> String {
    let mut out = source.trim_end().to_owned();
    out.push('\n');
    // The state by its name; none for a name that a statement cannot use.
    let ids: HashMap<String, &str> = diagram
        .states
        .iter()
        .filter(|state| is_mentionable(&state.id))
        .map(|state| (decode(&state.id), state.id.as_str()))
        .collect();
    let violation = report.first_of(rules.name());
    let mut illegal: Vec<String> = Vec::new();
    if let Some(violation) = violation {
        for name in violation.from.iter().chain([&violation.to]) {
            if let Some(id) = ids.get(name) {
                illegal.push((*id).to_owned());
            } else if diagram.states.iter().all(|state| decode(&state.id) != *name) {
                let id = unused(&format!("trace_stranger_{}", illegal.len() + 1), source);
                line(&mut out, &format!("state \"{}\" as {id}", shown(name)));
                illegal.push(id);
            }
        }
        illegal.dedup();
    }
    for (class, style) in CLASSES {
        line(&mut out, &format!("classDef trace_{class} {style}"));
    }
    let covered = report.coverage.lifecycle(rules.name());
    let is_state = |state: &&StateCount| rules.find(&state.state).is_some();
    for state in covered.map_or(&[][..], |covered| &covered.states).iter().filter(is_state) {
        let class = if state.current > 0 { "current" } else { "visited" };
        match ids.get(&state.state) {
            Some(id) if state.entered > 0 => line(&mut out, &classed(id, class)),
            _ => {}
        }
    }
    illegal.iter().for_each(|id| line(&mut out, &classed(id, "illegal")));
    for edge in covered.map_or(&[][..], |covered| &covered.edges) {
        line(&mut out, &format!("%% {}: {edge}", count(edge.taken, "time")));
    }
    if let Some(violation) = violation {
        line(&mut out, &format!("%% trace line {}: {}", violation.line, Plain(&violation.reason())));
    }
    // A source that ends inside a statement absorbs the first appended line.
    let has_classes = |read: Diagram| read.class_defs.len() == diagram.class_defs.len() + CLASSES.len();
    if parse(&out).is_ok_and(has_classes) { out } else { to_mermaid(rules, Some(report)) }
}

/// The statement that gives a state a class. Mermaid draws the class of `A:::b` in a transition alone, and `class` takes
/// only ids of letters, digits and `_`.
fn classed(id: &str, class: &str) -> String {
    if id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
        format!("class {id} trace_{class}")
    } else {
        format!("{id}:::trace_{class}")
    }
}

/// Returns whether a statement can use this state id. Declarations accept more ids than other statements.
fn is_mentionable(id: &str) -> bool {
    parse(&format!("stateDiagram-v2\n{id}:::a\n"))
        .is_ok_and(|read| matches!(read.states.as_slice(), [one] if one.id == id && one.classes.len() == 1))
}

/// The classes of states, with their styles.
const CLASSES: [(&str, &str); 3] = [
    ("visited", "fill:#d3f9d8,stroke:#2b8a3e,color:#000"),
    ("current", "fill:#d0ebff,stroke:#1864ab,stroke-width:3px,color:#000"),
    // A border alone: the fill is that of the other class.
    ("illegal", "stroke:#c92a2a,stroke-width:5px"),
];

/// The id with `_` behind it, until the source does not have it.
fn unused(id: &str, source: &str) -> String {
    let mut id = id.to_owned();
    while source.contains(&id) {
        id.push('_');
    }
    id
}

/// The id of a state within the diagram: its name where Mermaid accepts it, else a generated id.
fn id(rules: &Rules, place: usize) -> String {
    let name = &rules.states[place].name;
    if is_plain(name) { name.to_string() } else { format!("state_{place}") }
}

fn is_plain(name: &str) -> bool {
    const WORDS: [&str; 18] = [
        "state",
        "note",
        "direction",
        "class",
        "classdef",
        "style",
        "end",
        "default",
        "root",
        "root_start",
        "root_end",
        "scale",
        "as",
        "click",
        "href",
        "statediagram",
        "acctitle",
        "accdescr",
    ];
    name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        && !WORDS.iter().any(|word| word.eq_ignore_ascii_case(name))
        // Generated ids have this prefix.
        && !name.starts_with("state_")
        && !name.starts_with("illegal_")
}

/// A text that Mermaid shows literally. Characters that would end a label or a statement become entities, and a long text
/// loses its middle.
fn shown(text: &str) -> String {
    const MOST: usize = 80;
    const TAIL: usize = 24;
    let cut = text.chars().nth(MOST).map(|_| {
        let head: String = text.chars().take(MOST - TAIL - 1).collect();
        let tail = text.char_indices().nth_back(TAIL - 1).map_or(0, |(at, _)| at);
        format!("{head}…{}", &text[tail..])
    });
    let shown = cut.as_deref().unwrap_or(text).trim();
    if shown.is_empty() { "_".to_owned() } else { encode_text(shown).replace("#8230;", "…") }
}

fn declare(out: &mut String, rules: &Rules) {
    for (place, state) in rules.states.iter().enumerate() {
        let id = id(rules, place);
        if *id == *state.name {
            line(out, &id);
        } else {
            line(out, &format!("state \"{}\" as {id}", shown(&state.name)));
        }
    }
}

fn draw(out: &mut String, rules: &Rules, covered: Option<&LifecycleCoverage>) {
    for (place, state) in rules.states.iter().enumerate().filter(|(_, state)| state.initial) {
        let created = covered.map(|covered| covered.created_in(&state.name));
        let count = created.map(|created| format!(" : {CREATE} ({created})")).unwrap_or_default();
        line(out, &format!("[*] --> {}{count}", id(rules, place)));
    }
    for edge in &rules.edges {
        let shape = rules.show(edge);
        let taken = covered.map(|covered| covered.taken_of(shape.from, shape.event, shape.to));
        let ends = format!("{} --> {}", id(rules, edge.from as usize), id(rules, edge.to as usize));
        let event = shown(&edge.event);
        line(
            out,
            &match (taken, edge.event.is_empty()) {
                (None, true) => ends,
                (None, false) => format!("{ends} : {event}"),
                (Some(taken), true) => format!("{ends} : ({taken})"),
                (Some(taken), false) => format!("{ends} : {event} ({taken})"),
            },
        );
    }
    for (place, _) in rules.states.iter().enumerate().filter(|(_, state)| state.terminal) {
        line(out, &format!("{} --> [*]", id(rules, place)));
    }
}

/// Draws the transition of the first violation, and returns its states.
fn draw_violation(out: &mut String, rules: &Rules, violation: &Violation) -> Vec<String> {
    let mut strangers = 0;
    let mut end = |out: &mut String, name: &str| match rules.find(name) {
        Some(place) => id(rules, place as usize),
        None => {
            strangers += 1;
            let id = format!("illegal_{strangers}");
            line(out, &format!("state \"{}\" as {id}", shown(name)));
            id
        }
    };
    let from = violation.from.as_deref().map(|from| end(out, from));
    let to = if violation.from.as_deref() == Some(&violation.to) {
        from.clone().unwrap_or_default()
    } else {
        end(out, &violation.to)
    };
    line(
        out,
        &format!("{} --> {to} : illegal, trace line {}", from.as_deref().unwrap_or("[*]"), violation.line),
    );
    from.into_iter().chain([to]).collect()
}

fn paint(out: &mut String, rules: &Rules, covered: &LifecycleCoverage, illegal: &[String]) {
    let (mut visited, mut current) = (Vec::new(), Vec::new());
    for state in &covered.states {
        let Some(place) = rules.find(&state.state) else { continue };
        let id = id(rules, place as usize);
        if state.current > 0 {
            current.push(id);
        } else if state.entered > 0 {
            visited.push(id);
        }
    }
    let mut illegal = illegal.to_vec();
    illegal.dedup();
    for ((class, style), states) in CLASSES.into_iter().zip([visited, current, illegal]) {
        line(out, &format!("classDef {class} {style}"));
        if !states.is_empty() {
            line(out, &format!("class {} {class}", states.join(",")));
        }
    }
}

fn line(out: &mut String, text: &str) {
    // A write to a string cannot fail.
    writeln!(out, "    {text}").unwrap_or_default();
}
