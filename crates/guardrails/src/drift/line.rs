//! Lines that turn from sentences into noise.

use super::token::{First, Kind, Shape};

/// Size of the window, in tokens. Most of its tokens must be odd, and at most one common; `LEAST_PROSE` tokens
/// of prose must precede it.
const TURN: u32 = 20;
const LEAST_PROSE: u32 = 10;
/// The share of odd tokens at which the confidence is 1.
const SURE_ODD: f64 = 0.714;
/// The share of odd tokens at which the confidence is 1 for a line that is noise from its beginning. Lines of
/// prose must precede it, and none of its last tokens may be common.
const SURE_LINE: f64 = 0.928;
const LEAST_BEFORE: u32 = 20;
/// Data repeat a shape. Noise has at least `SHAPES` shapes of tokens, or `NO_DATA` tokens with shapes that no
/// data have.
const SHAPES: u32 = 4;
const NO_DATA: usize = 6;
/// The share of common words in lines of prose.
const COMMON: f64 = 0.2;

/// Numbers of tokens: all, odd ones, words, and common words.
#[derive(Debug, Clone, Copy, Default)]
struct Tokens {
    all: u32,
    odd: u32,
    words: u32,
    common: u32,
}

impl Tokens {
    fn add(&mut self, other: Tokens) {
        self.all = self.all.saturating_add(other.all);
        self.odd = self.odd.saturating_add(other.odd);
        self.words = self.words.saturating_add(other.words);
        self.common = self.common.saturating_add(other.common);
    }
}

/// The current line.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Line {
    /// The last tokens, one bit each.
    odd: u32,
    words: u32,
    common: u32,
    shapes: [Shape; TURN as usize],
    /// The tokens of this line before the window, and the tokens of earlier lines.
    before: Tokens,
    lines: Tokens,
    /// Tokens of this line, and the white space before them.
    tokens: u32,
    pub(super) indent: u32,
    /// Whether the line is a row of a table, or code.
    is_row: bool,
    is_fenced: bool,
}

impl Line {
    /// Adds a token. Returns the confidence that the text turned into noise.
    #[inline]
    pub(super) fn token(&mut self, kind: Kind, first: First, shape: Shape) -> f64 {
        const LAST: u32 = TURN - 1;
        const ALL: u32 = (1 << TURN) - 1;
        if self.tokens == 0 {
            self.begin(first);
        }
        self.before.odd += self.odd >> LAST;
        self.before.words += self.words >> LAST;
        self.before.common += self.common >> LAST;
        self.odd = (self.odd << 1 | u32::from(kind == Kind::Odd)) & ALL;
        self.words = (self.words << 1 | u32::from(matches!(kind, Kind::Common | Kind::Word))) & ALL;
        self.common = (self.common << 1 | u32::from(kind == Kind::Common)) & ALL;
        self.shapes[(self.tokens % TURN) as usize] = if kind == Kind::Odd { shape } else { Shape::default() };
        self.tokens = self.tokens.saturating_add(1);
        // Most windows have several common words.
        if self.common & self.common.wrapping_sub(1) != 0 || self.odd == 0 { 0.0 } else { self.noise() }
    }

    fn begin(&mut self, first: First) {
        self.is_fenced ^= first == First::Fence;
        self.is_row = matches!(first, First::Mark | First::Fence) || self.is_fenced || self.indent >= 4;
    }

    fn noise(&self) -> f64 {
        if self.is_row || self.tokens < TURN || self.is_data() {
            return 0.0;
        }
        let share = |count: u32, all: u32| f64::from(count) / f64::from(all.max(1));
        let odd = share(self.odd.count_ones(), TURN);
        let (before, lines) = (self.tokens - TURN, self.lines);
        let is_prose = before >= LEAST_PROSE
            && share(self.before.common, before) >= 0.18
            && share(self.before.words, before) >= 0.7;
        let follows_prose = lines.all >= LEAST_BEFORE
            && share(lines.common, lines.all) >= COMMON
            && share(lines.odd, lines.all) <= 0.1;
        let sure = if is_prose { odd / SURE_ODD } else { 0.0 };
        sure.max(if follows_prose && self.common == 0 { odd / SURE_LINE } else { 0.0 }).min(1.0)
    }

    /// Returns whether the last tokens are data, such as scores, flags of a command, ids or links.
    fn is_data(&self) -> bool {
        let is_shaped = |shape: &&Shape| **shape != Shape::default();
        let shapes = self.shapes.iter().filter(is_shaped).fold(0, |all, shape| all | shape.bit());
        let no_data = self.shapes.iter().filter(|shape| shape.is_no_data()).count();
        u32::count_ones(shapes) < SHAPES && no_data < NO_DATA
    }

    /// Ends the line.
    pub(super) fn end(&mut self) {
        let mut lines = self.lines;
        if !self.is_row {
            let Line { before, tokens, odd, words, common, .. } = *self;
            lines.add(before);
            let (odd, words, common) = (odd.count_ones(), words.count_ones(), common.count_ones());
            lines.add(Tokens { all: tokens, odd, words, common });
        }
        *self = Line { lines, is_fenced: self.is_fenced, ..Line::default() };
    }
}
