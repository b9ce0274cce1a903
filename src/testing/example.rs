//! A small example lifecycle: a door with a lock and a guarded `unlock`.
//!
//! The examples of [`testing`](super) use it, and [`Doors`] shows an implementation of [`Subject`].

use core::fmt;

use proptest::prelude::*;
use proptest::strategy::LazyJust;
use serde::{Deserialize, Serialize};

use super::Subject;
use crate::kernel::{Enter, Guard, Observer, Record};
use crate::lifecycle;

lifecycle! {
    /// A door with a lock.
    pub mod door: Door(Frame), AnyDoor;
    version 1;
    diagram "example.md";

    status DoorStatus {
        /// A person can walk through.
        Open,
        /// The door is in its frame.
        Shut,
        /// The door is in its frame, and only its key opens it.
        Locked { .. },
        /// The door was removed from its hinges.
        Gone,
    }
    event DoorEvent {
        /// The door moves into its frame.
        Close,
        /// The door opens for people.
        Reopen,
        /// A key locks the door.
        Lock { .. },
        /// A key unlocks the door.
        Unlock { .. },
        /// The door is removed from its hinges.
        Remove,
    }

    [*]    --> Open;
    Open   --> Shut   : close(Close);
    Open   --> Gone   : remove(Remove);
    Shut   --> Open   : reopen(Reopen);
    Shut   --> Locked : lock(Lock);
    Locked --> Shut   : unlock(Unlock) else WrongKey;
    Gone   --> [*];
}

/// The record of a door.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Frame {
    #[serde(skip)]
    observer: Observer,
}

impl Frame {
    /// Makes the record of a door with an observer of all transitions.
    pub fn observed(observer: Observer) -> Self {
        Frame { observer }
    }
}

impl Record for Frame {
    fn observer(&mut self) -> Option<&mut Observer> {
        Some(&mut self.observer)
    }
}

/// A door that was locked with this key.
#[derive(Debug, Serialize, Deserialize)]
pub struct Locked {
    key: u8,
}

impl Locked {
    /// The key that locked the door.
    pub fn key(&self) -> u8 {
        self.key
    }
}

/// A key locks the door.
#[derive(Debug)]
pub struct Lock {
    /// The key.
    pub key: u8,
}

/// A key unlocks the door.
#[derive(Debug)]
pub struct Unlock {
    /// The key.
    pub key: u8,
}

/// The error for a key that does not fit.
#[derive(Debug)]
pub struct WrongKey {
    key: u8,
}

impl fmt::Display for WrongKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "key {} does not fit", self.key)
    }
}

impl std::error::Error for WrongKey {}

impl<S> Enter<S, Lock> for Locked {
    fn enter(_: S, event: Lock, _: &mut Frame) -> Self {
        Locked { key: event.key }
    }
}

impl Guard<Locked, Unlock> for Shut {
    type Error = WrongKey;

    fn check(from: &Locked, event: &Unlock, _: &Frame) -> Result<(), WrongKey> {
        if event.key == from.key { Ok(()) } else { Err(WrongKey { key: event.key }) }
    }
}

/// The subject that makes doors and their events.
#[derive(Debug, Clone, Copy, Default)]
pub struct Doors;

impl Subject for Doors {
    type Machine = AnyDoor;

    fn record(&self) -> Frame {
        Frame::default()
    }

    fn event(&self, door: &AnyDoor, name: &'static str) -> BoxedStrategy<DoorEvent> {
        match name {
            "close" => LazyJust::new(|| Close.into()).boxed(),
            "reopen" => LazyJust::new(|| Reopen.into()).boxed(),
            "remove" => LazyJust::new(|| Remove.into()).boxed(),
            "lock" => any::<u8>().prop_map(|key| Lock { key }.into()).boxed(),
            // A payload may depend on the machine: in three of four cases this key fits.
            "unlock" => {
                let fits = if let AnyDoor::Locked(door) = door { door.state().key() } else { 0 };
                let key = prop_oneof![3 => Just(fits), 1 => any::<u8>()];
                key.prop_map(|key| Unlock { key }.into()).boxed()
            }
            other => unreachable!("a door has no event '{other}'"),
        }
    }
}
