//! The construction of a violation with its details.

use super::closest::closest;
use super::event::{CREATE, Event, Plain};
use super::read_error::{Problem, ReadError};
use super::rulebook::Rulebook;
use super::rules::Rules;
use super::step::Instance;
use super::violation::{Legal, Violation, ViolationKind};

/// Explains the violation by `event` of an instance in the state `instance`.
pub(super) fn explain(
    book: &Rulebook,
    rules: Option<&Rules>,
    instance: Option<Instance>,
    line: u64,
    event: &Event<'_>,
    kind: ViolationKind,
) -> Violation {
    let state = instance.and_then(|instance| instance.state);
    let kind = match (kind, rules) {
        (ViolationKind::UnknownState { state, .. }, Some(rules)) => unknown(rules, state),
        (ViolationKind::UnknownLifecycle { .. }, _) => {
            ViolationKind::UnknownLifecycle { closest: meant(&event.lifecycle, book.iter().map(Rules::name)) }
        }
        (ViolationKind::WrongEvent { .. }, Some(rules)) => {
            ViolationKind::WrongEvent { closest: meant(&event.event, events(rules, state, event)) }
        }
        (kind, _) => kind,
    };
    let composite = match (&kind, rules) {
        (ViolationKind::CompositeState { state, .. }, Some(rules)) => {
            rules.composite(state).map(|(_, it)| it)
        }
        _ => None,
    };
    let legal = match (&kind, rules) {
        (ViolationKind::SeqNotIncreasing { last, .. }, _) => {
            vec![plain(format!("a seq above {last}"))]
        }
        (_, None) => book.iter().map(|rules| plain(rules.name().to_owned())).collect(),
        (ViolationKind::NoCreation | ViolationKind::NotInitial, Some(rules)) => creations(rules),
        (_, Some(rules)) => match state {
            None => creations(rules),
            Some(state) if event.is_creation() && rules.is_over(state) => creations(rules),
            Some(state) => ways_out(rules, state),
        },
    };
    Violation {
        line,
        seq: Some(event.seq),
        run: event.run.to_string(),
        lifecycle: event.lifecycle.to_string(),
        instance: event.instance.to_string(),
        kind,
        got: event.to_string(),
        from: event.from.as_ref().map(ToString::to_string),
        to: event.to.to_string(),
        legal,
        diagram: rules.and_then(|rules| rules.file.as_ref()).map(ToString::to_string),
        rules: rules.map(|rules| rules.name().into()),
        diagram_line: rules.and_then(|rules| match (state, composite) {
            (_, Some(composite)) => composite.line,
            (Some(state), None) => rules.states[state as usize].line,
            (None, None) => None,
        }),
    }
}

fn plain(what: String) -> Legal {
    Legal { what, diagram_line: None }
}

fn creations(rules: &Rules) -> Vec<Legal> {
    let initial = rules.states.iter().filter(|state| state.initial || rules.begins_anywhere);
    initial
        .flat_map(|state| {
            let drawn = state.starts.iter().map(|start| (&*start.event, start.line));
            let drawn = drawn.chain(state.starts.is_empty().then_some((CREATE, None)));
            drawn.map(|(label, line)| Legal {
                what: format!(
                    "[*] --> {} : {}",
                    Plain(&state.name),
                    Plain(if label.is_empty() { CREATE } else { label })
                ),
                diagram_line: line.or(state.line),
            })
        })
        .collect()
}

fn ways_out(rules: &Rules, state: u32) -> Vec<Legal> {
    let legal = |(place, edge)| {
        let edge = rules.show(edge);
        let arrows: Vec<String> = rules.drawn_as(place).map(|arrow| arrow.to_string()).collect();
        let drawn =
            if arrows.is_empty() { String::new() } else { format!(", drawn as {}", arrows.join(", ")) };
        let held = rules.edges[place].held.as_deref().filter(|name| *name != edge.event);
        let by = held.map(|name| format!(", by the event {}", Plain(name))).unwrap_or_default();
        Legal { what: format!("{edge}{by}{drawn}"), diagram_line: edge.line }
    };
    rules.ways_out(state).map(legal).collect()
}

/// An unknown state, with a suggestion.
fn unknown(rules: &Rules, state: String) -> ViolationKind {
    const FEW: usize = 5;
    if let Some((place, _)) = rules.composite(&state) {
        let inside = rules.inside(place).take(FEW).map(|inner| inner.name.to_string()).collect();
        return ViolationKind::CompositeState { state, inside };
    }
    let closest = meant(&state, rules.states());
    ViolationKind::UnknownState { state, closest }
}

fn meant<'k>(name: &str, known: impl IntoIterator<Item = &'k str>) -> Option<String> {
    closest(name, known).map(ToOwned::to_owned)
}

/// The events with the source and target of this event.
fn events<'r>(rules: &'r Rules, state: Option<u32>, event: &Event<'_>) -> Vec<&'r str> {
    let to = rules.find(&event.to);
    match state.filter(|_| !event.is_creation()) {
        Some(state) => {
            let edges = rules.ways_out(state).map(|(_, edge)| edge).filter(|edge| Some(edge.to) == to);
            edges.map(|edge| edge.held.as_deref().unwrap_or(&edge.event)).collect()
        }
        None => {
            let starts = to.iter().flat_map(|to| &rules.states[*to as usize].starts);
            starts.filter_map(|start| start.held.as_deref()).chain([CREATE]).collect()
        }
    }
}

impl Violation {
    /// A line that is no event, after lines that were events.
    pub(super) fn garbage(error: &ReadError) -> Self {
        Violation {
            line: error.line(),
            seq: None,
            run: String::new(),
            lifecycle: String::new(),
            instance: String::new(),
            kind: match error.problem() {
                Problem::Cut => ViolationKind::Cut { report: error.report() },
                problem => ViolationKind::Garbage { message: problem.to_string(), report: error.report() },
            },
            got: error.problem().to_string(),
            from: None,
            to: String::new(),
            legal: vec![plain("an event, or the end of the trace".to_owned())],
            diagram: None,
            diagram_line: None,
            rules: None,
        }
    }
}
