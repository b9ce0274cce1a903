//! An author's module may give the names of built-in macros and derives a meaning of its own.

use runstate::lifecycle;

macro_rules! concat {
    () => {};
}
macro_rules! stringify {
    () => {};
}
macro_rules! include_str {
    () => {};
}
macro_rules! panic {
    () => {};
}
concat!();
stringify!();
include_str!();
panic!();

mod mine {
    macro_rules! nothing {
        () => {};
    }
    pub(crate) use {nothing as Clone, nothing as Copy, nothing as Debug, nothing as Hash, nothing as PartialEq};
}
use mine::{Clone, Copy, Debug, Hash, PartialEq};
Clone!();
Copy!();
Debug!();
Hash!();
PartialEq!();

lifecycle! {
    /// A door.
    pub mod door: Door(House), AnyDoor;
    version 1;
    diagram "../door.md";
    status DoorStatus { Open, Shut, Locked, Bricked }
    event DoorEvent { Close, Push, Lock, Unlock, BrickUp }
    [*]     --> Open;
    Open    --> Shut    : close(Close);
    Shut    --> Open    : push(Push);
    Shut    --> Locked  : lock(Lock);
    Locked  --> Shut    : unlock(Unlock);
    Shut    --> Bricked : brick_up(BrickUp);
    Bricked --> [*];
}

#[derive(::std::fmt::Debug)]
pub struct House;
impl runstate::kernel::Record for House {}
