//! A small lifecycle with state data, a guard, an observer and a state that is stored under another name.

use std::error::Error;
use std::fmt;

use runstate::kernel::{Enter, Guard, Observer, Record};
use runstate::lifecycle;
use serde::{Deserialize, Serialize};

lifecycle! {
    /// A door that locks with the right key.
    pub(crate) mod door: Door(House), AnyDoor;
    version 3;
    diagram "door.md";
    status DoorStatus {
        /// Wide open.
        Open,
        /// Shut.
        Shut,
        /// Locked with a key.
        Locked { .. } = "LOCKED_UP",
        /// No longer there.
        Removed,
    }
    event DoorEvent { Close, Push, Lock { .. }, Unlock, TakeOut }
    [*]     --> Open;
    Open    --> Shut    : close(Close);
    Shut    --> Open    : push(Push);
    Shut    --> Locked  : lock(Lock) else WrongKey;
    Locked  --> Shut    : unlock(Unlock);
    Open    --> Removed : take_out(TakeOut);
    Removed --> [*];
}

/// No `deny_unknown_fields` here: the kernel does not rely on it.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct House {
    pub(crate) key: u32,
    #[serde(skip)]
    observer: Observer,
}

impl House {
    pub(crate) fn new(key: u32) -> Self {
        House { key, observer: Observer::default() }
    }

    pub(crate) fn observed(key: u32, observer: Observer) -> Self {
        House { key, observer }
    }
}

impl runstate::kernel::Reusable for House {}

impl Record for House {
    fn observer(&mut self) -> Option<&mut Observer> {
        Some(&mut self.observer)
    }
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Locked {
    pub(crate) by: u32,
}

#[derive(Debug, PartialEq)]
pub(crate) struct Lock {
    pub(crate) key: u32,
}

#[derive(Debug, PartialEq)]
pub(crate) struct WrongKey {
    pub(crate) got: u32,
}

impl fmt::Display for WrongKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "key {} does not fit", self.got)
    }
}

impl Error for WrongKey {}

impl Guard<Shut, Lock> for Locked {
    type Error = WrongKey;
    fn check(_: &Shut, event: &Lock, house: &House) -> Result<(), WrongKey> {
        if event.key == house.key { Ok(()) } else { Err(WrongKey { got: event.key }) }
    }
}

impl Enter<Shut, Lock> for Locked {
    fn enter(_: Shut, event: Lock, _: &mut House) -> Self {
        Locked { by: event.key }
    }
}

/// A door in each of its states, in the order of the graph, reached by legal moves.
pub(crate) fn doors(key: u32) -> [AnyDoor; 4] {
    let open = || Door::new(House::new(key));
    let shut = || open().close(Close);
    [open().into(), shut().into(), shut().lock(Lock { key }).unwrap().into(), open().take_out(TakeOut).into()]
}
