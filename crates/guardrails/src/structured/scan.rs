//! Search for the places of a text that may hold the JSON.

use super::Repair;
use super::around::{
    NEAR, balanced, begins_json, closes_more, introduced, line_before, near, without_tags, words_follow,
};
use super::reader::{self, Part, Refusal};
use super::thinking::{Closings, Tag};

/// The class of a place. The better class comes last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Class {
    Prose,
    Fence,
    JsonFence,
}

/// A part of the text that is JSON or damaged JSON.
#[derive(Debug)]
pub(super) struct Found {
    begin: usize,
    end: usize,
    pub(super) class: Class,
    /// The number of the fence around it.
    fence: Option<usize>,
    pub(super) reading: Result<Part, Refusal>,
}

impl Found {
    /// Returns whether the value is a list. Two values of one kind may be one answer given twice; a list and an
    /// object are different values.
    pub(super) fn is_list(&self, text: &str) -> bool {
        text[self.begin..].starts_with('[')
    }

    /// Returns whether the value is part of a sentence or of a list, and stands neither alone on its line nor
    /// after a colon.
    pub(super) fn is_aside(&self, text: &str) -> bool {
        let before = line_before(&text[..self.begin]);
        let listed = before.starts_with(['-', '*', '+', '•']) && !before.starts_with("**");
        let told = before.is_empty() || before.ends_with([':', '：', '=', '>', '*']);
        listed || !told || words_follow(text, self.end)
    }

    /// Returns the text between two adjacent values, if it has no words.
    pub(super) fn gap<'t>(&self, next: &Found, text: &'t str) -> Option<&'t str> {
        let gap = text.get(self.end..next.begin)?;
        (self.fence == next.fence && without_tags(gap.chars()).all(|c| !c.is_alphabetic())).then_some(gap)
    }
}

/// Finds the places outside of thinking parts, in the order of the text. The time is linear in the length of
/// the text.
pub(super) fn find(text: &str) -> Vec<Found> {
    let closings = Closings::of(text);
    let mut scanner =
        Scanner { text, at: 0, answer: 0, closings, fences: Vec::new(), opened: 0, found: Vec::new() };
    scanner.members_without_bracket();
    while let Some(next) = text[scanner.at..].find(['{', '[', '<', '◁', '`', '~']) {
        scanner.at += next;
        scanner.mark();
    }
    scanner.end();
    scanner.found
}

struct Scanner<'t> {
    text: &'t str,
    at: usize,
    /// The end of the thinking.
    answer: usize,
    closings: Closings,
    fences: Vec<Fence>,
    opened: usize,
    found: Vec<Found>,
}

/// An open fence.
struct Fence {
    mark: char,
    length: usize,
    class: Class,
    number: usize,
    content: usize,
    /// Number of the places found before it.
    before: usize,
}

impl<'t> Scanner<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn mark(&mut self) {
        let rest = self.rest();
        match rest.chars().next() {
            Some(mark @ ('`' | '~')) => {
                let length = rest.len() - rest.trim_start_matches(mark).len();
                match length < 3 {
                    true => self.at += length,
                    false => self.fence(mark, length),
                }
            }
            Some('<' | '[' | '◁') if self.thinking(rest) => {}
            Some(mark @ ('<' | '◁')) => self.at += mark.len_utf8(),
            _ if rest.starts_with("{\\\"") => self.escaped(rest),
            _ if self.fences.is_empty() && self.is_box(rest) => self.at += 3,
            _ if begins_json(rest) => {
                let reading = reader::read(self.text, self.at, self.fences.last().map(|fence| fence.length));
                self.place(reading);
            }
            _ => self.at += 1,
        }
    }

    /// Returns whether this is a checkbox and not an empty array: it follows the mark of a list item, or a word
    /// follows it.
    fn is_box(&self, rest: &str) -> bool {
        rest.strip_prefix("[ ]").is_some_and(|after| {
            line_before(&self.text[..self.at]).ends_with(['-', '*', '+', '.', ')'])
                || after.strip_prefix(' ').is_some_and(|after| after.starts_with(char::is_alphanumeric))
        })
    }

    /// Handles a text after a bracket that the caller has written for the model.
    fn members_without_bracket(&mut self) {
        let rest = self.text.trim_start();
        let key = rest.strip_prefix('"').and_then(|rest| rest.split_once('"'));
        if key.is_some_and(|(_, after)| after.trim_start().starts_with(':')) {
            self.at = self.text.len() - rest.len();
            let reading = reader::read_members(self.text, self.at, None);
            self.place(reading);
        }
    }

    /// Takes the JSON that begins here, and continues after it.
    fn place(&mut self, reading: Result<Part, Refusal>) {
        let begin = self.at;
        let before = &self.text[..begin];
        let beside = |last: &Found| !near(&self.text[last.end..begin]).any(char::is_alphanumeric);
        let stands_alone = self.found.last().is_some_and(beside) || introduced(before);
        let mut part = match reading {
            Ok(part) => part,
            Err(refusal) => return self.refused(refusal, stands_alone),
        };
        let rest = &self.text[part.end..];
        let extra = rest.len() - rest.trim_start_matches(['}', ']']).len();
        if before.ends_with('{') || extra > 0 {
            part.repairs.insert(Repair::ExtraBracket);
        }
        let end = part.end + extra;
        let of_member = extra > 0 && self.is_value_of_member(begin);
        if of_member || self.goes_on(begin, end) {
            // The brackets of its last members are not answers.
            let at = end + balanced(&self.text[end..]);
            let refusal = Refusal { at, why: "it continues after the bracket that closes it" };
            return self.refused(refusal, stands_alone);
        }
        // `a[0]`, `see [2, 3]`, `main() {}`, `[1] A source`.
        let of_numbers = !part.json.contains(|c: char| c.is_alphabetic() || c == '"');
        let heads_line = words_follow(self.text, end) && line_before(before).is_empty();
        match of_numbers && (!stands_alone || heads_line) {
            true => self.at = end,
            false => self.push(end, Ok(part)),
        }
    }

    /// Skips damaged JSON. Its parts are not answers.
    fn refused(&mut self, refusal: Refusal, stands_alone: bool) {
        let (begin, rest) = (self.at, self.rest());
        let length = match refusal.why {
            reader::OPEN_COMMENT => rest.len(),
            // A quote in prose: the lines below may have an answer.
            reader::NEXT_LINE => 0,
            _ => balanced(rest),
        };
        let end = begin + length.max(refusal.at.saturating_sub(begin)).max(1);
        match rest.starts_with('[') && !stands_alone {
            true => self.at = end,
            false => self.push(end, Err(refusal)),
        }
    }

    fn push(&mut self, end: usize, reading: Result<Part, Refusal>) {
        let (class, fence) = match self.fences.last() {
            Some(fence) => (fence.class, Some(fence.number)),
            None => (Class::Prose, None),
        };
        self.found.push(Found { begin: self.at, end, class, fence, reading });
        self.at = end;
    }

    /// Returns whether a quoted key and its colon precede the value. If a bracket follows that the value does
    /// not open, the value is part of an object that the caller has begun.
    fn is_value_of_member(&self, begin: usize) -> bool {
        let before = line_before(&self.text[..begin]);
        before.strip_suffix(':').is_some_and(|key| key.trim_end().ends_with(['"', '\'']))
    }

    /// Returns whether members or items follow a value that is closed too early.
    fn goes_on(&self, begin: usize, end: usize) -> bool {
        let rest = &self.text[end..];
        if rest.starts_with('"') {
            return !self.text[..begin].ends_with('"');
        }
        let rest = rest.trim_start();
        let more = rest.strip_prefix(',');
        let member = more.unwrap_or(rest).trim_start();
        let key = member.strip_prefix('"').and_then(|key| {
            let (end, _) = key.char_indices().take(NEAR).find(|(_, c)| *c == '"')?;
            key[end + 1..].trim_start().strip_prefix(':')
        });
        if key.is_some() && (more.is_some() || closes_more(member)) {
            return true;
        }
        let brackets = |c: &char| matches!(c, '{' | '[' | '}' | ']');
        more.and_then(|more| near(more).find(brackets)).is_some_and(|c| matches!(c, '}' | ']'))
    }

    /// Reads JSON in the escaped form of a string, without the string's quotes.
    fn escaped(&mut self, rest: &str) {
        let length = balanced(rest);
        let refusal = Refusal { at: self.at, why: "its quotes are escaped" };
        let plain = serde_json::from_str::<String>(&format!("\"{}\"", &rest[..length]));
        let reading = plain.map_err(|_| refusal).and_then(|plain| {
            let read = reader::read(&plain, 0, None).map_err(|_| refusal)?;
            let mut part = Some(read).filter(|part| part.end == plain.len()).ok_or(refusal)?;
            part.repairs.insert(Repair::Escape);
            part.end = self.at + length;
            Ok(part)
        });
        self.place(reading);
    }

    /// Skips a tag of the model's thinking, and the thinking. Returns false if none begins here.
    fn thinking(&mut self, rest: &str) -> bool {
        let Some(tag) = Tag::at(rest) else { return false };
        let before = &self.text[..self.at];
        if tag.closes {
            // A tag in code is quoted, and ends nothing.
            if before.ends_with('`') {
                return false;
            }
            // All of the text before was thinking.
            self.found.clear();
            self.fences.clear();
            self.at += tag.length;
        } else if let Some(end) = self.closings.end_of(tag, self.at) {
            self.at = end;
        } else if rest.starts_with('<') && line_before(before).is_empty() {
            self.at = self.text.len();
        } else {
            return false;
        }
        self.answer = self.at;
        true
    }

    fn fence(&mut self, mark: char, length: usize) {
        let rest = &self.text[self.at + length..];
        let word = |text: &'t str| text.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
        let closes = |open: &Fence| open.mark == mark && length >= open.length && word(rest).is_empty();
        if self.fences.last().is_some_and(closes) {
            self.end_fence();
            self.at += length;
            return;
        }
        let line = rest.trim_start_matches([' ', '\t']);
        let info = word(line);
        let json = info.get(..4).is_some_and(|info| info.eq_ignore_ascii_case("json"))
            && !line[info.len()..].starts_with(['-', '_']);
        self.at += length + (rest.len() - line.len()) + info.len();
        self.opened += 1;
        self.fences.push(Fence {
            mark,
            length,
            // A fence of another language is treated like prose.
            class: match (json, info) {
                (true, _) => Class::JsonFence,
                (false, "") => Class::Fence,
                (false, _) => Class::Prose,
            },
            number: self.opened,
            content: self.at,
            before: self.found.len(),
        });
    }

    fn end_fence(&mut self) {
        if let Some(fence) = self.fences.pop().filter(|fence| fence.before == self.found.len()) {
            self.lone(fence.content, fence.class, Some(fence.number));
        }
    }

    fn end(&mut self) {
        self.at = self.text.len();
        self.end_fence();
        if self.found.is_empty() {
            self.lone(self.answer, Class::Prose, None);
        }
    }

    /// Takes a lone string, number or literal between `from` and here.
    fn lone(&mut self, from: usize, class: Class, fence: Option<usize>) {
        let inner = self.text.get(from..self.at).unwrap_or_default();
        let begin = from + inner.len() - inner.trim_start().len();
        let end = from + inner.trim_end().len();
        let text = &self.text[..end];
        if begin >= end || text[begin..].starts_with(['{', '[', '(']) {
            return;
        }
        if let Ok(part) = reader::read(text, begin, None)
            && part.end == end
            && !part.repairs.contains(&Repair::UnquotedText)
        {
            self.found.push(Found { begin, end, class, fence, reading: Ok(part) });
        }
    }
}
