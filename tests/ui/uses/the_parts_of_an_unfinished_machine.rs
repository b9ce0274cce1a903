include!("../door.rs");

#[cfg(illegal)]
pub fn parts(door: Door<Shut>) -> (House, Shut) {
    door.into_parts()
}

#[cfg(not(illegal))]
pub fn parts(door: Door<Bricked>) -> (House, Bricked) {
    door.into_parts()
}
