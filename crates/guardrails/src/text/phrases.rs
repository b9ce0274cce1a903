//! Simultaneous search for many phrases.

use std::str::Chars;
use std::sync::OnceLock;

use super::scope::Context;
use super::{Fold, is_word, stands_alone};

/// A set of phrases with labels, as a graph of their characters.
///
/// A phrase that begins with a word character begins at the start of a word, so that few phrases are in
/// progress at a time. The graph therefore needs no failure links. The alternatives of a template share the
/// part after them.
#[derive(Debug, Clone)]
pub(crate) struct Phrases {
    nodes: Vec<Node>,
    /// The first step for characters of ASCII; 0 stands for none, because no edge leads to the root.
    first: [usize; 128],
    beginnings: OnceLock<Box<Beginnings>>,
}

#[derive(Debug, Clone, Default)]
struct Node {
    edges: Vec<(char, usize)>,
    /// Nodes that are reached with this one, without a character: the rest of a template after an alternative.
    joined: Vec<usize>,
    /// The label of the phrase that ends here.
    label: Option<usize>,
}

impl Phrases {
    pub(crate) fn new() -> Self {
        Phrases { nodes: vec![Node::default()], first: [0; 128], beginnings: OnceLock::new() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.nodes.len() == 1
    }

    /// Adds a phrase, folded. A blank phrase is ignored. The first label of a phrase stays.
    pub(crate) fn add(&mut self, phrase: &str, label: usize) {
        let end = Fold::text(phrase).chars().fold(0, |node, c| self.step(node, c));
        if end > 0 {
            self.nodes[end].label.get_or_insert(label);
        }
    }

    /// Adds a template, which is folded already. `(a|b)` is a choice, and a backslash makes the next character
    /// literal.
    pub(crate) fn add_template(&mut self, template: &str, label: usize) {
        let end = self.alternatives(0, &mut template.chars());
        self.nodes[end].label.get_or_insert(label);
    }

    fn alternatives(&mut self, from: usize, rest: &mut Chars<'_>) -> usize {
        let end = self.nodes.len();
        self.nodes.push(Node::default());
        let mut node = from;
        loop {
            node = match rest.next() {
                Some('(') => self.alternatives(node, rest),
                Some('\\') => rest.next().map_or(node, |c| self.step(node, c)),
                Some('|') => {
                    self.nodes[node].joined.push(end);
                    from
                }
                None | Some(')') => {
                    self.nodes[node].joined.push(end);
                    return end;
                }
                Some(c) => self.step(node, c),
            }
        }
    }

    fn step(&mut self, from: usize, c: char) -> usize {
        self.beginnings = OnceLock::new();
        if let Some(next) = self.next(from, c) {
            return next;
        }
        let new = self.nodes.len();
        self.nodes.push(Node::default());
        let edges = &mut self.nodes[from].edges;
        let place = edges.partition_point(|(other, _)| *other < c);
        edges.insert(place, (c, new));
        if from == 0 && c.is_ascii() {
            self.first[c as usize] = new;
        }
        new
    }

    #[inline]
    fn next(&self, node: usize, c: char) -> Option<usize> {
        if node == 0 && c.is_ascii() {
            return Some(self.first[c as usize]).filter(|next| *next > 0);
        }
        let edges = &self.nodes[node].edges;
        match edges.as_slice() {
            [(only, next)] => (*only == c).then_some(*next),
            _ => edges.binary_search_by_key(&c, |(other, _)| *other).ok().map(|place| edges[place].1),
        }
    }

    /// Notes the first four characters of the phrases from a node on.
    fn begin(&self, node: usize, said: [usize; 4], length: usize, all: &mut Beginnings) {
        self.reach(node, &mut |_, of| {
            // The fourth character may be outside of the noted alphabet.
            if length >= 3 {
                all.add(&said[..3]);
            }
            if length == 4 {
                all.add_four(said);
            } else if length > 0 && of.label.is_some() {
                // After a phrase that ends with a letter, only a space or a character other than a letter can
                // follow.
                let mut said = said;
                let ends_word = said[length - 1] > 0;
                said[length] = 0;
                let length = length + usize::from(ends_word);
                all.add(&said[..length.min(3)]);
                all.add_each(&mut said, length);
            }
            let letters =
                of.edges.iter().filter_map(|(c, next)| Some((digit(u8::try_from(*c).ok()?)?, *next)));
            for (digit, next) in letters.filter(|_| length < 4) {
                let mut said = said;
                said[length] = digit;
                self.begin(next, said, length + 1, all);
            }
        });
    }

    /// Visits each node that is reached with this one.
    fn reach(&self, node: usize, reached: &mut impl FnMut(usize, &Node)) {
        let of = &self.nodes[node];
        reached(node, of);
        of.joined.iter().for_each(|node| self.reach(*node, reached));
    }
}

/// The beginnings of phrases: three letters or spaces, one bit for each combination, and four, one bit for
/// several combinations. Most words of a text begin no phrase and are skipped.
#[derive(Debug, Clone)]
struct Beginnings {
    three: [u64; (27 * 27 * 27_usize).div_ceil(64)],
    four: [u64; FOUR / 64],
}

/// A bit for each combination of four letters would take 66 KB.
const FOUR: usize = 1 << 15;

impl Beginnings {
    fn of(phrases: &Phrases) -> Box<Self> {
        let mut all = Box::new(Beginnings { three: [0; _], four: [0; _] });
        phrases.begin(0, [0; 4], 0, &mut all);
        all
    }

    /// Adds all combinations of three that begin with `digits`.
    fn add(&mut self, digits: &[usize]) {
        let each = 27_usize.pow(3 - digits.len() as u32);
        let first = digits.iter().fold(0, |number, digit| number * 27 + digit) * each;
        (first..first + each).for_each(|bit| self.three[bit / 64] |= 1 << (bit % 64));
    }

    fn add_four(&mut self, digits: [usize; 4]) {
        let bit = bit_of_four((digits[0] * 27 + digits[1]) * 27 + digits[2], digits[3]);
        self.four[bit / 64] |= 1 << (bit % 64);
    }

    /// Adds all combinations of four that begin with the first `length` digits.
    fn add_each(&mut self, digits: &mut [usize; 4], length: usize) {
        if length == 4 {
            return self.add_four(*digits);
        }
        for digit in 0..27 {
            digits[length] = digit;
            self.add_each(digits, length + 1);
        }
    }

    /// Returns whether a phrase may begin with `text`. Returns true for other characters than letters and
    /// spaces.
    #[inline]
    fn may_have(&self, text: &[u8]) -> bool {
        let &[first, second, third, ref rest @ ..] = text else { return true };
        match (digit(first), digit(second), digit(third)) {
            // Any amount of white space is one space of a phrase.
            (Some(_), Some(0), Some(0)) => true,
            (Some(first), Some(second), Some(third)) => {
                let three = (first * 27 + second) * 27 + third;
                self.three[three / 64] & (1 << (three % 64)) != 0 && self.may_go_on(three, rest)
            }
            _ => true,
        }
    }

    #[inline]
    fn may_go_on(&self, three: usize, rest: &[u8]) -> bool {
        let Some(fourth) = rest.first().copied().and_then(digit) else { return true };
        let bit = bit_of_four(three, fourth);
        // Further white space is not a character of a phrase.
        fourth == 0 && three.is_multiple_of(27) || self.four[bit / 64] & (1 << (bit % 64)) != 0
    }
}

#[inline]
fn bit_of_four(three: usize, fourth: usize) -> usize {
    // The product has more than 32 bits.
    (((three * 27 + fourth) as u64 * 0x9E37_79B1) >> 12) as usize & (FOUR - 1)
}

/// Converts a letter or a space to a digit to the base 27.
#[inline]
fn digit(c: u8) -> Option<usize> {
    match c {
        b' ' => Some(0),
        b'a'..=b'z' => Some(usize::from(c - b'a') + 1),
        _ => None,
    }
}

impl Default for Phrases {
    fn default() -> Self {
        Phrases::new()
    }
}

/// The phrases in progress in one text.
#[derive(Debug, Clone, Default)]
pub(crate) struct Matcher {
    fold: Fold,
    /// Phrases that have begun, the earliest first.
    begun: Vec<Begun>,
    /// Empty between characters; kept for its memory.
    going: Vec<Begun>,
    /// Phrases that are complete if the word ends here.
    ended: Vec<Found>,
    /// Whether the last character belongs to a word that may continue.
    in_word: bool,
}

#[derive(Debug, Clone, Copy)]
struct Begun {
    node: usize,
    at: usize,
    context: Context,
}

/// A phrase in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Found {
    /// The phrase's label.
    pub(crate) label: usize,
    /// The beginning, in bytes of the text.
    pub(crate) at: usize,
    /// The context in which it begins.
    pub(crate) context: Context,
}

impl Matcher {
    /// Reads the text's next character, at byte `at`. Reports each phrase once its end is certain. A phrase
    /// that ends with a word character is reported at the next character outside of a word.
    #[inline]
    pub(crate) fn char(
        &mut self,
        phrases: &Phrases,
        c: char,
        at: usize,
        context: Context,
        mut found: impl FnMut(Found),
    ) {
        let mut fold = self.fold;
        fold.char(c, |folded| self.step(phrases, folded, at, context, &mut found));
        self.fold = fold;
    }

    /// Returns how many leading lower-case letters and spaces of the text come before a phrase may begin; 0
    /// while a phrase is in progress.
    #[inline]
    pub(crate) fn quiet(&self, phrases: &Phrases, text: &str) -> usize {
        if !self.begun.is_empty() || !self.ended.is_empty() {
            return 0;
        }
        let beginnings = phrases.beginnings.get_or_init(|| Beginnings::of(phrases));
        let text = text.as_bytes();
        let (mut at, mut in_word) = (0, self.in_word);
        while let Some(c) = text.get(at) {
            match c {
                b'a'..=b'z' if in_word || !beginnings.may_have(&text[at..]) => in_word = true,
                b' ' if phrases.first[usize::from(b' ')] == 0 => in_word = false,
                _ => break,
            }
            at += 1;
        }
        at
    }

    /// Skips a part of the text whose length `quiet` returned.
    #[inline]
    pub(crate) fn pass(&mut self, text: &str) {
        if let Some(last) = text.as_bytes().last() {
            self.in_word = *last != b' ';
            self.fold.pass(!self.in_word);
        }
    }

    #[inline]
    fn step(
        &mut self,
        phrases: &Phrases,
        c: char,
        at: usize,
        context: Context,
        found: &mut impl FnMut(Found),
    ) {
        let goes_on = is_word(c) && !stands_alone(c);
        if !self.ended.is_empty() {
            if !goes_on {
                self.ended.iter().copied().for_each(&mut *found);
            }
            self.ended.clear();
        }
        let begins = !(context.hidden || goes_on && self.in_word);
        self.in_word = goes_on;
        let Matcher { begun, going, ended, .. } = self;
        let mut reaches = |next: usize, from: Begun| {
            phrases.reach(next, &mut |node, of| {
                if let Some(label) = of.label {
                    let whole = Found { label, at: from.at, context: from.context };
                    if goes_on { ended.push(whole) } else { found(whole) }
                }
                if !of.edges.is_empty() {
                    going.push(Begun { node, ..from });
                }
            });
        };
        for from in begun.drain(..) {
            if let Some(next) = phrases.next(from.node, c) {
                reaches(next, from);
            }
        }
        if begins && let Some(next) = phrases.next(0, c) {
            reaches(next, Begun { node: 0, at, context });
        }
        std::mem::swap(begun, going);
    }

    /// Settles a quotation or a part of code. Phrases that began in it become ordinary text if `text` is true,
    /// and are dropped otherwise.
    pub(crate) fn settle(&mut self, region: u32, text: bool) {
        let settled = |context: &mut Context| context.settle(region, text);
        self.begun.retain_mut(|begun| settled(&mut begun.context));
        self.ended.retain_mut(|ended| settled(&mut ended.context));
    }

    /// Ends the text: returns the phrases that were waiting for the end of their word.
    pub(crate) fn end(&self) -> impl Iterator<Item = Found> + '_ {
        self.ended.iter().copied()
    }
}
