//! Text that was given on too early.

use std::error::Error;
use std::fmt;

use crate::stream::Failure;

/// An answer that cannot go on: its attempt failed, and text of it was given on already. Only of
/// [live](super::SessionModel::live) answers; it is the source of the [`ModelError`](crate::agent::ModelError).
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct VoidText {
    /// Bytes that were given on.
    pub given: usize,
    /// Bytes of them that still count.
    pub kept: usize,
    /// Why the attempt failed.
    pub failure: Failure,
}

impl fmt::Display for VoidText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let VoidText { given, kept, failure } = self;
        write!(
            f,
            "an attempt failed of which {given} bytes were given on, and only {kept} of them still count; give answers on \
             whole, or save checkpoints: {failure}"
        )
    }
}

impl Error for VoidText {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.failure)
    }
}
