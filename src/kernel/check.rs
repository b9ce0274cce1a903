//! Compile-time checks of a graph.

use core::marker::PhantomData;

use super::graph::Graph;
use super::machine::Guard;
use super::message::Message;

/// Refuses a malformed graph.
///
/// # Panics
/// While compiling, with a message that names the state, event or transition: for two states of one name, a missing
/// or second initial state, an unreachable state, a dead end that is not terminal, a terminal state with an outgoing
/// transition, two transitions from a state by one event, an event on no transition, or a method with a name that is
/// not the snake case of its event's type (`types` are those type names, in the order of `graph.events`).
#[doc(hidden)]
#[track_caller]
pub const fn graph(graph: &Graph, edge_types: &[&str], types: &[&str]) {
    names(graph);
    marks(graph);
    reachable(graph);
    events(graph, edge_types, types);
}

/// Refuses an identity that claims the name of this package from another package.
///
/// # Panics
/// While compiling, when the identity begins with `runstate/` in another package, or when the identity has no slash.
#[doc(hidden)]
#[track_caller]
pub const fn identity(name: &str, given: &[&str], package: Option<&str>) {
    const OURS: &[u8] = b"runstate/";
    let [given, ..] = given else { return };
    let at = Message::new().text(name).text(": the identity '").text(given);
    if !has_slash(given.as_bytes()) {
        at.text("' has no '/': write the name of your package, a slash and a name that never changes").fail();
    }
    let is_our_package = match package {
        Some(package) => equal(package, "runstate"),
        None => false,
    };
    if given.len() >= OURS.len()
        && equal_bytes(given.as_bytes().split_at(OURS.len()).0, OURS)
        && !is_our_package
    {
        at.text("' is of the package runstate; begin it with the name of your own").fail();
    }
}

/// Refuses the version 0: a graph of that version has no stored form.
///
/// # Panics
/// While compiling, when the version is 0.
#[doc(hidden)]
#[track_caller]
pub const fn version(name: &str, given: &[u32]) {
    if let [0, ..] = given {
        let at = Message::new().text(name);
        at.text(": the version 0 is that of a lifecycle without a stored form: the first version is 1; without snapshots leave the line out").fail();
    }
}

const fn has_slash(text: &[u8]) -> bool {
    let mut i = 0;
    while i < text.len() {
        if text[i] == b'/' {
            return true;
        }
        i += 1;
    }
    false
}

#[track_caller]
const fn names(graph: &Graph) {
    let mut i = 0;
    while i < graph.states.len() {
        let mut j = 0;
        while j < i {
            if equal(graph.states[i].name, graph.states[j].name) {
                Message::new()
                    .text(graph.name)
                    .text(": two states are named ")
                    .text(graph.states[i].name)
                    .text(": give one of them another name")
                    .fail();
            }
            j += 1;
        }
        i += 1;
    }
}

#[track_caller]
const fn marks(graph: &Graph) {
    let mut i = 0;
    while i < graph.states.len() {
        let state = &graph.states[i];
        let (mut ways_out, mut j) = (0, 0);
        while j < graph.edges.len() {
            ways_out += (graph.edges[j].from_index == i) as usize;
            j += 1;
        }
        let at = Message::new().text(graph.name).text(": state ").text(state.name);
        if state.terminal && ways_out > 0 {
            at.text(" is terminal and has a way out: leave out one of them").fail();
        } else if !state.terminal && ways_out == 0 {
            at.text(" is a dead end: give it a way out or '").text(state.name).text(" --> [*];'").fail();
        }
        i += 1;
    }
}

#[track_caller]
const fn reachable(graph: &Graph) {
    const MOST: usize = 256;
    if graph.states.len() > MOST {
        Message::new().text(graph.name).text(": more than 256 states").fail();
    }
    let mut seen = [false; MOST];
    let mut i = 0;
    while i < graph.states.len() {
        seen[i] = graph.states[i].initial;
        i += 1;
    }
    let mut grew = true;
    while grew {
        grew = false;
        i = 0;
        while i < graph.edges.len() {
            let edge = &graph.edges[i];
            if seen[edge.from_index] && !seen[edge.to_index] {
                seen[edge.to_index] = true;
                grew = true;
            }
            i += 1;
        }
    }
    i = 0;
    while i < graph.states.len() {
        if !seen[i] {
            let at = Message::new().text(graph.name).text(": state ").text(graph.states[i].name);
            at.text(" is unreachable: write a transition that leads to it, or leave it out").fail();
        }
        i += 1;
    }
}

#[track_caller]
const fn events(graph: &Graph, edge_types: &[&str], types: &[&str]) {
    let mut i = 0;
    while i < graph.edges.len() {
        let edge = &graph.edges[i];
        if !is_snake_of(edge.event, edge_types[i]) {
            let at = Message::new().text(graph.name).text(": the method '").text(edge.event);
            at.text("' must be the snake case of its event ").text(edge_types[i]).fail();
        }
        i += 1;
    }
    i = 0;
    while i < types.len() {
        let (mut used, mut j) = (false, 0);
        while j < edge_types.len() {
            used = used || equal(types[i], edge_types[j]);
            j += 1;
        }
        if !used {
            Message::new()
                .text(graph.name)
                .text(": event ")
                .text(types[i])
                .text(" is on no edge: write a transition by it, or leave it out")
                .fail();
        }
        i += 1;
    }
}

/// The test whether the definition has a [`Guard`] of the state `To`. The inherent constant exists only where the
/// bound holds, and it takes precedence over the constant of the trait [`Unguarded`].
#[doc(hidden)]
#[derive(Debug)]
pub struct GuardOf<To, From, Event>(PhantomData<(To, From, Event)>);

impl<To: Guard<From, Event>, From, Event> GuardOf<To, From, Event> {
    /// True: a guard exists.
    pub const IS_WRITTEN: bool = true;
}

/// The fallback for transitions without a guard.
#[doc(hidden)]
pub trait Unguarded {
    /// False: no guard exists.
    const IS_WRITTEN: bool = false;
}

impl<To, From, Event> Unguarded for GuardOf<To, From, Event> {}

/// Refuses a guard on a transition without `else`: the kernel would never call that guard.
///
/// # Panics
/// While compiling, with the transition as `[from, to, event]`.
#[doc(hidden)]
#[track_caller]
pub const fn unguarded(guard_is_written: bool, name: &str, [from, to, event]: [&str; 3]) {
    if guard_is_written {
        let at = Message::new().text(name).text(": the guard of ").text(from).text(" --> ").text(to);
        at.text(" : ").text(event).text(" is never asked: write 'else' and its error after the edge").fail();
    }
}

/// Counts the transitions, each given as its source state and its method.
///
/// The count is the length of an array of the definition: the compiler needs it before it compares implementations, so
/// that this message comes before its own words.
///
/// # Panics
/// While compiling, when two transitions leave a state by one event.
#[doc(hidden)]
#[track_caller]
pub const fn count(name: &str, edges: &[[&str; 2]]) -> usize {
    let mut i = 0;
    while i < edges.len() {
        let mut j = 0;
        while j < i {
            if equal(edges[i][0], edges[j][0]) && equal(edges[i][1], edges[j][1]) {
                let at = Message::new().text(name).text(": state ").text(edges[i][0]);
                at.text(" has two ways out by event ")
                    .text(edges[i][1])
                    .text(": leave one of them out")
                    .fail();
            }
            j += 1;
        }
        i += 1;
    }
    edges.len()
}

/// Collects the names of the methods, one per event type, from the transitions.
#[doc(hidden)]
pub const fn method_names<const N: usize>(
    edges: &[super::graph::Edge],
    edge_types: &[&str],
    types: [&'static str; N],
) -> [&'static str; N] {
    let mut names = types;
    let mut i = 0;
    while i < N {
        let mut j = 0;
        while j < edge_types.len() {
            if equal(edge_types[j], types[i]) {
                names[i] = edges[j].event;
            }
            j += 1;
        }
        i += 1;
    }
    names
}

/// Returns whether `snake` is the snake case of the type name `camel`. The prefix `r#` of a raw identifier is
/// ignored.
const fn is_snake_of(snake: &str, camel: &str) -> bool {
    let (snake, camel) = (snake.as_bytes(), camel.as_bytes());
    let (mut s, mut c) = (0, 0);
    while c < camel.len() {
        let byte = camel[c];
        if byte.is_ascii_uppercase() && c > 0 {
            if s >= snake.len() || snake[s] != b'_' {
                return false;
            }
            s += 1;
        }
        if s >= snake.len() || snake[s] != byte.to_ascii_lowercase() {
            return false;
        }
        s += 1;
        c += 1;
    }
    s == snake.len()
}

pub(super) const fn equal(a: &str, b: &str) -> bool {
    equal_bytes(a.as_bytes(), b.as_bytes())
}

pub(super) const fn equal_bytes(a: &[u8], b: &[u8]) -> bool {
    if a.len() != b.len() {
        return false;
    }
    let mut i = 0;
    while i < a.len() {
        if a[i] != b[i] {
            return false;
        }
        i += 1;
    }
    true
}
