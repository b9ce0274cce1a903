//! The received content of a session.

use serde::{Deserialize, Serialize};

/// The content of a session, with its token count and its checkpoint.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Stored", deny_unknown_fields)]
pub struct Output {
    content: String,
    tokens: u64,
    checkpoint: Option<Mark>,
}

/// A position in the content. A checkpoint is a prefix of the content, so saving one needs no copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Mark {
    bytes: usize,
    tokens: u64,
}

/// A checkpoint: the content from which a later attempt continues.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Checkpoint<'a> {
    /// The content up to the checkpoint.
    pub content: &'a str,
    /// The number of tokens of that content.
    pub tokens: u64,
}

impl Output {
    /// The content.
    pub fn content(&self) -> &str {
        &self.content
    }

    /// The number of tokens of the content.
    pub fn tokens(&self) -> u64 {
        self.tokens
    }

    /// The checkpoint, if one was saved and not dropped.
    pub fn checkpoint(&self) -> Option<Checkpoint<'_>> {
        let mark = self.checkpoint?;
        // A mark is a former end of the content, and the content only grows after it.
        Some(Checkpoint { content: &self.content[..mark.bytes], tokens: mark.tokens })
    }

    #[inline]
    pub(super) fn push(&mut self, token: &str) {
        self.content.push_str(token);
        self.tokens = self.tokens.saturating_add(1);
    }

    pub(super) fn save_checkpoint(&mut self) -> Checkpoint<'_> {
        self.checkpoint = Some(Mark { bytes: self.content.len(), tokens: self.tokens });
        Checkpoint { content: &self.content, tokens: self.tokens }
    }

    pub(super) fn drop_checkpoint(&mut self) -> bool {
        self.checkpoint.take().is_some()
    }

    /// Resets the content to the checkpoint, or to nothing, for a new attempt.
    pub(super) fn rewound(mut self) -> Self {
        let (bytes, tokens) = self.checkpoint.map_or((0, 0), |mark| (mark.bytes, mark.tokens));
        self.content.truncate(bytes);
        self.tokens = tokens;
        self
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    content: String,
    tokens: u64,
    checkpoint: Option<Mark>,
}

impl TryFrom<Stored> for Output {
    type Error = String;

    fn try_from(stored: Stored) -> Result<Self, String> {
        let Stored { content, tokens, checkpoint } = stored;
        if let Some(mark) = checkpoint {
            if !content.is_char_boundary(mark.bytes) {
                return Err(format!(
                    "the checkpoint ends at byte {} of a content of {} bytes, which is no place between characters",
                    mark.bytes,
                    content.len(),
                ));
            }
            if mark.tokens == 0 && mark.bytes > 0 {
                return Err(format!("the checkpoint has {} bytes and no token", mark.bytes));
            }
            if mark.tokens > tokens {
                return Err(format!("the checkpoint has {} tokens, the content {tokens}", mark.tokens));
            }
        }
        if tokens == 0 && !content.is_empty() {
            return Err(format!("the content has {} bytes and no token", content.len()));
        }
        Ok(Output { content, tokens, checkpoint })
    }
}
