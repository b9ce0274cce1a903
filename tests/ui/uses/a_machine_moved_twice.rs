include!("../door.rs");

pub fn close_twice(door: Door<Open>) -> (Door<Shut>, Option<Door<Shut>>) {
    let first = door.close(Close);
    #[cfg(illegal)]
    let second = Some(door.close(Close));
    #[cfg(not(illegal))]
    let second = None;
    (first, second)
}
