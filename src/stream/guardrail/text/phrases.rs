//! Many phrases, looked for at once.

use super::{Fold, is_word, stands_alone};

/// A set of phrases, each with a label: a tree of their characters.
///
/// A phrase that begins with a word's character begins where a word does, so that few are ever under way at once, at most as many
/// as the longest phrase has characters. That is why the tree needs no links for failure.
#[derive(Debug, Clone)]
pub(in crate::stream) struct Phrases {
    nodes: Vec<Node>,
    /// The first step for characters of ASCII; 0 is none, for no edge leads to the root.
    first: [usize; 128],
}

#[derive(Debug, Clone, Default)]
struct Node {
    edges: Vec<(char, usize)>,
    /// The label of the phrase that ends here.
    label: Option<usize>,
    /// How many characters lead here.
    depth: u32,
}

impl Phrases {
    pub(in crate::stream) fn new() -> Self {
        Phrases { nodes: vec![Node::default()], first: [0; 128] }
    }

    /// Puts a phrase in, folded. A blank one is none. The first label of a phrase stays.
    pub(in crate::stream) fn add(&mut self, phrase: &str, label: usize) {
        let mut node = 0;
        for c in Fold::text(phrase).chars() {
            node = match self.next(node, c) {
                Some(next) => next,
                None => self.grow(node, c),
            };
        }
        if node > 0 {
            self.nodes[node].label.get_or_insert(label);
        }
    }

    fn grow(&mut self, from: usize, c: char) -> usize {
        let new = self.nodes.len();
        let depth = self.nodes[from].depth + 1;
        self.nodes.push(Node { depth, ..Node::default() });
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
    /// Begun, the earliest first: the node and where in the text it began.
    begun: Vec<(usize, usize)>,
    /// Whole, if the word ends here.
    ended: Vec<Found>,
    /// Was the last character part of a word that goes on with another such?
    in_word: bool,
}

/// A phrase that stands in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::stream) struct Found {
    /// The phrase's label.
    pub(in crate::stream) label: usize,
    /// Where it begins, in bytes of the text.
    pub(in crate::stream) at: usize,
    /// How many characters it has, folded.
    pub(in crate::stream) chars: u32,
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
        mut found: impl FnMut(Found),
    ) {
        // Within a word with which no phrase began there is nothing to be found.
        if self.in_word && self.begun.is_empty() && self.ended.is_empty() && c.is_ascii_alphanumeric() {
            return self.fold.plain();
        }
        let mut fold = self.fold;
        fold.char(c, |folded| self.step(phrases, folded, at, &mut found));
        self.fold = fold;
    }

    #[inline]
    fn step(&mut self, phrases: &Phrases, c: char, at: usize, found: &mut impl FnMut(Found)) {
        let goes_on = is_word(c) && !stands_alone(c);
        if !self.ended.is_empty() {
            if !goes_on {
                self.ended.iter().copied().for_each(&mut *found);
            }
            self.ended.clear();
        }
        let begins = !(goes_on && self.in_word);
        self.in_word = goes_on;
        let ended = &mut self.ended;
        let mut reaches = |next: usize, begun: usize| {
            let node = &phrases.nodes[next];
            if let Some(label) = node.label {
                let whole = Found { label, at: begun, chars: node.depth };
                if goes_on { ended.push(whole) } else { found(whole) }
            }
            !node.edges.is_empty()
        };
        self.begun.retain_mut(|(node, begun)| {
            let Some(next) = phrases.next(*node, c) else { return false };
            *node = next;
            reaches(next, *begun)
        });
        if begins
            && let Some(next) = phrases.next(0, c)
            && reaches(next, at)
        {
            self.begun.push((next, at));
        }
    }

    /// The text ends here: a word that was not over is.
    pub(in crate::stream) fn end(&self) -> impl Iterator<Item = Found> + '_ {
        self.ended.iter().copied()
    }
}
