//! Guards look, and hand back what they refuse.

use std::error::Error;

use super::door::{AnyDoor, Close, Door, DoorStatus, House, Lock, Push, WrongKey};

#[test]
fn a_failed_guard_hands_machine_and_event_back() {
    let rejected = Door::new(House::new(7)).close(Close).lock(Lock { key: 8 }).unwrap_err();
    assert_eq!(rejected.error, WrongKey { got: 8 });
    assert_eq!(rejected.event, Lock { key: 8 });
    assert_eq!(rejected.machine.record(), &House::new(7));
    let locked = rejected.machine.lock(Lock { key: 7 }).unwrap();
    assert_eq!(locked.state().by, 7);
}

#[test]
fn a_rejection_reads_like_its_reason() {
    let rejected = Door::new(House::new(7)).close(Close).lock(Lock { key: 8 }).unwrap_err();
    assert_eq!(rejected.to_string(), "key 8 does not fit");
    assert_eq!(rejected.source().unwrap().to_string(), "key 8 does not fit");
}

#[test]
fn a_dynamic_machine_is_handed_back_by_a_guard_too() {
    let door = AnyDoor::from(Door::new(House::new(7)).close(Close));
    let refused = door.apply(Lock { key: 9 }.into()).unwrap_err();
    insta::assert_snapshot!(refused, @"door in state Shut refuses 'lock': key 9 does not fit");
    assert_eq!(refused.guard().unwrap().downcast_ref(), Some(&WrongKey { got: 9 }));
    assert_eq!(refused.source().unwrap().to_string(), "key 9 does not fit");
    let (door, event) = refused.into_parts();
    assert_eq!(door.status(), DoorStatus::Shut);
    assert_eq!(event.name(), "lock");
    assert_eq!(door.apply(Lock { key: 7 }.into()).unwrap().status(), DoorStatus::Locked);
}

#[test]
fn refusal_without_an_edge_keeps_values_and_lists_accepted() {
    let door = Door::new(House::new(7)).close(Close).lock(Lock { key: 7 }).unwrap();
    let refused = AnyDoor::from(door).apply(Lock { key: 8 }.into()).unwrap_err();
    insta::assert_snapshot!(refused, @"door in state LOCKED_UP refuses 'lock'; it accepts 'unlock'");
    assert!(refused.guard().is_none() && refused.source().is_none());
    assert_eq!(refused.accepts().collect::<Vec<_>>(), ["unlock"]);
    assert_eq!(refused.machine().record().key, 7);
    let (door, event) = refused.into_parts();
    assert!(matches!(event, super::door::DoorEvent::Lock(Lock { key: 8 })));
    assert!(matches!(door, AnyDoor::Locked(door) if door.state().by == 7));
}

#[test]
fn a_terminal_state_refuses_everything() {
    let removed = super::door::doors(1).into_iter().last().unwrap();
    let refused = removed.apply(Push.into()).unwrap_err();
    insta::assert_snapshot!(refused, @"door in state Removed refuses 'push'; it is terminal and accepts nothing");
}
