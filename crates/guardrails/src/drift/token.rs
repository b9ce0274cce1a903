//! Runs of characters without white space, and their classes.

/// The vowels among the lower-case letters of ASCII, one bit each.
const VOWELS: u32 = 1 | 1 << 4 | 1 << 8 | 1 << 14 | 1 << 20 | 1 << 24;
/// The longest word, number, and acronym, in characters, and the longest word without a vowel.
pub(super) const LONGEST: u32 = 22;
const LONGEST_NUMBER: u32 = 8;
const LONGEST_ACRONYM: u32 = 12;
const LONGEST_MUTE: u32 = 3;

/// Classes of the characters of a token, as a set.
const LOWER: u8 = 1;
const UPPER: u8 = 2;
const DIGIT: u8 = 4;
const MARK: u8 = 8;
const FOREIGN: u8 = 16;

/// A run of characters without white space.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Token {
    pub(super) chars: u32,
    pub(super) part: Part,
    /// Letters of a word, or digits of a number, up to the present part. A hyphen or an apostrophe begins a new
    /// part.
    pub(super) letters: u32,
    uppers: u32,
    lowers: u32,
    vowel: bool,
    pub(super) script: Option<Script>,
    /// The hash of the letters, in lower case; and whether the first letter is in lower case.
    pub(super) hash: u64,
    pub(super) is_lower: bool,
    /// Whether the token is Latin so far, with at most one letter in upper case.
    is_plain: bool,
    /// Whether the token is a number with a comma after it.
    is_item: bool,
    pub(super) first: First,
    shape: u8,
}

/// The position of the last character within the token.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Part {
    /// Marks before the word.
    #[default]
    Before,
    Word,
    Number,
    /// A hyphen or an apostrophe in the word, or a mark in the number.
    Joint,
    Point,
    /// Marks after the word.
    Behind,
    Odd,
}

impl Token {
    /// Creates the rest of a token that is not a word.
    pub(super) fn odd() -> Self {
        Token { part: Part::Odd, ..Token::default() }
    }

    #[inline]
    pub(super) fn char(&mut self, c: char) {
        self.chars += 1;
        // Most words begin with a lower-case letter.
        if c.is_ascii_lowercase()
            && self.part == Part::Before
            && self.script.is_none_or(|it| it == Script::Latin)
        {
            self.begin_word(c);
            return;
        }
        self.next(c);
    }

    /// Returns how many lower-case letters may follow within a plain word.
    #[inline]
    pub(super) fn quiet(&self) -> usize {
        if self.part == Part::Word && self.is_plain { LONGEST.saturating_sub(self.chars) as usize } else { 0 }
    }

    /// Adds such letters.
    #[inline]
    pub(super) fn pass(&mut self, letters: &[u8]) {
        let number = letters.len() as u32;
        self.chars += number;
        self.letters += number;
        self.lowers += number;
        self.shape |= LOWER;
        for c in letters.iter() {
            self.hash = hashed(self.hash, char::from(*c));
            self.vowel |= is_vowel(char::from(*c));
        }
    }

    /// Takes the first letter of a plain word.
    #[inline]
    fn begin_word(&mut self, c: char) {
        self.is_item = false;
        self.part = Part::Word;
        self.script = Some(Script::Latin);
        self.is_plain = self.uppers <= 1;
        if self.letters == 0 {
            self.is_lower = true;
        }
        self.letters += 1;
        self.lowers += 1;
        self.shape |= LOWER;
        self.hash = hashed(self.hash, c);
        self.vowel |= is_vowel(c);
    }

    fn next(&mut self, c: char) {
        self.is_item = c == ',' && self.part == Part::Number;
        self.shape |= match c {
            'a'..='z' => LOWER,
            'A'..='Z' => UPPER,
            '0'..='9' => DIGIT,
            c if c.is_ascii() => MARK,
            _ => FOREIGN,
        };
        if self.chars <= 3 && c.is_ascii_punctuation() {
            self.first = match (self.first, c) {
                (First::Other, '|' | '>' | '$' | '+' | '<' | '[' | '!') if self.chars == 1 => First::Mark,
                (First::Other, '`') if self.chars == 1 => First::Ticks(1),
                (First::Ticks(ticks), '`') if u32::from(ticks) + 1 == self.chars => {
                    if ticks == 2 {
                        First::Fence
                    } else {
                        First::Ticks(ticks + 1)
                    }
                }
                (first, _) => first,
            };
        }
        let is_letter = c.is_alphabetic() || (self.part == Part::Word && is_mark(c));
        let part = self.part;
        self.part = match part {
            Part::Odd => Part::Odd,
            Part::Behind if is_letter || c.is_numeric() => Part::Odd,
            Part::Before | Part::Word | Part::Joint if is_letter && self.takes(c) => Part::Word,
            Part::Before | Part::Number | Part::Point if c.is_ascii_digit() => {
                self.letters += 1;
                Part::Number
            }
            _ if is_letter || c.is_numeric() || !is_of_prose(c) => Part::Odd,
            Part::Before => Part::Before,
            Part::Word if matches!(c, '-' | '\'' | '’') => {
                (self.uppers, self.lowers) = (0, 0);
                Part::Joint
            }
            Part::Number if matches!(c, '.' | ',' | ':' | '/' | '-') => Part::Point,
            _ => Part::Behind,
        };
    }

    /// Returns whether the word continues with that letter.
    fn takes(&mut self, c: char) -> bool {
        let script = Script::of(c);
        let goes_on = self.script.is_none_or(|known| known == script);
        self.script = self.script.or(Some(script));
        // Apart from its first letter, a word is in lower case or in upper case throughout.
        let fits = if c.is_uppercase() { self.lowers == 0 } else { self.uppers <= 1 };
        if self.letters == 0 {
            self.is_lower = c.is_lowercase();
        }
        self.hash = hashed(self.hash, c.to_ascii_lowercase());
        self.uppers += u32::from(c.is_uppercase());
        self.lowers += u32::from(c.is_lowercase());
        self.letters += 1;
        self.is_plain = script == Script::Latin && self.uppers <= 1;
        self.vowel |= script != Script::Latin
            || !c.is_ascii()
            || matches!(c.to_ascii_lowercase(), 'a' | 'e' | 'i' | 'o' | 'u' | 'y');
        goes_on && fits
    }

    /// Returns the kind of a token that is not a common word.
    pub(super) fn kind(self, is_latin: bool) -> Kind {
        match (is_latin, self.is_item) {
            (true, _) if self.letters > 2 && self.vowel && self.uppers == 0 => Kind::Word,
            (true, _) if self.uppers > 0 && (self.letters > 1 || self.chars == 1) => Kind::Other,
            (false, true) if self.part != Part::Odd => Kind::Other,
            _ => Kind::Odd,
        }
    }

    /// Returns the set of its characters. A token of one character has the empty set.
    pub(super) fn shape(self) -> Shape {
        Shape(if self.chars > 1 { self.shape } else { 0 })
    }

    pub(super) fn is_word(self) -> bool {
        match self.part {
            Part::Odd => false,
            Part::Before => self.chars <= 3,
            _ if self.script.is_none() => self.letters <= LONGEST_NUMBER,
            _ => {
                self.chars <= LONGEST
                    && (self.vowel || self.letters <= LONGEST_MUTE)
                    && (self.uppers < 2 || self.letters <= LONGEST_ACRONYM)
            }
        }
    }
}

/// Returns whether a lower-case letter of ASCII is a vowel.
fn is_vowel(c: char) -> bool {
    VOWELS >> (u32::from(c) - u32::from('a')) & 1 == 1
}

pub(super) fn hashed(hash: u64, c: char) -> u64 {
    (hash ^ u64::from(u32::from(c))).wrapping_mul(0x0000_0100_0000_01B3)
}

/// The kinds of tokens of a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Common,
    Word,
    /// A name, an acronym, an item of a list of numbers.
    Other,
    Odd,
}

/// The characters of a token that is not a word.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Shape(u8);

impl Shape {
    /// Returns whether the token has letters without a vowel, several marks or characters of another script.
    /// Ids, scores, flags and links have none of these.
    pub(super) fn is_no_data(self) -> bool {
        matches!(self.0, LOWER | MARK) || self.0 & FOREIGN != 0
    }

    /// Returns the bit of the set. Different sets have different bits.
    pub(super) fn bit(self) -> u32 {
        1 << self.0
    }
}

/// The beginning of a token.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum First {
    #[default]
    Other,
    /// The mark of a table's row, a quotation, a prompt or a difference.
    Mark,
    Ticks(u8),
    Fence,
}

/// Returns whether the character is a mark that occurs before and after words.
fn is_of_prose(c: char) -> bool {
    ".,;:!?()[]\"'“”‘’«»„*_`—–…#>|-".contains(c)
}

/// Returns whether the character is a mark that combines with a letter.
fn is_mark(c: char) -> bool {
    matches!(u32::from(c), 0x300..=0x36F | 0x591..=0x5C7 | 0x64B..=0x65F | 0x900..=0xE7F)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Script {
    Latin,
    Greek,
    Cyrillic,
    Armenian,
    Hebrew,
    Arabic,
    Indic,
    Thai,
    Georgian,
    Hangul,
    EastAsian,
    Other,
}

impl Script {
    fn of(c: char) -> Script {
        match u32::from(c) {
            0..0x250 | 0x1E00..0x1F00 => Script::Latin,
            0x370..0x400 | 0x1F00..0x2000 => Script::Greek,
            0x400..0x530 => Script::Cyrillic,
            0x530..0x590 => Script::Armenian,
            0x590..0x600 => Script::Hebrew,
            0x600..0x780 => Script::Arabic,
            0x900..0xE00 => Script::Indic,
            0xE00..0xE80 => Script::Thai,
            0x10A0..0x1100 => Script::Georgian,
            0x1100..0x1200 | 0xAC00..0xD7B0 => Script::Hangul,
            0x3040..0xA000 => Script::EastAsian,
            _ => Script::Other,
        }
    }
}
