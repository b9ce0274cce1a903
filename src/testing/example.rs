//! A small lifecycle to try the tools on: a door with a lock, whose `unlock` is guarded.
//!
//! The examples of [`testing`](super) are about it, and [`Doors`] shows what a [`Subject`] looks like.

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
        /// One can walk through.
        Open,
        /// It is in its frame.
        Shut,
        /// It is in its frame, and only its key opens it.
        Locked { .. },
        /// It was taken off its hinges.
        Gone,
    }
    event DoorEvent {
        /// Put it in its frame.
        Close,
        /// Let people through.
        Reopen,
        /// Turn a key.
        Lock { .. },
        /// Turn a key back.
        Unlock { .. },
        /// Take it off its hinges.
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

/// What all states of a door share.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Frame {
    #[serde(skip)]
    observer: Observer,
}

impl Frame {
    /// The frame of a door with someone told of each transition.
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
    /// The key that it was locked with.
    pub fn key(&self) -> u8 {
        self.key
    }
}

/// Turn this key.
#[derive(Debug)]
pub struct Lock {
    /// The key.
    pub key: u8,
}

/// Turn this key back.
#[derive(Debug)]
pub struct Unlock {
    /// The key.
    pub key: u8,
}

/// The key does not fit.
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

/// How the tools make doors and their events.
#[derive(Debug, Clone, Copy)]
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
            // A payload may depend on the machine: three times in four this key fits.
            "unlock" => {
                let fits = if let AnyDoor::Locked(door) = door { door.state().key() } else { 0 };
                let key = prop_oneof![3 => Just(fits), 1 => any::<u8>()];
                key.prop_map(|key| Unlock { key }.into()).boxed()
            }
            other => unreachable!("a door has no event '{other}'"),
        }
    }
}
