//! A file with diagrams: a Markdown text with fenced blocks, or a single diagram.

use std::borrow::Cow;
use std::fmt;

use super::error::SyntaxError;
use super::model::Diagram;
use super::prepare::Prepared;
use super::source::{LineIndex, Position, Span};
use super::{markdown, parse_within};

/// A file and its Mermaid diagrams.
///
/// A name that ends in `.md` or `.markdown` means Markdown. Its diagrams are the blocks fenced with backquotes or
/// tildes and with an info string that begins with `mermaid`. Indented blocks count too, and so do blocks in list items
/// and block quotes. Blocks inside HTML comments do not count. Any other file is one diagram.
///
/// # Example
///
/// ````
/// use runstate::diagram::Document;
///
/// let text = "# Run\n\n```mermaid\nstateDiagram-v2\n[*] --> Running\n```\n\n# Shop\n\n~~~mermaid\nflowchart LR\n~~~\n";
/// let document = Document::read("lifecycles.md", text);
/// let block = document.select(Some("run")).unwrap();
/// assert_eq!((block.number(), block.line()), (1, 4));
/// // Lines and spans of the diagram refer to the file.
/// let diagram = document.parse(block).unwrap();
/// assert_eq!(diagram.line(diagram.transitions[0].span), 5);
///
/// let error = document.select(Some("#2")).unwrap_err();
/// assert!(error.to_string().starts_with("block #2 of lifecycles.md is no state diagram but `flowchart`"));
/// ````
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    name: String,
    text: String,
    blocks: Vec<Block>,
}

/// One Mermaid diagram of a [`Document`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    number: usize,
    heading: Option<String>,
    kind: String,
    line: usize,
    span: Span,
    quotes: usize,
}

impl Block {
    /// The number among all Mermaid blocks of the file, from 1.
    #[must_use]
    pub fn number(&self) -> usize {
        self.number
    }

    /// The heading above the block.
    #[must_use]
    pub fn heading(&self) -> Option<&str> {
        self.heading.as_deref()
    }

    /// The first word of the diagram, such as `stateDiagram-v2` or `flowchart`.
    #[must_use]
    pub fn kind(&self) -> &str {
        &self.kind
    }

    /// Returns whether the first word is that of a state diagram.
    #[must_use]
    pub fn is_state_diagram(&self) -> bool {
        self.kind.starts_with("stateDiagram")
    }

    /// The first line of the diagram in the file, from 1.
    #[must_use]
    pub fn line(&self) -> usize {
        self.line
    }

    /// The span of the diagram in the file.
    #[must_use]
    pub fn span(&self) -> Span {
        self.span
    }
}

impl fmt::Display for Block {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{} line {}", self.number, self.line)?;
        if let Some(heading) = &self.heading {
            write!(f, " under \"{heading}\"")?;
        }
        write!(f, ": {}", if self.kind.is_empty() { "empty" } else { &self.kind })
    }
}

impl Document {
    /// Finds the diagrams of a file.
    #[must_use]
    pub fn read(name: impl Into<String>, text: impl Into<String>) -> Self {
        let (name, text) = (name.into(), text.into());
        let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
        let is_markdown = ["md", "markdown", "mdx"].iter().any(|known| extension.eq_ignore_ascii_case(known));
        let found = if is_markdown {
            markdown::blocks(&text)
        } else {
            vec![markdown::Fenced { heading: None, content: Span::new(0, text.len()), quotes: 0 }]
        };
        let lines = LineIndex::new(&text);
        let block = |(at, fenced): (usize, markdown::Fenced)| {
            let prepared = Prepared::new(&text, fenced.content, fenced.quotes);
            let line = lines.line(fenced.content.start);
            let (heading, span, quotes) = (fenced.heading, fenced.content, fenced.quotes);
            Block { number: at + 1, heading, kind: prepared.first_word().to_owned(), line, span, quotes }
        };
        let blocks = found.into_iter().enumerate().map(block).collect();
        Self { name, text, blocks }
    }

    /// As [`Document::read`], for the bytes of a file.
    ///
    /// # Errors
    ///
    /// [`DocumentError::NotText`] if the bytes are not UTF-8.
    pub fn from_bytes(name: impl Into<String>, bytes: Vec<u8>) -> Result<Self, DocumentError> {
        let name = name.into();
        match String::from_utf8(bytes) {
            Ok(text) => Ok(Self::read(name, text)),
            Err(error) => {
                let good = error.utf8_error().valid_up_to();
                let text = String::from_utf8_lossy(&error.as_bytes()[..good]).into_owned();
                let position = LineIndex::new(&text).position(&text, good);
                Err(DocumentError::NotText { name, position })
            }
        }
    }

    /// The name of the file.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The text of the file.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// All Mermaid blocks, state diagrams or not.
    #[must_use]
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// Finds the state diagram that `which` names: `#2` or `2` for the second Mermaid block of the file, or a heading
    /// (upper and lower case are equal, and `tool-call` finds "Tool call"). Without `which`, it is the only one of
    /// the file.
    ///
    /// # Errors
    ///
    /// [`SelectError`] with a list of the blocks: none matches, several match, or the matching block is another kind
    /// of diagram.
    pub fn select(&self, which: Option<&str>) -> Result<&Block, SelectError> {
        let error = |reason: String| SelectError {
            file: self.name.clone(),
            reason,
            blocks: self.blocks.iter().map(Block::to_string).collect(),
        };
        let name = &self.name;
        let of_kind: Vec<&Block> = self.blocks.iter().filter(|block| block.is_state_diagram()).collect();
        let Some(which) = which else {
            return match of_kind[..] {
                [only] => Ok(only),
                [] => Err(error(format!("{name} has no state diagram, which begins with `stateDiagram-v2`"))),
                _ => Err(error(format!("{name} has {} state diagrams; name one", of_kind.len()))),
            };
        };
        let number = which.strip_prefix('#').unwrap_or(which).trim().parse::<usize>();
        let wanted = slug(which);
        let is_meant = |block: &&Block| {
            number.as_ref().is_ok_and(|number| block.number == *number)
                || block.heading.as_deref().is_some_and(|heading| slug(heading) == wanted)
        };
        let found: Vec<&Block> = self.blocks.iter().filter(is_meant).collect();
        let states: Vec<&Block> = found.iter().copied().filter(|block| block.is_state_diagram()).collect();
        match (&states[..], &found[..]) {
            ([only], _) => Ok(only),
            ([], []) => Err(error(match number {
                Ok(number) => format!("{name} has no block #{number}"),
                Err(_) => format!("{name} has no diagram under a heading \"{which}\""),
            })),
            ([], [other, ..]) => {
                let kind = if other.kind.is_empty() { "empty" } else { &other.kind };
                Err(error(format!("block #{} of {name} is no state diagram but `{kind}`", other.number)))
            }
            _ => Err(error(format!(
                "{name} has {} state diagrams under \"{which}\"; use a number",
                states.len()
            ))),
        }
    }

    /// Parses a block of this file. Every span and line of the diagram refers to the file.
    ///
    /// # Errors
    ///
    /// As [`parse`](super::parse).
    pub fn parse(&self, block: &Block) -> Result<Diagram, SyntaxError> {
        parse_within(&self.text, block.span, block.quotes)
    }

    /// The source of a block, without its fence and without the marks of enclosing block quotes.
    ///
    /// ```
    /// use runstate::diagram::Document;
    ///
    /// let text = "> ```mermaid\n> stateDiagram-v2\n> A --> B\n> ```\n";
    /// let document = Document::read("notes.md", text);
    /// assert_eq!(document.source(&document.blocks()[0]), "stateDiagram-v2\nA --> B\n");
    /// ```
    #[must_use]
    pub fn source(&self, block: &Block) -> Cow<'_, str> {
        let source = block.span.of(&self.text).unwrap_or_default();
        if block.quotes == 0 {
            return Cow::Borrowed(source);
        }
        let lines = source.split_inclusive('\n').map(|line| &line[markdown::unquote(line, block.quotes).1..]);
        Cow::Owned(lines.collect())
    }

    /// Selects and parses in one step.
    ///
    /// # Errors
    ///
    /// [`DocumentError::Select`] as [`Document::select`], [`DocumentError::Syntax`] as [`Document::parse`], rendered
    /// with the place in the file.
    pub fn diagram(&self, which: Option<&str>) -> Result<Diagram, DocumentError> {
        let block = self.select(which).map_err(DocumentError::Select)?;
        self.parse(block).map_err(|error| {
            let rendered = error.render(&self.name, &self.text);
            DocumentError::Syntax { error: Box::new(error), rendered }
        })
    }
}

/// Returns a heading without case, marks and punctuation, its words joined by hyphens.
fn slug(text: &str) -> String {
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect::<Vec<_>>().join("-")
}

/// The error for a selection without exactly one matching diagram.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SelectError {
    file: String,
    reason: String,
    blocks: Vec<String>,
}

impl SelectError {
    /// The Mermaid blocks of the file, one line each.
    #[must_use]
    pub fn blocks(&self) -> &[String] {
        &self.blocks
    }
}

impl fmt::Display for SelectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.reason)?;
        if self.blocks.is_empty() {
            return write!(f, "; {} has no mermaid block at all", self.file);
        }
        write!(f, "; it has:")?;
        self.blocks.iter().try_for_each(|block| write!(f, "\n  {block}"))
    }
}

impl std::error::Error for SelectError {}

/// The reason why a file gave no diagram.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum DocumentError {
    /// The file is not UTF-8.
    NotText {
        /// The name of the file.
        name: String,
        /// The position of the first invalid byte.
        position: Position,
    },
    /// The requested diagram does not exist.
    Select(SelectError),
    /// The diagram cannot be parsed.
    Syntax {
        /// The error, with a span of the file.
        error: Box<SyntaxError>,
        /// The error, with an excerpt of the file.
        rendered: String,
    },
}

impl fmt::Display for DocumentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotText { name, position } => {
                write!(f, "{name}:{position}: expected UTF-8, got another byte")
            }
            Self::Select(error) => error.fmt(f),
            Self::Syntax { rendered, .. } => f.write_str(rendered.trim_end()),
        }
    }
}

impl std::error::Error for DocumentError {}
