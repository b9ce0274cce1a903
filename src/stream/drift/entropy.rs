//! Text that turns into noise.

/// The pairs of characters in one window.
const WINDOW: usize = 160;
/// Pairs before the first window that counts: two windows, so that a text's common pairs have come.
const LEAST: u64 = 480;
/// The share of new pairs at which it is sure. The last window of a text that goes on has about a fifth, and code up to 56 of a hundred.
const SURE: f64 = 0.86;
/// The new pairs that the window before has at most: two fifths.
const KNOWN: u32 = 64;
/// The share of white space, in thousandths, that text before the window has at least: what has less is data.
const SPACED: u64 = 155;
/// Pairs are told apart by so many bits.
const BITS: u32 = 14;

/// The share of pairs of characters in the last window that never came before.
#[derive(Debug, Clone)]
pub(super) struct Entropy {
    /// Pairs that came, one bit each.
    seen: [u64; (1 << BITS) / 64],
    /// Of the last two windows: was the pair new, and of the last window: was its character white space?
    new: [bool; 2 * WINDOW],
    space: [bool; WINDOW],
    before: char,
    pairs: u64,
    place: usize,
    /// New pairs in the last window and in the one before.
    now: u32,
    then: u32,
    /// White space before the last window.
    spaces: u64,
}

impl Entropy {
    pub(super) fn new() -> Self {
        Entropy {
            seen: [0; (1 << BITS) / 64],
            new: [false; 2 * WINDOW],
            space: [false; WINDOW],
            before: '\n',
            pairs: 0,
            place: 0,
            now: 0,
            then: 0,
            spaces: 0,
        }
    }

    /// One more character. How sure it is that the text turned into noise.
    #[inline]
    pub(super) fn char(&mut self, c: char) -> f64 {
        let before = std::mem::replace(&mut self.before, c);
        let hash =
            u32::from(before).wrapping_mul(0x9E37_79B1).wrapping_add(u32::from(c).wrapping_mul(0x85EB_CA6B));
        let pair = hash >> (32 - BITS);
        let (word, bit) = ((pair / 64) as usize, 1 << (pair % 64));
        let new = self.seen[word] & bit == 0;
        self.seen[word] |= bit;
        let place = self.place;
        let (middle, in_window) =
            if place < WINDOW { (place + WINDOW, place) } else { (place - WINDOW, place - WINDOW) };
        self.place = if place + 1 == 2 * WINDOW { 0 } else { place + 1 };
        self.then = self.then + u32::from(self.new[middle]) - u32::from(self.new[place]);
        self.now = self.now + u32::from(new) - u32::from(self.new[middle]);
        self.new[place] = new;
        let space = c == ' ' || (c == '\n' && before != '\n');
        self.spaces += u64::from(std::mem::replace(&mut self.space[in_window], space));
        self.pairs += 1;
        let text = self.pairs.saturating_sub(WINDOW as u64);
        if self.now == 0 || self.pairs < LEAST || self.then > KNOWN || self.spaces * 1_000 < SPACED * text {
            return 0.0;
        }
        (f64::from(self.now) / WINDOW as f64 / SURE).min(1.0)
    }
}
