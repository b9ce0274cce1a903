//! Text that turns into noise.

use std::collections::{HashSet, VecDeque};
use std::hash::BuildHasherDefault;
use std::sync::LazyLock;

use super::repetition::AsItIs;

/// The window has the last runs of so many characters, and the text before it at least so many that are no white space.
const WINDOW: u64 = 160;
const LEAST: u64 = 128;
/// The share of text before the window that is words, at least, in a hundred: text with fewer is code or data.
const WORDS: u64 = 85;
/// The share of new pairs of characters in the window at which it is sure.
const SURE: f64 = 0.757;
/// The share of words in the window at which it is none.
const NONE: f64 = 0.4;
/// Pairs are told apart by so many bits.
const BITS: u32 = 14;
/// Of so many words the changes of script count, where they are in so many scripts; at so many changes it is sure.
const SCRIPT_WORDS: usize = 30;
const SCRIPTS: u32 = 4;
const SURE_CHANGES: f64 = 21.0;
/// At so many words in a row without a common one it is sure, where one in five is common in a text of so many before.
const SURE_RARE: f64 = 28.5;
const COMMON: f64 = 0.2;
const LEAST_WORDS: u32 = 20;
/// Of the lower-case letters of ASCII, one bit each.
const VOWELS: u32 = 1 | 1 << 4 | 1 << 8 | 1 << 14 | 1 << 20 | 1 << 24;
/// The longest word, number, and acronym, in characters, and the longest one without a vowel.
const LONGEST: u32 = 22;
const LONGEST_NUMBER: u32 = 8;
const LONGEST_ACRONYM: u32 = 12;
const LONGEST_MUTE: u32 = 3;

/// After text of words: a window with new pairs of characters and with few words, words of many scripts by turns, or words without a
/// sentence, which lack the common ones.
#[derive(Debug, Clone)]
pub(super) struct Entropy {
    /// Pairs that came, one bit each.
    seen: [u64; (1 << BITS) / 64],
    before: char,
    token: Token,
    /// The run that is being read: white space, and the token behind it.
    run: Run,
    window: VecDeque<Run>,
    /// In the window, and before it.
    now: Run,
    then: Run,
    /// The scripts of the last words, if some are foreign, and how many are.
    scripts: VecDeque<Script>,
    foreign: u32,
    /// The script of the first word. Words of another one are none of this text.
    home: Option<Script>,
    /// Words, common ones among them, and those in a row that are none.
    words: u32,
    common: u32,
    rare: u32,
}

/// Characters of some text.
#[derive(Debug, Clone, Copy, Default)]
struct Run {
    chars: u64,
    /// How many end a new pair, are no white space, and are of words.
    new: u64,
    ink: u64,
    words: u64,
}

impl Run {
    fn add(&mut self, other: Run) {
        self.chars += other.chars;
        self.new += other.new;
        self.ink += other.ink;
        self.words += other.words;
    }

    fn take(&mut self, other: Run) {
        self.chars -= other.chars;
        self.new -= other.new;
        self.ink -= other.ink;
        self.words -= other.words;
    }
}

impl Entropy {
    pub(super) fn new() -> Self {
        Entropy {
            seen: [0; (1 << BITS) / 64],
            before: '\n',
            token: Token::default(),
            run: Run::default(),
            window: VecDeque::new(),
            now: Run::default(),
            then: Run::default(),
            scripts: VecDeque::new(),
            foreign: 0,
            home: None,
            words: 0,
            common: 0,
            rare: 0,
        }
    }

    /// One more character. How sure it is that the text turned into noise. A token counts once it has ended, or is too long for a word.
    #[inline]
    pub(super) fn char(&mut self, c: char) -> f64 {
        self.run.new += u64::from(self.is_new(c));
        self.run.chars += 1;
        if c.is_whitespace() {
            return if self.token.chars == 0 { 0.0 } else { self.end_token() };
        }
        self.token.char(c);
        if self.token.chars <= LONGEST { 0.0 } else { self.cut_token() }
    }

    #[inline]
    fn is_new(&mut self, c: char) -> bool {
        let before = std::mem::replace(&mut self.before, c);
        let hash =
            u32::from(before).wrapping_mul(0x9E37_79B1).wrapping_add(u32::from(c).wrapping_mul(0x85EB_CA6B));
        let pair = hash >> (32 - BITS);
        let (word, bit) = ((pair / 64) as usize, 1 << (pair % 64));
        let new = self.seen[word] & bit == 0;
        self.seen[word] |= bit;
        new
    }

    /// A token has ended, with the white space behind it.
    fn end_token(&mut self) -> f64 {
        let token = std::mem::take(&mut self.token);
        self.home = self.home.or(token.script);
        let is_word = token.is_word() && token.script.is_none_or(|script| self.home == Some(script));
        let turns = token.script.map_or(0.0, |script| self.script(script)).max(self.sentence(token, is_word));
        turns.max(self.push(token.chars, is_word))
    }

    /// A token is too long for a word.
    fn cut_token(&mut self) -> f64 {
        let token = Token { part: Part::Odd, ..Token::default() };
        let Token { chars, script, .. } = std::mem::replace(&mut self.token, token);
        self.token.script = script;
        self.push(chars, false)
    }

    fn push(&mut self, ink: u32, is_word: bool) -> f64 {
        let ink = u64::from(ink);
        let run = Run { ink, words: if is_word { ink } else { 0 }, ..std::mem::take(&mut self.run) };
        self.window.push_back(run);
        self.now.add(run);
        while let Some(first) =
            self.window.front().copied().filter(|first| self.now.chars - first.chars >= WINDOW)
        {
            self.window.pop_front();
            self.now.take(first);
            self.then.add(first);
        }
        let Run { chars, new, ink, words } = self.now;
        // Most windows are of words.
        if 5 * words >= 2 * ink || self.then.ink < LEAST || self.then.words * 100 < WORDS * self.then.ink {
            return 0.0;
        }
        let new = new as f64 / chars as f64 / SURE;
        new.min(1.0 - words as f64 / ink as f64 / NONE).clamp(0.0, 1.0)
    }

    /// How sure it is that the words are no sentence. Names and numbers stand in lists, which are none either.
    fn sentence(&mut self, token: Token, is_word: bool) -> f64 {
        if !is_word || token.script != Some(Script::Latin) {
            self.rare = 0;
            return 0.0;
        }
        self.words = self.words.saturating_add(1);
        if COMMON_WORDS.contains(&token.hash) {
            self.common += 1;
            self.rare = 0;
        } else if token.is_lower && token.letters > 2 {
            self.rare += 1;
        } else {
            self.rare = 0;
        }
        let before = self.words - self.rare;
        if before < LEAST_WORDS || f64::from(self.common) < COMMON * f64::from(before) {
            return 0.0;
        }
        (f64::from(self.rare) / SURE_RARE).min(1.0)
    }

    /// A word has ended.
    fn script(&mut self, script: Script) -> f64 {
        let is_foreign = |script: &Script| Some(*script) != self.home;
        // Most words are of one script, and nothing of those is kept.
        if self.foreign == 0 && !is_foreign(&script) {
            return 0.0;
        }
        if self.foreign == 0 {
            self.scripts.clear();
            self.scripts.extend(self.home);
        }
        self.foreign += u32::from(is_foreign(&script));
        self.scripts.push_back(script);
        if self.scripts.len() > SCRIPT_WORDS {
            self.foreign -= u32::from(self.scripts.pop_front().as_ref().is_some_and(is_foreign));
        }
        let all = self.scripts.iter().fold(0u32, |all, script| all | 1 << *script as u32);
        if all.count_ones() < SCRIPTS {
            return 0.0;
        }
        let changes =
            self.scripts.iter().zip(self.scripts.iter().skip(1)).filter(|(one, next)| one != next).count();
        (changes as f64 / SURE_CHANGES).min(1.0)
    }
}

/// A run without white space.
#[derive(Debug, Clone, Copy, Default)]
struct Token {
    chars: u32,
    part: Part,
    /// The letters of a word, or the digits of a number, and those of the part behind a hyphen or an apostrophe.
    letters: u32,
    uppers: u32,
    lowers: u32,
    vowel: bool,
    script: Option<Script>,
    /// Of the letters, in lower case. And is the first one in lower case?
    hash: u64,
    is_lower: bool,
    /// Is it Latin so far, with at most one letter in upper case?
    is_plain: bool,
}

/// Where in the token its last character stands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Part {
    /// Marks before the word.
    #[default]
    Before,
    Word,
    Number,
    /// A hyphen or an apostrophe in the word, or a mark in the number.
    Joint,
    Point,
    /// Marks behind the word.
    Behind,
    Odd,
}

impl Token {
    #[inline]
    fn char(&mut self, c: char) {
        self.chars += 1;
        // Most characters are such.
        if c.is_ascii_lowercase() && self.part == Part::Word && self.is_plain {
            self.letters += 1;
            self.lowers += 1;
            self.hash = hashed(self.hash, c);
            self.vowel |= VOWELS >> (c as u32 - 'a' as u32) & 1 == 1;
            return;
        }
        self.next(c);
    }

    fn next(&mut self, c: char) {
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

    /// Does the word go on with that letter?
    fn takes(&mut self, c: char) -> bool {
        let script = Script::of(c);
        let goes_on = self.script.is_none_or(|known| known == script);
        self.script = self.script.or(Some(script));
        // A word is in lower case, or in upper case, but for its first letter.
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

    fn is_word(self) -> bool {
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

fn hashed(hash: u64, c: char) -> u64 {
    (hash ^ u64::from(u32::from(c))).wrapping_mul(0x0000_0100_0000_01B3)
}

/// English words that few sentences do without, by their hashes.
static COMMON_WORDS: LazyLock<HashSet<u64, BuildHasherDefault<AsItIs>>> = LazyLock::new(|| {
    let words = "a all an and any are as at be between but by can do does did each for from had has have he her him his how i if in into \
                 is it its me more most my no not of on or other our over she so some than that the their them then there they this to \
                 under us was we were what when which who will with yes you your";
    words.split_whitespace().map(|word| word.chars().fold(0, hashed)).collect()
});

/// Is it a mark that stands before and behind words?
fn is_of_prose(c: char) -> bool {
    ".,;:!?()[]\"'“”‘’«»„*_`—–…#>|-".contains(c)
}

/// Is it a mark that combines with a letter?
fn is_mark(c: char) -> bool {
    matches!(u32::from(c), 0x300..=0x36F | 0x591..=0x5C7 | 0x64B..=0x65F | 0x900..=0xE7F)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Script {
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
