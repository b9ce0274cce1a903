//! Continuation from a checkpoint.

use std::fmt;
use std::num::NonZeroU32;

use runstate::stream_session::Checkpoint;

use super::overlap::Overlap;
use super::panics::guarded;

type Validate = Box<dyn FnMut(&str, u64) -> bool + Send>;
type Prompt = Box<dyn FnMut(&str) -> String + Send>;

/// Policy for attempts that continue from the text of failed ones.
///
/// The session saves a checkpoint after every `n` tokens ([`every`](Self::every)). A later attempt continues
/// from the last checkpoint: its factory receives the text and the prompt, and text of the checkpoint that the
/// stream repeats is removed. No checkpoint is saved after a tool call of the attempt: the later attempt knows
/// the text alone and writes the call again. Before a checkpoint is used, the session shows it to the rules, the drift
/// detector and the validation hook. A checkpoint that one of them refuses is dropped, and the attempt starts
/// from the beginning.
pub struct Continuation {
    pub(super) every: NonZeroU32,
    pub(super) overlap: Repeated,
    validate: Option<Validate>,
    prompt: Option<Prompt>,
}

/// The text of a checkpoint that a continuation repeats.
#[derive(Debug, Clone, Copy)]
pub(super) enum Repeated {
    /// It is removed if it begins with a word and has a letter.
    Words,
    /// It is removed from that number of characters on.
    From(usize),
    /// It stays.
    Kept,
}

impl Repeated {
    pub(super) fn after(self, checkpoint: &str) -> Option<Overlap> {
        match self {
            Repeated::Words => Some(Overlap::new(checkpoint).whole_words()),
            Repeated::From(characters) => Some(Overlap::new(checkpoint).at_least(characters)),
            Repeated::Kept => None,
        }
    }
}

impl Continuation {
    /// Creates a policy with a checkpoint after every `tokens` tokens.
    pub fn every(tokens: NonZeroU32) -> Self {
        Continuation { every: tokens, overlap: Repeated::Words, validate: None, prompt: None }
    }

    /// Sets the function that makes the prompt of a continuation from the checkpoint's text. Default: no
    /// prompt.
    pub fn prompt(mut self, prompt: impl FnMut(&str) -> String + Send + 'static) -> Self {
        self.prompt = Some(Box::new(prompt));
        self
    }

    /// Sets the function that accepts or refuses a checkpoint. It receives the text and the number of tokens.
    /// Default: every checkpoint is accepted.
    pub fn validate(mut self, validate: impl FnMut(&str, u64) -> bool + Send + 'static) -> Self {
        self.validate = Some(Box::new(validate));
        self
    }

    /// Sets the shortest repetition, in characters, that counts as an overlap, also within a word or a number. Default: two
    /// characters that begin with a word and have a letter, because a number or a word may go on as it ends.
    pub fn overlap_from(mut self, characters: usize) -> Self {
        self.overlap = Repeated::From(characters);
        self
    }

    /// Keeps the text that a continuation repeats. Default: the repetition is removed.
    pub fn keep_overlap(mut self) -> Self {
        self.overlap = Repeated::Kept;
        self
    }

    /// Asks the validation hook. Returns the reason if the hook refuses the checkpoint.
    pub(super) fn refuses(&mut self, checkpoint: Checkpoint<'_>) -> Option<String> {
        let validate = self.validate.as_mut()?;
        match guarded(|| validate(checkpoint.content, checkpoint.tokens)) {
            Ok(true) => None,
            Ok(false) => Some("the validation hook refused it".to_owned()),
            Err(panic) => Some(format!("the validation hook panicked: {panic}")),
        }
    }

    /// Returns the prompt for a checkpoint. A hook that panics makes no prompt.
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
