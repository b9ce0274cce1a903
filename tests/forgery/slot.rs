//! Panics in a slot, at each place where code of a lifecycle's author runs.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use runstate::kernel::{Edge, Enter, Graph, Guard, Observe, Observer, Record, Slot};
use runstate::lifecycle;
use serde::{Deserialize, Serialize};

lifecycle! {
    /// A fuse that panics where its wire says.
    mod fuse: Fuse(Wire), AnyFuse;
    version 1;
    diagram "fuse.md";
    status FuseStatus { Whole, Burning { .. }, Ash }
    event FuseEvent { Light, BurnOut }
    [*]     --> Whole;
    Whole   --> Burning : light(Light) else Wet;
    Burning --> Ash     : burn_out(BurnOut);
    Ash     --> [*];
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum Place {
    Guard,
    GuardAgain,
    Enter,
    Hook,
    Observer,
    Nowhere,
}

#[derive(Debug, Serialize, Deserialize)]
struct Wire {
    panics: Place,
    #[serde(skip)]
    asked: AtomicU32,
    #[serde(skip)]
    observer: Observer,
}

impl Record for Wire {
    fn observer(&mut self) -> Option<&mut Observer> {
        Some(&mut self.observer)
    }
    fn moved(&mut self, _: &'static Edge) {
        assert!(self.panics != Place::Hook, "in the hook");
    }
}

#[derive(Debug, Serialize, Deserialize)]
struct Burning {}

#[derive(Debug)]
struct Wet;

impl fmt::Display for Wet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("it is wet")
    }
}

impl std::error::Error for Wet {}

impl Guard<Whole, Light> for Burning {
    type Error = Wet;
    fn check(_: &Whole, _: &Light, wire: &Wire) -> Result<(), Wet> {
        assert!(wire.panics != Place::Guard, "in the guard");
        let asked = wire.asked.fetch_add(1, Ordering::Relaxed);
        assert!(wire.panics != Place::GuardAgain || asked == 0, "in the guard, again");
        Ok(())
    }
}

impl Enter<Whole, Light> for Burning {
    fn enter(_: Whole, _: Light, wire: &mut Wire) -> Self {
        assert!(wire.panics != Place::Enter, "in the entry");
        Burning {}
    }
}

struct Panics;

impl Observe for Panics {
    fn created(&self, _: u32, _: &'static Graph) {}
    fn moved(&self, _: u32, _: &'static Graph, _: &'static Edge) {
        panic!("in the observer");
    }
}

fn slot(panics: Place) -> Slot<AnyFuse> {
    let mut slot =
        Slot::new(AnyFuse::new(Wire { panics, asked: AtomicU32::new(0), observer: Observer::default() }));
    if panics == Place::Observer {
        slot.get_mut().observe(Observer::new(Arc::new(Panics), 0));
    }
    slot
}

/// What the panic said.
fn light(slot: &mut Slot<AnyFuse>) -> Option<String> {
    let outcome = catch_unwind(AssertUnwindSafe(|| slot.apply(Light.into()).expect("it is dry")));
    outcome.err().map(|said| said.downcast_ref::<&str>().unwrap_or(&"").to_string())
}

#[test]
fn a_guard_that_panics_costs_nothing() {
    let mut slot = slot(Place::Guard);
    for _ in 0..2 {
        assert_eq!(light(&mut slot).as_deref(), Some("in the guard"));
        assert_eq!(slot.try_get().unwrap().status(), FuseStatus::Whole);
    }
}

#[test]
fn any_later_panic_leaves_a_loss_that_has_a_type() {
    for (place, said) in
        [(Place::Enter, "in the entry"), (Place::Hook, "in the hook"), (Place::Observer, "in the observer")]
    {
        let mut slot = slot(place);
        assert_eq!(light(&mut slot).as_deref(), Some(said));
        let lost = slot.try_get().unwrap_err();
        assert_eq!((lost.lifecycle(), lost.status()), ("fuse", "Whole"));
        // Each use after it says so too, and none hangs or panics twice.
        for use_it in [
            (|slot| _ = slot.get().status()) as fn(&mut Slot<AnyFuse>),
            |slot| _ = slot.get_mut().status(),
            |slot| drop(slot.apply(BurnOut.into())),
            |slot| slot.step(|fuse| (fuse, ())),
        ] {
            let said = catch_unwind(AssertUnwindSafe(|| use_it(&mut slot))).unwrap_err();
            assert_eq!(said.downcast_ref::<String>().unwrap(), &lost.to_string());
        }
    }
}

/// A guard is to give one answer to one question. One that does not costs the machine, and the loss has a type.
#[test]
fn guard_panic_on_the_second_check_loses_the_machine() {
    let mut slot = slot(Place::GuardAgain);
    assert_eq!(light(&mut slot).as_deref(), Some("in the guard, again"));
    assert_eq!(slot.try_get().unwrap_err().status(), "Whole");
}

#[test]
fn slot_keeps_its_machine_without_a_panic() {
    let mut slot = slot(Place::Nowhere);
    assert_eq!(light(&mut slot), None);
    assert_eq!(slot.into_inner().status(), FuseStatus::Burning);
}
