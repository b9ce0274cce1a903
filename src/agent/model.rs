//! What answers.

use std::error::Error;
use std::fmt;

use super::state::RunState;
use crate::turn::Turn;

/// A model, or a script that stands in for one.
pub trait Model {
    /// Answers to [`RunState::history`], in step `step` of the run, counted from 1.
    ///
    /// # Errors
    /// When there is no answer. The run ends with it, and with an answer whose arguments nest deeper than 96 levels.
    fn infer(&mut self, step: u32, state: &RunState) -> Result<Turn, ModelError>;
}

/// Why a model did not answer.
#[derive(Debug)]
pub struct ModelError(Box<dyn Error + Send + Sync>);

impl ModelError {
    /// It failed because of this.
    pub fn new(cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        ModelError(cause.into())
    }
}

impl fmt::Display for ModelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the model did not answer: {}", self.0)
    }
}

impl Error for ModelError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&*self.0)
    }
}
