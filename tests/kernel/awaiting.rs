//! A machine that lives across awaits: in a slot, or as a typed local in a loop.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use runstate::kernel::Slot;
use runstate::snapshot::Snapshot;

use super::door::{AnyDoor, Close, Door, DoorStatus, House, Lock, Push, TakeOut, Unlock};

/// Is ready the second time it is asked: a model, a tool, a store.
#[derive(Default)]
struct Later {
    asked: bool,
}

impl Future for Later {
    type Output = ();
    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        if std::mem::replace(&mut self.asked, true) { Poll::Ready(()) } else { Poll::Pending }
    }
}

/// Polls to the end; gives the result and how often it was not yet there.
fn finish<T>(future: impl Future<Output = T>) -> (T, usize) {
    let mut future = pin!(future);
    let mut pending = 0;
    loop {
        match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(out) => return (out, pending),
            Poll::Pending => pending += 1,
        }
    }
}

const fn assert_send<T: Send>(_: &T) {}

struct Porter {
    door: Slot<AnyDoor>,
    stored: Vec<String>,
}

impl Porter {
    fn new() -> Self {
        Porter { door: Slot::new(AnyDoor::new(House::new(7))), stored: Vec::new() }
    }

    /// Waits on a borrow, then moves at once; stores by reference, then goes on.
    async fn shut(&mut self) {
        assert_eq!(self.door.get().status(), DoorStatus::Open);
        Later::default().await;
        self.door.apply(Close.into()).unwrap();
        let stored = Snapshot::of(self.door.get()).unwrap().to_json();
        Later::default().await;
        self.stored.push(stored);
    }
}

#[test]
fn a_future_that_is_dropped_half_way_leaves_the_slot_as_it_was() {
    let mut porter = Porter::new();
    {
        let mut shutting = pin!(porter.shut());
        assert!(shutting.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    }
    assert_eq!(porter.door.get().status(), DoorStatus::Open, "dropped before the move");
    {
        let mut shutting = pin!(porter.shut());
        for _ in 0..2 {
            assert!(shutting.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        }
    }
    assert_eq!(porter.door.get().status(), DoorStatus::Shut, "dropped after the move");
    assert!(porter.stored.is_empty());
}

#[test]
fn a_machine_is_stored_by_reference_while_it_goes_on() {
    let mut porter = Porter::new();
    let shutting = porter.shut();
    assert_send(&shutting);
    assert_eq!(finish(shutting), ((), 2));
    porter.door.apply(Lock { key: 7 }.into()).unwrap();
    let stored: AnyDoor = Snapshot::from_json(porter.stored[0].as_bytes()).unwrap().restore().unwrap();
    assert_eq!(stored.status(), DoorStatus::Shut);
    assert_eq!(porter.door.into_inner().status(), DoorStatus::Locked);
}

#[test]
fn a_slot_keeps_its_machine_when_the_event_is_refused() {
    let mut slot = Slot::new(AnyDoor::new(House::new(7)));
    let (event, why) = slot.apply(Unlock.into()).unwrap_err();
    assert_eq!(event.name(), "unlock");
    assert_eq!(why, "door in state Open refuses 'unlock'; it accepts 'close', 'take_out'");
    assert_eq!(slot.get().status(), DoorStatus::Open);

    slot.apply(Close.into()).unwrap();
    let (event, why) = slot.apply(Lock { key: 1 }.into()).unwrap_err();
    assert_eq!(
        (event.name(), why.as_str()),
        ("lock", "door in state Shut refuses 'lock': key 1 does not fit")
    );
    assert_eq!(slot.get().status(), DoorStatus::Shut);
}

#[test]
fn slot_steps_by_typed_code_and_returns_its_result() {
    let mut slot = Slot::new(AnyDoor::new(House::new(7)));
    let was = slot.step(|door| match door {
        AnyDoor::Open(door) => (door.close(Close).into(), "open"),
        other => (other, "something else"),
    });
    assert_eq!((was, slot.get().status()), ("open", DoorStatus::Shut));
}

#[test]
fn a_slot_that_lost_its_machine_to_a_panic_says_so() {
    let mut slot = Slot::new(AnyDoor::new(House::new(7)));
    let panicked = catch_unwind(AssertUnwindSafe(|| slot.step::<()>(|_| panic!("in the step"))));
    assert!(panicked.is_err());
    let said = catch_unwind(AssertUnwindSafe(|| slot.get().status())).unwrap_err();
    assert_eq!(
        said.downcast_ref::<String>().unwrap(),
        "the door that was in state Open is lost: a transition from there panicked; restore it from its last \
         snapshot"
    );
}

/// The other pattern: a local that is some typed machine at each await.
async fn one_day(mut at: AnyDoor, mut visitors: u32) -> (House, u32) {
    let mut moves = 0;
    loop {
        moves += 1;
        at = match at {
            AnyDoor::Open(door) if visitors == 0 => {
                Later::default().await;
                door.take_out(TakeOut).into()
            }
            AnyDoor::Open(door) => {
                Later::default().await;
                visitors -= 1;
                door.close(Close).into()
            }
            AnyDoor::Shut(door) => {
                Later::default().await;
                door.push(Push).into()
            }
            AnyDoor::Locked(door) => door.unlock(Unlock).into(),
            AnyDoor::Removed(door) => return (door.into_parts().0.into_inner(), moves),
        };
    }
}

#[test]
fn typed_local_survives_an_await_loop_and_changes_threads() {
    let locked = Door::new(House::new(7)).close(Close).lock(Lock { key: 7 }).unwrap();
    let day = one_day(locked.into(), 2);
    assert_send(&day);
    let ((house, moves), pending) = std::thread::spawn(|| finish(day)).join().unwrap();
    assert_eq!((house.key, moves, pending), (7, 8, 6));
}
