//! Guarded moves hand the machine back.
use runstate::kernel::{Enter, Guard, Record};
use runstate::lifecycle;
use serde::{Deserialize, Serialize};

lifecycle! {
    /// A door that locks with the right key.
    pub mod door: Door(House), AnyDoor;
    version 1;
    diagram "door.md";
    status DoorStatus {
        /// Wide open.
        Open,
        /// Shut.
        Shut,
        /// Locked with a key.
        Locked { .. } = "LOCKED_UP",
    }
    event DoorEvent {
        /// Shut it.
        Shut2,
        /// Open it.
        Unshut,
        /// Lock it.
        Lock { .. },
    }
    [*]  --> Open;
    Open --> Shut : shut2(Shut2);
    Shut --> Open : unshut(Unshut);
    Shut --> Locked : lock(Lock) else WrongKey;
    Locked --> [*];
}

#[derive(Debug, Serialize, Deserialize)]
pub struct House {
    key: u32,
}
impl Record for House {}
#[derive(Debug, Serialize, Deserialize)]
pub struct Locked {
    key: u32,
}
#[derive(Debug)]
pub struct Lock {
    key: u32,
}
#[derive(Debug, PartialEq)]
pub struct WrongKey {
    got: u32,
}
impl std::fmt::Display for WrongKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "key {} does not fit", self.got)
    }
}
impl std::error::Error for WrongKey {}
impl Guard<Shut, Lock> for Locked {
    type Error = WrongKey;
    fn check(_: &Shut, event: &Lock, house: &House) -> Result<(), WrongKey> {
        if event.key == house.key { Ok(()) } else { Err(WrongKey { got: event.key }) }
    }
}
impl Enter<Shut, Lock> for Locked {
    fn enter(_: Shut, event: Lock, _: &mut House) -> Self {
        Locked { key: event.key }
    }
}

#[test]
fn a_failed_guard_hands_the_machine_back() {
    let door = Door::new(House { key: 7 }).shut2(Shut2);
    let rejected = door.lock(Lock { key: 8 }).unwrap_err();
    assert_eq!(rejected.error, WrongKey { got: 8 });
    let locked = rejected.machine.lock(Lock { key: 7 }).unwrap();
    assert_eq!(locked.state().key, 7);
    let refused = AnyDoor::from(
        locked.into_parts().0.key.eq(&7).then(|| Door::new(House { key: 7 })).unwrap().shut2(Shut2),
    )
    .apply(Lock { key: 9 }.into())
    .unwrap_err();
    insta::assert_snapshot!(refused.to_string(), @"door in state Shut refuses 'lock': key 9 does not fit");
}
