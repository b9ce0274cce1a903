//! Standard output and standard error.

use std::borrow::Cow;
use std::env;
use std::io::{self, BufWriter, IsTerminal, Write};

use runstate::actor::is_unseen;

use crate::failure::Failure;

/// The output of a command. A reader that closes it early (`runstate list | head -1`) is no error.
#[derive(Debug)]
pub(crate) struct Output {
    to: BufWriter<io::Stdout>,
    failed: Option<io::Error>,
}

impl Output {
    /// Standard output, buffered.
    pub(crate) fn stdout() -> Self {
        Output { to: BufWriter::new(io::stdout()), failed: None }
    }

    /// Writes a text unchanged. The first failure is kept for [`finish`](Output::finish) and ends the writing.
    pub(crate) fn text(&mut self, text: &str) {
        if self.failed.is_none() {
            self.failed = self.to.write_all(text.as_bytes()).err();
        }
    }

    /// Writes lines with their line ends. Characters that could change the terminal are escaped.
    pub(crate) fn lines(&mut self, lines: &str) {
        self.text(&harmless(lines));
    }

    /// Writes a line, or several. Characters that could change the terminal are escaped.
    pub(crate) fn line(&mut self, line: &str) {
        self.text(&harmless(line));
        self.text("\n");
    }

    /// Writes a JSON value on separate lines.
    pub(crate) fn json(&mut self, value: &serde_json::Value) {
        self.text(&in_ascii_where_unseen(&format!("{value:#}\n")));
    }

    /// Writes a text of JSON as a line.
    pub(crate) fn json_line(&mut self, json: &str) {
        self.text(&in_ascii_where_unseen(json));
        self.text("\n");
    }

    /// Flushes the buffer. Returns false once a write has failed.
    pub(crate) fn flush(&mut self) -> bool {
        if self.failed.is_none() {
            self.failed = self.to.flush().err();
        }
        self.failed.is_none()
    }

    /// Writes the buffered output.
    ///
    /// # Errors
    /// An error that kept a part of the text from being written, unless the reader closed the output.
    pub(crate) fn finish(&mut self) -> Result<(), Failure> {
        let failed = self.failed.take().or_else(|| self.to.flush().err());
        match failed {
            Some(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                Err(Failure::new(format!("cannot write to standard output: {error}")))
            }
            _ => Ok(()),
        }
    }
}

/// The number of columns of a table on standard output: COLUMNS, or else the width of the terminal.
pub(crate) fn columns() -> usize {
    let said = env::var("COLUMNS").ok().and_then(|columns| columns.trim().parse().ok());
    let terminal = || terminal_size::terminal_size_of(io::stdout()).map(|(width, _)| usize::from(width.0));
    let of_none = if io::stdout().is_terminal() { 80 } else { 100 };
    said.or_else(terminal).filter(|columns| *columns > 0).unwrap_or(of_none)
}

/// Writes a line on standard output at once: for long-running commands. A closed output is no error.
pub(crate) fn say(line: &str) {
    drop(writeln!(io::stdout(), "{}", harmless(line)));
}

/// Writes a line for a person on standard error. An argument that may be an address with a password is omitted. A failure of
/// this write is ignored.
pub(crate) fn complain(line: &str) {
    drop(writeln!(io::stderr(), "{}", crate::quotable(line.to_owned(), env::args_os())));
}

/// Lines without characters that move or change text on a terminal, except line ends. The invisible characters within an emoji
/// stay: they choose its picture.
pub(crate) fn harmless(lines: &str) -> Cow<'_, str> {
    let is_harmful = |c: char| !matches!(c, '\n' | '\t') && (c.is_control() || is_unseen(c));
    if !lines.contains(is_harmful) {
        return Cow::Borrowed(lines);
    }
    let mut shown = String::with_capacity(lines.len());
    let (mut before, mut chars) = (None, lines.chars().peekable());
    while let Some(c) = chars.next() {
        let is_of_emoji = before.is_some_and(is_emoji)
            && match c {
                '\u{fe0e}' | '\u{fe0f}' => true,
                '\u{200d}' => chars.peek().copied().is_some_and(is_emoji),
                _ => false,
            };
        if is_harmful(c) && !is_of_emoji {
            shown.extend(c.escape_unicode())
        } else {
            shown.push(c)
        }
        // A selector belongs to the picture before it.
        if !is_of_emoji {
            before = Some(c);
        }
    }
    Cow::Owned(shown)
}

/// Is it a picture of an emoji, or the colour of one?
fn is_emoji(c: char) -> bool {
    matches!(c, '\u{203c}' | '\u{2049}' | '\u{2190}'..='\u{21ff}' | '\u{2300}'..='\u{23ff}' | '\u{25a0}'..='\u{27bf}' | '\u{2b00}'..='\u{2bff}' | '\u{1f000}'..='\u{1faff}')
}

/// JSON with invisible characters in JSON escapes: equal for a program, and harmless in a terminal.
fn in_ascii_where_unseen(json: &str) -> Cow<'_, str> {
    let is_unsafe = |c: char| c != '\n' && (c.is_control() || is_unseen(c));
    if !json.contains(is_unsafe) {
        return Cow::Borrowed(json);
    }
    let mut shown = String::with_capacity(json.len());
    for c in json.chars() {
        if !is_unsafe(c) {
            shown.push(c);
            continue;
        }
        for unit in c.encode_utf16(&mut [0; 2]) {
            shown.push_str(&format!("\\u{unit:04x}"));
        }
    }
    Cow::Owned(shown)
}

/// The text with invisible characters made visible, so that the output of a file or a model can neither change the terminal
/// nor pass for other text.
pub(crate) fn printable(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\t' => shown.push(' '),
            c if c.is_control() => shown.push('·'),
            c if is_unseen(c) => shown.extend(c.escape_unicode()),
            c => shown.push(c),
        }
    }
    shown
}

/// As [`printable`], for text that is approved exactly: two different texts look different.
pub(crate) fn exact(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() || is_unseen(c) { shown.extend(c.escape_unicode()) } else { shown.push(c) }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invisible_characters_are_escaped_in_output() {
        assert_eq!(printable("a\tb\nc\u{1b}[2J"), "a b c·[2J");
        assert_eq!(printable("exe\u{202e}txt\u{200b}\u{2028}."), "exe\\u{202e}txt\\u{200b}\\u{2028}.");
        assert_eq!(printable("grüße, 世界 🦀"), "grüße, 世界 🦀");
        assert_eq!(exact("a\tb\u{9b}31m\u{202e}x"), "a\\u{9}b\\u{9b}31m\\u{202e}x");
        assert_ne!(exact("a\u{80}"), exact("a\u{81}"));
        assert_eq!(harmless("a\n\tb\u{1b}[2J\u{9b}"), "a\n\tb\\u{1b}[2J\\u{9b}");
        let emoji = "\u{2764}\u{fe0f} \u{1f469}\u{1f3fd}\u{200d}\u{1f52c} \u{26a0}\u{fe0f}";
        assert_eq!(harmless(emoji), emoji);
        assert_eq!(
            harmless("a\u{fe0f}b\u{200d}\u{1f52c}\u{200d}c"),
            "a\\u{fe0f}b\\u{200d}\u{1f52c}\\u{200d}c"
        );
    }

    #[test]
    fn json_says_the_same_in_characters_that_are_seen() {
        let value = serde_json::json!({"a\u{9b}": "b\u{202e}c\u{7f}\u{e0001}\n"});
        let shown = in_ascii_where_unseen(&value.to_string()).into_owned();
        assert_eq!(shown, "{\"a\\u009b\":\"b\\u202ec\\u007f\\udb40\\udc01\\n\"}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).unwrap(), value);
    }
}
