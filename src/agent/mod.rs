//! The driver of runs: it awaits models, tools, decisions and stores, and hands what they give to typed values.

mod commit;

pub use commit::{CommitError, NoCommitter, StateCommitter, commit};
