//! Error about text that was emitted too early.

use runstate_stream::Failure;

/// An answer that cannot continue, because its attempt failed after text of it was emitted. It occurs in
/// [live](super::SessionModel::live) answers only. It is the source of the [`ModelError`](runstate_agent::ModelError).
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error(
    "an attempt failed of which {given} bytes were given on, and only {kept} of them still count; give answers on \
     whole, or save checkpoints: {failure}"
)]
#[non_exhaustive]
pub struct VoidText {
    /// The number of emitted bytes.
    pub given: usize,
    /// The number of emitted bytes that are still valid.
    pub kept: usize,
    /// The failure of the attempt.
    #[source]
    pub failure: Failure,
}
