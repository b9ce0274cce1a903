//! One harness; a module per behaviour.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]
mod compile_fail;
mod kernel;

mod diagram;
mod lifecycles;
mod testing;
mod trace;
