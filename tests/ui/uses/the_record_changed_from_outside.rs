pub mod author {
    include!("../door.rs");

    pub fn rekeyed(mut door: Door<Open>, key: u32) -> Door<Open> {
        door.record_mut().key = key;
        door
    }
}

use author::{Door, Open};

#[cfg(illegal)]
pub fn rekeyed(mut door: Door<Open>) -> Door<Open> {
    door.record_mut().key = 0;
    let _: &mut Open = door.state_mut();
    door
}

#[cfg(not(illegal))]
pub fn rekeyed(door: Door<Open>) -> Door<Open> {
    author::rekeyed(door, 0)
}
