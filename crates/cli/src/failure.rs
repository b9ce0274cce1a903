//! Failures of a command.

use std::error::Error;
use std::fmt;
use std::io;
use std::path::Path;

use runstate::diagram::{Excerpt, Span};

use crate::exit::Exit;
use crate::output::printable;

/// An unusable input or file: a message, with an excerpt of the file if known.
///
/// It is text for a person; no code of the command inspects it.
#[derive(Debug)]
pub(crate) struct Failure {
    message: String,
    excerpt: Option<String>,
    help: Option<String>,
    exit: Exit,
}

impl Failure {
    /// A failure without a place in a file.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Failure { message: fit(&message.into()), excerpt: None, help: None, exit: Exit::BadInput }
    }

    /// A failure at a place of a file.
    pub(crate) fn at(message: impl Into<String>, file: &str, source: &str, span: Span) -> Self {
        Failure {
            message: fit(&message.into()),
            excerpt: Some(Excerpt::new(file, source, span, "").to_string()),
            help: None,
            exit: Exit::BadInput,
        }
    }

    /// A message of several lines that contains its own excerpt.
    pub(crate) fn rendered(text: impl AsRef<str>) -> Self {
        let text = text.as_ref().trim_end();
        Failure {
            message: text.strip_prefix("error: ").unwrap_or(text).to_owned(),
            excerpt: None,
            help: None,
            exit: Exit::BadInput,
        }
    }

    /// An error of the operating system on a file or folder; `what` reads after "cannot".
    pub(crate) fn io(what: &str, path: &Path, error: &io::Error) -> Self {
        Failure::new(format!("cannot {what} {}: {error}", path.display()))
    }

    /// Adds a remedy.
    pub(crate) fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

impl Failure {
    /// Marks a failure of the run, not of its input.
    pub(crate) fn of_the_run(mut self) -> Self {
        self.exit = Exit::Bad;
        self
    }

    /// The first line, with `[redacted]` in place of these texts: the other lines may quote one of them in another spelling.
    pub(crate) fn without(mut self, secrets: &[String]) -> Self {
        if !secrets.is_empty() {
            let line = self.message.lines().next().unwrap_or_default().to_owned();
            self.message = secrets.iter().fold(line, |line, secret| line.replace(secret, "[redacted]"));
            self.excerpt = None;
        }
        self
    }

    /// The error alone.
    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    /// The message and the remedy on one line.
    pub(crate) fn in_a_line(&self) -> String {
        let help = self.help.as_ref().map(|help| format!("; {help}"));
        self.message.clone() + &help.unwrap_or_default()
    }

    /// The exit code of the command.
    pub(crate) fn exit(&self) -> Exit {
        self.exit
    }
}

/// The maximum length of a shown message, in characters.
const LONGEST: usize = 600;

/// A message may quote a file: a long one is cut, and its characters cannot change the terminal.
fn fit(message: &str) -> String {
    let mut shown: String = printable(message).chars().take(LONGEST).collect();
    if message.chars().nth(LONGEST).is_some() {
        shown.push('…');
    }
    shown
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}", self.message)?;
        if let Some(excerpt) = &self.excerpt {
            write!(f, "\n{excerpt}")?;
        }
        if let Some(help) = &self.help {
            write!(f, "\n  = help: {help}")?;
        }
        Ok(())
    }
}

impl Error for Failure {}
