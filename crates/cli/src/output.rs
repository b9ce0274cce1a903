//! Standard output and standard error.

use std::io::{self, BufWriter, Write};

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

/// A line on standard output, at once: for what goes on for long. A reader that went away is no error.
pub(crate) fn say(line: &str) {
    drop(writeln!(io::stdout(), "{line}"));
}

/// A line for a person on standard error. Nothing is left to do if even that fails.
pub(crate) fn complain(line: &str) {
    drop(writeln!(io::stderr(), "{line}"));
}

/// The text with its control characters visible, so that what a file says cannot garble a terminal.
pub(crate) fn printable(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '\n' | '\t' => ' ',
            c if c.is_control() => '·',
            c => c,
        })
        .collect()
}
