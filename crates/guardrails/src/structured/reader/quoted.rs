//! Strings in quotes.

use super::source::closing;
use super::{NEXT_LINE, Reader, Refusal, Repair, Step};

/// The escapes of letters in a string. If `\d`, which JSON does not have, occurs beside `\n`, which JSON has,
/// both may be parts of a path.
#[derive(Default)]
struct Escapes {
    known: bool,
    unknown: bool,
}

impl Reader<'_> {
    /// Reads a string that begins with the quote `open`, and returns it as JSON; none if the text is cut within
    /// it.
    pub(super) fn quoted(&mut self, open: char, key: bool) -> Result<Option<String>, Refusal> {
        self.source.next();
        if open == '"' && self.source.rest().starts_with("\"\"") {
            return self.triple_quoted();
        }
        if open != '"' {
            self.repairs.insert(Repair::Quotes);
        }
        let close = closing(open).unwrap_or_default();
        let mut string = String::from('"');
        let (mut escapes, mut inner) = (Escapes::default(), 0_u32);
        loop {
            let rest = self.source.rest();
            let plain = rest.find(|c: char| c == '\\' || c == '"' || c < ' ' || close.contains(&c));
            let plain = self.source.take(plain.unwrap_or(rest.len()));
            string.push_str(plain);
            if open == '`' && plain.contains("${") {
                return self.refuse("a string depends on a variable");
            }
            match self.source.next() {
                None => return Ok(None),
                Some('\\') => self.escape(&mut string, &mut escapes)?,
                Some(c) if close.contains(&c) => {
                    if self.ends_string(key) {
                        break;
                    }
                    if c == '"' && !key && self.source.rest().starts_with([':', '、']) {
                        return self.refuse("a quote may end a string before it");
                    }
                    self.repairs.insert(Repair::InnerQuote);
                    inner += u32::from(c == '"');
                    push_escaped(&mut string, c);
                }
                Some('"') => push_escaped(&mut string, '"'),
                Some(control) => {
                    if control == '\n' && self.fence.is_some_and(|marks| self.source.line_ends_fence(marks)) {
                        return self.refuse("the end of a string is missing");
                    }
                    // A key has one line, and a string in single quotes one paragraph. An apostrophe in prose
                    // therefore begins no string.
                    let ends = || self.source.at_fence() || self.source.rest().starts_with('\n');
                    if control == '\n' && (key || open == '\'' && ends()) {
                        return self.refuse(NEXT_LINE);
                    }
                    self.repairs.insert(Repair::ControlCharacter);
                    push_escaped(&mut string, control);
                }
            }
        }
        if open == '"' && inner % 2 == 1 {
            return self.refuse("of two quotes within a string one is missing");
        }
        if escapes.known && escapes.unknown {
            return self.refuse("an escape may be a part of a path");
        }
        string.push('"');
        Ok(Some(string))
    }

    /// Reads a string in three quotes, two of which are not read yet.
    fn triple_quoted(&mut self) -> Result<Option<String>, Refusal> {
        // In JSON, an empty string next to a stray quote is far more common than a string in three quotes.
        let Some(end) = self.source.rest()[2..].find("\"\"\"") else {
            return self.refuse("the end of a string is missing");
        };
        self.source.take(2);
        self.repairs.insert(Repair::Quotes);
        let text = self.source.take(end);
        self.source.take(3);
        if text.contains('\\') {
            return self.refuse("an escape may be a part of the text");
        }
        let mut string = String::from('"');
        text.chars().for_each(|c| push_escaped(&mut string, c));
        string.push('"');
        Ok(Some(string))
    }

    /// Returns whether the last quote ends its string. It does if the next token may follow a string.
    fn ends_string(&self, key: bool) -> bool {
        let rest = self.source.rest();
        let next = rest.trim_start();
        let blank = &rest[..rest.len() - next.len()];
        match next.chars().next() {
            None | Some(',' | '，' | '}' | ']' | ';') => true,
            Some(':' | '：' | '=') if key => true,
            Some(':' | '：') => false,
            Some(_) if blank.contains('\n') => true,
            Some(_) if ["```", "~~~", "//", "/*"].iter().any(|mark| next.starts_with(mark)) => true,
            Some('#') => !blank.is_empty(),
            // Two strings without a comma between them, provided that white space separates them.
            Some(c) if closing(c).is_some() => !blank.is_empty(),
            Some('{' | '[') => key || !blank.is_empty(),
            // Two joined strings, and a key without its colon.
            Some(c) => {
                !blank.is_empty() && (c == '+' || (key && (c.is_ascii_digit() || matches!(c, '=' | '-'))))
            }
        }
    }

    /// Reads the part after a backslash.
    fn escape(&mut self, string: &mut String, escapes: &mut Escapes) -> Step {
        match self.source.next() {
            None => return self.refuse("the end of a string is missing"),
            Some(c @ ('"' | '\\' | '/')) => string.extend(['\\', c]),
            Some(c @ ('b' | 'f' | 'n' | 'r' | 't')) => {
                escapes.known = true;
                string.extend(['\\', c]);
            }
            Some('u') => {
                escapes.known = true;
                self.unicode_escape(string)?;
            }
            Some('x') => return self.refuse("the escape `\\x` is none of JSON's"),
            Some(c) => {
                self.repairs.insert(Repair::Escape);
                match c {
                    // Other languages escape these characters.
                    '\'' | '`' => string.push(c),
                    '\n' => {}
                    _ => {
                        escapes.unknown = true;
                        string.push_str("\\\\");
                        push_escaped(string, c);
                    }
                }
            }
        }
        Ok(())
    }

    /// Keeps the escape unchanged if it denotes a character.
    fn unicode_escape(&mut self, string: &mut String) -> Step {
        let first = self.hex()?;
        string.push_str(&format!("\\u{first:04x}"));
        if (0xD800..0xE000).contains(&first) {
            let low = first >= 0xDC00 || !(self.source.eat('\\') && self.source.eat('u'));
            let second = if low { 0 } else { self.hex()? };
            if !(0xDC00..0xE000).contains(&second) {
                return self.refuse("half a surrogate pair stands for no character");
            }
            string.push_str(&format!("\\u{second:04x}"));
        }
        Ok(())
    }

    fn hex(&mut self) -> Result<u32, Refusal> {
        let digits =
            self.source.rest().get(..4).filter(|digits| digits.bytes().all(|c| c.is_ascii_hexdigit()));
        match digits.and_then(|digits| u32::from_str_radix(digits, 16).ok()) {
            Some(code) => {
                self.source.take(4);
                Ok(code)
            }
            None => self.refuse("an escape has no four hexadecimal digits"),
        }
    }
}

/// Writes a character in the form of a JSON string.
pub(super) fn push_escaped(string: &mut String, c: char) {
    match c {
        '"' => string.push_str("\\\""),
        '\\' => string.push_str("\\\\"),
        '\n' => string.push_str("\\n"),
        '\r' => string.push_str("\\r"),
        '\t' => string.push_str("\\t"),
        c if c < ' ' => string.push_str(&format!("\\u{:04x}", u32::from(c))),
        c => string.push(c),
    }
}
