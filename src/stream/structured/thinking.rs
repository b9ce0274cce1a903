//! The tags around a model's thinking.

/// Their names, whatever their case.
const NAMES: [&str; 7] =
    ["think", "thinking", "thought", "reasoning", "reflection", "scratchpad", "antthinking"];
/// Their brackets: `<think>`, `[THINK]`, `◁think▷`.
const BRACKETS: [(char, char); 3] = [('<', '>'), ('[', ']'), ('◁', '▷')];
/// The longest attributes of a tag, in bytes.
const ATTRIBUTES: usize = 200;

/// A tag.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tag {
    /// Its name and its brackets, as one number.
    kind: usize,
    pub(super) closes: bool,
    /// In bytes.
    pub(super) length: usize,
}

impl Tag {
    /// The tag that the text begins with.
    pub(super) fn at(text: &str) -> Option<Tag> {
        let (bracket, (open, close)) =
            BRACKETS.into_iter().enumerate().find(|(_, (open, _))| text.starts_with(*open))?;
        let inner = &text[open.len_utf8()..];
        let (closes, inner) = inner.strip_prefix('/').map_or((false, inner), |inner| (true, inner));
        let length = inner.bytes().take_while(u8::is_ascii_alphabetic).count();
        let (name, rest) = inner.split_at(length);
        let name = NAMES.iter().position(|known| name.eq_ignore_ascii_case(known))?;
        let attributes = match open == '<' && !closes && rest.starts_with(' ') {
            true => rest.bytes().take(ATTRIBUTES).position(|c| matches!(c, b'>' | b'<' | b'\n'))?,
            false => 0,
        };
        let rest = rest[attributes..].strip_prefix(close)?;
        Some(Tag { kind: name * BRACKETS.len() + bracket, closes, length: text.len() - rest.len() })
    }
}

/// The closing tags of a text: for each kind the ends of all, in their order.
#[derive(Debug)]
pub(super) struct Closings([Vec<usize>; NAMES.len() * BRACKETS.len()]);

impl Closings {
    pub(super) fn of(text: &str) -> Self {
        let mut all = Closings(Default::default());
        for (at, _) in text.match_indices(BRACKETS.map(|(open, _)| open)) {
            if let Some(tag) = Tag::at(&text[at..]).filter(|tag| tag.closes) {
                all.0[tag.kind].push(at + tag.length);
            }
        }
        all
    }

    /// The end of the first tag that closes this one, which begins at `at`.
    pub(super) fn end_of(&self, tag: Tag, at: usize) -> Option<usize> {
        let ends = &self.0[tag.kind];
        ends.get(ends.partition_point(|end| *end <= at)).copied()
    }
}
