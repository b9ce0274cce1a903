//! The check of one event against the rules.

use super::event::{CREATE, Event};
use super::rules::Rules;
use super::violation::ViolationKind;

/// The checker's data of an instance.
#[derive(Debug, Clone, Copy)]
pub(super) struct Instance {
    /// The current state; none after an event into an unknown state.
    pub(super) state: Option<u32>,
    /// The trace line of the entry into that state.
    pub(super) since: u64,
    /// The trace line of its creation, or of its first event without a creation.
    pub(super) born: u64,
    /// Whether one of its events violated the rules.
    pub(super) is_wrong: bool,
}

/// A legal step: its target state, and its transition unless it is a creation.
#[derive(Debug)]
pub(super) struct Step {
    pub(super) state: u32,
    pub(super) edge: Option<usize>,
}

/// Checks whether the instance may take the event.
pub(super) fn step(
    rules: &Rules,
    instance: Option<Instance>,
    event: &Event<'_>,
) -> Result<Step, ViolationKind> {
    match (&event.from, instance) {
        (None, None) => create(rules, event),
        (None, Some(instance)) => recreate(rules, instance, event),
        (Some(_), None) => Err(ViolationKind::NoCreation),
        (Some(from), Some(instance)) => {
            let state = match instance.state {
                Some(state) => state,
                None => rules.find(from).ok_or_else(|| unknown(from))?,
            };
            advance(rules, state, instance.since, from, event)
        }
    }
}

fn advance(
    rules: &Rules,
    state: u32,
    since: u64,
    from: &str,
    event: &Event<'_>,
) -> Result<Step, ViolationKind> {
    let is_in = &*rules.states[state as usize].name;
    if is_in != from {
        return Err(if rules.is_over(state) {
            ViolationKind::AfterTerminal { state: is_in.to_owned(), line: since }
        } else if rules.find(from).is_none() {
            unknown(from)
        } else {
            ViolationKind::BrokenChain { state: is_in.to_owned(), line: since }
        });
    }
    let (mut edge_exists, mut by_any) = (false, None);
    for (place, edge) in rules.ways_out(state) {
        if *rules.states[edge.to as usize].name == *event.to {
            if edge.held.as_deref().unwrap_or(&edge.event) == event.event {
                return Ok(Step { state: edge.to, edge: Some(place) });
            }
            edge_exists = true;
            if edge.held.is_none() && by_any.is_none() {
                by_any = Some(Step { state: edge.to, edge: Some(place) });
            }
        }
    }
    if let Some(step) = by_any {
        return Ok(step);
    }
    Err(if edge_exists {
        wrong_event()
    } else if rules.is_over(state) {
        ViolationKind::AfterTerminal { state: is_in.to_owned(), line: since }
    } else if rules.find(&event.to).is_none() {
        unknown(&event.to)
    } else {
        ViolationKind::IllegalEdge
    })
}

fn create(rules: &Rules, event: &Event<'_>) -> Result<Step, ViolationKind> {
    let state = rules.find(&event.to).ok_or_else(|| unknown(&event.to))?;
    if !rules.begins_anywhere && !rules.states[state as usize].initial {
        return Err(ViolationKind::NotInitial);
    }
    let starts = &rules.states[state as usize].starts;
    let is_legal = event.event == CREATE
        || match starts.as_slice() {
            [] => !rules.names_creation,
            starts => starts.iter().any(|it| !rules.is_held(it) || it.held.as_deref() == Some(&event.event)),
        };
    if is_legal { Ok(Step { state, edge: None }) } else { Err(wrong_event()) }
}

/// Creates an ended instance again.
fn recreate(rules: &Rules, instance: Instance, event: &Event<'_>) -> Result<Step, ViolationKind> {
    match instance.state {
        Some(state) if !rules.states[state as usize].terminal => Err(ViolationKind::SecondCreation {
            state: rules.states[state as usize].name.to_string(),
            line: instance.born,
        }),
        _ => create(rules, event),
    }
}

/// A violation without a suggestion; the explanation adds it later.
fn wrong_event() -> ViolationKind {
    ViolationKind::WrongEvent { closest: None }
}

fn unknown(state: &str) -> ViolationKind {
    ViolationKind::UnknownState { state: state.to_owned(), closest: None }
}
