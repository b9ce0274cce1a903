//! Shapes of sentences: words in an order, with other words between them.

use crate::text::{Fold, is_word};

/// The most words of a sentence, one bit each. Later words are ignored.
const WORDS: usize = 120;
/// The longest distance from a trigger to the beginning and to the end of its sentence, in bytes.
pub(super) const LONGEST: usize = 600;

/// One part of a shape. Positions between words are bits: a part maps a set of positions to the set of
/// positions after it.
#[derive(Debug, Clone)]
enum Part {
    Word(String),
    /// A word of digits.
    Number,
    /// Up to this number of words.
    Gap(u32),
    /// One of several alternatives, each a sequence of parts.
    OneOf(Vec<Vec<Part>>),
    /// A word at which none of the alternatives begins.
    Not(Vec<Vec<Part>>),
    Start,
    End,
}

/// A shape of a sentence.
///
/// Its text has words, `#` for a number, `..` for up to four words, `...` for up to ten, `(a|b c|)` for
/// alternatives, `!(a|b)` for a word at which none of the alternatives begins, and `^` and `$` for the ends of
/// the sentence. A colon is a word; other punctuation is ignored.
#[derive(Debug, Clone)]
pub(super) struct Shape {
    parts: Vec<Part>,
    /// For each part of which each alternative has words: a set with one word of each. A sentence of this shape
    /// has a word of each set, and most sentences have not.
    needs: Vec<WordSet>,
}

impl Shape {
    pub(super) fn new(text: &str) -> Self {
        let (mut rows, _) = rows(text);
        let parts = rows.pop().unwrap_or_default();
        let needs = parts.iter().filter_map(|part| {
            let mut words = WordSet::default();
            add_words(part, &mut words).then_some(words)
        });
        Shape { needs: needs.collect(), parts }
    }

    /// Returns whether the sentence has this shape.
    pub(super) fn is_in(&self, sentence: &Sentence) -> bool {
        if !self.needs.iter().all(|words| words.meets(&sentence.set)) {
            return false;
        }
        let words: Vec<&str> = sentence.words().collect();
        let all = (1 << words.len()) | ((1 << words.len()) - 1);
        row(&self.parts, &words, all) != 0
    }
}

/// A set of words by their hashes. It may contain words that were not added.
#[derive(Debug, Clone, Default)]
struct WordSet([u64; 16]);

impl WordSet {
    fn add(&mut self, word: &str) {
        let hash = word.bytes().fold(0xCBF2_9CE4_8422_2325, |hash: u64, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3)
        });
        let bit = (hash ^ hash >> 32) % 1024;
        self.0[(bit / 64) as usize] |= 1 << (bit % 64);
    }

    fn meets(&self, other: &WordSet) -> bool {
        self.0.iter().zip(&other.0).any(|(one, other)| one & other != 0)
    }
}

/// Adds a word of each alternative. Returns false if an alternative has none.
fn add_words(part: &Part, words: &mut WordSet) -> bool {
    match part {
        Part::Word(word) => {
            words.add(word);
            true
        }
        Part::OneOf(rows) => rows.iter().all(|row| row.iter().any(|part| add_words(part, words))),
        Part::Number | Part::Gap(_) | Part::Not(_) | Part::Start | Part::End => false,
    }
}

/// Reads the alternatives of a group, up to its end. Returns the text after it.
fn rows(mut text: &str) -> (Vec<Vec<Part>>, &str) {
    let mut rows = vec![vec![]];
    loop {
        text = text.trim_start_matches(' ');
        let parts = rows.len() - 1;
        let row = &mut rows[parts];
        if let Some(rest) = text.strip_prefix('|') {
            rows.push(vec![]);
            text = rest;
        } else if let Some(rest) = text.strip_prefix("!(") {
            let (not, rest) = self::rows(rest);
            row.push(Part::Not(not));
            text = rest;
        } else if let Some(rest) = text.strip_prefix('(') {
            let (one_of, rest) = self::rows(rest);
            row.push(Part::OneOf(one_of));
            text = rest;
        } else if text.is_empty() || text.starts_with(')') {
            return (rows, text.strip_prefix(')').unwrap_or_default());
        } else {
            let end = text.find([' ', '(', ')', '|']).unwrap_or(text.len());
            let (word, rest) = text.split_at(end);
            row.push(match word {
                ".." => Part::Gap(4),
                "..." => Part::Gap(10),
                "#" => Part::Number,
                "^" => Part::Start,
                "$" => Part::End,
                word => Part::Word(word.to_owned()),
            });
            text = rest;
        }
    }
}

fn row(parts: &[Part], words: &[&str], mut places: u128) -> u128 {
    for part in parts {
        if places == 0 {
            break;
        }
        places = match part {
            Part::Word(word) => behind(words, places, |_, other| other == word),
            Part::Number => behind(words, places, |_, word| word.bytes().all(|c| c.is_ascii_digit())),
            Part::Gap(most) => {
                let all = (1 << words.len()) | ((1 << words.len()) - 1);
                (0..*most).fold(places, |places, _| places | places << 1) & all
            }
            Part::OneOf(rows) => rows.iter().fold(0, |all, parts| all | row(parts, words, places)),
            Part::Not(rows) => {
                behind(words, places, |place, _| rows.iter().all(|parts| row(parts, words, 1 << place) == 0))
            }
            Part::Start => places & 1,
            Part::End => places & (1 << words.len()),
        };
    }
    places
}

/// Returns the positions after the words that satisfy `is_meant`.
fn behind(words: &[&str], places: u128, is_meant: impl Fn(usize, &str) -> bool) -> u128 {
    let is_behind = |place: &usize| places & (1 << place) != 0 && is_meant(*place, words[*place]);
    (0..words.len()).filter(is_behind).fold(0, |all, place| all | 1 << (place + 1))
}

/// The words of a sentence, folded.
#[derive(Debug)]
pub(super) struct Sentence {
    text: String,
    set: WordSet,
}

impl Sentence {
    pub(super) fn new(text: &str) -> Self {
        let mut sentence = Sentence { text: Fold::text(text), set: WordSet::default() };
        let mut set = WordSet::default();
        sentence.words().for_each(|word| set.add(word));
        sentence.set = set;
        sentence
    }

    fn words(&self) -> impl Iterator<Item = &str> {
        let mut rest = self.text.as_str();
        let words = std::iter::from_fn(move || {
            rest = rest.trim_start_matches(|c| !is_word(c) && c != ':');
            let end =
                rest.find(|c| !is_part(c)).unwrap_or(rest.len()).max(usize::from(rest.starts_with(':')));
            let (word, after) = rest.split_at(end);
            rest = after;
            (!word.is_empty()).then(|| word.trim_end_matches(['\'', '-']))
        });
        words.take(WORDS)
    }
}

fn is_part(c: char) -> bool {
    is_word(c) || matches!(c, '\'' | '-')
}

/// Returns the beginning of the sentence that contains position `at`.
pub(super) fn start_of(text: &str, at: usize) -> usize {
    let from = text.floor_char_boundary(at.saturating_sub(LONGEST));
    let before = text.get(from..at).unwrap_or_default();
    let mut next = ' ';
    for (place, c) in before.char_indices().rev() {
        let ends = match c {
            '.' | '!' | '?' | '…' => next.is_whitespace() || matches!(next, '"' | '”' | ')'),
            '\n' => next == '\n' || begins_line(next),
            '。' | '！' | '？' => true,
            _ => false,
        };
        if ends {
            return from + place + c.len_utf8();
        }
        next = c;
    }
    from
}

/// Returns whether a line that begins with the character starts a new sentence.
fn begins_line(c: char) -> bool {
    matches!(c, '-' | '*' | '+' | '•' | '#' | '>' | '|' | '`' | '[' | '<' | '=' | '0'..='9')
}

/// Search for the end of a sentence, character by character.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Ending {
    #[default]
    Within,
    /// After a mark that ends a sentence if white space follows.
    Mark,
    /// After a line.
    Line,
}

impl Ending {
    /// Returns whether the sentence ends with this character.
    pub(super) fn char(&mut self, c: char) -> bool {
        let ends = match (*self, c) {
            (Ending::Mark, c) if c.is_whitespace() => true,
            (Ending::Line, c) => c == '\n' || begins_line(c),
            (_, '。' | '！' | '？') => true,
            _ => false,
        };
        *self = match c {
            '.' | '!' | '?' | '…' => Ending::Mark,
            '"' | '”' | '\'' | '’' | ')' | ']' | '*' | '_' if *self == Ending::Mark => Ending::Mark,
            '\n' => Ending::Line,
            ' ' | '\t' if *self == Ending::Line => Ending::Line,
            _ => Ending::Within,
        };
        ends
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn has(shape: &str, sentence: &str) -> bool {
        Shape::new(shape).is_in(&Sentence::new(sentence))
    }

    #[test]
    fn shape_reads_groups_gaps_and_ends() {
        let refusal = "(i|we) (can't|am (not able|unable) to|) .. (help|write)";
        for text in ["I can’t help.", "We, sadly, write", "So I am not able to really help", "i help"] {
            assert!(has(refusal, text), "{text}");
        }
        for text in ["I can't", "help, I can't", "I one two three four five help", ""] {
            assert!(!has(refusal, text), "{text}");
        }
        assert!(has("^ sure $", "Sure!") && !has("^ sure $", "sure thing") && !has("^ sure", "I'm sure"));
        assert!(has("# words $", "(14 words)") && !has("# words", "14a words"));
        assert!(has("i !(do|can't|was it) see", "I will see") && !has("i !(do|will) see", "I will see"));
        assert!(has("here's .. : $", "Here's one:") && !has("here's .. : $", "Here's one: two"));
        assert!(has("so-called", "so-called") && has("a b", "'a' \"b\""));
    }

    #[test]
    fn sentence_without_a_needed_word_has_no_shape() {
        let shape = Shape::new("(i|we) (can't|am (not able|) to|) .. (help|write (that|this|))");
        assert_eq!(shape.needs.len(), 2, "an alternative without words needs none");
        for (text, is_met) in [("we now write", true), ("we now sing", false), ("now write", false)] {
            let sentence = Sentence::new(text);
            assert_eq!(shape.needs.iter().all(|words| words.meets(&sentence.set)), is_met, "{text}");
            assert_eq!(shape.is_in(&sentence), is_met, "{text}");
        }
    }

    #[test]
    fn words_behind_the_most_are_none() {
        let long = "a ".repeat(WORDS) + "b";
        assert!(has("a $", &long) && !has("b", &long) && has("^ ... a", &long));
    }

    #[test]
    fn sentence_ends_at_marks_blank_lines_and_items() {
        let ends = |text: &str| {
            let mut ending = Ending::default();
            text.char_indices().filter(|(_, c)| ending.char(*c)).map(|(at, _)| at).collect::<Vec<_>>()
        };
        assert_eq!(ends("One. Two 3.4 v1.x (five!) six\nseven\n\neight\n- nine"), [4, 25, 36, 43]);
        assert_eq!(ends("好。是"), [3]);
        let text = "One. Two 3.4 on.\nThree four\nfive\n- six";
        let start = |word: &str| start_of(text, text.find(word).unwrap());
        assert_eq!(["One", "3.4", "four", "five", "six"].map(start), [0, 4, 16, 16, 33]);
        assert_eq!(start_of(&"é".repeat(900), 1800), 1200);
    }
}
