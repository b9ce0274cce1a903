//! Previews of calls, for approvers.

use std::fmt;

use runstate::decision::digest;
use serde::{Deserialize, Serialize};

/// The effect that a call would have, for approvers.
///
/// ```
/// use runstate_agent::Preview;
///
/// let preview = Preview::diff("notes.md", "-old\n+new\n");
/// assert_eq!(preview.to_string(), "notes.md\n-old\n+new\n");
/// assert_eq!(Preview::note("deletes 3 notes").to_string(), "deletes 3 notes");
///
/// // A name is one line, whatever it has.
/// assert_eq!(Preview::diff("a\n-b", "+new\n").to_string(), "a\\u{a}-b\n+new\n");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Preview {
    /// A text.
    Note(String),
    /// The changes of a text.
    #[non_exhaustive]
    Diff {
        /// The name of the text, such as a path.
        of: String,
        /// The lines: removed ones begin with `-`, new ones with `+`, others with a space.
        lines: String,
    },
    /// A table.
    #[non_exhaustive]
    Table {
        /// The names of the columns.
        columns: Vec<String>,
        /// The rows.
        rows: Vec<Vec<String>>,
    },
}

/// The longest text of a preview in a question, in bytes.
const LONGEST: usize = 64 << 10;

/// The room for the line about the omitted rest.
const ROOM: usize = 200;

impl Preview {
    /// Makes a preview of a text.
    pub fn note(text: impl Into<String>) -> Self {
        Preview::Note(text.into())
    }

    /// Makes a preview of the changes of a text.
    pub fn diff(of: impl Into<String>, lines: impl Into<String>) -> Self {
        Preview::Diff { of: of.into(), lines: lines.into() }
    }

    /// Makes a preview of a table.
    pub fn table<C: Into<String>>(
        columns: impl IntoIterator<Item = C>,
        rows: impl IntoIterator<Item = Vec<String>>,
    ) -> Self {
        let columns = columns.into_iter().map(Into::into).collect();
        Preview::Table { columns, rows: rows.into_iter().collect() }
    }

    /// The form in a question, of at most 64 KiB. The rest is omitted, with a line that has the digest of the whole.
    pub(super) fn shortened(&self) -> Preview {
        let whole = self.to_string();
        if whole.len() <= LONGEST {
            return self.clone();
        }
        let kept = &whole[..whole.floor_char_boundary(LONGEST - ROOM)];
        let (omitted, digest) = (whole.len() - kept.len(), digest(&whole.as_str().into()));
        Preview::Note(format!("{kept}\n({omitted} bytes of the preview are omitted; all of it is {digest})"))
    }
}

/// A text on one line: a name with a line break must not pass for a line of the preview.
fn line(text: &str) -> String {
    text.chars().fold(String::with_capacity(text.len()), |mut line, c| {
        if c.is_control() {
            line.extend(c.escape_unicode())
        } else {
            line.push(c)
        }
        line
    })
}

impl fmt::Display for Preview {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Preview::Note(text) => f.write_str(text),
            Preview::Diff { of, lines } => write!(f, "{}\n{lines}", line(of)),
            Preview::Table { columns, rows } => {
                let row =
                    |cells: &[String]| cells.iter().map(|cell| line(cell)).collect::<Vec<_>>().join(" | ");
                f.write_str(&row(columns))?;
                rows.iter().try_for_each(|cells| write!(f, "\n{}", row(cells)))
            }
        }
    }
}
