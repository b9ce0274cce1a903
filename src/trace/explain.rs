//! A violation with all that is known about it.

use super::event::{CREATE, Event, Plain};
use super::read_error::{Problem, ReadError};
use super::rulebook::Rulebook;
use super::rules::Rules;
use super::step::Instance;
use super::violation::{Legal, Violation, ViolationKind};

/// Explains why `event` breaks the rules for an instance that was `instance` before it.
pub(super) fn explain(
    book: &Rulebook,
    rules: Option<&Rules>,
    instance: Option<Instance>,
    line: u64,
    event: &Event<'_>,
    kind: ViolationKind,
) -> Violation {
    let state = instance.and_then(|instance| instance.state);
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
        diagram_line: rules.zip(state).and_then(|(rules, state)| rules.states[state as usize].line),
    }
}

fn plain(what: String) -> Legal {
    Legal { what, diagram_line: None }
}

fn creations(rules: &Rules) -> Vec<Legal> {
    let initial = rules.states.iter().filter(|state| state.initial || rules.begins_anywhere);
    initial
        .map(|state| Legal {
            what: format!("[*] --> {} : {CREATE}", Plain(&state.name)),
            diagram_line: state.line,
        })
        .collect()
}

fn ways_out(rules: &Rules, state: u32) -> Vec<Legal> {
    let edges = rules.ways_out(state).map(|(_, edge)| rules.show(edge));
    edges.map(|edge| Legal { what: edge.to_string(), diagram_line: edge.line }).collect()
}

impl Violation {
    /// A line that is no event, after some that were.
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
