//! A lifecycle's diagram with what a trace did to it.

use std::fmt::Write;

use super::coverage::LifecycleCoverage;
use super::event::CREATE;
use super::report::Report;
use super::rules::Rules;
use super::violation::Violation;

/// Renders the rules as a Mermaid 11 state diagram, marked with what a check found.
///
/// Labels have the number of times that an edge was taken. The classes are `visited` for states that were entered,
/// `current` for those that instances are in at the end, and `illegal` for the states of the first violation, whose edge
/// is drawn too. A state that the lifecycle lacks is drawn under a name of its own.
///
/// # Example
/// ```
/// # #[cfg(feature = "lifecycles")] {
/// use runstate::kernel::Persist;
/// use runstate::trace::{Event, Rulebook, check, to_mermaid};
///
/// let book = Rulebook::of([<runstate::tool_call::AnyToolCall as Persist>::GRAPH]);
/// let line = r#"{"seq":1,"at_ms":0,"run":"r1","lifecycle":"tool_call","instance":"c","event":"create","from":null,"to":"New"}"#;
/// let report = check(&[Event::from_json(line).unwrap()], &book);
/// let diagram = to_mermaid(book.rules("tool_call").unwrap(), Some(&report));
/// assert!(diagram.contains("\n    New --> Running : start (0)\n"));
/// assert!(diagram.contains("\n    class New current\n"));
/// # }
/// ```
pub fn to_mermaid(rules: &Rules, report: Option<&Report>) -> String {
    let covered = report.and_then(|report| report.coverage.lifecycle(rules.name()));
    let violation = report
        .and_then(|report| report.violation.as_ref())
        .filter(|violation| violation.rules() == Some(rules.name()));
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

/// The name of a state within the diagram: its own where Mermaid takes that, otherwise one made for it.
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
        // Such names are made below for those that are not plain.
        && !name.starts_with("state_")
        && !name.starts_with("illegal_")
}

/// A text that Mermaid shows as it is: what would end a label or a statement is taken out of it.
fn shown(text: &str) -> String {
    let plain = |c: char| match c {
        '"' => '\'',
        c if c.is_alphanumeric() || " '()[],.-_+*=!?/|".contains(c) => c,
        c if c.is_whitespace() => ' ',
        _ => '_',
    };
    let shown: String = text.chars().take(80).map(plain).collect();
    let shown = shown.trim();
    if shown.is_empty() {
        return "_".to_owned();
    }
    // "direction LR" would be a statement, wherever it stands.
    let hides = shown.to_ascii_lowercase().contains("direction");
    if hides { shown.replace(' ', "_") } else { shown.to_owned() }
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
    for (place, _) in rules.states.iter().enumerate().filter(|(_, state)| state.initial) {
        let count = covered.map(|covered| format!(" : {CREATE} ({})", covered.instances)).unwrap_or_default();
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

/// Draws the edge of the first violation, and gives its states.
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
        if illegal.contains(&id) {
            continue;
        }
        if state.current > 0 {
            current.push(id);
        } else if state.entered > 0 {
            visited.push(id);
        }
    }
    let mut illegal = illegal.to_vec();
    illegal.dedup();
    let classes = [
        ("visited", "fill:#d3f9d8,stroke:#2b8a3e,color:#000", visited),
        ("current", "fill:#d0ebff,stroke:#1864ab,stroke-width:3px,color:#000", current),
        ("illegal", "fill:#ffe3e3,stroke:#c92a2a,stroke-width:3px,color:#000", illegal),
    ];
    for (class, style, states) in classes {
        line(out, &format!("classDef {class} {style}"));
        if !states.is_empty() {
            line(out, &format!("class {} {class}", states.join(",")));
        }
    }
}

fn line(out: &mut String, text: &str) {
    // Writing to a string cannot fail.
    writeln!(out, "    {text}").unwrap_or_default();
}
