//! Random walks, legal and illegal: at each step the machine is what the model written from the documents is.

use std::cell::RefCell;
use std::collections::BTreeSet;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestRunner};
use runstate::kernel::{Event, Machine, Restore, Stateful};
use runstate::snapshot::Snapshot;
use runstate::testing::{EdgeCounter, EventOf, assert_covers, legal_paths, mixed_paths};

use super::for_each_lifecycle;
use super::model::{self, At, Documented, Outcome};

/// How many walks each lifecycle takes, for each of its edges, and how long they are at most.
const WALKS: usize = 12;
const STEPS: usize = 64;

fn agrees<D: Documented>(subject: D) {
    let refused_by_guard = RefCell::new(BTreeSet::new());
    let counter = EdgeCounter::of([D::Machine::GRAPH]);
    // The walks are the same each time, so that all of them together can be asked whether they cover every edge.
    let config = Config {
        cases: u32::try_from(WALKS * D::TABLE.edges().count()).unwrap(),
        rng_seed: RngSeed::Fixed(1),
        source_file: Some(file!()),
        ..Config::default()
    };
    // Half of the walks have asides. The payloads of a walk fit a machine without them, so those with asides soon see more
    // refusals than edges.
    let lots = proptest::option::weighted(0.5, vec(any::<u8>(), STEPS));
    // Legal walks get to the far edges, mixed ones to every refusal.
    let paths = prop_oneof![1 => mixed_paths(subject, STEPS), 1 => legal_paths(subject, STEPS)];
    let result = TestRunner::new(config).run(&(paths, lots), |(mut path, lots)| {
        path.observe(counter.observer());
        let (mut machine, events) = path.into_parts();
        let mut at = model::begin::<D>();
        same(&At::of(&machine), &at, "it is new")?;
        for (i, event) in events.into_iter().enumerate() {
            let said = format!("{event:?}");
            let cell = (at.status, event.name());
            let (next, outcome) = step::<D>(machine, &mut at, event)?;
            machine = next;
            if outcome == Outcome::ByGuard {
                refused_by_guard.borrow_mut().insert(cell);
            }
            same(&At::of(&machine), &at, &said)?;
            machine = stored(machine)?;
            D::assume(&mut machine);
            machine.observe(counter.observer());
            if let Some(lots) = &lots {
                D::aside(&mut machine, &mut at, lots[i]);
                same(&At::of(&machine), &at, "something happened within the state")?;
            }
        }
        Ok(())
    });
    if let Err(error) = result {
        panic!("{}: {error}", D::TABLE.name);
    }
    assert_covers!(counter.coverage(), D::Machine::GRAPH);
    for cell in D::REFUSED_BY_ASIDES {
        assert!(refused_by_guard.borrow().contains(cell), "{}: {cell:?} refused nothing", D::TABLE.name);
    }
}

/// One event for both: they agree on what comes of it, and a refusal changes nothing.
fn step<D: Documented>(
    machine: D::Machine,
    at: &mut At,
    event: EventOf<D>,
) -> Result<(D::Machine, Outcome), TestCaseError> {
    let (before, said) = (At::of(&machine), format!("{event:?}"));
    let expected = model::step::<D>(at, &event);
    let (got, machine) = match machine.apply(event) {
        Ok(machine) => (Outcome::Taken, machine),
        Err(refused) => {
            let got = if refused.guard().is_some() { Outcome::ByGuard } else { Outcome::NoEdge };
            let (machine, event) = refused.into_parts();
            prop_assert_eq!(&At::of(&machine), &before, "a refusal changed the machine: {}", said);
            prop_assert_eq!(format!("{event:?}"), said.clone(), "a refusal changed the event");
            (got, machine)
        }
    };
    prop_assert_eq!(got, expected, "{} given to {:?}", said, before);
    Ok((machine, got))
}

fn same(machine: &At, model: &At, after: &str) -> Result<(), TestCaseError> {
    prop_assert_eq!(machine, model, "left: the machine, right: the documents, after: {}", after);
    Ok(())
}

/// Takes the machine through storage: what comes back is the live value, and goes on in its place.
fn stored<M>(machine: M) -> Result<M, TestCaseError>
where
    M: Restore + std::fmt::Debug,
    M::Record: serde::Serialize + runstate::kernel::ReadRecord,
{
    let snapshot = Snapshot::of(&machine).unwrap();
    let back: M = Snapshot::from_json(snapshot.to_json().as_bytes()).unwrap().restore().unwrap();
    prop_assert_eq!(back.status(), machine.status());
    prop_assert_eq!(Snapshot::of(&back).unwrap(), snapshot);
    // But for the observer, which is no part of the value.
    let debug = |machine: &M| format!("{machine:?}").replace("Observer(on)", "Observer(off)");
    prop_assert_eq!(debug(&back), debug(&machine));
    Ok(back)
}

for_each_lifecycle!(agrees);
