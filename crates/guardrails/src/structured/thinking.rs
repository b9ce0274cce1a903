//! The tags around a model's thinking.

/// The names of the tags, in any case.
const NAMES: [&str; 7] =
    ["think", "thinking", "thought", "reasoning", "reflection", "scratchpad", "antthinking"];
/// The brackets of the tags: `<think>`, `[THINK]`, `◁think▷`.
const BRACKETS: [(char, char); 3] = [('<', '>'), ('[', ']'), ('◁', '▷')];
/// The longest attributes of a tag, in bytes.
const ATTRIBUTES: usize = 200;

/// A tag.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tag {
    /// The name and the brackets, as one number.
    kind: usize,
    pub(super) closes: bool,
    /// Length in bytes.
    pub(super) length: usize,
}

impl Tag {
    /// Returns the tag at the beginning of the text.
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

/// The closing tags of a text: for each kind the ends of all tags, in order.
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

    /// Returns the end of the first tag that closes `tag`, which begins at `at`.
    pub(super) fn end_of(&self, tag: Tag, at: usize) -> Option<usize> {
        let ends = &self.0[tag.kind];
        ends.get(ends.partition_point(|end| *end <= at)).copied()
    }
}
