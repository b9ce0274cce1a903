//! A second definition of the name, the states and the transitions of `kernel::door`, which asks for no key.

use runstate::kernel::{Enter, Record};
use runstate::lifecycle;
use serde::{Deserialize, Serialize};

lifecycle! {
    /// A door that locks with any key.
    pub(crate) mod door: Door(House), AnyDoor;
    version 3;
    diagram "../kernel/door.md";
    status DoorStatus {
        /// Wide open.
        Open,
        /// Shut.
        Shut,
        /// Locked.
        Locked { .. } = "LOCKED_UP",
        /// No longer there.
        Removed,
    }
    event DoorEvent { Close, Push, Lock, Unlock, TakeOut }
    [*]     --> Open;
    Open    --> Shut    : close(Close);
    Shut    --> Open    : push(Push);
    Shut    --> Locked  : lock(Lock);
    Locked  --> Shut    : unlock(Unlock);
    Open    --> Removed : take_out(TakeOut);
    Removed --> [*];
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct House {
    key: u32,
}

impl House {
    pub(crate) fn new(key: u32) -> Self {
        House { key }
    }
}

impl Record for House {}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Locked {
    by: u32,
}

impl Enter<Shut, Lock> for Locked {
    fn enter(_: Shut, _: Lock, _: &mut House) -> Self {
        Locked { by: 0 }
    }
}
