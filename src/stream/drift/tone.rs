//! Another tone than at the beginning.

use super::marks::Sign;
use crate::stream::guardrail::text::Word;

/// How many signs are compared with how many.
const SIGNS: u32 = 10;
/// A shift of so many signs is sure.
const SURE: f64 = 8.5;
/// So many signs on the casual side are strong, and so many on the formal side. Neutral text has neither.
const STRONG: [u32; 2] = [3, 2];
/// A word of so many letters is sober.
const LONG: u32 = 8;

/// The first signs of tone, and the last ones.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Tone {
    signs: u32,
    first: Signs,
    last: Signs,
}

/// Ten signs at most, one bit each.
#[derive(Debug, Clone, Copy, Default)]
struct Signs {
    formal: u16,
    strong: u16,
}

impl Signs {
    /// The oldest of ten falls out.
    fn push(&mut self, sign: Sign) {
        let push = |bits: u16, bit: bool| ((bits << 1) | u16::from(bit)) & ((1 << SIGNS) - 1);
        *self = Signs { formal: push(self.formal, sign.formal), strong: push(self.strong, sign.strong) };
    }

    fn formal(self) -> u32 {
        self.formal.count_ones()
    }

    /// Has it as many strong signs of that tone as it needs?
    fn is_strong(self, formal: bool) -> bool {
        let of = if formal { self.formal } else { !self.formal };
        (self.strong & of).count_ones() >= STRONG[usize::from(formal)]
    }
}

impl Tone {
    /// One more sign. How sure it is that the tone has changed.
    pub(super) fn sign(&mut self, sign: Sign) -> f64 {
        self.signs = self.signs.saturating_add(1);
        if self.signs <= SIGNS {
            self.first.push(sign);
            return 0.0;
        }
        self.last.push(sign);
        let was_formal = self.first.formal() > self.last.formal();
        if self.signs < 2 * SIGNS || !self.first.is_strong(was_formal) || !self.last.is_strong(!was_formal) {
            return 0.0;
        }
        (f64::from(self.first.formal().abs_diff(self.last.formal())) / SURE).min(1.0)
    }

    /// A word that is part of no other sign.
    pub(super) fn word(&mut self, word: Word) -> f64 {
        if word.chars >= LONG && word.plain { self.sign(Sign { formal: true, strong: false }) } else { 0.0 }
    }
}
