//! Strings in quotes.

use super::source::closing;
use super::{Reader, Repair};

impl Reader<'_> {
    /// Reads a string that begins with that quote, and gives it as JSON.
    pub(super) fn quoted(&mut self, open: char, key: bool) -> String {
        self.source.next();
        if open != '"' {
            self.repairs.insert(Repair::Quotes);
        }
        let close = closing(open).unwrap_or_default();
        let mut string = String::from('"');
        loop {
            let plain =
                self.source.rest().find(|c: char| c == '\\' || c == '"' || c < ' ' || close.contains(&c));
            let plain = self.source.take(plain.unwrap_or(self.source.rest().len()));
            string.push_str(plain);
            let before = self.source;
            match self.source.next() {
                None => {
                    self.repairs.insert(Repair::UnclosedString);
                    break;
                }
                Some('\\') => self.escape(&mut string),
                Some(c) if close.contains(&c) => {
                    if self.ends_string(key) {
                        break;
                    }
                    self.repairs.insert(Repair::InnerQuote);
                    push_escaped(&mut string, c);
                }
                Some('"') => push_escaped(&mut string, '"'),
                Some(control) => {
                    // A fence on a line of its own ends what was cut off within a string.
                    if control == '\n' && self.source.line_is_fence() {
                        self.source = before;
                        self.source.skip_blank();
                        self.repairs.insert(Repair::UnclosedString);
                        break;
                    }
                    self.repairs.insert(Repair::ControlCharacter);
                    push_escaped(&mut string, control);
                }
            }
        }
        string.push('"');
        string
    }

    /// Does the quote that was just read end its string? It does where what follows may follow a string.
    fn ends_string(&self, key: bool) -> bool {
        let rest = self.source.rest();
        let next = rest.trim_start();
        let blank = &rest[..rest.len() - next.len()];
        match next.chars().next() {
            None | Some(',' | '}' | ']') => true,
            Some(':') => key,
            Some(_)
                if blank.contains('\n')
                    || next.starts_with("```")
                    || next.starts_with("//")
                    || next.starts_with("/*") =>
            {
                true
            }
            // Two strings with a comma missing between them, unless nothing is between them at all.
            Some(c) if closing(c).is_some() => !blank.is_empty(),
            Some('{' | '[') => true,
            // A key with its colon missing.
            Some(c) => key && !blank.is_empty() && (c.is_ascii_digit() || matches!(c, '=' | '-')),
        }
    }

    /// What follows a backslash.
    fn escape(&mut self, string: &mut String) {
        match self.source.next() {
            // Cut off.
            None => {
                self.repairs.insert(Repair::Escape);
            }
            Some(c @ ('"' | '\\' | '/' | 'b' | 'f' | 'n' | 'r' | 't')) => {
                string.push('\\');
                string.push(c);
            }
            Some('u') => self.unicode_escape(string),
            Some(c) => {
                self.repairs.insert(Repair::Escape);
                match c {
                    // Other languages escape these.
                    '\'' | '`' => string.push(c),
                    '\n' => {}
                    _ => {
                        string.push_str("\\\\");
                        push_escaped(string, c);
                    }
                }
            }
        }
    }

    fn unicode_escape(&mut self, string: &mut String) {
        let Some(first) = self.hex() else { return self.broken_escape(string) };
        if let Some(c) = char::from_u32(first) {
            // As it was written.
            string.push_str(&format!("\\u{:04x}", u32::from(c)));
            return;
        }
        // Half a pair, and the other half after it.
        let before = self.source;
        if (0xD800..0xDC00).contains(&first) && self.source.eat('\\') && self.source.eat('u') {
            match self.hex() {
                Some(second @ 0xDC00..0xE000) => {
                    string.push_str(&format!("\\u{first:04x}\\u{second:04x}"));
                    return;
                }
                _ => self.source = before,
            }
        } else {
            self.source = before;
        }
        self.broken_escape(string);
    }

    fn broken_escape(&mut self, string: &mut String) {
        self.repairs.insert(Repair::Escape);
        // What is cut off is left out.
        if self.source.peek().is_some() {
            string.push('\u{FFFD}');
        }
    }

    /// Four hexadecimal digits, or as many as there are, read away.
    fn hex(&mut self) -> Option<u32> {
        let digits = self.source.rest().chars().take(4).take_while(char::is_ascii_hexdigit).count();
        let digits = self.source.take(digits);
        if digits.len() == 4 { u32::from_str_radix(digits, 16).ok() } else { None }
    }
}

/// A character as JSON has it in a string.
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
