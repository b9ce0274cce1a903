include!("../door.rs");

#[cfg(illegal)]
pub fn rekeyed(mut door: Door<Open>, house: House) -> Door<Open> {
    door.record = house;
    door
}

#[cfg(not(illegal))]
pub fn rekeyed(mut door: Door<Open>, house: House) -> Door<Open> {
    *door.record_mut() = house;
    door
}
