//! One harness; a module per behaviour.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]
#![allow(unreachable_pub, reason = "lifecycles make public items wherever they are defined")]
mod compile_fail;
mod forgery;
mod kernel;

mod diagram;
mod lifecycles;
mod proof;
mod testing;
mod trace;
