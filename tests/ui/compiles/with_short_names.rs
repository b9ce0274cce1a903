//! States may have the names that type parameters like to have.

use runstate::kernel::{Enter, Record};
use serde::{Deserialize, Serialize};

runstate::lifecycle! {
    /// A door.
    pub mod door: M(R), Any;
    version 1;
    diagram "../door.md";
    status Status { S = "Open", T = "Shut", D { .. } = "Locked", Z { .. } = "Bricked" }
    event Event { Close, Push, Lock, Unlock, BrickUp }
    [*] --> S;
    S --> T : close(Close);
    T --> S : push(Push);
    T --> D : lock(Lock);
    D --> T : unlock(Unlock);
    T --> Z : brick_up(BrickUp);
    Z --> [*];
}

#[derive(Debug)]
pub struct R;
impl Record for R {}
#[derive(Debug, Serialize, Deserialize)]
pub struct D;
#[derive(Debug, Serialize, Deserialize)]
pub struct Z;
impl<A, B> Enter<A, B> for D {
    fn enter(_: A, _: B, _: &mut R) -> Self {
        D
    }
}
impl<A, B> Enter<A, B> for Z {
    fn enter(_: A, _: B, _: &mut R) -> Self {
        Z
    }
}
