//! Who watches a machine sees each transition once, however it was made.

use std::sync::{Arc, Mutex};

use runstate::kernel::{Edge, Graph, Observe, Observer};
use runstate::snapshot::Snapshot;

use super::door::{AnyDoor, Close, Door, House, Lock, Push, Unlock};

#[derive(Default)]
struct Log(Mutex<Vec<String>>);

impl Observe for Log {
    fn created(&self, instance: u32, graph: &'static Graph) {
        self.0.lock().unwrap().push(format!("{instance}: {} begins in {}", graph.name, graph.initial().name));
    }

    fn moved(&self, instance: u32, _: &'static Graph, edge: &'static Edge) {
        self.0.lock().unwrap().push(format!("{instance}: {edge}"));
    }
}

impl Log {
    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

fn watched(log: &Arc<Log>, instance: u32) -> House {
    House::observed(7, Observer::new(log.clone(), instance))
}

#[test]
fn typed_moves_are_seen_from_the_creation_on() {
    let log = Arc::new(Log::default());
    let shut = Door::new(watched(&log, 1)).close(Close);
    let _shut = shut.lock(Lock { key: 7 }).unwrap().unlock(Unlock);
    assert_eq!(
        log.take(),
        [
            "1: door begins in Open",
            "1: Open --> Shut : close",
            "1: Shut --> LOCKED_UP : lock",
            "1: LOCKED_UP --> Shut : unlock",
        ]
    );
}

#[test]
fn dynamic_moves_are_seen_as_the_same() {
    let log = Arc::new(Log::default());
    let mut door = AnyDoor::new(watched(&log, 2));
    for event in [Close.into(), Lock { key: 7 }.into(), Unlock.into(), Push.into()] {
        door = door.apply(event).unwrap();
    }
    assert_eq!(
        log.take(),
        [
            "2: door begins in Open",
            "2: Open --> Shut : close",
            "2: Shut --> LOCKED_UP : lock",
            "2: LOCKED_UP --> Shut : unlock",
            "2: Shut --> Open : push",
        ]
    );
}

#[test]
fn a_failed_guard_and_a_refusal_are_no_transitions() {
    let log = Arc::new(Log::default());
    let shut = Door::new(watched(&log, 1)).close(Close);
    log.take();
    let shut = shut.lock(Lock { key: 8 }).unwrap_err().machine;
    let (shut, _) = AnyDoor::from(shut).apply(Lock { key: 8 }.into()).unwrap_err().into_parts();
    let (_shut, _) = shut.apply(Unlock.into()).unwrap_err().into_parts();
    assert!(log.take().is_empty());
}

#[test]
fn machines_are_told_apart_by_their_instance() {
    let log = Arc::new(Log::default());
    let (first, second) = (Door::new(watched(&log, 1)), Door::new(watched(&log, 2)));
    log.take();
    let (_second, _first) = (second.close(Close), first.close(Close));
    assert_eq!(log.take(), ["2: Open --> Shut : close", "1: Open --> Shut : close"]);
}

#[test]
fn a_restored_machine_is_watched_once_it_is_told_so() {
    let log = Arc::new(Log::default());
    let shut = Door::new(watched(&log, 1)).close(Close);
    let stored = Snapshot::of(&shut).unwrap();
    log.take();

    let unwatched: AnyDoor = stored.restore().unwrap();
    let _open = unwatched.apply(Push.into()).unwrap();
    assert!(log.take().is_empty(), "an observer is not stored");

    let mut watched: AnyDoor = stored.restore().unwrap();
    watched.observe(Observer::new(log.clone(), 9));
    let _open = watched.apply(Push.into()).unwrap();
    assert_eq!(log.take(), ["9: Shut --> Open : push"], "a restored machine is not created anew");
}

#[test]
fn an_observer_is_no_part_of_a_value() {
    let log = Arc::new(Log::default());
    assert_eq!(watched(&log, 1), House::new(7));
    assert_eq!(format!("{:?}", Observer::default()), "Observer(off)");
    assert_eq!(format!("{:?}", Observer::new(log, 1)), "Observer(on)");
}
