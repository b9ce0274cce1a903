include!("../door.rs");

// `second` is another build of this library in the same program, as another version of it would be.
#[cfg(illegal)]
pub fn stored(door: &AnyDoor) -> Result<second::snapshot::Snapshot, second::snapshot::SnapshotError> {
    second::snapshot::Snapshot::of(door)
}

#[cfg(not(illegal))]
pub fn stored(door: &AnyDoor) -> Result<runstate::snapshot::Snapshot, runstate::snapshot::SnapshotError> {
    runstate::snapshot::Snapshot::of(door)
}
