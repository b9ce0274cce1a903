include!("../door.rs");

use runstate::kernel::{Rehydration, Restore};
use serde::Deserializer;

/// What a machine of one's own could do with the permit that it is handed.
#[cfg(illegal)]
pub fn another<'de, M, D: Deserializer<'de>>(
    permit: Rehydration<M>,
    house: House,
    state: D,
) -> Result<AnyDoor, D::Error> {
    AnyDoor::rehydrate(permit, DoorStatus::Locked, house, state)
}

#[cfg(not(illegal))]
pub fn its_own<'de, M: Restore, D: Deserializer<'de>>(
    permit: Rehydration<M>,
    status: M::Status,
    record: M::Record,
    state: D,
) -> Result<M, D::Error> {
    M::rehydrate(permit, status, record, state)
}
