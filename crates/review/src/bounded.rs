//! A text of limited size.

/// A text of at most that size. A part without room is left out whole, and counted.
pub(crate) struct Bounded {
    pub(crate) text: String,
    pub(crate) room: usize,
    pub(crate) left_out: u64,
}

impl Bounded {
    pub(crate) fn put(&mut self, part: &str) {
        if self.text.len() + part.len() > self.room {
            self.left_out += 1;
        } else {
            self.text.push_str(part);
        }
    }
}
