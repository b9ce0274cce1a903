//! One harness; a module per behaviour.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]
mod diagram;
mod kernel;
mod trace;
