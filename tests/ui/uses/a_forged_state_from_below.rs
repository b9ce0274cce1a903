include!("../door.rs");

pub mod below {
    use super::*;

    #[cfg(illegal)]
    pub fn locked(house: House) -> Door<Locked> {
        Door { record: house, state: Locked { by: 0 } }
    }

    #[cfg(not(illegal))]
    pub fn open(house: House) -> Door<Open> {
        Door::new(house)
    }
}
