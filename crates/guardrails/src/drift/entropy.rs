//! Text that turns into noise.

use std::collections::{HashSet, VecDeque};
use std::hash::BuildHasherDefault;
use std::sync::LazyLock;

use super::line::Line;
use super::repetition::AsItIs;
use super::token::{Kind, LONGEST, Script, Token, hashed};

/// Size of the window, in characters, and the least number of characters other than white space before it.
const WINDOW: u64 = 160;
const LEAST: u64 = 128;
/// The least share of words in the text before the window, in percent. Text with fewer words is code or data.
const WORDS: u64 = 85;
/// The share of new pairs of characters in the window at which the confidence is 1.
const SURE: f64 = 0.757;
/// The share of words in the window at which the confidence is 0.
const NONE: f64 = 0.4;
/// Bits of the hash of a pair.
const BITS: u32 = 14;
/// Size of the window for changes of script, in words; the least number of scripts in it; and the number of
/// changes at which the confidence is 1.
const SCRIPT_WORDS: usize = 30;
const SCRIPTS: u32 = 4;
const SURE_CHANGES: f64 = 21.0;
/// The number of consecutive uncommon words at which the confidence is 1. `COMMON` is the least share of common
/// words in the text before, and `LEAST_WORDS` its least length in words.
const SURE_RARE: f64 = 28.5;
const COMMON: f64 = 0.2;
const LEAST_WORDS: u32 = 20;
/// A window of `SALAD` tokens is a salad of words if all but one are common words, and at least `DISTINCT` of
/// these differ.
const SALAD: usize = 24;
const DISTINCT: usize = 12;
const LAST: usize = 32;

/// Detector of noise after text of words. Noise is a window with new pairs of characters and few words; words
/// of many scripts in turn; or words without a sentence, which have no common words or only common words. A
/// line that begins as a sentence and continues without words is noise, too.
#[derive(Debug, Clone)]
pub(super) struct Entropy {
    /// The pairs seen so far, one bit for each hash.
    seen: [u64; (1 << BITS) / 64],
    before: char,
    token: Token,
    /// The current run: white space, and the token after it.
    run: Run,
    window: VecDeque<Run>,
    /// Sums of the runs in the window, and before the window.
    now: Run,
    then: Run,
    /// The scripts of the last words if some are foreign, and the number of the foreign ones.
    scripts: VecDeque<Script>,
    foreign: u32,
    /// The script of the first word. Words of another script do not count as words of this text.
    home: Option<Script>,
    /// Numbers of words, of common words, and of the latest consecutive uncommon words.
    words: u32,
    common: u32,
    rare: u32,
    /// The last tokens, one bit each, set for common words; and the hashes of the last common words.
    recent: u32,
    last: [u64; LAST],
    line: Line,
}

/// Counts of the characters of a text.
#[derive(Debug, Clone, Copy, Default)]
struct Run {
    chars: u64,
    /// Characters that end a new pair, that are not white space, and that belong to words.
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
            recent: 0,
            last: [0; LAST],
            line: Line::default(),
        }
    }

    /// Adds a character. Returns the confidence that the text turned into noise. A token counts at its end, or
    /// when it is too long for a word.
    #[inline]
    pub(super) fn char(&mut self, c: char) -> f64 {
        self.run.new += u64::from(self.is_new(c));
        self.run.chars += 1;
        if c.is_whitespace() {
            let sure = if self.token.chars == 0 {
                self.line.indent += 1;
                0.0
            } else {
                self.end_token()
            };
            match c {
                '\n' => self.line.end(),
                '\t' => self.line.indent += 3,
                _ => {}
            }
            return sure;
        }
        self.token.char(c);
        if self.token.chars <= LONGEST { 0.0 } else { self.cut_token() }
    }

    /// Returns how many lower-case letters may follow within the word.
    #[inline]
    pub(super) fn quiet(&self) -> usize {
        self.token.quiet()
    }

    /// Adds such letters.
    #[inline]
    pub(super) fn pass(&mut self, letters: &[u8]) {
        for c in letters.iter() {
            self.run.new += u64::from(self.is_new(char::from(*c)));
        }
        self.run.chars += letters.len() as u64;
        self.token.pass(letters);
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

    /// Ends a token. The white space after it belongs to the next run.
    fn end_token(&mut self) -> f64 {
        let token = std::mem::take(&mut self.token);
        self.home = self.home.or(token.script);
        let is_word = token.is_word() && token.script.is_none_or(|script| self.home == Some(script));
        let is_latin = is_word && token.script == Some(Script::Latin);
        let is_common = is_latin && COMMON_WORDS.contains(&token.hash);
        let mut sure = token.script.map_or(0.0, |script| self.script(script));
        sure = sure.max(self.sentence(token, is_latin, is_common));
        if self.home == Some(Script::Latin) {
            sure = sure.max(self.turn(token, is_latin, is_common));
        }
        sure.max(self.push(token.chars, is_word))
    }

    /// Returns the number of different words among the last common words.
    fn distinct(&self) -> usize {
        let at = self.common as usize + LAST;
        let last: Vec<u64> =
            (at + 1 - self.recent.count_ones() as usize..=at).map(|at| self.last[at % LAST]).collect();
        (0..last.len()).filter(|at| !last[..*at].contains(&last[*at])).count()
    }

    /// Returns the confidence that a sentence turned into noise.
    #[inline]
    fn turn(&mut self, token: Token, is_latin: bool, is_common: bool) -> f64 {
        let kind = if is_common { Kind::Common } else { token.kind(is_latin) };
        self.recent = (self.recent << 1 | u32::from(is_common)) & ((1 << SALAD) - 1);
        if is_common {
            self.last[self.common as usize % LAST] = token.hash;
        }
        let is_salad = self.recent.count_ones() as usize + 1 >= SALAD && self.distinct() >= DISTINCT;
        let salad = f64::from(u8::from(is_salad));
        self.line.token(kind, token.first, token.shape()).max(salad)
    }

    /// Handles a token that is too long for a word.
    fn cut_token(&mut self) -> f64 {
        let token = Token::odd();
        let cut = std::mem::replace(&mut self.token, token);
        let Token { chars, script, first, .. } = cut;
        self.token.script = script;
        let is_latin = self.home == Some(Script::Latin);
        let noise = if is_latin { self.line.token(Kind::Odd, first, cut.shape()) } else { 0.0 };
        noise.max(self.push(chars, false))
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
        // Most windows consist of words.
        if 5 * words >= 2 * ink || self.then.ink < LEAST || self.then.words * 100 < WORDS * self.then.ink {
            return 0.0;
        }
        let new = new as f64 / chars as f64 / SURE;
        new.min(1.0 - words as f64 / ink as f64 / NONE).clamp(0.0, 1.0)
    }

    /// Returns the confidence that the words form no sentence. Names and numbers do not count, because lists of
    /// them form no sentences either.
    fn sentence(&mut self, token: Token, is_latin: bool, is_common: bool) -> f64 {
        if !is_latin {
            self.rare = 0;
            return 0.0;
        }
        self.words = self.words.saturating_add(1);
        if is_common {
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

    /// Adds the script of a word that ended.
    fn script(&mut self, script: Script) -> f64 {
        let is_foreign = |script: &Script| Some(*script) != self.home;
        // Most texts have one script. For these no window is kept.
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

/// The hashes of English words that occur in most sentences.
static COMMON_WORDS: LazyLock<HashSet<u64, BuildHasherDefault<AsItIs>>> = LazyLock::new(|| {
    let words = "a all an and any are as at be between but by can do does did each for from had has have he her him his how i if in into \
                 is it its me more most my no not of on or other our over she so some than that the their them then there they this to \
                 under us was we were what when which who will with yes you your";
    words.split_whitespace().map(|word| word.chars().fold(0, hashed)).collect()
});
