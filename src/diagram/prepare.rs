//! Mermaid's preparation of a text: it removes front matter, directives and comment lines, and converts
//! line breaks to `\n`. Every remaining byte keeps its place in the source.

use std::ops::Range;

use super::chars::{feed, is_space, is_word, line_end, run, spaces, trim};
use super::error::SyntaxError;
use super::markdown::unquote;
use super::model::Text;
use super::source::Span;
use super::token::quoted;

/// The text for the rules, with its mapping to the source.
#[derive(Debug, Default)]
pub(super) struct Prepared {
    pub(super) text: String,
    /// Pairs of offset in `text` and offset in the source, one per copied piece.
    pieces: Vec<(usize, usize)>,
    source_end: usize,
    pub(super) front_matter: Option<Text>,
    pub(super) directives: Vec<Text>,
    pub(super) open_directive: Option<Span>,
    pub(super) comments: Vec<Text>,
}

impl Prepared {
    /// Prepares the diagram at `place` in `source`, inside that many block quotes; spans refer to `source`.
    pub(super) fn new(source: &str, place: Span, quotes: usize) -> Self {
        let mut this = Self {
            text: place.of(source).unwrap_or_default().to_owned(),
            pieces: vec![(0, place.start)],
            source_end: place.end,
            ..Self::default()
        };
        this.quotes(quotes);
        this.line_breaks();
        this.tag_quotes();
        this.front_matter();
        this.directives();
        this.comment_lines();
        let start = spaces(&this.text, 0);
        this.remove(std::slice::from_ref(&(0..start)));
        this.style_semicolons("style");
        this.style_semicolons("classDef");
        this.append_line_break();
        this
    }

    /// Returns the source offset of a byte of the prepared text.
    fn origin(&self, at: usize) -> usize {
        let piece = self.pieces.partition_point(|(here, _)| *here <= at).saturating_sub(1);
        let (here, there) = self.pieces.get(piece).copied().unwrap_or((0, 0));
        (there + (at - here)).min(self.source_end)
    }

    /// Returns the source span of a range of the prepared text.
    pub(super) fn span(&self, range: Range<usize>) -> Span {
        if range.is_empty() {
            // The offset directly after the previous byte, so that the span contains no removed text.
            let at =
                range.start.checked_sub(1).map_or_else(|| self.origin(0), |before| self.origin(before) + 1);
            let at = at.min(self.source_end);
            return Span::new(at, at);
        }
        let start = self.origin(range.start);
        Span::new(start, (self.origin(range.end - 1) + 1).min(self.source_end))
    }

    /// Returns the offset of the first word. A lone comment mark on its line is still present here.
    fn first(&self) -> usize {
        let mut at = 0;
        loop {
            at = spaces(&self.text, at);
            if !self.text[at..].starts_with("%%") {
                return at;
            }
            at = line_end(&self.text, at);
        }
    }

    /// The word that determines the kind of diagram in Mermaid.
    pub(super) fn first_word(&self) -> &str {
        let at = self.first();
        &self.text[at..run(&self.text, at, |c| !is_space(c))]
    }

    /// Refuses a text with a first word other than the header.
    pub(super) fn check_kind(&self, source: &str) -> Result<(), SyntaxError> {
        let at = self.first();
        if self.text[at..].starts_with("stateDiagram") {
            return Ok(());
        }
        let end = run(&self.text, at, |c| !is_space(c));
        let got = match &self.text[at..end] {
            "" => "an empty text".to_owned(),
            "---" => "`---`".to_owned(),
            word => quoted(word),
        };
        let error = SyntaxError::new(source, self.span(at..end), "`stateDiagram-v2`", got);
        Err(if self.text[at..].starts_with("---") {
            error.with_help("front matter opens and closes with `---`, each alone in its line")
        } else {
            error
        })
    }

    fn remove(&mut self, ranges: &[Range<usize>]) {
        if ranges.iter().all(Range::is_empty) {
            return;
        }
        let mut text = String::with_capacity(self.text.len());
        let mut pieces = Vec::with_capacity(self.pieces.len() + ranges.len());
        let mut old = self.pieces.iter().copied().peekable();
        let mut from = 0;
        let end = self.text.len();
        let ends = ranges.iter().cloned().chain(std::iter::once(end..end));
        for gap in ends {
            let kept = from..gap.start;
            pieces.push((text.len(), self.origin(kept.start)));
            while old.next_if(|(here, _)| *here <= kept.start).is_some() {}
            while let Some((here, there)) = old.next_if(|(here, _)| *here < kept.end) {
                pieces.push((text.len() + here - kept.start, there));
            }
            text.push_str(&self.text[kept]);
            from = gap.end;
        }
        self.text = text;
        self.pieces = pieces;
    }

    /// Removes the marks of block quotes at the beginnings of lines.
    fn quotes(&mut self, quotes: usize) {
        if quotes == 0 {
            return;
        }
        let mut start = 0;
        let mut marks = Vec::new();
        for line in self.text.split_inclusive('\n') {
            marks.push(start..start + unquote(line, quotes).1);
            start += line.len();
        }
        self.remove(&marks);
    }

    fn line_breaks(&mut self) {
        if !self.text.contains('\r') {
            return;
        }
        let bytes = self.text.as_bytes();
        let pairs: Vec<_> =
            (0..bytes.len()).filter(|at| bytes[*at] == b'\r' && bytes.get(at + 1) == Some(&b'\n')).collect();
        let pairs: Vec<_> = pairs.into_iter().map(|at| at..at + 1).collect();
        self.remove(&pairs);
        self.text = self.text.replace('\r', "\n");
    }

    /// Replaces the double quotes of an attribute by single ones, as in `<b class="x">`.
    fn tag_quotes(&mut self) {
        let mut edits: Vec<usize> = Vec::new();
        let text = &self.text;
        let mut at = 0;
        while let Some(found) = text[at..].find('<') {
            let name = at + found + 1;
            let inner = run(text, name, is_word);
            if inner == name {
                at = name;
                continue;
            }
            let Some(length) = text[inner..].find('>') else { break };
            let end = inner + length;
            let mut from = inner;
            while let Some(quote) = text[from..end].find("=\"") {
                let open = from + quote + 1;
                let Some(close) = text[open + 1..end].find('"') else { break };
                edits.extend([open, open + 1 + close]);
                from = open + 2 + close;
            }
            at = end + 1;
        }
        if edits.is_empty() {
            return;
        }
        let mut edited = String::with_capacity(text.len());
        let mut from = 0;
        for quote in edits {
            edited.push_str(&text[from..quote]);
            edited.push('\'');
            from = quote + 1;
        }
        edited.push_str(&text[from..]);
        self.text = edited;
    }

    fn front_matter(&mut self) {
        let Some((body, end)) = find_front_matter(&self.text) else { return };
        let text = self.text[body.clone()].to_owned();
        self.front_matter = Some(Text { text, span: self.span(body) });
        self.remove(std::slice::from_ref(&(0..end)));
    }

    fn directives(&mut self) {
        let mut found = Vec::new();
        let mut at = 0;
        while let Some(open) = self.text[at..].find("%%{") {
            let start = at + open;
            match directive(&self.text, start) {
                Some((end, closed)) => {
                    let span = self.span(start..end);
                    if !closed {
                        self.open_directive.get_or_insert(span);
                    }
                    self.directives.push(Text { text: trim(&self.text[start..end]).to_owned(), span });
                    found.push(start..end);
                    at = end;
                }
                None => at = start + 1,
            }
        }
        self.remove(&found);
    }

    /// Removes lines with only a comment, and the blank lines before them.
    fn comment_lines(&mut self) {
        let text = &self.text;
        let mut found = Vec::new();
        let mut at = 0;
        while at < text.len() {
            // `at` is the beginning of a line.
            let mark = spaces(text, at);
            let end = feed(text, mark.min(text.len()));
            let rest = &text[mark..];
            let is_comment = rest.starts_with("%%") && !rest.starts_with("%%{") && end > mark + 2;
            if is_comment {
                let body = mark + 2..end;
                let comment = trim(&text[body]).to_owned();
                self.comments.push(Text { text: comment, span: self.span(mark..end) });
                found.push(at..(end + 1).min(text.len()));
                at = (end + 1).min(text.len());
            } else {
                // The beginning of the next line: after the first line end at or after `mark`.
                let stop = line_end(text, mark);
                at = stop + text[stop..].chars().next().map_or(1, char::len_utf8);
            }
        }
        self.remove(&found);
    }

    /// Removes the last semicolon of a line such as `classDef hot fill:#f96;`, so that the colour is no entity.
    fn style_semicolons(&mut self, keyword: &str) {
        if !self.text.contains(keyword) {
            return;
        }
        let text = &self.text;
        let mut found = Vec::new();
        let mut at = 0;
        while let Some(start) = text[at..].find(keyword) {
            let from = at + start + keyword.len();
            let end = line_end(text, from);
            let rest = &text[from..end];
            if let (Some(hash), Some(last)) = (colour(rest), rest.rfind(';'))
                && last > hash
            {
                found.push(from + last..from + last + 1);
            }
            at = end;
        }
        self.remove(&found);
    }

    fn append_line_break(&mut self) {
        let end = self.text.len();
        self.pieces.push((end, self.source_end));
        self.text.push('\n');
    }
}

/// Finds the first `#` that follows a `:` without white space between them.
fn colour(text: &str) -> Option<usize> {
    let mut armed = false;
    for (at, c) in text.char_indices() {
        match c {
            '#' if armed => return Some(at),
            ':' => armed = true,
            c if is_space(c) => armed = false,
            _ => {}
        }
    }
    None
}

/// Returns the body of the front matter and the offset after it.
fn find_front_matter(text: &str) -> Option<(Range<usize>, usize)> {
    let blank = |c: char| is_space(c) && c != '\n' && c != '\r';
    let dashes = run(text, 0, blank);
    let indent = &text[..dashes];
    if !text[dashes..].starts_with("---") {
        return None;
    }
    let open = dashes + 3;
    let gap = spaces(text, open);
    // The opening line ends at any line feed of the white space that follows. The last line feed that still leaves a
    // closing line takes precedence, and a closing line needs a line feed of its own before it.
    let feeds: Vec<usize> = text[open..gap].match_indices('\n').map(|(at, _)| open + at + 1).collect();
    let close = |from: usize| -> Option<(usize, usize)> {
        let mut at = from;
        loop {
            let line = at + text[at..].find('\n')? + 1;
            at = line;
            let Some(rest) = text[line..].strip_prefix(indent) else { continue };
            if !rest.starts_with("---") {
                continue;
            }
            let behind = line + indent.len() + 3;
            let end = spaces(text, behind);
            if let Some(last) = text[behind..end].rfind('\n') {
                return Some((line - 1, behind + last + 1));
            }
        }
    };
    // If the opening line takes the last line feed, a closing line directly after it is unreachable; then the opening
    // line takes the previous line feed.
    let (body, (body_end, end)) =
        feeds.iter().rev().take(2).find_map(|from| close(*from).map(|found| (*from, found)))?;
    Some((body..body_end.max(body), end))
}

/// Returns the end of a directive that opens at `start`, and whether `}%%` closes it.
fn directive(text: &str, start: usize) -> Option<(usize, bool)> {
    let name = spaces(text, start + 3);
    let name_end = run(text, name, is_word);
    if name_end == name {
        return None;
    }
    let colon = spaces(text, name_end);
    let after = if text[colon..].starts_with(':') { colon + 1 } else { name_end };
    let value = spaces(text, after);
    let value_end = run(text, value, is_word);
    let body_end = if value_end > value {
        value_end
    } else {
        let closing = text[value..].find("}%%").map_or(text.len(), |length| value + length);
        text[value..closing].find(['\u{2028}', '\u{2029}']).map_or(closing, |length| value + length)
    };
    let end = spaces(text, body_end);
    if text[end..].starts_with("}%%") { Some((end + 3, true)) } else { Some((end, false)) }
}

/// Finds the value of `title:` in front matter, unquoted.
pub(super) fn title(front_matter: &Text) -> Option<Text> {
    let mut at = 0;
    for line in front_matter.text.split('\n') {
        if let Some(value) = line.strip_prefix("title:") {
            let front = value.len() - value.trim_start_matches(is_space).len();
            let raw = trim(value);
            let start = front_matter.span.start + at + "title:".len() + front;
            let text = unquoted(raw);
            let span = Span::new(start, start + raw.len());
            return (!text.is_empty()).then_some(Text { text, span });
        }
        at += line.len() + 1;
    }
    None
}

/// Returns a YAML scalar of one line without its quotes and, in double quotes, with its escapes resolved.
fn unquoted(raw: &str) -> String {
    if let Some(inner) = raw.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')) {
        return inner.replace("''", "'");
    }
    let Some(inner) = raw.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) else {
        return raw.to_owned();
    };
    let mut out = String::new();
    let mut rest = inner;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        let escape = rest[at + 1..].chars().next();
        let digits = match escape {
            Some('x') => 2,
            Some('u') => 4,
            Some('U') => 8,
            _ => 0,
        };
        let code = rest.get(at + 2..at + 2 + digits).and_then(|hex| u32::from_str_radix(hex, 16).ok());
        match (escape, code.and_then(char::from_u32)) {
            (Some('x' | 'u' | 'U'), Some(c)) => out.push(c),
            (Some('n'), _) => out.push('\n'),
            (Some('t'), _) => out.push('\t'),
            (Some(c), _) => out.push(c),
            (None, _) => {}
        }
        let used = at + 1 + escape.map_or(0, char::len_utf8) + if code.is_some() { digits } else { 0 };
        rest = &rest[used..];
    }
    out.push_str(rest);
    out
}
