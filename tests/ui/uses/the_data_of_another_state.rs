include!("../door.rs");

#[cfg(illegal)]
pub fn key_of(door: &Door<Shut>) -> (u32, u32) {
    (door.locked_by(), door.state().by)
}

#[cfg(not(illegal))]
pub fn key_of(door: &Door<Locked>) -> (u32, u32) {
    (door.locked_by(), door.state().by)
}
