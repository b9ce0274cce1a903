// The lifecycle that the cases change or use: it compiles as it stands.

use runstate::kernel::{Enter, Guard, Record};
use runstate::lifecycle;
use serde::{Deserialize, Serialize};

lifecycle! {
    /// A door.
    pub mod door: Door(House), AnyDoor;
    version 1;
    diagram "door.md";
    status DoorStatus { Open, Shut, Locked { .. }, Bricked }
    event DoorEvent { Close, Push, Lock { .. }, Unlock, BrickUp }
    [*]     --> Open;
    Open    --> Shut    : close(Close);
    Shut    --> Open    : push(Push);
    Shut    --> Locked  : lock(Lock) else WrongKey;
    Locked  --> Shut    : unlock(Unlock);
    Shut    --> Bricked : brick_up(BrickUp);
    Bricked --> [*];
}

#[derive(Debug, Serialize, Deserialize)]
pub struct House {
    pub key: u32,
}
impl Record for House {}

#[derive(Debug, Serialize, Deserialize)]
pub struct Locked {
    by: u32,
}
#[derive(Debug)]
pub struct Lock {
    pub key: u32,
}
#[derive(Debug)]
pub struct WrongKey;
impl std::fmt::Display for WrongKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the key does not fit")
    }
}
impl std::error::Error for WrongKey {}

impl Guard<Shut, Lock> for Locked {
    type Error = WrongKey;
    fn check(_: &Shut, event: &Lock, house: &House) -> Result<(), WrongKey> {
        if event.key == house.key { Ok(()) } else { Err(WrongKey) }
    }
}
impl Enter<Shut, Lock> for Locked {
    fn enter(_: Shut, event: Lock, _: &mut House) -> Self {
        Locked { by: event.key }
    }
}
impl Door<Locked> {
    pub fn locked_by(&self) -> u32 {
        self.state().by
    }
}
