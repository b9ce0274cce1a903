//! The verdict on one reply.

use std::fmt;

use crate::finding::Kind;
use crate::map::Map;
use crate::sut::{Broken, Reply};

/// A reply that the diagram does not permit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Wrong {
    pub(crate) kind: Kind,
    pub(crate) why: String,
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind, self.why)
    }
}

/// The difference that a system without a reply shows.
///
/// # Errors
/// The reason for which the system cannot be tested.
pub(crate) fn broken(broken: Broken) -> Result<Wrong, String> {
    let (kind, why) = match broken {
        Broken::Crash(why) => (Kind::Crash, why),
        Broken::Timeout(why) => (Kind::Timeout, why),
        Broken::Garbage(why) => (Kind::Garbage, why),
        Broken::Flood(why) => (Kind::Flood, why),
        Broken::Unusable(why) => return Err(why),
    };
    Ok(Wrong { kind, why })
}

/// Whether a state may refuse an event. The machine may have become another state meanwhile. There, each transition may
/// refuse, or there is none.
pub(crate) fn may_refuse(map: &Map, from: usize, event: usize) -> bool {
    map.drifts[from]
        .iter()
        .any(|origin| map.of(from, event).all(|at| map.edges[at].from != *origin || map.edges[at].may_refuse))
}

fn wrong<T>(kind: Kind, why: String) -> Result<T, Wrong> {
    Err(Wrong { kind, why })
}

/// The known state of that name.
pub(crate) fn known(map: &Map, name: &str) -> Result<usize, Wrong> {
    map.state(name).ok_or_else(|| Wrong {
        kind: Kind::Garbage,
        why: format!("the state {name:?} is not in the diagram; it has {}", map.states.join(", ")),
    })
}

/// Judges the first state of a machine. Returns it.
pub(crate) fn start(map: &Map, state: &str) -> Result<usize, Wrong> {
    let state = known(map, state)?;
    if map.initial.iter().any(|initial| map.drifts[*initial].contains(&state)) {
        return Ok(state);
    }
    let expected: Vec<&str> = map.initial.iter().map(|state| &*map.states[*state]).collect();
    wrong(Kind::WrongStart, format!("it starts in {}; expected {}", map.states[state], expected.join(" or ")))
}

/// Judges a state that was observed. Returns it and the transitions that it shows.
pub(crate) fn observed(map: &Map, from: usize, state: &str) -> Result<(usize, Vec<usize>), Wrong> {
    let to = known(map, state)?;
    if !map.drifts[from].contains(&to) {
        let (from, to) = (&map.states[from], &map.states[to]);
        return wrong(Kind::MovedByItself, format!("{from} became {to} without an event"));
    }
    let is_taken = |at: &usize| {
        let edge = &map.edges[*at];
        edge.event.is_none() && (edge.from, edge.to) == (from, to)
    };
    Ok((to, (0..map.edges.len()).filter(is_taken).collect()))
}

/// Judges the reply to an event. Returns the state and the transitions that were taken: several differ in their guards
/// alone.
pub(crate) fn reply(
    map: &Map,
    from: usize,
    event: usize,
    reply: &Reply,
) -> Result<(usize, Vec<usize>), Wrong> {
    let to = known(map, &reply.state)?;
    let (name, was, is) = (&map.events[event], &map.states[from], &map.states[to]);
    let edges: Vec<usize> = map.of(from, event).collect();
    let targets = || {
        let mut targets: Vec<&str> = edges.iter().map(|at| &*map.states[map.edges[*at].to]).collect();
        targets.dedup();
        targets.join(" or ")
    };
    if let Some(reason) = &reply.refused {
        if !may_refuse(map, from, event) {
            let targets = targets();
            return wrong(
                Kind::RefusedLegal,
                format!("{was} refuses `{name}`, which leads to {targets}: {reason:?}"),
            );
        }
        if !map.drifts[from].contains(&to) {
            return wrong(Kind::MovedOnRefusal, format!("{was} refuses `{name}` and becomes {is}"));
        }
        return Ok((to, Vec::new()));
    }
    if edges.is_empty() {
        return wrong(Kind::AcceptedIllegal, format!("{was} takes `{name}` and becomes {is}"));
    }
    let exact = |at: &&usize| (map.edges[**at].from, map.edges[**at].to) == (from, to);
    let taken: Vec<usize> = edges.iter().filter(exact).copied().collect();
    if !taken.is_empty() {
        return Ok((to, taken));
    }
    match edges.iter().find(|at| map.drifts[map.edges[**at].to].contains(&to)) {
        Some(at) => Ok((to, vec![*at])),
        None => {
            let targets = targets();
            wrong(Kind::WrongTarget, format!("{was} takes `{name}` and becomes {is}; expected {targets}"))
        }
    }
}
