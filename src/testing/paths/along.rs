//! A path along given transitions.

use super::EventPath;
use crate::kernel::{Edge, Machine};
use crate::testing::step::{Fault, Payload, fixed_runner, give, payload};
use crate::testing::subject::Subject;

/// The maximum number of payloads that a guard may refuse.
const PATIENCE: usize = 256;

/// Makes a path that takes these transitions, with payloads that pass their guards. The path is deterministic.
///
/// With [`minimal_transition_cover`](crate::testing::minimal_transition_cover) it makes a minimal set of runs in which every transition is
/// taken.
///
/// # Errors
/// The [`Fault`] of a transition that the machine does not take, such as a path that does not begin in the initial
/// state.
///
/// ```
/// use runstate::kernel::Stateful;
/// use runstate::testing::example::{AnyDoor, Doors};
/// use runstate::testing::{EdgeCounter, assert_covers, minimal_transition_cover, path_along};
///
/// let counter = EdgeCounter::of([AnyDoor::GRAPH]);
/// for edges in minimal_transition_cover(AnyDoor::GRAPH) {
///     let mut path = path_along(&Doors, &edges)?;
///     path.observe(counter.observer());
///     path.drive(|_, step| assert!(step.is_taken()));
/// }
/// assert_covers!(counter.coverage(), AnyDoor::GRAPH);
///
/// let unlock = AnyDoor::GRAPH.edge("Locked", "unlock").unwrap();
/// let error = path_along(&Doors, &[unlock]).unwrap_err();
/// assert_eq!(error.to_string(), "Open refuses 'unlock', expected Locked --> Shut : unlock");
/// # Ok::<(), Box<runstate::testing::Fault>>(())
/// ```
pub fn path_along<S: Subject>(
    subject: &S,
    edges: &[&'static Edge],
) -> Result<EventPath<S::Machine>, Box<Fault>> {
    let mut runner = fixed_runner();
    let mut machine = S::Machine::create(subject.record());
    let mut payloads: Vec<Payload<S>> = Vec::new();
    for edge in edges {
        let mut left = PATIENCE;
        loop {
            let payload = payload(subject, &machine, edge.event, &mut runner)?;
            let (next, step) = give(machine, payload.current())?;
            machine = next;
            left -= 1;
            if step.takes(edge) {
                payloads.push(payload);
                break;
            } else if step.is_by_guard() && left > 0 {
                continue;
            }
            return Err(Box::new(Fault::NotTaken { step, edge: edge.to_string() }));
        }
    }
    Ok(EventPath {
        record: subject.record(),
        events: payloads.iter().map(|payload| payload.current()).collect(),
    })
}
