//! Many phrases, looked for at once.

use std::str::Chars;
use std::sync::OnceLock;

use super::scope::Context;
use super::{Fold, is_word, stands_alone};

/// A set of phrases, each with a label: a graph of their characters.
///
/// A phrase that begins with a word's character begins where a word does, so that few are ever under way at once. That is why the
/// graph needs no links for failure. The alternatives of a template share what follows them.
#[derive(Debug, Clone)]
pub(in crate::stream) struct Phrases {
    nodes: Vec<Node>,
    /// The first step for characters of ASCII; 0 is none, for no edge leads to the root.
    first: [usize; 128],
    beginnings: OnceLock<Box<Beginnings>>,
}

#[derive(Debug, Clone, Default)]
struct Node {
    edges: Vec<(char, usize)>,
    /// Nodes that are reached with this one, without a character: the rest of a template behind an alternative.
    joined: Vec<usize>,
    /// The label of the phrase that ends here.
    label: Option<usize>,
}

impl Phrases {
    pub(in crate::stream) fn new() -> Self {
        Phrases { nodes: vec![Node::default()], first: [0; 128], beginnings: OnceLock::new() }
    }

    pub(in crate::stream) fn is_empty(&self) -> bool {
        self.nodes.len() == 1
    }

    /// Puts a phrase in, folded. A blank one is none. The first label of a phrase stays.
    pub(in crate::stream) fn add(&mut self, phrase: &str, label: usize) {
        let end = Fold::text(phrase).chars().fold(0, |node, c| self.step(node, c));
        if end > 0 {
            self.nodes[end].label.get_or_insert(label);
        }
    }

    /// Puts a template in, which is folded already: `(a|b)` is one of several, a backslash takes the next character as it is.
    pub(in crate::stream) fn add_template(&mut self, template: &str, label: usize) {
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
            // The fourth character may be none that is noted.
            if length >= 3 {
                all.add(&said[..3]);
            }
            if length == 4 {
                all.add_four(said);
            } else if length > 0 && of.label.is_some() {
                // Behind a phrase that ends with a letter a space follows, or what is no letter.
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

    /// Each node that is reached with this one.
    fn reach(&self, node: usize, reached: &mut impl FnMut(usize, &Node)) {
        let of = &self.nodes[node];
        reached(node, of);
        of.joined.iter().for_each(|node| self.reach(*node, reached));
    }
}

/// With which three letters or spaces a phrase begins, one bit for each, and with which four, one bit for some of them. Most words of a text
/// begin none, and are passed over at once.
#[derive(Debug, Clone)]
struct Beginnings {
    three: [u64; (27 * 27 * 27_usize).div_ceil(64)],
    four: [u64; FOUR / 64],
}

/// All fours of letters would take 66 KB.
const FOUR: usize = 1 << 15;

impl Beginnings {
    fn of(phrases: &Phrases) -> Box<Self> {
        let mut all = Box::new(Beginnings { three: [0; _], four: [0; _] });
        phrases.begin(0, [0; 4], 0, &mut all);
        all
    }

    /// Whatever follows these.
    fn add(&mut self, digits: &[usize]) {
        let each = 27_usize.pow(3 - digits.len() as u32);
        let first = digits.iter().fold(0, |number, digit| number * 27 + digit) * each;
        (first..first + each).for_each(|bit| self.three[bit / 64] |= 1 << (bit % 64));
    }

    fn add_four(&mut self, digits: [usize; 4]) {
        let bit = bit_of_four((digits[0] * 27 + digits[1]) * 27 + digits[2], digits[3]);
        self.four[bit / 64] |= 1 << (bit % 64);
    }

    /// Whatever follows the first of them, up to four.
    fn add_each(&mut self, digits: &mut [usize; 4], length: usize) {
        if length == 4 {
            return self.add_four(*digits);
        }
        for digit in 0..27 {
            digits[length] = digit;
            self.add_each(digits, length + 1);
        }
    }

    /// True where the text has another character.
    #[inline]
    fn may_have(&self, text: &[u8]) -> bool {
        let &[first, second, third, ref rest @ ..] = text else { return true };
        match (digit(first), digit(second), digit(third)) {
            // White space is one space for a phrase, however much it is.
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
        // Further white space is no character of a phrase.
        fourth == 0 && three.is_multiple_of(27) || self.four[bit / 64] & (1 << (bit % 64)) != 0
    }
}

#[inline]
fn bit_of_four(three: usize, fourth: usize) -> usize {
    // The product has more than 32 bits.
    (((three * 27 + fourth) as u64 * 0x9E37_79B1) >> 12) as usize & (FOUR - 1)
}

/// A letter or a space, as a digit of a number to the base 27.
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

/// Phrases that are under way in one text.
#[derive(Debug, Clone, Default)]
pub(in crate::stream) struct Matcher {
    fold: Fold,
    /// Begun, the earliest first.
    begun: Vec<Begun>,
    /// Empty between characters; kept for its memory.
    going: Vec<Begun>,
    /// Whole, if the word ends here.
    ended: Vec<Found>,
    /// Was the last character part of a word that goes on with another such?
    in_word: bool,
}

#[derive(Debug, Clone, Copy)]
struct Begun {
    node: usize,
    at: usize,
    context: Context,
}

/// A phrase that stands in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::stream) struct Found {
    /// The phrase's label.
    pub(in crate::stream) label: usize,
    /// Where it begins, in bytes of the text.
    pub(in crate::stream) at: usize,
    /// In what it begins.
    pub(in crate::stream) context: Context,
}

impl Matcher {
    /// The text's next character, at that byte. Tells of each phrase as soon as it is sure to end there: one that ends with a
    /// word's character when the character after it is none.
    #[inline]
    pub(in crate::stream) fn char(
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

    /// How many lower-case letters and spaces the text begins with before a phrase may begin; none while one is under way.
    #[inline]
    pub(in crate::stream) fn quiet(&self, phrases: &Phrases, text: &str) -> usize {
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

    /// Passes over such a part of the text.
    #[inline]
    pub(in crate::stream) fn pass(&mut self, text: &str) {
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

    /// The quotation or the code of that number is over: what began in it is dropped, or is text as any other.
    pub(in crate::stream) fn settle(&mut self, region: u32, text: bool) {
        let settled = |context: &mut Context| context.settle(region, text);
        self.begun.retain_mut(|begun| settled(&mut begun.context));
        self.ended.retain_mut(|ended| settled(&mut ended.context));
    }

    /// The text ends here: a word that was not over is.
    pub(in crate::stream) fn end(&self) -> impl Iterator<Item = Found> + '_ {
        self.ended.iter().copied()
    }
}
