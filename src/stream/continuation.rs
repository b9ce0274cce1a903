//! Going on from a checkpoint.

use std::fmt;
use std::num::NonZeroU32;

use super::panics::guarded;
use crate::stream_session::Checkpoint;

type Validate = Box<dyn FnMut(&str, u64) -> bool + Send>;
type Prompt = Box<dyn FnMut(&str) -> String + Send>;

/// How attempts go on where earlier ones failed (document 002, "Continuation/Resume Flow").
///
/// A checkpoint is saved at each so many tokens. An attempt that follows goes on from the last one: its factory is given the
/// text and the prompt, and what its stream says again of the text is taken away. Before a checkpoint is used, the session's
/// rules and its drift detector are shown it, and then the hook; one that fails is dropped, and the attempt starts afresh
/// (C13).
pub struct Continuation {
    pub(super) every: NonZeroU32,
    pub(super) overlap: Option<usize>,
    validate: Option<Validate>,
    prompt: Option<Prompt>,
}

impl Continuation {
    /// A checkpoint at each `tokens`th token.
    pub fn every(tokens: NonZeroU32) -> Self {
        Continuation { every: tokens, overlap: Some(2), validate: None, prompt: None }
    }

    /// Makes the prompt of the stream that continues: it is given the checkpoint's text.
    pub fn prompt(mut self, prompt: impl FnMut(&str) -> String + Send + 'static) -> Self {
        self.prompt = Some(Box::new(prompt));
        self
    }

    /// Says whether a checkpoint may be gone on from: it is given the text and its number of tokens.
    pub fn validate(mut self, validate: impl FnMut(&str, u64) -> bool + Send + 'static) -> Self {
        self.validate = Some(Box::new(validate));
        self
    }

    /// What is repeated counts as an overlap from that many characters on. 2 by default.
    pub fn overlap_from(mut self, characters: usize) -> Self {
        self.overlap = Some(characters);
        self
    }

    /// What the continuing stream says again is kept.
    pub fn keep_overlap(mut self) -> Self {
        self.overlap = None;
        self
    }

    /// Does the hook refuse it? Why, if so.
    pub(super) fn refuses(&mut self, checkpoint: Checkpoint<'_>) -> Option<String> {
        let validate = self.validate.as_mut()?;
        match guarded(|| validate(checkpoint.content, checkpoint.tokens)) {
            Ok(true) => None,
            Ok(false) => Some("the validation hook refused it".to_owned()),
            Err(panic) => Some(format!("the validation hook panicked: {panic}")),
        }
    }

    /// The prompt for it. A hook that panics makes none.
    pub(super) fn prompt_for(&mut self, checkpoint: &str) -> Option<String> {
        let prompt = self.prompt.as_mut()?;
        guarded(|| prompt(checkpoint)).ok()
    }
}

impl fmt::Debug for Continuation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Continuation { every, overlap, .. } = self;
        f.debug_struct("Continuation").field("every", every).field("overlap", overlap).finish_non_exhaustive()
    }
}
