//! Why a command could not do its work.

use std::error::Error;
use std::fmt;
use std::io;
use std::path::Path;

use runstate::diagram::{Excerpt, Span};

use crate::exit::Exit;
use crate::output::printable;

/// An input or a file that cannot be used: a message, and where it is known an excerpt of the file.
///
/// It is made for a person; nothing in the command looks into it.
#[derive(Debug)]
pub(crate) struct Failure {
    message: String,
    excerpt: Option<String>,
    help: Option<String>,
    exit: Exit,
}

impl Failure {
    /// A failure that has no place in a file.
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

    /// A message of several lines that shows its place by itself.
    pub(crate) fn rendered(text: impl AsRef<str>) -> Self {
        let text = text.as_ref().trim_end();
        Failure {
            message: text.strip_prefix("error: ").unwrap_or(text).to_owned(),
            excerpt: None,
            help: None,
            exit: Exit::BadInput,
        }
    }

    /// A file or folder on which the operating system refused something; `what` reads after "cannot".
    pub(crate) fn io(what: &str, path: &Path, error: &io::Error) -> Self {
        Failure::new(format!("cannot {what} {}: {error}", path.display()))
    }

    /// The same, with what to do about it.
    pub(crate) fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

impl Failure {
    /// The same, where the input was good and what came of it was not.
    pub(crate) fn of_the_run(mut self) -> Self {
        self.exit = Exit::Bad;
        self
    }

    /// What is wrong, alone.
    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    /// The message and the help, for a place in a line of others.
    pub(crate) fn in_a_line(&self) -> String {
        let help = self.help.as_ref().map(|help| format!("; {help}"));
        self.message.clone() + &help.unwrap_or_default()
    }

    /// What the command says by its exit code.
    pub(crate) fn exit(&self) -> Exit {
        self.exit
    }
}

/// The longest message that is shown, in characters.
const LONGEST: usize = 600;

/// A message may quote a file: it is cut where it is too long for a person, and cannot garble the terminal.
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
