include!("../door.rs");

#[cfg(illegal)]
pub fn locked(house: House) -> Door<Locked> {
    Door { record: house, state: Locked { by: 0 } }
}

#[cfg(not(illegal))]
pub fn locked(house: House) -> Result<Door<Locked>, Door<Shut>> {
    let key = house.key;
    Door::new(house).close(Close).lock(Lock { key }).map_err(|rejected| rejected.machine)
}
