//! Error about text that was emitted too early.

use std::error::Error;
use std::fmt;

use runstate_stream::Failure;

/// An answer that cannot continue, because its attempt failed after text of it was emitted. It occurs in
/// [live](super::SessionModel::live) answers only. It is the source of the [`ModelError`](runstate_agent::ModelError).
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct VoidText {
    /// The number of emitted bytes.
    pub given: usize,
    /// The number of emitted bytes that are still valid.
    pub kept: usize,
    /// The failure of the attempt.
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
