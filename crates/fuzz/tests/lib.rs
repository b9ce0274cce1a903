//! The fuzzer, held against systems with planted faults.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod engine;
mod maps;
mod order;
mod payloads;
#[cfg(unix)]
mod programs;
mod regressions;
