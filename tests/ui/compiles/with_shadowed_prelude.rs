//! An author's module may give the names of the prelude a meaning of its own.

use runstate::lifecycle;

pub type Result<T> = std::result::Result<T, ()>;
pub type Vec<T> = [T; 2];
pub struct Option;
pub struct String;
pub struct Box;
pub enum Mine {
    Some,
    None,
    Ok,
    Err,
}
pub use Mine::*;
pub trait From {}
pub trait Into {}
pub trait Clone {}
pub trait Default {}
pub trait Iterator {}
pub mod core {}
pub mod std_ {}

mod mine {
    pub trait Debug {}
    pub trait Display {}
    pub trait Serialize {}
    pub trait Deserialize {}
    pub trait State {}
    pub trait Machine {}
}
pub use mine::{Debug, Deserialize, Display, Machine, Serialize, State};

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
