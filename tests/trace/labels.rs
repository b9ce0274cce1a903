//! Drawn labels of every kind, and traces over them, beside a second judge of a few lines.

use std::fmt::Write;

use proptest::prelude::*;
use runstate::diagram::{StateGraph, parse};
use runstate::trace::{Event, Rulebook, Rules, check};

use super::event;

/// A drawn arrow. The label is written as it is drawn; `name` is the event that it names.
#[derive(Debug, Clone)]
struct Arrow {
    from: usize,
    to: usize,
    label: &'static str,
    name: Option<&'static str>,
}

const LABELS: &[(&str, Option<&str>)] = &[
    ("go", Some("go")),
    ("go [fast]", Some("go")),
    ("stop(now) / log", Some("stop")),
    ("order.paid", Some("order.paid")),
    ("user:click [a (b)] / c [d]", Some("user:click")),
    ("when it is ready", None),
    ("after 2 days", None),
    ("go, then stop", None),
    ("", None),
];

const EVENTS: &[&str] =
    &["go", "stop", "order.paid", "user:click", "when it is ready", "teleport", "go [fast]", "create", ""];

fn arrow(states: usize) -> impl Strategy<Value = Arrow> {
    (0..states, 0..states, prop::sample::select(LABELS)).prop_map(|(from, to, (label, name))| Arrow {
        from,
        to,
        label,
        name,
    })
}

fn diagram(states: usize, arrows: &[Arrow]) -> String {
    let mut text = "stateDiagram-v2\n[*] --> S0\n".to_owned();
    (1..states).for_each(|state| writeln!(text, "state S{state}").unwrap());
    for Arrow { from, to, label, .. } in arrows {
        let label = if label.is_empty() { String::new() } else { format!(" : {label}") };
        writeln!(text, "S{from} --> S{to}{label}").unwrap();
    }
    text
}

/// The arrow that an event takes: one that names it, one that says the same, or else the first that any event takes.
fn taken<'a>(arrows: &'a [Arrow], from: usize, name: &str, to: usize) -> Option<&'a Arrow> {
    let between = || arrows.iter().filter(|arrow| (arrow.from, arrow.to) == (from, to));
    between()
        .find(|arrow| arrow.name.unwrap_or(arrow.label) == name)
        .or_else(|| between().find(|arrow| arrow.name.is_none()))
}

proptest! {
    #[test]
    fn an_event_is_accepted_if_it_is_drawn_and_then_counted_once(
        (states, arrows) in (2..5_usize).prop_flat_map(|states| {
            (Just(states), prop::collection::vec(arrow(states), 1..8))
        }),
        steps in prop::collection::vec((0..12_usize, prop::sample::select(EVENTS), 0..5_usize), 0..20),
    ) {
        let source = diagram(states, &arrows);
        let graph = StateGraph::from_diagram(&parse(&source).unwrap(), "job").unwrap();
        let rules = Rules::of_diagram("job", &graph, "job.mmd");
        let book = Rulebook::for_all(rules);
        let (mut at, mut drawn) = (0, Vec::new());
        let mut events: Vec<Event<'static>> = vec![event(1, "a", "create", None, "S0").into_owned()];
        for (way, stray, anywhere) in steps {
            let out: Vec<&Arrow> = arrows.iter().filter(|arrow| arrow.from == at).collect();
            // Mostly along an arrow, sometimes by another event or to another state.
            let (name, to) = match out.get(way) {
                Some(arrow) if way % 3 == 0 => (stray, arrow.to),
                Some(arrow) => (arrow.name.unwrap_or("whatever"), arrow.to),
                None => (stray, anywhere % states),
            };
            let seq = events.len() as u64 + 1;
            let (from, into) = (format!("S{at}"), format!("S{to}"));
            let next = event(seq, "a", name, Some(&from), &into).into_owned();
            let before = check(&events, &book);
            events.push(next);
            let after = check(&events, &book);
            let expected = taken(&arrows, at, name, to);
            let is_accepted = after.violations == before.violations;
            prop_assert_eq!(is_accepted, expected.is_some(), "{} --> {} : {}\n{}", from, into, name, source);
            if let Some(arrow) = expected {
                drawn.push((arrow.from, arrow.to, arrow.name.unwrap_or(arrow.label)));
                at = to;
            } else {
                // What follows a violation may follow from it.
                events.pop();
            }
        }
        let coverage = check(&events, &book).coverage;
        let covered = coverage.lifecycle("job").unwrap();
        for edge in &covered.edges {
            let ends = |text: &str| text[1..].parse::<usize>().unwrap();
            let label = LABELS.iter().find(|(label, _)| *label == edge.event).unwrap();
            let of = (ends(&edge.from), ends(&edge.to), label.1.unwrap_or(label.0));
            let count = drawn.iter().filter(|it| **it == of).count() as u64;
            prop_assert_eq!(edge.taken, count, "{:?}\n{}", edge, source);
            prop_assert_eq!(edge.held, label.1.is_some());
        }
        // Each arrow that an event can tell from the others is one to cover.
        let mut apart: Vec<_> =
            arrows.iter().map(|arrow| (arrow.from, arrow.to, arrow.name.unwrap_or(arrow.label))).collect();
        apart.sort_unstable();
        apart.dedup();
        prop_assert_eq!(covered.edges.len(), apart.len());
    }

    #[test]
    fn a_creation_is_accepted_if_it_is_drawn(
        arrows in prop::collection::vec(arrow(3), 0..3),
        starts in prop::collection::vec((0..3_usize, prop::sample::select(LABELS)), 0..4),
        to in 0..3_usize,
        name in prop::sample::select(EVENTS),
        ends in any::<bool>(),
    ) {
        // A state is one where a transition names it.
        let mut source = diagram(3, &arrows).replace("[*] --> S0\n", "S0 --> S1\nS1 --> S2\n");
        for (to, (label, _)) in &starts {
            let label = if label.is_empty() { String::new() } else { format!(" : {label}") };
            writeln!(source, "[*] --> S{to}{label}").unwrap();
        }
        if ends {
            writeln!(source, "S{to} --> [*]").unwrap();
        }
        let graph = StateGraph::from_diagram(&parse(&source).unwrap(), "job").unwrap();
        let book = Rulebook::for_all(Rules::of_diagram("job", &graph, "job.mmd"));
        let report = check(&[event(1, "a", name, None, &format!("S{to}"))], &book);
        let names_any = arrows.iter().any(|arrow| arrow.name.is_some()) || starts.iter().any(|(_, label)| label.1.is_some());
        let is_drawn = |label: &(&str, Option<&str>)| match label {
            ("", _) => name == "create" || !names_any,
            (_, named) => name == "create" || named.is_none_or(|named| named == name),
        };
        // Without a start an instance begins anywhere, as by one without a label.
        let own: Vec<_> = starts.iter().filter(|start| start.0 == to).map(|start| start.1).collect();
        let expected = if starts.is_empty() { is_drawn(&("", None)) } else { own.iter().any(is_drawn) };
        prop_assert_eq!(report.violations == 0, expected, "[*] --> S{} : {}\n{}", to, name, source);
    }
}
