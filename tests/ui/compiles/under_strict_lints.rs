//! A definition passes the lints that a careful author turns on.
#![deny(missing_docs, missing_debug_implementations, unused_qualifications, rust_2018_idioms, unused)]
#![deny(unreachable_pub, missing_copy_implementations, single_use_lifetimes, let_underscore_drop)]
#![forbid(unsafe_code)]

runstate::lifecycle! {
    /// A door.
    pub mod door: Door(House), AnyDoor;
    version 1;
    diagram "../door.md";
    status DoorStatus {
        /// Open.
        Open,
        /// Shut.
        Shut,
        /// Locked.
        Locked,
        /// Bricked up.
        Bricked,
    }
    event DoorEvent {
        /// Shut it.
        Close,
        /// Open it.
        Push,
        /// Lock it.
        Lock,
        /// Unlock it.
        Unlock,
        /// Brick it up.
        BrickUp,
    }
    [*]     --> Open;
    Open    --> Shut    : close(Close);
    Shut    --> Open    : push(Push);
    Shut    --> Locked  : lock(Lock);
    Locked  --> Shut    : unlock(Unlock);
    Shut    --> Bricked : brick_up(BrickUp);
    Bricked --> [*];
}

/// What all states share.
#[derive(Debug, Clone, Copy)]
pub struct House;
impl runstate::kernel::Record for House {}
