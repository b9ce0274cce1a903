include!("../door.rs");
use runstate::kernel::Retired;

#[cfg(illegal)]
pub fn parts(door: Door<Shut>) -> (Retired<House>, Shut) {
    door.into_parts()
}

#[cfg(not(illegal))]
pub fn parts(door: Door<Bricked>) -> (Retired<House>, Bricked) {
    door.into_parts()
}
