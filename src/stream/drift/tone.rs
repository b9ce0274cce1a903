//! Another tone than at the beginning.

/// How many marks are compared with how many.
const MARKS: u32 = 8;

/// The first marks of tone, and the last ones.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Tone {
    marks: u32,
    /// How many of the first marks were formal.
    first: u32,
    /// The last marks after those, one bit each.
    last: u8,
}

impl Tone {
    /// One more mark. How sure it is that the tone has changed.
    pub(super) fn mark(&mut self, formal: bool) -> f64 {
        self.marks = self.marks.saturating_add(1);
        if self.marks <= MARKS {
            self.first += u32::from(formal);
            return 0.0;
        }
        // Eight bits for eight marks: the oldest falls out.
        self.last = (self.last << 1) | u8::from(formal);
        if self.marks < 2 * MARKS {
            return 0.0;
        }
        f64::from(self.first.abs_diff(self.last.count_ones())) / f64::from(MARKS)
    }
}
