//! Standard output and standard error.

use std::env;
use std::io::{self, BufWriter, IsTerminal, Write};

use runstate::actor::is_unseen;

use crate::failure::Failure;

/// Where a command says what it found. A reader that goes away early (`runstate list | head -1`) is no error.
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

    /// Writes a text as it is. The first failure is kept for [`finish`](Output::finish) and ends the writing.
    pub(crate) fn text(&mut self, text: &str) {
        if self.failed.is_none() {
            self.failed = self.to.write_all(text.as_bytes()).err();
        }
    }

    /// Writes a line.
    pub(crate) fn line(&mut self, line: &str) {
        self.text(line);
        self.text("\n");
    }

    /// Writes a JSON value on lines of its own.
    pub(crate) fn json(&mut self, value: &serde_json::Value) {
        self.line(&format!("{value:#}"));
    }

    /// Passes on what is buffered.
    ///
    /// # Errors
    /// What kept any of the text from being written, unless its reader went away.
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

/// How many columns a table may have on standard output: as COLUMNS says, or else as wide as the terminal is.
pub(crate) fn columns() -> usize {
    let said = env::var("COLUMNS").ok().and_then(|columns| columns.trim().parse().ok());
    let terminal = || terminal_size::terminal_size_of(io::stdout()).map(|(width, _)| usize::from(width.0));
    let of_none = if io::stdout().is_terminal() { 80 } else { 100 };
    said.or_else(terminal).filter(|columns| *columns > 0).unwrap_or(of_none)
}

/// A line on standard output, at once: for what goes on for long. A reader that went away is no error.
pub(crate) fn say(line: &str) {
    drop(writeln!(io::stdout(), "{line}"));
}

/// A line for a person on standard error. Nothing is left to do if even that fails.
pub(crate) fn complain(line: &str) {
    drop(writeln!(io::stderr(), "{line}"));
}

/// The text with what cannot be seen made visible, so that what a file or a model says can neither garble a terminal nor pass for
/// something else.
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

/// The same, for what is approved as it stands: two texts that differ are shown as two.
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
    fn what_cannot_be_seen_is_shown() {
        assert_eq!(printable("a\tb\nc\u{1b}[2J"), "a b c·[2J");
        assert_eq!(printable("exe\u{202e}txt\u{200b}\u{2028}."), "exe\\u{202e}txt\\u{200b}\\u{2028}.");
        assert_eq!(printable("grüße, 世界 🦀"), "grüße, 世界 🦀");
        assert_eq!(exact("a\tb\u{9b}31m\u{202e}x"), "a\\u{9}b\\u{9b}31m\\u{202e}x");
        assert_ne!(exact("a\u{80}"), exact("a\u{81}"));
    }
}
